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
/* See ring_buffer_discard_commit(). */
void trace_ring_discard(struct trace_ring_cpu *rc, void *payload, size_t len);

/*
 * The common case alone, for those who keep the rest out of their way. `step` is what the event
 * adds to a tail word: RING_EVENT_ONE and its bytes, head included, a multiple of 4 from 8 to
 * RING_SHORT_PAYLOAD + RING_HEAD_BYTES. NULL, with nothing changed, when there is more to do.
 * `out_word` is the tail word before, `out_ns` the time of the event.
 */
static TRACE_ALWAYS_INLINE void *trace_ring_try_step_at(struct trace_ring_cpu *rc, uint64_t step,
							uint64_t *out_word, uint64_t *out_ns)
{
	/* The clock first: an interrupt behind it makes the time or the exchange fail. */
	uint64_t now = trace_plat_clock_ns();
	/* Pairs with the opening of the gate: memory and tail seen below belong together. */
	uint32_t mask = (uint32_t)atomic_load_explicit(&rc->gate, memory_order_acquire);
	uint64_t word = trace_ring_load(&rc->tail.lo);
	uint64_t last = trace_ring_load(&rc->tail.hi);
	uint64_t next = word + step;
	uint64_t delta = now - last;
	uint32_t bytes = (uint32_t)step;
	uint8_t *base = __atomic_load_n(&rc->base, __ATOMIC_RELAXED);
	uint32_t *payload;

	/*
	 * Within the sub-buffer the end is more than `bytes` from its start, for there is a head.
	 * Across its end, just at it, or with a gate of 0, it is not.
	 */
	if (TRACE_UNLIKELY(((uint32_t)next & mask) <= bytes))
		return NULL;
	/* A clock that went back gives a huge delta. */
	if (TRACE_UNLIKELY(delta >= 1ull << RING_DELTA_BITS))
		return NULL;
	if (TRACE_UNLIKELY(!trace_plat_pair_cmpxchg(&rc->tail, &word, last, next, now)))
		return NULL;
	payload = (uint32_t *)(void *)(base + (uint32_t)word + RING_HEAD_BYTES);
	payload[-1] = ((uint32_t)delta << RING_TYPE_BITS) + (bytes / 4 - 1);
	*out_word = word;
	*out_ns = now;
	return payload;
}

static TRACE_ALWAYS_INLINE void *trace_ring_try_step(struct trace_ring_cpu *rc, uint64_t step,
						     uint64_t *out_word)
{
	uint64_t now;

	return trace_ring_try_step_at(rc, step, out_word, &now);
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

/*
 * Commit the event of `len` bytes that trace_ring_try_reserve() put at the tail word `word`. False:
 * call trace_ring_publish().
 */
static TRACE_ALWAYS_INLINE bool trace_ring_try_commit(struct trace_ring_cpu *rc, uint64_t word,
						      uint32_t len)
{
	if (TRACE_UNLIKELY(rc->commit != word))
		return true; /* it interrupted another event: that one will */
	return trace_ring_move_commit(rc, word + RING_EVENT_ONE + len + RING_HEAD_BYTES);
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
