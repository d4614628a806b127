/*
 * Room for the commonest event in the ring itself: a short event of a thread, in a ring that is
 * open and has the fastest clock. A caller that fills in the fields there needs no copy of the
 * event.
 *
 *   trace_event_claim() --> fields behind the head are filled in --> trace_event_publish()
 *
 * Context: any, preemption off. Interrupts in between write events of their own behind this one;
 *          readers see them when this one is published.
 */
#ifndef TRACE_EVENT_CLAIM_H
#define TRACE_EVENT_CLAIM_H

#include <trace/event_probe.h>
#include <trace/platform.h>
#include "event_file.h"
#include "instance/entry.h"
#include "ring/ring_fast.h"

_Static_assert(offsetof(struct trace_event_file, front) == 0, "a front is where its file is");
_Static_assert(TRACE_EVENT_SHORT <= RING_SHORT_PAYLOAD, "trace_ring_step() takes it");

static TRACE_ALWAYS_INLINE const struct trace_event_file *
trace_event_file_of(const struct trace_event_front *front)
{
	return (const struct trace_event_file *)front;
}

/* The thread's state in an event's head: entry.h. */
static TRACE_ALWAYS_INLINE uint32_t trace_event_state(const struct trace_event_file *file)
{
	uint32_t state = trace_plat_preempt_word() - file->front.depth_base;

	return state < TRACE_STATE_MAX_DEPTH ? state : TRACE_STATE_OTHER;
}

static TRACE_ALWAYS_INLINE struct trace_ring_cpu *trace_event_ring_of(const struct trace_array *tr)
{
	/* Loaded once for each event, as a snapshot may exchange the buffers at any moment. */
	return tr->buffer->cpu[trace_plat_cpu_id()];
}

struct trace_event_claim {
	struct trace_ring_cpu *rc;
	struct ring_place place;
};

/*
 * Claim room for an event of the front's file, and fill in its head. `step` is TRACE_EVENT_STEP()
 * of at most TRACE_EVENT_SHORT bytes. Returns NULL, with nothing changed, when only
 * trace_event_record() can record it.
 */
static TRACE_ALWAYS_INLINE void *trace_event_claim(const struct trace_event_front *front,
						   uint64_t step,
						   struct trace_event_claim *out_claim)
{
	const struct trace_event_file *file = trace_event_file_of(front);
	struct trace_ring_cpu *rc = trace_event_ring_of(file->tr);
	uint64_t gate = trace_ring_look(rc);
	uint32_t head, state = trace_event_state(file);
	void *payload;

	if (TRACE_UNLIKELY(!(uint32_t)gate || state == TRACE_STATE_OTHER))
		return NULL;
	head = trace_entry_word(file->entry_base, state);
	TRACE_OPAQUE(head); /* one register from here on */
	payload = trace_ring_claim(rc, step, gate, &out_claim->place);
	if (TRACE_UNLIKELY(!payload))
		return NULL;
	trace_entry_put(payload, head);
	out_claim->rc = rc;
	return payload;
}

static TRACE_ALWAYS_INLINE void trace_event_publish(const struct trace_event_claim *claim)
{
	trace_ring_commit_at(claim->rc, &claim->place);
}

#endif
