/*
 * Hits whose events are not built in the ring: see probe_hit.h.
 *
 * Context: any, NMI included, preemption off.
 */
#include <trace/event_probe.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include "probe_hit.h"
#include "text/str.h"

#define TEXT_BYTES 128u /* of each text, on an average, in an event whose numbers alone are long */

/* ---- Plain events ---- */

/*
 * Does the event fail the first condition of its filter? If that looks at a register that is
 * recorded as it is, nothing has to be built to know. False: it does not, or the event has to be
 * built.
 */
static TRACE_ALWAYS_INLINE bool fails_at_once(const struct fetch_program *program,
					      const struct trace_event_test *test, const void *data)
{
	const struct fetch_copy *first = program->copies;
	uint64_t word;

	if (first == program->copies_end || first->to != test->offset)
		return false;
	__builtin_memcpy(&word, (const uint8_t *)data + first->from, sizeof(word));
	return (word & test->mask) - test->lo > test->span;
}

/* Build an event on the stack, when it cannot be built in the ring. */
static TRACE_NOINLINE int hit_plain(struct probe *probe, const void *data, struct probe_head head,
				    const struct trace_event_front *front)
{
	const struct trace_event_test *test = trace_atomic_load_acquire(&front->test);
	uint64_t entry[TRACE_EVENT_SHORT / sizeof(uint64_t)];
	uint32_t flags = trace_event_flags(front);

	if (!trace_event_may_be_wanted(front, flags, NULL))
		return 0;
	probe_fill_head((uint8_t *)entry, head);
	fetch_numbers(&probe->program, data, (uint8_t *)entry);
	if (flags == TRACE_EVENT_RECORDS)
		trace_event_record(front, entry, probe->step);
	else if (trace_event_passes(test, entry))
		trace_event_write_special(front, entry, probe->step, test, NULL);
	return 0;
}

/*
 * One that is off and has triggers, perhaps a histogram; all its arguments are copies. They are
 * written over what is too much of the head.
 */
static TRACE_NOINLINE int hit_triggers(struct probe *probe, const void *data,
				       struct probe_head head,
				       const struct trace_event_front *front)
{
	uint64_t entry[TRACE_EVENT_SHORT / sizeof(uint64_t)];

	__builtin_memcpy((uint8_t *)entry + sizeof(struct trace_entry), &head.fields,
			 sizeof(head.fields));
	fetch_copies(&probe->program, data, (uint8_t *)entry);
	trace_event_write_triggers(front, entry, probe->step);
	return 0;
}

/* ---- Events with texts, and long ones ---- */

/* It does not fit on the stack. */
static TRACE_NOINLINE void hit_long(struct probe *probe, const void *data, struct probe_head head,
				    uint32_t bytes)
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
	probe_fill_head(entry, head);
	filled = trace_fetch_run(&probe->program, data, entry, bytes);
	if (filled < bytes) /* texts have become shorter since they were measured */
		memset(entry + filled, 0, bytes - filled);
	trace_event_commit(&room, entry, bytes);
}

/* There are conditions, or others want the event, too. */
static TRACE_NOINLINE void hit_conditional(struct probe *probe, const void *data,
					   struct probe_head head)
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
		probe_fill_head((uint8_t *)entry, head);
		bytes = trace_fetch_run(&probe->program, data, (uint8_t *)entry,
					TRACE_EVENT_SCRATCH);
	}
	if (bytes > TRACE_EVENT_SCRATCH) {
		hit_long(probe, data, head, (bytes + 3) & ~3u);
		return;
	}
	test = trace_atomic_load_acquire(&front->test);
	if (trace_event_passes(test, entry))
		trace_event_write_special(front, entry, TRACE_EVENT_STEP(bytes), test, NULL);
}

/* Handle an event that is not plain; short ones are built on the stack. */
static TRACE_NOINLINE int hit_any(struct probe *probe, const void *data, struct probe_head head,
				  const struct trace_event_front *front)
{
	uint64_t entry[TRACE_EVENT_SHORT / sizeof(uint64_t)];
	uint32_t bytes = probe->program.fixed_bytes;

	if (TRACE_UNLIKELY(trace_event_flags(front) != TRACE_EVENT_RECORDS ||
			   bytes > TRACE_EVENT_SHORT)) {
		hit_conditional(probe, data, head);
		return 0;
	}
	if (TRACE_UNLIKELY(trace_event_is_off(front)))
		return 0;
	probe_fill_head((uint8_t *)entry, head);
	bytes = trace_fetch_run(&probe->program, data, (uint8_t *)entry, TRACE_EVENT_SHORT);
	if (TRACE_LIKELY(bytes <= TRACE_EVENT_SHORT))
		trace_event_record(front, entry, TRACE_EVENT_STEP(bytes));
	else
		hit_long(probe, data, head, bytes);
	return 0;
}

void trace_probe_hit_built(struct probe *probe, void *entry, uint32_t bytes)
{
	const struct trace_event_front *front = probe_front_of(probe);
	const struct trace_event_test *test = trace_atomic_load_acquire(&front->test);
	uint32_t flags = trace_event_flags(front);

	atomic_fetch_add_explicit(&probe->nr_hits, 1, memory_order_relaxed);
	if (!trace_event_may_be_wanted(front, flags, NULL))
		return;
	if (flags == TRACE_EVENT_RECORDS && bytes <= TRACE_EVENT_SHORT)
		trace_event_record(front, entry, TRACE_EVENT_STEP(bytes));
	else if (trace_event_passes(test, entry))
		trace_event_write_special(front, entry, TRACE_EVENT_STEP(bytes), test, NULL);
}

int trace_probe_hit_other(struct probe *probe, const void *data, struct probe_head head,
			  const struct trace_event_front *front)
{
	if (fails_at_once(&probe->program, trace_atomic_load_acquire(&front->test), data))
		return 0;
	if (TRACE_UNLIKELY(!probe->is_plain))
		return hit_any(probe, data, head, front);
	return TRACE_LIKELY(trace_event_flags(front) == probe->trigger_flags)
		       ? hit_triggers(probe, data, head, front)
		       : hit_plain(probe, data, head, front);
}
