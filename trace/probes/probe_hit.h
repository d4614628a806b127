/*
 * A probe is hit: its event is built and written.
 *
 * A plain event is short, has no texts, and its length is a multiple of 4: most are. When it is
 * recorded in one instance and on no condition, it is built in the ring itself. That is inline in
 * the handlers; all else is in probe_hit.c.
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef PROBE_HIT_H
#define PROBE_HIT_H

#include "events/event_claim.h"
#include "probe.h"

/* The fields of 4 bytes in front of the arguments, from the lowest bits; `nr` is 0, 1 or 2. */
struct probe_head {
	uint64_t fields;
	uint32_t nr;
};

static TRACE_ALWAYS_INLINE void probe_fill_head(uint8_t *entry, struct probe_head head)
{
	const uint32_t first = (uint32_t)head.fields;

	entry += sizeof(struct trace_entry);
	if (head.nr == 1)
		__builtin_memcpy(entry, &first, sizeof(first));
	else if (head.nr == 2)
		__builtin_memcpy(entry, &head.fields, sizeof(head.fields));
}

/*
 * Begin a hit, the first call of a handler: count it. Returns true if the event is to be built in
 * the ring. If not, or without room to claim, the handler's last call is trace_probe_hit_other(),
 * which returns 0, as handlers do.
 */
static TRACE_ALWAYS_INLINE bool probe_hit_is_plain(struct probe *probe,
						   const struct trace_event_front *front)
{
	atomic_fetch_add_explicit(&probe->nr_hits, 1, memory_order_relaxed);
	return TRACE_LIKELY(trace_event_flags(front) == probe->plain_flags);
}

/* Record an event that the caller has built, of at most TRACE_EVENT_SCRATCH bytes, and count it. */
void trace_probe_hit_built(struct probe *probe, void *entry, uint32_t bytes);

/* Handle any other hit; `data` is that of trace_fetch_run(). */
int trace_probe_hit_other(struct probe *probe, const void *data, struct probe_head head,
			  const struct trace_event_front *front);

static TRACE_ALWAYS_INLINE const struct trace_event_front *probe_front_of(const struct probe *probe)
{
	return trace_event_front_of(probe->dyn.call);
}

/* The arguments are filled in, and the event is complete. */
static TRACE_ALWAYS_INLINE int probe_hit_end(const struct probe *probe, const void *data,
					     uint8_t *entry, const struct trace_event_claim *claim)
{
	fetch_numbers(&probe->program, data, entry);
	trace_event_publish(claim);
	return 0;
}

/* All of this, for a handler that has its head at hand. */
static TRACE_ALWAYS_INLINE int probe_hit(struct probe *probe, const void *data,
					 struct probe_head head)
{
	const struct trace_event_front *front = probe_front_of(probe);
	struct trace_event_claim claim;
	uint8_t *entry = NULL;

	if (probe_hit_is_plain(probe, front))
		entry = trace_event_claim(front, probe->step, &claim);
	if (TRACE_UNLIKELY(!entry))
		return trace_probe_hit_other(probe, data, head, front);
	probe_fill_head(entry, head);
	return probe_hit_end(probe, data, entry, &claim);
}

#endif
