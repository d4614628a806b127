/*
 * The profiler, with a host whose CPUs are hit by hand: the event, files of profile/, what the host is
 * asked for, missed hits, the limit of the time.
 */
#include "unit.h"
#include "tracefs.h"
#include "instance/array.h"
#include <trace/errno.h>
#include <trace/sample.h>

#define MS	1000000u
#define HARDIRQ 0x00010000u

static uint32_t asked[2][TRACE_SAMPLE_NR_CLOCKS];
static const char *lack; /* of NMIs */

static const char *lacks(enum trace_sample_clock clock)
{
	return clock == TRACE_SAMPLE_NMI ? lack : NULL;
}

static void set(uint32_t cpu, enum trace_sample_clock clock, uint32_t period_ns)
{
	assert_int_not_equal(asked[cpu][clock], period_ns); /* changes alone are told */
	asked[cpu][clock] = period_ns;
}

static const struct trace_sample_host host = { .lacks = lacks, .set = set };

static int setup(void **state)
{
	trace_sample_host_set(&host);
	return tracefs_setup(state);
}

static int reset(void **state)
{
	int err = tracefs_reset(state);

	lack = NULL;
	assert_int_equal(echo("1000", "profile/frequency"), 0);
	assert_int_equal(echo("25", "profile/max_percent"), 0);
	/* The first use of an event makes memory that stays. */
	assert_int_equal(echo("1", "profile/on"), 0);
	assert_int_equal(echo("0", "profile/on"), 0);
	memory_out = fake_alloc_out;
	return err;
}

static int check(void **state)
{
	assert_int_equal(echo("0", "profile/on"), 0);
	assert_int_equal(echo("0-1", "profile/cpus"), 0);
	assert_int_equal(echo("", "profile/pids"), 0);
	assert_int_equal(echo("timer", "profile/clock"), 0);
	for (int cpu = 0; cpu < 2; cpu++) {
		for (int clock = 0; clock < TRACE_SAMPLE_NR_CLOCKS; clock++)
			assert_int_equal(asked[cpu][clock], 0);
	}
	return tracefs_check(state);
}

/* Thread `pid` on `cpu` is interrupted, whose preempt count is `count`. */
static void hit_in(uint32_t cpu, int32_t pid, uint32_t count, struct trace_sample_hit hit)
{

	hit.now_ns = fake_clock;
	hit.periods = hit.periods ? hit.periods : 1;
	hit.period_ns = hit.period_ns ? hit.period_ns : MS;
	fake_bind(cpu);
	fake_cpus[cpu].pid = pid;
	fake_cpus[cpu].preempt_count = HARDIRQ;
	hit.preempt_count = count;
	trace_sample(&hit);
	fake_cpus[cpu].preempt_count = 0;
	fake_bind(0);
}

static void hit(uint32_t cpu, int32_t pid)
{
	hit_in(cpu, pid, 0, (struct trace_sample_hit){ .ip = fake_func(DO_WORK) + 4 });
}

static void samples_are(size_t nr)
{
	assert_int_equal(count_in("trace", "sample: "), nr);
	assert_int_equal(echo("", "trace"), 0);
}

/* ---- The event ---- */

static void line(void **state)
{
	const char *fmt;

	(void)state;
	assert_int_equal(echo("1", "profile/on"), 0);
	hit(0, 7);
	assert_string_equal(only_event("sample:"),
			    "sample: kernel ip=do_work+0x4/0x10 period=1000000\n");
	fmt = strstr(cat("events/profile/sample/format"), "print fmt:");
	assert_non_null(strstr(fmt, "\"%s ip=%pS period=%u%s\", "));
	assert_non_null(strstr(cat("events/profile/sample/format"),
			       "field:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"));
	assert_int_equal(echo("", "trace"), 0);
}

static void context_is(int32_t pid, uint32_t count, struct trace_sample_hit hit, const char *text)
{
	hit.ip = hit.ip ? hit.ip : fake_func(KFREE);
	hit_in(0, pid, count, hit);
	assert_non_null(strstr(only_event("sample:"), text));
	assert_int_equal(echo("", "trace"), 0);
}

static void contexts(void **state)
{
	const struct trace_sample_hit timer = { 0 }, nmi = { .clock = TRACE_SAMPLE_NMI };
	struct trace_sample_hit user = { .ip = 0x401234, .is_user = true }, off = nmi;

	(void)state;
	off.irqs_off = true;
	assert_int_equal(echo("1", "profile/on"), 0);
	context_is(0, 0, timer, "sample: idle ip=kfree+0x0/0x10 ");
	context_is(7, 0, timer, "sample: kernel ");
	context_is(7, 0x200, timer, "sample: kernel "); /* softirqs are held off, none is served */
	context_is(7, 0x100, timer, "sample: softirq ");
	context_is(7, HARDIRQ, timer, "sample: irq ");
	context_is(7, 0, user, "sample: user ip=0x401234 period=1000000\n");
	assert_int_equal(echo("nmi", "profile/clock"), 0);
	context_is(0, 0, nmi, "sample: idle ");
	context_is(7, 0, off, "sample: kernel ip=kfree+0x0/0x10 period=1000000 irqs-off\n");
	context_is(7, HARDIRQ, off, "sample: irq ");
}

/* Stacks begin at the interrupted instruction; a program has none in the kernel. */
static void stacks(void **state)
{
	struct trace_sample_hit user = { .ip = 0x401234, .is_user = true };

	(void)state;
	fake_stack[0] = (uint32_t)fake_func(YIELD); /* of the handler */
	fake_stack[1] = (uint32_t)fake_func(DO_WORK) + 4;
	fake_stack[2] = (uint32_t)fake_func(SCHEDULE) + 8;
	fake_stack_nr = 3;
	assert_int_equal(echo("stacktrace", "trace_options"), 0);
	assert_int_equal(echo("1", "profile/on"), 0);
	hit(0, 7);
	assert_non_null(strstr(cat("trace"), "<stack trace>\n => do_work\n => schedule\n"));
	assert_int_equal(echo("", "trace"), 0);
	hit_in(0, 7, 0, user);
	assert_null(strstr(cat("trace"), "<stack trace>"));
	assert_int_equal(echo("nostacktrace", "trace_options"), 0);

	assert_int_equal(echo("hist:keys=stacktrace", "events/profile/sample/trigger"), 0);
	hit(0, 7);
	hit(1, 7);
	hit_in(0, 7, 0, user);
	assert_non_null(strstr(cat("events/profile/sample/hist"), "{ stacktrace:\n"
								  "         do_work+0x4/0x10\n"
								  "         schedule+0x8/0x10\n"
								  "} hitcount:          2\n"));
	assert_non_null(strstr(cat("events/profile/sample/hist"), "{ stacktrace:\n"
								  "} hitcount:          1\n"));
	assert_int_equal(echo("!hist:keys=stacktrace", "events/profile/sample/trigger"), 0);
	fake_stack_nr = 0;
	assert_int_equal(echo("", "trace"), 0);
}

static uint32_t due; /* bits that the host was given */

static void at_return(const struct trace_sample_due *of)
{
	assert_int_equal(of->clock, TRACE_SAMPLE_NMI);
	due |= of->bits;
}

/* The stack of a program is read when it goes on, once for all samples, in the instances that have asked. */
static void stacks_of_programs(void **state)
{
	static const struct trace_sample_host later = { .lacks = lacks,
							.set = set,
							.at_return = at_return };
	static const struct trace_plat_user user = { .ip = 0x401234, .tgid = 5 };
	const struct trace_sample_hit nmi = { .clock = TRACE_SAMPLE_NMI };

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "other"), 0);
	assert_int_equal(echo("userstacktrace", "trace_options"), 0);
	assert_int_equal(echo("1", "profile/on"), 0);
	fake_user = &user;
	hit(0, 7); /* this host has nothing for later */
	assert_non_null(strstr(cat("trace"), "<user stack trace>\n =>  <0000000000401234>\n"));
	trace_sample_host_set(&later);
	assert_int_equal(echo("nmi", "profile/clock"), 0);
	assert_int_equal(echo("", "trace"), 0);
	hit(0, 7);
	assert_int_equal(due, 0); /* no sample: the other clock */
	hit_in(0, 7, 0, nmi);
	hit_in(0, 7, 0, nmi);
	assert_int_equal(count_in("trace", "user stack trace"), 0);
	trace_sample_return(due);
	assert_int_equal(count_in("trace", "user stack trace"), 1);
	assert_int_equal(count_in("instances/other/trace", "user stack trace"), 0);
	trace_sample_return(~due);
	assert_int_equal(count_in("trace", "user stack trace"), 1);
	fake_user = NULL; /* a program that ends */
	trace_sample_return(due);
	samples_are(2);
	due = 0;
	assert_int_equal(echo("nouserstacktrace", "trace_options"), 0);
	hit_in(0, 7, 0, nmi);
	assert_int_equal(due, 0);
	samples_are(1);
	trace_sample_host_set(&host);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "other"), 0);
}

/* Switching all events on leaves it off; by name, by its system and by a trigger it is on. */
static void switches(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "events/enable"), 0);
	assert_string_equal(cat("events/enable"), "1\n");
	assert_string_equal(cat("profile/on"), "0\n");
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("*:*", "set_event"), 0);
	assert_string_equal(cat("profile/on"), "0\n");
	assert_int_equal(echo("", "set_event"), 0);
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], 0);

	assert_int_equal(echo("1", "events/profile/enable"), 0);
	assert_string_equal(cat("profile/on"), "1\n");
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], MS);
	assert_int_equal(asked[1][TRACE_SAMPLE_TIMER], MS);
	assert_int_equal(echo("0", "profile/on"), 0);
	assert_string_equal(cat("events/profile/sample/enable"), "0\n");
	assert_int_equal(echo("profile:sample", "set_event"), 0);
	assert_string_equal(cat("profile/on"), "1\n");
	assert_int_equal(echo("", "set_event"), 0);
	assert_int_equal(echo("hist:keys=common_pid", "events/profile/sample/trigger"), 0);
	assert_string_equal(cat("profile/on"), "0*\n");
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], MS);
	assert_int_equal(echo("!hist:keys=common_pid", "events/profile/sample/trigger"), 0);
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], 0);
}

/* ---- Settings ---- */

static void sample_refuses(const char *text, const char *path, int err, const char *why,
			   unsigned int at)
{
	const char *log, *mark;

	assert_int_equal(echo("", "error_log"), 0);
	assert_int_equal(echo(text, path), err);
	log = cat("error_log");
	assert_non_null(strstr(log, path));
	assert_non_null(strstr(log, why));
	mark = strrchr(log, '^');
	assert_non_null(mark);
	while (*mark != '\n')
		mark--;
	assert_int_equal(strcspn(mark + 1, "^"), strlen("  Command: ") + at);
}

static void mistakes(void **state)
{
	(void)state;
	assert_int_equal(echo("0-1", "profile/cpus"), 0);
	sample_refuses("0", "profile/frequency", -EINVAL, "1 to 100000 samples", 0);
	sample_refuses("100001", "profile/frequency", -EINVAL, "1 to 100000 samples", 0);
	sample_refuses("9x", "profile/frequency", -EINVAL, "not a number", 1);
	sample_refuses("0", "profile/max_percent", -EINVAL, "1 to 100", 0);
	sample_refuses("101", "profile/max_percent", -EINVAL, "1 to 100", 0);
	sample_refuses("2", "profile/on", -EINVAL, "neither 0 nor 1", 0);
	sample_refuses("0,2", "profile/cpus", -EINVAL, "there is no such CPU", 2);
	sample_refuses("0,", "profile/cpus", -EINVAL, "not the number of a CPU", 2);
	sample_refuses("1-0", "profile/cpus", -EINVAL, "the first CPU lies behind the last", 0);
	sample_refuses("0 1", "profile/cpus", -EINVAL, "not a list of CPUs", 2);
	sample_refuses("x", "profile/pids", -EINVAL, "not the number of a thread", 0);
	sample_refuses("clock", "profile/clock", -EINVAL, "there is no such clock", 0);
	lack = "there is no second CPU";
	sample_refuses("nmi", "profile/clock", -ENODEV, lack, 0);
	assert_string_equal(cat("profile/frequency"), "1000\n");
	assert_string_equal(cat("profile/cpus"), "0-1\n");
	assert_string_equal(cat("profile/clock"), "[timer] nmi\n");
	assert_string_equal(cat("profile/pids"), "");
	assert_int_equal(echo("", "error_log"), 0);
}

static void cpus(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "profile/on"), 0);
	assert_int_equal(echo("1", "profile/cpus"), 0);
	assert_string_equal(cat("profile/cpus"), "1\n");
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], 0);
	assert_int_equal(asked[1][TRACE_SAMPLE_TIMER], MS);
	hit(0, 7); /* on its way while it was switched off */
	hit(1, 7);
	samples_are(1);
}

static void pids(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "profile/on"), 0);
	assert_int_equal(echo("9 7", "profile/pids"), 0);
	assert_int_equal(echo_append("8", "profile/pids"), 0);
	assert_int_equal(echo_append("!9", "profile/pids"), 0);
	assert_string_equal(cat("profile/pids"), "7\n8\n");
	for (int32_t pid = 6; pid < 10; pid++)
		hit(0, pid);
	samples_are(2);
	assert_int_equal(echo_append("!7 !8", "profile/pids"), 0); /* none are all */
	hit(0, 9);
	samples_are(1);
}

static void clocks(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "profile/on"), 0);
	assert_int_equal(echo("nmi", "profile/clock"), 0);
	assert_string_equal(cat("profile/clock"), "timer [nmi]\n");
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], 0);
	assert_int_equal(asked[0][TRACE_SAMPLE_NMI], MS);
	hit(0, 7);
	hit_in(0, 7, 0, (struct trace_sample_hit){ .clock = TRACE_SAMPLE_NMI });
	samples_are(1);
}

/* The host is asked for the shortest period; an instance with a longer one takes some of the hits. */
static void instances(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "slow"), 0);
	assert_string_equal(cat("instances/slow/profile/frequency"), "997\n");
	assert_string_equal(cat("instances/slow/profile/max_percent"), "25\n");
	assert_int_equal(echo("400", "instances/slow/profile/frequency"), 0);
	assert_int_equal(echo("1", "instances/slow/profile/on"), 0);
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], 2500000);
	assert_int_equal(echo("1", "profile/on"), 0);
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], MS);
	for (int i = 0; i < 10; i++)
		hit(0, 7);
	assert_int_equal(count_in("instances/slow/trace", "period=2500000"), 4);
	samples_are(10);
	assert_int_equal(echo("0", "profile/on"), 0);
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], 2500000);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "slow"), 0);
	assert_int_equal(asked[0][TRACE_SAMPLE_TIMER], 0);
}

/* ---- Hits without a sample ---- */

static uint64_t stat_of(const char *word)
{
	const char *at = strstr(cat("profile/stats"), word);

	assert_non_null(at);
	return strtoull(at + strlen(word), NULL, 10);
}

static void missed_hits_are_counted(void **state)
{
	uint64_t samples = stat_of("samples "), lost = stat_of("lost ");

	(void)state;
	assert_int_equal(echo("1", "profile/on"), 0);
	hit_in(0, 7, 0, (struct trace_sample_hit){ .periods = 5 });
	hit(0, 7);
	assert_int_equal(stat_of("samples ") - samples, 2);
	assert_int_equal(stat_of("lost ") - lost, 4);
	samples_are(2);
}

/* Each reading of the clock takes half a period, so that a sample costs more than the limit allows. */
static void time_has_a_limit(void **state)
{
	uint64_t samples = stat_of("samples "), throttled = stat_of("throttled ");
	uint64_t nr;

	(void)state;
	assert_int_equal(echo("50", "profile/max_percent"), 0);
	assert_int_equal(echo("1", "profile/on"), 0);
	fake_clock_step = 2 * MS;
	for (int i = 0; i < 1000; i++)
		hit(0, 7);
	fake_clock_step = 0;
	nr = stat_of("samples ") - samples;
	assert_int_equal(nr + stat_of("throttled ") - throttled, 1000);
	assert_in_range(nr, 100, 300);
	assert_non_null(
		strstr(fake_log(), "profile: samples of CPU 0 take more than 50% of its time"));
	assert_null(strstr(strstr(fake_log(), "profile: samples") + 1, "profile: samples"));
	assert_int_equal(echo("", "trace"), 0);
}

static const char *setting; /* that is being written */
static char at_unlock[16];  /* its value for others as soon as they could take the lock */

static void read_at_unlock(const struct trace_plat_lock *lock)
{
	if (lock == &trace_config_lock)
		snprintf(at_unlock, sizeof(at_unlock), "%s", cat(setting));
}

static void settings_are_there_at_the_unlock(void **state)
{
	static const struct {
		const char *path, *written, *shown;
	} all[] = { { "profile/frequency", "500", "500\n" },
		    { "profile/max_percent", "50", "50\n" },
		    { "profile/clock", "nmi", "timer [nmi]\n" },
		    { "profile/cpus", "1", "1\n" },
		    { "profile/pids", "7", "7\n" },
		    { "profile/on", "1", "1\n" } };

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		setting = all[i].path;
		at_unlock[0] = '\0';
		fake_on_unlock = read_at_unlock;
		assert_int_equal(echo(all[i].written, setting), 0);
		fake_on_unlock = NULL;
		assert_string_equal(at_unlock, all[i].shown);
	}
}

static void no_memory(void **state)
{
	(void)state;
	for (long budget = 0; budget < 20; budget++) {
		fake_alloc_budget = budget;
		if (echo("7 8", "profile/pids") == 0)
			break;
		fake_alloc_budget = -1;
		assert_string_equal(cat("profile/pids"), "");
	}
	fake_alloc_budget = -1;
	assert_string_equal(cat("profile/pids"), "7\n8\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(line, reset, check),
		cmocka_unit_test_setup_teardown(contexts, reset, check),
		cmocka_unit_test_setup_teardown(stacks, reset, check),
		cmocka_unit_test_setup_teardown(stacks_of_programs, reset, check),
		cmocka_unit_test_setup_teardown(switches, reset, check),
		cmocka_unit_test_setup_teardown(mistakes, reset, check),
		cmocka_unit_test_setup_teardown(cpus, reset, check),
		cmocka_unit_test_setup_teardown(pids, reset, check),
		cmocka_unit_test_setup_teardown(clocks, reset, check),
		cmocka_unit_test_setup_teardown(instances, reset, check),
		cmocka_unit_test_setup_teardown(missed_hits_are_counted, reset, check),
		cmocka_unit_test_setup_teardown(time_has_a_limit, reset, check),
		cmocka_unit_test_setup_teardown(settings_are_there_at_the_unlock, reset, check),
		cmocka_unit_test_setup_teardown(no_memory, reset, check),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
