/*
 * The code of docs/adding.md, linked with all of trace/ and with the kernel's boot parameters: it
 * does what the page says. door.c and visit.c have been compiled with public headers only.
 */
#include "unit.h"
#include "tracefs.h"
#include <kernel/command.h>
#include <kernel/params.h>

#define ONE	"instances/one/"
#define COLUMNS "            init-1       [000] .....    12.345680: "

int door_register(void);
void house_visited(int door, const char *who);
extern const struct command door_commands[];
size_t strlcpy(char *to, const char *from, size_t size);

/* ---- Parts that the kernel would have ---- */

static char said[256]; /* by the command, or in the kernel's log */

static void say(const char *fmt, va_list args)
{
	size_t used = strlen(said);

	vsnprintf(said + used, sizeof(said) - used, fmt, args);
}

void printk(enum log_level level, const char *fmt, ...)
{
	va_list args;

	(void)level;
	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

void command_printf(struct command_env *env, const char *fmt, ...)
{
	va_list args;

	(void)env;
	va_start(args, fmt);
	say(fmt, args);
	va_end(args);
}

bool command_stopped(struct command_env *env)
{
	(void)env;
	return strlen(said) > 100;
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	return (size_t)snprintf(to, size, "%s", from);
}

/* ---- Tests ---- */

static int setup(void **state)
{
	params_init("knocks=2 door_limit=7");
	params_give_to_trace();
	assert_null(strstr(said, "door_limit")); /* trace/ knows it */
	if (tracefs_setup(state) || door_register())
		return -1;
	return echo("door", "current_tracer"); /* the global instance keeps what it is given */
}

static int start(void **state)
{
	if (tracefs_reset(state) || !trace_array_get_by_name("one"))
		return -1;
	fake_thread_add(1, "init");
	fake_run(1);
	return 0;
}

static int end(void **state)
{
	struct trace_array *one = trace_array_get_by_name("one");

	fake_run(-1);
	trace_array_put(one);
	trace_array_put(one);
	assert_int_equal(trace_array_destroy(one), 0);
	return tracefs_check(state);
}

/* Also that what it keeps is each instance's own, and is still there when it runs again. */
static void tracer_and_event(void **state)
{
	(void)state;
	assert_int_equal(echo("door", "current_tracer"), 0);
	assert_int_equal(echo("schedule", "set_ftrace_filter"), 0);
	call(0, 1, SCHEDULE);
	call(0, 1, KFREE);
	assert_string_equal(cat_body("trace"), COLUMNS "door: func=schedule nr=1\n");
	assert_string_equal(cat_body(ONE "trace"), "");
	assert_int_equal(echo("door", ONE "current_tracer"), 0);
	call(0, 1, SCHEDULE);
	assert_non_null(strstr(cat("trace"), "func=schedule nr=2\n"));
	assert_non_null(strstr(cat(ONE "trace"), "func=schedule nr=1\n"));
	assert_int_equal(echo("nop", ONE "current_tracer"), 0);
	call(0, 1, SCHEDULE);
	assert_int_equal(echo("door", ONE "current_tracer"), 0);
	call(0, 1, SCHEDULE);
	assert_non_null(strstr(cat("trace"), "func=schedule nr=4\n"));
	assert_string_equal(strstr(cat(ONE "trace"), "door: "), "door: func=schedule nr=2\n");
}

static void follows_thread_filters(void **state)
{
	(void)state;
	assert_int_equal(echo("2", ONE "set_ftrace_pid"), 0);
	assert_int_equal(echo("door", ONE "current_tracer"), 0);
	call(0, 1, SCHEDULE);
	assert_string_equal(cat_body(ONE "trace"), "");
	assert_int_equal(echo("1", ONE "set_ftrace_pid"), 0);
	call(0, 1, SCHEDULE);
	assert_string_equal(strstr(cat(ONE "trace"), "door: "), "door: func=schedule nr=1\n");
}

static void trace_event(void **state)
{
	(void)state;
	house_visited(1, "Nobody");
	assert_int_equal(echo("1", ONE "events/house/house_visit/enable"), 0);
	house_visited(3, "Ann");
	assert_string_equal(strstr(cat_body(ONE "trace"), "house_"),
			    "house_visit: Ann at door 3\n");
	assert_int_equal(echo("0", ONE "events/house/house_visit/enable"), 0);
}

static void option(void **state)
{
	(void)state;
	assert_string_equal(cat("options/door-first"), "0\n");
	assert_null(strstr(cat(ONE "trace_options"), "door-first"));
	assert_int_equal(echo("door", ONE "current_tracer"), 0);
	assert_int_equal(echo("door-first", ONE "trace_options"), 0);
	call(0, 1, KFREE);
	call(0, 1, KFREE);
	assert_string_equal(cat_body(ONE "trace"), COLUMNS "door: func=kfree nr=1\n");
	assert_string_equal(cat("options/door-first"), "0\n");
}

static void file(void **state)
{
	(void)state;
	assert_string_equal(cat("door_limit"), "7\n"); /* of the parameter */
	assert_int_equal(echo("12", "door_limit"), 0);
	assert_string_equal(cat("door_limit"), "12\n");
	assert_int_equal(echo("twelve", "door_limit"), -EINVAL);
	assert_null(node_of(ONE "door_limit"));
}

static void command(void **state)
{
	char name[] = "door", where[] = "gate", *door[] = { name, where, NULL };

	(void)state;
	said[0] = '\0';
	assert_int_equal(door_commands[0].run(NULL, 2, door), 0);
	assert_string_equal(said, "knock at the gate\nknock at the gate\n");
	assert_int_equal(door_commands[0].run(NULL, 1, door), COMMAND_USAGE);
	assert_null(door_commands[1].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tracer_and_event, start, end),
		cmocka_unit_test_setup_teardown(follows_thread_filters, start, end),
		cmocka_unit_test_setup_teardown(trace_event, start, end),
		cmocka_unit_test_setup_teardown(option, start, end),
		cmocka_unit_test_setup_teardown(file, start, end),
		cmocka_unit_test_setup_teardown(command, start, end),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
