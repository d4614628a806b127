/*
 * Stack traces in the buffer: an event of the callers of what runs, up to TRACE_STACK_MAX of them.
 *
 * Context: probe.
 */
#ifndef TRACE_STACKTRACE_H
#define TRACE_STACKTRACE_H

#include "array.h"

/* `frame` is __builtin_frame_address(0) of a callback; the first line is the traced function. */
void trace_stacktrace_callback(struct ring_buffer *buffer, uintptr_t frame);
/*
 * `frame` is that of a function that writes an event; its caller is the first line, or with `skip`
 * one that many above it.
 */
void trace_stacktrace_code(struct ring_buffer *buffer, uintptr_t frame, uint32_t skip);

/*
 * For hooks, `frame` as above: what called the code at `ip`, which is on the stack; with
 * `inclusive` that code is the first line. Nothing is written when it is not there.
 */
void trace_stacktrace_hook(struct ring_buffer *buffer, uintptr_t frame, uintptr_t ip,
			   bool inclusive);

/* The option `stacktrace`: a stack behind each event that code writes. */
static inline bool trace_stacktrace_wanted(const struct trace_array *tr)
{
	return tr->options & TRACE_OPT_BIT(TRACE_OPT_STACKTRACE);
}

#endif
