/*
 * The default of what is on the stacks of threads, on a host that has threads which are never
 * preempted, and says so by nothing but its list of them: waits for all threads come to an end.
 *
 * links: trace/default/threads.c trace/ops/ftrace_grace.c trace/text/str.c trace/default/later.c
 * links: trace/default/locks.c trace/default/pause.c trace/default/clocks.c
 * links: trace/default/one_cpu.c trace/default/symbols.c trace/default/names.c
 */
#include "unit.h"
#include <trace/platform.h>
#include <trace/thread.h>
#include "ops/ftrace_grace.h"

#define NR_THREADS 3

static struct trace_thread threads[NR_THREADS];
static uint32_t nr_done;

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	for (int32_t i = 0; i < NR_THREADS; i++)
		fn(i, &threads[i], arg);
}

static void count(struct ftrace_wait *wait)
{
	(void)wait;
	nr_done++;
}

static void test_wait_ends(void **state)
{
	struct ftrace_wait wait = { .code = { { 0x1000, 0x1fff } } };

	(void)state;
	ftrace_wait_begin(&wait, count);
	ftrace_grace_look();
	assert_int_equal(nr_done, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_wait_ends) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
