/*
 * The ring of one CPU: its words, its sub-buffers, its gate.
 *
 * A tail word says where the next event goes and how many there were:
 *
 *   63           32 31              0
 *   [ event number | byte position  ]    position: slot * subbuf_size + offset in the sub-buffer;
 *                                        offset 0 is the end of the one before: it is full
 *
 * Context:   any.
 * Locking:   said at the fields. Slot words are shared with readers and moved by locked
 *            compare-exchange.
 * Ownership: as <trace/ring_buffer.h> says.
 */
#ifndef TRACE_RING_CPU_H
#define TRACE_RING_CPU_H

#include <stdatomic.h>
#include <trace/ring_buffer.h>

#define RING_DELTA_BITS 27
#define RING_HEAD_BYTES 4u
#define RING_TYPE_BITS	5

/*
 * A slot: the state of the sub-buffer in it, for the writer and the readers. The ring is used in
 * laps, so the first two words carry the sequence of the sub-buffer that they speak of.
 */
struct ring_slot {
	_Atomic uint64_t word; /* sequence << RING_TAKEN_BITS | events taken by the reader */
	/*
	 * sequence << RING_TAKEN_BITS | bytes of data; with another sequence it says nothing: the
	 * sub-buffer is filled up
	 */
	_Atomic uint64_t end;
	_Atomic uint64_t first_event; /* number of its first event */
	_Atomic uint64_t dropped;     /* events dropped before it, since the reset */
};

/* A reader's position; see ring_read.c. */
struct ring_cursor {
	uint64_t seq;	 /* sequence of the sub-buffer it stands in */
	uint32_t offset; /* in that sub-buffer, head included */
	uint32_t taken;	 /* events before offset */
	uint64_t ts;	 /* time at offset; not set at the sub-buffer's start, which has its own */
	uint64_t next_event; /* number of the event expected next: a larger one means a loss */
	uint64_t dropped;    /* dropped events that the reader was told of */
	uint64_t epoch; /* of the ring when the cursor was made; see trace_ring_is_outdated() */
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
	struct ring_event next; /* the event where the chunk stands, if has_next */
	bool has_next;
	uint64_t limit;	  /* number of the first event not to show */
	bool is_absent;	  /* the ring had no memory when it was started */
	bool is_anew;	  /* the ring was emptied, and no event was shown since */
	bool was_emptied; /* the next result of ring_buffer_iter_was_emptied() */
};

struct trace_ring_cpu {
	/*
	 * Low half: subbuf_size - 1 while writers may take the fast path; otherwise 0, which makes
	 * trace_ring_step() fail. High half: the reasons for a 0, as RING_GATE_* bits and, below
	 * them, the count of nested disables.
	 */
	_Atomic uint64_t gate;
	ring_clock_fn clock; /* NULL: trace_plat_clock_ns() */

	/*
	 * Only this CPU's writers change these; readers on any CPU look at them. A reset or resize
	 * sets them while the gate is closed, with atomic stores all the same: a writer reads some
	 * of them before it finds the gate closed.
	 */
	struct trace_pair tail; /* lo: tail word, hi: time of the last event */
	uint8_t *base;		/* nr_slots sub-buffers; NULL until ring_buffer_add_cpu() */
	uint64_t commit; /* tail word up to which readers may look; others load it atomically */
	struct ring_slot *slots;
	uint64_t event_ref; /* a recent event number, to extend the 32 bits of the tail word */
	uint64_t nr_dropped;
	uint64_t nr_unbuilt; /* of these, by trace_ring_drop() */
	uint64_t nr_commit_overrun;
	uint64_t epoch; /* number of times the ring was emptied; `lock` guards changes, not reads */
	/* The consuming reader's, guarded by `lock`. */
	struct ring_cursor reader;
	struct ring_chunk chunk; /* taken from the ring, not yet consumed */
	uint64_t nr_taken;	 /* events taken from the ring */
	uint64_t read_number;	 /* number of the next event to consume; may be read without lock */
	uint64_t read_seq;	 /* copy of reader.seq; may be read without lock */

	uint32_t nr_slots; /* these three change with is_moving set */
	uint32_t subbuf_shift;
	uint32_t subbuf_mask; /* subbuf_size - 1 */
	size_t asked_bytes; /* the size that was asked for, not rounded; guarded by shared->lock */
	_Atomic bool overwrite;
	_Atomic bool is_moving;	   /* lock-free readers stay out */
	_Atomic bool is_damaged;   /* the reader has found events that it could not decode */
	_Atomic uint32_t nr_iters; /* open iterators; grows under the buffer's lock */
	struct trace_plat_lock lock;
	struct ring_iter dump; /* the iterator of ring_buffer_dump_start() */
	uint32_t cpu;
};

/* The common state of two twins; a buffer without a twin has one alone. */
struct ring_shared {
	struct trace_plat_lock lock; /* "the buffer's lock": held by resize, reset, set_clock */
	_Atomic uint32_t is_off;     /* switched off by ring_buffer_record_off() */
	_Atomic uint32_t swap_word;  /* ring_twin.c: exchanges in flight, reasons against them */
	struct ring_buffer *slim;    /* the twin that has little memory, or NULL; guarded by lock */
	ring_clock_fn clock;
};

struct ring_buffer {
	uint32_t nr_cpus;
	uint32_t subbuf_size;	    /* changes under the lock, read in any context */
	struct ring_shared *shared; /* `own`, or that of the older twin */
	struct ring_buffer *twin;   /* NULL for none; set once, atomically */
	struct kept_head *kept;	    /* of a buffer in the host's memory, see ring_kept.c; or NULL */
	struct ring_shared own;
	struct trace_ring_cpu *cpu[]; /* ring_buffer_swap_cpu() exchanges them with the twin's */
};

/* Load a plain word that another context of this CPU, or a reader, may change at any time. */
static TRACE_ALWAYS_INLINE uint64_t trace_ring_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* Bits of the gate's high half. */
#define RING_GATE_OFF	 (1u << 31) /* ring_buffer_record_off() was called */
#define RING_GATE_RESIZE (1u << 30) /* the ring is being resized: events count as dropped */
#define RING_GATE_FULL	 (1u << 29) /* drop mode: no room for an event, and no read since */
#define RING_GATE_CLOCK	 (1u << 28) /* the clock is not trace_plat_clock_ns(), but rc->clock */
#define RING_GATE_OPEN	 (RING_GATE_FULL | RING_GATE_CLOCK) /* these do not stop recording */

/*
 * The gate, which a writer looks at before the memory and the tail: pairs with the store that opens it after
 * a reset or resize, so that these are then the new ones.
 */
static TRACE_ALWAYS_INLINE uint64_t trace_ring_look(const struct trace_ring_cpu *rc)
{
	return atomic_load_explicit(&rc->gate, memory_order_acquire);
}

/* The bits and counts of `gate` that stop recording; 0 when it is on. */
static TRACE_ALWAYS_INLINE uint32_t trace_ring_closed_by(uint64_t gate)
{
	return (uint32_t)(gate >> 32) & ~RING_GATE_OPEN;
}

/* Is RING_GATE_OFF, the top bit, set? */
static TRACE_ALWAYS_INLINE bool trace_ring_is_switched_off(uint64_t gate)
{
	return (int64_t)gate < 0;
}

/*
 * Is recording off, for whatever reason? To be asked exactly once for each event, because it counts
 * the event as dropped when a resize is the only reason. The reader is told of the loss where the
 * next sub-buffer begins.
 */
static TRACE_ALWAYS_INLINE bool trace_ring_is_off(struct trace_ring_cpu *rc)
{
	uint32_t reasons = trace_ring_closed_by(trace_ring_look(rc));

	if (TRACE_UNLIKELY(reasons == RING_GATE_RESIZE))
		trace_plat_local_add(&rc->nr_dropped, 1);
	return reasons;
}

/* Is recording on, and another clock the only reason for the gate to have no mask? */
static TRACE_ALWAYS_INLINE bool trace_ring_has_own_clock(uint64_t gate)
{
	return gate >> 32 == RING_GATE_CLOCK;
}

/* Is recording on, and the ring marked as full, so that events are dropped? */
static TRACE_ALWAYS_INLINE bool trace_ring_is_full(uint64_t gate)
{
	return (gate >> 32 & ~(uint64_t)RING_GATE_CLOCK) == RING_GATE_FULL;
}

/*
 * Count an event as dropped, because the ring is marked as full, say. When it returns false the
 * caller has to call trace_ring_close_subbuf().
 */
static TRACE_ALWAYS_INLINE bool trace_ring_try_drop(struct trace_ring_cpu *rc)
{
	trace_plat_local_add(&rc->nr_dropped, 1);
	atomic_signal_fence(memory_order_seq_cst);
	/*
	 * Usually the tail is at the end of a sub-buffer. It is not when a reader made room and an
	 * interrupt wrote events there before we counted. The loss comes after those events and is
	 * told between sub-buffers, so no event may follow them in theirs.
	 */
	return TRACE_LIKELY(!((uint32_t)trace_ring_load(&rc->tail.lo) & rc->subbuf_mask));
}

#endif
