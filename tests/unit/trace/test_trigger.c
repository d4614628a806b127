/*
 * Triggers of trace events: what is written to `trigger`, what it reads as, and what happens when
 * the event occurs.
 */
#include "unit.h"
#include "tracefs.h"
#include "events/event_file.h"
#include "events/trigger.h"
#include "text/str.h"
#include <trace/event.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

enum yard_kind {
	YARD_SAND = 3,
	YARD_GRAVEL = 5
};
struct yard_box {
	char label[8];
	u16 width, height;
};
static int watch_result;
static int yard_watch_begins(void)
{
	return watch_result;
}
static void yard_watch_ends(void)
{
}

#define CREATE_TRACE_POINTS
#include "host/yard_events.h"

#define FULL  "events/yard/yard_full/"
#define OPEN  "events/yard/yard_gate_open/"
#define WATCH "events/yard/yard_watch/"
#define AVAILABLE                                                                                  \
	"# Available triggers:\n# traceon traceoff snapshot stacktrace enable_hist disable_hist "  \
	"hist\n"

static int reset(void **state)
{
	int err = tracefs_reset(state);

	fake_thread_add(1, "init");
	fake_cpus[0].pid = 1;
	assert_int_equal(echo("", "error_log"), 0);
	return err;
}

static int all_off(void **state)
{
	static const char *const removals[] = { "!traceoff", "!snapshot", "!stacktrace" };
	static const char *const paths[] = { FULL "trigger", OPEN "trigger", WATCH "trigger" };

	for (size_t i = 0; i < 9; i++)
		assert_int_equal(echo_append(removals[i % 3], paths[i / 3]), 0);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(cat(paths[i]), AVAILABLE);
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	fake_cpus[0].pid = 0;
	return tracefs_check(state);
}

static void set(const char *text, const char *path)
{
	assert_int_equal(echo_append(text, path), 0);
}

static void is_on(bool on)
{
	assert_string_equal(cat("tracing_on"), on ? "1\n" : "0\n");
}

static size_t count(const char *path, const char *what)
{
	const char *at = cat_body(path);
	size_t nr = 0;

	while ((at = strstr(at, what))) {
		at += strlen(what);
		nr++;
	}
	return nr;
}

static void list(void **state)
{
	(void)state;
	assert_string_equal(cat(FULL "trigger"), AVAILABLE);
	set("traceoff", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"), "traceoff:unlimited\n");
	set("snapshot", FULL "trigger");
	set("stacktrace:5", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"),
			    "stacktrace:count=5\nsnapshot:unlimited\ntraceoff:unlimited\n");
	cat_chunk = 3;
	assert_string_equal(cat(FULL "trigger"),
			    "stacktrace:count=5\nsnapshot:unlimited\ntraceoff:unlimited\n");
	/* What `!` is written with beside the name does not count. */
	set("!snapshot:7", FULL "trigger");
	set("!traceon", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"), "stacktrace:count=5\n");
	set("!stacktrace", FULL "trigger");
	set("!stacktrace", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"), AVAILABLE);
	assert_string_equal(cat(FULL "enable"), "0\n");
}

static void twice(void **state)
{
	static const char *const same[] = { "traceoff", "traceoff:5", "traceon", "traceon:0x10",
					    "  traceoff  " };

	(void)state;
	set("traceoff", FULL "trigger");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(same); i++)
		assert_int_equal(echo_append(same[i], FULL "trigger"), -EEXIST);
	assert_string_equal(cat(FULL "trigger"), "traceoff:unlimited\n");
	set("traceoff", OPEN "trigger");
	assert_non_null(strstr(cat("error_log"), "trigger: error: there is such a trigger already\n"
						 "  Command: traceoff\n"));
}

/* Linux 6.1 leaves them, too. */
static void truncation_leaves_them(void **state)
{
	(void)state;
	assert_int_equal(echo("traceoff", FULL "trigger"), 0);
	assert_int_equal(echo("stacktrace", FULL "trigger"), 0);
	assert_int_equal(put("", 0, FULL "trigger", TRACE_FS_TRUNC), 0);
	assert_string_equal(cat(FULL "trigger"), "stacktrace:unlimited\ntraceoff:unlimited\n");
}

static const struct {
	const char *text;
	int err;
	const char *why;
	int caret; /* column in the text */
} errors[] = {
	{ "", -EINVAL, "there is no such trigger", 0 },
	{ " ", -EINVAL, "there is no such trigger", 1 },
	{ "!", -EINVAL, "there is no such trigger", 1 },
	{ "nosuch", -EINVAL, "there is no such trigger", 0 },
	{ "  nosuch:5", -EINVAL, "there is no such trigger", 2 },
	{ "!nosuch", -EINVAL, "there is no such trigger", 1 },
	{ "TRACEOFF", -EINVAL, "there is no such trigger", 0 },
	{ ":traceoff", -EINVAL, "there is no such trigger", 0 },
	{ "!!traceoff", -EINVAL, "there is no such trigger", 1 },
	{ "! traceoff", -EINVAL, "there is no such trigger", 1 },
	{ "traceoff\nstacktrace", -EINVAL, "there is no such trigger", 0 },
	{ "traceoff:x", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff:-1", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff :5", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff:5x", -EINVAL, "the count is not a number", 9 },
	{ "stacktrace:99999999999999999999", -ERANGE, "the count is too large", 11 },
	{ "traceoff value == 1", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff:5 value == 1", -EINVAL, "neither a count nor `if`", 11 },
	{ "traceoff iff used == 1", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff traceon", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff if", -EINVAL, "no condition behind `if`", 9 },
	{ "traceoff:3 if ", -EINVAL, "no condition behind `if`", 11 },
	{ "!traceoff x", -EINVAL, "neither a count nor `if`", 10 },
};

static void wrong_words(void **state)
{
	char want[200];

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(errors); i++) {
		assert_int_equal(echo("", "error_log"), 0);
		assert_int_equal(echo_append(errors[i].text, FULL "trigger"), errors[i].err);
		snprintf(want, sizeof(want), "] trigger: error: %s\n", errors[i].why);
		assert_non_null(strstr(cat("error_log"), want));
		snprintf(want, sizeof(want), "\n%*s^\n", 11 + errors[i].caret, "");
		assert_non_null(strstr(cat("error_log"), want));
		assert_string_equal(cat(FULL "trigger"), AVAILABLE);
	}
}

/* Linux does not mind these. */
static void odd_words(void **state)
{
	(void)state;
	set("traceoff:", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"), "traceoff:unlimited\n");
	set("!traceoff:5x", FULL "trigger");
	set("traceoff:1:2", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"), "traceoff:count=1\n");
	set("!traceon", FULL "trigger");
	set("traceoff:0", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"), "traceoff:count=0\n");
	set("!traceon", FULL "trigger");
	set("\ttraceoff \t 0x10 ", FULL "trigger");
	assert_string_equal(cat(FULL "trigger"), "traceoff:count=16\n");
}

/* Behind the event, so that the event is recorded; and whether it is on or not. */
static void traceoff(void **state)
{
	(void)state;
	set("traceoff", FULL "trigger");
	assert_string_equal(cat("trace") + strlen(cat("trace")) - 1, "\n");
	trace_yard_full(5, 1);
	is_on(false);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("1", FULL "enable"), 0);
	trace_yard_full(6, 1);
	trace_yard_full(7, 1);
	is_on(false);
	assert_int_equal(count("trace", "used="), 1);
	assert_int_equal(count("trace", "used=6"), 1);
	assert_int_equal(echo("0", FULL "enable"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	trace_yard_full(8, 1);
	is_on(false);
}

/* Before the event. */
static void traceon(void **state)
{
	(void)state;
	assert_int_equal(echo("1", FULL "enable"), 0);
	assert_int_equal(echo("0", "tracing_on"), 0);
	set("traceon:1", FULL "trigger");
	trace_yard_full(6, 1);
	is_on(true);
	assert_int_equal(count("trace", "used=6"), 1);
	assert_string_equal(cat(FULL "trigger"), "traceon:count=0\n");
	assert_int_equal(echo("0", "tracing_on"), 0);
	trace_yard_full(7, 1);
	is_on(false);
}

/* Only what changes something is counted. */
static void counts(void **state)
{
	(void)state;
	set("traceoff:2", FULL "trigger");
	trace_yard_full(1, 1);
	trace_yard_full(2, 1);
	assert_string_equal(cat(FULL "trigger"), "traceoff:count=1\n");
	assert_int_equal(echo("1", "tracing_on"), 0);
	trace_yard_full(3, 1);
	is_on(false);
	assert_int_equal(echo("1", "tracing_on"), 0);
	trace_yard_full(4, 1);
	is_on(true);
	assert_string_equal(cat(FULL "trigger"), "traceoff:count=0\n");
}

static void stacktrace(void **state)
{
	(void)state;
	fake_stack_nr = 2;
	fake_stack[0] = trace_plat_ip_pack(fake_func(SCHEDULE) + 5);
	fake_stack[1] = trace_plat_ip_pack(fake_func(YIELD) + 5);
	set("stacktrace:2", FULL "trigger");
	trace_yard_full(1, 1);
	assert_int_equal(count("trace", "used="), 0);
	assert_int_equal(count("trace", "<stack trace>\n => schedule\n => yield\n"), 1);
	assert_int_equal(echo("1", FULL "enable"), 0);
	trace_yard_full(2, 1);
	trace_yard_full(3, 1);
	assert_int_equal(count("trace", "<stack trace>\n => schedule\n => yield\n"), 2);
	assert_non_null(strstr(strstr(cat("trace"), "used=2"), "<stack trace>\n => schedule"));
	assert_string_equal(cat(FULL "trigger"), "stacktrace:count=0\n");
	fake_stack_nr = 0;
}

static void snapshot(void **state)
{
	(void)state;
	assert_int_equal(echo("1", FULL "enable"), 0);
	set("snapshot:1", FULL "trigger");
	assert_non_null(strstr(cat("snapshot"), "Snapshot is allocated"));
	trace_yard_full(1, 1);
	trace_yard_full(2, 1);
	assert_int_equal(count("snapshot", "used=1"), 1);
	assert_int_equal(count("trace", "used=2"), 1);
	assert_int_equal(count("trace", "used=1"), 0);
	assert_string_equal(cat(FULL "trigger"), "snapshot:count=0\n");
}

static void instances(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	set("traceoff", "instances/two/" FULL "trigger");
	set("snapshot", "instances/two/" FULL "trigger");
	set("stacktrace", "instances/two/" OPEN "trigger");
	assert_string_equal(cat(FULL "trigger"), AVAILABLE);
	trace_yard_full(1, 1);
	is_on(true);
	assert_string_equal(cat("instances/two/tracing_on"), "0\n");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	trace_yard_full(1, 1);
}

/* Each allocation fails in turn: nothing is left behind, and the trigger is not there. */
static void no_memory(void **state)
{
	static const char *const texts[] = { "traceoff:3", "snapshot", "stacktrace" };
	long before;

	(void)state;
	set("traceoff", FULL "trigger"); /* what stays of a first one */
	set("!traceoff", FULL "trigger");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(texts); i++) {
		for (long budget = 0;; budget++) {
			int err;

			before = fake_alloc_out;
			fake_alloc_budget = budget;
			err = echo_append(texts[i], FULL "trigger");
			fake_alloc_budget = -1;
			if (!err)
				break;
			assert_int_equal(err, -ENOMEM);
			assert_string_equal(cat(FULL "trigger"), AVAILABLE);
			assert_true(i == 1 || fake_alloc_out == before);
			assert_true(budget < 1000);
		}
		set(i ? i == 1 ? "!snapshot" : "!stacktrace" : "!traceoff", FULL "trigger");
	}
}

/* What the event needs before its probe is registered cannot be had. */
static void event_refuses(void **state)
{
	(void)state;
	watch_result = -EBUSY;
	assert_int_equal(echo_append("traceoff", WATCH "trigger"), -EBUSY);
	assert_string_equal(cat(WATCH "trigger"), AVAILABLE);
	assert_string_equal(cat(WATCH "enable"), "0\n");
	watch_result = 0;
	trace_yard_watch(1);
	is_on(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(list, reset, all_off),
		cmocka_unit_test_setup_teardown(twice, reset, all_off),
		cmocka_unit_test_setup_teardown(truncation_leaves_them, reset, all_off),
		cmocka_unit_test_setup_teardown(wrong_words, reset, all_off),
		cmocka_unit_test_setup_teardown(odd_words, reset, all_off),
		cmocka_unit_test_setup_teardown(traceoff, reset, all_off),
		cmocka_unit_test_setup_teardown(traceon, reset, all_off),
		cmocka_unit_test_setup_teardown(counts, reset, all_off),
		cmocka_unit_test_setup_teardown(stacktrace, reset, all_off),
		cmocka_unit_test_setup_teardown(snapshot, reset, all_off),
		cmocka_unit_test_setup_teardown(instances, reset, all_off),
		cmocka_unit_test_setup_teardown(no_memory, reset, all_off),
		cmocka_unit_test_setup_teardown(event_refuses, reset, all_off),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
