/* Scripts: addresses of programs by name, bytes, parameters, and the running thread. */
#include "unit.h"
#include "fake/fake.h"
#include "script_help.h"
#include <trace/platform_events.h>

#define MAIN  0x400010ul /* in the fake program's one function */
#define OTHER 0x510000ul /* behind it */

static const struct trace_script_params two = { .texts = { "7", "shelf" }, .nr = 2 };

static const char *run_with(const struct trace_script_params *params, const char *text)
{
	struct trace_script *script;
	int err = trace_script_create(text, params, &script, &script_error);

	if (err)
		fail_msg("%s: %s (%d)", text, script_error.why, err);
	script_text[0] = '\0';
	assert_int_equal(trace_script_start(script), 0);
	script_gather(script);
	return script_end(script);
}

static void refused(const char *text, const char *why)
{
	struct trace_script *script;
	int err = trace_script_create(text, NULL, &script, &script_error);

	if (!err || strcmp(script_error.why, why))
		fail_msg("%s: %d %s", text, err, script_error.why);
}

/* ---- Addresses of programs ---- */

static uint32_t callers(const struct trace_plat_user *self, uint64_t *out_callers, uint32_t max)
{
	(void)self;
	assert_true(max >= 2);
	out_callers[0] = MAIN + 0x21;
	out_callers[1] = OTHER;
	return 2;
}

static struct trace_plat_user program = {
	.ip = MAIN, .sp = 1, .fp = 1, .tgid = 5, .frames = callers
};

static void user_symbols(void **state)
{
	(void)state;
	fake_user = &program;
	assert_string_equal(script_value("%s|%x", "usym(0x400010), usym(0x400010)"), "main|400010");
	assert_string_equal(script_value("%s", "usym(0x510000)"), "/bin/program5[+0x110000]");
	assert_string_equal(script_value("%s", "usym(0x10)"), "0x10");
	assert_string_equal(script_value("%s", "usym(0xffffffff80000010)"), "0xffffffff80000010");
	assert_string_equal(script_value("%x", "usym(0x400010) + 1"), "400011");
	assert_string_equal(
		script_run("BEGIN { $x = usym(0x400010); @x = $x; @t = (1, @x); @k[$x] = 1; "
			   "printf(\"%x %d %s\", $x, $x == 0x400010, @x); @n = @t.1 + 1; }",
			   NULL),
		"400010 1 main@k[main]: 1\n@n: 4194321\n@t: (1, main)\n@x: main\n");
	assert_string_equal(
		script_run("BEGIN { $x = usym(0x400010); $x = 0x510000; @ = $x ? $x : $x }", NULL),
		"@: /bin/program5[+0x110000]\n");
	program.tgid = 70000; /* too large to be kept */
	assert_string_equal(script_value("%s", "usym(0x400010)"), "0x400010");
	program.tgid = 5;
	fake_user = NULL; /* a thread of the kernel */
	assert_string_equal(script_value("%s", "usym(0x400010)"), "0x400010");
}

/* A stack of another process with the same addresses is another key. */
static void two_programs(void)
{
	fake_call(DO_WORK, PARENT);
	program.tgid = 6;
	fake_call(DO_WORK, PARENT);
	fake_call(DO_WORK, PARENT);
	program.tgid = 5;
}

static void user_stacks(void **state)
{
	(void)state;
	fake_user = &program;
	assert_string_equal(script_run("kprobe:do_work { @[ustack] = count(); @u[usym(0x400010), "
				       "tid] = count(); }",
				       two_programs),
			    "@[\n"
			    "    /bin/program5[+0x10] main+0x10\n"
			    "    /bin/program5[+0x31] main+0x31\n"
			    "    /bin/program5[+0x110000]\n"
			    "]: 1\n"
			    "@[\n"
			    "    /bin/program6[+0x10] main+0x10\n"
			    "    /bin/program6[+0x31] main+0x31\n"
			    "    /bin/program6[+0x110000]\n"
			    "]: 2\n"
			    "@u[main, 1]: 1\n"
			    "@u[main, 1]: 2\n");
	assert_string_equal(script_run("BEGIN { printf(\"%s\", ustack(1)); }", NULL),
			    "\n        /bin/program5[+0x10] main+0x10\n");
	fake_user = NULL;
}

/* ---- Bytes ---- */

static const char bytes[] = "ab\\\x01\x7f\xff"
			    "cd";

static const char *of_bytes(const char *format)
{
	static char text[256];

	snprintf(text, sizeof(text), format, (unsigned long)(uintptr_t)bytes);
	return script_run(text, NULL);
}

static void buffers(void **state)
{
	(void)state;
	assert_string_equal(of_bytes("BEGIN { printf(\"<%%r>\", buf(%lu, 8)); }"),
			    "<ab\\x5c\\x01\\x7f\\xffcd>");
	assert_string_equal(of_bytes("BEGIN { $n = 2; printf(\"<%%r>\", buf(%lu, $n)); }"), "<ab>");
	assert_string_equal(of_bytes("BEGIN { print(buf(%lu, 1)); @b = buf(0, 3); }"), "a\n@b: \n");
	assert_string_equal(of_bytes("BEGIN { $a = %lu; @[buf($a, 2)] = count(); @[buf($a, 12 - "
				     "10)] = count(); }"),
			    "@[ab]: 2\n");
	/* A number of bytes that is worked out has room for 64. */
	assert_int_equal(strlen(of_bytes("BEGIN { $n = 100; @ = len(@x); @x[buf(%lu, $n)] = 1; "
					 "print(sizeof(buf(1, $n))); }")) > 64,
			 1);
	assert_non_null(strstr(script_text, "72\n"));
	refused("BEGIN { @ = buf(1, 65) }", "a length of buf() is 1 to 64");
	refused("BEGIN { @ = buf(1, 0) }", "a length of buf() is 1 to 64");
	refused("BEGIN { @ = buf(1) }", "buf() takes 2 to 2 arguments, here are 1");
	refused("BEGIN { @ = buf(1, comm) }", "a number is expected, this is a text");
	refused("BEGIN { printf(\"%s\", buf(1, 2)); }", "%s needs a text: buf() is for %r");
	refused("BEGIN { printf(\"%r\", 1); }", "%r needs the bytes of buf()");
	refused("BEGIN { @ = buf(1, 2) + 1; }", "a number is expected, this is bytes");
}

/* ---- Parameters ---- */

static void parameters(void **state)
{
	(void)state;
	assert_string_equal(
		run_with(&two, "BEGIN { printf(\"%d %s %s %d\", $1 + 1, str($1), $2, $#); }"),
		"8 7 shelf 2");
	assert_string_equal(run_with(&two, "BEGIN { printf(\"%s<%s>%d\", str($2), str($3), $3); }"),
			    "shelf<>0");
	assert_string_equal(run_with(&two, "BEGIN /$# == 2 && str($1) == \"7\"/ { print(1); }"),
			    "1\n");
	assert_string_equal(run_with(NULL, "BEGIN { printf(\"<%s>%d %d\", str($1), $1, $#); }"),
			    "<>0 0");
	refused("BEGIN { @ = $#1 }", "';' is expected here");
}

/* ---- The running thread ---- */

static void threads(void **state)
{
	(void)state;
	assert_string_equal(script_value("%d %d", "curtask != 0, curtask == curtask"), "1 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(user_symbols, script_reset, script_check),
		cmocka_unit_test_setup_teardown(user_stacks, script_reset, script_check),
		cmocka_unit_test_setup_teardown(buffers, script_reset, script_check),
		cmocka_unit_test_setup_teardown(parameters, script_reset, script_check),
		cmocka_unit_test_setup_teardown(threads, script_reset, script_check),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
