/*
 * Conditions of monitors about time: clocks, and the steps that reset them.
 */
#include "unit.h"
#include "allocations.h"
#include "monitor_help.h"
#include "monitors/monitor_private.h"
#include "text/str.h"
#include <trace/thread.h>

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

#define ONE "rv/monitors/one/"
#define US  1000u
#define MS  1000000u
/* A full shelf is empty in less than 2 ms. */
#define SOON "a -shelf_full(reset(x))-> b -shelf_empty(x < 2ms)-> a"

static int clock_by_hand(void **state)
{
	int err = tracefs_reset(state);

	fake_clock_step = 0;
	fake_clock = MS;
	assert_int_equal(echo("", "error_log"), 0);
	return err;
}

static int all_off(void **state)
{
	fake_clock_step = 1;
	assert_int_equal(echo("", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("", "monitors"), 0);
	(void)state;
	return 0;
}

/* ---- Lines ---- */

static const struct refused_line errors[] = {
	{ "m:x a -shelf_full()-> b", -EINVAL, "a clock is expected", 18 },
	{ "m:x a -shelf_full(7 < 2ms)-> b", -EINVAL, "a clock is expected", 18 },
	{ "m:x a -shelf_full(x)-> b", -EINVAL, "< <= > or >= is expected", 19 },
	{ "m:x a -shelf_full(x = 2ms)-> b", -EINVAL, "< <= > or >= is expected", 20 },
	{ "m:x a -shelf_full(x < )-> b", -EINVAL, "a time is expected, such as 5ms", 22 },
	{ "m:x a -shelf_full(x < 2)-> b", -EINVAL, "a time is expected, such as 5ms", 22 },
	{ "m:x a -shelf_full(x < ms)-> b", -EINVAL, "a time is expected, such as 5ms", 22 },
	{ "m:x a -shelf_full(x < -2ms)-> b", -EINVAL, "a time is expected, such as 5ms", 22 },
	{ "m:x a -shelf_full(x < 2m)-> b", -EINVAL, "a time is expected, such as 5ms", 22 },
	{ "m:x a -shelf_full(x < 2msx)-> b", -EINVAL, "a time is expected, such as 5ms", 22 },
	{ "m:x a -shelf_full(x < 18446744073710s)-> b", -EINVAL, "a time is expected, such as 5ms",
	  22 },
	{ "m:x a -shelf_full(x < 99999999999999999999ns)-> b", -EINVAL,
	  "a time is expected, such as 5ms", 22 },
	{ "m:x a -shelf_full(x < 2ms-> b", -EINVAL, ", or ) is expected", 25 },
	{ "m:x a -shelf_full(x < 2ms, )-> b", -EINVAL, "a clock is expected", 27 },
	{ "m:x a -shelf_full(reset())-> b", -EINVAL, "a clock is expected", 24 },
	{ "m:x a -shelf_full(reset(x)-> b", -EINVAL, ", or ) is expected", 26 },
	{ "m:x a -shelf_full(reset(x-> b", -EINVAL, "a ) is expected", 25 },
	{ "m:x a -shelf_full(reset(x), reset(y), reset(z))-> b", -E2BIG,
	  "there are too many clocks", 44 },
	{ "m:x a -shelf_full(x<1s, x<2s, x<3s, x<4s, x<5s)-> b", -E2BIG,
	  "there are too many conditions", 42 },
	{ "m:x a -shelf_full(reset(a234567890123456789012345))-> b", -EINVAL,
	  "the name is too long", 24 },
	{ "m:x a -shelf_full(reset(x))-> b -shelf_empty(y < 2ms)-> a", -EINVAL,
	  "no step resets this clock", 45 },
	{ "m:x a -y=shelf_full(reset(x))-> b -y=shelf_full-> c", -EINVAL,
	  "it stands for something else already", 35 },
	{ "m:x a -y=shelf_full(reset(x))-> b -y(x < 2ms)-> c", -EINVAL, "there is no such event",
	  35 },
};

static void wrong_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(errors); i++) {
		is_refused("monitors", "monitors", &errors[i]);
		has_not("rv/available_monitors", "x\n");
	}
}

static void right_lines(void **state)
{
	(void)state;
	monitor_make("m:one a -shelf_full( reset( x ) , y>=1us,y <=18446744073s )-> b "
		     "-shelf_empty{shelf == 1} (x < 2ms,reset(y))-> a");
	monitor_make("-:one");
	/* The same terms are the same event of the automaton. */
	monitor_make("m:one a -shelf_full(reset(x))-> b -shelf_full(reset(x))-> a");
	has_not(ONE "hits", "shelf_full.2");
	monitor_make("-:one");
	monitor_make("m:one a -in=shelf_full(reset(x))-> b -in-> b -shelf_full-> a; b "
		     "-shelf_empty(x < 1s)-> a");
	has(ONE "hits", "b x in -> b\n         0  b x shelf_full -> a\n");
}

/* ---- Conditions ---- */

static void in_time_or_late(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " SOON);
	assert_int_equal(echo("1", "events/rv/enable"), 0);
	trace_shelf_empty(1);
	fake_clock += 50 * MS;
	says(ONE "state", "# unknown 0, a 1, b 0\na, x 50000.000 us\n");
	trace_shelf_full(1);
	fake_clock += 2 * MS - 1;
	says(ONE "state", "# unknown 0, a 0, b 1\nb, x 1999.999 us\n");
	trace_shelf_empty(1);
	counted("one", 1, 2, 0);
	trace_shelf_full(1);
	fake_clock += 2 * MS;
	trace_shelf_empty(1);
	counted("one", 1, 3, 1);
	has("trace", "error_one: event shelf_empty not expected in the state b\n");
	says(ONE "state", "# unknown 1, a 0, b 0\nunknown\n");
	has(ONE "hits", "         1  b x shelf_empty -> a\n"
			"         1  b x shelf_empty -> late: violation\n"
			"last: event shelf_empty not expected in the state b, x 2000.000 us\n");
	has_not(ONE "hits", "a x shelf_empty -> late");
	/* An event that has no step at all is as ever. */
	trace_shelf_empty(1);
	trace_shelf_empty(1);
	counted("one", 2, 3, 2);
	has(ONE "hits", "         1  a x shelf_empty -> violation\n");
}

static void operators(void **state)
{
	static const struct {
		const char *term;
		bool holds[3]; /* a nanosecond before, at the time, one behind it */
	} rows[] = {
		{ "x < 5us", { true, false, false } },
		{ "x <= 5us", { true, true, false } },
		{ "x > 5us", { false, false, true } },
		{ "x >= 5us", { false, true, true } },
		{ "x < 0ns", { false, false, false } },
		{ "x >= 0ns", { true, true, true } },
		{ "x >= 5000ns, x <= 5us", { false, true, false } },
		{ "x <= 5us, x >= 5us", { false, true, false } },
		{ "x < 1s, x > 4us, x < 1ms", { true, true, true } },
	};
	char line[120];

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(rows); i++) {
		snprintf(line, sizeof(line),
			 "m:one enable=1 -shelf_full(reset(x))-> a -shelf_empty(%s)-> a",
			 rows[i].term);
		monitor_make(line);
		for (unsigned int at = 0; at < 3; at++) {
			assert_int_equal(echo("0", ONE "enable"), 0);
			assert_int_equal(echo("1", ONE "enable"), 0);
			trace_shelf_full(1);
			fake_clock += 5 * US - 1 + at;
			trace_shelf_empty(1);
			if (monitor_hits("one", "violations") == rows[i].holds[at])
				fail_msg("%s, %u:\n%s", rows[i].term, at, cat(ONE "hits"));
		}
		monitor_make("-:one");
	}
}

/* Each clock is reset by its own steps. */
static void two_clocks(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 -shelf_label-> a -shelf_full(reset(x))-> a "
		     "-shelf_empty{shelf == 1}(reset(y), x < 1ms)-> a "
		     "-shelf_empty{shelf == 2}(x < 9ms, y >= 2ms)-> a");
	trace_shelf_label(1, "");
	fake_clock += 3 * MS;
	says(ONE "state", "# unknown 0, a 1\na, x 3000.000 us, y 3000.000 us\n");
	trace_shelf_full(1);
	fake_clock += 500 * US;
	trace_shelf_empty(2);
	trace_shelf_empty(1);
	fake_clock += 500 * US;
	says(ONE "state", "# unknown 0, a 1\na, x 1000.000 us, y 500.000 us\n");
	counted("one", 1, 3, 0);
	trace_shelf_empty(1); /* late by x; y goes on */
	counted("one", 1, 3, 1);
	has(ONE "hits", "in the state a, x 1000.000 us, y 500.000 us\n");
	trace_shelf_label(1, "");
	fake_clock += 1 * MS;
	trace_shelf_empty(2); /* early by y */
	counted("one", 2, 3, 2);
}

/* The first of the line whose conditions hold. */
static void choice_by_time(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 -shelf_label(reset(x))-> a -soon=shelf_full(x < 1ms)-> b; a "
		     "-then=shelf_full(x < 2ms)-> c; b -shelf_label(reset(x))-> a; c "
		     "-shelf_label(reset(x))-> a");
	trace_shelf_label(1, "");
	fake_clock += 1 * MS - 1;
	trace_shelf_full(1);
	says(ONE "state", "# unknown 0, a 0, b 1, c 0\nb, x 999.999 us\n");
	trace_shelf_label(1, "");
	fake_clock += 1 * MS;
	trace_shelf_full(1);
	says(ONE "state", "# unknown 0, a 0, b 0, c 1\nc, x 1000.000 us\n");
	trace_shelf_label(1, "");
	fake_clock += 2 * MS;
	trace_shelf_full(1);
	has(ONE "hits", "         1  a x soon -> late: violation\n");
	has(ONE "hits", "         0  a x then -> late: violation\n");
}

/* The event that makes the state known is not judged, and all clocks begin with it. */
static void first_state(void **state)
{
	(void)state;
	fake_clock = 100 * MS;
	monitor_make("m:one enable=1 " SOON);
	trace_shelf_empty(1);
	says(ONE "state", "# unknown 0, a 1, b 0\na, x 0.000 us\n");
	counted("one", 1, 0, 0);
	monitor_make("m:two enable=1 a -shelf_full(x >= 1ms)-> b -shelf_label(reset(x))-> a");
	trace_shelf_label(1, "");
	trace_shelf_full(1);
	counted("two", 1, 0, 1);
	/* Off and on: the state is unknown, and so are the clocks. */
	assert_int_equal(echo("0", "rv/monitoring_on"), 0);
	fake_clock += 30 * MS;
	assert_int_equal(echo("1", "rv/monitoring_on"), 0);
	trace_shelf_empty(1);
	counted("one", 2, 1, 0);
}

/* Each thread, CPU and value has clocks of its own. */
static void of_each(void **state)
{
	static const char *const per[] = { "thread", "cpu", "shelf" };
	struct trace_thread thread = { 0 };
	char line[160];

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(per); i++) {
		snprintf(line, sizeof(line),
			 "m:one per=%s enable=1 a -shelf_full[shelf](reset(x))-> b "
			 "-shelf_empty[shelf](x < 2ms, reset(y))-> a",
			 per[i]);
		monitor_make(line);
		trace_thread_created(1, 1, &thread);
		trace_thread_created(1, 2, &thread);
		for (int shelf = 0; shelf < 3; shelf++)
			trace_shelf_empty(shelf);
		trace_shelf_full(1);
		fake_clock += 1 * MS;
		trace_shelf_full(0);
		trace_shelf_full(2);
		fake_clock += 1500 * US;
		trace_shelf_empty(0);
		trace_shelf_empty(1);
		trace_shelf_empty(2);
		if (i != 1)
			has(ONE "hits", "         1  b x shelf_empty -> late: violation\n");
		assert_int_equal(monitor_hits("one", "violations"), 1);
		has(ONE "hits", ", x 2500.000 us, y 2500.000 us\n");
		monitor_make("-:one");
	}
}

/* A thread that gets the place of another one has nothing of its clocks. */
static void place_of_another(void **state)
{
	struct trace_thread thread = { 0 };

	(void)state;
	monitor_make("m:one per=thread size=1 enable=1 a -shelf_full[shelf](reset(x))-> b "
		     "-shelf_empty[shelf](x < 2ms)-> a");
	for (int32_t pid = 1000; pid < 1020; pid++) {
		trace_thread_created(1, pid, &thread);
		trace_shelf_empty(pid);
		trace_shelf_full(pid);
		fake_clock += 1 * MS;
		trace_shelf_empty(pid);
		fake_clock += 5 * MS;
		trace_thread_exited(pid, "x");
	}
	counted("one", 20, 40, 0);
}

/* A clock of another CPU may be ahead. */
static void clock_goes_back(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " SOON);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	fake_clock -= 1000;
	says(ONE "state", "# unknown 0, a 0, b 1\nb, x 0.000 us\n");
	trace_shelf_empty(1);
	counted("one", 1, 2, 0);
}

/* A time that passes is no event: the next one is late, whichever it is, and until then `state` tells. */
static void nothing_comes(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " SOON "; b -shelf_label(x < 2ms)-> b");
	trace_shelf_empty(1);
	trace_shelf_full(1);
	fake_clock += 10000ull * MS;
	counted("one", 1, 1, 0);
	says(ONE "state", "# unknown 0, a 0, b 1\nb, x 10000000.000 us\n");
	trace_shelf_label(1, "");
	counted("one", 1, 1, 1);
	has(ONE "hits", "         1  b x shelf_label -> late: violation\n");
}

static void told_by_reactors(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 react=printk " SOON);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	fake_clock += 2 * MS + 5;
	trace_shelf_empty(1);
	assert_non_null(strstr(fake_log(), "rv: monitor one does not allow event shelf_empty on "
					   "state b with x=2000005ns: "));
}

static void no_memory(void **state)
{
	long nr;

	(void)state;
	for_each_allocation(nr, echo_append("m:one per=thread enable=1 " SOON, "monitors"))
		has_not("rv/available_monitors", "one");
	assert_in_range(nr, 4, 99);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, clock_by_hand, all_off)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_lines),     TEST(right_lines),   TEST(in_time_or_late),
		TEST(operators),       TEST(two_clocks),    TEST(choice_by_time),
		TEST(first_state),     TEST(of_each),	    TEST(place_of_another),
		TEST(clock_goes_back), TEST(nothing_comes), TEST(told_by_reactors),
		TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
