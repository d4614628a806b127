/*
 * A host with one CPU and threads that are never preempted: it has a list of them, says which one
 * runs, and takes the default of what is on their stacks. Waits for all threads come to an end.
 *
 * links: trace/default/ops.c trace/ops/ftrace_grace.c trace/text/glob.c trace/text/str.c trace/default/later.c
 * links: trace/default/ring.c trace/text/fmt.c trace/text/fmt_spec.c
 * links: trace/default/one_cpu.c trace/default/symbols.c
 */
#define TRACE_ONE_CPU_HAS_THREADS
#include "unit.h"
#include <trace/platform.h>
#include <trace/thread.h>
#include "ops/ftrace_grace.h"

#define NR_THREADS 3

struct host_thread {
	struct trace_thread trace;
	int32_t pid;
	uintptr_t stack_end;
};

static struct host_thread threads[NR_THREADS];
static struct host_thread *running = &threads[0];
static uint32_t nr_done;

static inline struct trace_thread *trace_plat_current(void)
{
	return &running->trace;
}

static inline int32_t trace_plat_current_pid(void)
{
	return running->pid;
}

static inline uintptr_t trace_plat_stack_top(void)
{
	return running->stack_end;
}

void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg)
{
	for (int32_t i = 0; i < NR_THREADS; i++)
		fn(threads[i].pid, &threads[i].trace, arg);
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

/* The functions that <trace/one_cpu.h> leaves to the host. */
static void test_running(void **state)
{
	(void)state;
	running = &threads[1];
	threads[1].pid = 7;
	threads[1].stack_end = 0x7000;
	assert_ptr_equal(trace_plat_current(), &threads[1].trace);
	assert_int_equal(trace_plat_current_pid(), 7);
	assert_int_equal(trace_plat_stack_top(), 0x7000);
	assert_int_equal(trace_plat_cpu_id(), 0);
	running = &threads[0];
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_wait_ends),
					    cmocka_unit_test(test_running) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
