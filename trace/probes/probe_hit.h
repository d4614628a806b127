/*
 * The commonest hit, inline in the handlers of probes: an event that takes 8 bytes of each register
 * as they are, and is recorded in one instance on no condition. All others: probe_hit_other().
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef PROBE_HIT_H
#define PROBE_HIT_H

#include <trace/event_probe.h>
#include "probe.h"

/* Of a plain event: what is behind the head. */
static TRACE_ALWAYS_INLINE void probe_fill_plain(const struct probe *probe, const void *got,
						 const uint32_t *head, uint32_t nr, uint8_t *entry)
{
	const struct fetch_copy *copy = probe->program.copies;
	const struct fetch_copy *end = copy + probe->program.nr_copies;

	__builtin_memcpy(entry + sizeof(struct trace_entry), head, nr * sizeof(*head));
	for (; copy < end; copy++)
		__builtin_memcpy(entry + copy->to, (const uint8_t *)got + copy->from, 8);
}

/* The event is not plain; or there are conditions, or others want it, too. */
void probe_hit_other(struct probe *probe, const void *got, const uint32_t *head, uint32_t nr);

static TRACE_ALWAYS_INLINE void probe_hit_plain(struct probe *probe, const void *got,
						const uint32_t *head, uint32_t nr)
{
	const struct trace_event_front *front = trace_event_front_of(probe->dyn.call);
	uint64_t entry[TRACE_EVENT_SHORT / sizeof(uint64_t)];

	if (TRACE_UNLIKELY(trace_event_flags(front) != TRACE_EVENT_RECORDS || !probe->is_plain)) {
		probe_hit_other(probe, got, head, nr);
		return;
	}
	atomic_fetch_add_explicit(&probe->nr_hits, 1, memory_order_relaxed);
	if (TRACE_UNLIKELY(trace_event_is_off(front)))
		return;
	probe_fill_plain(probe, got, head, nr, (uint8_t *)entry);
	trace_event_record(front, entry, TRACE_EVENT_STEP(probe->program.fixed_bytes));
}

#endif
