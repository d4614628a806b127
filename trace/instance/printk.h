/*
 * Text and data that users write into a trace.
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

#endif
