/*
 * How many events a filter has turned away, from the moment on when somebody wants to know: most
 * events that do not pass fail the first comparison, which is made where the event is built, and
 * nothing is added to that. trace_event_filter_count() has events come the longer way from then on,
 * where they are counted: a counter for each CPU, on a cache line of its own.
 *
 * Context:   count - probe, preemption off. The rest - thread.
 * Locking:   the config lock. Who has not got it looks with preemption off.
 * Ownership: they belong to the event file, and come and go with its filter.
 */
#ifndef TRACE_EVENT_REJECTS_H
#define TRACE_EVENT_REJECTS_H

#include <stdatomic.h>
#include <trace/platform.h>

#define TRACE_CACHE_LINE 64

struct trace_event_rejects {
	_Atomic uint64_t since_ns; /* trace_plat_clock_ns() when counting began; 0: it has not */
	_Atomic uint64_t before;   /* those that came the longer way before that */
	struct {
		_Alignas(TRACE_CACHE_LINE) uint64_t nr;
	} cpu[];
};

/* NULL when out of memory. */
struct trace_event_rejects *trace_event_rejects_create(void);
/* NULL does nothing. */
void trace_event_rejects_free(struct trace_event_rejects *rejects);
/* Begin to count, at `now_ns`. */
void trace_event_rejects_begin(struct trace_event_rejects *rejects, uint64_t now_ns);
/* How many there were since. */
uint64_t trace_event_rejects_nr(const struct trace_event_rejects *rejects);

static TRACE_ALWAYS_INLINE void trace_event_rejects_count(struct trace_event_rejects *rejects)
{
	trace_plat_local_add(&rejects->cpu[trace_plat_cpu_id()].nr, 1);
}

#endif
