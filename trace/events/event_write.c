/*
 * Writing trace events: what probes call with an event that they have built. See event_file.h.
 *
 * The common case is a thread, an event of at most RING_SHORT_PAYLOAD bytes, a ring with the
 * fastest clock, and nothing to decide: trace_event_write() alone. Everything else is in functions
 * of its own, which are called last.
 *
 * Context: any, preemption off.
 */
#include <trace/host_tracepoints.h>
#include <trace/platform.h>
#include <trace/thread.h>
#include "event_file.h"
#include "filter.h"
#include "trigger_run.h"
#include "instance/entry.h"
#include "instance/stacktrace.h"
#include "ring/ring_fast.h"

/* The state of a thread whose tracepoint has disabled preemption `own_depth` times: entry.h. */
static TRACE_ALWAYS_INLINE uint32_t state_of_thread(uint32_t own_depth)
{
	uint32_t state = trace_plat_preempt_word() - 0x80000000u - own_depth;

	return state < TRACE_STATE_MAX_DEPTH ? state : TRACE_STATE_OTHER;
}

static TRACE_ALWAYS_INLINE struct trace_ring_cpu *ring_of(const struct trace_array *tr)
{
	/* Loaded once for each event: a snapshot may exchange the buffers at any moment. */
	return tr->buffer->cpu[trace_plat_cpu_id()];
}

/* `bytes` is a multiple of 4. One word alone is the commonest, and has the shortest way. */
static TRACE_ALWAYS_INLINE void copy_words(void *to, const void *from, uint64_t bytes)
{
	uint8_t *out = to;
	const uint8_t *in = from;
	uint64_t at = 0;

	if (bytes == 4) {
		__builtin_memcpy(out, in, 4);
		return;
	}
	if (bytes & 8) {
		__builtin_memcpy(out, in, 8);
		at = 8;
	}
	for (; at + 16 <= bytes; at += 16) {
		__builtin_memcpy(out + at, in + at, 8);
		__builtin_memcpy(out + at + 8, in + at + 8, 8);
	}
	if (bytes & 4)
		__builtin_memcpy(out + bytes - 4, in + bytes - 4, 4);
}

/* What is behind the head of an event. */
static TRACE_ALWAYS_INLINE void copy_fields(void *payload, const void *entry, uint32_t bytes)
{
	copy_words((struct trace_entry *)payload + 1, (const struct trace_entry *)entry + 1,
		   bytes - sizeof(struct trace_entry));
}

/* Events are handed on with the step that they make in a ring: <trace/trace_events.h>. */
static TRACE_ALWAYS_INLINE uint32_t bytes_of(uint64_t step)
{
	return (uint32_t)step - RING_HEAD_BYTES;
}
_Static_assert(TRACE_EVENT_STEP(8) == RING_EVENT_ONE + RING_HEAD_BYTES + 8, "that is the step");

/* In any context, of any length, in any state of the ring. Was it recorded? */
static TRACE_NOINLINE bool record_slow(const struct trace_event_file *file, const void *entry,
				       uint64_t step, struct trace_ring_cpu *rc)
{
	uint32_t bytes = bytes_of(step);
	void *payload = trace_ring_reserve_slow(rc, bytes);

	if (!payload)
		return false;
	trace_entry_init(payload, file->type, file->own_depth);
	copy_fields(payload, entry, bytes);
	trace_ring_commit(rc, payload);
	return true;
}

/* Interrupts have written events behind ours while ours was open: publish them, too. */
static TRACE_NOINLINE bool publish(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	return true;
}

/* The ring is open. Was the event recorded? */
static TRACE_NOINLINE bool record_open(const struct trace_event_file *file, const void *entry,
				       uint64_t step, struct trace_ring_cpu *rc, uint32_t mask)
{
	uint32_t state = state_of_thread(file->own_depth);
	struct ring_place place;
	void *payload;

	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER || bytes_of(step) > RING_SHORT_PAYLOAD))
		return record_slow(file, entry, step, rc);
	payload = trace_ring_step(rc, step, mask, trace_plat_clock_ns(), &place);
	if (TRACE_UNLIKELY(!payload))
		return record_slow(file, entry, step, rc);
	trace_entry_fill(payload, file->type, state);
	copy_fields(payload, entry, bytes_of(step));
	if (TRACE_LIKELY(trace_ring_try_commit_at(rc, &place)))
		return true;
	return publish(rc);
}

/* Was the event recorded? */
static TRACE_ALWAYS_INLINE bool record(const struct trace_event_file *file, const void *entry,
				       uint64_t step)
{
	struct trace_ring_cpu *rc = ring_of(file->tr);
	/* Pairs with the store that opens the gate: memory and tail read below are the new ones. */
	uint64_t gate = atomic_load_explicit(&rc->gate, memory_order_acquire);

	if (TRACE_LIKELY((uint32_t)gate))
		return record_open(file, entry, step, rc, (uint32_t)gate);
	return !trace_ring_is_switched_off(gate) && record_slow(file, entry, step, rc);
}

/* Where an event comes from. */
struct origin {
	uintptr_t caller;			/* an address in the probe */
	const struct trace_sched_thread *other; /* a second thread that it is about, or NULL */
};

/* Does one of the event's threads count for the instance? See event_pids.h. */
static bool is_of_traced_thread(const struct trace_event_file *file, const struct origin *from)
{
	uint64_t mask = atomic_load_explicit(&file->tr->event_pid_mask, memory_order_relaxed);

	return !(trace_plat_current()->ignored_by & mask) ||
	       (from->other && !(from->other->thread->ignored_by & mask));
}

static TRACE_ALWAYS_INLINE bool passes_filter(const struct trace_event_file *file, void *entry,
					      uint32_t bytes, uint32_t flags)
{
	if (flags & TRACE_EVENT_HEAD)
		trace_entry_init(entry, file->type, file->own_depth);
	return trace_filter_match(file->filter, entry, bytes);
}

/* Is the event to be recorded in the instance? */
static bool is_wanted(const struct trace_event_file *file, void *entry, uint32_t bytes,
		      uint32_t flags)
{
	if (!(flags & TRACE_EVENT_RECORDS))
		return false;
	return !(flags & TRACE_EVENT_FILTERS) || passes_filter(file, entry, bytes, flags);
}

static TRACE_ALWAYS_INLINE uint32_t flags_of(const struct trace_event_file *file)
{
	return atomic_load_explicit(&file->flags, memory_order_relaxed);
}

/* Returns the flags as they are afterwards: triggers may switch the event. */
static uint32_t call_triggers(const struct trace_event_file *file, struct trace_trigger_hit *hit,
			      uint32_t flags, struct trace_triggers_late *out_late)
{
	out_late->nr = 0;
	if (!(flags & TRACE_EVENT_TRIGGERS))
		return flags;
	trace_triggers_call(hit, out_late);
	return flags_of(file);
}

/* The probe has called a function that calls this one. */
static TRACE_NOINLINE void write_on_conditions(const struct trace_event_file *file, void *entry,
					       uint64_t step, uint32_t flags,
					       const struct origin *from)
{
	struct trace_trigger_hit hit = { file, entry, bytes_of(step), from->caller };
	struct trace_triggers_late late;

	if (flags & TRACE_EVENT_PIDS && !is_of_traced_thread(file, from))
		return;
	flags = call_triggers(file, &hit, flags, &late);
	/* The trace begins with the caller of the probe. */
	if (is_wanted(file, entry, bytes_of(step), flags) && record(file, entry, step) &&
	    flags & TRACE_EVENT_STACK)
		trace_stacktrace_code(file->tr->buffer, (uintptr_t)__builtin_frame_address(0), 2);
	if (late.nr)
		trace_triggers_call_late(&hit, &late);
}

/* Triggers have switched the event on, or want to be called behind it. */
static TRACE_NOINLINE void write_behind_triggers(const struct trace_trigger_hit *hit, uint64_t step,
						 const struct trace_triggers_late *late)
{
	if (is_wanted(hit->file, hit->entry, hit->bytes, flags_of(hit->file)))
		record(hit->file, hit->entry, step);
	trace_triggers_call_late(hit, late);
}

/* In one instance, where the event is off and has triggers. */
static TRACE_NOINLINE void write_to_triggers(const struct trace_event_file *file, void *entry,
					     uint64_t step, uintptr_t caller)
{
	const struct trace_trigger_hit hit = { file, entry, bytes_of(step), caller };
	struct trace_triggers_late late;

	trace_triggers_run(&hit, &late);
	if (TRACE_UNLIKELY(late.nr || flags_of(file) & TRACE_EVENT_RECORDS))
		write_behind_triggers(&hit, step, &late);
}

/* The acquire pairs with the release of trace_event_file_get(). */
static TRACE_ALWAYS_INLINE const struct trace_event_file *
first_file(const struct trace_event_call *call)
{
	return trace_atomic_load_acquire(&call->files);
}

static TRACE_ALWAYS_INLINE const struct trace_event_file *
next_file(const struct trace_event_file *file)
{
	return atomic_load_explicit(&file->next_of_call, memory_order_acquire);
}

/*
 * The same for a thread, with what is the same in all instances: the time `now`, unless the ring
 * has another clock, and the head.
 */
static TRACE_ALWAYS_INLINE void record_same(const struct trace_event_file *file, const void *entry,
					    uint64_t step, uint64_t now,
					    const struct trace_entry *head)
{
	struct trace_ring_cpu *rc = ring_of(file->tr);
	/* As in record(). */
	uint64_t gate = atomic_load_explicit(&rc->gate, memory_order_acquire);
	struct ring_place place;
	void *payload = trace_ring_step(rc, step, (uint32_t)gate, now, &place);

	if (TRACE_UNLIKELY(!payload)) {
		if (!trace_ring_is_switched_off(gate))
			record_slow(file, entry, step, rc);
		return;
	}
	__builtin_memcpy(payload, head, sizeof(*head));
	copy_fields(payload, entry, bytes_of(step));
	if (TRACE_UNLIKELY(!trace_ring_try_commit_at(rc, &place)))
		trace_ring_publish(rc);
}

static TRACE_ALWAYS_INLINE void write_several(const struct trace_event_file *file, void *entry,
					      uint64_t step, const struct origin *from)
{
	uint32_t state = state_of_thread(file->own_depth);
	bool is_common = state != TRACE_STATE_OTHER && bytes_of(step) <= RING_SHORT_PAYLOAD;
	struct trace_entry head;
	uint64_t now = 0;

	if (TRACE_LIKELY(is_common)) {
		trace_entry_fill(&head, file->type, state);
		now = trace_plat_clock_ns();
	}
	for (; file; file = next_file(file)) {
		uint32_t flags = flags_of(file) | TRACE_EVENT_SHARED;

		if (TRACE_LIKELY(flags == (TRACE_EVENT_RECORDS | TRACE_EVENT_SHARED) && is_common))
			record_same(file, entry, step, now, &head);
		else if (flags != TRACE_EVENT_SHARED)
			write_on_conditions(file, entry, step, flags, from);
	}
}

/* In one instance, with a filter and nothing else. */
static TRACE_NOINLINE void write_filtered(const struct trace_event_file *file, void *entry,
					  uint64_t step, uint32_t flags)
{
	if (passes_filter(file, entry, bytes_of(step), flags))
		record(file, entry, step);
}

/* When there is more to do than to record the event in one instance. */
static TRACE_NOINLINE void write_other(const struct trace_event_file *file, void *entry,
				       uint64_t step, uintptr_t caller,
				       const struct trace_sched_thread *other)
{
	const struct origin from = { caller, other };
	uint32_t flags = flags_of(file);

	if (flags & TRACE_EVENT_SHARED)
		write_several(file, entry, step, &from);
	else if (flags)
		write_on_conditions(file, entry, step, flags, &from);
}

static TRACE_ALWAYS_INLINE void write_step(struct trace_event_call *call, void *entry,
					   uint64_t step, const struct trace_sched_thread *other)
{
	/* Somebody has wanted the event, or the probe would not be registered. */
	const struct trace_event_file *file = first_file(call);
	uint32_t flags = flags_of(file);

	if (TRACE_UNLIKELY(flags != TRACE_EVENT_RECORDS)) {
		if (flags == TRACE_EVENT_TRIGGERS) {
			write_to_triggers(file, entry, step,
					  (uintptr_t)__builtin_return_address(0));
			return;
		}
		if ((flags & ~(uint32_t)TRACE_EVENT_HEAD) ==
		    (TRACE_EVENT_RECORDS | TRACE_EVENT_FILTERS)) {
			write_filtered(file, entry, step, flags);
			return;
		}
		write_other(file, entry, step, (uintptr_t)__builtin_return_address(0), other);
		return;
	}
	record(file, entry, step);
}

void trace_event_write_step(struct trace_event_call *call, void *entry, uint64_t step)
{
	write_step(call, entry, step, NULL);
}

void trace_event_write_about(struct trace_event_call *call, void *entry, uint64_t step,
			     const struct trace_sched_thread *other)
{
	write_step(call, entry, step, other);
}

/* Room in the ring of the first instance that has some. */
void *trace_event_reserve(struct trace_event_call *call, uint32_t bytes,
			  struct trace_event_room *out_room)
{
	const struct trace_event_file *file = first_file(call);
	void *payload = NULL;

	if (bytes > RING_MAX_PAYLOAD)
		return NULL;
	for (; file; file = next_file(file)) {
		if (!(file->flags & ~(uint32_t)TRACE_EVENT_SHARED))
			continue;
		out_room->call = call;
		out_room->file = file;
		out_room->ring = ring_of(file->tr);
		payload = trace_ring_reserve_slow(out_room->ring, bytes);
		if (payload)
			break;
	}
	return payload;
}

/* The event is in a ring of this instance already. */
static TRACE_NOINLINE void commit_on_conditions(struct trace_event_room *room, void *entry,
						uint32_t bytes, const struct origin *from)
{
	const struct trace_event_file *file = room->file;
	struct trace_trigger_hit hit = { file, entry, bytes, from->caller };
	struct trace_triggers_late late = { .nr = 0 };
	uint32_t flags = flags_of(file);
	bool counts = !(flags & TRACE_EVENT_PIDS) || is_of_traced_thread(file, from);

	trace_entry_init(entry, file->type, file->own_depth);
	if (counts)
		flags = call_triggers(file, &hit, flags, &late);
	if (!counts || !is_wanted(file, entry, bytes, flags)) {
		trace_ring_discard(room->ring, entry, bytes);
	} else {
		trace_ring_commit(room->ring, entry);
		if (flags & TRACE_EVENT_STACK)
			trace_stacktrace_code(file->tr->buffer,
					      (uintptr_t)__builtin_frame_address(0), 2);
	}
	trace_triggers_call_late(&hit, &late);
}

void trace_event_commit(struct trace_event_room *room, void *entry, uint32_t bytes)
{
	const struct origin from = { (uintptr_t)__builtin_return_address(0), NULL };
	const struct trace_event_file *file = first_file(room->call);

	for (; file; file = next_file(file)) {
		if (file != room->file)
			write_on_conditions(file, entry, TRACE_EVENT_STEP(bytes), flags_of(file),
					    &from);
	}
	commit_on_conditions(room, entry, bytes, &from);
}

/* ---- Texts ---- */

#define BYTES_LOW  0x0101010101010101ull
#define BYTES_HIGH 0x8080808080808080ull

static const char none[] = "(null)";

/*
 * Looks at 8 aligned bytes at a time. They may begin before the text or end behind it, but never
 * reach into another page.
 */
__attribute__((no_sanitize("address"))) uint32_t trace_event_text_bytes(const char *text)
{
	uintptr_t at = (uintptr_t)text & ~(uintptr_t)7;
	uint64_t word, zeros;

	if (!text)
		return sizeof(none);
	__builtin_memcpy(&word, (const void *)at, sizeof(word));
	/* What is before the text is no NUL. */
	word |= ~(~0ull << ((uintptr_t)text & 7) * 8);
	for (;;) {
		/* First what is true of each word with a NUL, and in ASCII of no other. */
		zeros = (word - BYTES_LOW) & BYTES_HIGH;
		if (TRACE_UNLIKELY(zeros) && (zeros &= ~word))
			break;
		at += sizeof(word);
		__builtin_memcpy(&word, (const void *)at, sizeof(word));
	}
	return (uint32_t)(at - (uintptr_t)text) + (uint32_t)__builtin_ctzll(zeros) / 8 + 1;
}

void trace_event_copy_text(char *to, const char *text, uint32_t bytes)
{
	uint32_t at = 0, len;

	if (!bytes)
		return;
	if (!text) {
		text = none;
		bytes = bytes < sizeof(none) ? bytes : sizeof(none);
	}
	len = bytes - 1;
	if (len >= 8) {
		copy_words(to, text, len & ~7u);
		__builtin_memcpy(to + len - 8, text + len - 8, 8);
	} else {
		for (; at < len; at++)
			to[at] = text[at];
	}
	to[len] = '\0';
}
