/*
 * The inline write path of a ring, most of the cost of a function event. See ring_cpu.h for its
 * words.
 *
 * The tail word and the time of the last event move together (trace_plat_pair_cmpxchg), so a delta
 * is exact for nested writers. `commit` is the tail word up to which readers may look. An event
 * that starts at `commit` is the outermost one: its commit publishes everything up to the tail.
 * While an outer event is open, commit differs from the tail, and nested commits do nothing.
 *
 * Context:   any, preemption off. Only this CPU writes; nested contexts come and go completely
 *            between any two instructions.
 * Locking:   none.
 * Ownership: as <trace/ring_buffer.h> says.
 */
#ifndef TRACE_RING_FAST_H
#define TRACE_RING_FAST_H

#include "ring_cpu.h"

/*
 * trace_ring_reserve() for all that the fast path does not do: any `len`, a sub-buffer that is
 * full, a gate that is closed, another clock, a long time since the last event.
 */
void *trace_ring_reserve_slow(struct trace_ring_cpu *rc, size_t len);
/* Make everything up to the tail visible to readers. The caller has no event open. */
void trace_ring_publish(struct trace_ring_cpu *rc);
/* After an event was dropped and counted: make the next one begin a new sub-buffer. */
void trace_ring_close_subbuf(struct trace_ring_cpu *rc);
/*
 * An event that its writer has no room to build: count it as dropped, unless recording is off.
 * Preemption is off.
 */
void trace_ring_drop(struct trace_ring_cpu *rc);
/* ring_buffer_discard_commit() for a known ring. Leaves preemption alone. */
void trace_ring_discard(struct trace_ring_cpu *rc, void *payload, size_t len);

/* The place of a new event. */
struct ring_place {
	uint64_t word; /* the tail word before it */
	uint64_t next; /* the tail word behind it */
};

/*
 * Put an event of the time `now` at the tail, and return its payload. `step` is added to the tail
 * word for the event: RING_EVENT_ONE plus its bytes, head included, a multiple of 4 from 8 to
 * RING_SHORT_PAYLOAD + RING_HEAD_BYTES. `mask` is the low half of the gate, or subbuf_mask when the
 * caller has looked at the gate. NULL, with nothing changed, when trace_ring_reserve_slow() has to
 * do it.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_step(struct trace_ring_cpu *rc, uint64_t step,
						 uint32_t mask, uint64_t now,
						 struct ring_place *out_place)
{
	uint64_t word = trace_ring_load(&rc->tail.lo);
	uint64_t last = trace_ring_load(&rc->tail.hi);
	uint64_t next = word + step;
	/*
	 * When an interrupt writes an event after `now` was read, either `last` is later than `now`
	 * and the difference is huge, or the exchange below fails.
	 */
	uint64_t delta = now - last;
	uint32_t bytes = (uint32_t)step;
	uint8_t *head;

	/*
	 * One comparison for three cases. If the event ends inside the sub-buffer, the offset of
	 * its end is larger than `bytes`, because the sub-buffer's head comes first. If it reaches
	 * the sub-buffer's end or goes beyond, that offset has wrapped. With a closed gate mask is
	 * 0.
	 */
	if (TRACE_UNLIKELY(((uint32_t)next & mask) <= bytes))
		return NULL;
	/* Too long for the head of an event; or the clock went back, which gives a huge delta. */
	if (TRACE_UNLIKELY(delta >= 1ull << RING_DELTA_BITS))
		return NULL;
	if (TRACE_UNLIKELY(!trace_plat_pair_cmpxchg(&rc->tail, &word, last, next, now)))
		return NULL;
	/*
	 * A plain load of `base`: a resize closes the gate before it changes the memory, and waits
	 * for writers that saw the gate open.
	 */
	head = rc->base + (uint32_t)word;
	TRACE_OPAQUE(head); /* one register for this address and those of the payload */
	*(uint32_t *)(void *)head = ((uint32_t)delta << RING_TYPE_BITS) + (bytes / 4 - 1);
	out_place->word = word;
	out_place->next = next;
	return head + RING_HEAD_BYTES;
}

/*
 * trace_ring_step() now, for a writer that has looked at the gate. The room is filled in, and ends
 * with trace_ring_commit_at().
 */
static TRACE_ALWAYS_INLINE void *trace_ring_claim(struct trace_ring_cpu *rc, uint64_t step,
						  uint64_t gate, struct ring_place *out_place)
{
	return trace_ring_step(rc, step, (uint32_t)gate, trace_plat_clock_ns(), out_place);
}

/*
 * trace_ring_step() with trace_plat_clock_ns(), if the gate is open; otherwise NULL. For callers
 * that keep the uncommon cases out of line. *out_word is the tail word before the event.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_try_step(struct trace_ring_cpu *rc, uint64_t step,
						     uint64_t *out_word)
{
	struct ring_place place;
	void *payload = trace_ring_claim(rc, step, trace_ring_look(rc), &place);

	if (payload)
		*out_word = place.word;
	return payload;
}

/* As trace_ring_try_step(), for a ring whose clock is rc->clock. */
static TRACE_ALWAYS_INLINE void *trace_ring_try_step_clock(struct trace_ring_cpu *rc, uint64_t step,
							   struct ring_place *out_place)
{
	if (!trace_ring_has_own_clock(trace_ring_look(rc)))
		return NULL;
	return trace_ring_step(rc, step, rc->subbuf_mask, rc->clock(), out_place);
}

/*
 * trace_ring_try_step() for `len` bytes of payload, a multiple of 4 from 4 to RING_SHORT_PAYLOAD.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_try_reserve(struct trace_ring_cpu *rc, uint32_t len,
							uint64_t *out_word)
{
	return trace_ring_try_step(rc, RING_EVENT_ONE + RING_HEAD_BYTES + len, out_word);
}

/*
 * Claim room for `len` bytes, a multiple of 4 from 4 to RING_SHORT_PAYLOAD; a constant makes the
 * fastest code. Returns the payload, to be given to trace_ring_commit(). NULL when recording is off
 * or the event was dropped and counted.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_reserve(struct trace_ring_cpu *rc, uint32_t len)
{
	uint64_t word;
	void *payload = trace_ring_try_reserve(rc, len, &word);

	return TRACE_LIKELY(payload) ? payload : trace_ring_reserve_slow(rc, len);
}

/*
 * trace_ring_reserve() for a length that depends on the event, as that of copied texts: a multiple
 * of 4 from 4 on, RING_SHORT_PAYLOAD and more.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_reserve_any(struct trace_ring_cpu *rc, uint32_t len)
{
	return len <= RING_SHORT_PAYLOAD ? trace_ring_reserve(rc, len)
					 : trace_ring_reserve_slow(rc, len);
}

/*
 * Our event starts at commit, so it is the outermost one. Move commit to `next`, a tail word at the
 * end of our event or behind it: readers see everything up to there. False when interrupts have
 * moved the tail on meanwhile; the caller then calls trace_ring_publish().
 */
static TRACE_ALWAYS_INLINE bool trace_ring_move_commit(struct trace_ring_cpu *rc, uint64_t next)
{
	/*
	 * Pairs with the acquire in trace_ring_extent(). No interrupt moves commit before this
	 * store, because commit differs from the tail as long as our event is open.
	 */
	__atomic_store_n(&rc->commit, next, __ATOMIC_RELEASE);
	/*
	 * An interrupt before that store found our event open and did not publish its own. So the
	 * tail has to be looked at after the store.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	return TRACE_LIKELY(rc->tail.lo == next);
}

/* Commit the event at `place`. False: call trace_ring_publish(). */
static TRACE_ALWAYS_INLINE bool trace_ring_try_commit_at(struct trace_ring_cpu *rc,
							 const struct ring_place *place)
{
	if (TRACE_UNLIKELY(rc->commit != place->word))
		return true; /* it interrupted another event, whose commit will publish both */
	return trace_ring_move_commit(rc, place->next);
}

/* Commit the event at `place`, and publish what interrupts have written behind it. */
static TRACE_ALWAYS_INLINE void trace_ring_commit_at(struct trace_ring_cpu *rc,
						     const struct ring_place *place)
{
	if (TRACE_UNLIKELY(!trace_ring_try_commit_at(rc, place)))
		trace_ring_publish(rc);
}

/*
 * Does the event of `payload` start at commit? The answer is also false for a payload in the ring
 * of the twin. Only the low 32 bits of positions are compared, so that could go wrong only if the
 * rings of two twins lay exactly 4 GiB apart.
 */
static TRACE_ALWAYS_INLINE bool trace_ring_is_outermost(const struct trace_ring_cpu *rc,
							const void *payload)
{
	uint32_t pos = (uint32_t)((const uint8_t *)payload - rc->base);

	/*
	 * Before our payload lies our head, of 4 or 8 bytes. An outer event in front of that would
	 * have 8 bytes at least. So if commit is up to 8 bytes away, no event lies between.
	 */
	return pos - (uint32_t)rc->commit <= 2 * RING_HEAD_BYTES;
}

/* Commit the event of `payload`, of any length. False: call trace_ring_publish(). */
static TRACE_ALWAYS_INLINE bool trace_ring_try_commit_payload(struct trace_ring_cpu *rc,
							      const void *payload)
{
	if (TRACE_UNLIKELY(!trace_ring_is_outermost(rc, payload)))
		return true;
	return trace_ring_move_commit(rc, trace_ring_load(&rc->tail.lo));
}

/*
 * Commit the event of `payload`. If it interrupted another event, that one's commit publishes it.
 */
static TRACE_ALWAYS_INLINE void trace_ring_commit(struct trace_ring_cpu *rc, const void *payload)
{
	if (TRACE_UNLIKELY(!trace_ring_try_commit_payload(rc, payload)))
		trace_ring_publish(rc);
}

#endif
