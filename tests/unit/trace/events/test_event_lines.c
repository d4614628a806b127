/*
 * Each event that trace/ defines on tracepoints of the host: the line in `trace`, and that
 * libtraceevent makes the same of the raw event by what `format` says. Built where libtraceevent is
 * installed.
 */
#include "unit.h"
#include "tracefs.h"
#include "event_parse.h"
#include <trace/host_tracepoints.h>
#include <trace/thread.h>

static struct trace_thread threads[2];
static const char comms[2][16] = { "shell", "fifteen letters" };
static const struct trace_sched_thread shell = {
	.thread = &threads[0], .comm = comms[0], .pid = 100001, .prio = 120, .state = 'S', .cpu = 1
};
static const struct trace_sched_thread urgent = {
	.thread = &threads[1], .comm = comms[1], .pid = 7, .prio = 49, .state = 'R', .cpu = 3
};

static void sched(void **state)
{
	(void)state;
	event_on("sched/sched_switch");
	trace_sched_switch(&shell, &urgent);
	event_is("sched_switch: prev_comm=shell prev_pid=100001 prev_prio=120 prev_state=S ==> "
		 "next_comm=fifteen letters next_pid=7 next_prio=49");
	event_on("sched/sched_waking");
	trace_sched_waking(&shell, &urgent);
	event_is("sched_waking: comm=fifteen letters pid=7 prio=49 target_cpu=003");
	event_on("sched/sched_wakeup");
	trace_sched_wakeup(&shell, &urgent);
	event_is("sched_wakeup: comm=fifteen letters pid=7 prio=49 target_cpu=003");
	event_on("sched/sched_wakeup_new");
	trace_sched_wakeup_new(&shell, &urgent);
	event_is("sched_wakeup_new: comm=fifteen letters pid=7 prio=49 target_cpu=003");
	event_on("sched/sched_migrate_task");
	trace_sched_migrate_task(&shell, 2);
	event_is("sched_migrate_task: comm=shell pid=100001 prio=120 orig_cpu=2 dest_cpu=1");
}

static void threads_live(void **state)
{
	(void)state;
	event_on("sched/sched_process_fork");
	trace_sched_process_fork(&shell, &urgent);
	event_is(
		"sched_process_fork: comm=shell pid=100001 child_comm=fifteen letters child_pid=7");
	event_on("sched/sched_process_exit");
	trace_sched_process_exit(&shell);
	event_is("sched_process_exit: comm=shell pid=100001 prio=120");
	event_on("sched/sched_process_free");
	trace_sched_process_free(&shell);
	event_is("sched_process_free: comm=shell pid=100001 prio=120");
	event_on("sched/sched_process_wait");
	trace_sched_process_wait(&shell, 7);
	event_is("sched_process_wait: comm=shell pid=7 prio=120");
}

static void times(void **state)
{
	(void)state;
	event_on("sched/sched_stat_runtime");
	trace_sched_stat_runtime(&shell, 123456789012345, 18446744073709551615ull);
	event_is("sched_stat_runtime: comm=shell pid=100001 runtime=123456789012345 [ns] "
		 "vruntime=18446744073709551615 [ns]");
	event_on("sched/sched_stat_wait");
	trace_sched_stat_wait(&shell, 0);
	event_is("sched_stat_wait: comm=shell pid=100001 delay=0 [ns]");
	event_on("sched/sched_stat_sleep");
	trace_sched_stat_sleep(&shell, 5000000000);
	event_is("sched_stat_sleep: comm=shell pid=100001 delay=5000000000 [ns]");
	event_on("sched/sched_stat_blocked");
	trace_sched_stat_blocked(&shell, 17);
	event_is("sched_stat_blocked: comm=shell pid=100001 delay=17 [ns]");
}

static void power(void **state)
{
	(void)state;
	event_on("power/cpu_idle");
	trace_cpu_idle(1, 3, 0);
	event_is("cpu_idle: state=1 cpu_id=3");
	event_on("power/cpu_idle");
	trace_cpu_idle(TRACE_CPU_IDLE_EXIT, 0, 0);
	event_is("cpu_idle: state=4294967295 cpu_id=0");
}

static void critical_sections(void **state)
{
	(void)state;
	event_on("preemptirq/irq_disable");
	trace_irq_disable(fake_func(DO_WORK) + 5, fake_func(YIELD));
	event_is("irq_disable: caller=do_work+0x5/0x10 parent=yield+0x0/0x10");
	event_on("preemptirq/irq_enable");
	trace_irq_enable(fake_func(KFREE) + 1, 0);
	event_is("irq_enable: caller=kfree+0x1/0x10 parent=0x0");
	event_on("preemptirq/preempt_disable");
	trace_preempt_disable(fake_func(YIELD) + 2, fake_func(DO_WORK) + 3);
	event_is("preempt_disable: caller=yield+0x2/0x10 parent=do_work+0x3/0x10");
	event_on("preemptirq/preempt_enable");
	trace_preempt_enable(fake_func(SCHEDULE) + 4, 0);
	event_is("preempt_enable: caller=schedule+0x4/0x10 parent=0x0");
}

/* The line says how often preemption was off in the code around the tracepoint. */
static void preempt_count(void **state)
{
	(void)state;
	event_on("sched/sched_process_exit");
	trace_sched_process_exit(&shell);
	assert_non_null(strstr(cat_body("trace"), "[000] ....."));
	event_on("sched/sched_wakeup");
	fake_this->irqs_off = true;
	trace_sched_wakeup(&shell, &urgent);
	fake_this->irqs_off = false;
	assert_non_null(strstr(cat_body("trace"), "[000] d...."));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, event_reset, event_all_off)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sched), TEST(threads_live),      TEST(times),
		TEST(power), TEST(critical_sections), TEST(preempt_count),
	};

	return cmocka_run_group_tests(tests, event_setup, event_teardown);
}
