/*
 * Scratch pads: memory for building an event that is too long for the stack of its probe, and that
 * a filter may still reject. Each CPU has one, with room for EVENT_SCRATCH_DEPTH events one inside
 * another: an interrupt, an NMI, an event written by a trigger, each takes the next place. A
 * further one is lost and counted: as dropped in the rings that would have recorded it
 * (trace_ring_drop()), and in instances whose triggers would have seen it
 * (trace_array_events.nr_unseen). The file `why` reports it.
 *
 * Context:   get, put - any, NMI included; preemption is off from get to put. make - config lock
 *            held.
 * Ownership: the pads are made with the first trace_event_file, and stay.
 */
#ifndef TRACE_EVENT_SCRATCH_H
#define TRACE_EVENT_SCRATCH_H

#include <stdbool.h>

#define EVENT_SCRATCH_DEPTH 4u

/* Make the pads. Returns false when out of memory. */
bool trace_event_scratch_make(void);
/*
 * Get room for RING_MAX_PAYLOAD bytes, to be given back in the opposite order; or NULL when none is
 * left.
 */
void *trace_event_scratch_get(void);
void trace_event_scratch_put(void);

#endif
