/*
 * The profile events on a host that has just its part: events of the host's own, switched, filtered
 * and with triggers through the files of tracefs. There are no call sites, and no files about them.
 */
#include "unit.h"
#include <string.h>
#include <trace/fs.h>
#include <trace/platform.h>
#include <trace/trace.h>
#include "bare/host.h"

#define CREATE_TRACE_POINTS
#include "host/mill_events.h"

static char text[65536];
static size_t text_len;

static void out(void *arg, const char *piece, size_t len)
{
	(void)arg;
	assert_true(text_len + len < sizeof(text));
	memcpy(text + text_len, piece, len);
	text_len += len;
	text[text_len] = '\0';
}

/* A line as at a shell; what it prints is in `text`. */
static int say(const char *line)
{
	text_len = 0;
	text[0] = '\0';
	return trace_fs_command(line, out, NULL, NULL);
}

/* The trace without its header. */
static const char *trace(void)
{
	char *at;

	assert_int_equal(say("cat trace"), 0);
	for (at = text; *at == '#'; at++)
		at = strchr(at, '\n');
	return at;
}

static int setup(void **state)
{
	(void)state;
	bare_clock_ns = 12345678000;
	return trace_init();
}

static int clean(void **state)
{
	(void)state;
	return say("echo 0 > events/enable; echo 1 > tracing_on; echo > trace") || text_len;
}

static void test_on_and_off(void **state)
{
	(void)state;
	trace_mill_grind(1, "rye");
	assert_string_equal(trace(), "");
	assert_int_equal(say("echo 1 > events/mill/mill_grind/enable"), 0);
	trace_mill_grind(2, "oats");
	trace_mill_stop(1);
	assert_int_equal(say("echo 0 > events/mill/enable"), 0);
	trace_mill_grind(3, "rye");
	assert_non_null(strstr(trace(), ": mill_grind: 2 sacks of oats\n"));
	assert_null(strstr(text, "stop"));
	assert_null(strstr(text, "rye"));
}

static void test_filter(void **state)
{
	(void)state;
	assert_int_equal(say("echo 'sacks > 4 && grain ~ \"r*\"' > events/mill/mill_grind/filter; "
			     "echo 1 > events/mill/enable"),
			 0);
	trace_mill_grind(4, "rye");
	trace_mill_grind(5, "oats");
	trace_mill_grind(6, "rice");
	assert_non_null(strstr(trace(), ": mill_grind: 6 sacks of rice\n"));
	assert_null(strstr(text, ": mill_grind: 4"));
	assert_null(strstr(text, ": mill_grind: 5"));
	assert_int_equal(say("echo 'flour > 4' > events/mill/mill_grind/filter"), -EINVAL);
	assert_int_equal(say("cat error_log"), 0);
	assert_non_null(strstr(text, "flour > 4"));
	assert_int_equal(say("echo 0 > events/mill/mill_grind/filter"), 0);
}

static void test_trigger(void **state)
{
	(void)state;
	assert_int_equal(say("echo 'traceoff if reason == 1' > events/mill/mill_stop/trigger; "
			     "echo 1 > events/mill/enable"),
			 0);
	trace_mill_stop(0);
	trace_mill_stop(1);
	trace_mill_grind(7, "rye");
	assert_non_null(strstr(trace(), ": mill_stop: reason=none\n"));
	assert_non_null(strstr(text, ": mill_stop: reason=wind\n"));
	assert_null(strstr(text, "rye"));
	assert_int_equal(say("echo '!traceoff if reason == 1' > events/mill/mill_stop/trigger"), 0);
	assert_int_equal(say("echo stacktrace > events/mill/mill_stop/trigger; "
			     "echo 1 > tracing_on"),
			 0);
	trace_mill_stop(0);
	assert_non_null(strstr(trace(), "<stack trace>\n => "));
	assert_int_equal(say("echo '!stacktrace' > events/mill/mill_stop/trigger"), 0);
}

/* Pieces of memory in use. The directory looked at last stays in memory: it is always the same one. */
static long nr_alloc(void)
{
	assert_int_equal(say("cat events/mill/mill_stop/enable"), 0);
	return bare_nr_alloc;
}

static void test_instance(void **state)
{
	long nr = nr_alloc();
	struct trace_array *tr = trace_array_get_by_name("mine");

	(void)state;
	assert_non_null(tr);
	assert_int_equal(say("echo 1 > instances/mine/events/mill/mill_stop/enable"), 0);
	trace_mill_stop(1);
	assert_string_equal(trace(), "");
	assert_int_equal(say("cat instances/mine/trace"), 0);
	assert_non_null(strstr(text, ": mill_stop: reason=wind\n"));
	trace_array_put(tr);
	assert_int_equal(trace_array_destroy(tr), 0);
	assert_int_equal(nr_alloc(), nr);
	trace_mill_stop(1); /* into nothing */
}

static void test_printk(void **state)
{
	(void)state;
	trace_printk("%d left\n", 3);
	assert_non_null(strstr(trace(), ": 3 left\n"));
}

/* Functions as a tracer of functions would have them. */
static void test_no_call_sites(void **state)
{
	(void)state;
	assert_int_equal(say("cat set_ftrace_filter"), -ENOENT);
	assert_int_equal(say("cat set_ftrace_pid"), -ENOENT);
	assert_int_equal(say("cat text_poke_stats"), -ENOENT);
	assert_int_equal(say("cat available_tracers"), 0);
	assert_string_equal(text, "nop\n");
	assert_int_equal(say("cat README"), 0);
	assert_null(strstr(text, "set_ftrace"));
	assert_non_null(strstr(text, "set_event_pid"));
}

/* A broken invariant ends tracing here, too; what was recorded can be read. */
static void test_bug(void **state)
{
	(void)state;
	assert_int_equal(say("echo 1 > events/mill/enable"), 0);
	trace_mill_stop(1);
	trace_plat_bug("that is %d", 1);
	assert_string_equal(bare_log, "that is 1");
	trace_mill_stop(0);
	assert_int_equal(say("cat trace"), 0);
	assert_non_null(strstr(text, "FUNCTION TRACING IS CORRUPTED"));
	assert_non_null(strstr(text, "reason=wind"));
	assert_null(strstr(text, "reason=none"));
}

#define TEST(name) cmocka_unit_test_setup(test_##name, clean)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(on_and_off), TEST(filter),	       TEST(trigger), TEST(instance),
		TEST(printk),	  TEST(no_call_sites), TEST(bug), /* the last: nothing goes on */
	};

	trace_one_cpu.stack_top = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(uintptr_t);

	return cmocka_run_group_tests(tests, setup, NULL);
}
