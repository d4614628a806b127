/*
 * A probe is hit: its event is built and written. See probe.h.
 *
 * Context: any, NMI included, preemption off.
 */
#include <trace/event_probe.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include "probe_hit.h"
#include "text/str.h"

#define HEAD_BYTES sizeof(struct trace_entry)
#define TEXT_BYTES 128u /* of each text, on an average, in an event whose numbers alone are long */

static TRACE_ALWAYS_INLINE void fill_head(uint8_t *entry, const uint32_t *head, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		__builtin_memcpy(entry + HEAD_BYTES + i * sizeof(*head), &head[i], sizeof(*head));
}

/* It does not fit on the stack. */
static TRACE_NOINLINE void hit_long(struct probe *probe, const void *got, const uint32_t *head,
				    uint32_t nr, uint32_t bytes)
{
	const struct trace_event_front *front = trace_event_front_of(probe->dyn.call);
	struct trace_event_room room;
	uint32_t filled;
	uint8_t *entry;

	if (bytes > RING_MAX_PAYLOAD)
		bytes = RING_MAX_PAYLOAD & ~3u;
	entry = trace_event_reserve(front, bytes, &room);
	if (!entry)
		return;
	fill_head(entry, head, nr);
	filled = fetch_run(&probe->program, got, entry, bytes);
	if (filled < bytes) /* texts have become shorter since they were measured */
		memset(entry + filled, 0, bytes - filled);
	trace_event_commit(&room, entry, bytes);
}

/* There are conditions, or others want the event, too. */
static TRACE_NOINLINE void hit_special(struct probe *probe, const void *got, const uint32_t *head,
				       uint32_t nr)
{
	const struct trace_event_front *front = trace_event_front_of(probe->dyn.call);
	uint64_t entry[TRACE_EVENT_SCRATCH / sizeof(uint64_t) + 1];
	const struct trace_event_test *test;
	uint32_t bytes = probe->program.fixed_bytes;

	if (bytes > TRACE_EVENT_SCRATCH)
		bytes += probe->program.nr_texts * TEXT_BYTES;
	if (!trace_event_may_be_wanted(front, trace_event_flags(front), NULL))
		return;
	if (bytes <= TRACE_EVENT_SCRATCH) {
		fill_head((uint8_t *)entry, head, nr);
		bytes = fetch_run(&probe->program, got, (uint8_t *)entry, TRACE_EVENT_SCRATCH);
	}
	if (bytes > TRACE_EVENT_SCRATCH) {
		hit_long(probe, got, head, nr, (bytes + 3) & ~3u);
		return;
	}
	test = trace_atomic_load_acquire(&front->test);
	if (trace_event_passes(test, entry))
		trace_event_write_special(front, entry, TRACE_EVENT_STEP(bytes), test, NULL);
}

/* Not inlined: what it saves would be saved by probe_hit_other(), too. */
TRACE_NOINLINE void probe_hit(struct probe *probe, const void *got, const uint32_t *head,
			      uint32_t nr)
{
	const struct trace_event_front *front = trace_event_front_of(probe->dyn.call);
	uint64_t entry[TRACE_EVENT_SHORT / sizeof(uint64_t)];
	uint32_t bytes = probe->program.fixed_bytes;

	atomic_fetch_add_explicit(&probe->nr_hits, 1, memory_order_relaxed);
	if (TRACE_UNLIKELY(trace_event_flags(front) != TRACE_EVENT_RECORDS ||
			   bytes > TRACE_EVENT_SHORT)) {
		hit_special(probe, got, head, nr);
		return;
	}
	if (TRACE_UNLIKELY(trace_event_is_off(front)))
		return;
	fill_head((uint8_t *)entry, head, nr);
	bytes = fetch_run(&probe->program, got, (uint8_t *)entry, TRACE_EVENT_SHORT);
	if (TRACE_LIKELY(bytes <= TRACE_EVENT_SHORT))
		trace_event_record(front, entry, TRACE_EVENT_STEP(bytes));
	else
		hit_long(probe, got, head, nr, bytes);
}

static TRACE_NOINLINE void hit_plain_special(struct probe *probe, const void *got,
					     const uint32_t *head, uint32_t nr)
{
	const struct trace_event_front *front = trace_event_front_of(probe->dyn.call);
	uint64_t entry[TRACE_EVENT_SHORT / sizeof(uint64_t)];
	const struct trace_event_test *test;

	atomic_fetch_add_explicit(&probe->nr_hits, 1, memory_order_relaxed);
	if (!trace_event_may_be_wanted(front, trace_event_flags(front), NULL))
		return;
	probe_fill_plain(probe, got, head, nr, (uint8_t *)entry);
	test = trace_atomic_load_acquire(&front->test);
	if (trace_event_passes(test, entry))
		trace_event_write_special(front, entry,
					  TRACE_EVENT_STEP((uint32_t)probe->program.fixed_bytes),
					  test, NULL);
}

void probe_hit_other(struct probe *probe, const void *got, const uint32_t *head, uint32_t nr)
{
	if (TRACE_LIKELY(probe->is_plain))
		hit_plain_special(probe, got, head, nr);
	else
		probe_hit(probe, got, head, nr);
}
