/*
 * Per-CPU rings of trace events: nested writers, no lock on the write side, exact accounting.
 *
 *   A ring is a row of sub-buffers, which are used in laps. Each use has a sequence, which only
 *   grows; the sub-buffer with sequence s is in slot s % (number of slots).
 *
 *                oldest                          commit      tail
 *                   v                              v           v
 *      --- free --- | finished | finished | committed | reserved | --- free ---
 *                                         '--- the open one -----'
 *
 * A writer reserves an event, fills its payload, commits it. Interrupts nest: the outermost commit
 * publishes the events of all. When the ring is full, overwrite mode takes the oldest sub-buffer
 * and drop mode drops the newest event. The reader copies a sub-buffer out and confirms with one
 * compare-exchange that the writer had not taken it meanwhile; the writer never waits. At any
 * moment, per CPU, with the names of struct ring_stats:
 *   events committed = read + entries (still there) + overrun;
 *   events lost before they were written: dropped + commit_overrun.
 *
 * The layout of a sub-buffer is Linux's, see struct ring_page, so that pages are handed out raw.
 *
 * Context:   reserve, write, commit, discard, record_*, empty, is_filled - any, NMI included.
 *            The rest - thread, and it may block; exceptions are stated.
 * Locking:   writers take none. Readers, statistics, reset, resize take the CPU's sleeping lock.
 * Ownership: a payload is the caller's from reserve to commit or discard. An event that peek or
 *            consume shows is good until the next reader call or exchange on that CPU.
 * Arguments: `cpu` is 0 .. trace_plat_nr_cpus() - 1. For another one, functions answer NULL, false,
 *            0 or -EINVAL, or do nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_RING_BUFFER_H
#define TRACE_RING_BUFFER_H

#include <trace/atomic.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct ring_buffer;
struct ring_iter;

#define RING_BUFFER_ALL_CPUS (-1)
/* Flags of ring_buffer_alloc(). */
#define RING_BUFFER_OVERWRITE 1u /* without it: drop mode */
#define RING_BUFFER_NO_CPUS   2u /* CPUs get their rings by ring_buffer_add_cpu() */

#define RING_SUBBUF_BYTES     4096u /* size of a sub-buffer of order 0, which a new buffer has */
#define RING_SUBBUF_MAX_ORDER 7	    /* a sub-buffer of order n has RING_SUBBUF_BYTES << n bytes */
#define RING_SHORT_PAYLOAD    112u  /* largest payload whose length fits in the event's head */
#define RING_SUBBUF_OVERHEAD  32u   /* all headers together that a sub-buffer's only event needs */
/* The longest payload that fits into every ring, whatever the order of its sub-buffers. */
#define RING_MAX_PAYLOAD (RING_SUBBUF_BYTES - RING_SUBBUF_OVERHEAD)

/* A page of ring_buffer_read_page(), and the head of a sub-buffer. Linux's layout. */
struct ring_page {
	uint64_t time_stamp; /* time before the first event, in units of the buffer's clock */
	uint64_t commit;     /* bytes of data, and the flags below */
	uint8_t data[];
};
#define RING_PAGE_LEN_MASK	0x07ffffffull
#define RING_PAGE_MISSED_STORED (1ull << 30) /* their number, a uint64_t, follows the data */
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
 * A buffer with a ring for every CPU of the platform, or with RING_BUFFER_NO_CPUS for none yet.
 * Each ring has `bytes` bytes, rounded up to whole sub-buffers, at least two of them. NULL when out
 * of memory, or when `bytes` is 0 or above 4095 MiB.
 */
struct ring_buffer *ring_buffer_alloc(size_t bytes, uint32_t flags);
/*
 * Give `cpu` its ring, with the size, mode, clock and switches that were set for it until now.
 * Before that, events on the CPU count as dropped, and there is nothing to read. 0, also when it
 * has its ring already; -ENOMEM, -EINVAL for no such CPU.
 */
int ring_buffer_add_cpu(struct ring_buffer *buffer, uint32_t cpu);
/* Frees the twin, too. No writer, reader or iterator may be left. `buffer` may be NULL. */
void ring_buffer_free(struct ring_buffer *buffer);

/*
 * Make a twin of `buffer`, which has none yet; for snapshots. Twins are two buffers with common
 * sizes, clock, mode (overwrite or drop) and on/off switch: a call that changes one of these for
 * either of them changes it for both. Events, resets and nested disables are each one's own.
 * A new twin is slim: its rings have the smallest size until ring_buffer_fit(). NULL when out of
 * memory, or for a buffer of <trace/ring_kept.h>.
 */
struct ring_buffer *ring_buffer_alloc_twin(struct ring_buffer *buffer);
/*
 * Give a slim buffer the sizes of its twin; it is empty then. 0, also when it is not slim; -ENOMEM,
 * or -EBUSY while an iterator is open on it: nothing has changed then.
 */
int ring_buffer_fit(struct ring_buffer *buffer);
/*
 * Make one of two twins slim: empty, in the smallest size. The other one must not be slim. 0;
 * -EBUSY while an iterator is open on it, or -ENOMEM: nothing has changed then.
 */
int ring_buffer_slim(struct ring_buffer *buffer);
/*
 * Exchange the rings of `cpu` between the twins. Context: on that CPU, interrupts off, not NMI. The
 * caller sees to it that nested disables of the two agree. -EINVAL (no twins, sizes differ),
 * -EBUSY: an event is being written here, or one of the two is being emptied or resized.
 */
int ring_buffer_swap_cpu(struct ring_buffer *a, struct ring_buffer *b, uint32_t cpu);
/*
 * Was the last event of this CPU written into `buffer`, and not into its twin? Of two events at one
 * time either may be the last. Context: preemption off.
 */
bool ring_buffer_has_last(const struct ring_buffer *buffer);

/* ---- Writing. Any context. ---- */

/*
 * For ring_buffer_lock_reserve() only: its two halves, for a short event and for any. `step` is
 * RING_EVENT_ONE + the bytes of the event, with its head of 4 bytes.
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
/* From here readers may see the event. `payload` is the result of reserve. */
void ring_buffer_unlock_commit(struct ring_buffer *buffer, void *payload);
/* Instead of commit: as if it had never been reserved. `len` is that of reserve. */
void ring_buffer_discard_commit(struct ring_buffer *buffer, void *payload, size_t len);
/* Reserve, copy, commit. 0, or -EBUSY where reserve returns NULL. */
int ring_buffer_write(struct ring_buffer *buffer, const void *data, size_t len);

/*
 * ---- Recording, on and off. Any context. ----
 *
 * An event is recorded when the switch is on and the ring is not disabled. None of these waits: an
 * event that is being written on another CPU may still appear after disable or off.
 */

/* Disables are counted: as many enables undo them. All CPUs, or one. */
void ring_buffer_record_disable(struct ring_buffer *buffer);
void ring_buffer_record_enable(struct ring_buffer *buffer);
void ring_buffer_record_disable_cpu(struct ring_buffer *buffer, uint32_t cpu);
void ring_buffer_record_enable_cpu(struct ring_buffer *buffer, uint32_t cpu);
/*
 * The switch is not counted; twins share it. is_set_on tells its state. Off and on return whether
 * they have changed it: of several callers at once, one has.
 */
bool ring_buffer_record_off(struct ring_buffer *buffer);
bool ring_buffer_record_on(struct ring_buffer *buffer);
bool ring_buffer_record_is_set_on(struct ring_buffer *buffer);
/* A word that is not 0 while it is off, for fast checks; valid as long as the twins. */
const TRACE_ATOMIC uint32_t *ring_buffer_off_word(const struct ring_buffer *buffer);
/* Is an event on `cpu` (RING_BUFFER_ALL_CPUS: on every CPU) recorded now, all things considered? */
bool ring_buffer_record_is_on(struct ring_buffer *buffer, int cpu);

/* ---- Setting up. Thread context. `cpu` may be RING_BUFFER_ALL_CPUS where it is an int. ---- */

/*
 * Give the ring of `cpu` a new size of `bytes` bytes, rounded as by ring_buffer_alloc(). The newest
 * events stay. Works while tracing: events that come while the ring is moved count as dropped.
 * 0; -EBUSY while an iterator is open, -ENOMEM, -EINVAL for 0, for more than 4095 MiB, or for no
 * such CPU: nothing has changed then.
 */
int ring_buffer_resize(struct ring_buffer *buffer, size_t bytes, int cpu);
/*
 * Use sub-buffers of RING_SUBBUF_BYTES << order bytes, order 0 .. RING_SUBBUF_MAX_ORDER. Larger
 * ones take larger events. Each ring gets as many as its size in bytes needs, and forgets its
 * events and counters; recording pauses meanwhile. When the buffer has that order already nothing
 * happens. 0; -EBUSY while an iterator is open, -ENOMEM, -EINVAL for another order: nothing has
 * changed then. The caller ensures that no event from peek or consume is still in use.
 */
int ring_buffer_subbuf_order_set(struct ring_buffer *buffer, int order);
int ring_buffer_subbuf_order_get(struct ring_buffer *buffer);
/* Forget all events and counters. */
void ring_buffer_reset(struct ring_buffer *buffer);
void ring_buffer_reset_cpu(struct ring_buffer *buffer, uint32_t cpu);
/* Overwrite (true) or drop mode; takes effect at the next sub-buffer. */
void ring_buffer_change_overwrite(struct ring_buffer *buffer, bool overwrite);
/* Set the clock of all CPUs, and of the twin; empties both. NULL: trace_plat_clock_ns(), inline. */
void ring_buffer_set_clock(struct ring_buffer *buffer, ring_clock_fn clock);
/* The buffer's clock now. Any context. */
uint64_t ring_buffer_time_stamp(struct ring_buffer *buffer);
/* Bytes of a sub-buffer, which is also the size of ring_buffer_read_page()'s page. Any context. */
uint32_t ring_buffer_subbuf_size(struct ring_buffer *buffer);
/* Bytes of the longest payload that an event may have now. Any context. */
size_t ring_buffer_max_event_size(struct ring_buffer *buffer);
/* Bytes of the ring of `cpu`: its sub-buffers, heads included. Any context. */
size_t ring_buffer_size(struct ring_buffer *buffer, uint32_t cpu);

/* ---- Consuming reader. Thread context. ---- */

/* Show the oldest event without consuming it. False when there is none. */
bool ring_buffer_peek(struct ring_buffer *buffer, uint32_t cpu, struct ring_event *out_event);
/* Take the oldest event. False when there is none. */
bool ring_buffer_consume(struct ring_buffer *buffer, uint32_t cpu, struct ring_event *out_event);
/*
 * Take the oldest events, up to the end of their sub-buffer, as a raw page. `out_page` has room for
 * ring_buffer_subbuf_size() bytes; those behind the data are zeroed. With `full`, only a sub-buffer
 * that is complete. 0; -EAGAIN when there is nothing to take; -EINVAL for no such CPU.
 */
int ring_buffer_read_page(struct ring_buffer *buffer, uint32_t cpu, bool full,
			  struct ring_page *out_page);

/* Nothing to read? Any context, lock free. */
bool ring_buffer_empty(struct ring_buffer *buffer);
bool ring_buffer_empty_cpu(struct ring_buffer *buffer, uint32_t cpu);
/*
 * Is there something to read in the ring of `cpu`, and are `percent` (0 .. 100) of its sub-buffers
 * filled? Any context, lock free.
 */
bool ring_buffer_is_filled(struct ring_buffer *buffer, uint32_t cpu, uint32_t percent);

/*
 * ---- Iterator. Thread context, one user at a time. ----
 *
 * It reads without consuming, and sees what was committed when it was started. When the ring is
 * emptied under it (reset, another clock), it starts again with what has come since.
 */

/*
 * NULL when out of memory. Any number may be open; resize says -EBUSY until they are finished. The
 * iterator stays with the ring that it was started on, even if that is exchanged with the twin's.
 */
struct ring_iter *ring_buffer_read_start(struct ring_buffer *buffer, uint32_t cpu);
void ring_buffer_read_finish(struct ring_iter *iter);
/* Back to the oldest event, with a new end. */
void ring_buffer_iter_reset(struct ring_iter *iter);
/* The event the iterator stands on. False at the end. Good until advance, reset or finish. */
bool ring_buffer_iter_peek(struct ring_iter *iter, struct ring_event *out_event);
/* Go to the next event. Nothing happens at the end. */
void ring_buffer_iter_advance(struct ring_iter *iter);
/*
 * Has the iterator started again because the ring was emptied, since it was started, reset or
 * asked this the last time?
 */
bool ring_buffer_iter_was_emptied(struct ring_iter *iter);
/*
 * An iterator for use after a crash: any context, no lock, no memory. There is one for each CPU; do
 * not finish it. Other threads must have stopped reading, resetting and resizing. NULL when the
 * ring has no memory yet, or the machine stopped in the middle of a reset or resize of it.
 */
struct ring_iter *ring_buffer_dump_start(struct ring_buffer *buffer, uint32_t cpu);

/* ---- Accounting. Thread context. ---- */

struct ring_stats {
	uint64_t entries;	 /* still there */
	uint64_t overrun;	 /* overwritten before they were read */
	uint64_t commit_overrun; /* dropped: a nested writer met uncommitted events a lap behind */
	uint64_t dropped;	 /* dropped in drop mode */
	uint64_t read;		 /* consumed */
	/* Of events still there, heads included; exact while the ring is not written to. */
	uint64_t bytes;
	uint64_t oldest_ts; /* time of the oldest event still there, or 0 */
	uint64_t now_ts;    /* the buffer's clock now */
};
/*
 * One consistent view, counted since the last reset: entries + overrun + read is the number of all
 * events that were committed.
 */
void ring_buffer_stats_cpu(struct ring_buffer *buffer, uint32_t cpu, struct ring_stats *out_stats);

/* One field of the statistics, of `cpu` or summed over all CPUs. */
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
