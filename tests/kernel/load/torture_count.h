/*
 * Each run of a target of `torture`, by its own code or that of a live patch: it counts itself, and
 * is an event.
 */
#ifndef TORTURE_COUNT_H
#define TORTURE_COUNT_H

#include <stdatomic.h>
#include <trace/compiler.h>
#include "torture.h"
#include "torture_trace.h"

extern const char *const torture_labels[TORTURE_NR_TARGETS];

static TRACE_ALWAYS_INLINE void torture_count_run(uint32_t target, uint64_t value)
{
	atomic_fetch_add_explicit(&torture_runs[target], 1, memory_order_relaxed);
	trace_torture_call(target, value, torture_labels[target]);
}

#endif
