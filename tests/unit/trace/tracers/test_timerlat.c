/*
 * The tracer timerlat, with a host whose timer and threads come as late as a test says: lines, numbers,
 * deadlines that are left out, stacks, limits.
 */
#include <trace/ring_buffer.h>
#include "instance/array.h"
#include "noise_help.h"
#include <trace/fs.h>

static void begin(void)
{
	assert_int_equal(echo("0", "osnoise/cpus"), 0);
	assert_int_equal(echo("timerlat", "current_tracer"), 0);
}

/* The thread runs until its next sleep behind `nr` deadlines. */
static void activate(uint32_t nr, uint64_t irq_us, uint64_t thread_us)
{
	nr_deadlines = nr;
	irq_late_ns = irq_us * US;
	thread_late_ns = thread_us * US;
	turn(0, 0);
}

static void line_is(const char *text)
{
	assert_non_null(strstr(cat("trace"), text));
}

static void lines(void **state)
{
	(void)state;
	begin();
	assert_string_equal(threads[0].name, "timerlat/0");
	activate(2, 5, 12);
	assert_true(threads[0].is_urgent);
	assert_int_equal(threads[0].cpu, 0);
	line_is(": #1     context    irq timer_latency      5000 ns\n");
	line_is(": #1     context thread timer_latency     12000 ns\n");
	line_is(": #2     context    irq timer_latency      5000 ns\n");
	line_is(": #2     context thread timer_latency     12000 ns\n");
	line_is("# tracer: timerlat\n#\n#                                _-----=> irqs-off\n");
	line_is(" ID         CONTEXT                    LATENCY\n");
	assert_int_equal(count_in("trace", "timer_latency"), 4);
	says("tracing_max_latency", "12\n");
	/* Recording is being switched off: a latency without a line is no maximum. */
	ring_buffer_record_off(trace_global_array()->buffer);
	activate(1, 5, 50);
	says("tracing_max_latency", "12\n");
	ring_buffer_record_on(trace_global_array()->buffer);
	assert_int_equal(echo("raw", "trace_options"), 0);
	line_is(" 1 0 5000\n");
	line_is(" 1 1 12000\n");
	assert_int_equal(echo("noraw", "trace_options"), 0);
}

/* Deadlines are a period apart, whatever the latencies; those that have passed are left out. */
static void deadlines(void **state)
{
	uint64_t first;

	(void)state;
	begin();
	activate(0, 0, 0);
	first = threads[0].until_ns;
	assert_int_equal(first, fake_clock + 1000 * US);
	fake_clock = first - 1000 * US;
	activate(1, 1, 900);
	assert_int_equal(threads[0].until_ns, first + 1000 * US);
	fake_clock = first - 1000 * US;
	activate(1, 1, 3400);
	assert_int_equal(threads[0].until_ns, first + 4000 * US);
}

/* The interrupt came so early that it was taken for another one, or was not told at all. */
static void interrupt_not_told(void **state)
{
	(void)state;
	begin();
	is_untold = true;
	activate(1, 5, 12);
	line_is(": #1     context    irq timer_latency     12000 ns\n");
	line_is(": #1     context thread timer_latency     12000 ns\n");
}

static void stack(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("12", "osnoise/print_stack"), 0);
	activate(1, 1, 11);
	assert_int_equal(count_in("trace", "<stack trace>"), 0);
	activate(1, 1, 12);
	assert_int_equal(count_in("trace", "<stack trace>"), 1);
}

static void stop(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("20", "osnoise/stop_tracing_total_us"), 0);
	activate(1, 3, 19);
	tracing_is(true);
	activate(1, 3, 20);
	tracing_is(false);
	line_is("stop tracing hit on cpu 0\n");
	assert_non_null(strstr(cat("why"), "the tracer timerlat saw a time above its limit"));
}

/* The stack stands behind the interrupt's line then, and no line of the thread follows. */
static void stop_in_the_interrupt(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("4", "osnoise/stop_tracing_us"), 0);
	assert_int_equal(echo("1000", "osnoise/print_stack"), 0);
	activate(1, 3, 10);
	tracing_is(true);
	activate(1, 4, 10);
	tracing_is(false);
	assert_int_equal(count_in("trace", "<stack trace>"), 1);
	assert_int_equal(count_in("trace", "context thread"), 1);
	line_is("stop tracing hit on cpu 0\n");
}

static void noise(void **state)
{
	(void)state;
	begin();
	assert_int_equal(echo("1", "events/osnoise/enable"), 0);
	activate(1, 5, 12);
	assert_int_equal(count_in("trace", "irq_noise: local_timer:236"), 2);
}

static void two_tracers(void **state)
{
	(void)state;
	begin();
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "other"), 0);
	assert_int_equal(echo("osnoise", "instances/other/current_tracer"), -EBUSY);
	assert_int_equal(echo("timerlat", "instances/other/current_tracer"), 0);
	activate(1, 1, 2);
	assert_int_equal(count_in("trace", "timer_latency"), 2);
	assert_int_equal(count_in("instances/other/trace", "timer_latency"), 2);
	assert_int_equal(echo("nop", "instances/other/current_tracer"), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "other"), 0);
}

/* ---- Programs instead of its threads ---- */

#define FD "osnoise/per_cpu/cpu0/timerlat_fd"

static struct trace_handle *fd;

static int open_fd(const char *path, struct trace_handle **out_handle)
{
	return trace_fs_open(node_of(path), TRACE_FS_READ, out_handle);
}

static int64_t read_fd(uint64_t irq_us, uint64_t thread_us)
{
	uint64_t pos = 0;
	char buf[64];

	irq_late_ns = irq_us * US;
	thread_late_ns = thread_us * US;
	return trace_fs_read(fd, buf, sizeof(buf), &pos);
}

static void begin_bare(void)
{
	assert_int_equal(echo("NO_OSNOISE_WORKLOAD", "osnoise/options"), 0);
	assert_int_equal(echo("timerlat", "current_tracer"), 0);
	pinned_to = 0;
	has_signal = false;
	no_threads();
}

static void program_is_the_thread(void **state)
{
	uint64_t first;

	(void)state;
	begin_bare();
	assert_int_equal(open_fd(FD, &fd), 0);
	assert_int_equal(read_fd(5, 12), 0);
	line_is(": #1     context    irq timer_latency      5000 ns\n");
	line_is(": #1     context thread timer_latency     12000 ns\n");
	assert_int_equal(count_in("trace", "timer_latency"), 2);
	first = program_slept_until;
	fake_clock += 20 * US; /* the program's own work */
	assert_int_equal(read_fd(6, 7), 0);
	line_is(": #1     context user-ret timer_latency     32000 ns\n");
	line_is(": #2     context    irq timer_latency      6000 ns\n");
	assert_int_equal(program_slept_until - first, 1000 * US);
	has_signal = true;
	assert_int_equal(read_fd(5, 12), -EINTR);
	assert_int_equal(count_in("trace", "timer_latency"), 6);
	has_signal = false;
	assert_int_equal(read_fd(1, 2), 0); /* it begins anew: no activation came to its end */
	assert_int_equal(count_in("trace", "user-ret"), 2);
	trace_fs_close(fd);
	assert_int_equal(open_fd(FD, &fd), 0);
	assert_int_equal(read_fd(1, 2), 0);
	assert_int_equal(count_in("trace", ": #1     context    irq"), 2);
	trace_fs_close(fd);
}

static void program_is_refused(void **state)
{
	struct trace_handle *other;

	(void)state;
	assert_int_equal(open_fd(FD, &fd), -EINVAL); /* no tracer */
	begin();
	assert_int_equal(open_fd(FD, &fd), -EINVAL); /* it has threads */
	assert_int_equal(echo("nop", "current_tracer"), 0);
	begin_bare();
	pinned_to = 1;
	assert_int_equal(open_fd(FD, &fd), -EPERM);
	assert_int_equal(open_fd("osnoise/per_cpu/cpu1/timerlat_fd", &fd),
			 -EINVAL); /* not in cpus */
	pinned_to = 0;
	assert_int_equal(open_fd(FD, &fd), 0);
	assert_int_equal(open_fd(FD, &other), -EBUSY);
	assert_int_equal(read_fd(1, 2), 0);
	pinned_to = 1; /* it may move now: recording stops, as on Linux */
	assert_int_equal(read_fd(1, 2), -EINVAL);
	says("tracing_on", "0\n");
	trace_fs_close(fd);
	assert_int_equal(echo("1", "tracing_on"), 0);
}

/* A program whose tracer has ended is the thread of none that begins later. */
static void tracer_ends_under_a_program(void **state)
{
	(void)state;
	begin_bare();
	assert_int_equal(open_fd(FD, &fd), 0);
	assert_int_equal(read_fd(1, 2), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(read_fd(1, 2), -EINVAL);
	assert_int_equal(echo("timerlat", "current_tracer"), 0);
	assert_int_equal(read_fd(1, 2), -EINVAL);
	trace_fs_close(fd);
	assert_int_equal(open_fd(FD, &fd), 0);
	assert_int_equal(read_fd(1, 2), 0);
	trace_fs_close(fd);
}

static void program_above_the_limit(void **state)
{
	(void)state;
	begin_bare();
	assert_int_equal(echo("50", "osnoise/stop_tracing_total_us"), 0);
	assert_int_equal(open_fd(FD, &fd), 0);
	assert_int_equal(read_fd(1, 2), 0);
	says("tracing_on", "1\n");
	fake_clock += 60 * US;
	(void)read_fd(1, 2);
	says("tracing_on", "0\n");
	line_is("stop tracing hit on cpu 0\n");
	trace_fs_close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines),
		TEST(deadlines),
		TEST(interrupt_not_told),
		TEST(stack),
		TEST(stop),
		TEST(stop_in_the_interrupt),
		TEST(noise),
		TEST(two_tracers),
		TEST(program_is_the_thread),
		TEST(program_is_refused),
		TEST(tracer_ends_under_a_program),
		TEST(program_above_the_limit),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
