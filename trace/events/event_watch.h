/*
 * Watching a trace event: a function is called whenever it occurs, be it on or off, recorded or not,
 * and whatever set_event_pid says. Nobody sees that in `trigger` or set_event.
 *
 *   a probe --> trace_event_write() --> record --> trace_event_watches_call() --> watch->func()
 *
 * Context:   func - any, NMI included, preemption off. All else - thread, config lock held.
 * Locking:   the config lock. Probes walk the watches of an event without a lock.
 * Ownership: a watch is its owner's, again after trace_event_watch_remove() and
 *            tracepoint_synchronize_unregister().
 */
#ifndef TRACE_EVENT_WATCH_H
#define TRACE_EVENT_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct trace_event_file;

/* An event has occurred. */
struct trace_event_hit {
	const struct trace_event_file *file;
	const void *entry; /* the event, its head filled in */
	uint32_t bytes;
	uintptr_t caller; /* an address in the probe: its frame is on the stack */
};

struct trace_event_watch {
	void (*func)(struct trace_event_watch *watch, const struct trace_event_hit *hit);
	struct trace_event_watch *_Atomic next;
	bool ignores_head; /* func does not need the head of the event */
};

/*
 * Have watch->func called, behind those that watch already. 0, or an error of
 * trace_event_soft_get().
 */
int trace_event_watch_add(struct trace_event_file *file, struct trace_event_watch *watch);
/* func may still be running when this returns. */
void trace_event_watch_remove(struct trace_event_file *file, struct trace_event_watch *watch);

/* For event_write.c. Fills in the head of the event, if somebody needs it. */
void trace_event_watches_call(const struct trace_event_file *file, void *entry, uint32_t bytes,
			      uintptr_t caller);

#endif
