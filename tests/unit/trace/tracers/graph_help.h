/*
 * Events of function_graph, written into the buffer as its callbacks write them. To be included by
 * one test file, after tracefs.h.
 */
#ifndef GRAPH_HELP_H
#define GRAPH_HELP_H

#include "instance/array.h"
#include "tracers/function_entry.h"
#include "tracers/graph_entry.h"

static uint8_t graph_flags, graph_preempt; /* of the events to come */

HELPER struct trace_entry graph_ent(uint16_t type, int32_t pid)
{
	return (struct trace_entry){
		.type = type, .flags = graph_flags, .preempt_count = graph_preempt, .pid = pid
	};
}

/* At the time that the clock shows, on `cpu`. */
HELPER void graph_write(uint32_t cpu, const void *event, size_t bytes)
{
	fake_bind(cpu);
	assert_int_equal(ring_buffer_write(trace_global_array()->buffer, event, bytes), 0);
	fake_bind(0);
}

HELPER void enter(uint32_t cpu, int32_t pid, uintptr_t func, uint32_t depth)
{
	struct trace_graph_entry entry = { .ent = graph_ent(TRACE_TYPE_GRAPH_ENT, pid),
					   .ip = trace_plat_ip_pack(func),
					   .depth = depth };

	graph_write(cpu, &entry, sizeof(entry));
}

HELPER void leave(uint32_t cpu, int32_t pid, uintptr_t func, uint32_t depth, uint64_t ns)
{
	struct trace_graph_ret_entry entry = { .ent = graph_ent(TRACE_TYPE_GRAPH_RET, pid),
					       .ip = trace_plat_ip_pack(func),
					       .depth = (uint16_t)depth,
					       .duration_ns = ns };

	graph_write(cpu, &entry, sizeof(entry));
}

HELPER void comment(uint32_t cpu, int32_t pid, const char *text)
{
	uint8_t event[sizeof(struct trace_print_entry) + 256];
	struct trace_print_entry head = { .ent = graph_ent(TRACE_TYPE_PRINT, pid) };

	assert_true(strlen(text) < 256);
	memcpy(event, &head, sizeof(head));
	memcpy(event + sizeof(head), text, strlen(text) + 1);
	graph_write(cpu, event, sizeof(head) + strlen(text) + 1);
}

#endif
