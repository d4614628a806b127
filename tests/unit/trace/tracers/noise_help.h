/*
 * For tests of osnoise and timerlat: a host whose threads take turns by hand, on a clock that a test moves.
 * Interruptions come by `at_reading`, which is called before each reading of the clock.
 */
#ifndef NOISE_HELP_H
#define NOISE_HELP_H

#include <trace/host_tracepoints.h>
#include "noise_threads.h"

static bool listens;
static int listen_err;

/* Calls of a sleep until a deadline: the timer's interrupt, and when the thread runs. */
static uint64_t irq_late_ns, thread_late_ns;
static bool is_untold; /* the interrupt is not told of */
static uint32_t nr_deadlines;

static void timer_interrupt(void)
{
	if (is_untold)
		return;
	trace_noise_irq(true, 236, "local_timer");
	trace_noise_timer();
	trace_noise_irq(false, 236, "local_timer");
}

static void deadline_passes(uint64_t deadline_ns)
{
	fake_clock = deadline_ns - 100 * US;
	timer_interrupt(); /* that of another timer */
	fake_clock = deadline_ns + irq_late_ns;
	timer_interrupt();
	fake_clock = deadline_ns + thread_late_ns;
}

static void sleep_until(uint64_t deadline_ns, bool (*done)(void *arg), void *arg)
{
	if (done(arg))
		return;
	running->until_ns = deadline_ns;
	if (!nr_deadlines)
		longjmp(turn_end, 1);
	nr_deadlines--;
	deadline_passes(deadline_ns);
}

/* The program that is timerlat's thread: the CPU that it may use alone, and what comes in its sleep. */
static uint32_t pinned_to;
static bool has_signal;
static uint64_t program_slept_until;

static bool is_pinned(uint32_t cpu)
{
	return pinned_to == cpu;
}

static int sleep_user(uint64_t deadline_ns, bool (*done)(void *arg), void *arg)
{
	program_slept_until = deadline_ns;
	if (done(arg))
		return 0;
	if (has_signal)
		return -EINTR;
	deadline_passes(deadline_ns);
	return 0;
}

static void real(uint64_t *out_ns)
{
	*out_ns = 0;
}

static int listen_host(void)
{
	assert_false(listens);
	if (listen_err)
		return listen_err;
	listens = true;
	return 0;
}

static void unlisten(void)
{
	assert_true(listens);
	listens = false;
}

static void urge(void)
{
	if (running)
		running->is_urgent = true;
}

static const struct trace_noise_host host = {
	.start = start,
	.join = join,
	.sleep = sleep_host,
	.wake = wake,
	.move = move,
	.real = real,
	.listen = listen_host,
	.unlisten = unlisten,
	.sleep_until = sleep_until,
	.urge = urge,
	.is_pinned = is_pinned,
	.sleep_user = sleep_user,
};

static int setup(void **state)
{
	trace_noise_host_set(&host);
	return tracefs_setup(state);
}

static int reset(void **state)
{
	int err;

	/* Make the memory that the tracers keep after their first use. */
	assert_int_equal(echo("timerlat", "current_tracer"), 0);
	assert_int_equal(echo("osnoise", "current_tracer"), 0);
	err = tracefs_reset(state);
	nr_started = fails_at = nr_deadlines = 0;
	listen_err = 0;
	irq_late_ns = thread_late_ns = 0;
	is_untold = false;
	return err;
}

static int check(void **state)
{
	fake_clock_irq = NULL;
	fake_clock_step = 0;
	assert_int_equal(echo("nop", "current_tracer"), 0);
	no_threads();
	assert_false(listens);
	assert_int_equal(echo("0", "events/osnoise/enable"), 0);
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("DEFAULTS", "osnoise/options"), 0);
	assert_int_equal(echo("0-1", "osnoise/cpus"), 0);
	assert_int_equal(echo("1000000", "osnoise/period_us"), 0);
	assert_int_equal(echo("1000000", "osnoise/runtime_us"), 0);
	assert_int_equal(echo("1000", "osnoise/timerlat_period_us"), 0);
	assert_int_equal(echo("0", "osnoise/stop_tracing_us"), 0);
	assert_int_equal(echo("0", "osnoise/stop_tracing_total_us"), 0);
	assert_int_equal(echo("0", "osnoise/print_stack"), 0);
	return tracefs_check(state);
}

HELPER void error_says(const char *text)
{
	assert_non_null(strstr(cat("error_log"), text));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, reset, check)

#endif
