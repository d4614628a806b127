/*
 * See max.h.
 */
#include <stdatomic.h>
#include "max.h"

static _Atomic bool max_lock;

uint64_t trace_max_lock(void)
{
	uint64_t flags = trace_plat_irq_save();

	while (atomic_exchange_explicit(&max_lock, true, memory_order_acquire))
		;
	return flags;
}

void trace_max_unlock(uint64_t flags)
{
	atomic_store_explicit(&max_lock, false, memory_order_release);
	trace_plat_irq_restore(flags);
}

void trace_max_read(const struct trace_array *tr, struct trace_max *out_max)
{
	uint64_t flags = trace_max_lock();

	*out_max = trace_max_of(tr)->kept;
	trace_max_unlock(flags);
}
