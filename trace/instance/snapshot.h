/*
 * The snapshot of an instance: a second buffer, which is exchanged with the one that is recorded
 * into. So all that was recorded becomes the snapshot at once, while recording goes on.
 *
 *   alloc --> take, take, ... --> free        take may come from anywhere but NMI
 *
 * As on Linux an exchange empties nothing: new events come behind those that the other buffer held.
 *
 * A build may leave the feature out. The inline functions here work without it, on a slot that
 * stays zeroed: there is no second buffer then, and no exchange.
 *
 * Context:   thread, config lock held, where nothing else is said.
 * Locking:   is_swapping, a spinlock with interrupts off (irq_lock.h), for exchanges.
 * Ownership: both buffers live as long as the instance. While there is no room for a snapshot, one
 *            of them is slim: see ring_buffer_slim().
 */
#ifndef TRACE_SNAPSHOT_H
#define TRACE_SNAPSHOT_H

#include "array.h"
#include "irq_lock.h"

/* The snapshot of an instance. */
struct trace_snapshot {
	/* Beside tr->buffer; NULL before the first snapshot. */
	struct ring_buffer *_Atomic buffer;
	_Atomic uint64_t start_ts;   /* as tr->start_ts; it goes with the buffer */
	_Atomic uint32_t nr_stopped; /* trace_snapshot_pause(): no exchange */
	_Atomic bool has_room;	     /* `buffer` has the size of the other and may be exchanged */
	_Atomic bool is_swapping;    /* interrupts are off while it is held */
	_Atomic bool is_claimed;     /* trace_snapshot_claim() */
	/* When one was taken last, by trace_plat_clock_ns(); 0: never. */
	_Atomic uint64_t taken_ns;
	_Atomic uint32_t nr_taken; /* exchanges of all CPUs; published behind each */
};
TRACE_SLOT(trace_snapshot_of, struct trace_snapshot, snapshot)

/* ---- For all, whether there are snapshots or not ---- */

/* Any context but NMI. Returns the flags for unlock. */
static inline uint64_t trace_snapshot_lock(struct trace_snapshot *snapshot)
{
	return trace_irq_lock(&snapshot->is_swapping);
}

static inline void trace_snapshot_unlock(struct trace_snapshot *snapshot, uint64_t flags)
{
	trace_irq_unlock(&snapshot->is_swapping, flags);
}

/* Keep exchanges away until resume, so that tr->buffer stays. May be nested. Thread. */
static inline void trace_snapshot_pause(struct trace_array *tr)
{
	struct trace_snapshot *snapshot = trace_snapshot_of(tr);
	uint64_t flags = trace_snapshot_lock(snapshot);

	atomic_fetch_add(&snapshot->nr_stopped, 1);
	trace_snapshot_unlock(snapshot, flags);
}

static inline void trace_snapshot_resume(struct trace_array *tr)
{
	atomic_fetch_sub(&trace_snapshot_of(tr)->nr_stopped, 1);
}

#define TRACE_MAX_BUFFERS 2
/*
 * out_buffers[0] is the buffer that is recorded into, out_buffers[1] the other one, NULL for none.
 * An exchange may come right afterwards, unless exchanges are paused. Any context.
 */
static inline void trace_snapshot_buffers(struct trace_array *tr, struct ring_buffer **out_buffers)
{
	do {
		out_buffers[0] = tr->buffer;
		out_buffers[1] = trace_snapshot_of(tr)->buffer;
	} while (out_buffers[0] == out_buffers[1]); /* in the middle of an exchange */
}

/* ---- snapshot.c ---- */

/* Make room for a snapshot. 0, also when there is room already; -ENOMEM. */
int trace_snapshot_alloc(struct trace_array *tr);
/*
 * Give the room back. Returns 0, also when there is none; -EBUSY while the snapshot is being read;
 * -ENOMEM.
 */
int trace_snapshot_free(struct trace_array *tr);
/*
 * The tracer `old` has ended and `next` is about to begin: make room for a snapshot if `next` uses
 * one; otherwise, if `old` used one, give the room back. 0, or -ENOMEM: `next` cannot begin.
 */
int trace_snapshot_follow(struct trace_array *tr, const struct tracer *old,
			  const struct tracer *next);

/*
 * Exchange the buffers, or with `cpu`, which then is the CPU that runs this, its rings alone.
 * -EINVAL without room for a snapshot, -EBUSY in an NMI, while exchanges are paused (`trace` is
 * read with pause-on-trace, one of the two is being emptied or freed), and for a single CPU while
 * an event is being written there or sizes change. Any context.
 */
int trace_snapshot_take(struct trace_array *tr, int cpu);
/* The same from a thread: any CPU. -ENODEV when it is offline. */
int trace_snapshot_take_on(struct trace_array *tr, uint32_t cpu);

/*
 * Claim snapshots for the caller: until release only trace_snapshot_take_if() takes them, so that
 * the caller's record of the last one stays true. Makes room. Returns 0; -EBUSY when they are
 * claimed already, or a tracer uses them; -ENOMEM.
 */
int trace_snapshot_claim(struct trace_array *tr);
void trace_snapshot_release(struct trace_array *tr);

/* A wish for a snapshot that ends, on this CPU, with the event that was just recorded there. */
struct trace_snapshot_wish {
	/* Is it wanted still? Called with the lock of exchanges held, interrupts off. */
	bool (*is_wanted)(const struct trace_snapshot_wish *wish);
	void *arg;
	uint32_t nr_taken; /* trace_snapshot_nr_taken() before the event was recorded */
};

static inline uint32_t trace_snapshot_nr_taken(const struct trace_array *tr)
{
	return trace_atomic_load_acquire(&trace_snapshot_of(tr)->nr_taken);
}

/*
 * Take a snapshot if it is wanted, for the caller that has claimed them. If another CPU has taken
 * one since, which has the event already, it remains the last. In an NMI, and when there is no
 * room, as tracing_snapshot_instance(). Any context, preemption off.
 */
void trace_snapshot_take_if(struct trace_array *tr, const struct trace_snapshot_wish *wish);

/*
 * Take a snapshot as tracing_snapshot() does, for any instance: without room, write so into the
 * trace and switch recording off. Any context.
 */
void tracing_snapshot_instance(struct trace_array *tr);

#endif
