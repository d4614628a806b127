/*
 * The tracer hwlat, with a host whose threads take turns by hand and whose clock jumps: the event, the
 * modes, the settings, NMIs, the threshold, one instance at a time.
 */
#include <trace/ring_buffer.h>
#include "noise_threads.h"
#include "instance/array.h"

static uint64_t jump_ns, nmi_ns;

/* A turn was too long. The clock is a usual one again, but for a jump and an NMI. */
static void real(uint64_t *out_ns)
{
	fake_clock_step = US;
	if (nmi_ns) {
		fake_clock_step = 0;
		trace_noise_nmi(true);
		fake_clock += nmi_ns;
		trace_noise_nmi(false);
		fake_clock_step = US;
	}
	fake_clock += jump_ns;
	jump_ns = nmi_ns = 0;
	*out_ns = 1700000000000000042u;
}

static const struct trace_noise_host host = {
	.start = start,
	.join = join,
	.sleep = sleep_host,
	.wake = wake,
	.move = move,
	.real = real,
};

static int setup(void **state)
{
	trace_noise_host_set(&host);
	return tracefs_setup(state);
}

static int reset(void **state)
{
	int err = tracefs_reset(state);

	nr_started = fails_at = 0;
	jump_ns = nmi_ns = 0;
	return err;
}

static int check(void **state)
{
	assert_int_equal(echo("nop", "current_tracer"), 0);
	no_threads();
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	assert_int_equal(echo("3", "tracing_cpumask"), 0);
	assert_int_equal(echo("1000000", "hwlat_detector/window"), 0);
	assert_int_equal(echo("500000", "hwlat_detector/width"), 0);
	assert_int_equal(echo("round-robin", "hwlat_detector/mode"), 0);
	return tracefs_check(state);
}

static void begin(const char *mode)
{
	assert_int_equal(echo(mode, "hwlat_detector/mode"), 0);
	assert_int_equal(echo("hwlat", "current_tracer"), 0);
}

/* ---- The event ---- */

static void quiet_machine(void **state)
{
	(void)state;
	begin("none");
	assert_string_equal(threads[0].name, "hwlatd");
	turn(0, 10 * US);
	assert_int_equal(count_in("trace", "inner/outer"), 0);
	says("tracing_max_latency", "0\n");
}

static void line(void **state)
{
	(void)state;
	begin("none");
	jump_ns = 30 * US;
	turn(0, 11 * US);
	assert_string_equal(only_event("#1 "),
			    "#1     inner/outer(us):   11/31    ts:1700000000.000000042 count:2\n");
	says("tracing_max_latency", "31\n");
	turn(0, 11 * US);
	assert_int_equal(count_in("trace", "#2     inner/outer(us):   11/11    ts:"), 1);
	says("tracing_max_latency", "31\n");
}

static void raw(void **state)
{
	(void)state;
	begin("none");
	turn(0, 11 * US);
	assert_int_equal(echo("raw", "trace_options"), 0);
	assert_non_null(strstr(cat("trace"), " 11 11 1700000000 000000042 1\n"));
	assert_int_equal(echo("noraw", "trace_options"), 0);
}

static void nmi(void **state)
{
	(void)state;
	begin("none");
	trace_noise_nmi(true); /* not while a CPU is watched */
	trace_noise_nmi(false);
	nmi_ns = 7 * US;
	turn(0, 12 * US);
	assert_non_null(strstr(cat("trace"), " count:1 nmi-total:7 nmi-count:1\n"));
	turn(0, 12 * US);
	assert_int_equal(count_in("trace", "nmi-count"), 1);
}

/* The fields are Linux's. */
static void format(void **state)
{
	static const char *const fields[] = {
		"u64 duration;\toffset:8;\tsize:8;\tsigned:0;",
		"u64 outer_duration;\toffset:16;\tsize:8;\tsigned:0;",
		"u64 nmi_total_ts;\toffset:24;\tsize:8;\tsigned:0;",
		"s64 tv_sec;\toffset:32;\tsize:8;\tsigned:1;",
		"long tv_nsec;\toffset:40;\tsize:8;\tsigned:1;",
		"unsigned int nmi_count;\toffset:48;\tsize:4;\tsigned:0;",
		"unsigned int seqnum;\toffset:52;\tsize:4;\tsigned:0;",
		"unsigned int count;\toffset:56;\tsize:4;\tsigned:0;",
	};
	const char *text = cat("events/ftrace/hwlat/format");

	(void)state;
	assert_non_null(strstr(text, "ID: 15\n"));
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		assert_non_null(strstr(text, fields[i]));
	assert_non_null(strstr(
		text,
		"print fmt: "
		"\"cnt:%u\\tts:%010llu.%010lu\\tinner:%llu\\touter:%llu\\tcount:%d\\tnmi-ts:%llu"
		"\\tnmi-count:%u\\n\", REC->seqnum, REC->tv_sec, REC->tv_nsec, REC->duration, "
		"REC->outer_duration, REC->count, REC->nmi_total_ts, REC->nmi_count\n"));
}

/* ---- Modes ---- */

static void round_robin(void **state)
{
	(void)state;
	begin("round-robin");
	for (uint32_t i = 0; i < 4; i++) {
		turn(0, US);
		assert_int_equal(threads[0].cpu, i % 2);
	}
	assert_int_equal(threads[0].slept_ns, 500000 * US);
	assert_int_equal(echo("2", "tracing_cpumask"), 0);
	for (uint32_t i = 0; i < 2; i++) {
		turn(0, US);
		assert_int_equal(threads[0].cpu, 1);
	}
}

static void per_cpu(void **state)
{
	(void)state;
	begin("per-cpu");
	assert_int_equal(nr_started, 2);
	for (int cpu = 0; cpu < 2; cpu++) {
		assert_string_equal(threads[cpu].name, cpu ? "hwlatd/1" : "hwlatd/0");
		turn(cpu, US);
		assert_int_equal(threads[cpu].cpu, cpu);
	}
	/* A change of the mode begins anew. */
	assert_int_equal(echo("none", "hwlat_detector/mode"), 0);
	says("hwlat_detector/mode", "[none] round-robin per-cpu\n");
	assert_int_equal(nr_started, 3);
	assert_false(threads[1].is_there);
	turn(0, US);
	assert_int_equal(threads[0].cpu, NR_THREADS);
}

static void per_cpu_of_the_mask(void **state)
{
	(void)state;
	assert_int_equal(echo("2", "tracing_cpumask"), 0);
	begin("per-cpu");
	assert_int_equal(nr_started, 1);
	assert_string_equal(threads[0].name, "hwlatd/1");
}

static void recording_off(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "tracing_on"), 0);
	begin("round-robin");
	assert_int_equal(nr_started, 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(nr_started, 1);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(nr_started, 1);
	/* The thread is in the middle of its turn when recording goes off. */
	jump_ns = 30 * US;
	ring_buffer_record_off(trace_global_array()->buffer);
	turn(0, 11 * US);
	says("tracing_max_latency", "0\n");
	assert_int_equal(count_in("trace", "inner/outer"), 0);
	ring_buffer_record_on(trace_global_array()->buffer);
	jump_ns = 0;
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_false(threads[0].is_there);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(nr_started, 2);
}

/* ---- Settings ---- */

static void settings(void **state)
{
	(void)state;
	says("hwlat_detector/width", "500000\n");
	says("hwlat_detector/window", "1000000\n");
	says("hwlat_detector/mode", "none [round-robin] per-cpu\n");
	assert_int_equal(echo("1000001", "hwlat_detector/width"), -EINVAL);
	assert_non_null(
		strstr(cat("error_log"), "hwlat_detector/width: error: longer than the window\n"));
	assert_int_equal(echo("499999", "hwlat_detector/window"), -EINVAL);
	assert_non_null(
		strstr(cat("error_log"), "hwlat_detector/window: error: shorter than the width\n"));
	assert_int_equal(echo("18446744073709552", "hwlat_detector/window"), -EINVAL);
	assert_int_equal(echo("both", "hwlat_detector/mode"), -EINVAL);
	assert_non_null(
		strstr(cat("error_log"),
		       "hwlat_detector/mode: error: no mode: none, round-robin or per-cpu\n"));
	assert_int_equal(echo("x", "hwlat_detector/width"), -EINVAL);
	says("hwlat_detector/width", "500000\n");
	says("hwlat_detector/window", "1000000\n");
	says("hwlat_detector/mode", "none [round-robin] per-cpu\n");
	assert_int_equal(echo("1000000", "hwlat_detector/width"), 0);
	begin("none");
	turn(0, US);
	assert_int_equal(threads[0].slept_ns, 1000 * US); /* others run in any case */
}

static void width(void **state)
{
	uint64_t begin_ns;

	(void)state;
	assert_int_equal(echo("100", "hwlat_detector/width"), 0);
	begin("none");
	begin_ns = fake_clock;
	turn(0, US);
	assert_in_range(fake_clock - begin_ns, 100 * US, 104 * US);
}

static void threshold(void **state)
{
	(void)state;
	begin("none");
	says("tracing_thresh", "10\n");
	assert_int_equal(echo("20", "tracing_thresh"), 0);
	turn(0, 20 * US);
	assert_int_equal(count_in("trace", "inner/outer"), 0);
	turn(0, 21 * US);
	assert_int_equal(count_in("trace", "inner/outer"), 1);
	/* The next time begins with it; in between the user's is back. */
	assert_int_equal(echo("nop", "current_tracer"), 0);
	says("tracing_thresh", "0\n");
	assert_int_equal(echo("hwlat", "current_tracer"), 0);
	says("tracing_thresh", "20\n");
	assert_int_equal(echo("10", "tracing_thresh"), 0);
	assert_int_equal(echo("nop", "current_tracer"), 0);
	assert_int_equal(echo("33", "tracing_thresh"), 0);
	assert_int_equal(echo("hwlat", "current_tracer"), 0);
	says("tracing_thresh", "33\n");
	assert_int_equal(echo("nop", "current_tracer"), 0);
	says("tracing_thresh", "33\n");
	assert_int_equal(echo("0", "tracing_thresh"), 0);
	assert_int_equal(echo("hwlat", "current_tracer"), 0);
	assert_int_equal(echo("10", "tracing_thresh"), 0);
}

/* ---- Instances, memory ---- */

static void one_instance(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "other"), 0);
	assert_int_equal(echo("hwlat", "instances/other/current_tracer"), 0);
	assert_int_equal(echo("hwlat", "current_tracer"), -EBUSY);
	says("current_tracer", "nop\n");
	turn(0, 11 * US);
	assert_int_equal(count_in("instances/other/trace", "inner/outer"), 1);
	assert_int_equal(count_in("trace", "inner/outer"), 0);
	assert_int_equal(echo("nop", "instances/other/current_tracer"), 0);
	assert_int_equal(echo("hwlat", "current_tracer"), 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "other"), 0);
}

static void no_memory(void **state)
{
	(void)state;
	fails_at = 2;
	assert_int_equal(echo("per-cpu", "hwlat_detector/mode"), 0);
	assert_int_equal(echo("hwlat", "current_tracer"), -ENOMEM);
	assert_false(threads[0].is_there);
	says("current_tracer", "nop\n");
	says("tracing_thresh", "0\n");
	fails_at = 0;
	assert_int_equal(echo("hwlat", "current_tracer"), 0);
	fails_at = nr_started + 1;
	assert_int_equal(echo("none", "hwlat_detector/mode"), -ENOMEM);
	fails_at = 0;
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, reset, check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quiet_machine), TEST(line),	TEST(raw),     TEST(nmi),
		TEST(format),	     TEST(round_robin), TEST(per_cpu), TEST(per_cpu_of_the_mask),
		TEST(recording_off), TEST(settings),	TEST(width),   TEST(threshold),
		TEST(one_instance),  TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
