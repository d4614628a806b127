/*
 * Counts of events that a filter has rejected, from the first question about them. Most rejected
 * events fail the first comparison, made where the event is built, which must not get slower. After
 * trace_event_filter_count() events take a longer path, which counts them: a counter for each CPU,
 * on a cache line of its own.
 *
 * Context:   count - probe, preemption off. The rest - thread.
 * Locking:   the config lock, or preemption off for readers.
 * Ownership: the counts belong to the event file, and come and go with its filter.
 */
#ifndef TRACE_EVENT_REJECTS_H
#define TRACE_EVENT_REJECTS_H

#include <stdatomic.h>
#include <trace/platform.h>

#define TRACE_CACHE_LINE 64

struct trace_event_rejects {
	/* Time when counting began, by trace_plat_clock_ns(); 0 before. */
	_Atomic uint64_t since_ns;
	_Atomic uint64_t before; /* events of the longer path before that time */
	struct {
		_Alignas(TRACE_CACHE_LINE) uint64_t nr;
	} cpu[];
};

/* Returns NULL when out of memory. */
struct trace_event_rejects *trace_event_rejects_create(void);
/* Free the counts; NULL is allowed. */
void trace_event_rejects_free(struct trace_event_rejects *rejects);
/* Begin to count, at `now_ns`. */
void trace_event_rejects_begin(struct trace_event_rejects *rejects, uint64_t now_ns);
/* The number of events rejected since counting began. */
uint64_t trace_event_rejects_nr(const struct trace_event_rejects *rejects);

static TRACE_ALWAYS_INLINE void trace_event_rejects_count(struct trace_event_rejects *rejects)
{
	trace_plat_local_add(&rejects->cpu[trace_plat_cpu_id()].nr, 1);
}

#endif
