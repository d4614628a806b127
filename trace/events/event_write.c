/*
 * Writing events that probes have built: see event_file.h, <trace/event_probe.h>.
 *
 * The common case, in trace_event_record() alone, is a thread, an event of at most
 * RING_SHORT_PAYLOAD bytes, a ring with the fastest clock, and no conditions. Everything else is in
 * functions of its own, which are called last.
 *
 * Context: any, preemption off.
 */
#include <trace/host_tracepoints.h>
#include <trace/platform.h>
#include <trace/thread.h>
#include "event_claim.h"
#include "event_copy.h"
#include "event_file.h"
#include "event_inject.h"
#include "event_printk.h"
#include "event_rejects.h"
#include "event_scratch.h"
#include "event_stack.h"
#include "event_watch.h"
#include "expr/expr.h"
#include "trigger_run.h"

/* Copy the fields behind the head of an event. */
static TRACE_ALWAYS_INLINE void copy_fields(void *payload, const void *entry, uint32_t bytes)
{
	trace_event_copy_words((struct trace_entry *)payload + 1,
			       (const struct trace_entry *)entry + 1,
			       bytes - sizeof(struct trace_entry));
}

/* Bytes of an event, from its step in a ring: <trace/trace_events.h>. */
static TRACE_ALWAYS_INLINE uint32_t step_bytes(uint64_t step)
{
	return (uint32_t)step - RING_HEAD_BYTES;
}
_Static_assert(TRACE_EVENT_STEP(8) == RING_EVENT_ONE + RING_HEAD_BYTES + 8, "that is the step");

/* Record an event in any context, of any length, in any state of the ring; NULL: not recorded. */
static TRACE_NOINLINE const void *record_slow(const struct trace_event_file *file,
					      const void *entry, uint64_t step,
					      struct trace_ring_cpu *rc)
{
	uint32_t bytes = step_bytes(step);
	void *payload = trace_ring_reserve_any(rc, bytes);

	if (payload) {
		trace_entry_init(payload, file->type, file->own_depth);
		copy_fields(payload, entry, bytes);
		trace_ring_commit(rc, payload);
	}
	return payload;
}

/* Publish events of interrupts behind ours, written while ours was open. */
static TRACE_NOINLINE const void *event_publish(struct trace_ring_cpu *rc, const void *payload)
{
	trace_ring_publish(rc);
	return payload;
}

/*
 * Record a short event of a thread in a ring with another clock, at `time` of that clock, or now.
 * Returns NULL, with nothing changed, when only record_slow() can do it. In interrupts the clock is
 * not read in vain: `counter` would leave out a number.
 */
static TRACE_ALWAYS_INLINE const void *record_timed(const struct trace_event_file *file,
						    const void *entry, uint64_t step,
						    struct trace_ring_cpu *rc,
						    const struct trace_event_time *time)
{
	uint32_t state = trace_event_state(file);
	struct ring_place place;
	void *payload;

	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER))
		return NULL;
	payload =
		trace_ring_step(rc, step, rc->subbuf_mask, time ? time->now : rc->clock(), &place);
	if (TRACE_UNLIKELY(!payload))
		return NULL;
	trace_entry_put(payload, trace_entry_word(file->entry_base, state));
	copy_fields(payload, entry, step_bytes(step));
	trace_ring_commit_at(rc, &place);
	return payload;
}

/* Record an event in a ring that is not open. */
static TRACE_NOINLINE const void *record_closed(const struct trace_event_file *file,
						const void *entry, uint64_t step,
						struct trace_ring_cpu *rc, uint64_t gate)
{
	const void *payload = NULL;

	if (trace_ring_is_switched_off(gate))
		return NULL;
	if (trace_ring_has_own_clock(gate))
		payload = record_timed(file, entry, step, rc, NULL);
	return payload ? payload : record_slow(file, entry, step, rc);
}

/* Record an event that found no room to claim. */
static TRACE_NOINLINE const void *record_unclaimed(const struct trace_event_front *front,
						   const void *entry, uint64_t step)
{
	const struct trace_event_file *file = trace_event_file_of(front);
	struct trace_ring_cpu *rc = trace_event_ring_of(file->tr);
	uint64_t gate = trace_ring_look(rc);

	return (uint32_t)gate ? record_slow(file, entry, step, rc)
			      : record_closed(file, entry, step, rc, gate);
}

const void *trace_event_record(const struct trace_event_front *front, const void *entry,
			       uint64_t step)
{
	struct trace_event_claim claim;
	void *payload = trace_event_claim(front, step, &claim);

	if (TRACE_UNLIKELY(!payload))
		return record_unclaimed(front, entry, step);
	copy_fields(payload, entry, step_bytes(step));
	if (TRACE_LIKELY(trace_ring_try_commit_at(claim.rc, &claim.place)))
		return payload;
	return event_publish(claim.rc, payload);
}

void trace_event_record_time(const struct trace_event_front *front, const void *entry,
			     uint64_t step, const struct trace_event_time *time)
{
	const struct trace_event_file *file = trace_event_file_of(front);
	struct trace_ring_cpu *rc = trace_event_ring_of(file->tr);
	uint64_t gate = trace_ring_look(rc);

	/* If a later event was written meanwhile, this one gets a time of its own. */
	if (TRACE_UNLIKELY(!trace_ring_has_own_clock(gate) || rc->clock != time->clock ||
			   !record_timed(file, entry, step, rc, time)))
		trace_event_record(front, entry, step);
}

/* Record an event of any length. */
static const void *event_record(const struct trace_event_file *file, const void *entry,
				uint64_t step)
{
	if (TRACE_LIKELY(step_bytes(step) <= TRACE_EVENT_SHORT))
		return trace_event_record(&file->front, entry, step);
	return record_slow(file, entry, step, trace_event_ring_of(file->tr));
}

/* The origin of an event. */
struct origin {
	uintptr_t caller;			/* address in the probe */
	const struct trace_sched_thread *other; /* a second thread of the event, or NULL */
};

/* Does the instance leave the event out because of its threads? See event_pids.c. */
static bool event_is_ignored(const struct trace_event_file *file, const struct origin *from)
{
	return trace_event_ignores(&file->front, trace_plat_current()) &&
	       (!from->other || trace_event_ignores(&file->front, from->other->thread));
}

static bool passes_filter(const struct trace_event_file *file, void *entry, uint32_t bytes,
			  uint32_t flags)
{
	if (flags & TRACE_EVENT_HEAD)
		trace_entry_init(entry, file->type, file->own_depth);
	if (trace_expr_match(file->filter, entry, bytes))
		return true;
	/* Acquire: the counts may be newer than the filter, and are made before they are set. */
	trace_event_rejects_count(atomic_load_explicit(&file->rejects, memory_order_acquire));
	return false;
}

/* Do all conditions of the instance allow recording the event? */
static bool event_is_wanted(const struct trace_event_file *file, void *entry, uint32_t bytes,
			    uint32_t flags)
{
	if (!(flags & TRACE_EVENT_RECORDS))
		return false;
	return !(flags & TRACE_EVENT_FILTERS) || passes_filter(file, entry, bytes, flags);
}

static TRACE_ALWAYS_INLINE uint32_t event_file_flags(const struct trace_event_file *file)
{
	return trace_event_flags(&file->front);
}

static TRACE_NOINLINE void print_recorded(const struct trace_event_file *file, void *entry,
					  uint64_t step)
{
	trace_entry_init(entry, file->type, file->own_depth);
	trace_event_print(file, entry, step_bytes(step));
}

/* Record the event; with tp_printk also print it. NULL: not recorded. */
static TRACE_ALWAYS_INLINE const void *record_and_print(const struct trace_event_file *file,
							void *entry, uint64_t step, uint32_t flags)
{
	const void *recorded = event_record(file, entry, step);

	if (TRACE_UNLIKELY(flags & TRACE_EVENT_PRINTS) && recorded)
		print_recorded(file, entry, step);
	return recorded;
}

/* Call the triggers. Returns the flags after them, as triggers may switch the event. */
static uint32_t event_call_triggers(const struct trace_event_file *file,
				    struct trace_trigger_hit *hit, uint32_t flags)
{
	if (!(flags & TRACE_EVENT_TRIGGERS))
		return flags;
	trace_triggers_call(hit);
	return event_file_flags(file);
}

/* The stacks that the options ask for; `frame` is that of the probe's callee. */
static TRACE_NOINLINE void write_stacks(const struct trace_event_file *file, const void *entry,
					uintptr_t frame, uintptr_t caller)
{
	const struct trace_stack_start start = trace_event_stack_start(file->call, entry, caller);
	bool is_wanted = trace_stacktrace_wanted(file->tr);

	if (is_wanted && file->has_place)
		trace_stacktrace_probe(file->tr->buffer, frame, &start, file->own_depth);
	else if (is_wanted)
		trace_stacktrace_event(file->tr->buffer, frame, file->own_depth);
	if (trace_userstack_wanted(file->tr))
		trace_event_user_stack(file);
}

static TRACE_ALWAYS_INLINE void write_stack(const struct trace_event_file *file, const void *entry,
					    uintptr_t frame, uintptr_t caller)
{
	if (TRACE_UNLIKELY(file->has_stacks))
		write_stacks(file, entry, frame, caller);
	else
		trace_stacktrace_event(file->tr->buffer, frame, file->own_depth);
}

/* Write an event on its conditions; watches see it in any case. Called from the probe's callee. */
static TRACE_NOINLINE void write_on_conditions(const struct trace_event_file *file, void *entry,
					       uint64_t step, uint32_t flags,
					       const struct origin *from)
{
	bool counts = !(flags & TRACE_EVENT_PIDS) || !event_is_ignored(file, from);
	struct trace_trigger_visit visit;
	struct trace_trigger_hit *hit =
		trace_visit_begin(&visit, file, entry, step_bytes(step), from->caller);

	if (counts)
		flags = event_call_triggers(file, hit, flags);
	if (counts && event_is_wanted(file, entry, step_bytes(step), flags) &&
	    record_and_print(file, entry, step, flags) && flags & TRACE_EVENT_STACK)
		write_stack(file, entry, (uintptr_t)__builtin_frame_address(0), from->caller);
	if (counts && visit.late.is_more)
		trace_triggers_call_late(hit);
	if (flags & TRACE_EVENT_WATCHED)
		trace_event_watches_call(file, entry, step_bytes(step), from->caller);
}

void trace_event_write_injected(const struct trace_event_file *file, void *entry, uint64_t step)
{
	const struct origin from = { (uintptr_t)__builtin_return_address(0), NULL };
	uint32_t flags = event_file_flags(file), bytes = step_bytes(step);
	bool counts = !(flags & TRACE_EVENT_PIDS) || !event_is_ignored(file, &from);
	struct trace_trigger_visit visit;
	struct trace_trigger_hit *hit = trace_visit_begin(&visit, file, entry, bytes, from.caller);

	trace_entry_init(entry, file->type, file->own_depth);
	if (counts)
		flags = event_call_triggers(file, hit, flags);
	if (counts && event_is_wanted(file, entry, bytes, flags | TRACE_EVENT_RECORDS) &&
	    record_and_print(file, entry, step, flags) && flags & TRACE_EVENT_STACK)
		trace_stacktrace_code(file->tr->buffer, (uintptr_t)__builtin_frame_address(0), 0);
	if (counts && visit.late.is_more)
		trace_triggers_call_late(hit);
	if (flags & TRACE_EVENT_WATCHED)
		trace_event_watches_call(file, entry, bytes, from.caller);
}

/* Record the event after its triggers: they have switched it on, or act behind it. */
static TRACE_NOINLINE void write_behind_triggers(const struct trace_trigger_hit *hit)
{
	if (event_is_wanted(hit->file, hit->entry, hit->bytes, event_file_flags(hit->file)))
		(void)record_and_print(hit->file, hit->entry, TRACE_EVENT_STEP(hit->bytes),
				       event_file_flags(hit->file));
	trace_triggers_call_late(hit);
}

/* Run the triggers of an event that is off in this instance. */
static TRACE_ALWAYS_INLINE void run_triggers(const struct trace_event_file *file, void *entry,
					     uint64_t step, uintptr_t caller)
{
	struct trace_trigger_visit visit;
	struct trace_trigger_hit *hit =
		trace_visit_begin(&visit, file, entry, step_bytes(step), caller);

	trace_triggers_run(hit);
	if (TRACE_UNLIKELY(visit.late.is_more))
		write_behind_triggers(hit);
}

static TRACE_NOINLINE void write_to_triggers(const struct trace_event_file *file, void *entry,
					     uint64_t step, uintptr_t caller)
{
	run_triggers(file, entry, step, caller);
}

void trace_event_write_triggers(const struct trace_event_front *front, void *entry, uint64_t step)
{
	run_triggers(trace_event_file_of(front), entry, step,
		     (uintptr_t)__builtin_return_address(0));
}

/* The acquire pairs with the release of trace_event_file_get(). */
static TRACE_ALWAYS_INLINE const struct trace_event_file *
first_file_to_write(const struct trace_event_call *call)
{
	return trace_atomic_load_acquire(&call->files);
}

static TRACE_ALWAYS_INLINE const struct trace_event_file *
next_file_to_write(const struct trace_event_file *file)
{
	return atomic_load_explicit(&file->next_of_call, memory_order_acquire);
}

/*
 * Record the event of a thread with the data common to all instances: the head, and the time `now`,
 * unless the ring has another clock.
 */
static TRACE_ALWAYS_INLINE void record_same(const struct trace_event_file *file, const void *entry,
					    uint64_t step, uint64_t now,
					    const struct trace_entry *head)
{
	struct trace_ring_cpu *rc = trace_event_ring_of(file->tr);
	uint64_t gate = trace_ring_look(rc);
	struct ring_place place;
	void *payload = trace_ring_step(rc, step, (uint32_t)gate, now, &place);

	if (TRACE_UNLIKELY(!payload)) {
		if (!trace_ring_is_switched_off(gate))
			record_slow(file, entry, step, rc);
		return;
	}
	__builtin_memcpy(payload, head, sizeof(*head));
	copy_fields(payload, entry, step_bytes(step));
	trace_ring_commit_at(rc, &place);
}

static TRACE_NOINLINE void write_several(const struct trace_event_front *front, void *entry,
					 uint64_t step, const struct trace_sched_thread *other)
{
	const struct origin from = { (uintptr_t)__builtin_return_address(0), other };
	const struct trace_event_file *file = first_file_to_write(front->call);
	uint32_t state = file ? trace_event_state(file) : TRACE_STATE_OTHER;
	bool is_common = state != TRACE_STATE_OTHER && step_bytes(step) <= RING_SHORT_PAYLOAD;
	struct trace_entry head;
	uint64_t now = 0;

	if (TRACE_LIKELY(is_common)) {
		trace_entry_put(&head, trace_entry_word(file->entry_base, state));
		now = trace_plat_clock_ns();
	}
	for (; file; file = next_file_to_write(file)) {
		uint32_t flags = event_file_flags(file);

		if (TRACE_LIKELY(flags == TRACE_EVENT_RECORDS && is_common))
			record_same(file, entry, step, now, &head);
		else if (flags & TRACE_EVENT_WANTED)
			write_on_conditions(file, entry, step, flags, &from);
	}
}

const struct trace_event_test trace_event_any;

/* Write the event in one instance. The probe's callee has ended by calling this function. */
static TRACE_NOINLINE void write_other(const struct trace_event_front *front, void *entry,
				       uint64_t step, const struct trace_sched_thread *other)
{
	const struct origin from = { (uintptr_t)__builtin_return_address(0), other };

	write_on_conditions(trace_event_file_of(front), entry, step, trace_event_flags(front),
			    &from);
}

/* Write an event whose only condition is a filter, of which it has passed the first test. */
static TRACE_NOINLINE void write_filtered(const struct trace_event_front *front, void *entry,
					  uint64_t step, const struct expr_program *filter)
{
	if (step_bytes(step) > TRACE_EVENT_SHORT || step_bytes(step) < filter->fast_len)
		write_other(front, entry, step, NULL);
	else if (expr_run_fast(filter->rest, entry))
		trace_event_record(front, entry, step);
}

void trace_event_write_special(const struct trace_event_front *front, void *entry, uint64_t step,
			       const struct trace_event_test *test,
			       const struct trace_sched_thread *other)
{
	uint32_t flags = trace_event_flags(front);

	if (flags == TRACE_EVENT_TRIGGERS)
		write_to_triggers(trace_event_file_of(front), entry, step,
				  (uintptr_t)__builtin_return_address(0));
	else if (flags == TRACE_EVENT_WATCHED)
		trace_event_watches_call(trace_event_file_of(front), entry, step_bytes(step),
					 (uintptr_t)__builtin_return_address(0));
	else if (flags == TRACE_EVENT_SHARED)
		write_several(front, entry, step, other);
	else if (flags != (TRACE_EVENT_RECORDS | TRACE_EVENT_FILTERS) || test == &trace_event_any)
		write_other(front, entry, step, other);
	else if (test->is_all && step_bytes(step) <= TRACE_EVENT_SHORT)
		trace_event_record(front, entry, step);
	else
		write_filtered(front, entry, step, (const struct expr_program *)test);
}

void trace_event_write(struct trace_event_call *call, void *entry, uint32_t bytes,
		       const struct trace_sched_thread *other)
{
	const struct trace_event_front *front = trace_event_front_of(call);
	uint64_t step = TRACE_EVENT_STEP(bytes);

	if (TRACE_LIKELY(trace_event_flags(front) == TRACE_EVENT_RECORDS))
		event_record(trace_event_file_of(front), entry, step);
	else
		trace_event_write_special(front, entry, step, &trace_event_any, other);
}

/*
 * ---- Events that are too long for the stack of their probe ----
 *
 * An event without conditions is built in the ring. Any other one is built on the scratch pad of
 * this CPU and written from there like a short one: so triggers and watches see it even while there
 * is no room in the ring, or recording is off.
 */

/* Count an event that found no room, by its meaning for each instance. */
static TRACE_NOINLINE void *lose(const struct trace_event_front *front)
{
	const struct trace_event_file *file = first_file_to_write(front->call);
	const struct origin from = { 0, NULL };

	for (; file; file = next_file_to_write(file)) {
		uint32_t flags = event_file_flags(file);

		if (flags & TRACE_EVENT_PIDS && event_is_ignored(file, &from))
			continue;
		if (flags & TRACE_EVENT_TRIGGERS)
			atomic_fetch_add(&trace_events_of(file->tr)->nr_unseen, 1);
		/* The filter's answer cannot be known. */
		if (flags & TRACE_EVENT_RECORDS)
			trace_ring_drop(trace_event_ring_of(file->tr));
	}
	return NULL;
}

void *trace_event_reserve(const struct trace_event_front *front, uint32_t bytes,
			  struct trace_event_room *out_room)
{
	out_room->front = front;
	out_room->ring = NULL;
	if (bytes > RING_MAX_PAYLOAD)
		return NULL;
	if (trace_event_flags(front) != TRACE_EVENT_RECORDS) {
		void *entry = trace_event_scratch_get();

		return entry ? entry : lose(front);
	}
	out_room->ring = trace_event_ring_of(trace_event_file_of(front)->tr);
	return trace_ring_reserve_slow(out_room->ring, bytes);
}

void trace_event_commit(struct trace_event_room *room, void *entry, uint32_t bytes)
{
	const struct origin from = { (uintptr_t)__builtin_return_address(0), NULL };
	const struct trace_event_file *file = trace_event_file_of(room->front);

	if (room->ring) {
		trace_entry_init(entry, file->type, file->own_depth);
		trace_ring_commit(room->ring, entry);
		return;
	}
	for (file = first_file_to_write(room->front->call); file; file = next_file_to_write(file)) {
		uint32_t flags = event_file_flags(file);

		if (flags & TRACE_EVENT_WANTED)
			write_on_conditions(file, entry, TRACE_EVENT_STEP(bytes), flags, &from);
	}
	trace_event_scratch_put();
}
