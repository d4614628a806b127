/*
 * The commonest hit, inline in the handlers of probes: an event that is recorded in one instance on
 * no condition, and takes 8 bytes of each register as they are. All others: probe_hit().
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef PROBE_HIT_H
#define PROBE_HIT_H

#include <trace/event_probe.h>
#include "probe.h"

static TRACE_ALWAYS_INLINE void probe_hit_plain(struct probe *probe, const void *got,
						const uint32_t *head, uint32_t nr)
{
	const struct trace_event_front *front = trace_event_front_of(probe->dyn.call);
	const struct fetch_copy *copy = probe->program.copies;
	const struct fetch_copy *end = copy + probe->program.nr_copies;
	uint64_t entry[TRACE_EVENT_SHORT / sizeof(uint64_t)];

	if (TRACE_UNLIKELY(trace_event_flags(front) != TRACE_EVENT_RECORDS || !probe->is_plain)) {
		probe_hit(probe, got, head, nr);
		return;
	}
	atomic_fetch_add_explicit(&probe->nr_hits, 1, memory_order_relaxed);
	if (TRACE_UNLIKELY(trace_event_is_off(front)))
		return;
	__builtin_memcpy((uint8_t *)entry + sizeof(struct trace_entry), head, nr * sizeof(*head));
	for (; copy < end; copy++)
		__builtin_memcpy((uint8_t *)entry + copy->to, (const uint8_t *)got + copy->from, 8);
	trace_event_record(front, entry, TRACE_EVENT_STEP(probe->program.fixed_bytes));
}

#endif
