/*
 * The inline write path of a ring: what a function event costs. See ring_cpu.h for its words.
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

/* Everything that is not the common case; the same contract as trace_ring_reserve(). */
void *trace_ring_reserve_slow(struct trace_ring_cpu *rc, size_t len);
/* Make everything up to the tail visible. No event of ours is open. */
void trace_ring_publish(struct trace_ring_cpu *rc);
/* An event was dropped, and counted: the next one begins a sub-buffer. */
void trace_ring_close_subbuf(struct trace_ring_cpu *rc);
/* See ring_buffer_discard_commit(). */
void trace_ring_discard(struct trace_ring_cpu *rc, void *payload, size_t len);

/* Where an event was put. */
struct ring_place {
	uint64_t word; /* the tail word before it */
	uint64_t next; /* and behind it */
};

/*
 * Put an event of the time `now` at the tail. `step` is what it adds to a tail word: RING_EVENT_ONE
 * and its bytes, head included, a multiple of 4 from 8 to RING_SHORT_PAYLOAD + RING_HEAD_BYTES.
 * `mask` is the low half of the gate, or subbuf_mask, after a look at the gate. NULL, with nothing
 * changed, when there is more to do.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_step(struct trace_ring_cpu *rc, uint64_t step,
						 uint32_t mask, uint64_t now,
						 struct ring_place *out_place)
{
	uint64_t word = trace_ring_load(&rc->tail.lo);
	uint64_t last = trace_ring_load(&rc->tail.hi);
	uint64_t next = word + step;
	/* An interrupt behind the reading of the clock makes this huge, or the exchange fail. */
	uint64_t delta = now - last;
	uint32_t bytes = (uint32_t)step;
	uint8_t *head;

	/*
	 * Within the sub-buffer the end is more than `bytes` from its start, for there is a head.
	 * Across its end, just at it, or with a mask of 0, it is not.
	 */
	if (TRACE_UNLIKELY(((uint32_t)next & mask) <= bytes))
		return NULL;
	/* A clock that went back gives a huge delta, too. */
	if (TRACE_UNLIKELY(delta >= 1ull << RING_DELTA_BITS))
		return NULL;
	if (TRACE_UNLIKELY(!trace_plat_pair_cmpxchg(&rc->tail, &word, last, next, now)))
		return NULL;
	/* Plain: who moves the memory closes the gate, and waits for those who saw it open. */
	head = rc->base + (uint32_t)word;
	TRACE_OPAQUE(head); /* one register for this address and those of the payload */
	*(uint32_t *)(void *)head = ((uint32_t)delta << RING_TYPE_BITS) + (bytes / 4 - 1);
	out_place->word = word;
	out_place->next = next;
	return head + RING_HEAD_BYTES;
}

/*
 * The common case alone, for those who keep the rest out of their way: trace_ring_step() when the
 * gate is open, with the fastest clock. `out_word` is the tail word before.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_try_step(struct trace_ring_cpu *rc, uint64_t step,
						     uint64_t *out_word)
{
	/* Pairs with the opening of the gate: memory and tail seen below belong together. */
	uint32_t mask = (uint32_t)atomic_load_explicit(&rc->gate, memory_order_acquire);
	struct ring_place place;
	void *payload = trace_ring_step(rc, step, mask, trace_plat_clock_ns(), &place);

	if (payload)
		*out_word = place.word;
	return payload;
}

/* The same with a clock of the ring's own. */
static TRACE_ALWAYS_INLINE void *trace_ring_try_step_clock(struct trace_ring_cpu *rc, uint64_t step,
							   struct ring_place *out_place)
{
	uint64_t gate = atomic_load_explicit(&rc->gate, memory_order_acquire);

	if (gate >> 32 != RING_GATE_CLOCK)
		return NULL;
	return trace_ring_step(rc, step, rc->subbuf_mask, rc->clock(), out_place);
}

/* The same for `len` bytes of payload, a multiple of 4 from 4 to RING_SHORT_PAYLOAD. */
static TRACE_ALWAYS_INLINE void *trace_ring_try_reserve(struct trace_ring_cpu *rc, uint32_t len,
							uint64_t *out_word)
{
	return trace_ring_try_step(rc, RING_EVENT_ONE + RING_HEAD_BYTES + len, out_word);
}

/*
 * Claim room for `len` bytes, a multiple of 4 from 4 to RING_SHORT_PAYLOAD and best a constant.
 * Returns the payload, to be given to trace_ring_commit(), or NULL.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_reserve(struct trace_ring_cpu *rc, uint32_t len)
{
	uint64_t word;
	void *payload = trace_ring_try_reserve(rc, len, &word);

	return TRACE_LIKELY(payload) ? payload : trace_ring_reserve_slow(rc, len);
}

/*
 * Make the tail word `next` visible, the end of our event at commit or behind. False: interrupts
 * have moved the tail on, call trace_ring_publish().
 */
static TRACE_ALWAYS_INLINE bool trace_ring_move_commit(struct trace_ring_cpu *rc, uint64_t next)
{
	/* Pairs with the acquire of readers. Nobody else moves commit: it differs from the tail. */
	__atomic_store_n(&rc->commit, next, __ATOMIC_RELEASE);
	/* An interrupt before that store found our event open and published nothing. */
	atomic_signal_fence(memory_order_seq_cst);
	return TRACE_LIKELY(rc->tail.lo == next);
}

/* Commit the event at `place`. False: call trace_ring_publish(). */
static TRACE_ALWAYS_INLINE bool trace_ring_try_commit_at(struct trace_ring_cpu *rc,
							 const struct ring_place *place)
{
	if (TRACE_UNLIKELY(rc->commit != place->word))
		return true; /* it interrupted another event: that one will */
	return trace_ring_move_commit(rc, place->next);
}

/* The same for the event of `len` bytes that trace_ring_try_reserve() put at `word`. */
static TRACE_ALWAYS_INLINE bool trace_ring_try_commit(struct trace_ring_cpu *rc, uint64_t word,
						      uint32_t len)
{
	const struct ring_place place = { word, word + RING_EVENT_ONE + len + RING_HEAD_BYTES };

	return trace_ring_try_commit_at(rc, &place);
}

/*
 * Does the event of `payload` start at commit? Of 64 bits of address 32 are compared: the rings of
 * twins would have to lie 4 GiB apart, to the byte, for one's event to pass for the other's.
 */
static TRACE_ALWAYS_INLINE bool trace_ring_is_outermost(const struct trace_ring_cpu *rc,
							const void *payload)
{
	uint32_t pos = (uint32_t)((const uint8_t *)payload - rc->base);

	/*
	 * The head before a payload has 4 or 8 bytes, and an outer event at least 8 and our head:
	 * up to 8 bytes from commit to payload, no event can lie between.
	 */
	return pos - (uint32_t)rc->commit <= 2 * RING_HEAD_BYTES;
}

/* The same for any event, by its payload. */
static TRACE_ALWAYS_INLINE bool trace_ring_try_commit_payload(struct trace_ring_cpu *rc,
							      const void *payload)
{
	if (TRACE_UNLIKELY(!trace_ring_is_outermost(rc, payload)))
		return true;
	return trace_ring_move_commit(rc, trace_ring_load(&rc->tail.lo));
}

/* Publish the event of `payload`, unless it interrupted another: then that one will. */
static TRACE_ALWAYS_INLINE void trace_ring_commit(struct trace_ring_cpu *rc, const void *payload)
{
	if (TRACE_UNLIKELY(!trace_ring_try_commit_payload(rc, payload)))
		trace_ring_publish(rc);
}

#endif
