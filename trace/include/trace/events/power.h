/*
 * Events of idle CPUs, on a tracepoint of <trace/host_tracepoints.h>. Names, fields and text are
 * Linux's. See <trace/trace_events.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM power

#if !defined(TRACE_EVENTS_POWER_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_EVENTS_POWER_H

#include <trace/host_tracepoints.h>
#include <trace/trace_events.h>

/* The state is 4294967295 when the CPU has stopped waiting. */
TRACE_EVENT_EXISTING(cpu_idle,
	TP_PROTO(uint32_t state, uint32_t cpu, uintptr_t ip),
	TP_ARGS(state, cpu, ip),
	TP_STRUCT__entry(
		__field_as(u32, unsigned int, state)
		__field_as(u32, unsigned int, cpu_id)
	),
	TP_fast_assign(
		__entry->state = state;
		__entry->cpu_id = cpu;
	),
	TP_printk("state=%lu cpu_id=%lu",
		(unsigned long)__entry->state, (unsigned long)__entry->cpu_id)
);

#endif

#include <trace/define_trace.h>
