/*
 * Keys of monitors: the field of an event that chooses the instance of an automaton.
 */
#include "unit.h"
#include "monitor_help.h"
#include "monitors/monitor_private.h"
#include "text/str.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

#define ONE "rv/monitors/one/"

/* Which fields can say whom an event is about: numbers of each size, and no others. */
static void kinds_of_fields(void **state)
{
	static const char *const right[] = { "u8",  "s16",	  "s32",       "u64",
					     "cpu", "common_cpu", "common_pid" };
	static const char *const wrong[] = { "text", "long_text", "odd" };
	char line[100];

	(void)state;
	assert_int_equal(
		echo("tick u8 u8; s16 s16; s32 s32; u64 u64; char text[8]; char long_text[]",
		     "synthetic_events"),
		0);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(right); i++) {
		snprintf(line, sizeof(line), "m:one per=cpu a -tick[%s]-> b", right[i]);
		monitor_make(line);
		assert_int_equal(echo_append("-:one", "monitors"), 0);
	}
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(wrong); i++) {
		snprintf(line, sizeof(line), "m:one per=cpu a -tick[%s]-> b", wrong[i]);
		assert_int_equal(echo_append(line, "monitors"), -EINVAL);
		has("error_log",
		    i < 2 ? "the field is not a number" : "the event has no such field");
	}
	assert_int_equal(echo("", "synthetic_events"), 0);
}

/* The CPU that an event comes on, as long as the event has no field of that name. */
static void field_that_is_the_cpu(void **state)
{
	static const char *const names[] = { "cpu", "common_cpu" };
	char line[100];

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(names); i++) {
		snprintf(line, sizeof(line),
			 "m:one enable=1 per=cpu a -shelf_full[%s]-> b -shelf_empty-> a", names[i]);
		monitor_make(line);
		fake_bind(1);
		trace_shelf_empty(0);
		trace_shelf_full(0);
		fake_bind(0);
		says(ONE "state", "# unknown 1, a 0, b 1\ncpu0: unknown\ncpu1: b\n");
		assert_int_equal(echo_append("-:one", "monitors"), 0);
	}
	assert_int_equal(echo("tick u32 cpu", "synthetic_events"), 0);
	monitor_make("m:one enable=1 per=cpu a -tick[cpu]-> b -shelf_empty-> a");
	trace_shelf_empty(0);
	assert_int_equal(echo("cpu=1", "events/synthetic/tick/inject"), 0);
	says(ONE "state", "# unknown 1, a 1, b 0\ncpu0: a\ncpu1: unknown\n");
	assert_int_equal(echo("cpu=0", "events/synthetic/tick/inject"), 0);
	says(ONE "state", "# unknown 1, a 0, b 1\ncpu0: b\ncpu1: unknown\n");
	assert_int_equal(echo_append("-:one", "monitors"), 0);
	assert_int_equal(echo("", "synthetic_events"), 0);
}

static void door_at(uint32_t ip)
{
	struct monitor_tap *tap = &trace_monitor_find("one", 3)->taps[0];
	const struct {
		struct trace_entry ent;
		uint32_t ip;
	} entry = { .ip = ip };
	const struct trace_event_hit hit = { .entry = &entry, .bytes = sizeof(entry) };

	trace_monitor_watch_hit(&tap->watch, &hit);
}

/* An address in four bytes is a key with all its bits. */
static void per_address(void **state)
{
	(void)state;
	assert_int_equal(echo_append("p:door kfree", "dynamic_events"), 0);
	monitor_make("m:one enable=1 per=__probe_ip a -door-> b -door-> a");
	door_at(0x80001234);
	door_at(0x1234);
	door_at(0x1234);
	has(ONE "state", "__probe_ip 0xffffffff80001234: b\n");
	has(ONE "state", "__probe_ip 0x1234: a\n");
	assert_int_equal(echo_append("-:one", "monitors"), 0);
	assert_int_equal(echo("", "dynamic_events"), 0);
}

static int all_off(void **state)
{
	assert_int_equal(echo("", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("", "monitors"), 0);
	(void)state;
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, all_off)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(kinds_of_fields),
		TEST(field_that_is_the_cpu),
		TEST(per_address),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
