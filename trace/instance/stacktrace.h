/*
 * Stack traces in the buffer: events with the callers of the running code, up to TRACE_STACK_MAX.
 *
 * Context: probe.
 */
#ifndef TRACE_STACKTRACE_H
#define TRACE_STACKTRACE_H

#include "array.h"

/*
 * For a callback of an ops, which holds a recursion guard. `frame` is its
 * __builtin_frame_address(0). The first address is in the traced function.
 */
void trace_stacktrace_callback(struct ring_buffer *buffer, uintptr_t frame);
/* Write a stack that trace_plat_backtrace() gave earlier, of `nr` addresses; longer ones are cut. */
void trace_stacktrace_saved(struct ring_buffer *buffer, const uint32_t *ips, size_t nr);
/*
 * For a function that writes an event; `frame` is its __builtin_frame_address(0). The first address
 * is in its caller, or `skip` callers further out, at most TRACE_STACK_MAX.
 */
void trace_stacktrace_code(struct ring_buffer *buffer, uintptr_t frame, uint32_t skip);
/*
 * For a function that is called by the one that a probe of a trace event has called. The first
 * address is in the caller of the probe. `own_depth` is how often preemption is off because of the
 * tracepoint: the trace shows the state that the event shows.
 */
void trace_stacktrace_event(struct ring_buffer *buffer, uintptr_t frame, uint32_t own_depth);

/*
 * For a probe of a tracepoint, `frame` as above. The return address `ip` is on the stack; the trace
 * begins with its caller, or with `inclusive` with `ip` itself. Nothing is written when `ip` is not
 * found among the innermost callers.
 */
void trace_stacktrace_hook(struct ring_buffer *buffer, uintptr_t frame, uintptr_t ip,
			   bool inclusive);

/*
 * The start of a trace: `skip` addresses behind the first that is in [ip, ip + span]. An ip of 0 stands for
 * no trace.
 */
struct trace_stack_start {
	uintptr_t ip;
	uint32_t span, skip;
};

/*
 * Write a stack trace from a function that a probe of a trace event calls, at any depth; `frame` as
 * above. The trace begins with the caller of the frame's function if `start` is not found among the
 * innermost callers. `own_depth` is the preemption depth that the tracepoint adds.
 */
void trace_stacktrace_probe(struct ring_buffer *buffer, uintptr_t frame,
			    const struct trace_stack_start *start, uint32_t own_depth);

/*
 * The addresses with which such a trace begins, at most `max`, packed. Returns how many; 0 when
 * `start` is not found.
 */
uint32_t trace_stacktrace_place(uintptr_t frame, const struct trace_stack_start *start,
				uint32_t *out_ips, uint32_t max);
/*
 * Find the start of the trace among the `nr` addresses. Returns its index; `nr` when there is none.
 */
size_t trace_stacktrace_find(const uint32_t *ips, size_t nr, const struct trace_stack_start *start);

/*
 * The addresses of the program that the running thread is in, innermost first, at most TRACE_USER_STACK_MAX,
 * and its thread group. Returns how many there are; 0, and nothing is written, for a thread of the kernel
 * and in NMIs. Probe context.
 */
uint32_t trace_userstack_get(uint32_t *out_tgid, uint64_t *out_callers);
/* Write the TRACE_USER_STACK_MAX words that it has filled; behind its last there are zeroes. */
void trace_userstack_record(struct ring_buffer *buffer, uint32_t tgid, const uint64_t *callers,
			    uint32_t own_depth);
/*
 * Write the stack of the program that the running thread is in; nothing for a thread of the kernel and
 * in NMIs. Where it can be read only when the program goes on, it is written then. `own_depth` as above.
 */
void trace_userstack_write(struct trace_array *tr, uint32_t own_depth);
/* A bit of trace_thread.user_stacks_due for a new instance. Config lock held. */
uint32_t trace_userstack_take_bit(void);

/* Options that ask for a stack behind each event. */
#define TRACE_STACK_OPTIONS                                                                        \
	(TRACE_OPT_BIT(TRACE_OPT_STACKTRACE) | TRACE_OPT_BIT(TRACE_OPT_USERSTACKTRACE))

static inline bool trace_userstack_wanted(const struct trace_array *tr)
{
	return tr->options & TRACE_OPT_BIT(TRACE_OPT_USERSTACKTRACE);
}

/*
 * Is the option `stacktrace` set, which asks for a stack trace behind each event of trace_printk()?
 */
static inline bool trace_stacktrace_wanted(const struct trace_array *tr)
{
	return tr->options & TRACE_OPT_BIT(TRACE_OPT_STACKTRACE);
}

#endif
