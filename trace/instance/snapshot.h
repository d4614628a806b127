/*
 * The snapshot of an instance: a second buffer, and an exchange of the two. What was recorded goes
 * there in a moment, while recording goes on in the other one.
 *
 *   alloc --> take, take, ... --> free        take may come from anywhere but NMI
 *
 * As in Linux an exchange empties nothing: recording goes on behind what the other buffer held.
 *
 * Context:   thread, config lock held, where nothing else is said.
 * Locking:   tr->is_swapping, which is waited for with interrupts off.
 * Ownership: both buffers live as long as the instance; without a snapshot one of them is slim.
 */
#ifndef TRACE_SNAPSHOT_H
#define TRACE_SNAPSHOT_H

#include "array.h"

/* Make room for a snapshot; fine when there is. -ENOMEM. */
int trace_snapshot_alloc(struct trace_array *tr);
/*
 * Give the room back; fine when there is none. -EBUSY while somebody reads the snapshot, -ENOMEM.
 */
int trace_snapshot_free(struct trace_array *tr);
/* Forget what is in the snapshot of `cpu`, or RING_BUFFER_ALL_CPUS. */
void trace_snapshot_clear(struct trace_array *tr, int cpu);

/*
 * Exchange the buffers, or with `cpu`, which then is the CPU that runs this, its rings alone.
 * -EINVAL without room for a snapshot, -EBUSY in an NMI, while exchanges are paused (`trace` is
 * read with pause-on-trace, one of the two is being emptied or freed), and for a single CPU while
 * an event is being written there or sizes change. Any context.
 */
int trace_snapshot_take(struct trace_array *tr, int cpu);
/* The same from a thread: any CPU. -ENODEV when it is offline. */
int trace_snapshot_take_on(struct trace_array *tr, uint32_t cpu);

/* No exchange happens until resume: `buffer` stays `buffer`. Nested. Thread. */
void trace_snapshot_pause(struct trace_array *tr);
void trace_snapshot_resume(struct trace_array *tr);

/*
 * What tracing_snapshot() does, for any instance: complains in the trace and switches recording off
 * when there is no room. Any context.
 */
void tracing_snapshot_instance(struct trace_array *tr);

#endif
