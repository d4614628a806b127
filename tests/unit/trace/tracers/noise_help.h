/*
 * For tests of osnoise and timerlat: a host whose threads take turns by hand, on a clock that a test moves.
 * Interruptions come by `at_reading`, which is called before each reading of the clock.
 */
#ifndef NOISE_HELP_H
#define NOISE_HELP_H

#include "unit.h"
#include "tracefs.h"
#include <setjmp.h>
#include <trace/errno.h>
#include <trace/host_tracepoints.h>
#include <trace/noise.h>

#define US	   1000u
#define NR_THREADS 4

static struct thread_of_host {
	char name[TRACE_COMM_LEN];
	int (*fn)(void *arg);
	void *arg;
	uint32_t cpu; /* where it was moved to; NR_THREADS: nowhere */
	uint64_t slept_ns, until_ns;
	bool is_urgent;
	bool is_there;
} threads[NR_THREADS];

static struct thread_of_host *running;
static jmp_buf turn_end;
static uint32_t nr_started, fails_at;
static bool listens;
static int listen_err;

static void *start(const char *name, int (*fn)(void *arg), void *arg)
{
	struct thread_of_host *thread = threads;

	if (fails_at && nr_started + 1 == fails_at)
		return NULL;
	nr_started++;
	while (thread->is_there)
		thread++;
	assert_true(thread < threads + NR_THREADS);
	*thread = (struct thread_of_host){
		.fn = fn, .arg = arg, .cpu = NR_THREADS, .is_there = true
	};
	strcpy(thread->name, name);
	return thread;
}

/* The thread is in its sleep: it looks, and ends. */
static void join(void *handle)
{
	struct thread_of_host *thread = handle;

	assert_true(thread->is_there);
	assert_int_equal(thread->fn(thread->arg), 0);
	thread->is_there = false;
	fake_bind(0);
}

static void sleep_host(uint64_t ns, bool (*done)(void *arg), void *arg)
{
	assert_false(trace_plat_irqs_disabled());
	if (done(arg))
		return;
	running->slept_ns = ns;
	longjmp(turn_end, 1);
}

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

static void sleep_until(uint64_t deadline_ns, bool (*done)(void *arg), void *arg)
{
	if (done(arg))
		return;
	running->until_ns = deadline_ns;
	if (!nr_deadlines)
		longjmp(turn_end, 1);
	nr_deadlines--;
	fake_clock = deadline_ns - 100 * US;
	timer_interrupt(); /* that of another timer */
	fake_clock = deadline_ns + irq_late_ns;
	timer_interrupt();
	fake_clock = deadline_ns + thread_late_ns;
}

static void wake(void)
{
}

static int move(uint32_t cpu)
{
	if (running)
		running->cpu = cpu;
	fake_bind(cpu);
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
	for (int i = 0; i < NR_THREADS; i++)
		assert_false(threads[i].is_there);
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

/* Thread `nr` runs up to its next sleep, on a clock that goes on by `step_ns` with each reading. */
HELPER void turn(int nr, uint64_t step_ns)
{
	running = &threads[nr];
	fake_clock_step = step_ns;
	if (!setjmp(turn_end)) {
		threads[nr].fn(threads[nr].arg);
		fail(); /* it has ended */
	}
	fake_clock_step = 0;
	running = NULL;
	fake_bind(0);
}

HELPER void says(const char *path, const char *text)
{
	assert_string_equal(cat(path), text);
}

HELPER void error_says(const char *text)
{
	assert_non_null(strstr(cat("error_log"), text));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, reset, check)

#endif
