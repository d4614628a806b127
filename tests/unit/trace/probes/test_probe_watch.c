/*
 * Events at data, `w:` lines of dynamic_events: their mistakes, what is recorded, how many there may
 * be, and variables in arguments.
 */
#include "unit.h"
#include "tracefs.h"
#include "trace/events/event_parse.h"
#include "probe_help.h"
#include <trace/host_tracepoints.h>
#include <trace/wprobe.h>

static struct {
	uint64_t wide;
	uint32_t narrow;
	uint32_t other;
	uint8_t bytes[16];
} words;
static uint64_t more[WPROBE_MAX + 1];

static const struct fake_variable variables[] = {
	{ "wide", &words.wide, 8 },
	{ "narrow", &words.narrow, 4 },
	{ "bytes", words.bytes, 16 },
	{ "twice", &words.narrow, 4 },
	{ "twice", &words.other, 4 },
	{ "more", more, sizeof(more) },
	{ .name = NULL },
};

static int define(const char *line)
{
	return echo_append(line, "dynamic_events");
}

static int begin(void **state)
{
	int err = event_reset(state);

	fake_variables = variables;
	memset(&words, 0, sizeof(words));
	return err;
}

static int end(void **state)
{
	(void)state;
	probe_events_end();
	fake_variables = NULL;
	fake_watch_error = 0;
	return 0;
}

static void write_wide(uint64_t value)
{
	fake_write(&words.wide, &value, sizeof(value));
}

static void lists(void **state)
{
	char line[80], want[240];

	(void)state;
	assert_int_equal(define("w w@wide"), 0);
	assert_int_equal(define("w:my/n rw@narrow:2 old=$old"), 0);
	assert_int_equal(define("w @bytes+8:8"), 0);
	snprintf(line, sizeof(line), "w:my/a w@0x%lx:4", (unsigned long)&words.other);
	assert_int_equal(define(line), 0);
	snprintf(want, sizeof(want),
		 "w:wprobes/w_wide_0 w@wide\nw:my/n rw@narrow:2 old=$old\n"
		 "w:wprobes/w_bytes_8 @bytes+8:8\n%s\n",
		 line);
	assert_string_equal(cat("dynamic_events"), want);
	assert_string_equal(cat("kprobe_events"), "");
	assert_int_equal(echo_append("w w@wide", "kprobe_events"), -EINVAL);
}

static void check_mistake(const struct mistake *mistake, int err)
{
	check_refused(mistake, "dynamic_events", "trace_wprobe", err);
}

static void mistakes(void **state)
{
	static const struct mistake all[] = {
		{ "w ^wide", "Place must be of the form: [r|w|rw]@VARIABLE[:LENGTH]" },
		{ "w ^r@wide", "The processor cannot watch reads alone: rw or w" },
		{ "w ^x@wide", "Access type must be r, w or rw" },
		{ "w w@wide:^3", "Length must be 1, 2, 4 or 8" },
		{ "w w@wide^:", "Length must be 1, 2, 4 or 8" },
		{ "w^4 w@wide", "Maxactive is only for function exit" },
		{ "w ^w@wide+1:8",
		  "Failed to register probe event: the address is no multiple of the length" },
		{ "w w@wide ^$retval", "$retval is not available on probe" },
		{ "w w@wide ^$arg1", "Invalid $-variable specified" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_mistake(&all[i], -EINVAL);
	check_mistake(&(struct mistake){ "w w@^nothing", "There is no variable of that name" },
		      -ENOENT);
	check_mistake(&(struct mistake){ "w w@^wide+x", "There is no variable of that name" },
		      -EINVAL);
	check_mistake(&(struct mistake){ "w w@^twice", "The symbol is not unique" }, -EINVAL);
	check_mistake(&(struct mistake){ "w ^w@0x0:8",
					 "Failed to register probe event: there is no "
					 "memory at the address" },
		      -EFAULT);
	assert_string_equal(cat("dynamic_events"), "");
}

static void recorded(void **state)
{
	char want[200];

	(void)state;
	words.wide = 5;
	assert_int_equal(define("w:my/w w@wide old=$old:u64 new=$value:u64 at=$addr $comm"), 0);
	write_wide(6);
	event_on("my/w");
	write_wide(70);
	snprintf(want, sizeof(want), "old=6 new=70 at=0x%lx arg4=\"init\"\n",
		 (unsigned long)&words.wide);
	assert_non_null(strstr(cat_body("trace"), ": w: (schedule+0x0/0x10) "));
	assert_non_null(strstr(cat_body("trace"), want));
	assert_non_null(strstr(event_as_tool(), "old=6 new=70"));
	fake_read(&words.wide, 8);
	assert_non_null(strstr(cat("kprobe_profile"), "  w   "));
	assert_non_null(strstr(cat("kprobe_profile"), " 1               0\n"));
	assert_int_equal(echo("0", "events/my/w/enable"), 0);
	assert_int_equal(echo("", "trace"), 0);
	write_wide(8);
	assert_string_equal(cat_body("trace"), "");
}

/* Like any event: filters, histograms. A length of its own cuts the values. */
static void as_any_event(void **state)
{
	(void)state;
	assert_int_equal(define("w:my/w w@wide:1 old=$old:u8 new=$value:u8"), 0);
	event_on("my/w");
	assert_int_equal(echo("new > 10 && old == 3", "events/my/w/filter"), 0);
	assert_int_equal(echo("hist:keys=new", "events/my/w/trigger"), 0);
	write_wide(3);
	write_wide(0x914);
	write_wide(4);
	assert_non_null(strstr(cat_body("trace"), " old=3 new=20\n"));
	assert_null(strstr(cat_body("trace"), "new=4"));
	assert_non_null(strstr(cat("events/my/w/hist"), "Hits: 3\n"));
	assert_int_equal(echo("!hist:keys=new", "events/my/w/trigger"), 0);
	assert_int_equal(echo("0", "events/my/w/filter"), 0);
}

static void reads_too(void **state)
{
	(void)state;
	assert_int_equal(define("w:my/w rw@narrow old=$old new=$value"), 0);
	event_on("my/w");
	fake_read(&words.narrow, 4);
	assert_non_null(strstr(cat_body("trace"), " old=0x0 new=0x0\n"));
}

static void four_at_most(void **state)
{
	static const char why[] =
		"Failed to register probe event: the processor can watch 4 places "
		"at once, and all are taken";
	struct wprobe mine = { .addr = (uintptr_t)more, .len = 8, .type = WPROBE_W };

	(void)state;
	assert_int_equal(define("w:my/a w@more:8"), 0);
	assert_int_equal(define("w:my/b w@more+8:8"), 0);
	assert_int_equal(define("w:my/a w@more+16:8"), 0); /* a second place of the same event */
	assert_int_equal(define("w:my/c w@more+24:8"), 0);
	check_mistake(&(struct mistake){ "w:my/d ^w@more+32:8", why }, -ENOSPC);
	assert_int_equal(define("-:my/b"), 0);
	assert_int_equal(define("w:my/d w@more+32:8"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("1", "events/my/enable"), 0);
	for (size_t i = 0; i <= WPROBE_MAX; i++)
		fake_write(&more[i], &(uint64_t){ 1 }, 8);
	assert_int_equal(echo("0", "events/my/enable"), 0);
	assert_non_null(strstr(cat("trace"), "entries-in-buffer/entries-written: 4/4 "));
	/* Others' count as well. */
	assert_int_equal(define("-:my/d"), 0);
	mine.handler = (wprobe_handler_t)(void *)four_at_most;
	assert_int_equal(register_wprobe(&mine), 0);
	assert_int_equal(echo("1", "events/my/a/enable"), 0);
	assert_int_equal(echo("1", "events/my/c/enable"), 0);
	check_mistake(&(struct mistake){ "w:my/d ^w@more+32:8", why }, -ENOSPC);
	assert_int_equal(echo("0", "events/my/a/enable"), 0);
	assert_int_equal(define("w:my/d w@more+32:8"), 0);
	assert_int_equal(echo("1", "events/my/d/enable"), 0);
	assert_int_equal(echo("1", "events/my/a/enable"), -ENOSPC);
	unregister_wprobe(&mine);
	assert_int_equal(echo("1", "events/my/a/enable"), 0);
}

static void no_debug_registers(void **state)
{
	(void)state;
	assert_int_equal(define("w:my/w w@wide"), 0);
	fake_watch_error = -ENODEV;
	assert_int_equal(echo("1", "events/my/w/enable"), -ENODEV);
	assert_string_equal(cat("events/my/w/enable"), "0\n");
}

/* A variable is no place of code. */
static void no_code(void **state)
{
	(void)state;
	assert_int_equal(define("p wide+4"), -EINVAL);
	assert_non_null(strstr(cat("error_log"), "trace_kprobe: error: Failed to register probe "
						 "event: wide is data, which w@wide watches\n"
						 "  Command: p wide+4\n             ^\n"));
}

/* Variables by name in the arguments of any probe. */
static void variables_in_arguments(void **state)
{
	(void)state;
	words.narrow = 4242;
	words.bytes[3] = 7;
	assert_int_equal(define("t:my/t sched_process_wait n=@narrow:u32 b=@bytes+3:u8"), 0);
	assert_int_equal(define("t:my/u sched_process_wait n=@twice"), -EINVAL);
	assert_int_equal(define("t:my/u sched_process_wait n=@nothing"), -ENOENT);
	assert_non_null(strstr(cat("error_log"), "The symbol is not unique"));
	event_on("my/t");
	trace_sched_process_wait(NULL, 1);
	assert_non_null(strstr(cat_body("trace"), " n=4242 b=7\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lists, begin, end),
		cmocka_unit_test_setup_teardown(mistakes, begin, end),
		cmocka_unit_test_setup_teardown(recorded, begin, end),
		cmocka_unit_test_setup_teardown(as_any_event, begin, end),
		cmocka_unit_test_setup_teardown(reads_too, begin, end),
		cmocka_unit_test_setup_teardown(four_at_most, begin, end),
		cmocka_unit_test_setup_teardown(no_debug_registers, begin, end),
		cmocka_unit_test_setup_teardown(no_code, begin, end),
		cmocka_unit_test_setup_teardown(variables_in_arguments, begin, end),
	};

	return cmocka_run_group_tests(tests, event_setup, event_teardown);
}
