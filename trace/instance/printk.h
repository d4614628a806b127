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

/* A copy of `text`, with a newline at its end. -EBADF while nothing is recorded. */
int trace_write_text(struct trace_array *tr, uintptr_t ip, const char *text, size_t len);
/* A number and bytes that only the writer understands. -EBADF as above. */
int trace_write_raw(struct trace_array *tr, uint32_t id, const void *data, size_t len);

#endif
