/*
 * Watches of the profiler: functions that are called at a frequency of their own on each CPU, whatever
 * instances sample, and are bound neither to `cpus` nor to `max_percent`.
 *
 * Context:   func - interrupt, preemption off. All else - thread, config lock held.
 * Locking:   the config lock. Hits walk the watches without a lock.
 * Ownership: a watch belongs to its owner, who may free it after trace_sample_watch_remove() and
 *            tracepoint_synchronize_unregister().
 */
#ifndef TRACE_SAMPLE_WATCH_H
#define TRACE_SAMPLE_WATCH_H

#include <trace/sample.h>

struct trace_sample_watch {
	uint64_t period_ns; /* 1 or more */
	void (*func)(struct trace_sample_watch *watch, const struct trace_sample_hit *hit);
	uint64_t *passed_ns; /* since the last call, of each CPU; for sample_watch.c */
	struct trace_sample_watch *_Atomic next;
};

/* Add a watch. 0; -ENOMEM; -ENODEV: this host has no timers for it. */
int trace_sample_watch_add(struct trace_sample_watch *watch);
/* Remove a watch. Its func may still be running when this returns. */
void trace_sample_watch_remove(struct trace_sample_watch *watch);
/* Free what add() has made, when func runs no more. Does nothing without it. */
void trace_sample_watch_free(struct trace_sample_watch *watch);

/* For sample.c: a CPU was hit. */
void trace_sample_watches_call(const struct trace_sample_hit *hit);
/* For sample_set.c: the shortest period that is wanted, if it is shorter than `period_ns`, or that is 0. */
uint32_t trace_sample_watches_ns(uint32_t period_ns);

#endif
