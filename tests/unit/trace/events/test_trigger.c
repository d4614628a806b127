/*
 * Triggers of trace events: what is written to `trigger`, what it reads as, and what happens when
 * the event occurs.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include "events/event_file.h"
#include "events/trigger.h"
#include "text/str.h"
#include <trace/event.h>
#include "host/yard.h"

#define FULL  "events/yard/yard_full/"
#define OPEN  "events/yard/yard_gate_open/"
#define TEXTS "events/yard/yard_texts/"
#define WATCH "events/yard/yard_watch/"
#define AVAILABLE                                                                                  \
	"# Available triggers:\n# traceon traceoff snapshot stacktrace enable_event "              \
	"disable_event enable_hist disable_hist hist\n"

static int all_off(void **state)
{
	static const char *const removals[] = { "!traceoff", "!snapshot", "!stacktrace",
						"!enable_event:yard:yard_watch",
						"!enable_event:yard:yard_full" };
	static const char *const paths[] = { FULL "trigger", OPEN "trigger", WATCH "trigger" };

	for (size_t i = 0; i < 15; i++)
		assert_int_equal(echo_append(removals[i % 5], paths[i / 5]), 0);
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
	/* Text behind the name after `!` does not count, as on Linux. */
	set("!snapshot:7 for if 3 (", FULL "trigger");
	set("!traceon x", FULL "trigger");
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
	{ "stacktrace:999999999999999999999999999999", -ERANGE, "the count is too large", 11 },
	{ "traceoff value == 1", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff:5 value == 1", -EINVAL, "neither a count nor `if`", 11 },
	{ "traceoff iff used == 1", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff\ttraceon", -EINVAL, "neither a count nor `if`", 9 },
	{ "traceoff if", -EINVAL, "no condition behind `if`", 9 },
	{ "traceoff:3 if ", -EINVAL, "no condition behind `if`", 11 },
	{ "traceoff if nosuch == 1", -EINVAL, "Field not found", 19 },
	{ "traceoff:2 if (used == 1", -ENOENT, "Too many '('", 14 },
	{ "snapshot if used == x", -EINVAL, "", -1 },
	{ "!enable_event", -EINVAL, "it needs a parameter", 1 },
	{ "!enable_event:yard if x", -EINVAL, "SYSTEM:EVENT is missing", 14 },
	{ "enable_event", -EINVAL, "it needs a parameter", 0 },
	{ "enable_event:", -EINVAL, "it needs a parameter", 0 },
	{ "enable_event:yard", -EINVAL, "SYSTEM:EVENT is missing", 13 },
	{ "enable_event:yard:", -EINVAL, "there is no such event", 13 },
	{ "enable_event:yard:nosuch", -EINVAL, "there is no such event", 13 },
	{ "!enable_event:yard:nosuch", -EINVAL, "there is no such event", 14 },
	{ "disable_event:nosuch:yard_full", -EINVAL, "there is no such event", 14 },
	{ "enable_event:yard:*", -EINVAL, "there is no such event", 13 },
	{ "disable_event:ftrace:print", -EINVAL, "there is no such event", 14 },
	{ "enable_event:yard:yard_watch:x", -EINVAL, "the count is not a number", 29 },
	{ "enable_event:yard:yard_watch if", -EINVAL, "no condition behind `if`", 29 },
};

static void wrong_words(void **state)
{
	char want[200];

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(errors); i++) {
		assert_int_equal(echo("", "error_log"), 0);
		assert_int_equal(echo_append(errors[i].text, FULL "trigger"), errors[i].err);
		snprintf(want, sizeof(want), "] trigger: error: %s%s", errors[i].why,
			 *errors[i].why ? "\n" : "");
		assert_non_null(strstr(cat("error_log"), want));
		if (errors[i].caret < 0)
			continue; /* as the filter says */
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
	tracing_is(false);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("1", FULL "enable"), 0);
	trace_yard_full(6, 1);
	trace_yard_full(7, 1);
	tracing_is(false);
	assert_int_equal(count_in("trace", "used="), 1);
	assert_int_equal(count_in("trace", "used=6"), 1);
	assert_int_equal(echo("0", FULL "enable"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	trace_yard_full(8, 1);
	tracing_is(false);
}

/* The event's filter is for what is recorded; no trigger is left out for it. */
static void filter_of_the_event(void **state)
{
	(void)state;
	assert_int_equal(echo("used == 6", FULL "filter"), 0);
	assert_int_equal(echo("1", FULL "enable"), 0);
	set("traceoff", FULL "trigger");
	trace_yard_full(5, 1);
	tracing_is(false);
	set("!traceoff", FULL "trigger");
	assert_int_equal(echo("1", "tracing_on"), 0);
	trace_yard_full(5, 1);
	trace_yard_full(6, 1);
	assert_int_equal(count_in("trace", "used="), 1);
	set("traceoff if used == 7", FULL "trigger");
	assert_int_equal(echo("used != 7 && used < 9", FULL "filter"), 0);
	trace_yard_full(7, 2);
	tracing_is(false);
	assert_int_equal(echo("0", FULL "filter"), 0);
	set("!traceoff", FULL "trigger");
	assert_int_equal(echo("0", FULL "enable"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
}

/* Before the event. */
static void traceon(void **state)
{
	(void)state;
	assert_int_equal(echo("1", FULL "enable"), 0);
	assert_int_equal(echo("0", "tracing_on"), 0);
	set("traceon:1", FULL "trigger");
	trace_yard_full(6, 1);
	tracing_is(true);
	assert_int_equal(count_in("trace", "used=6"), 1);
	assert_string_equal(cat(FULL "trigger"), "traceon:count=0\n");
	assert_int_equal(echo("0", "tracing_on"), 0);
	trace_yard_full(7, 1);
	tracing_is(false);
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
	tracing_is(false);
	assert_int_equal(echo("1", "tracing_on"), 0);
	trace_yard_full(4, 1);
	tracing_is(true);
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
	assert_int_equal(count_in("trace", "used="), 0);
	assert_int_equal(count_in("trace", "<stack trace>\n => schedule\n => yield\n"), 1);
	assert_int_equal(echo("1", FULL "enable"), 0);
	trace_yard_full(2, 1);
	trace_yard_full(3, 1);
	assert_int_equal(count_in("trace", "<stack trace>\n => schedule\n => yield\n"), 2);
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
	assert_int_equal(count_in("snapshot", "used=1"), 1);
	assert_int_equal(count_in("trace", "used=2"), 1);
	assert_int_equal(count_in("trace", "used=1"), 0);
	assert_string_equal(cat(FULL "trigger"), "snapshot:count=0\n");
}

static void says(const char *path, const char *want)
{
	assert_string_equal(cat(path), want);
}

/* The marks of `enable`, and what is counted: only what has switched the event. */
static void enable_event(void **state)
{
	(void)state;
	set("enable_event:yard:yard_watch:1", FULL "trigger");
	set("disable_event:yard:yard_watch", OPEN "trigger");
	says(FULL "trigger", "enable_event:yard:yard_watch:count=1\n");
	says(OPEN "trigger", "disable_event:yard:yard_watch:unlimited\n");
	says(WATCH "enable", "0*\n");
	trace_yard_watch(1);
	trace_yard_gate_open(1);
	says(WATCH "enable", "0*\n");
	trace_yard_full(1, 1);
	says(WATCH "enable", "1*\n");
	trace_yard_full(1, 1);
	trace_yard_watch(2);
	says(FULL "trigger", "enable_event:yard:yard_watch:count=0\n");
	trace_yard_gate_open(1);
	says(WATCH "enable", "0*\n");
	trace_yard_watch(3);
	trace_yard_full(1, 1);
	trace_yard_watch(4);
	assert_int_equal(count_in("trace", "who="), 1);
	assert_int_equal(count_in("trace", "who=2"), 1);
	/* Switched on meanwhile, it stays on without the triggers. */
	set("!disable_event:yard:yard_watch", OPEN "trigger");
	assert_int_equal(echo("1", WATCH "enable"), 0);
	set("!enable_event:yard:yard_watch", FULL "trigger");
	says(WATCH "enable", "1\n");
}

static void enable_event_twice(void **state)
{
	(void)state;
	set("enable_event:yard:yard_watch", FULL "trigger");
	assert_int_equal(echo_append("enable_event:yard:yard_watch:3", FULL "trigger"), -EEXIST);
	assert_int_equal(echo_append("disable_event:yard:yard_watch", FULL "trigger"), -EEXIST);
	set("enable_event:yard:yard_full:1:2", FULL "trigger");
	says(FULL "trigger", "enable_event:yard:yard_full:count=1\n"
			     "enable_event:yard:yard_watch:unlimited\n");
	set("!disable_event:yard:yard_watch", FULL "trigger");
	says(FULL "trigger", "enable_event:yard:yard_full:count=1\n");
}

/* An event that switches itself on is recorded right away. */
static void enable_itself(void **state)
{
	(void)state;
	set("enable_event:yard:yard_full", FULL "trigger");
	trace_yard_full(7, 1);
	assert_int_equal(count_in("trace", "used=7"), 1);
}

static void conditions(void **state)
{
	(void)state;
	set("  traceoff:2  if   used == 3 ", FULL "trigger");
	set("stacktrace if used > 3 && common_pid == 1", FULL "trigger");
	says(FULL "trigger", "stacktrace:unlimited if used > 3 && common_pid == 1\n"
			     "traceoff:count=2 if used == 3\n");
	assert_int_equal(echo_append("traceoff if used == 4", FULL "trigger"), -EEXIST);
	fake_stack_nr = 1;
	fake_stack[0] = trace_plat_ip_pack(fake_func(SCHEDULE) + 5);
	trace_yard_full(2, 1);
	tracing_is(true);
	trace_yard_full(4, 1);
	assert_int_equal(count_in("trace", "<stack trace>"), 1);
	trace_yard_full(3, 1);
	tracing_is(false);
	says(FULL "trigger", "stacktrace:unlimited if used > 3 && common_pid == 1\n"
			     "traceoff:count=1 if used == 3\n");
	fake_stack_nr = 0;
	/* A condition after `!` does not count. */
	set("!traceoff if used == 2", FULL "trigger");
	set("!stacktrace", FULL "trigger");
}

/* Other than the filter of what is recorded: triggers see each event. */
static void of_texts(void **state)
{
	static const u32 none[1];
	static const unsigned long mask[1];
	char name[400];

	(void)state;
	set("traceoff if name ~ \"*z\"", TEXTS "trigger");
	trace_yard_texts("abc", none, 0, mask);
	tracing_is(true);
	trace_yard_texts("abz", none, 0, mask);
	tracing_is(false);
	assert_int_equal(echo("1", "tracing_on"), 0);
	/* Too long for the probe's stack. */
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	trace_yard_texts(name, none, 0, mask);
	tracing_is(true);
	name[sizeof(name) - 2] = 'z';
	trace_yard_texts(name, none, 0, mask);
	tracing_is(false);
	assert_string_equal(cat_body("trace"), "");
	set("!traceoff", TEXTS "trigger");
}

static void instances(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	set("traceoff", "instances/two/" FULL "trigger");
	set("snapshot", "instances/two/" FULL "trigger");
	set("stacktrace", "instances/two/" OPEN "trigger");
	set("enable_event:yard:yard_watch", "instances/two/" OPEN "trigger");
	assert_string_equal(cat(FULL "trigger"), AVAILABLE);
	trace_yard_full(1, 1);
	tracing_is(true);
	assert_string_equal(cat("instances/two/tracing_on"), "0\n");
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	trace_yard_full(1, 1);
}

/* Each allocation fails in turn: nothing is left behind, and the trigger is not there. */
static void no_memory(void **state)
{
	static const char *const texts[] = { "traceoff:3 if used == 2", "snapshot", "stacktrace",
					     "enable_event:yard:yard_watch" };
	static const char *const removals[] = { "!traceoff", "!snapshot", "!stacktrace",
						"!enable_event:yard:yard_watch" };
	long before, nr;

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(texts); i++) {
		set(texts[i], FULL "trigger"); /* what stays of a first one */
		set(removals[i], FULL "trigger");
		assert_int_equal(echo("0", "snapshot"), 0);
		for_each_allocation(
			nr, (before = fake_alloc_out, echo_append(texts[i], FULL "trigger"))) {
			assert_string_equal(cat(FULL "trigger"), AVAILABLE);
			assert_true(i == 1 || fake_alloc_out == before);
		}
		set(removals[i], FULL "trigger");
	}
}

/* The memory that the event needs before its probe is registered cannot be had. */
static void event_refuses(void **state)
{
	(void)state;
	yard_watch_result = -EBUSY;
	assert_int_equal(echo_append("traceoff", WATCH "trigger"), -EBUSY);
	assert_int_equal(echo_append("enable_event:yard:yard_watch", FULL "trigger"), -EBUSY);
	assert_string_equal(cat(FULL "trigger"), AVAILABLE);
	assert_string_equal(cat(WATCH "trigger"), AVAILABLE);
	assert_string_equal(cat(WATCH "enable"), "0\n");
	yard_watch_result = 0;
	trace_yard_watch(1);
	tracing_is(true);
}

/* All filters and triggers of an instance at a glance. */
static void lists_of_all(void **state)
{
	struct trace_node *dir = node_of("instances");

	(void)state;
	assert_string_equal(cat("show_event_filters"), "");
	assert_string_equal(cat("show_event_triggers"), "");
	assert_int_equal(echo("used > 3 && common_pid != 7", FULL "filter"), 0);
	assert_int_equal(echo("who == 1", WATCH "filter"), 0);
	assert_int_equal(echo("gate ==", OPEN "filter"), -EINVAL); /* it is not in force */
	assert_int_equal(echo("traceoff:2 if used == 4", FULL "trigger"), 0);
	assert_int_equal(echo("stacktrace", FULL "trigger"), 0);
	assert_int_equal(echo("enable_event:yard:yard_watch", OPEN "trigger"), 0);
	for (cat_chunk = 4096; cat_chunk; cat_chunk = cat_chunk > 7 ? 7 : 0) {
		assert_string_equal(cat("show_event_filters"),
				    "yard:yard_full                  used > 3 && common_pid != 7\n"
				    "yard:yard_watch                 who == 1\n");
		assert_string_equal(
			cat("show_event_triggers"),
			"yard:yard_full                  stacktrace:unlimited\n"
			"yard:yard_full                  traceoff:count=2 if used == 4\n"
			"yard:yard_gate_open             enable_event:yard:yard_watch:unlimited\n");
	}
	cat_chunk = 4096;
	assert_int_equal(trace_fs_mkdir(dir, "one"), 0);
	assert_string_equal(cat("instances/one/show_event_filters"), "");
	assert_int_equal(echo("who == 2", "instances/one/" WATCH "filter"), 0);
	assert_string_equal(cat("instances/one/show_event_filters"),
			    "yard:yard_watch                 who == 2\n");
	assert_int_equal(trace_fs_rmdir(dir, "one"), 0);
	clear_filters();
	assert_string_equal(cat("show_event_filters"), "");
	assert_int_equal(echo("", "error_log"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(list, event_reset, all_off),
		cmocka_unit_test_setup_teardown(twice, event_reset, all_off),
		cmocka_unit_test_setup_teardown(truncation_leaves_them, event_reset, all_off),
		cmocka_unit_test_setup_teardown(wrong_words, event_reset, all_off),
		cmocka_unit_test_setup_teardown(odd_words, event_reset, all_off),
		cmocka_unit_test_setup_teardown(traceoff, event_reset, all_off),
		cmocka_unit_test_setup_teardown(filter_of_the_event, event_reset, all_off),
		cmocka_unit_test_setup_teardown(traceon, event_reset, all_off),
		cmocka_unit_test_setup_teardown(counts, event_reset, all_off),
		cmocka_unit_test_setup_teardown(stacktrace, event_reset, all_off),
		cmocka_unit_test_setup_teardown(snapshot, event_reset, all_off),
		cmocka_unit_test_setup_teardown(enable_event, event_reset, all_off),
		cmocka_unit_test_setup_teardown(enable_event_twice, event_reset, all_off),
		cmocka_unit_test_setup_teardown(enable_itself, event_reset, all_off),
		cmocka_unit_test_setup_teardown(conditions, event_reset, all_off),
		cmocka_unit_test_setup_teardown(of_texts, event_reset, all_off),
		cmocka_unit_test_setup_teardown(instances, event_reset, all_off),
		cmocka_unit_test_setup_teardown(no_memory, event_reset, all_off),
		cmocka_unit_test_setup_teardown(event_refuses, event_reset, all_off),
		cmocka_unit_test_setup_teardown(lists_of_all, event_reset, all_off),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
