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
	bool is_absent;	  /* the ring had no memory when it was started */
	bool is_anew;	  /* has begun again, and shown nothing since */
	bool was_emptied; /* ring_buffer_iter_was_emptied() */
};

struct trace_ring_cpu {
	/*
	 * Low half: subbuf_size - 1, or 0: there is more to do than to write, for a reason that the
	 * high half (RING_GATE_*) has; nested disables are counted below those bits.
	 */
	_Atomic uint64_t gate;
	ring_clock_fn clock; /* NULL: trace_plat_clock_ns() */

	/*
	 * This CPU writes these, in writer context; readers look. Whoever else sets them stores
	 * atomically: writers that find the gate closed have looked at some of them.
	 */
	struct trace_pair tail; /* lo: tail word, hi: time of the last event */
	uint8_t *base;		/* nr_slots sub-buffers; NULL before its CPU comes */
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

	uint32_t nr_slots; /* these three change with is_moving set */
	uint32_t subbuf_shift;
	uint32_t subbuf_mask; /* subbuf_size - 1 */
	size_t asked_bytes;   /* the size that was asked for; the buffer's lock */
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

/* A plain word that contexts of this CPU, or readers, may change or see at any time. */
static TRACE_ALWAYS_INLINE uint64_t trace_ring_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

/* In the high half of the gate. */
#define RING_GATE_OFF	 (1u << 31) /* recording is switched off */
#define RING_GATE_RESIZE (1u << 30) /* the ring is resized: what is kept out counts as dropped */
#define RING_GATE_FULL	 (1u << 29) /* drop mode: no room for an event, and nobody read since */
#define RING_GATE_CLOCK	 (1u << 28) /* it has a clock of its own */
#define RING_GATE_OPEN	 (RING_GATE_FULL | RING_GATE_CLOCK) /* these do not stop recording */

/* What keeps writers out: 0, or reasons. */
static TRACE_ALWAYS_INLINE uint32_t trace_ring_closed_by(uint64_t gate)
{
	return (uint32_t)(gate >> 32) & ~RING_GATE_OPEN;
}

/* Is recording switched off? */
static TRACE_ALWAYS_INLINE bool trace_ring_is_switched_off(uint64_t gate)
{
	return (int64_t)gate < 0;
}

/*
 * Is recording off here? Asked once for each event: one that nothing but a resize keeps out is
 * counted as dropped. The loss is told where the next sub-buffer begins.
 */
static TRACE_ALWAYS_INLINE bool trace_ring_is_off(struct trace_ring_cpu *rc)
{
	/* Pairs with the opening of the gate, as in trace_ring_try_step(). */
	uint32_t reasons =
		trace_ring_closed_by(atomic_load_explicit(&rc->gate, memory_order_acquire));

	if (TRACE_UNLIKELY(reasons == RING_GATE_RESIZE))
		trace_plat_local_add(&rc->nr_dropped, 1);
	return reasons;
}

/* Does `gate` say no more than that events of this full ring are dropped? */
static TRACE_ALWAYS_INLINE bool trace_ring_is_full(uint64_t gate)
{
	return (gate >> 32 & ~(uint64_t)RING_GATE_CLOCK) == RING_GATE_FULL;
}

/* Drop an event of a full ring, and count it. False: call trace_ring_close_subbuf(). */
static TRACE_ALWAYS_INLINE bool trace_ring_try_drop(struct trace_ring_cpu *rc)
{
	trace_plat_local_add(&rc->nr_dropped, 1);
	atomic_signal_fence(memory_order_seq_cst);
	/*
	 * A reader may have made room before we counted, and an interrupt used it: nothing may
	 * follow its events in that sub-buffer then.
	 */
	return TRACE_LIKELY(!((uint32_t)trace_ring_load(&rc->tail.lo) & rc->subbuf_mask));
}

#endif
