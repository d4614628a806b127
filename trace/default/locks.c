/*
 * Default: locks that try again and again, with trace_plat_pause() in between, which may let other
 * threads run.
 */
#include <stdatomic.h>
#include <trace/platform.h>

#define YIELD_NS 1000u

struct spin {
	_Atomic bool is_held;
};

_Static_assert(sizeof(struct spin) <= sizeof(struct trace_plat_lock), "lock has room");

TRACE_DEFAULT void trace_plat_lock(struct trace_plat_lock *lock)
{
	struct spin *spin = (struct spin *)(void *)lock;

	while (atomic_exchange_explicit(&spin->is_held, true, memory_order_acquire))
		trace_plat_pause(YIELD_NS, false);
}

TRACE_DEFAULT void trace_plat_unlock(struct trace_plat_lock *lock)
{
	struct spin *spin = (struct spin *)(void *)lock;

	atomic_store_explicit(&spin->is_held, false, memory_order_release);
}
