/*
 * Shared declarations of the files of the ring buffer. Begin with ring_cpu.h, the data structures,
 * and ring_fast.h, the inline write path; the table of files in trace/README.md has the rest.
 */
#ifndef RING_PRIVATE_H
#define RING_PRIVATE_H

#include "ring_fast.h"

#define RING_PAGE_HEAD	 ((uint32_t)sizeof(struct ring_page))
#define RING_TAKEN_BITS	 20 /* events in, and bytes of, the largest sub-buffer */
#define RING_MIN_SLOTS	 2u
#define RING_MAX_BYTES	 0xfff00000ul /* positions have 32 bits */
#define RING_DELTA_MASK	 ((1u << RING_DELTA_BITS) - 1)
#define RING_EXTEND_BITS 59 /* of time in a TIME_EXTEND: 27 in its head, 32 in the next word */

/* For copying memory that may be written meanwhile: the caller checks, which TSan cannot know. */
#define RING_RACY TRACE_NOINLINE __attribute__((no_sanitize("thread")))

/* The type field of an event's head, see ring_event.c. */
enum ring_type {
	RING_TYPE_LONG = 0, /* the length is in the next word; 1 to 28 are lengths in words */
	RING_TYPE_PADDING = 29,
	RING_TYPE_TIME_EXTEND = 30,
	RING_TYPE_TIME_STAMP = 31,
};
#define RING_EXTEND_BYTES 8u

static inline uint32_t ring_size(const struct trace_ring_cpu *rc)
{
	return rc->subbuf_mask + 1;
}

/*
 * The slot that a tail word stands in; at the end of a sub-buffer it is the slot that ends there.
 */
static inline uint32_t ring_slot_of(const struct trace_ring_cpu *rc, uint64_t word)
{
	return ((uint32_t)word - 1) >> rc->subbuf_shift;
}

/* The offset of a tail word in its sub-buffer. 0 means that it stands at the sub-buffer's end. */
static inline uint32_t ring_offset_of(const struct trace_ring_cpu *rc, uint64_t word)
{
	return (uint32_t)word & rc->subbuf_mask;
}

static inline uint32_t ring_next_slot(const struct trace_ring_cpu *rc, uint32_t slot)
{
	return slot + 1 == rc->nr_slots ? 0 : slot + 1;
}

static inline struct ring_page *ring_page_at(const struct trace_ring_cpu *rc, uint32_t slot)
{
	return (struct ring_page *)(void *)(rc->base + ((size_t)slot << rc->subbuf_shift));
}

/* Words of struct ring_slot: the sequence of a sub-buffer, and a number about that one. */
static inline uint64_t ring_tag(uint64_t seq, uint64_t value)
{
	return seq << RING_TAKEN_BITS | value;
}

static inline uint64_t ring_tag_seq(uint64_t word)
{
	return word >> RING_TAKEN_BITS;
}

static inline uint32_t ring_tag_value(uint64_t word)
{
	return (uint32_t)(word & ((1u << RING_TAKEN_BITS) - 1));
}

static inline uint64_t ring_clock_now(const struct trace_ring_cpu *rc)
{
	return rc->clock ? rc->clock() : trace_plat_clock_ns();
}

/* The event number of a tail word in 64 bits; `near` is one less than 2^31 events away from it. */
static inline uint64_t ring_event_number(uint64_t word, uint64_t near)
{
	return near + (uint64_t)(int64_t)(int32_t)((uint32_t)(word >> 32) - (uint32_t)near);
}

/* The bytes that a payload of `len` bytes takes: a multiple of 4, and at least 4. */
static inline size_t ring_round_len(size_t len)
{
	return len ? (len + 3) & ~(size_t)3 : 4;
}

/* ---- ring_buffer.c ---- */

#define RING_GATE_ONE 1

/*
 * Add `nr` (may be negative) to the reasons not to record, and work the gate out anew, with the
 * clock and the size that the ring has now. The mark of a full ring goes. Any context.
 */
void trace_ring_gate(struct trace_ring_cpu *rc, int nr);
/* Mark the ring as full: writers drop events without looking for room. Any context of this CPU. */
void trace_ring_gate_full(struct trace_ring_cpu *rc);

/*
 * There may be room now, so take away the mark of a full ring. Call it after the store that made
 * the room. That store and the load here are sequentially consistent, and mark_full() first marks
 * and then looks for room: one of the two sees what the other did.
 */
static inline void trace_ring_unmark_full(struct trace_ring_cpu *rc)
{
	if (atomic_load(&rc->gate) >> 32 & RING_GATE_FULL)
		trace_ring_gate(rc, 0);
}

/* Copy the switch `shared->is_off` into the gate of `rc`. Any context. */
void trace_ring_gate_off(struct ring_shared *shared, struct trace_ring_cpu *rc);

/* ---- ring_read.c ---- */

/* The committed events of one sub-buffer. */
struct ring_extent {
	uint32_t end;	      /* offset behind the last committed event */
	uint32_t entries;     /* committed events, those that a reader has taken included */
	uint64_t first_event; /* number of the first one */
	uint64_t dropped;     /* as in struct ring_slot */
	bool is_finished;     /* commit stands in another sub-buffer by now */
	bool is_open;	      /* commit stands in this one, and not at its end: more may come */
};

/* The number of events committed since the ring was emptied. Preemption off or rc->lock held. */
uint64_t trace_ring_committed(struct trace_ring_cpu *rc);
/* Sequence of the sub-buffer in which commit stands. Preemption off or rc->lock held. */
uint64_t trace_ring_commit_seq(struct trace_ring_cpu *rc);
/* Sequence of the oldest sub-buffer that is not overwritten; `seq` when that one is still there. */
uint64_t trace_ring_oldest(struct trace_ring_cpu *rc, uint64_t seq);
/*
 * The committed events of sub-buffer `seq`, which is in slot `slot`. The writer goes on meanwhile:
 * the caller checks afterwards that the slot still holds `seq`; if not, the answer means nothing.
 */
void trace_ring_extent(struct trace_ring_cpu *rc, uint32_t slot, uint64_t seq,
		       struct ring_extent *out_extent);
/* Put the cursor at the start of sub-buffer `seq`. Its record of losses stays. */
void trace_ring_cursor_move(struct ring_cursor *cursor, uint64_t seq);
/*
 * Has the ring been emptied since `cursor` was made? Then the cursor, and whatever was computed
 * with it, is about events that are gone.
 */
static inline bool trace_ring_is_outdated(const struct trace_ring_cpu *rc,
					  const struct ring_cursor *cursor)
{
	/*
	 * Pairs with the release in begin_epoch(). All that we read of the ring is read before
	 * this.
	 */
	atomic_thread_fence(memory_order_acquire);
	return __atomic_load_n(&rc->epoch, __ATOMIC_RELAXED) != cursor->epoch;
}
/*
 * Copy the committed events behind `cursor` into `chunk`, at most to the end of a sub-buffer, and
 * advance the cursor. `take`: the events leave the ring, for the consuming reader. `full`: only a
 * sub-buffer to which no event can be added any more. False when there is nothing to copy. A reader
 * without rc->lock asks trace_ring_is_outdated() afterwards, and if so throws the chunk away.
 */
bool trace_ring_fetch(struct trace_ring_cpu *rc, struct ring_cursor *cursor,
		      struct ring_chunk *chunk, bool take, bool full);

/* ---- ring_event.c ---- */

/*
 * Show the first event from chunk->pos on; padding and time stamps before it are passed for good.
 * False when no event is left, or when the data is damaged: then chunk->left is not 0.
 */
bool trace_ring_decode(struct ring_chunk *chunk, struct ring_event *out_event);
/* Move behind the event that decode showed. */
void trace_ring_skip(struct ring_chunk *chunk, const struct ring_event *event);

/* ---- ring_consume.c ---- */

/*
 * Copy the consuming reader's position to read_number and read_seq, where ring_buffer_is_filled()
 * looks without the lock. To be called after each move of rc->reader or rc->chunk. rc->lock held.
 */
void trace_ring_note_reader(struct trace_ring_cpu *rc);

/* ---- ring_setup.c ---- */

/* The memory of one CPU's ring. */
struct ring_memory {
	uint8_t *base;		 /* the sub-buffers, and behind them in the same piece: */
	struct ring_slot *slots; /* the slots */
	/* Two sub-buffers, for rc->chunk and rc->dump; NULL when the ring keeps those it has. */
	uint8_t *copies;
	uint32_t nr_slots;
	uint32_t subbuf_size;
};

/* A buffer without rings. NULL: no memory. */
struct ring_buffer *trace_ring_buffer_alloc_bare(void);
/* Set up a zeroed ring without memory for events, closed as one that is being resized. */
void trace_ring_prepare(struct trace_ring_cpu *rc, uint32_t cpu, size_t bytes);
/* A buffer whose rings have no memory for events yet. `bytes` is the size they are to get. */
struct ring_buffer *trace_ring_buffer_alloc(size_t bytes, uint32_t flags);
/* The number of sub-buffers of a ring of `bytes` bytes. */
uint32_t trace_ring_slots_for(uint32_t subbuf_size, size_t bytes);
/*
 * Sub-buffers and slots, zeroed, and no copies. False, with nothing allocated, when out of memory.
 */
bool trace_ring_memory_alloc(uint32_t subbuf_size, uint32_t nr_slots, struct ring_memory *out);
/* The same with the copies. */
bool trace_ring_memory_alloc_all(uint32_t subbuf_size, uint32_t nr_slots, struct ring_memory *out);
/* Free memory; NULL members are allowed. */
void trace_ring_memory_free(struct ring_memory *memory);
/* The memory that `rc` uses now, except for its copies. */
static inline struct ring_memory trace_ring_memory_of(const struct trace_ring_cpu *rc)
{
	return (struct ring_memory){ .base = rc->base,
				     .slots = rc->slots,
				     .nr_slots = rc->nr_slots,
				     .subbuf_size = ring_size(rc) };
}
/* Make `slot` hold the sub-buffer `seq`, which is empty and finished. */
void trace_ring_slot_init(struct ring_slot *slot, uint64_t seq, uint64_t first_event,
			  uint64_t dropped);
/* A sequence that no sub-buffer of `rc` has had yet, for slot 0 of a ring with `nr_slots` slots. */
uint64_t trace_ring_fresh_lap(struct trace_ring_cpu *rc, uint32_t nr_slots);
/*
 * Put tail and commit to `word`, and the time of the last event to `last`. Between move_begin and
 * move_end; the stores are atomic because a writer that finds the gate closed may be looking.
 */
void trace_ring_set_tail(struct trace_ring_cpu *rc, uint64_t word, uint64_t last);
/* Alone only for a ring without memory; otherwise trace_ring_set_memory() does it. */
void trace_ring_set_subbuf_size(struct trace_ring_cpu *rc, uint32_t subbuf_size);
/* Let `rc` use `memory`. The caller frees the old memory. Between move_begin and move_end. */
void trace_ring_set_memory(struct trace_ring_cpu *rc, const struct ring_memory *memory);
/*
 * Does the ring have memory for events? It has none before its CPU comes. Until then it is in the
 * state of a ring that is being resized: writers stay out and count their events as dropped, and
 * lock-free readers stay out. The buffer's or the CPU's lock is held.
 */
static inline bool trace_ring_has_memory(const struct trace_ring_cpu *rc)
{
	return rc->base;
}
/* Give `nr_slots` sub-buffers to a ring that has no memory yet, and open its gate. 0 or -ENOMEM. */
int trace_ring_give_memory(struct trace_ring_cpu *rc, uint32_t nr_slots);
/* Empty the ring, counters included; its slots get the sequences from `lap` on. */
void trace_ring_init(struct trace_ring_cpu *rc, uint64_t lap);
/*
 * Between begin and end neither writers nor lock-free readers are in the ring. Begin takes rc->lock
 * and waits until they have left; end gives the lock back. The buffer's lock is held. Thread.
 * `reason` says what happens to events meanwhile. RING_GATE_ONE: nothing, for a ring that is being
 * emptied would lose them anyway. RING_GATE_RESIZE: they are counted as dropped.
 */
void trace_ring_move_begin(struct trace_ring_cpu *rc, int reason);
void trace_ring_move_end(struct trace_ring_cpu *rc, int reason);

/* ---- ring_subbuf.c ---- */

/*
 * Empty all rings of `buffer`, and with `with_twin` those of its twin, and give them sub-buffers of
 * `subbuf_size` bytes: `nr_slots` of them, or for 0 as many as the size needs that was asked for
 * last (rc->asked_bytes). 0, -EBUSY, -ENOMEM. The buffer's lock is held.
 */
int trace_ring_reshape_locked(struct ring_buffer *buffer, uint32_t subbuf_size, uint32_t nr_slots,
			      bool with_twin);

/* ---- ring_twin.c ---- */

/* The ring of a CPU. Twins may be exchanged at any moment: look once, and go on with the result. */
static TRACE_ALWAYS_INLINE struct trace_ring_cpu *trace_ring_of(struct ring_buffer *buffer,
								uint32_t cpu)
{
	return __atomic_load_n(&buffer->cpu[cpu], __ATOMIC_ACQUIRE);
}

/*
 * For loops over both twins: `i` below nr_cpus is the buffer's ring of CPU `i`, from there on it is
 * the twin's of CPU `i` - nr_cpus. Exchanges are forbidden.
 */
static inline struct trace_ring_cpu *trace_ring_nth(struct ring_buffer *buffer, size_t i)
{
	if (i < buffer->nr_cpus)
		return trace_ring_of(buffer, (uint32_t)i);
	return trace_ring_of(buffer->twin, (uint32_t)i - buffer->nr_cpus);
}

/*
 * Between forbid and allow no rings are exchanged between the twins, so that a ring that is looked
 * up twice is the same one. May be nested. forbid waits for an exchange that is being made. Thread.
 */
void trace_ring_forbid_swap(struct ring_buffer *buffer);
void trace_ring_allow_swap(struct ring_buffer *buffer);

#endif
