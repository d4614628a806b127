/*
 * Text and data that users write into a trace; and which instance trace_printk() writes to: the one
 * with the option trace_printk_dest. One always has it, usually the global one.
 *
 * Context: any, NMI included.
 */
#ifndef TRACE_PRINTK_H
#define TRACE_PRINTK_H

#include <stddef.h>
#include <stdint.h>

struct trace_array;

/*
 * Write an event with a copy of the `len` bytes of `text`; a newline is added if there is none.
 * `ip` is where it came from. 0, or -EBADF when recording is off or the event was dropped.
 */
int trace_write_text(struct trace_array *tr, uintptr_t ip, const char *text, size_t len);
/* Write an event with a number and `len` bytes, for tools that understand them. Result as above. */
int trace_write_raw(struct trace_array *tr, uint32_t id, const void *data, size_t len);

/*
 * The instance that trace_printk() writes to now. It is not freed before trace_printk_end(tr).
 * NULL, without an end, before trace_init().
 */
struct trace_array *trace_printk_begin(void);
void trace_printk_end(struct trace_array *tr);
/*
 * From now on trace_printk() writes to `tr`, which gets the option. Thread context, config lock
 * held.
 */
void trace_printk_redirect(struct trace_array *tr);

#endif
