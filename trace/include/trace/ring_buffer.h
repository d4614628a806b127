/*
 * Per-CPU rings of trace events: nested writers, no lock on the write side, exact accounting.
 *
 *   sub-buffers, numbered by an ever growing sequence; slot = sequence % nr
 *
 *        oldest readable         commit              tail
 *   -- free --| finished | finished | open (committed|reserved) | -- free --
 *
 * A writer reserves an event, fills its payload, commits it. Interrupts nest: the outermost commit
 * publishes all. Overwrite mode takes the oldest sub-buffer when the ring is full, drop mode drops
 * the newest event. The reader copies a sub-buffer out and confirms with one compare-exchange that
 * the writer had not taken it meanwhile; the writer never waits. At any moment, per CPU:
 *   committed + dropped = read + still there (entries) + overrun + dropped.
 *
 * The layout of a sub-buffer is Linux's, see struct ring_page, so that pages are handed out raw.
 *
 * Context:   reserve, write, commit, discard, record_*, empty, is_filled - any, NMI included.
 *            The rest - thread, and it may block; exceptions are stated.
 * Locking:   writers take none. Readers, statistics, reset, resize take the CPU's sleeping lock.
 * Ownership: a payload is the caller's from reserve to commit or discard. An event that peek or
 *            consume shows is good until the next reader call or exchange on that CPU.
 */
#ifndef TRACE_RING_BUFFER_H
#define TRACE_RING_BUFFER_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct ring_buffer;
struct ring_iter;

#define RING_BUFFER_ALL_CPUS (-1)
/* Flags of ring_buffer_alloc() */
#define RING_BUFFER_OVERWRITE 1u /* without it: drop mode */
#define RING_BUFFER_NO_CPUS   2u /* CPUs get their rings by ring_buffer_add_cpu() */

#define RING_SUBBUF_BYTES     4096u /* size of a sub-buffer of order 0: to begin with */
#define RING_SUBBUF_MAX_ORDER 7	    /* each order doubles it */
#define RING_SHORT_PAYLOAD    112u  /* largest payload whose length fits in the event's head */
#define RING_SUBBUF_OVERHEAD  32u /* every header that an event alone in its sub-buffer may need */
#define RING_MAX_PAYLOAD      (RING_SUBBUF_BYTES - RING_SUBBUF_OVERHEAD) /* fits into any ring */

/* What ring_buffer_read_page() hands out, and the head of a sub-buffer. Linux's layout. */
struct ring_page {
	uint64_t time_stamp;
	uint64_t commit; /* bytes of data, and the flags below */
	uint8_t data[];
};
#define RING_PAGE_LEN_MASK	0x07ffffffull
#define RING_PAGE_MISSED_STORED (1ull << 30) /* u64 count of missed events after the data */
#define RING_PAGE_MISSED_EVENTS (1ull << 31) /* events were lost before this page */

/* A decoded event. */
struct ring_event {
	uint64_t ts;   /* in units of the buffer's clock */
	uint64_t lost; /* events lost just before this one */
	const void *data;
	uint32_t len; /* payload rounded up to 4 */
	uint32_t cpu;
};

/* Returns the time in the unit of the clock; probe context, preemption off. */
typedef uint64_t (*ring_clock_fn)(void);

/* ---- Life. Thread context. ---- */

/*
 * `bytes` per CPU are rounded up to sub-buffers, two at least; every CPU of the platform gets a
 * ring, or with RING_BUFFER_NO_CPUS none. NULL when out of memory.
 */
struct ring_buffer *ring_buffer_alloc(size_t bytes, uint32_t flags);
/*
 * Give a CPU its ring, of the size and mode that all have or that it was asked for; fine when it
 * has one. -ENOMEM, -EINVAL. Without one, what is written on the CPU counts as dropped, nothing is
 * there to read, and all that is set is for the ring that comes.
 */
int ring_buffer_add_cpu(struct ring_buffer *buffer, uint32_t cpu);
/* With its twin. No writer, reader or iterator may be left. NULL is fine. */
void ring_buffer_free(struct ring_buffer *buffer);

/*
 * Twins, for snapshots: two buffers that have the sizes, the clock, the mode and the on/off switch
 * in common. What changes one of these, of either, changes both; events, resets and nested disables
 * are each one's own. One twin for each buffer. NULL when out of memory.
 * A new twin is slim, which is the exception: it has the least memory, until it is fitted.
 */
struct ring_buffer *ring_buffer_alloc_twin(struct ring_buffer *buffer);
/* Give a slim buffer the sizes that its twin has. -ENOMEM. Fine when it has them. */
int ring_buffer_fit(struct ring_buffer *buffer);
/*
 * Make it slim and empty; its twin is not. -EBUSY while an iterator is open on it, -ENOMEM:
 * it is as it was then.
 */
int ring_buffer_slim(struct ring_buffer *buffer);
/*
 * Exchange the rings of `cpu` between the twins. Context: on that CPU, interrupts off, not NMI. The
 * caller sees to it that nested disables of the two agree. -EINVAL (no twins, sizes differ),
 * -EBUSY: an event is being written here, or one of the two is being emptied or resized.
 */
int ring_buffer_swap_cpu(struct ring_buffer *a, struct ring_buffer *b, uint32_t cpu);

/* ---- Writing. Any context. ---- */

/*
 * Out of line halves of the next one. `step`: RING_EVENT_ONE + bytes of a short event, its head of
 * 4 included.
 */
#define RING_EVENT_ONE (1ull << 32)
void *trace_ring_lock_short(struct ring_buffer *buffer, uint64_t step);
void *trace_ring_lock_any(struct ring_buffer *buffer, size_t len);

/*
 * Claim room for `len` bytes of payload (4-byte aligned) on this CPU. Preemption stays off until
 * commit or discard. NULL, with preemption as it was, when recording is off, the event is larger
 * than ring_buffer_max_event_size(), or it was dropped (and counted).
 */
static inline void *ring_buffer_lock_reserve(struct ring_buffer *buffer, size_t len)
{
	if (len - 1 < RING_SHORT_PAYLOAD)
		return trace_ring_lock_short(buffer, RING_EVENT_ONE + ((len + 4 + 3) & ~(size_t)3));
	return trace_ring_lock_any(buffer, len);
}
/* From here readers may see the event. `payload` is what reserve returned. */
void ring_buffer_unlock_commit(struct ring_buffer *buffer, void *payload);
/* Instead of commit: as if it had never been reserved. `len` is what reserve was given. */
void ring_buffer_discard_commit(struct ring_buffer *buffer, void *payload, size_t len);
/* Reserve, copy, commit. 0, or -EBUSY where reserve returns NULL. */
int ring_buffer_write(struct ring_buffer *buffer, const void *data, size_t len);

/* ---- Recording switch. Disables nest; on/off is one more switch of its own. Any context. ---- */

void ring_buffer_record_disable(struct ring_buffer *buffer);
void ring_buffer_record_enable(struct ring_buffer *buffer);
void ring_buffer_record_disable_cpu(struct ring_buffer *buffer, uint32_t cpu);
void ring_buffer_record_enable_cpu(struct ring_buffer *buffer, uint32_t cpu);
void ring_buffer_record_off(struct ring_buffer *buffer);
void ring_buffer_record_on(struct ring_buffer *buffer);
bool ring_buffer_record_is_set_on(struct ring_buffer *buffer);
/* Is an event on `cpu` (RING_BUFFER_ALL_CPUS: on every CPU) recorded now? */
bool ring_buffer_record_is_on(struct ring_buffer *buffer, int cpu);

/* ---- Setting up. Thread context. `cpu` may be RING_BUFFER_ALL_CPUS where it is an int. ---- */

/*
 * New size; the newest events stay. Works while tracing: the CPU's recording pauses meanwhile.
 * -EBUSY while an iterator is open, -ENOMEM, -EINVAL for 0 or too large; nothing changed then.
 */
int ring_buffer_resize(struct ring_buffer *buffer, size_t bytes, int cpu);
/*
 * Sub-buffers of RING_SUBBUF_BYTES << order: larger ones take larger events. All CPUs get as many
 * as their sizes need, and forget all events and counters; recording pauses meanwhile. Nothing
 * happens to a buffer that has the order. -EBUSY while an iterator is open, -ENOMEM, -EINVAL for no
 * order; nothing changed then. The caller sees to it that nobody uses what peek or consume has
 * shown.
 */
int ring_buffer_subbuf_order_set(struct ring_buffer *buffer, int order);
int ring_buffer_subbuf_order_get(struct ring_buffer *buffer);
/* Forget all events and counters. */
void ring_buffer_reset(struct ring_buffer *buffer);
void ring_buffer_reset_cpu(struct ring_buffer *buffer, uint32_t cpu);
/* Overwrite (true) or drop mode; takes effect at the next sub-buffer. */
void ring_buffer_change_overwrite(struct ring_buffer *buffer, bool overwrite);
/* NULL is trace_plat_clock_ns(), inline and fast. Resets the buffer. */
void ring_buffer_set_clock(struct ring_buffer *buffer, ring_clock_fn clock);
/* The buffer's clock now. Any context. */
uint64_t ring_buffer_time_stamp(struct ring_buffer *buffer);
/* Bytes of a sub-buffer (the page of ring_buffer_read_page()), of a CPU's ring. Any context. */
uint32_t ring_buffer_subbuf_size(struct ring_buffer *buffer);
/* The longest payload that an event may have now. Any context. */
size_t ring_buffer_max_event_size(struct ring_buffer *buffer);
size_t ring_buffer_size(struct ring_buffer *buffer, uint32_t cpu);

/* ---- Consuming reader. Thread context. ---- */

/* Show the oldest event without consuming it. False when there is none. */
bool ring_buffer_peek(struct ring_buffer *buffer, uint32_t cpu, struct ring_event *out_event);
/* Take the oldest event. False when there is none. */
bool ring_buffer_consume(struct ring_buffer *buffer, uint32_t cpu, struct ring_event *out_event);
/*
 * Take up to a sub-buffer of events as a raw page (subbuf_size bytes, rest zeroed). With `full`
 * only a finished sub-buffer. -EAGAIN when there is nothing to take.
 */
int ring_buffer_read_page(struct ring_buffer *buffer, uint32_t cpu, bool full,
			  struct ring_page *out_page);

/* Nothing to read? Any context, lock free. */
bool ring_buffer_empty(struct ring_buffer *buffer);
bool ring_buffer_empty_cpu(struct ring_buffer *buffer, uint32_t cpu);
/* Is the ring of `cpu` filled to `percent` (0: is anything there)? Any context, lock free. */
bool ring_buffer_is_filled(struct ring_buffer *buffer, uint32_t cpu, uint32_t percent);

/*
 * ---- Iterator: reads without consuming; sees what was committed when it was started. When the
 * ring is emptied under it (reset, another clock), it starts again with what has come since. ----
 */

/* NULL when out of memory. Any number may be open; resize says -EBUSY until they are finished. */
struct ring_iter *ring_buffer_read_start(struct ring_buffer *buffer, uint32_t cpu);
void ring_buffer_read_finish(struct ring_iter *iter);
/* Back to the oldest event, with a new end. */
void ring_buffer_iter_reset(struct ring_iter *iter);
/* The event the iterator stands on. False at the end. Good until advance, reset or finish. */
bool ring_buffer_iter_peek(struct ring_iter *iter, struct ring_event *out_event);
void ring_buffer_iter_advance(struct ring_iter *iter);
/* Has it, since it was started or this was asked last, been started again by an emptied ring? */
bool ring_buffer_iter_was_emptied(struct ring_iter *iter);
/*
 * The same for panic and NMI: takes no lock, no memory, works in any context. One user per CPU; do
 * not finish it. Everything else of the machine is assumed to have stopped reading. NULL when it
 * stopped in the middle of a resize.
 */
struct ring_iter *ring_buffer_dump_start(struct ring_buffer *buffer, uint32_t cpu);

/* ---- Accounting. Thread context. ---- */

struct ring_stats {
	uint64_t entries;	 /* still there */
	uint64_t overrun;	 /* overwritten before they were read */
	uint64_t commit_overrun; /* dropped: a nested writer met uncommitted events a lap behind */
	uint64_t dropped;	 /* dropped in drop mode */
	uint64_t read;		 /* consumed */
	uint64_t bytes;		 /* of data still there */
	uint64_t oldest_ts;	 /* time of the oldest event still there, or 0 */
	uint64_t now_ts;
};
/* One consistent view: entries + overrun + read = all that was ever committed. */
void ring_buffer_stats_cpu(struct ring_buffer *buffer, uint32_t cpu, struct ring_stats *out_stats);

uint64_t ring_buffer_entries(struct ring_buffer *buffer);
uint64_t ring_buffer_overruns(struct ring_buffer *buffer);
uint64_t ring_buffer_entries_cpu(struct ring_buffer *buffer, uint32_t cpu);
uint64_t ring_buffer_overrun_cpu(struct ring_buffer *buffer, uint32_t cpu);
uint64_t ring_buffer_commit_overrun_cpu(struct ring_buffer *buffer, uint32_t cpu);
uint64_t ring_buffer_dropped_events_cpu(struct ring_buffer *buffer, uint32_t cpu);
uint64_t ring_buffer_read_events_cpu(struct ring_buffer *buffer, uint32_t cpu);
uint64_t ring_buffer_bytes_cpu(struct ring_buffer *buffer, uint32_t cpu);
uint64_t ring_buffer_oldest_event_ts(struct ring_buffer *buffer, uint32_t cpu);

TRACE_END_DECLS

#endif
