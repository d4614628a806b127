/* Allocations that fail on purpose, see <kernel/mm.h>: to test what nobody sees otherwise. */
#include <stdatomic.h>
#include <kernel/mm.h>
#include <kernel/preempt.h>
#include <kernel/thread.h>
#include "page.h"

static _Atomic int64_t countdown; /* 0 and below: off */

void mm_fail_nth(uint64_t nth)
{
	atomic_store(&countdown, (int64_t)nth);
}

uint64_t mm_fail_left(void)
{
	int64_t left = atomic_load(&countdown);

	return left > 0 ? (uint64_t)left : 0;
}

bool mm_fails_now(void)
{
	if (atomic_load_explicit(&countdown, memory_order_relaxed) <= 0)
		return false;
	if (in_interrupt() || (current_thread()->flags & THREAD_SERVICE))
		return false;
	return atomic_fetch_sub(&countdown, 1) == 1;
}
