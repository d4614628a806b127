/*
 * Latency tracers on the fake machine: tracepoints are called by hand, with times that the test
 * sets.
 */
#include "unit.h"
#include <trace/fgraph.h>
#include <trace/host_tracepoints.h>
#include "tracefs.h"
#include "tracers/latency.h"

#define US 1000u

static struct trace_thread wakee_thread, other_thread;

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

static void pass(uint64_t us)
{
	fake_clock += us * US;
}

static void irqs(uint32_t cpu, bool off, uintptr_t parent)
{
	fake_bind(cpu);
	if (off)
		fake_this->irqs_off = true;
	(off ? trace_irq_disable_call : trace_irq_enable_call)(fake_func(YIELD) + 4, parent);
	if (!off)
		fake_this->irqs_off = false;
}

static void preempt(uint32_t cpu, bool off)
{
	fake_bind(cpu);
	if (off)
		trace_plat_preempt_disable();
	(off ? trace_preempt_disable_call : trace_preempt_enable_call)(fake_func(SCHEDULE) + 4, 0);
	if (!off)
		trace_plat_preempt_enable();
}

static void irqs_section(uint32_t cpu, uint64_t us)
{
	irqs(cpu, true, 0);
	pass(us);
	irqs(cpu, false, 0);
	fake_bind(0);
}

static uint64_t maximum(void)
{
	fake_bind(0);
	return strtoull(cat("tracing_max_latency"), NULL, 10);
}

static void shows(const char *text)
{
	fake_bind(0);
	if (!strstr(cat("trace"), text))
		fail_msg("no `%s` in:\n%s", text, cat("trace"));
}

static void shows_not(const char *text)
{
	fake_bind(0);
	assert_null(strstr(cat("trace"), text));
}

static void start(const char *tracer)
{
	fake_bind(0);
	strcpy(fake_sched_comm, "worker");
	fake_sched = (struct trace_sched_thread){ .prio = 120, .state = 'R' };
	assert_int_equal(echo(tracer, "current_tracer"), 0);
}

static char listened[200];

static void note_name(struct tracepoint *tp, void *name)
{
	if (trace_static_key_enabled(&tp->key) && strcmp(tp->name, name) == 0)
		strcat(strcat(listened, tp->name), " ");
}

/* The tracepoints of the host that have probes. */
static const char *listened_to(void)
{
	static char all[][20] = { "cpu_idle",	     "irq_disable",    "irq_enable",
				  "preempt_disable", "preempt_enable", "sched_migrate_task",
				  "sched_switch",    "sched_wakeup",   "sched_wakeup_new" };

	listened[0] = '\0';
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for_each_kernel_tracepoint(note_name, all[i]);
	return listened;
}

#define BOTH   "cpu_idle irq_disable irq_enable preempt_disable preempt_enable "
#define WAKEUP "sched_migrate_task sched_switch sched_wakeup sched_wakeup_new "

static void what_they_listen_to(void **state)
{
	(void)state;
	start("irqsoff");
	assert_string_equal(listened_to(), "cpu_idle irq_disable irq_enable ");
	start("preemptoff");
	assert_string_equal(listened_to(), "cpu_idle preempt_disable preempt_enable ");
	start("preemptirqsoff");
	assert_string_equal(listened_to(), BOTH);
	start("wakeup");
	assert_string_equal(listened_to(), WAKEUP);
	start("nop");
	assert_string_equal(listened_to(), "");
}

static void longest_counts(void **state)
{
	(void)state;
	start("irqsoff");
	assert_int_equal(maximum(), 0);
	says("trace", "# tracer: irqsoff\n#\n");
	irqs_section(0, 50);
	assert_int_equal(maximum(), 50);
	irqs_section(1, 70);
	assert_int_equal(maximum(), 70);
	shows("# latency: 70 us, #3/3, CPU#1 |");
	shows("#  => started at: yield\n#  => ended at:   yield\n");
	shows("| task: worker-");
	irqs_section(0, 60);
	assert_int_equal(maximum(), 70);
	shows("CPU#1 |");
}

static void calls_belong_to_their_cpu(void **state)
{
	(void)state;
	start("irqsoff");
	call(0, 0, KFREE); /* nothing is off */
	irqs(0, true, fake_func(SCHEDULE) + 8);
	call(0, 0, DO_WORK);
	irqs(1, true, 0);
	call(1, 0, KFREE);
	pass(100);
	irqs(0, false, fake_func(SCHEDULE) + 8);
	shows("do_work <-");
	shows("=> started at: schedule\n");
	shows_not("kfree");
	pass(50);
	irqs(1, false, 0); /* its beginning was not lost to the maximum of CPU 0 */
	shows("CPU#1 |");
	shows("kfree <-");
	shows_not("do_work");
}

static void on_and_off_need_not_match(void **state)
{
	(void)state;
	start("irqsoff");
	irqs(0, false, 0);
	assert_int_equal(maximum(), 0);
	irqs(0, true, 0);
	pass(10);
	irqs(0, true, 0); /* counts from the first */
	pass(10);
	irqs(0, false, 0);
	assert_int_equal(maximum(), 20);
	irqs(0, false, 0);
	assert_int_equal(maximum(), 20);
}

static void either(void **state)
{
	(void)state;
	start("preemptirqsoff");
	preempt(0, true);
	pass(10);
	irqs(0, true, 0);
	pass(10);
	preempt(0, false); /* interrupts are still off */
	pass(10);
	irqs(0, false, 0);
	assert_int_equal(maximum(), 30);
	start("preemptoff");
	irqs_section(0, 90);
	assert_int_equal(maximum(), 0);
	preempt(0, true);
	pass(40);
	preempt(0, false);
	assert_int_equal(maximum(), 40);
	irqs(0, true, 0); /* asks for preemption alone */
	preempt(0, true);
	pass(50);
	preempt(0, false);
	irqs(0, false, 0);
	assert_int_equal(maximum(), 50);
	start("irqsoff"); /* asks for interrupts alone */
	preempt(0, true);
	irqs_section(0, 60);
	preempt(0, false);
	assert_int_equal(maximum(), 60);
}

static void idle_does_not_count(void **state)
{
	(void)state;
	start("irqsoff");
	irqs(0, true, 0);
	pass(10);
	trace_cpu_idle_call(1, trace_plat_cpu_id(), fake_func(KFREE));
	pass(1000);
	trace_cpu_idle_call(TRACE_CPU_IDLE_EXIT, trace_plat_cpu_id(), fake_func(KFREE));
	pass(20);
	irqs(0, false, 0);
	assert_int_equal(maximum(), 20);
	shows("=> started at: kfree\n");
}

static void threshold(void **state)
{
	(void)state;
	start("irqsoff");
	assert_int_equal(echo("30", "tracing_thresh"), 0);
	irqs_section(0, 40);
	assert_int_equal(maximum(), 40);
	irqs_section(0, 30);
	assert_int_equal(maximum(), 30);
	irqs_section(0, 29);
	assert_int_equal(maximum(), 30);
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	assert_int_equal(echo("100", "tracing_max_latency"), 0);
	irqs_section(0, 100);
	irqs_section(0, 99);
	shows("# latency: 30 us");
	irqs_section(0, 101);
	shows("# latency: 101 us");
}

/* There is one, in the root: it holds in every instance. */
static void threshold_of_all(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "one"), 0);
	assert_int_equal(echo("irqsoff", "instances/one/current_tracer"), 0);
	assert_int_equal(echo("30", "tracing_thresh"), 0);
	irqs_section(0, 29);
	says("instances/one/tracing_max_latency", "0\n");
	irqs_section(0, 40);
	irqs_section(0, 31);
	says("instances/one/tracing_max_latency", "31\n");
	assert_int_equal(echo("x", "tracing_thresh"), -EINVAL);
	says("tracing_thresh", "30\n");
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	irqs_section(0, 32);
	says("instances/one/tracing_max_latency", "32\n");
	assert_int_equal(echo("nop", "instances/one/current_tracer"), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "one"), 0);
}

static void switched_off(void **state)
{
	(void)state;
	start("irqsoff");
	irqs(0, true, 0);
	assert_int_equal(echo("0", "tracing_on"), 0);
	pass(10);
	irqs(0, false, 0);
	irqs_section(0, 50);
	assert_int_equal(maximum(), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	irqs_section(0, 20);
	assert_int_equal(maximum(), 20);
}

static void options(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "options/overwrite"), 0);
	start("irqsoff");
	says("options/overwrite", "1\n");
	says("options/latency-format", "1\n");
	says("options/pause-on-trace", "1\n");
	assert_int_equal(echo("nooverwrite", "trace_options"), -EINVAL);
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("1", "options/overwrite"), 0);
	says("error_log", "");
	assert_int_equal(echo("0", "options/overwrite"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), ": error: the tracer refuses it\n"));
	says("options/overwrite", "1\n");
	assert_int_equal(echo("nofunction-trace", "trace_options"), 0);
	irqs(0, true, 0);
	call(0, 0, DO_WORK);
	irqs(0, false, 0);
	shows("yield\n");
	shows_not("do_work");
	assert_int_equal(echo("function-trace", "trace_options"), 0);
	irqs(0, true, 0);
	pass(500);
	call(0, 0, DO_WORK);
	irqs(0, false, 0);
	shows("do_work <-");
	start("nop");
	says("options/overwrite", "0\n");
	says("options/latency-format", "0\n");
	assert_int_equal(echo("1", "options/overwrite"), 0);
}

/* A maximum that is not whole microseconds is cut, in the file and in the header. */
static void cut_not_rounded(void **state)
{
	(void)state;
	start("irqsoff");
	irqs(0, true, 0);
	fake_clock += 70 * US + 999;
	irqs(0, false, 0);
	assert_int_equal(maximum(), 70);
	shows("# latency: 70 us,");
}

static bool nothing(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	(void)ent;
	(void)gops;
	return false;
}

static void calls_are_recorded(void)
{
	assert_int_equal(echo("0", "tracing_max_latency"), 0);
	irqs(0, true, 0);
	call(0, 0, DO_WORK);
	fake_this->irqs_off = true;
	irqs(0, false, 0);
	shows("do_work");
}

/* An option that cannot be had stays as it was, and so do the calls. */
static void option_that_fails(void **state)
{
	static struct fgraph_ops users[FGRAPH_MAX_USERS];

	(void)state;
	start("irqsoff");
	for (int i = 0; i < FGRAPH_MAX_USERS; i++) {
		users[i].entryfunc = nothing;
		assert_int_equal(ftrace_set_filter(&users[i].ops, "kfree", 5, true), 0);
		assert_int_equal(register_ftrace_graph(&users[i]), 0);
	}
	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo("1", "options/display-graph"), -EBUSY);
	says("error_log", ""); /* the tracer has nothing against it */
	says("options/display-graph", "0\n");
	calls_are_recorded();
	for (int i = 0; i < FGRAPH_MAX_USERS; i++) {
		assert_int_equal(unregister_ftrace_graph(&users[i]), 0);
		ftrace_free_filter(&users[i].ops);
	}
	assert_int_equal(echo("1", "options/display-graph"), 0);
	irqs_section(0, 50);
	shows("REL TIME");
	assert_int_equal(echo("0", "options/display-graph"), 0);
}

static void as_a_graph(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "options/display-graph"), 0);
	start("irqsoff");
	irqs_section(0, 50);
	shows("REL TIME");
	shows("yield();\n");
	assert_int_equal(echo("0", "options/display-graph"), 0);
	says("trace", "# tracer: irqsoff\n#\n"); /* the other form cannot be shown in this one */
	irqs_section(0, 20);
	assert_int_equal(maximum(), 20);
}

/* A new maximum of `us` on CPU 0, in which do_work calls schedule, which calls kfree. */
static void nested_calls(uint64_t us)
{
	irqs(0, true, 0);
	pass(us);
	fake_enter(DO_WORK, PARENT);
	fake_enter(SCHEDULE, PARENT);
	fake_call(KFREE, PARENT);
	assert_int_equal(fake_leave(0), PARENT);
	assert_int_equal(fake_leave(0), PARENT);
	irqs(0, false, 0);
	assert_int_equal(maximum(), us);
}

static void call_kfree(void)
{
	fake_call(KFREE, PARENT);
}

/* A call that the recording of another one makes is left out. */
static void not_within_itself(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "options/display-graph"), 0);
	fake_run(3);
	start("irqsoff");
	irqs(0, true, 0);
	fake_clock_irq = call_kfree;
	fake_enter(DO_WORK, PARENT);
	fake_clock_irq = NULL;
	assert_int_equal(fake_leave(0), PARENT);
	pass(10);
	irqs(0, false, 0);
	shows("do_work();\n");
	shows_not("kfree");
	assert_int_equal(echo("0", "options/display-graph"), 0);
	fake_run(-1);
}

/* A thread was preempted in the callback before it asked whether its call is recorded. */
static void asked_late(void **state)
{
	const struct trace_latency *lat;

	(void)state;
	start("irqsoff");
	lat = trace_latency_of(&trace_global)->running;
	irqs(1, true, 0); /* and its CPU is never heard of again */
	fake_this->irqs_off = false;
	fake_bind(0);
	assert_true(lat->records(lat, 1, 1));
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_false(lat->records(lat, 1, 1));
}

/* Threads that are left out: the two ends alone are there. */
static void thread_filters(void **state)
{
	static const char *const names[] = { "set_ftrace_pid", "set_ftrace_notrace_pid" };
	uint64_t us = 0;

	(void)state;
	start("irqsoff");
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(echo(i & 1 ? "1" : "0", "options/display-graph"), 0);
		assert_int_equal(echo(i / 2 ? "3" : "4", names[i / 2]), 0);
		fake_run(3);
		nested_calls(us += 10);
		shows(i & 1 ? "yield();" : "0us : yield\n");
		shows_not("do_work");
		shows_not("kfree");
		fake_run(4);
		nested_calls(us += 10);
		shows("do_work");
		shows("kfree");
		assert_int_equal(echo("", names[i / 2]), 0);
		fake_run(3);
		nested_calls(us += 10);
		shows("do_work");
		fake_run(-1);
		if (i & 1)
			us = 0;
		assert_int_equal(echo("0", "options/display-graph"), 0);
	}
}

static void settings_of_the_graph(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "options/display-graph"), 0);
	start("irqsoff");
	fake_run(4);
	assert_int_equal(echo("1", "max_graph_depth"), 0);
	nested_calls(10);
	shows("|  do_work();\n");
	shows_not("schedule");
	assert_int_equal(echo("0", "max_graph_depth"), 0);
	assert_int_equal(echo("schedule", "set_graph_function"), 0);
	nested_calls(20);
	shows_not("do_work");
	shows("|  schedule() {\n");
	shows("|    kfree();\n");
	assert_int_equal(echo("", "set_graph_function"), 0);
	assert_int_equal(echo("schedule", "set_graph_notrace"), 0);
	nested_calls(30);
	shows("|  do_work();\n");
	shows_not("schedule");
	shows_not("kfree");
	assert_int_equal(echo("", "set_graph_notrace"), 0);
	nested_calls(40);
	shows("|      kfree();\n");
	fake_run(-1);
	assert_int_equal(echo("0", "options/display-graph"), 0);
}

/* A call of an earlier time that goes on is not around those of this one. */
static void levels_begin_with_the_time(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "options/display-graph"), 0);
	start("irqsoff");
	fake_run(4);
	irqs(0, true, 0);
	fake_enter(YIELD, PARENT);
	irqs(0, false, 0);
	pass(1);
	nested_calls(10);
	shows("|  do_work() {\n");
	assert_int_equal(echo("1", "max_graph_depth"), 0);
	nested_calls(20);
	shows("|  do_work();\n");
	assert_int_equal(echo("0", "max_graph_depth"), 0);
	assert_int_equal(fake_leave(0), PARENT);
	fake_run(-1);
	assert_int_equal(echo("0", "options/display-graph"), 0);
}

static void paused_while_read(void **state)
{
	struct trace_handle *handle;

	(void)state;
	start("irqsoff");
	irqs_section(0, 20);
	handle = open_file("trace", TRACE_FS_READ);
	irqs_section(0, 90);
	assert_int_equal(maximum(), 20);
	trace_fs_close(handle);
	irqs_section(0, 80);
	assert_int_equal(maximum(), 80);
}

static struct trace_sched_thread thread(struct trace_thread *trace, int32_t pid, int32_t prio)
{
	return (struct trace_sched_thread){ .thread = trace,
					    .comm = "urgent\0\0\0\0\0\0\0\0\0",
					    .pid = pid,
					    .prio = prio,
					    .policy = prio < 100,
					    .state = 'R' };
}

static void wake(int32_t waker_prio, struct trace_thread *trace, int32_t pid, int32_t prio,
		 uint32_t cpu)
{
	struct trace_sched_thread waker = thread(&other_thread, 0, waker_prio);
	struct trace_sched_thread wakee = thread(trace, pid, prio);

	wakee.cpu = cpu;
	waker.ip = fake_func(YIELD) + 4;
	waker.parent_ip = fake_func(YIELD) + 8;
	fake_this->irqs_off = true;
	trace_sched_wakeup(&waker, &wakee);
	fake_this->irqs_off = false;
}

static void switch_to(uint32_t cpu, struct trace_thread *trace, int32_t pid, int32_t prio)
{
	struct trace_sched_thread prev = thread(&other_thread, 0, 120);
	struct trace_sched_thread next = thread(trace, pid, prio);

	fake_bind(cpu);
	next.cpu = cpu;
	prev.ip = fake_func(KFREE) + 4;
	fake_this->irqs_off = true;
	trace_sched_switch(&prev, &next);
	fake_this->irqs_off = false;
	fake_bind(0);
}

static void from_wakeup_to_switch(void **state)
{
	(void)state;
	start("wakeup_rt");
	wake(120, &wakee_thread, 42, 49, 1);
	call(0, 0, SCHEDULE);
	call(1, 0, DO_WORK);
	pass(30);
	switch_to(1, &other_thread, 7, 120); /* not the one */
	assert_int_equal(maximum(), 0);
	pass(10);
	switch_to(1, &wakee_thread, 42, 49);
	assert_in_range(maximum(), 42, 42);
	shows("CPU#1 |");
	shows("| task: urgent-42 (uid:0 nice:0 policy:1 rt_prio:50)");
	shows("0:120:R   + [001]      42: 49:R");
	shows("0:120:R ==> [001]      42: 49:R");
	shows("do_work <-");
	shows_not("schedule");
	shows_not("=> started at");
	pass(10);
	switch_to(1, &wakee_thread, 42, 49); /* it was not woken */
	assert_in_range(maximum(), 42, 42);
}

static void migrate(struct trace_thread *trace, uint32_t cpu)
{
	struct trace_sched_thread moved = thread(trace, 42, 49);

	moved.cpu = cpu;
	fake_this->irqs_off = true;
	trace_sched_migrate_task(&moved, 0);
	fake_this->irqs_off = false;
}

/* A dump does not wait: it goes without the names that it cannot have. */
static void dumped_without_names(void **state)
{
	(void)state;
	start("wakeup_rt");
	fake_thread_add(42, "urgent");
	wake(120, &wakee_thread, 42, 49, 0);
	switch_to(0, &wakee_thread, 42, 49);
	wake(120, &wakee_thread, 42, 49, 0);
	fake_names_held = true;
	trace_dump(TRACE_ALL_CPUS);
	fake_names_held = false;
	assert_non_null(strstr(fake_log(), "0:120:R   + [000]      42: 49:R <...>\n"));
	tracing_on();
}

static void shows_once(const char *text)
{
	const char *at;

	shows(text);
	at = strstr(cat("trace"), text);
	assert_null(strstr(at + 1, text));
}

/* Calls are recorded where it is to run. Whoever else moves changes nothing. */
static void followed_elsewhere(void **state)
{
	(void)state;
	start("wakeup_rt");
	wake(120, &wakee_thread, 42, 49, 0);
	migrate(&other_thread, 1);
	call(0, 0, SCHEDULE);
	call(1, 0, DO_WORK);
	migrate(&wakee_thread, 1);
	call(0, 0, SCHEDULE);
	call(1, 0, DO_WORK);
	switch_to(1, &wakee_thread, 42, 49);
	shows_once("schedule <-");
	shows_once("do_work <-");
	shows("CPU#1 |");
}

/* A wakeup and a switch in the forms for programs, after the fields that all events have. */
static void context_events_for_programs(void **state)
{
	static const char want[] = "\0\0\0\0\x78R\1\0\0\0\x2a\0\0\0\x31R";
	struct trace_handle *handle;
	uint64_t pos = 0;
	char got[4096], *found;

	(void)state;
	start("wakeup_rt");
	wake(120, &wakee_thread, 42, 49, 1);
	pass(40);
	switch_to(1, &wakee_thread, 42, 49);
	assert_int_equal(echo("", "set_ftrace_filter"), 0);
	assert_int_equal(echo("0", "options/context-info"), 0);
	assert_int_equal(echo("1", "options/raw"), 0);
	shows("0 120 + 1 42 49 R\n");
	shows("0 120 R 1 42 49 R\n");
	assert_int_equal(echo("0", "options/raw"), 0);
	assert_int_equal(echo("1", "options/hex"), 0);
	shows("00000000 78 2b 00000001 0000002a 31 52 \n");
	shows("00000000 78 52 00000001 0000002a 31 52 \n");
	assert_int_equal(echo("0", "options/hex"), 0);
	assert_int_equal(echo("1", "options/bin"), 0);
	handle = open_file("trace", TRACE_FS_READ);
	assert_true(trace_fs_read(handle, got, sizeof(got), &pos) > 0);
	found = memmem(got, pos, want, sizeof(want) - 1);
	assert_non_null(found);
	found += sizeof(want) - 1;
	assert_non_null(memmem(found, (size_t)(got + pos - found), want, sizeof(want) - 1));
	trace_fs_close(handle);
	assert_int_equal(echo("0", "options/bin"), 0);
	assert_int_equal(echo("1", "options/context-info"), 0);
}

static void who_is_followed(void **state)
{
	(void)state;
	start("wakeup_rt");
	wake(120, &wakee_thread, 42, 110, 0); /* not real time */
	pass(10);
	switch_to(0, &wakee_thread, 42, 110);
	wake(49, &wakee_thread, 42, 49, 0); /* no more urgent than who wakes it */
	pass(10);
	switch_to(0, &wakee_thread, 42, 49);
	assert_int_equal(maximum(), 0);
	wake(120, &wakee_thread, 42, 60, 0);
	pass(10);
	wake(120, &other_thread, 43, 50, 0); /* takes its place */
	pass(10);
	switch_to(0, &wakee_thread, 42, 60);
	assert_int_equal(maximum(), 0);
	switch_to(0, &other_thread, 43, 50);
	assert_in_range(maximum(), 10, 11);
	start("wakeup");
	wake(120, &wakee_thread, 42, 110, 0);
	pass(25);
	switch_to(0, &wakee_thread, 42, 110);
	assert_in_range(maximum(), 25, 26);
}

static void one_user(void **state)
{
	(void)state;
	start("irqsoff");
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "other"), 0);
	assert_int_equal(echo("preemptoff", "instances/other/current_tracer"), -EBUSY);
	assert_int_equal(echo("wakeup", "instances/other/current_tracer"), 0);
	assert_int_equal(echo("nop", "instances/other/current_tracer"), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "other"), 0);
}

/* The second is refused, and the first goes on as it was: with every thread, and with this one. */
static void one_wakeup(void **state)
{
	(void)state;
	start("wakeup");
	wake(120, &wakee_thread, 42, 110, 0);
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "other"), 0);
	assert_int_equal(echo("wakeup_rt", "instances/other/current_tracer"), -EBUSY);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "other"), 0);
	pass(30);
	switch_to(0, &wakee_thread, 42, 110);
	assert_in_range(maximum(), 30, 31);
	wake(120, &wakee_thread, 42, 110, 0);
	pass(50);
	switch_to(0, &wakee_thread, 42, 110);
	assert_in_range(maximum(), 50, 51);
}

/*
 * From one allocation on there is no memory, or for it alone: an error, or all is as with memory.
 */
static void start_without_memory(const char *tracer, const char *heard, bool once)
{
	long nr_failures = 0;
	bool has_failed = true;

	assert_int_equal(echo("nop", "current_tracer"), 0);
	for (long budget = 0; has_failed; budget++) {
		int err;

		fake_alloc_budget = budget;
		fake_alloc_fails_once = once;
		err = echo(tracer, "current_tracer");
		has_failed = fake_alloc_budget <= 0;
		fake_alloc_fails_once = false;
		fake_alloc_budget = -1;
		nr_failures += err != 0;
		assert_true(!err || err == -ENOMEM);
		if (err)
			says("current_tracer", "nop\n");
		assert_string_equal(listened_to(), err ? "" : heard);
		assert_int_equal(echo("nop", "current_tracer"), 0);
	}
	assert_true(nr_failures >= 3);
}

static void without_memory(void **state)
{
	(void)state;
	for (int once = 0; once <= 1; once++) {
		start_without_memory("preemptirqsoff", BOTH, once);
		start_without_memory("wakeup", WAKEUP, once);
	}
}

static int setup(void **state)
{
	int err = tracefs_setup(state);

	fake_thread_add(3, "left");
	fake_thread_add(4, "right");
	return err;
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_they_listen_to),
		TEST(longest_counts),
		TEST(calls_belong_to_their_cpu),
		TEST(on_and_off_need_not_match),
		TEST(either),
		TEST(idle_does_not_count),
		TEST(threshold),
		TEST(threshold_of_all),
		TEST(switched_off),
		TEST(options),
		TEST(cut_not_rounded),
		TEST(option_that_fails),
		TEST(as_a_graph),
		TEST(not_within_itself),
		TEST(asked_late),
		TEST(thread_filters),
		TEST(settings_of_the_graph),
		TEST(levels_begin_with_the_time),
		TEST(paused_while_read),
		TEST(from_wakeup_to_switch),
		TEST(dumped_without_names),
		TEST(followed_elsewhere),
		TEST(context_events_for_programs),
		TEST(who_is_followed),
		TEST(one_user),
		TEST(one_wakeup),
		TEST(without_memory),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
