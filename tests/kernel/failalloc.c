/*
 * `failalloc`: allocations that fail on purpose, to test paths that hardly ever run. alloc_pages()
 * and the slab caches ask for each.
 */
#include <stdatomic.h>
#include <kernel/command.h>
#include <kernel/preempt.h>
#include <kernel/thread.h>
#include "mm/page.h"
#include "test_commands.h"

/* Until the one that fails, of those that threads make; 0 and below: none will. */
static _Atomic int64_t countdown;

/* Allocations of interrupts and of the kernel's service threads do not count. */
bool mm_test_fails_now(void)
{
	if (atomic_load_explicit(&countdown, memory_order_relaxed) <= 0)
		return false;
	if (in_interrupt() || (current_thread()->flags & THREAD_SERVICE))
		return false;
	return atomic_fetch_sub(&countdown, 1) == 1;
}

/* failalloc N arms; failalloc alone tells, and disarms. */
static int failalloc_run(struct command_env *env, int argc, char **argv)
{
	uint64_t nth = 0;
	int64_t left = atomic_load(&countdown);

	if (argc > 2 || (argc == 2 && (!command_parse_u64(argv[1], &nth) || nth == 0)))
		return COMMAND_USAGE;
	atomic_store(&countdown, (int64_t)nth);
	if (nth)
		return 0;
	if (left > 0)
		command_printf(env, "not reached, %lu left\n", (unsigned long)left);
	return left > 0 ? 1 : 0;
}

const struct command failalloc_commands[] = {
	{ .name = "failalloc",
	  .usage = "[N]",
	  .help = "let the Nth allocation from now fail; without N: has it happened?",
	  .run = failalloc_run,
	  .flags = COMMAND_BUILTIN },
	{ 0 },
};
