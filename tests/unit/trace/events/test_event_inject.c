/*
 * The file `inject` of trace events: what it takes, what is recorded, what it refuses.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include "events/event_file.h"
#include "events/event_watch.h"
#include "instance/array.h"
#include "text/str.h"
#include <trace/event.h>
#include "host/yard.h"

#define NUMBERS "events/yard/yard_numbers/inject"
#define TEXTS	"events/yard/yard_texts/inject"
#define KINDS	"events/yard/yard_kinds/inject"
#define FULL	"events/yard/yard_full/"

static int check(void **state)
{
	assert_int_equal(echo("0", "options/fields"), 0);
	assert_int_equal(echo("", "error_log"), 0);
	return tracefs_check(state);
}

static void numbers(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "tiny=0 small=0 number=0 large=0 flag=0\n" },
		{ "tiny=255 small=-32768 number = 0x7f  large=18446744073709551615 flag=1",
		  "tiny=255 small=-32768 number=127 large=ffffffffffffffff flag=1\n" },
		{ "number=0000000000000000000000000000005", /* 31 digits */
		  "tiny=0 small=0 number=5 large=0 flag=0\n" },
		{ "number=-2147483648 number=5 large=-1",
		  "tiny=0 small=0 number=5 large=ffffffffffffffff flag=0\n" },
	};

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(cases); i++) {
		assert_int_equal(echo(cases[i].text, NUMBERS), 0);
		assert_string_equal(only_event("tiny="), cases[i].want);
		assert_int_equal(echo("", "trace"), 0);
	}
	/* The last line of a file may have no newline. */
	assert_int_equal(put(cases[3].text, strlen(cases[3].text), NUMBERS, TRACE_FS_TRUNC), 0);
	assert_string_equal(only_event("tiny="), cases[3].want);
	assert_int_equal(echo("", "trace"), 0);
}

static void texts(void **state)
{
	(void)state;
	assert_int_equal(echo("name='two words' odd=9 last=\"it's\"", TEXTS), 0);
	assert_string_equal(only_event("name="),
			    "name=two words odd=9 list={} cut= mask= last=it's "
			    "bytes= len=10\n");
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("label='longerthanthat' where=0x1234 kind=5", KINDS), 0);
	assert_non_null(strstr(only_event("where="), "kind=gravel"));
	assert_non_null(strstr(only_event("where="), " label=longert sizes="));
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("label='seven..' label='ab' kind=5", KINDS), 0);
	assert_non_null(strstr(only_event("where="), " label=ab sizes="));
	assert_int_equal(echo("", "trace"), 0);
}

static uint32_t watched_bytes;

static void note_bytes(struct trace_event_watch *watch, const struct trace_event_hit *hit)
{
	(void)watch;
	watched_bytes = hit->bytes;
}

/* The fields, the NUL of all empty texts, each text with its own, and at most 3 bytes behind them. */
static void lengths(void **state)
{
	const struct trace_event *event = &event_yard_texts.event;
	const struct trace_event_field *last = &event->fields[event->nr_fields - 1];
	struct trace_event_watch watch = { .func = note_bytes };
	struct trace_event_file *file;
	char line[32];

	(void)state;
	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(&trace_global, &event_yard_texts);
	assert_int_equal(trace_event_watch_add(file, &watch), 0);
	trace_plat_unlock(&trace_config_lock);
	for (uint32_t len = 0; len < 9; len++) {
		uint32_t wanted = last->offset + last->size + 1 + len + 1;

		snprintf(line, sizeof(line), "last='%.*s'", (int)len, "a word more");
		assert_int_equal(echo(line, TEXTS), 0);
		assert_int_equal(watched_bytes, (wanted + 3) / 4 * 4);
	}
	trace_plat_lock(&trace_config_lock);
	trace_event_watch_remove(file, &watch);
	trace_plat_unlock(&trace_config_lock);
}

static void errors(void **state)
{
	static const struct {
		const char *path, *text;
		int err;
		const char *why;
	} cases[] = {
		{ NUMBERS, "nosuch=1", -ENOENT, "the event has no such field" },
		{ NUMBERS, "=1", -EINVAL, "no name of a field" },
		{ NUMBERS, "tiny", -EINVAL, "= is missing" },
		{ NUMBERS, "tiny 1", -EINVAL, "= is missing" },
		{ NUMBERS, "tiny=", -EINVAL, "neither a number nor a text in quotes" },
		{ NUMBERS, "tiny=x", -EINVAL, "neither a number nor a text in quotes" },
		{ NUMBERS, "tiny=1x", -EINVAL, "no number" },
		{ NUMBERS, "tiny=-", -EINVAL, "no number" },
		{ NUMBERS, "number=00000000000000000000000000000005", -EINVAL, "no number" },
		{ NUMBERS, "number=000000000000000000000000000000005", -EINVAL, "no number" },
		{ NUMBERS, "tiny=1,small=2", -EINVAL, "a blank is missing" },
		{ NUMBERS, "tiny=256", -ERANGE, "the number is too large" },
		{ NUMBERS, "tiny=-129", -ERANGE, "the number is too large" },
		{ NUMBERS, "large=-9223372036854775809", -ERANGE, "the number is too large" },
		{ NUMBERS, "large=18446744073709551616", -ERANGE, "the number is too large" },
		{ NUMBERS, "tiny='1'", -EINVAL, "the field takes no text" },
		{ NUMBERS, "common_pid=1", -ENOENT, "the event has no such field" },
		{ TEXTS, "name=1", -EINVAL, "the field takes no number" },
		{ TEXTS, "list=1", -EINVAL, "the field takes no number" },
		{ TEXTS, "mask='1'", -EINVAL, "the field takes no text" },
		{ TEXTS, "name='open", -EINVAL, "the text does not end" },
		{ TEXTS, "name='a\\'", -EINVAL, "the text does not end" },
		{ TEXTS, "name='a'odd=1", -EINVAL, "a blank is missing" },
		{ KINDS, "sizes=1", -EINVAL, "the field takes no number" },
	};

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(cases); i++) {
		assert_int_equal(echo(cases[i].text, cases[i].path), cases[i].err);
		if (cases[i].err == -EINVAL)
			assert_non_null(strstr(cat("error_log"), cases[i].why));
		assert_int_equal(echo("", "error_log"), 0);
	}
	assert_string_equal(cat_body("trace"), "");
}

/* It is recorded though it is off; its filter and triggers hold, and other instances get nothing. */
static void conditions(void **state)
{
	struct trace_node *dir = node_of("instances");

	(void)state;
	assert_int_equal(trace_fs_mkdir(dir, "one"), 0);
	assert_int_equal(echo("1", "instances/one/" FULL "enable"), 0);
	assert_int_equal(echo("used > 3 && common_pid == 0", FULL "filter"), 0);
	assert_int_equal(echo("traceoff if used == 5", FULL "trigger"), 0);
	assert_int_equal(echo("used=2", FULL "inject"), 0);
	assert_int_equal(echo("used=4", FULL "inject"), 0);
	assert_string_equal(cat("tracing_on"), "1\n");
	assert_int_equal(echo("used=5", FULL "inject"), 0);
	assert_string_equal(cat("tracing_on"), "0\n");
	assert_int_equal(echo("used=6", FULL "inject"), 0);
	assert_null(strstr(cat("trace"), "used=2"));
	assert_non_null(strstr(cat("trace"), "used=4"));
	assert_non_null(strstr(cat("trace"), "used=5"));
	assert_null(strstr(cat("trace"), "used=6"));
	assert_string_equal(cat_body("instances/one/trace"), "");
	assert_int_equal(trace_fs_rmdir(dir, "one"), 0);
	assert_int_equal(echo("!traceoff", FULL "trigger"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	clear_filters();
}

/* As of every event: behind it stands where it comes from. */
static void stack(void **state)
{
	(void)state;
	assert_int_equal(echo("1", "options/stacktrace"), 0);
	fake_stack_nr = 1;
	fake_stack[0] = trace_plat_ip_pack(fake_func(SCHEDULE) + 5);
	assert_int_equal(echo("used=7", FULL "inject"), 0);
	fake_stack_nr = 0;
	assert_int_equal(echo("0", "options/stacktrace"), 0);
	assert_non_null(strstr(cat("trace"), "<stack trace>\n => schedule\n"));
}

static void no_memory(void **state)
{
	long nr;

	(void)state;
	assert_int_equal(echo("used=7", FULL "inject"), 0);
	for_each_allocation(nr, echo("used=8", FULL "inject"))
		assert_null(strstr(cat("trace"), "used=8"));
	assert_in_range(nr, 1, 9);
	assert_non_null(strstr(cat("trace"), "used=8"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(numbers, tracefs_reset, check),
		cmocka_unit_test_setup_teardown(texts, tracefs_reset, check),
		cmocka_unit_test_setup_teardown(lengths, tracefs_reset, check),
		cmocka_unit_test_setup_teardown(errors, tracefs_reset, check),
		cmocka_unit_test_setup_teardown(conditions, tracefs_reset, check),
		cmocka_unit_test_setup_teardown(stack, tracefs_reset, check),
		cmocka_unit_test_setup_teardown(no_memory, tracefs_reset, check),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
