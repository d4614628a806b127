/*
 * See max.h.
 */
#include "irq_lock.h"
#include "max.h"

static _Atomic bool max_lock;

uint64_t trace_max_lock(void)
{
	return trace_irq_lock(&max_lock);
}

void trace_max_unlock(uint64_t flags)
{
	trace_irq_unlock(&max_lock, flags);
}

void trace_max_raise(struct trace_array *tr, uint64_t ns)
{
	uint64_t flags;

	if (ns <= trace_max_of(tr)->latency_ns)
		return;
	flags = trace_max_lock();
	if (ns > trace_max_of(tr)->latency_ns)
		trace_max_of(tr)->latency_ns = ns;
	trace_max_unlock(flags);
}

void trace_max_read(const struct trace_array *tr, struct trace_max *out_max)
{
	uint64_t flags = trace_max_lock();

	*out_max = trace_max_of(tr)->kept;
	trace_max_unlock(flags);
}
