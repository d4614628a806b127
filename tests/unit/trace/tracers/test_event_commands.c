/*
 * The commands enable_event and disable_event of set_ftrace_filter: what was typed to Linux 6.1
 * (tests/golden, events-function-commands*), counts, instances, and memory running out.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include "golden.h"
#include "child.h"
#include "text/str.h"
#include <trace/event.h>
#include "host/yard.h"

#define FILTER "set_ftrace_filter"
#define EMPTY  "#### all functions enabled ####\n"
#define FULL   "events/yard/yard_full/"

/* Functions, in the places of those that tests call by number. */
enum {
	LEAF = SCHEDULE,
	LEAF2 = YIELD,
	TAIL = DO_WORK,
	OUTER = KFREE
};

/* Names of Linux's guest, and ours for them. */
static const char *const names[][2] = {
	{ "gold_int", "yard_full" },
	{ "gold_types", "yard_watch" },
	{ "gold_enum", "yard_gate_jam" },
	{ "gold", "yard" },
	{ NULL, NULL },
};

static struct golden golden;

static int setup(void **state)
{
	static const char *const functions[] = { "yard_leaf", "yard_leaf2", "yard_tail",
						 "yard_outer" };

	(void)state;
	fake_reset();
	fake_set_nr_cpus(8);
	fake_bind(0);
	fake_clock_step = 0;
	fake_text_build(functions, NR_FUNCS);
	ftrace_init();
	return trace_init();
}

static int off(void **state)
{
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_string_equal(cat("events/enable"), "0\n");
	assert_string_equal(cat(FILTER), EMPTY);
	assert_string_equal(cat("enabled_functions"), "");
	assert_int_equal(yard_nr_watchers, 0);
	return tracefs_check(state);
}

/* `outer` calls the two others, as it does in Linux's guest. */
static void call_outer(void)
{
	call(0, 1, OUTER);
	call(0, 1, LEAF2);
	call(0, 1, TAIL);
}

/* The work of the capture between its commands; see tests/golden/linux-6.1/capture. */
static void do_before(unsigned int nr)
{
	switch (nr) {
	case 7:
		trace_yard_full(1, 0);
		call(0, 1, LEAF);
		trace_yard_full(2, 0);
		break;
	case 9:
		assert_non_null(strstr(cat("trace"), "used=2"));
		assert_null(strstr(cat("trace"), "used=1"));
		assert_int_equal(echo("1", "events/yard/yard_watch/enable"), 0);
		break;
	case 10:
		call_outer();
		break;
	case 12:
		call_outer();
		call_outer();
		break;
	default:
		break;
	}
}

static void effects_of_linux(void **state)
{
	(void)state;
	golden_load(&golden, "events-function-commands", names);
	while (golden_next(&golden)) {
		const char *said;

		do_before(golden.nr);
		said = golden_run(golden.command);
		if (said)
			assert_string_equal(said, golden.answer);
	}
	assert_int_equal(golden.nr, 21);
}

/* Keep of an answer what is about functions that are here. */
static void keep_ours(char *answer)
{
	static const char *const ours[] = { "####", "yard_leaf:", "yard_leaf2:", "yard_tail:",
					    "yard_outer:" };

	for (char *line = answer; *line;) {
		char *end = strchr(line, '\n') + 1;
		bool is_ours = false;

		for (size_t i = 0; i < TRACE_ARRAY_SIZE(ours); i++)
			is_ours |= strncmp(line, ours[i], strlen(ours[i])) == 0;
		if (is_ours)
			line = end;
		else
			memmove(line, end, strlen(end) + 1);
	}
}

static unsigned int nr_lines(const char *text)
{
	unsigned int nr = 0;

	for (; *text; text++)
		nr += *text == '\n';
	return nr;
}

/* The same lines; those of one command come in the order of a hash on Linux. */
static void check_lines(const char *said, char *answer)
{
	keep_ours(answer);
	assert_int_equal(nr_lines(said), nr_lines(answer));
	for (char *line = strtok(answer, "\n"); line; line = strtok(NULL, "\n"))
		assert_non_null(strstr(said, line));
}

static void errors_of_linux(void **state)
{
	unsigned int nr_listed = 0;

	(void)state;
	golden_load(&golden, "events-function-commands-errors", names);
	while (golden_next(&golden)) {
		bool is_list = strcmp(golden.command, "cat set_ftrace_filter") == 0;
		const char *said;

		if (strcmp(golden.command, "cat error_log") == 0)
			continue;
		said = golden_run(golden.command);
		if (!is_list) {
			assert_string_equal(said, golden.answer);
			continue;
		}
		check_lines(said, golden.answer);
		if (nr_listed++ < 15) { /* as the capture has done */
			(void)echo_append("!yard_leaf:enable_event:yard:yard_full", FILTER);
			(void)echo_append("!yard_leaf:enable_event:yard:yard_full:0", FILTER);
		}
	}
	assert_int_equal(nr_listed, 19);
	assert_int_equal(echo("!yard_leaf:enable_event:yard:yard_full:0", FILTER), 0);
}

/* Linux says nothing there. */
static void errors_have_words(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "yard_leaf:enable_event", "yard_leaf: SYSTEM:EVENT is missing\n" },
		{ "yard_leaf:enable_event:yard", "yard_leaf: SYSTEM:EVENT is missing\n" },
		{ "yard_leaf:enable_event:yard:ard_full",
		  "yard:ard_full: there is no such event\n" },
		{ "yard_leaf:enable_event:yard:yard_full:2x", "2x: count is not a number\n" },
		{ "yard_l:disable_event:yard:yard_full", "no function matches that has not got" },
		{ "!yard_leaf:disable_event:yard:yard_full", "no such command without a count" },
		{ "!yard_leaf:disable_event:yard:yard_full:0", "no such command with a count" },
	};

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(cases); i++) {
		assert_true(echo(cases[i].text, FILTER) < 0);
		assert_non_null(strstr(cat("error_log"), cases[i].why));
		assert_int_equal(echo("", "error_log"), 0);
	}
	assert_int_equal(echo("yard_leaf:enable_event:yard:yard_full:99999999999999999999", FILTER),
			 -ERANGE);
	assert_int_equal(echo("yard_leaf:enable_event:yard:yard_full", "set_ftrace_notrace"),
			 -EINVAL);
	assert_int_equal(echo("", "error_log"), 0);
	assert_string_equal(cat(FULL "enable"), "0\n");
}

/* The functions of one command share its count; others have their own. */
static void counts(void **state)
{
	(void)state;
	assert_int_equal(echo("yard_leaf*:disable_event:yard:yard_full:3", FILTER), 0);
	assert_int_equal(echo("yard_tail:disable_event:yard:yard_full:3", FILTER), 0);
	assert_int_equal(echo("yard_outer:enable_event:yard:yard_full", FILTER), 0);
	for (unsigned int i = 0; i < 4; i++) {
		call(0, 1, OUTER);
		call(0, 1, OUTER); /* it is on: nothing to be done */
		assert_string_equal(cat(FULL "enable"), "1*\n");
		call(i % 2, 1, i % 2 ? LEAF : LEAF2);
		call(i % 2, 1, i % 2 ? LEAF : LEAF2);
		assert_string_equal(cat(FULL "enable"), i < 3 ? "0*\n" : "1*\n");
	}
	assert_string_equal(cat(FILTER), EMPTY "yard_outer:enable_event:yard:yard_full:unlimited\n"
					       "yard_leaf:disable_event:yard:yard_full:count=0\n"
					       "yard_leaf2:disable_event:yard:yard_full:count=0\n"
					       "yard_tail:disable_event:yard:yard_full:count=3\n");
	/* A function that goes does not take the event from the others. */
	assert_int_equal(echo("!yard_tail:disable_event:yard:yard_full:0", FILTER), 0);
	assert_int_equal(echo("!yard_leaf:disable_event:yard:yard_full:0", FILTER), 0);
	assert_int_equal(echo("!yard_outer:enable_event:yard:yard_full", FILTER), 0);
	assert_string_equal(cat(FULL "enable"), "1*\n");
	assert_int_equal(echo("!*:disable_event:yard:yard_full:0", FILTER), 0);
	assert_string_equal(cat(FULL "enable"), "1\n");
}

/* It goes with its instance, and acts on events of that one only. */
static void instances(void **state)
{
	struct trace_node *dir = node_of("instances");

	(void)state;
	assert_int_equal(trace_fs_mkdir(dir, "one"), 0);
	assert_int_equal(echo("yard_leaf:enable_event:yard:yard_watch", "instances/one/" FILTER),
			 0);
	assert_string_equal(cat(FILTER), EMPTY);
	assert_int_equal(yard_nr_watchers, 1);
	call(0, 1, LEAF);
	assert_string_equal(cat("instances/one/events/yard/yard_watch/enable"), "1*\n");
	assert_string_equal(cat("events/yard/yard_watch/enable"), "0\n");
	trace_yard_watch(7);
	assert_non_null(strstr(cat("instances/one/trace"), "who=7"));
	assert_null(strstr(cat("trace"), "who=7"));
	assert_int_equal(trace_fs_rmdir(dir, "one"), 0);
	assert_int_equal(yard_nr_watchers, 0);
	call(0, 1, LEAF);
}

/* Without memory at any allocation: an error, and nothing has changed. */
static void no_memory(void **state)
{
	long nr;

	(void)state;
	for_each_allocation(nr, echo("*:enable_event:yard:yard_watch", FILTER)) {
		assert_string_equal(cat("events/yard/yard_watch/enable"), "0\n");
		assert_int_equal(yard_nr_watchers, 0);
	}
	assert_in_range(nr, 1, 39);
	assert_string_equal(cat("events/yard/yard_watch/enable"), "0*\n");
	assert_int_equal(yard_nr_watchers, 1);
	assert_int_equal(echo("!*:enable_event:yard:yard_watch", FILTER), 0);
	assert_int_equal(echo("", "error_log"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(effects_of_linux, tracefs_reset, off),
		cmocka_unit_test_setup_teardown(errors_of_linux, tracefs_reset, off),
		cmocka_unit_test_setup_teardown(errors_have_words, tracefs_reset, off),
		cmocka_unit_test_setup_teardown(counts, tracefs_reset, off),
		cmocka_unit_test_setup_teardown(instances, tracefs_reset, off),
		cmocka_unit_test_setup_teardown(no_memory, tracefs_reset, off),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
