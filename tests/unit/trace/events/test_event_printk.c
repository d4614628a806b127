/*
 * tp_printk: events in the log as well, as they occur. Each test is a boot of its own, in a process
 * of its own.
 */
#include "unit.h"
#include "child.h"
#include "tracefs.h"
#include <trace/host_tracepoints.h>
#include <trace/thread.h>
#include <trace/trace_events.h>
#include <trace/trace.h>

static struct trace_thread threads[2];
static const char comms[2][16] = { "shell", "make" };
static const struct trace_sched_thread shell = {
	.thread = &threads[0], .comm = comms[0], .pid = 1, .prio = 120, .state = 'R', .cpu = 0
};
static const struct trace_sched_thread make = {
	.thread = &threads[1], .comm = comms[1], .pid = 2, .prio = 110, .state = 'R', .cpu = 0
};

#define WAKING	  "sched_waking: comm=make pid=2 prio=110 target_cpu=000\n"
#define MIGRATE	  "sched_migrate_task: comm=shell pid=1 prio=120 orig_cpu=1 dest_cpu=0\n"
#define HAS(text) (strstr(fake_log(), text) != NULL)

static void boot(const char *events)
{
	EXPECT(trace_boot_param("tp_printk", ""));
	EXPECT(trace_boot_param("trace_event", events));
	EXPECT(tracefs_setup(NULL) == 0);
	trace_boot_start();
}

static uint32_t times_in(const char *text, const char *part)
{
	uint32_t nr = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		nr++;
	}
	return nr;
}

static void printed_and_recorded(void)
{
	boot("sched:sched_waking");
	EXPECT(trace_tracepoint_printk() == 1);
	trace_sched_waking(&shell, &make);
	EXPECT(HAS(WAKING));
	EXPECT(strstr(cat_body("trace"), ": " WAKING));
	/* One that is switched on later, and in another instance: there, too. */
	EXPECT(echo("1", "events/sched/sched_migrate_task/enable") == 0);
	trace_sched_migrate_task(&shell, 1);
	EXPECT(times_in(fake_log(), MIGRATE) == 1);
	EXPECT(trace_fs_mkdir(node_of("instances"), "other") == 0);
	EXPECT(echo("1", "instances/other/events/sched/sched_migrate_task/enable") == 0);
	trace_sched_migrate_task(&shell, 1);
	EXPECT(times_in(fake_log(), MIGRATE) == 3);
	EXPECT(trace_tracepoint_printk_missed() == 0);
}

/* An event that is not recorded is not printed. */
static void only_what_is_recorded(void)
{
	boot("sched:sched_waking");
	EXPECT(echo("pid==3", "events/sched/sched_waking/filter") == 0);
	trace_sched_waking(&shell, &make);
	EXPECT(!HAS(WAKING));
	EXPECT(echo("pid==2", "events/sched/sched_waking/filter") == 0);
	trace_sched_waking(&shell, &make);
	EXPECT(times_in(fake_log(), WAKING) == 1);
	EXPECT(echo("0", "tracing_on") == 0);
	trace_sched_waking(&shell, &make);
	EXPECT(echo("1", "tracing_on") == 0);
	EXPECT(echo("0", "events/sched/sched_waking/enable") == 0);
	EXPECT(echo("stacktrace", "events/sched/sched_waking/trigger") == 0);
	trace_sched_waking(&shell, &make);
	EXPECT(times_in(fake_log(), WAKING) == 1);
	/* A trigger that switches the event on as it occurs; and an event that a user makes up. */
	EXPECT(echo("!stacktrace", "events/sched/sched_waking/trigger") == 0);
	EXPECT(echo("pid=2 prio=7 comm=\"made up\"", "events/sched/sched_waking/inject") == 0);
	EXPECT(HAS("sched_waking: comm=made up pid=2 prio=7 target_cpu=000\n"));
}

static void synthetic(void)
{
	char text[700];

	boot("");
	EXPECT(echo("woken int pid; char name[]", "synthetic_events") == 0);
	EXPECT(echo("1", "events/synthetic/woken/enable") == 0);
	EXPECT(echo("pid=2 name=\"make\"", "events/synthetic/woken/inject") == 0);
	EXPECT(HAS("woken: pid=2 name=make\n"));
	/* One that is built in the ring. */
	EXPECT(echo("hist:keys=pid:onmatch(sched.sched_waking).woken(pid,comm)",
		    "events/sched/sched_waking/trigger") == 0);
	memset(text, 'x', sizeof(text));
	trace_sched_waking(&shell, &make);
	EXPECT(times_in(fake_log(), "woken: pid=2 name=make\n") == 2);
}

/* The setting; events that are on already, and such as come. */
static void setting(void)
{
	boot("sched:sched_waking");
	EXPECT(trace_set_tracepoint_printk(0) == 0);
	EXPECT(trace_tracepoint_printk() == 0);
	EXPECT(echo("1", "events/sched/sched_migrate_task/enable") == 0);
	trace_sched_waking(&shell, &make);
	trace_sched_migrate_task(&shell, 1);
	EXPECT(!HAS(WAKING) && !HAS(MIGRATE));
	EXPECT(trace_set_tracepoint_printk(5) == 0);
	EXPECT(trace_tracepoint_printk() == 5);
	trace_sched_waking(&shell, &make);
	trace_sched_migrate_task(&shell, 1);
	EXPECT(HAS(WAKING) && HAS(MIGRATE));
}

static void stop_on_boot(void)
{
	EXPECT(trace_boot_param("tp_printk_stop_on_boot", ""));
	boot("sched:sched_waking");
	trace_sched_waking(&shell, &make);
	EXPECT(times_in(fake_log(), WAKING) == 1);
	trace_boot_finish();
	EXPECT(trace_tracepoint_printk() == 0);
	trace_sched_waking(&shell, &make);
	EXPECT(times_in(fake_log(), WAKING) == 1);
	EXPECT(times_in(cat_body("trace"), WAKING) == 2);
	EXPECT(trace_set_tracepoint_printk(1) == 0);
	EXPECT(trace_tracepoint_printk() == 1);
}

/* Without the parameter the setting stays 0. */
static void not_asked(void)
{
	EXPECT(trace_boot_param("tp_printk", "off"));
	EXPECT(trace_boot_param("tp_printk_stop_on_boot", ""));
	EXPECT(trace_boot_param("trace_event", "sched:sched_waking"));
	EXPECT(tracefs_setup(NULL) == 0);
	trace_boot_start();
	trace_boot_finish();
	EXPECT(trace_set_tracepoint_printk(1) == 0);
	EXPECT(trace_tracepoint_printk() == 0);
	trace_sched_waking(&shell, &make);
	EXPECT(!HAS(WAKING));
	EXPECT(strstr(cat_body("trace"), WAKING));
}

static void no_memory(void)
{
	EXPECT(trace_boot_param("tp_printk", "1"));
	EXPECT(tracefs_setup(NULL) == 0);
	fake_alloc_max_bytes = 50000;
	trace_boot_start();
	EXPECT(HAS("trace: tp_printk: no memory"));
	EXPECT(trace_set_tracepoint_printk(1) == 0);
	EXPECT(trace_tracepoint_printk() == 0);
}

static void wake(void)
{
	trace_sched_waking(&shell, &make);
}

/* Printing causes an event: it is recorded and not printed, or there would be no end. */
static void printing_causes_events(void)
{
	boot("sched:sched_waking,sched:sched_migrate_task");
	fake_on_log_event = wake;
	trace_sched_migrate_task(&shell, 1);
	EXPECT(times_in(fake_log(), MIGRATE) == 1);
	EXPECT(!HAS(WAKING));
	EXPECT(strstr(cat_body("trace"), WAKING));
	EXPECT(trace_tracepoint_printk_missed() == 1);
	trace_sched_waking(&shell, &make);
	EXPECT(times_in(fake_log(), WAKING) == 1);
	EXPECT(trace_tracepoint_printk_missed() == 2);
}

static void wake_in(uint32_t context)
{
	fake_cpus[0].preempt_count += context;
	trace_sched_waking(&shell, &make);
	fake_cpus[0].preempt_count -= context;
}

static void in_nmi(void)
{
	fake_on_log_event = NULL;
	wake_in(TRACE_NMI_MASK & -TRACE_NMI_MASK);
}

static void in_irq(void)
{
	fake_on_log_event = in_nmi;
	wake_in(TRACE_HARDIRQ_MASK & -TRACE_HARDIRQ_MASK);
}

/* An interrupt and an NMI while an event is being printed: theirs are, too. */
static void interrupts(void)
{
	boot("sched:sched_waking,sched:sched_migrate_task");
	fake_on_log_event = in_irq;
	trace_sched_migrate_task(&shell, 1);
	EXPECT(times_in(fake_log(), WAKING) == 2);
	EXPECT(times_in(fake_log(), MIGRATE) == 1);
	EXPECT(trace_tracepoint_printk_missed() == 0);
}

#define BOOT(name)                                                                                 \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		in_child(name);                                                                    \
	}
BOOT(printed_and_recorded)
BOOT(only_what_is_recorded)
BOOT(synthetic)
BOOT(setting)
BOOT(stop_on_boot)
BOOT(not_asked)
BOOT(no_memory)
BOOT(printing_causes_events)
BOOT(interrupts)

/* An entry without a name, with which the kernel's tables of names may end, names nothing. */
static void test_no_name(void **state)
{
	static const struct trace_print_flags_u64 names[] = { { 1, "one" }, { 0, NULL } };
	char text[32];
	struct trace_seq seq;

	(void)state;
	trace_seq_init(&seq, text, sizeof(text));
	assert_string_equal(trace_print_symbols_seq(&seq, 1, names, 2), "one");
	assert_string_equal(trace_print_symbols_seq(&seq, 0, names, 2), "0x0");
	assert_string_equal(trace_print_flags_seq(&seq, "|", 3, names, 2), "one|0x2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_name),
		cmocka_unit_test(test_printed_and_recorded),
		cmocka_unit_test(test_only_what_is_recorded),
		cmocka_unit_test(test_synthetic),
		cmocka_unit_test(test_setting),
		cmocka_unit_test(test_stop_on_boot),
		cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_printing_causes_events),
		cmocka_unit_test(test_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
