/*
 * The tracer osnoise, with a host whose threads take turns by hand and whose clock jumps: the line, the
 * sources of noise and their net times, limits, settings, instances.
 */
#include <trace/ring_buffer.h>
#include "instance/array.h"
#include "noise_help.h"

/* Called before reading number `jump_at` of the clock. */
static int jump_at;
static void (*at_jump)(void);

static void count_readings(void)
{
	if (jump_at && !--jump_at)
		at_jump();
}

/* Thread 0 measures for 100 us, and `fn` comes into it. */
static void measure(void (*fn)(void))
{
	at_jump = fn;
	jump_at = 20;
	fake_clock_irq = count_readings;
	turn(0, US);
	fake_clock_irq = NULL;
}

static void begin(void)
{
	assert_int_equal(echo("100", "osnoise/runtime_us"), 0);
	assert_int_equal(echo("150", "osnoise/period_us"), 0);
	assert_int_equal(echo("0", "osnoise/cpus"), 0);
	assert_int_equal(echo("osnoise", "current_tracer"), 0);
}

/* ---- Sources ---- */

static void take(uint64_t us)
{
	fake_clock += us * US;
}

static void machine(void)
{
	take(30);
}

static void machine_at_the_end(void)
{
	take(30);
	ring_buffer_record_off(trace_global_array()->buffer);
}

static void short_time(void)
{
	take(3);
}

static void interrupt(void)
{
	trace_noise_irq(true, 236, "local_timer");
	take(20);
	trace_noise_irq(false, 236, "local_timer");
}

static void nmi(void)
{
	trace_noise_nmi(true);
	take(50);
	trace_noise_nmi(false);
}

/* A thread of 40 us of its own; a softirq of 10, an interrupt of 20 and an NMI of 50 come into it. */
static void nested(void)
{
	static const char other_comm[TRACE_COMM_LEN] = "other",
			  own_comm[TRACE_COMM_LEN] = "osnoise/0";
	struct trace_thread trace = { 0 };
	struct trace_sched_thread other = { .thread = &trace, .comm = other_comm, .pid = 77 };
	struct trace_sched_thread own = { .thread = trace_plat_current(), .comm = own_comm };
	uint64_t flags = trace_plat_irq_save();

	trace_sched_switch(&own, &other);
	take(40);
	trace_noise_softirq(true, 1, "timer");
	take(10);
	trace_noise_irq(true, 33, "disk");
	nmi();
	take(20);
	trace_noise_irq(false, 33, "disk");
	trace_noise_softirq(false, 1, "timer");
	trace_sched_switch(&other, &own);
	trace_plat_irq_restore(flags);
}

static void line_is(const char *text)
{
	assert_non_null(strstr(cat("trace"), text));
}

static void quiet(void **state)
{
	(void)state;
	begin();
	assert_string_equal(threads[0].name, "osnoise/0");
	assert_int_equal(nr_started, 1);
	measure(short_time);
	assert_int_equal(threads[0].cpu, 0);
	assert_false(threads[0].is_urgent);
	assert_int_equal(threads[0].slept_ns, 50 * US);
	line_is(": 100          0 100.00000       0      0      0      0      0      0\n");
	line_is("# tracer: osnoise\n#\n#                                _-----=> irqs-off\n");
	line_is("RUNTIME      NOISE  % OF CPU  SINGLE  Interference counters:\n");
	says("tracing_max_latency", "0\n");
}

static void of_the_machine(void **state)
{
	(void)state;
	begin();
	/* Recording is switched off while the thread measures: a noise without a line is no maximum. */
	measure(machine_at_the_end);
	says("tracing_max_latency", "0\n");
	ring_buffer_record_on(trace_global_array()->buffer);
	measure(machine);
	line_is(": 100         31  69.00000      31      1      0      0      0      0\n");
	says("tracing_max_latency", "31\n");
	assert_int_equal(echo("raw", "trace_options"), 0);
	line_is(" 100 31 31 1 0 0 0 0\n");
	assert_int_equal(echo("noraw", "trace_options"), 0);
	/* Recording this reads the clock, too, and may look like noise of its own. */
	assert_int_equal(echo("1", "events/osnoise/enable"), 0);
	measure(machine);
	line_is(" duration 31000 ns interference 0\n");
}

static void of_an_interrupt(void **state)
{
	(void)state;
	trace_noise_nmi(true); /* nothing is sampled yet */
	trace_noise_nmi(false);
	begin();
	assert_int_equal(echo("1", "events/osnoise/enable"), 0);
	measure(interrupt);
	line_is("irq_noise: local_timer:236 start 12.3");
	line_is(" interference 1\n");
	assert_int_equal(count_in("trace", "irq_noise"), 1);
	line_is("      0      0      1      0      0\n"); /* no time was the machine's */
}

/* `text`, a number of nanoseconds behind it: `us`, and up to 12 more for readings of the clock. */
static void lasted(const char *text, uint64_t us)
{
	const char *at = strstr(cat("trace"), text);

	assert_non_null(at);
	at = strstr(at, "duration ");
	assert_non_null(at);
	assert_in_range(strtoull(at + strlen("duration "), NULL, 10), us * US, (us + 12) * US);
}

static void net_times(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("200", "osnoise/period_us"), 0);
	assert_int_equal(echo("200", "osnoise/runtime_us"), 0);
	assert_int_equal(echo("250", "osnoise/period_us"), 0);
	assert_int_equal(echo("1", "events/osnoise/enable"), 0);
	measure(nested);
	lasted("nmi_noise: start", 50);
	lasted("irq_noise: disk:33", 20);
	lasted("softirq_noise:    timer:1", 10);
	lasted("thread_noise:    other:77", 40);
	line_is(" interference 4\n");
	line_is("      0      1      1      1      1\n");
}

/* An interruption whose beginning came before the sampling is no noise. */
static void half_seen(void)
{
	trace_noise_irq(false, 236, "local_timer");
	trace_noise_softirq(false, 1, "timer");
}

static void beginning_not_seen(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("1", "events/osnoise/enable"), 0);
	measure(half_seen);
	assert_int_equal(count_in("trace", "_noise:"), 0);
}

static void threshold(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("3", "tracing_thresh"), 0);
	measure(short_time);
	line_is(": 100          4  96.00000       4      1      0      0      0      0\n");
}

/* ---- Limits ---- */

static void stop_at_one(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("32", "osnoise/stop_tracing_us"), 0);
	measure(machine);
	tracing_is(true);
	assert_int_equal(echo("31", "osnoise/stop_tracing_us"), 0);
	measure(machine);
	tracing_is(false);
	line_is("stop tracing hit on cpu 0\n");
	assert_non_null(
		strstr(cat("why"), "the tracer osnoise saw a time above its limit in thread "));
	/* It sleeps a whole period then, until recording is on again. */
	turn(0, US);
	assert_int_equal(threads[0].slept_ns, 150 * US);
	assert_int_equal(count_in("trace", ": 100 "), 1);
	assert_int_equal(fake_nr_panics, 0);
}

static void stop_at_the_sum(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("31", "osnoise/stop_tracing_total_us"), 0);
	assert_int_equal(echo("PANIC_ON_STOP", "osnoise/options"), 0);
	measure(short_time);
	tracing_is(true);
	measure(machine);
	tracing_is(false);
	assert_int_equal(fake_nr_panics, 1);
	fake_nr_panics = 0;
}

/* ---- Settings ---- */

static void settings(void **state)
{
	(void)state;
	says("osnoise/cpus", "0-1\n");
	says("osnoise/period_us", "1000000\n");
	says("osnoise/runtime_us", "1000000\n");
	says("osnoise/stop_tracing_us", "0\n");
	says("osnoise/stop_tracing_total_us", "0\n");
	says("osnoise/timerlat_period_us", "1000\n");
	says("osnoise/print_stack", "0\n");
	assert_int_equal(echo("1000001", "osnoise/runtime_us"), -EINVAL);
	error_says("osnoise/runtime_us: error: longer than period_us\n");
	assert_int_equal(echo("0", "osnoise/runtime_us"), -EINVAL);
	error_says("osnoise/runtime_us: error: no time at all\n");
	assert_int_equal(echo("999999", "osnoise/period_us"), -EINVAL);
	error_says("osnoise/period_us: error: shorter than runtime_us\n");
	assert_int_equal(echo("18446744073709552", "osnoise/stop_tracing_us"), -EINVAL);
	error_says("osnoise/stop_tracing_us: error: longer than the clock counts\n");
	assert_int_equal(echo("99", "osnoise/timerlat_period_us"), -EINVAL);
	assert_int_equal(echo("1000001", "osnoise/timerlat_period_us"), -EINVAL);
	assert_int_equal(echo("x", "osnoise/print_stack"), -EINVAL);
	assert_int_equal(echo("0-2", "osnoise/cpus"), -EINVAL);
	says("osnoise/cpus", "0-1\n");
	says("osnoise/period_us", "1000000\n");
	says("osnoise/runtime_us", "1000000\n");
	says("osnoise/timerlat_period_us", "1000\n");
}

static void cpus(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("1", "osnoise/cpus"), 0);
	says("osnoise/cpus", "1\n");
	assert_int_equal(nr_started, 2);
	assert_string_equal(threads[0].name, "osnoise/1");
	measure(short_time);
	assert_int_equal(threads[0].cpu, 1);
	assert_int_equal(count_in("per_cpu/cpu1/trace", ": 100 "), 1);
	assert_int_equal(count_in("per_cpu/cpu0/trace", ": 100 "), 0);
}

static const char *const first_options =
	"NO_DEFAULTS OSNOISE_WORKLOAD NO_PANIC_ON_STOP NO_OSNOISE_PREEMPT_DISABLE "
	"NO_OSNOISE_IRQ_DISABLE\n";

static bool had_irqs_off, had_preempt_off;

static void look(void)
{
	had_irqs_off = trace_plat_irqs_disabled();
	had_preempt_off = trace_plat_preempt_count();
}

static void options(void **state)
{
	(void)state;
	says("osnoise/options", first_options);
	begin();
	measure(look);
	assert_false(had_irqs_off || had_preempt_off);
	assert_int_equal(echo("OSNOISE_PREEMPT_DISABLE", "osnoise/options"), 0);
	measure(look);
	assert_true(had_preempt_off && !had_irqs_off);
	assert_int_equal(echo("OSNOISE_IRQ_DISABLE", "osnoise/options"), 0);
	assert_int_equal(echo("NO_OSNOISE_PREEMPT_DISABLE", "osnoise/options"), 0);
	measure(look);
	assert_true(!had_preempt_off && had_irqs_off);
	assert_int_equal(echo("PANIC", "osnoise/options"), -EINVAL);
	error_says(
		"osnoise/options: error: no option of osnoise: read the file for all there are\n");
	assert_int_equal(echo("NO_DEFAULTS", "osnoise/options"), -EINVAL);
	assert_int_equal(echo("DEFAULTS", "osnoise/options"), 0);
	says("osnoise/options", first_options);
}

/* Without threads, each thread's noise is told, and that of interrupts. */
static void no_workload(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("1", "events/osnoise/enable"), 0);
	assert_int_equal(echo("NO_OSNOISE_WORKLOAD", "osnoise/options"), 0);
	assert_false(threads[0].is_there);
	assert_true(listens);
	nested();
	nested();
	assert_int_equal(count_in("trace", "irq_noise: disk:33"), 2);
	line_is("thread_noise: osnoise/0:0 start ");
}

/* ---- Instances, memory ---- */

static void instances(void **state)
{
	(void)state;
	begin();
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "other"), 0);
	assert_int_equal(echo("timerlat", "instances/other/current_tracer"), -EBUSY);
	assert_int_equal(echo("osnoise", "instances/other/current_tracer"), 0);
	measure(machine);
	assert_int_equal(count_in("trace", ": 100 "), 1);
	assert_int_equal(count_in("instances/other/trace", ": 100 "), 1);
	assert_null(node_of("instances/other/osnoise"));
	/* One that is not recorded into takes no part. */
	assert_int_equal(echo("0", "tracing_on"), 0);
	measure(machine);
	assert_int_equal(count_in("trace", ": 100 "), 1);
	assert_int_equal(count_in("instances/other/trace", ": 100 "), 2);
	assert_int_equal(echo("0", "instances/other/tracing_on"), 0);
	assert_false(threads[0].is_there || listens);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_true(threads[0].is_there && listens);
	assert_int_equal(echo("nop", "instances/other/current_tracer"), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "other"), 0);
	measure(machine);
	assert_int_equal(count_in("trace", ": 100 "), 2);
}

static void no_memory(void **state)
{
	(void)state;
	fails_at = 2;
	assert_int_equal(echo("osnoise", "current_tracer"), -ENOMEM);
	assert_false(threads[0].is_there || listens);
	says("current_tracer", "nop\n");
	fails_at = 0;
	listen_err = -ENOMEM;
	assert_int_equal(echo("osnoise", "current_tracer"), -ENOMEM);
	listen_err = 0;
	begin();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quiet),
		TEST(of_the_machine),
		TEST(of_an_interrupt),
		TEST(net_times),
		TEST(beginning_not_seen),
		TEST(threshold),
		TEST(stop_at_one),
		TEST(stop_at_the_sum),
		TEST(settings),
		TEST(cpus),
		TEST(options),
		TEST(no_workload),
		TEST(instances),
		TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
