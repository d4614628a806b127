/*
 * Events of critical sections, on tracepoints of <trace/host_tracepoints.h>. Names and text are
 * Linux's, where the two fields are offsets in its code; here they are the low halves of addresses.
 * See <trace/trace_events.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM preemptirq

#if !defined(TRACE_EVENTS_PREEMPTIRQ_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACE_EVENTS_PREEMPTIRQ_H

#include <trace/host_tracepoints.h>
#include <trace/trace_events.h>

DECLARE_EVENT_CLASS(preemptirq_template,
	TP_PROTO(uintptr_t ip, uintptr_t parent),
	TP_ARGS(ip, parent),
	TP_STRUCT__entry(
		__field_ip(caller_offs)
		__field_ip(parent_offs)
	),
	TP_fast_assign(
		__entry->caller_offs = trace_plat_ip_pack(ip);
		__entry->parent_offs = trace_plat_ip_pack(parent);
	),
	TP_printk("caller=%pS parent=%pS", __get_ip(caller_offs), __get_ip(parent_offs))
);

DEFINE_EVENT_EXISTING(preemptirq_template, irq_disable,
	TP_PROTO(uintptr_t ip, uintptr_t parent),
	TP_ARGS(ip, parent));

DEFINE_EVENT_EXISTING(preemptirq_template, irq_enable,
	TP_PROTO(uintptr_t ip, uintptr_t parent),
	TP_ARGS(ip, parent));

DEFINE_EVENT_EXISTING(preemptirq_template, preempt_disable,
	TP_PROTO(uintptr_t ip, uintptr_t parent),
	TP_ARGS(ip, parent));

DEFINE_EVENT_EXISTING(preemptirq_template, preempt_enable,
	TP_PROTO(uintptr_t ip, uintptr_t parent),
	TP_ARGS(ip, parent));

#endif

#include <trace/define_trace.h>
