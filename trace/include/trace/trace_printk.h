/*
 * trace_printk(): printf() into the trace. Only the address of the format and the arguments are
 * stored; the text is made when the trace is read. Included by <trace/trace.h>.
 *
 *   no arguments     the address of the literal is stored
 *   one integer      the compiler knows its size, so it is stored without a look at the format
 *   anything else    trace_bprintk() goes through the format to find the arguments
 *
 * Context: any, NMI included.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TRACE_PRINTK_H
#define TRACE_TRACE_PRINTK_H

#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

/* `fmt` has to exist for good, so use a literal. Conversions are those of <trace/fmt.h>. */
#define trace_printk(fmt, ...)                                                                     \
	({                                                                                         \
		TRACE_PRINTK_FORMAT(__builtin_constant_p(fmt) ? (fmt) : NULL);                     \
		TRACE_PRINTK_NAME(0, ##__VA_ARGS__, many, many, many, many, many, many, many, 1,   \
				  0)                                                               \
		(fmt, ##__VA_ARGS__);                                                              \
	})

/* The literal `text`, of which events may record the address: printk_formats has it for tools. */
#define tracepoint_string(text)                                                                    \
	({                                                                                         \
		TRACE_PRINTK_FORMAT(text);                                                         \
		trace_printk_fmt;                                                                  \
	})

/* Have printk_formats show the text at that address. */
#define TRACE_PRINTK_FORMAT(text)                                                                  \
	static const char *trace_printk_fmt __attribute__((section("trace_printk_fmts"), used)) =  \
		(text)

/* Write a string of any kind; it is copied into the event. */
#define trace_puts(text) trace_puts_at(trace_here(), text)

/* An address inside the calling function. */
#define trace_here()                                                                               \
	({                                                                                         \
		__label__ here;                                                                    \
here:                                                                                              \
		(uintptr_t) && here;                                                               \
	})

void trace_bprintk(uintptr_t ip, const char *fmt, ...) TRACE_PRINTF(2, 3);
void trace_bputs(uintptr_t ip, const char *text);
void trace_puts_at(uintptr_t ip, const char *text);

/* ---- The choice of the macro ---- */

/* One integer of 4 or 8 bytes, in the form that trace_bin_pack() gives it. */
void trace_bprintk_integer(uintptr_t ip, const char *fmt, uint64_t value, uint32_t bytes);

#define TRACE_PRINTK_NAME(zero, a, b, c, d, e, f, g, h, nr, ...) trace_printk_##nr

#ifdef __cplusplus
/* C++ cannot choose by the type of an argument: the format decides. */
#define trace_printk_1(fmt, arg) trace_bprintk(trace_here(), fmt, arg)
#else
#define TRACE_CLASS_POINTER 5 /* of __builtin_classify_type() */

#define TRACE_IS_INTEGER(arg) (__builtin_classify_type(arg) != TRACE_CLASS_POINTER)
/* `arg` with the type that it is passed with (at least int); 0 for other types. */
#define TRACE_AS_INTEGER(arg) (+__builtin_choose_expr(TRACE_IS_INTEGER(arg), (arg), 0))

#define trace_printk_1(fmt, arg)                                                                   \
	(TRACE_IS_INTEGER(arg)                                                                     \
		 ? trace_bprintk_integer(trace_here(), fmt, (uint64_t)TRACE_AS_INTEGER(arg),       \
					 sizeof(TRACE_AS_INTEGER(arg)))                            \
		 : trace_bprintk(trace_here(), fmt, arg)) /* and the compiler checks `fmt` */
#endif

#define trace_printk_0(fmt) trace_bputs(trace_here(), fmt)

#define trace_printk_many(fmt, ...) trace_bprintk(trace_here(), fmt, ##__VA_ARGS__)

TRACE_END_DECLS

#endif
