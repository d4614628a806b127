/*
 * Boot parameters, the dump after a crash, and a start without memory. Each test is a boot of its
 * own, in a process of its own.
 */
#include "unit.h"
#include <stdio.h>
#include "child.h"
#include "tracefs.h"
#include <trace/tracer.h>

static void boot(void)
{
	EXPECT(tracefs_setup(NULL) == 0);
	fake_clock = 12345678900;
	trace_boot_start();
}

static void nothing_asked(void)
{
	trace_dump_stack(0); /* no listener yet */
	EXPECT(!trace_boot_param("quiet", ""));
	EXPECT(!trace_boot_param("ftraces", "x"));
	boot();
	EXPECT(strcmp(cat("current_tracer"), "nop\n") == 0);
	EXPECT(strcmp(cat("buffer_size_kb"), "7 (expanded: 1408)\n") == 0);
	/* Before the first use a buffer is two sub-buffers. */
	EXPECT(echo("32", "buffer_subbuf_size_kb") == 0);
	EXPECT(strcmp(cat("buffer_size_kb"), "63 (expanded: 1408)\n") == 0);
	EXPECT(strcmp(cat("per_cpu/cpu1/buffer_size_kb"), "63\n") == 0);
	EXPECT(echo("4", "buffer_subbuf_size_kb") == 0);
	trace_dump_on_oops(0);
	EXPECT(!strstr(fake_log(), "Dumping"));
}

static void triggers(void)
{
	EXPECT(trace_boot_param("trace_trigger",
				"sched_switch.stacktrace:3, sched_waking.traceoff,nosuch.traceoff,"
				"sched_switch.nosuch,sched_switch,,"));
	boot();
	EXPECT(strcmp(cat("events/sched/sched_switch/trigger"), "stacktrace:count=3\n") == 0);
	EXPECT(strcmp(cat("events/sched/sched_waking/trigger"), "traceoff:unlimited\n") == 0);
	EXPECT(strstr(fake_log(), "trace_trigger: there is no event nosuch"));
	EXPECT(strstr(fake_log(), "sched_switch.nosuch: there is no such trigger (error 22)"));
	EXPECT(strstr(fake_log(), "trace_trigger: sched_switch: no trigger is named"));
}

static void everything_asked(void)
{
	EXPECT(trace_boot_param("ftrace", "function"));
	EXPECT(trace_boot_param("ftrace_filter", "*k*,nosuch,schedule"));
	EXPECT(trace_boot_param("ftrace_notrace", "do_work"));
	EXPECT(trace_boot_param("trace_buf_size", "64K"));
	EXPECT(trace_boot_param("trace_options", "sym-offset,noirq-info,bogus"));
	EXPECT(trace_boot_param("trace_clock", "global"));
	boot();
	EXPECT(strcmp(cat("current_tracer"), "function\n") == 0);
	EXPECT(strcmp(cat("set_ftrace_filter"), "schedule\ndo_work\nkfree\n") == 0);
	EXPECT(strcmp(cat("set_ftrace_notrace"), "do_work\n") == 0);
	EXPECT(strcmp(cat("buffer_size_kb"), "64\n") == 0);
	EXPECT(strcmp(cat("options/sym-offset"), "1\n") == 0);
	EXPECT(strcmp(cat("options/irq-info"), "0\n") == 0);
	EXPECT(strstr(cat("trace_clock"), "[global]"));
	EXPECT(strstr(fake_log(), "Starting tracer 'function'"));
	EXPECT(strstr(fake_log(), "ftrace_filter: no function matches nosuch"));
	EXPECT(strstr(fake_log(), "no option bogus"));
	call(0, 1, KFREE);
	call(0, 1, DO_WORK);
	call(0, 1, YIELD);
	EXPECT(strstr(cat_body("trace"), "kfree+0x0/0x10 <-yield+0x4/0x10\n"));
	EXPECT(!strstr(cat_body("trace"), "do_work"));
}

static void nonsense_asked(void)
{
	EXPECT(trace_boot_param("ftrace", "nosuch"));
	EXPECT(trace_boot_param("trace_buf_size", "12x"));
	EXPECT(strstr(fake_log(), "trace_buf_size=12x"));
	EXPECT(trace_boot_param("trace_buf_size", ""));
	/* Would be 16 bytes, were it cut. */
	EXPECT(trace_boot_param("trace_buf_size", "0x0000000000000000000010000"));
	EXPECT(strstr(fake_log(), "trace_buf_size=0x0000000000000000000010000 is no size"));
	EXPECT(trace_boot_param("ftrace_dump_on_oops", "2"));
	EXPECT(trace_boot_param("ftrace_dump_on_oops", "3"));
	EXPECT(strstr(fake_log(), "ftrace_dump_on_oops=3 is none of 0, 1, 2, orig_cpu"));
	EXPECT(trace_dump_on_oops_mode() == 2);
	EXPECT(trace_boot_param("trace_clock", "sundial"));
	boot();
	EXPECT(strcmp(cat("current_tracer"), "nop\n") == 0);
	EXPECT(strcmp(cat("buffer_size_kb"), "1408\n") == 0);
	EXPECT(strstr(fake_log(), "cannot start tracer nosuch: no such tracer"));
	EXPECT(strstr(fake_log(), "no clock sundial"));
}

static int refuse(struct trace_array *tr)
{
	return tr ? -EBUSY : 0;
}

/* A warning ends the trace of the global instance, with an event that says who warned. */
static void off_on_warning_asked(void)
{
	trace_host_warned(0); /* no listener yet */
	EXPECT(trace_boot_param("traceoff_on_warning", ""));
	trace_host_warned(0);
	boot();
	EXPECT(trace_off_on_warning() == 1);
	EXPECT(trace_fs_mkdir(node_of("instances"), "other") == 0);
	EXPECT(tracing_is_on());
	trace_host_warned(fake_func(KFREE) + 5);
	EXPECT(!tracing_is_on());
	EXPECT(strstr(cat_body("trace"), ": kfree: Disabling tracing due to warning\n"));
	EXPECT(strcmp(cat("tracing_on"), "0\n") == 0);
	EXPECT(strcmp(cat("instances/other/tracing_on"), "1\n") == 0);
	trace_host_warned(fake_func(YIELD) + 5);
	EXPECT(!strstr(cat_body("trace"), "yield"));
	EXPECT(trace_set_off_on_warning(0) == 0);
	EXPECT(echo("1", "tracing_on") == 0);
	trace_host_warned(fake_func(YIELD) + 5);
	EXPECT(tracing_is_on());
	EXPECT(!strstr(cat_body("trace"), "yield"));
}

static void off_on_warning_not_asked(void)
{
	EXPECT(trace_boot_param("traceoff_on_warning", "off"));
	boot();
	EXPECT(trace_off_on_warning() == 0);
	EXPECT(trace_set_off_on_warning(-7) == 0);
	EXPECT(trace_off_on_warning() == -7);
	trace_host_warned(0);
	EXPECT(!tracing_is_on());
}

static void refusing_tracer_asked(void)
{
	static struct tracer busy = { .name = "busy", .init = refuse };

	EXPECT(trace_boot_param("ftrace", "busy"));
	EXPECT(tracefs_setup(NULL) == 0);
	EXPECT(register_tracer(&busy) == 0);
	trace_boot_start();
	EXPECT(strcmp(cat("current_tracer"), "nop\n") == 0);
	EXPECT(strstr(fake_log(), "cannot start tracer busy: error 16"));
}

/* The buffer's full size is for those who record, or ask for a tracer that does. */
static void no_memory_for_the_buffer(void)
{
	EXPECT(trace_boot_param("ftrace", "function"));
	EXPECT(tracefs_setup(NULL) == 0);
	fake_alloc_max_bytes = 100000;
	trace_boot_start();
	EXPECT(strstr(fake_log(), "cannot start tracer function: no memory"));
	EXPECT(echo("function", "current_tracer") == -ENOMEM);
	EXPECT(echo("nosuch", "current_tracer") == -EINVAL);
	EXPECT(echo("nop", "current_tracer") == 0);
	EXPECT(echo("prev_pid=7", "events/sched/sched_switch/inject") == -ENOMEM);
	EXPECT(!strstr(cat("trace"), "prev_pid=7"));
	EXPECT(strcmp(cat("buffer_size_kb"), "7 (expanded: 1408)\n") == 0);
	fake_alloc_max_bytes = 0;
	EXPECT(echo("nop", "current_tracer") == 0);
	EXPECT(strcmp(cat("buffer_size_kb"), "1408\n") == 0);
}

/* A list that does not fit is no list: half of it would be something else. */
static void too_long_asked(void)
{
	char list[4096];

	memset(list, 'x', sizeof(list) - 1);
	list[sizeof(list) - 1] = '\0';
	EXPECT(trace_boot_param("ftrace_filter", list));
	EXPECT(strstr(fake_log(), "ftrace_filter=: too long, ignored"));
	memcpy(list, "sundial", 7);
	EXPECT(trace_boot_param("trace_clock", list));
	EXPECT(strstr(fake_log(), "trace_clock=: too long, ignored"));
	list[1500] = '\0';
	memcpy(list + 1492, ",do_work", 8);
	EXPECT(trace_boot_param("ftrace_notrace", list));
	boot();
	EXPECT(strcmp(cat("set_ftrace_filter"), "#### all functions enabled ####\n") == 0);
	EXPECT(strcmp(cat("set_ftrace_notrace"), "do_work\n") == 0);
	EXPECT(strstr(cat("trace_clock"), "[local]"));
}

/* A latency tracer, with the options that it takes over, and a graph with its sets. */
static void latency_asked(void)
{
	EXPECT(trace_boot_param("ftrace", "irqsoff"));
	EXPECT(trace_boot_param("trace_options", "display-graph,nooverwrite"));
	boot();
	EXPECT(strcmp(cat("current_tracer"), "irqsoff\n") == 0);
	EXPECT(strcmp(cat("options/display-graph"), "1\n") == 0);
	EXPECT(strcmp(cat("options/overwrite"), "1\n") == 0);
	EXPECT(strstr(fake_log(), "no option nooverwrite"));
	EXPECT(echo("1", "snapshot") == -EBUSY);
}

static void graph_asked(void)
{
	EXPECT(trace_boot_param("ftrace", "function_graph"));
	EXPECT(trace_boot_param("ftrace_graph_filter", "yield,nosuch"));
	EXPECT(trace_boot_param("ftrace_graph_notrace", "kfree"));
	EXPECT(trace_boot_param("ftrace_graph_max_depth", "3"));
	EXPECT(trace_boot_param("trace_options", "funcgraph-proc,nofuncgraph-cpu"));
	EXPECT(trace_boot_param("alloc_snapshot", ""));
	boot();
	EXPECT(strcmp(cat("current_tracer"), "function_graph\n") == 0);
	EXPECT(strcmp(cat("set_graph_function"), "yield\n") == 0);
	EXPECT(strcmp(cat("set_graph_notrace"), "kfree\n") == 0);
	EXPECT(strcmp(cat("max_graph_depth"), "3\n") == 0);
	EXPECT(strcmp(cat("options/funcgraph-proc"), "1\n") == 0);
	EXPECT(strcmp(cat("options/funcgraph-cpu"), "0\n") == 0);
	EXPECT(strstr(cat("snapshot"), "Snapshot is allocated"));
	EXPECT(strstr(fake_log(), "ftrace_graph_filter: no function matches nosuch"));
}

/* One instance a parameter; behind a comma come the events that are on in it. */
static void instances_asked(void)
{
	char name[4096];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	EXPECT(trace_boot_param("trace_instance", "one"));
	EXPECT(trace_boot_param("trace_instance", "two,sched:sched_switch,,none"));
	EXPECT(trace_boot_param("trace_instance", ""));
	EXPECT(trace_boot_param("trace_instance", "one"));
	EXPECT(trace_boot_param("trace_instance", name));
	EXPECT(strstr(fake_log(), "trace: trace_instance=xxx"));
	boot();
	EXPECT(node_of("instances/one"));
	EXPECT(node_of("instances/two"));
	EXPECT(strcmp(cat("instances/two/set_event"), "sched:sched_switch\n") == 0);
	EXPECT(strcmp(cat("instances/one/set_event"), "") == 0);
	EXPECT(strcmp(cat("set_event"), "") == 0);
	EXPECT(strstr(fake_log(), "trace_instance: no such event: none"));
	EXPECT(strstr(fake_log(), "cannot make one: error 17"));
	EXPECT(!strstr(fake_log(), "cannot make two"));
}

/* Flags stand behind the name of an instance. */
static void flags_of_instances_asked(void)
{
	EXPECT(trace_boot_param("trace_instance", "off^traceoff,sched:sched_switch"));
	EXPECT(trace_boot_param("trace_instance", "odd^bogus^traceoff"));
	EXPECT(trace_boot_param("trace_instance", "plain^"));
	EXPECT(trace_boot_param("trace_instance", "^traceoff"));
	boot();
	EXPECT(strcmp(cat("instances/off/tracing_on"), "0\n") == 0);
	EXPECT(strcmp(cat("instances/off/set_event"), "sched:sched_switch\n") == 0);
	EXPECT(strstr(cat("instances/off/why"),
		      ": the boot parameter trace_instance=off^traceoff was there in thread "));
	EXPECT(strcmp(cat("instances/odd/tracing_on"), "0\n") == 0);
	EXPECT(strstr(fake_log(), "trace: trace_instance: no flag bogus, for odd\n"));
	EXPECT(strcmp(cat("instances/plain/tracing_on"), "1\n") == 0);
	EXPECT(strstr(fake_log(), "cannot make one without a name: error"));
	EXPECT(tracing_is_on());
	EXPECT(echo("1", "instances/off/tracing_on") == 0);
	EXPECT(strcmp(cat("instances/off/tracing_on"), "1\n") == 0);
}

static void events_asked(void)
{
	EXPECT(trace_boot_param("trace_event",
				"sched:sched_switch,nosuch:event,*wakeup*,,!sched_waking"));
	boot();
	EXPECT(strcmp(cat("events/sched/sched_switch/enable"), "1\n") == 0);
	EXPECT(strcmp(cat("events/sched/sched_wakeup/enable"), "1\n") == 0);
	EXPECT(strcmp(cat("events/sched/sched_waking/enable"), "0\n") == 0);
	EXPECT(strstr(fake_log(), "trace: trace_event: no such event: nosuch:event\n"));
	EXPECT(!strstr(fake_log(), "sched_waking"));
}

static void no_memory_for_events(void)
{
	EXPECT(trace_boot_param("trace_event", "sched_switch"));
	EXPECT(tracefs_setup(NULL) == 0);
	fake_alloc_budget = 0;
	trace_boot_start();
	fake_alloc_budget = -1;
	EXPECT(strstr(fake_log(), "trace: trace_event: error 12 at sched_switch"));
	EXPECT(strcmp(cat("set_event"), "") == 0);
}

/* The trace ends with the boot, in the global instance, behind the snapshot; `why` says who it was. */
static void off_after_boot_asked(void)
{
	EXPECT(trace_boot_param("traceoff_after_boot", ""));
	EXPECT(trace_boot_param("ftrace_boot_snapshot", ""));
	EXPECT(trace_boot_param("trace_instance", "other"));
	boot();
	EXPECT(tracing_is_on());
	EXPECT(echo("early", "trace_marker") == 0);
	trace_boot_finish();
	EXPECT(!tracing_is_on());
	EXPECT(strstr(cat("snapshot"), ": early\n"));
	EXPECT(strcmp(cat("instances/other/tracing_on"), "1\n") == 0);
	EXPECT(strstr(cat("why"), ": the boot was over in thread "));
	EXPECT(strstr(cat("why"), ", and traceoff_after_boot is set; echo 1 > tracing_on.\n"));
	EXPECT(echo("1", "tracing_on") == 0);
	EXPECT(tracing_is_on());
}

static void off_after_boot_not_asked(void)
{
	boot();
	trace_boot_finish();
	EXPECT(tracing_is_on());
}

static void snapshot_asked(void)
{
	EXPECT(trace_boot_param("ftrace_boot_snapshot", ""));
	boot();
	EXPECT(strstr(cat("snapshot"), "Snapshot is allocated"));
	EXPECT(echo("early", "trace_marker") == 0);
	trace_boot_finish();
	EXPECT(strstr(cat("snapshot"), ": early\n"));
	EXPECT(!strstr(cat("trace"), ": early\n"));
}

static void no_snapshot_asked(void)
{
	EXPECT(trace_boot_param("alloc_snapshot", ""));
	boot();
	EXPECT(echo("early", "trace_marker") == 0);
	trace_boot_finish();
	EXPECT(strstr(cat("trace"), ": early\n"));
}

static void stack_tracer_asked(void)
{
	EXPECT(trace_boot_param("stacktrace", ""));
	EXPECT(trace_boot_param("stacktrace_filter", ",yield,nosuch,,k*"));
	boot();
	EXPECT(strcmp(cat("stack_trace_filter"), "yield\nkfree\n") == 0);
	EXPECT(strstr(fake_log(), "stacktrace_filter: no function matches nosuch"));
	EXPECT(strstr(cat("enabled_functions"), "kfree"));
	EXPECT(!strstr(cat("enabled_functions"), "schedule"));
}

static void odd_depths_asked(void)
{
	EXPECT(trace_boot_param("ftrace_graph_max_depth", "deep"));
	boot();
	EXPECT(strstr(fake_log(), "ftrace_graph_max_depth=deep is no depth"));
	EXPECT(strcmp(cat("max_graph_depth"), "0\n") == 0);
}

static void size_of(const char *text, const char *kb)
{
	char want[64];

	trace_boot_param("trace_buf_size", text);
	EXPECT(tracefs_setup(NULL) == 0);
	snprintf(want, sizeof(want), "7 (expanded: %s)\n", kb);
	EXPECT(strcmp(cat("buffer_size_kb"), want) == 0);
}

static void size_in_bytes(void)
{
	size_of("65536", "64");
}

static void size_in_megabytes(void)
{
	size_of("2M", "2048");
}

static void size_in_gigabytes(void)
{
	size_of("3g", "3145728");
}

static void size_tiny(void)
{
	size_of("1", "4");
}

/*
 * A start with memory for `budget` allocations: 0 when it came through, 3 when it failed cleanly.
 */
static int start_with(long budget)
{
	static const char *const names[] = { "schedule" };
	int err;

	fake_reset();
	fake_text_build(names, 1);
	fake_alloc_budget = budget;
	err = trace_init();
	EXPECT(!err || err == -ENOMEM);
	EXPECT(err || (node_of("trace") && node_of("instances")));
	trace_boot_start();
	trace_printk("x %d\n", 1);
	tracing_off();
	trace_dump(TRACE_ALL_CPUS);
	trace_thread_exited(1, "x");
	return err ? 3 : 0;
}

static void without_memory(void)
{
	long budget = 0;
	int status;

	do {
		pid_t pid = fork();

		if (!pid)
			_exit(start_with(budget));
		EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
		EXPECT(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 3);
		budget++;
	} while (WEXITSTATUS(status));
	EXPECT(budget > 5);
}

/* A call as thread 70, on the CPU of that number. */
static void hooked_call(uint32_t cpu, size_t index)
{
	fake_bind(cpu);
	fake_run(70);
	fake_enter(index, PARENT);
	fake_leave(0);
	fake_run(-1);
	fake_bind(0);
}

/* The first start of the profiler, without memory at any allocation. */
static void profiler_without_memory(void)
{
	long budget = 0;
	int err;

	boot();
	fake_thread_add(70, "one");
	do {
		fake_alloc_budget = budget++;
		err = echo("1", "function_profile_enabled");
		fake_alloc_budget = -1;
		EXPECT(!err || err == -ENOMEM);
		EXPECT(strcmp(cat("function_profile_enabled"), err ? "0\n" : "1\n") == 0);
	} while (err && budget < 100);
	hooked_call(0, KFREE);
	hooked_call(1, YIELD);
	EXPECT(strstr(cat("trace_stat/function0"), "kfree"));
	EXPECT(strstr(cat("trace_stat/function1"), "yield"));
}

/* The column of the CPU is as wide as the highest number. */
static void cpu_column(uint32_t nr_cpus, const char *want)
{
	static const char *const names[NR_FUNCS] = { "schedule", "yield", "do_work", "kfree" };

	fake_reset();
	fake_set_nr_cpus(nr_cpus);
	fake_bind(0);
	fake_text_build(names, NR_FUNCS);
	ftrace_init();
	EXPECT(trace_init() == 0);
	fake_thread_add(70, "one");
	EXPECT(echo("function_graph", "current_tracer") == 0);
	hooked_call(0, KFREE);
	EXPECT(strncmp(cat_body("trace"), want, strlen(want)) == 0);
}

static void ten_cpus(void)
{
	cpu_column(10, " 0)  ");
	/* A digit for each four of them. */
	EXPECT(echo("1", "tracing_cpumask") == 0);
	EXPECT(strcmp(cat("tracing_cpumask"), "001\n") == 0);
}

static void eleven_cpus(void)
{
	cpu_column(11, "  0)  ");
}

static int count(const char *text, const char *what)
{
	int nr = 0;

	while ((text = strstr(text, what))) {
		text++;
		nr++;
	}
	return nr;
}

/* The newest lines of all CPUs, no more than the limit. */
static void dump_all(void)
{
	EXPECT(trace_boot_param("ftrace_dump_on_oops", ""));
	EXPECT(trace_boot_param("ftrace", "function"));
	boot();
	for (int i = 0; i < 2000; i++)
		call(i % 2, 1, i < 1999 ? KFREE : SCHEDULE);
	trace_dump_on_oops(0);
	EXPECT(!tracing_is_on());
	EXPECT(strstr(fake_log(), "Dumping ftrace buffer:\n---------------------------------\n"
				  "(1500 older events left out)\n"));
	EXPECT(count(fake_log(), ": kfree <-yield\n") == 499);
	EXPECT(count(fake_log(), ": schedule <-yield\n---------------------------------\n") == 1);
	EXPECT(count(fake_log(), "-1         1.") == 250);
}

static void dump_one_cpu(void)
{
	EXPECT(trace_boot_param("ftrace_dump_on_oops", "orig_cpu"));
	EXPECT(trace_boot_param("ftrace", "function"));
	boot();
	for (int i = 0; i < 20; i++)
		call(i % 2, 1, KFREE);
	echo("several\nlines", "trace_marker");
	trace_dump_on_oops(1);
	EXPECT(count(fake_log(), "-1         0.") == 0);
	EXPECT(count(fake_log(), "-1         1.") == 10);
	trace_dump(0);
	EXPECT(count(fake_log(), "-1         0.") == 11);
	EXPECT(strstr(fake_log(), ": several\nlines\n---"));
}

static void dump_empty(void)
{
	EXPECT(trace_boot_param("ftrace_dump_on_oops", "1"));
	boot();
	trace_dump_on_oops(1);
	EXPECT(strstr(fake_log(), "   (ftrace buffer empty)\n"));
}

#define TEST(name)                                                                                 \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		in_child(name);                                                                    \
	}
TEST(nothing_asked)
TEST(triggers)
TEST(everything_asked)
TEST(nonsense_asked)
TEST(off_on_warning_asked)
TEST(off_on_warning_not_asked)
TEST(refusing_tracer_asked)
TEST(too_long_asked)
TEST(latency_asked)
TEST(graph_asked)
TEST(instances_asked)
TEST(flags_of_instances_asked)
TEST(events_asked)
TEST(no_memory_for_events)
TEST(off_after_boot_asked)
TEST(off_after_boot_not_asked)
TEST(snapshot_asked)
TEST(no_snapshot_asked)
TEST(stack_tracer_asked)
TEST(odd_depths_asked)
TEST(size_in_bytes)
TEST(size_in_megabytes)
TEST(size_in_gigabytes)
TEST(size_tiny)
TEST(without_memory)
TEST(no_memory_for_the_buffer)
TEST(profiler_without_memory)
TEST(ten_cpus)
TEST(eleven_cpus)
TEST(dump_all)
TEST(dump_one_cpu)
TEST(dump_empty)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_asked),
		cmocka_unit_test(test_triggers),
		cmocka_unit_test(test_everything_asked),
		cmocka_unit_test(test_nonsense_asked),
		cmocka_unit_test(test_off_on_warning_asked),
		cmocka_unit_test(test_off_on_warning_not_asked),
		cmocka_unit_test(test_refusing_tracer_asked),
		cmocka_unit_test(test_too_long_asked),
		cmocka_unit_test(test_latency_asked),
		cmocka_unit_test(test_graph_asked),
		cmocka_unit_test(test_instances_asked),
		cmocka_unit_test(test_flags_of_instances_asked),
		cmocka_unit_test(test_events_asked),
		cmocka_unit_test(test_no_memory_for_events),
		cmocka_unit_test(test_off_after_boot_asked),
		cmocka_unit_test(test_off_after_boot_not_asked),
		cmocka_unit_test(test_snapshot_asked),
		cmocka_unit_test(test_no_snapshot_asked),
		cmocka_unit_test(test_stack_tracer_asked),
		cmocka_unit_test(test_odd_depths_asked),
		cmocka_unit_test(test_size_in_gigabytes),
		cmocka_unit_test(test_size_in_bytes),
		cmocka_unit_test(test_size_in_megabytes),
		cmocka_unit_test(test_size_tiny),
		cmocka_unit_test(test_without_memory),
		cmocka_unit_test(test_profiler_without_memory),
		cmocka_unit_test(test_ten_cpus),
		cmocka_unit_test(test_eleven_cpus),
		cmocka_unit_test(test_dump_all),
		cmocka_unit_test(test_dump_one_cpu),
		cmocka_unit_test(test_dump_empty),
		cmocka_unit_test(test_no_memory_for_the_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
