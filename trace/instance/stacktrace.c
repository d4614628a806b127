/*
 * See stacktrace.h; and trace_dump_stack() for the rest of the kernel.
 */
#include <trace/ring_buffer.h>
#include <trace/trace.h>
#include "entry.h"
#include "printk.h"
#include "stacktrace.h"

/* Two at a time: most stacks have ten or so. A 0, which ends a stack that was cut, stays one. */
static TRACE_ALWAYS_INLINE void unpack_ips(struct trace_stack_entry *entry, const uint32_t *from,
					   size_t nr)
{
	size_t i = nr % 2;

	if (i)
		entry->ips[0] = trace_plat_ip_unpack(from[0]);
	for (; i < nr; i += 2) {
		entry->ips[i] = trace_plat_ip_unpack(from[i]);
		entry->ips[i + 1] = trace_plat_ip_unpack(from[i + 1]);
	}
}

/* `own_depth`: for trace_entry_init(); one unit of it is that of the ring's reserve. */
static void stacktrace_write_event(struct ring_buffer *buffer, const uint32_t *ips, size_t nr,
				   uint32_t own_depth)
{
	struct trace_stack_entry *entry;

	entry = ring_buffer_lock_reserve(buffer, sizeof(*entry) + nr * sizeof(entry->ips[0]));
	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_STACK, own_depth);
	unpack_ips(entry, ips, nr);
	ring_buffer_unlock_commit(buffer, entry);
}

void trace_stacktrace_callback(struct ring_buffer *buffer, uintptr_t frame)
{
	uint32_t ips[TRACE_STACK_MAX + 1];
	size_t nr = trace_plat_backtrace(frame, true, ips, TRACE_STACK_MAX + 1);

	if (nr > TRACE_STACK_MAX)
		ips[TRACE_STACK_MAX] = 0;
	stacktrace_write_event(buffer, ips, nr,
			       2); /* the callback's recursion guard has the other one */
}

void trace_stacktrace_saved(struct ring_buffer *buffer, const uint32_t *ips, size_t nr)
{
	stacktrace_write_event(buffer, ips, nr < TRACE_STACK_MAX ? nr : TRACE_STACK_MAX, 1);
}

static TRACE_ALWAYS_INLINE void write_callers(struct ring_buffer *buffer, uintptr_t frame,
					      uint32_t skip, uint32_t own_depth)
{
	uint32_t ips[2 * TRACE_STACK_MAX + 1];
	size_t nr;

	nr = trace_plat_backtrace(frame, false, ips, skip + TRACE_STACK_MAX + 1);
	nr = nr > skip ? nr - skip : 0;
	if (nr > TRACE_STACK_MAX)
		ips[skip + TRACE_STACK_MAX] = 0;
	stacktrace_write_event(buffer, ips + skip, nr, own_depth + 1);
}

void trace_stacktrace_code(struct ring_buffer *buffer, uintptr_t frame, uint32_t skip)
{
	write_callers(buffer, frame, skip, 0);
}

void trace_stacktrace_event(struct ring_buffer *buffer, uintptr_t frame, uint32_t own_depth)
{
	write_callers(buffer, frame, 2, own_depth);
}

/* Frames searched for `ip`: our functions, and the host's on the way to its tracepoint. */
#define HOOK_FRAMES 16

size_t trace_stacktrace_find(const uint32_t *ips, size_t nr, const struct trace_stack_start *start)
{
	const uint32_t ip = trace_plat_ip_pack(start->ip);
	size_t at = 0;

	while (at < nr && ips[at] - ip > start->span)
		at++;
	return at < nr && at <= HOOK_FRAMES ? at + start->skip : nr;
}

/* Write what begins with number `first` of those that were found with room for HOOK_FRAMES more. */
static void write_from(struct ring_buffer *buffer, uint32_t *ips, size_t nr, size_t first,
		       uint32_t own_depth)
{
	nr = nr > first ? nr - first : 0;
	if (nr > TRACE_STACK_MAX) {
		nr = TRACE_STACK_MAX + 1;
		ips[first + TRACE_STACK_MAX] = 0;
	}
	if (nr)
		stacktrace_write_event(buffer, ips + first, nr, own_depth);
}

void trace_stacktrace_hook(struct ring_buffer *buffer, uintptr_t frame, uintptr_t ip,
			   bool inclusive)
{
	uint32_t ips[HOOK_FRAMES + TRACE_STACK_MAX + 1];
	size_t nr = trace_plat_backtrace(frame, false, ips, HOOK_FRAMES + TRACE_STACK_MAX + 1);
	const struct trace_stack_start start = { .ip = ip, .skip = !inclusive };
	size_t first = trace_stacktrace_find(ips, nr, &start);

	if (first < nr)
		write_from(buffer, ips, nr, first, 1);
}

void trace_stacktrace_probe(struct ring_buffer *buffer, uintptr_t frame,
			    const struct trace_stack_start *start, uint32_t own_depth)
{
	uint32_t ips[HOOK_FRAMES + TRACE_STACK_MAX + 1];
	size_t nr, first;

	if (!start->ip)
		return;
	nr = trace_plat_backtrace(frame, false, ips, HOOK_FRAMES + TRACE_STACK_MAX + 1);
	first = trace_stacktrace_find(ips, nr, start);
	write_from(buffer, ips, nr, first < nr ? first : 0, own_depth + 1);
}

uint32_t trace_stacktrace_place(uintptr_t frame, const struct trace_stack_start *start,
				uint32_t *out_ips, uint32_t max)
{
	uint32_t ips[2 * HOOK_FRAMES];
	size_t nr = trace_plat_backtrace(frame, false, ips, sizeof(ips) / sizeof(ips[0]));
	uint32_t nr_out = 0;

	for (size_t at = trace_stacktrace_find(ips, nr, start); at < nr && nr_out < max; at++)
		out_ips[nr_out++] = ips[at];
	return nr_out;
}

void trace_dump_stack(uint32_t skip)
{
	struct trace_array *tr = trace_printk_begin();

	if (!tr)
		return;
	trace_stacktrace_code(tr->buffer, (uintptr_t)__builtin_frame_address(0),
			      skip < TRACE_STACK_MAX ? skip : TRACE_STACK_MAX);
	trace_printk_end(tr);
}
