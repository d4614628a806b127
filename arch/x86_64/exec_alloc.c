/* Executable memory in units: see <arch/paging.h>. */
#include <stdatomic.h>

#include <arch/paging.h>
#include <kernel/base.h>

#include "raw_lock.h"

#define NR_UNITS (EXEC_BYTES / EXEC_UNIT)

static struct {
	struct raw_lock lock; /* guards all; taken with interrupts off */
	bool used[NR_UNITS];
	size_t nr_used;
} exec;

static size_t units_of(size_t bytes)
{
	return (bytes + EXEC_UNIT - 1) / EXEC_UNIT;
}

/* Index of the first run of `nr` free units, NR_UNITS when there is none. */
static size_t find_run_locked(size_t nr)
{
	size_t run = 0;

	for (size_t i = 0; i < NR_UNITS; i++) {
		run = exec.used[i] ? 0 : run + 1;
		if (run == nr)
			return i + 1 - nr;
	}
	return NR_UNITS;
}

static void mark_locked(size_t first, size_t nr, bool is_used)
{
	for (size_t i = first; i < first + nr; i++) {
		ASSERT(exec.used[i] != is_used);
		exec.used[i] = is_used;
	}
	exec.nr_used = is_used ? exec.nr_used + nr : exec.nr_used - nr;
}

uintptr_t arch_exec_alloc(size_t bytes)
{
	size_t nr = units_of(bytes), first;
	uint64_t irqs;

	if (nr == 0 || nr > NR_UNITS)
		return 0;
	irqs = raw_lock(&exec.lock);
	first = find_run_locked(nr);
	if (first < NR_UNITS)
		mark_locked(first, nr, true);
	raw_unlock(&exec.lock, irqs);
	return first < NR_UNITS ? EXEC_BASE + first * EXEC_UNIT : 0;
}

void arch_exec_free(uintptr_t addr, size_t bytes)
{
	size_t first = (addr - EXEC_BASE) / EXEC_UNIT, nr = units_of(bytes);
	uint64_t irqs;

	ASSERT(arch_exec_contains(addr) && addr % EXEC_UNIT == 0 && first + nr <= NR_UNITS);
	irqs = raw_lock(&exec.lock);
	mark_locked(first, nr, false);
	raw_unlock(&exec.lock, irqs);
}

size_t arch_exec_used(void)
{
	return exec.nr_used * EXEC_UNIT;
}
