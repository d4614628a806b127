/*
 * What the files of the ring buffer share.
 *
 *   ring_cpu.h     data structures, the gate
 *   ring_fast.h    inline write path
 *   ring_buffer.c  the public write side, recording switches
 *   ring_write.c   crossing into the next sub-buffer, full rings, long and late events, discard
 *   ring_read.c    copying sub-buffers out
 *   ring_event.c   decoding events
 *   ring_consume.c the consuming reader
 *   ring_iter.c    iterators
 *   ring_setup.c   create, reset, clock
 *   ring_resize.c  new sizes
 *   ring_subbuf.c  sub-buffers of another size
 *   ring_twin.c    two buffers that exchange their rings
 *   ring_stats.c   accounting
 */
#ifndef RING_PRIVATE_H
#define RING_PRIVATE_H

#include "ring_fast.h"

#define RING_PAGE_HEAD	 ((uint32_t)sizeof(struct ring_page))
#define RING_TAKEN_BITS	 20 /* events in, and bytes of, the largest sub-buffer */
#define RING_MIN_SLOTS	 2u
#define RING_MAX_BYTES	 0xfff00000ul /* positions have 32 bits */
#define RING_DELTA_MASK	 ((1u << RING_DELTA_BITS) - 1)
#define RING_EXTEND_BITS 59 /* of a TIME_EXTEND: 27 + 32 */

/* Races by design: what it reads is checked afterwards. TSan cannot know. */
#define RING_RACY TRACE_NOINLINE __attribute__((no_sanitize("thread")))

enum ring_type {
	RING_TYPE_LONG = 0, /* 1 to 28: words of payload */
	RING_TYPE_PADDING = 29,
	RING_TYPE_TIME_EXTEND = 30,
	RING_TYPE_TIME_STAMP = 31,
};
#define RING_EXTEND_BYTES 8u

static inline uint32_t ring_size(const struct trace_ring_cpu *rc)
{
	return rc->subbuf_mask + 1;
}

/* The sub-buffer that a tail word stands in; at its very end it is still that one. */
static inline uint32_t ring_slot_of(const struct trace_ring_cpu *rc, uint64_t word)
{
	return ((uint32_t)word - 1) >> rc->subbuf_shift;
}

/* 0: at the end. */
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

/* Slot words. */
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

/* The event number of a tail word in 64 bits, from one that is less than 2^31 events away. */
static inline uint64_t ring_event_number(uint64_t word, uint64_t near)
{
	return near + (uint64_t)(int64_t)(int32_t)((uint32_t)(word >> 32) - (uint32_t)near);
}

/* Payload length as it is stored. */
static inline size_t ring_round_len(size_t len)
{
	return len ? (len + 3) & ~(size_t)3 : 4;
}

/* ---- ring_buffer.c ---- */

#define RING_GATE_ONE 1

/*
 * `nr` more (or fewer) reasons not to record; 0: rc->clock changed. The ring does not count as full
 * any more. Any context.
 */
void trace_ring_gate(struct trace_ring_cpu *rc, int nr);
/* An event was dropped: the next ones need not look for room. Any context of this CPU. */
void trace_ring_gate_full(struct trace_ring_cpu *rc);

/* There may be room now. After what made it, sequentially consistent: pairs with mark_full(). */
static inline void trace_ring_unmark_full(struct trace_ring_cpu *rc)
{
	if (atomic_load(&rc->gate) >> 32 & RING_GATE_FULL)
		trace_ring_gate(rc, 0);
}

/* Let the gate say what `shared->is_off` says. Any context. */
void trace_ring_gate_off(struct ring_shared *shared, struct trace_ring_cpu *rc);

/* ---- ring_read.c ---- */

/* What is committed in one sub-buffer. */
struct ring_extent {
	uint32_t end;	      /* offset */
	uint32_t entries;     /* events before it */
	uint64_t first_event; /* number of the first one */
	uint64_t dropped;
	bool is_finished; /* commit has left it */
	bool is_open;	  /* events may still come */
};

/* All committed events, since the reset. Preemption off or rc->lock held. */
uint64_t trace_ring_committed(struct trace_ring_cpu *rc);
/* The sub-buffer in which commit stands. The same contexts. */
uint64_t trace_ring_commit_seq(struct trace_ring_cpu *rc);
/* The oldest sub-buffer from `seq` on that is not overwritten. */
uint64_t trace_ring_oldest(struct trace_ring_cpu *rc, uint64_t seq);
/* Only true if slot `slot` still holds sub-buffer `seq` afterwards. */
void trace_ring_extent(struct trace_ring_cpu *rc, uint32_t slot, uint64_t seq,
		       struct ring_extent *out_extent);
void trace_ring_cursor_move(struct ring_cursor *cursor, uint64_t seq);
/*
 * Has the ring been emptied since `cursor` was made? Then it, and whatever was read with it, is
 * about events that are gone.
 */
static inline bool trace_ring_is_outdated(const struct trace_ring_cpu *rc,
					  const struct ring_cursor *cursor)
{
	/* Pairs with the release in begin_epoch(): what was read before is looked at before. */
	atomic_thread_fence(memory_order_acquire);
	return __atomic_load_n(&rc->epoch, __ATOMIC_RELAXED) != cursor->epoch;
}
/*
 * Copy out what lies after `cursor`, at most up to the end of a sub-buffer, and advance. With
 * `take` the events leave the ring. With `full`, only a finished sub-buffer. False for nothing.
 * What an iterator gets is right unless its cursor is outdated then.
 */
bool trace_ring_fetch(struct trace_ring_cpu *rc, struct ring_cursor *cursor,
		      struct ring_chunk *chunk, bool take, bool full);

/* ---- ring_event.c ---- */

/* Show the event at chunk->pos, passing over what is none. False when none is left. */
bool trace_ring_decode(struct ring_chunk *chunk, struct ring_event *out_event);
/* Move behind the event that decode showed. */
void trace_ring_skip(struct ring_chunk *chunk, const struct ring_event *event);

/* ---- ring_consume.c ---- */

/* The consumer's position moved: let lock-free questions know. rc->lock held. */
void trace_ring_note_reader(struct trace_ring_cpu *rc);

/* ---- ring_setup.c ---- */

/* Memory of a ring. */
struct ring_memory {
	uint8_t *base;
	struct ring_slot *slots;
	uint8_t *
		copies; /* two sub-buffers, for chunk and dump; NULL: the ring keeps those it has */
	uint32_t nr_slots;
	uint32_t subbuf_size;
};

/* Without memory for events. */
struct ring_buffer *trace_ring_buffer_alloc(size_t bytes, uint32_t flags);
uint32_t trace_ring_slots_for(uint32_t subbuf_size, size_t bytes);
/* Without copies. False when out of memory. */
bool trace_ring_memory_alloc(uint32_t subbuf_size, uint32_t nr_slots, struct ring_memory *out);
bool trace_ring_memory_alloc_all(uint32_t subbuf_size, uint32_t nr_slots, struct ring_memory *out);
void trace_ring_memory_free(struct ring_memory *memory);
/* What `rc` has, without copies. */
static inline struct ring_memory trace_ring_memory_of(const struct trace_ring_cpu *rc)
{
	return (struct ring_memory){ .base = rc->base,
				     .slots = rc->slots,
				     .nr_slots = rc->nr_slots,
				     .subbuf_size = ring_size(rc) };
}
/* The slot holds an empty sub-buffer. */
void trace_ring_slot_init(struct ring_slot *slot, uint64_t seq, uint64_t first_event,
			  uint64_t dropped);
/* The first sequence of a lap of `nr_slots` that nobody has seen yet. */
uint64_t trace_ring_fresh_lap(struct trace_ring_cpu *rc, uint32_t nr_slots);
void trace_ring_set_tail(struct trace_ring_cpu *rc, uint64_t word, uint64_t last);
void trace_ring_set_subbuf_size(struct trace_ring_cpu *rc, uint32_t subbuf_size);
void trace_ring_set_memory(struct trace_ring_cpu *rc, const struct ring_memory *memory);
/*
 * Has the CPU come, so that its ring has memory? Until then the ring is as in the middle of a
 * resize: that keeps out writers, who count what they would have written, and lock-free readers.
 * The buffer's or the CPU's lock is held.
 */
static inline bool trace_ring_has_memory(const struct trace_ring_cpu *rc)
{
	return rc->base;
}
/* Memory for a ring that has none yet. -ENOMEM. */
int trace_ring_give_memory(struct trace_ring_cpu *rc, uint32_t nr_slots);
/* A new, empty ring in rc's memory, whose slots get the sequences from `lap` on. */
void trace_ring_init(struct trace_ring_cpu *rc, uint64_t lap);
/*
 * Keep lock-free readers out and writers too, until the end. Buffer's and CPU's lock held.
 * `reason`: RING_GATE_ONE when what the writers wanted to write would not stay anyway, or
 * RING_GATE_RESIZE: they count it.
 */
void trace_ring_move_begin(struct trace_ring_cpu *rc, int reason);
void trace_ring_move_end(struct trace_ring_cpu *rc, int reason);

/* ---- ring_resize.c ---- */

/* As ring_buffer_resize(). The buffer's lock is held. */
int trace_ring_resize_locked(struct ring_buffer *buffer, uint32_t nr_slots, int cpu,
			     bool with_twin);

/* ---- ring_subbuf.c ---- */

/*
 * Sub-buffers of another size, and empty rings; as ring_buffer_subbuf_order_set(). `nr_slots` 0: as
 * many as the size that was asked for needs. The buffer's lock is held.
 */
int trace_ring_reshape_locked(struct ring_buffer *buffer, uint32_t subbuf_size, uint32_t nr_slots,
			      bool with_twin);

/* ---- ring_twin.c ---- */

/* The ring of a CPU; an exchange may come at any moment. */
static TRACE_ALWAYS_INLINE struct trace_ring_cpu *trace_ring_of(struct ring_buffer *buffer,
								uint32_t cpu)
{
	return __atomic_load_n(&buffer->cpu[cpu], __ATOMIC_ACQUIRE);
}

/* Ring `i`: one for each CPU, then those of the twin. Exchanges are forbidden. */
static inline struct trace_ring_cpu *trace_ring_nth(struct ring_buffer *buffer, size_t i)
{
	if (i < buffer->nr_cpus)
		return trace_ring_of(buffer, (uint32_t)i);
	return trace_ring_of(buffer->twin, (uint32_t)i - buffer->nr_cpus);
}

/*
 * Nested. When forbid returns no exchange is on its way, so that a ring that is looked up twice is
 * the same one. Thread.
 */
void trace_ring_forbid_swap(struct ring_buffer *buffer);
void trace_ring_allow_swap(struct ring_buffer *buffer);

#endif
