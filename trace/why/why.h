/*
 * Answering `why`: going through all checks, those of this folder and of features. See
 * instance/why.h.
 *
 * Context: thread.
 * Locking: none is needed, none is taken; the caller has a reference to the instance.
 */
#ifndef TRACE_WHY_WHY_H
#define TRACE_WHY_WHY_H

#include "instance/array.h"
#include "instance/why.h"

/* Write all sentences about `tr` to `seq`. 0 or -ENOMEM. */
int trace_why_print(struct trace_array *tr, struct trace_seq *seq);

/* Load what the config lock guards, without it: tracers are there for good. */
static inline const struct tracer *trace_why_tracer(const struct trace_why *why)
{
	return __atomic_load_n(&why->tr->tracer, __ATOMIC_RELAXED);
}

static inline bool trace_why_has_tracer(const struct trace_why *why)
{
	return trace_why_tracer(why) != &tracer_nop;
}

/* why_switch.c */
void trace_why_dead(struct trace_why *why);
void trace_why_off(struct trace_why *why);
void trace_why_disabled(struct trace_why *why);
void trace_why_nothing_on(struct trace_why *why);
/* why_functions.c */
void trace_why_patching(struct trace_why *why);
void trace_why_filter(struct trace_why *why);
void trace_why_threads(struct trace_why *why);
void trace_why_cpus(struct trace_why *why);
/* why_buffer.c */
void trace_why_overwritten(struct trace_why *why);
void trace_why_dropped(struct trace_why *why);
void trace_why_emptied(struct trace_why *why);
void trace_why_fine(struct trace_why *why);
/* why_read.c */
void trace_why_readers(struct trace_why *why);
void trace_why_options(struct trace_why *why);
void trace_why_late(struct trace_why *why);
void trace_why_clock(struct trace_why *why);

#endif
