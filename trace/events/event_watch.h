/*
 * Watches of a trace event: functions called whenever it occurs, whether it is on or off, recorded
 * or not, and independent of set_event_pid. They show neither in `trigger` nor in set_event.
 *
 *   a probe --> trace_event_write() --> record --> trace_event_watches_call() --> watch->func()
 *
 * Context:   func - any, NMI included, preemption off. All else - thread, config lock held.
 * Locking:   the config lock. Probes walk the watches of an event without a lock.
 * Ownership: a watch belongs to its owner, who may free it after trace_event_watch_remove() and
 *            tracepoint_synchronize_unregister().
 */
#ifndef TRACE_EVENT_WATCH_H
#define TRACE_EVENT_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct trace_event_file;

/* One occurrence of an event. */
struct trace_event_hit {
	const struct trace_event_file *file;
	const void *entry; /* the event, with its head filled in */
	uint32_t bytes;
	uintptr_t caller; /* an address in the probe, whose frame is on the stack */
};

struct trace_event_watch {
	void (*func)(struct trace_event_watch *watch, const struct trace_event_hit *hit);
	struct trace_event_watch *_Atomic next;
	bool ignores_head; /* func does without the head of the event */
};

/* Add a watch behind the existing ones. Returns 0, or an error of trace_event_soft_get(). */
int trace_event_watch_add(struct trace_event_file *file, struct trace_event_watch *watch);
/* Remove a watch. Its func may still be running when this returns. */
void trace_event_watch_remove(struct trace_event_file *file, struct trace_event_watch *watch);

/* Call all watches, for event_write.c. Fills in the head of the event, if a watch needs it. */
void trace_event_watches_call(const struct trace_event_file *file, void *entry, uint32_t bytes,
			      uintptr_t caller);

#endif
