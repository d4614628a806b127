/* Executable memory in units: see <trace/arch_exec.h>. */
#include <trace/arch_exec.h>

#include "check.h"

#define MAX_UNITS (TRACE_EXEC_MAX / TRACE_EXEC_UNIT)

static struct {
	bool used[MAX_UNITS];
	size_t nr_used;
} exec; /* text lock */

static size_t units_of(size_t bytes)
{
	return (bytes + TRACE_EXEC_UNIT - 1) / TRACE_EXEC_UNIT;
}

/* Index of the first run of `nr` free units, or how many there are. */
static size_t find_run(size_t nr)
{
	size_t run = 0, nr_units = trace_exec_units();

	for (size_t i = 0; i < nr_units; i++) {
		run = exec.used[i] ? 0 : run + 1;
		if (run == nr)
			return i + 1 - nr;
	}
	return nr_units;
}

static void exec_alloc_mark(size_t first, size_t nr, bool is_used)
{
	for (size_t i = first; i < first + nr; i++) {
		CHECK(exec.used[i] != is_used);
		exec.used[i] = is_used;
	}
	exec.nr_used = is_used ? exec.nr_used + nr : exec.nr_used - nr;
}

uintptr_t trace_exec_alloc(size_t bytes)
{
	size_t nr = units_of(bytes), nr_units = trace_exec_units(), first;

	if (nr == 0 || nr > nr_units)
		return 0;
	first = find_run(nr);
	if (first == nr_units)
		return 0;
	exec_alloc_mark(first, nr, true);
	return trace_arch_exec_start() + first * TRACE_EXEC_UNIT;
}

void trace_exec_free(uintptr_t addr, size_t bytes)
{
	size_t first = (addr - trace_arch_exec_start()) / TRACE_EXEC_UNIT, nr = units_of(bytes);

	CHECK(trace_exec_contains(addr) && addr % TRACE_EXEC_UNIT == 0);
	CHECK(first + nr <= trace_exec_units());
	exec_alloc_mark(first, nr, false);
}

size_t trace_exec_used(void)
{
	return exec.nr_used * TRACE_EXEC_UNIT;
}
