/*
 * The ring of one CPU, and its inline write path: what a function event costs.
 *
 * A tail word says where the next event goes and how many there were:
 *
 *   63           32 31              0
 *   [ event number | byte position  ]    position: slot * subbuf_size + offset in the sub-buffer;
 *                                        offset 0 is the end of the one before: it is full
 *
 * The tail word and the time of the last event move together (trace_plat_pair_cmpxchg), so a delta
 * is exact for nested writers. `commit` is the tail word up to which readers may look. An event
 * that starts at `commit` is the outermost one: its commit publishes everything up to the tail.
 * While an outer event is open, commit differs from the tail, and nested commits do nothing.
 *
 * Context:   any, preemption off. Only this CPU writes; nested contexts come and go completely
 *            between any two instructions.
 * Locking:   none. Slot words are shared with readers and moved by locked compare-exchange.
 * Ownership: as <trace/ring_buffer.h> says.
 */
#ifndef TRACE_RING_FAST_H
#define TRACE_RING_FAST_H

#include <stdatomic.h>
#include <trace/ring_buffer.h>

#define RING_DELTA_BITS 27
#define RING_HEAD_BYTES 4u
#define RING_TYPE_BITS	5

/* What the writer and the readers know of one sub-buffer. Tags tell which lap a word speaks of. */
struct ring_slot {
	_Atomic uint64_t word;	      /* sequence << RING_TAKEN_BITS | events taken by the reader */
	_Atomic uint64_t end;	      /* the same with bytes of data; other sequence: it is full */
	_Atomic uint64_t first_event; /* number of its first event */
	_Atomic uint64_t dropped;     /* events dropped before it, since the reset */
};

/* How far a reader has come; see ring_read.c. */
struct ring_cursor {
	uint64_t seq;	     /* sub-buffer */
	uint32_t offset;     /* in it */
	uint32_t taken;	     /* events before offset */
	uint64_t ts;	     /* time at offset; of no use at the sub-buffer's start */
	uint64_t next_event; /* number of the event expected next */
	uint64_t dropped;    /* dropped events already told */
	uint64_t epoch;	     /* of the ring when the cursor was made: what all this counts from */
};

/* Part of a sub-buffer, copied out. */
struct ring_chunk {
	uint8_t *data; /* subbuf_size bytes of memory */
	uint32_t pos;  /* next undecoded byte */
	uint32_t end;  /* bytes of data */
	uint32_t left; /* events from pos on */
	uint64_t ts;   /* time at pos */
	uint64_t lost; /* events lost before pos */
};

struct ring_iter {
	struct trace_ring_cpu *rc;
	struct ring_cursor cursor;
	struct ring_chunk chunk;
	uint64_t limit;	  /* number of the first event not to show */
	bool is_anew;	  /* has begun again, and shown nothing since */
	bool was_emptied; /* ring_buffer_iter_was_emptied() */
};

struct trace_ring_cpu {
	/*
	 * Low half: subbuf_size - 1, or 0: slow path. Bit 63: recording is off. Bit 62: the ring is
	 * resized, what is kept out counts as dropped. Between: nested disables.
	 */
	_Atomic uint64_t gate;
	ring_clock_fn clock; /* NULL: trace_plat_clock_ns() */

	/*
	 * This CPU writes these, in writer context; readers look. Whoever else sets them stores
	 * atomically: writers that find the gate closed have looked at some of them.
	 */
	struct trace_pair tail; /* lo: tail word, hi: time of the last event */
	uint8_t *base;		/* nr_slots sub-buffers */
	uint64_t commit;	/* plain for this CPU, which writes it; atomic for the others */
	struct ring_slot *slots;
	uint64_t event_ref; /* a recent event number, to extend the 32 bits of the tail word */
	uint64_t nr_dropped;
	uint64_t nr_commit_overrun;
	uint64_t epoch; /* how often the ring was emptied: `lock` changes it, iterators look */
	/* Readers write these, under `lock`. */
	struct ring_cursor reader;
	struct ring_chunk chunk; /* taken from the ring, not yet consumed */
	uint64_t nr_taken;	 /* events taken from the ring */
	uint64_t read_number;	 /* of the next event to consume; anybody may look */
	uint64_t read_seq;	 /* reader.seq; anybody may look */

	uint32_t nr_slots; /* these two change with is_moving set */
	uint32_t subbuf_shift;
	size_t asked_bytes; /* the size that was asked for; the buffer's lock */
	_Atomic bool overwrite;
	_Atomic bool is_moving;	   /* lock-free readers stay out */
	_Atomic uint32_t nr_iters; /* open iterators; grows under the buffer's lock */
	struct trace_plat_lock lock;
	struct ring_iter dump;
	uint32_t cpu;
};

/* What twins have in common. */
struct ring_shared {
	struct trace_plat_lock lock; /* resize, reset, clock */
	_Atomic uint32_t is_off;     /* ring_buffer_record_off() */
	_Atomic uint32_t swap_word;  /* ring_twin.c: exchanges in flight, reasons against them */
	struct ring_buffer *slim;    /* the twin that has little memory, or NULL; `lock` */
	ring_clock_fn clock;
};

struct ring_buffer {
	uint32_t nr_cpus;
	uint32_t subbuf_size;	    /* changes under the lock, read in any context */
	struct ring_shared *shared; /* `own`, or that of the older twin */
	struct ring_buffer *twin;   /* NULL for none; set once, atomically */
	struct ring_shared own;
	struct trace_ring_cpu *cpu[]; /* ring_buffer_swap_cpu() exchanges them with the twin's */
};

/* Everything that is not the common case; the same contract as trace_ring_reserve(). */
void *trace_ring_reserve_slow(struct trace_ring_cpu *rc, size_t len);
/* Make everything up to the tail visible. No event of ours is open. */
void trace_ring_publish(struct trace_ring_cpu *rc);
/* See ring_buffer_discard_commit(). */
void trace_ring_discard(struct trace_ring_cpu *rc, void *payload, size_t len);

/* A plain word that contexts of this CPU, or readers, may change or see at any time. */
static TRACE_ALWAYS_INLINE uint64_t trace_ring_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

#define RING_GATE_RESIZE (1u << 30) /* in the high half of the gate */

/*
 * Is recording off here? Asked once for each event: one that nothing but a resize keeps out is
 * counted as dropped. The loss is told where the next sub-buffer begins.
 */
static TRACE_ALWAYS_INLINE bool trace_ring_is_off(struct trace_ring_cpu *rc)
{
	/* Pairs with the opening of the gate, as in trace_ring_try_step_at(). */
	uint64_t high = atomic_load_explicit(&rc->gate, memory_order_acquire) >> 32;

	if (TRACE_UNLIKELY(high == RING_GATE_RESIZE))
		trace_plat_local_add(&rc->nr_dropped, 1);
	return high;
}

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
