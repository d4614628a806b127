/*
 * Counts of repetitions that are left, counted down from any context.
 *
 * Context: any, on any number of CPUs at once.
 */
#ifndef TRACE_COUNT_H
#define TRACE_COUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_COUNT_UNLIMITED UINT64_MAX

/* Take one repetition. Returns false when the count is 0. */
static inline bool trace_count_take(_Atomic uint64_t *count)
{
	uint64_t left = atomic_load_explicit(count, memory_order_relaxed);

	while (left && left != TRACE_COUNT_UNLIMITED) {
		if (atomic_compare_exchange_weak(count, &left, left - 1))
			return true;
	}
	return left;
}

/* Give back a repetition that was taken without need. */
static inline void trace_count_give_back(_Atomic uint64_t *count)
{
	if (atomic_load_explicit(count, memory_order_relaxed) != TRACE_COUNT_UNLIMITED)
		atomic_fetch_add(count, 1);
}

#endif
