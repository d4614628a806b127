/*
 * Text that grows in a buffer of fixed size. Text that does not fit is cut off, and `overflowed` is
 * set; no function fails. The text is buf[0] to buf[len - 1]; nothing ends it with a NUL.
 *
 * Context:   any, NMI included.
 * Locking:   none: one user at a time.
 * Ownership: the buffer belongs to the caller and has to last as long as the trace_seq.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TRACE_SEQ_H
#define TRACE_TRACE_SEQ_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_seq {
	char *buf;
	size_t size;
	size_t len;	 /* never more than size */
	bool overflowed; /* some text did not fit and is missing */
	/* How to print, false after trace_seq_init(): */
	bool hashes_pointers; /* %p is not the address, but a number that stands for it */
	bool lists_bits;      /* bit masks are `0-3,7`, not hex digits */
};

void trace_seq_init(struct trace_seq *seq, char *buf, size_t size);
void trace_seq_printf(struct trace_seq *seq, const char *fmt, ...) TRACE_PRINTF(2, 3);
void trace_seq_puts(struct trace_seq *seq, const char *text);
/* `text`, with blanks before it up to `width`. */
void trace_seq_right(struct trace_seq *seq, const char *text, size_t width);
/* `value` in decimal, at least `width` characters, filled up in front with `fill`. */
void trace_seq_dec(struct trace_seq *seq, uint64_t value, unsigned int width, char fill);
/*
 * `ns` nanoseconds as microseconds, in the 12 characters that the function_graph tracer gives a
 * duration: `12.345 us   `, `1234567 us  `. More characters from 100 seconds on.
 */
void trace_seq_duration(struct trace_seq *seq, uint64_t ns);
void trace_seq_write(struct trace_seq *seq, const void *bytes, size_t len);
/* As trace_seq_printf(), with arguments that trace_bin_pack() has stored for the same `fmt`. */
void trace_seq_bprintf(struct trace_seq *seq, const char *fmt, const void *args, size_t args_bytes);
/* `value` as hex digits, at least two for each of its `bytes` bytes, and a blank. */
void trace_seq_hex(struct trace_seq *seq, unsigned long value, unsigned int bytes);

static inline size_t trace_seq_room(const struct trace_seq *seq)
{
	return seq->size - seq->len;
}

static inline void trace_seq_putc(struct trace_seq *seq, char c)
{
	if (seq->len < seq->size)
		seq->buf[seq->len++] = c;
	else
		seq->overflowed = true;
}

TRACE_END_DECLS

#endif
