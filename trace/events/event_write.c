/*
 * Writing trace events: what probes call with an event that they have built. See event_file.h.
 *
 * The common case is a thread, an event of at most RING_SHORT_PAYLOAD bytes, a ring with the
 * fastest clock, and nothing to decide: trace_event_write() alone. Everything else is in functions
 * of its own, which are called last.
 *
 * Context: any, preemption off.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "instance/entry.h"
#include "instance/stacktrace.h"
#include "ring/ring_fast.h"
#include "text/str.h"

/* A number that never counts as TRACE_STATE_OTHER, see instance/entry.h. */
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

/* What is behind the head of an event; both are aligned to 4, `bytes` is a multiple of 4. */
static TRACE_ALWAYS_INLINE void copy_fields(void *payload, const void *entry, uint32_t bytes)
{
	uint8_t *to = payload;
	const uint8_t *from = entry;
	uint32_t at = sizeof(struct trace_entry);

	for (; at + 8 <= bytes; at += 8)
		__builtin_memcpy(to + at, from + at, 8);
	if (at < bytes)
		__builtin_memcpy(to + at, from + at, 4);
}

static TRACE_NOINLINE void write_stack(const struct trace_event_file *file, uintptr_t frame)
{
	trace_stacktrace_code(file->tr->buffer, frame, 1);
}

/* In any context, of any length, in any state of the ring. */
static TRACE_NOINLINE void record_slow(const struct trace_event_file *file,
				       struct trace_ring_cpu *rc, const void *entry, uint32_t bytes)
{
	void *payload = trace_ring_reserve_slow(rc, bytes);

	if (!payload)
		return;
	trace_entry_init(payload, file->call->event.type, file->own_depth);
	copy_fields(payload, entry, bytes);
	trace_ring_commit(rc, payload);
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(file->tr)))
		write_stack(file, (uintptr_t)__builtin_frame_address(0));
}

static TRACE_ALWAYS_INLINE void record(const struct trace_event_file *file, const void *entry,
				       uint32_t bytes)
{
	struct trace_ring_cpu *rc = ring_of(file->tr);
	uint32_t state;
	uint64_t word;
	void *payload;

	bytes = (bytes + 3) & ~3u;
	/* As trace_ring_try_step(); an event is not even looked at when recording is off. */
	if (TRACE_UNLIKELY(trace_ring_is_switched_off(
		    atomic_load_explicit(&rc->gate, memory_order_relaxed))))
		return;
	state = state_of_thread(file->own_depth);
	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER || bytes > RING_SHORT_PAYLOAD)) {
		record_slow(file, rc, entry, bytes);
		return;
	}
	payload = trace_ring_try_reserve(rc, bytes, &word);
	if (TRACE_UNLIKELY(!payload)) {
		record_slow(file, rc, entry, bytes);
		return;
	}
	trace_entry_fill(payload, file->call->event.type, state);
	copy_fields(payload, entry, bytes);
	if (TRACE_UNLIKELY(!trace_ring_try_commit(rc, word, bytes)))
		trace_ring_publish(rc);
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(file->tr)))
		write_stack(file, (uintptr_t)__builtin_frame_address(0));
}

/* Does this thread count for the instance? */
static bool is_of_traced_thread(const struct trace_event_file *file)
{
	(void)file;
	return true;
}

static TRACE_NOINLINE void write_on_conditions(const struct trace_event_file *file, void *entry,
					       uint32_t bytes, uint32_t flags)
{
	if (flags & TRACE_EVENT_PIDS && !is_of_traced_thread(file))
		return;
	if (flags & TRACE_EVENT_RECORDS)
		record(file, entry, bytes);
}

void trace_event_write(struct trace_event_file *file, void *entry, uint32_t bytes)
{
	uint32_t flags = atomic_load_explicit(&file->flags, memory_order_relaxed);

	if (TRACE_UNLIKELY(flags != TRACE_EVENT_RECORDS)) {
		write_on_conditions(file, entry, bytes, flags);
		return;
	}
	record(file, entry, bytes);
}

void *trace_event_reserve(struct trace_event_file *file, uint32_t bytes,
			  struct trace_event_room *out_room)
{
	struct trace_ring_cpu *rc = ring_of(file->tr);
	void *payload;

	if (!(file->flags & TRACE_EVENT_RECORDS) || bytes > RING_MAX_PAYLOAD)
		return NULL;
	payload = trace_ring_reserve_slow(rc, bytes);
	if (!payload)
		return NULL;
	trace_entry_init(payload, file->call->event.type, file->own_depth);
	*out_room = (struct trace_event_room){ .file = file, .ring = rc };
	return payload;
}

void trace_event_commit(struct trace_event_room *room, void *entry, uint32_t bytes)
{
	(void)bytes;
	trace_ring_commit(room->ring, entry);
	if (TRACE_UNLIKELY(trace_stacktrace_wanted(room->file->tr)))
		write_stack(room->file, (uintptr_t)__builtin_frame_address(0));
}

/* ---- Texts ---- */

static const char none[] = "(null)";

uint32_t trace_event_text_bytes(const char *text)
{
	return text ? (uint32_t)trace_strlen(text) + 1 : (uint32_t)sizeof(none);
}

void trace_event_copy_text(char *to, const char *text, uint32_t bytes)
{
	if (!bytes)
		return;
	if (!text) {
		text = none;
		bytes = bytes < sizeof(none) ? bytes : sizeof(none);
	}
	__builtin_memcpy(to, text, bytes - 1);
	to[bytes - 1] = '\0';
}
