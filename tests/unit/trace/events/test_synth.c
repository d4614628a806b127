/*
 * Synthetic events: values become an event, which is filtered, counted and read as any other; what
 * keeps one from being removed; dynamic_events. Definitions are in test_synth_golden.c.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include <trace/thread.h>
#include "events/synth_event.h"
#include "instance/array.h"
#include "event_parse.h"

#define VALUE(x) ((uint64_t)(uintptr_t)(x))

static struct synth_event *get(const char *name)
{
	struct synth_event *event;

	trace_plat_lock(&trace_config_lock);
	event = trace_synth_event_get(name);
	trace_plat_unlock(&trace_config_lock);
	return event;
}

static void let_go(struct synth_event *event)
{
	trace_plat_lock(&trace_config_lock);
	trace_synth_event_put(event);
	trace_plat_unlock(&trace_config_lock);
}

/* Define what the line says, and nothing else, and switch it on. */
static struct synth_event *define(const char *line)
{
	char name[40], path[60];
	struct synth_event *event;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, " "), line);
	assert_int_equal(echo(line, "synthetic_events"), 0);
	event = get(name);
	assert_non_null(event);
	snprintf(path, sizeof(path), "synthetic/%s", name);
	event_on(path);
	return event;
}

static void write_event(struct synth_event *event, const uint64_t *values)
{
	trace_plat_preempt_disable();
	trace_synth_event_write(event, values);
	trace_plat_preempt_enable();
}

/* The files that define events are empty again. */
static void remove_all(void)
{
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), 0);
	assert_string_equal(cat("dynamic_events"), "");
}

static int end(void **state)
{
	(void)state;
	remove_all();
	fake_cpus[0].pid = 0;
	return 0;
}

/* ---- Fields ---- */

static void numbers(void **state)
{
	struct synth_event *event =
		define("types s8 a; u8 b; s16 c; u16 d; s32 e; u32 f; s64 g; u64 h; bool i; "
		       "long j; unsigned long k; unsigned int l; char m; unsigned char n; "
		       "pid_t o; gfp_t p; int q");
	uint64_t values[17];

	(void)state;
	assert_int_equal(event->nr_fields, 17);
	for (size_t i = 0; i < 17; i++)
		values[i] = UINT64_MAX - i;
	values[8] = 1;
	write_event(event, values);
	event_is_for("types: a=-1 b=254 c=-3 d=65532 e=-5 f=4294967290 g=-7 "
		     "h=18446744073709551608 i=1 j=-10 k=18446744073709551605 l=4294967284 m=-13 "
		     "n=242 o=-15 p=fffffff0 q=-17",
		     "types: a=-1, b=254, c=-3, d=65532, e=-5, f=4294967290, g=-7, "
		     "h=18446744073709551608, i=1, j=-10, k=18446744073709551605, l=4294967284, "
		     "m=-13, n=242, o=-15, p=fffffff0, q=-17");
	let_go(event);
}

/* A number's bytes beyond its field are not in the next one, in whatever order they stand. */
static void neighbours(void **state)
{
	struct synth_event *event = define("x u64 a; u8 b; u8 c; u16 d; u8 e; u32 f; u8 g");
	const uint64_t values[] = { 1, 0x1ff, 0xffff02, 0xffff0003, 0x104, ~0ull << 32 | 5, 0x706 };

	(void)state;
	write_event(event, values);
	event_is_for("x: a=1 b=255 c=2 d=3 e=4 f=5 g=6", "x: a=1, b=255, c=2, d=3, e=4, f=5, g=6");
	let_go(event);
}

static void texts(void **state)
{
	struct synth_event *event = define(
		"x int a; char fixed[8]; char[] text; char b; unsigned char[4] u; char[0] none");
	const uint64_t values[] = { 1,	VALUE("eight letters"), VALUE("any length"),
				    66, VALUE("abc"),		0 };

	(void)state;
	assert_int_equal(event->nr_fields, 6);
	assert_int_equal(event->fields[1].kind, SYNTH_TEXT);
	assert_string_equal(event->fields[1].type, "char[8]");
	assert_int_equal(event->fields[1].size, 8);
	assert_int_equal(event->fields[2].kind, SYNTH_DYNAMIC_TEXT);
	assert_int_equal(event->fields[3].kind, SYNTH_NUMBER);
	write_event(event, values);
	event_is_for("x: a=1 fixed=eight l text=any length b=66 u=abc none=(null)",
		     "x: a=1, fixed=eight l, text=any length, b=66, u=abc, none=(null)");
	let_go(event);
}

/* Longer than what is built on the stack; each text is cut, and its end is not written. */
static void long_texts(void **state)
{
	struct synth_event *event = define("x char[] a; char[] b; char c[256]; int d");
	char text[400], want[1000];
	const uint64_t values[] = { VALUE(text), VALUE("short"), VALUE(text), 5 };

	(void)state;
	memset(text, 'y', sizeof(text));
	text[399] = '\0';
	write_event(event, values);
	snprintf(want, sizeof(want), "x: a=%.255s b=short c=%.255s d=5", text, text);
	assert_string_equal(strstr(cat_body("trace"), "x: "), strcat(want, "\n"));
	snprintf(want, sizeof(want), "x: a=%.255s, b=short, c=%.255s, d=5", text, text);
	assert_string_equal(event_as_tool(), want);
	let_go(event);
}

/* The longest event that there can be: what does not fit is cut off. */
static void longest(void **state)
{
	struct synth_event *event;
	char line[1000] = "x int a", text[256];
	uint64_t values[41] = { 7 };

	(void)state;
	for (int i = 0; i < 40; i++)
		sprintf(line + strlen(line), "; char[] t%d", i);
	event = define(line);
	memset(text, 'y', 255);
	text[255] = '\0';
	for (int i = 1; i < 41; i++)
		values[i] = VALUE(text);
	write_event(event, values);
	assert_non_null(strstr(cat_body("trace"), "x: a=7 t0=yyyy"));
	assert_non_null(strstr(cat_body("trace"), " t39=\n"));
	let_go(event);
}

#define IP(func, at) trace_plat_ip_pack(fake_func(func) + (at))

static void stacks(void **state)
{
	struct synth_event *event = define("x int a; unsigned long[] stack; long[] more; int b");
	uint32_t ips[SYNTH_STACK_MAX + 3] = { IP(SCHEDULE, 5), IP(YIELD, 4), IP(DO_WORK, 2) };
	uint64_t values[] = { 1, VALUE(ips), VALUE(&ips[2]), 2 };
	char want[200];

	(void)state;
	write_event(event, values);
	snprintf(want, sizeof(want), "x: a=1, stack=%lu %lu %lu, more=%lu, b=2",
		 (unsigned long)fake_func(SCHEDULE) + 5, (unsigned long)fake_func(YIELD) + 4,
		 (unsigned long)fake_func(DO_WORK) + 2, (unsigned long)fake_func(DO_WORK) + 2);
	event_is_for("x: a=1 stack=STACK:\n=> schedule+0x5/0x10\n=> yield+0x4/0x10\n"
		     "=> do_work+0x2/0x10\nmore=STACK:\n=> do_work+0x2/0x10\nb=2",
		     want);
	/* More than count, and none. */
	for (size_t i = 0; i < SYNTH_STACK_MAX + 2; i++)
		ips[i] = IP(KFREE, 1);
	values[2] = 0;
	assert_int_equal(echo("", "trace"), 0);
	write_event(event, values);
	assert_non_null(strstr(cat_body("trace"), "more=STACK:\nb=2\n"));
	assert_null(strstr(cat_body("trace"), "=> 0x"));
	assert_int_equal(count_in("trace", "=> kfree"), SYNTH_STACK_MAX);
	let_go(event);
}

/* One in the middle of the list, then the oldest one. */
static void removed_in_any_order(void **state)
{
	(void)state;
	assert_int_equal(echo("x int a", "synthetic_events"), 0);
	assert_int_equal(echo_append("y int b", "synthetic_events"), 0);
	assert_int_equal(echo_append("z int c", "synthetic_events"), 0);
	assert_int_equal(echo_append("!y", "synthetic_events"), 0);
	assert_null(strstr(cat("available_events"), "synthetic:y\n"));
	assert_int_equal(echo_append("!x", "synthetic_events"), 0);
	assert_null(strstr(cat("available_events"), "synthetic:x\n"));
	assert_int_equal(echo("1", "events/synthetic/z/enable"), 0);
	assert_int_equal(echo("0", "events/synthetic/z/enable"), 0);
	assert_int_equal(echo_append("!z", "synthetic_events"), 0);
	assert_string_equal(cat("synthetic_events"), "");
}

static void too_large(void **state)
{
	char line[1000] = "x";

	(void)state;
	for (int i = 0; i < 16; i++)
		sprintf(line + strlen(line), " char[256] t%d;", i);
	assert_int_equal(echo_append(line, "synthetic_events"), -EINVAL);
	assert_non_null(strstr(cat("error_log"),
			       "synthetic_events: error: The event does not fit in the buffer\n"));
	assert_string_equal(cat("synthetic_events"), "");
}

/* ---- As any other event ---- */

static void filtered(void **state)
{
	struct synth_event *event = define("x int a; char[] text; char fixed[8]");
	uint64_t values[] = { 1, VALUE("some text"), VALUE("fixed") };

	(void)state;
	assert_int_equal(echo("a == -1 && text ~ \"*text\" && fixed == \"fixed\"",
			      "events/synthetic/x/filter"),
			 0);
	write_event(event, values);
	assert_string_equal(cat_body("trace"), "");
	values[0] = VALUE(-1);
	write_event(event, values);
	event_is_for("x: a=-1 text=some text fixed=fixed", "x: a=-1, text=some text, fixed=fixed");
	assert_int_equal(echo("0", "events/synthetic/x/filter"), 0);
	let_go(event);
}

/* Counted without being recorded; a trigger keeps it, too. */
static void counted(void **state)
{
	struct synth_event *event = define("x u64 lat; char[] who; unsigned long[] stack");
	const uint32_t ips[] = { IP(SCHEDULE, 5), IP(YIELD, 4), 0 };
	uint64_t values[] = { 100, VALUE("first"), VALUE(ips) };
	const char *path = "events/synthetic/x/trigger";

	(void)state;
	assert_int_equal(echo("0", "events/synthetic/x/enable"), 0);
	assert_int_equal(echo_append("hist:keys=who,stack.stacktrace:vals=lat", path), 0);
	write_event(event, values);
	values[0] = 200;
	write_event(event, values);
	values[1] = VALUE("second");
	write_event(event, values);
	let_go(event);
	assert_string_equal(cat_body("trace"), "");
	assert_non_null(strstr(cat("events/synthetic/x/hist"), "first"));
	assert_non_null(
		strstr(cat("events/synthetic/x/hist"), "hitcount:          2  lat:        300"));
	assert_non_null(strstr(cat("events/synthetic/x/hist"), "schedule+0x5/0x10\n"));
	assert_int_equal(echo_append("!x", "synthetic_events"), -EBUSY);
	assert_int_equal(echo_append("!hist:keys=who,stack.stacktrace:vals=lat", path), 0);
	assert_int_equal(echo_append("!x", "synthetic_events"), 0);
}

static void in_instances(void **state)
{
	struct synth_event *event = define("x int a");
	const uint64_t one = 1, two = 2;

	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "in"), 0);
	assert_null(node_of("instances/in/synthetic_events"));
	assert_null(node_of("instances/in/dynamic_events"));
	write_event(event, &one);
	assert_string_equal(cat_body("instances/in/trace"), "");
	assert_int_equal(echo("1", "instances/in/events/synthetic/x/enable"), 0);
	assert_int_equal(echo("a == 2", "events/synthetic/x/filter"), 0);
	write_event(event, &one);
	write_event(event, &two);
	assert_null(strstr(strstr(cat_body("trace"), "a=1") + 1, "a=1"));
	assert_non_null(strstr(cat_body("trace"), "x: a=2"));
	assert_non_null(strstr(cat_body("instances/in/trace"), "x: a=1"));
	assert_non_null(strstr(cat_body("instances/in/trace"), "x: a=2"));
	let_go(event);
	assert_int_equal(echo("0", "events/synthetic/x/enable"), 0);
	assert_int_equal(echo_append("!x", "synthetic_events"), -EBUSY);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "in"), 0);
	assert_int_equal(echo_append("!x", "synthetic_events"), 0);
}

/* In an interrupt as in a thread; and only up to a depth, on which a second one does not depend. */
static void depth(void **state)
{
	struct synth_event *event = define("x int a");
	struct trace_thread *thread = trace_plat_current();
	const uint64_t value = 3;

	(void)state;
	thread->synth_depth = SYNTH_DEPTH_MAX;
	write_event(event, &value);
	assert_string_equal(cat_body("trace"), "");
	thread->synth_depth = SYNTH_DEPTH_MAX - 1;
	write_event(event, &value);
	assert_int_equal(thread->synth_depth, SYNTH_DEPTH_MAX - 1);
	thread->synth_depth = 0;
	event_is_for("x: a=3", "x: a=3");
	let_go(event);
}

/* Without users nothing happens, also before the first one. */
static void unwanted(void **state)
{
	struct synth_event *event;
	const uint64_t value = 3;

	(void)state;
	assert_int_equal(echo("x int a", "synthetic_events"), 0);
	event = get("x");
	write_event(event, &value);
	assert_int_equal(echo("1", "events/synthetic/x/enable"), 0);
	assert_int_equal(echo("0", "events/synthetic/x/enable"), 0);
	write_event(event, &value);
	assert_string_equal(cat_body("trace"), "");
	let_go(event);
}

/* ---- Removal ---- */

static void held(void **state)
{
	struct synth_event *event;

	(void)state;
	assert_null(get("x"));
	assert_int_equal(echo("x int a", "synthetic_events"), 0);
	assert_int_equal(echo_append("y int a", "synthetic_events"), 0);
	event = get("x");
	assert_int_equal(echo_append("!x", "synthetic_events"), -EBUSY);
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), -EBUSY);
	assert_string_equal(cat("synthetic_events"), "x\tint a\ny\tint a\n");
	assert_non_null(strstr(cat("error_log"), "dynamic_events: error: synthetic/x is in use: "));
	assert_int_equal(echo("", "error_log"), 0);
	/* The unused event that was meant has stayed as it was. */
	assert_int_equal(echo("1", "events/synthetic/y/enable"), 0);
	assert_int_equal(echo("0", "events/synthetic/y/enable"), 0);
	let_go(event);
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), 0);
}

/* A reader is in the directory of the second one: the first one stays, too. */
static void all_or_none(void **state)
{
	struct trace_handle *handle;

	(void)state;
	assert_int_equal(echo("x int a", "synthetic_events"), 0);
	assert_int_equal(echo_append("y int a", "synthetic_events"), 0);
	handle = open_file("events/synthetic/y/format", TRACE_FS_READ);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), -EBUSY);
	assert_non_null(node_of("events/synthetic/x/format"));
	assert_string_equal(cat("synthetic_events"), "x\tint a\ny\tint a\n");
	assert_int_equal(trace_fs_close(handle), 0);
	assert_int_equal(put("", 0, "synthetic_events", TRACE_FS_TRUNC), 0);
	assert_null(node_of("events/synthetic"));
}

/* One of the same name is another type: events of the first have no name any more. */
static void again(void **state)
{
	struct synth_event *event = define("x int a");
	const uint64_t value = 3;

	(void)state;
	write_event(event, &value);
	let_go(event);
	assert_int_equal(echo("0", "events/synthetic/x/enable"), 0);
	assert_int_equal(echo("x char[] b", "synthetic_events"), 0);
	assert_non_null(strstr(cat_body("trace"), "Unknown type"));
}

/* ---- dynamic_events ---- */

static void lines(void **state)
{
	(void)state;
	assert_int_equal(echo("s:x int a\n\n# nothing\ns:synthetic/y u64 b # more\n  s:z bool c",
			      "dynamic_events"),
			 0);
	assert_string_equal(cat("dynamic_events"),
			    "s:synthetic/x\tint a\ns:synthetic/y\tu64 b\ns:synthetic/z\tbool c\n");
	assert_int_equal(echo_append("-:synthetic/y\n!s:x and what is behind", "dynamic_events"),
			 0);
	assert_string_equal(cat("synthetic_events"), "z\tbool c\n");
	/* Lines before a wrong one have been carried out. */
	assert_int_equal(echo_append("s:v int a\ns:w it a\ns:u int a", "dynamic_events"), -EINVAL);
	assert_string_equal(cat("synthetic_events"), "z\tbool c\nv\tint a\n");
	assert_non_null(strstr(cat("error_log"), "synthetic_events: error: Invalid type\n"
						 "  Command: s:w it a\n"
						 "               ^\n"));
}

static void wrong_lines(void **state)
{
	static const struct refused_line wrong[] = {
		{ "x int a", -EINVAL, "dynamic_events: error: There are no events of this kind",
		  0 },
		{ "  q:x", -EINVAL, "dynamic_events: error: There are no events of this kind", 2 },
		{ "s:other/x int a", -EINVAL,
		  "synthetic_events: error: Command must be of the form: s:[synthetic/]<name> "
		  "field[;field] ...",
		  0 },
		{ "s:synthetic/2 int a", -EINVAL, "synthetic_events: error: Illegal name", 12 },
		{ "s:enable int a", -EINVAL, "synthetic_events: error: Illegal name", 2 },
		{ "s:filter int a", -EINVAL, "synthetic_events: error: Illegal name", 2 },
		{ "s:x char a[]; long[4] b", -EINVAL, "synthetic_events: error: Invalid type", 14 },
		{ "s:x long b[4]", -EINVAL, "synthetic_events: error: Invalid array specification",
		  9 },
		{ "s:x char[8 a", -EINVAL, "synthetic_events: error: Invalid type", 4 },
		{ "s:x", -EINVAL,
		  "synthetic_events: error: Command must be of the form: <name> field[;field] ...",
		  0 },
		{ "-x", -EINVAL,
		  "dynamic_events: error: Removal must be of the form: -:[system/]name", 0 },
		{ "!x", -EINVAL,
		  "dynamic_events: error: Removal must be of the form: -:[system/]name", 0 },
		{ "-:", -EINVAL,
		  "dynamic_events: error: Removal must be of the form: -:[system/]name", 0 },
		{ "-:x", -ENOENT, "dynamic_events: error: There is no such event", 2 },
		{ "-:other/there", -ENOENT, "dynamic_events: error: There is no such event", 2 },
		{ "-:synthetic/", -ENOENT, "dynamic_events: error: There is no such event", 2 },
		{ "s:there u8 b", -EEXIST, "synthetic_events: error: Event already exists", 2 },
	};

	(void)state;
	assert_int_equal(echo("s:there int a", "dynamic_events"), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		is_refused("dynamic_events", NULL, &wrong[i]);
		assert_string_equal(cat("dynamic_events"), "s:synthetic/there\tint a\n");
	}
}

static void long_lines(void **state)
{
	static char line[5000] = "x int ";

	(void)state;
	memset(line + 6, 'a', 4095 - 6);
	assert_int_equal(echo_append(line, "synthetic_events"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "error: the line is too long\n"));
	line[4094] = '\0';
	assert_int_equal(echo_append(line, "synthetic_events"), 0);
	line[1] = '\t';
	assert_memory_equal(cat("synthetic_events"), line, 4094);
	assert_string_equal(cat("synthetic_events") + 4094, "\n");
	/* Also as the name of the event: it is too long for a directory. */
	memset(line, 'a', 256);
	strcpy(line + 256, " int a");
	assert_int_equal(echo_append(line, "synthetic_events"), -EINVAL);
	assert_int_equal(echo_append(line + 1, "synthetic_events"), 0);
}

/* Each allocation fails once; then nothing has changed. */
static void no_memory(void **state)
{
	long nr, before = fake_alloc_out;

	(void)state;
	for_each_allocation(nr, echo_append("x int a; char[] b; char c[16]", "synthetic_events"))
		assert_string_equal(cat("synthetic_events"), "");
	assert_string_equal(cat("synthetic_events"), "x\tint a; char[] b; char[16] c\n");
	assert_in_range(nr, 2, 99);
	assert_int_equal(put("", 0, "dynamic_events", TRACE_FS_TRUNC), 0);
	assert_int_equal(fake_alloc_out, before);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, event_reset, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(numbers),	TEST(neighbours),  TEST(texts),	       TEST(long_texts),
		TEST(longest),	TEST(stacks),	   TEST(too_large),    TEST(removed_in_any_order),
		TEST(filtered), TEST(counted),	   TEST(in_instances), TEST(depth),
		TEST(unwanted), TEST(held),	   TEST(all_or_none),  TEST(again),
		TEST(lines),	TEST(wrong_lines), TEST(long_lines),   TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, event_setup, event_teardown);
}
