/*
 * Scratch pads: where an event that is too long for the stack of its probe is built, if it may not be
 * recorded after all. Each CPU has one, with room for EVENT_SCRATCH_DEPTH events one inside another:
 * an interrupt, an NMI, or what a trigger writes, each takes the next place. One more is lost, and
 * counted: as dropped in the rings that it would have been recorded in (trace_ring_drop()), and where
 * triggers would have seen it (trace_array_events.nr_unseen). The file `why` says so.
 *
 * Context:   get, put - any, NMI included; preemption is off from get to put. make - config lock held.
 * Ownership: the pads are made with the first trace_event_file, and stay.
 */
#ifndef TRACE_EVENT_SCRATCH_H
#define TRACE_EVENT_SCRATCH_H

#include <stdbool.h>

#define EVENT_SCRATCH_DEPTH 4u

/* false: out of memory. */
bool trace_event_scratch_make(void);
/* Room for RING_MAX_PAYLOAD bytes, given back in the opposite order; or NULL: none is left. */
void *trace_event_scratch_get(void);
void trace_event_scratch_put(void);

#endif
