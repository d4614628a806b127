/*
 * An operation without memory: each of its allocations fails in turn.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include "unit.h"
#include <errno.h>
#include "fake/fake.h"

/*
 * The body runs after each `call` in which an allocation failed, the first, then the second, and so on, with memory for the body.
 * Then comes the `call` that succeeds. `nr`, a variable of the test, counts those that failed. `call` is evaluated to 0 or
 * -ENOMEM; another error fails the test, and so do a thousand failures.
 */
#define for_each_allocation(nr, call)                                                              \
	for ((nr) = 0; fake_alloc_budget = (nr), is_without_memory((nr), (call)); (nr)++)

static inline bool is_without_memory(long nr, int err)
{
	fake_alloc_budget = -1;
	if (!err)
		return false;
	assert_int_equal(err, -ENOMEM);
	assert_in_range(nr, 0, 999);
	return true;
}

#endif
