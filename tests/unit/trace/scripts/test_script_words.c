/* Scripts: addresses of programs by name, bytes, parameters, and the running thread. */
#include "unit.h"
#include "allocations.h"
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

static uint32_t callers(struct trace_plat_user *self, uint64_t *out_callers, uint32_t max)
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

/* ---- join(), kaddr() ---- */

static char long_text[300];
static const char *const argv[] = { "ls", "-l", "/bin", NULL };
static const char *const many[] = { "1", "2", "3", "4", "5", "6", "7", "8", "9",
				    "a", "b", "c", "d", "e", "f", "g", "h", NULL };
static const char *const endless[] = { long_text, "x", NULL };

static const char *joined(const char *const *texts, const char *more)
{
	static char text[256];

	snprintf(text, sizeof(text), "BEGIN { join(%lu%s); }", (unsigned long)(uintptr_t)texts,
		 more);
	return script_run(text, NULL);
}

static void joins(void **state)
{
	(void)state;
	assert_string_equal(joined(argv, ""), "ls -l /bin\n");
	assert_string_equal(joined(argv, ", \"::\""), "ls::-l::/bin\n");
	assert_string_equal(joined(argv + 3, ""), "\n");
	assert_string_equal(joined(many, ", \"\""), "123456789abcdefg\n");
	memset(long_text, 'y', sizeof(long_text) - 1);
	assert_int_equal(strlen(joined(endless, "")), 248);
	long_text[246] = '\0';
	assert_int_equal(strlen(joined(endless, "")), 248);
	assert_string_equal(script_run("BEGIN { join(1); }", NULL), "\n");
	refused("BEGIN { join(comm); }", "a number is expected, this is a text");
	refused("BEGIN { join(1, 2); }", "a text in quotes is expected here");
	refused("BEGIN { @ = join(1); }", "join() gives no value here");
}

static void addresses(void **state)
{
	(void)state;
	assert_string_equal(script_value("%s %d",
					 "ksym(kaddr(\"do_work\")), kaddr(\"do_work\") + 4 == "
					 "4 + kaddr(\"do_work\")"),
			    "do_work 1");
	refused("BEGIN { @ = kaddr(\"none\"); }", "no symbol of the kernel: 'none'");
	refused("BEGIN { @ = kaddr(5); }", "the name of kaddr() is a text in quotes");
}

/* ---- Lines for machines without BTF ---- */

static void directives(void **state)
{
	(void)state;
	assert_string_equal(
		script_run(
			"#ifndef BPFTRACE_HAVE_BTF\n#include <x.h>\nstruct x { int y; };\n#endif\n"
			"BEGIN { print(1); }",
			NULL),
		"1\n");
	assert_string_equal(script_run("#ifndef BPFTRACE_HAVE_BTF\nBEGIN { print(1); "
				       "}\n#else\nBEGIN { print(2); }\n"
				       "#endif\nBEGIN { print(3); }",
				       NULL),
			    "2\n3\n");
	refused("#ifndef BPFTRACE_HAVE_BTF\nBEGIN { }", "the script has no probe");
	refused("#ifndef OTHER\nBEGI { }\n#endif\n", "no such kind of probe: 'BEGI'");
}

/* ---- A pattern of events that have a field at different places ---- */

static void calls(void)
{
	fake_call(DO_WORK, PARENT);
}

static void other_places(void **state)
{
	static const uint64_t args[6] = { 11, 22 };
	struct trace_script *script;
	long nr, out;

	(void)state;
	fake_args = args;
	assert_int_equal(echo("p:two/a do_work x=%di y=%si", "kprobe_events"), 0);
	assert_int_equal(echo_append("p:two/b do_work y=%si:u8 x=%di", "kprobe_events"), 0);
	assert_int_equal(
		echo_append("p:two/c do_work z=%si:u8 w=%si:u8 x=%di:u16", "kprobe_events"), 0);
	memory_out = fake_alloc_out;
	assert_string_equal(
		script_run("t:two:* /args.x == 11/ { @[probe] = sum(args.x); @n = count(); } "
			   "END { printf(\"end\\n\"); }",
			   calls),
		"end\n@[tracepoint:two:a]: 11\n@[tracepoint:two:b]: 11\n@[tracepoint:two:c]: "
		"11\n@n: 3\n");
	assert_string_equal(script_run("t:two:[ab] { @ = sum(args.y); }", calls), "@: 44\n");
	refused("t:two:* { @ = sum(args.y); }", "t:two:* has no field 'y'");
	out = fake_alloc_out;
	for_each_allocation(nr, trace_script_create("t:two:* { @ = sum(args.x); }", NULL, &script,
						    &script_error)) {
		assert_null(script);
		assert_int_equal(fake_alloc_out, out);
	}
	assert_in_range(nr, 10, 200);
	trace_script_free(script);
	assert_int_equal(fake_alloc_out, out);
	assert_int_equal(echo("", "kprobe_events"), 0);
	memory_out = fake_alloc_out;
}

/* ---- for ($kv : @map) ---- */

static void over_tables(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("BEGIN { @x[1] = 10; @x[2] = 20; @x[3] = 30; delete(@x[2]); "
			   "for ($kv : @x) { printf(\"%d=%d \", $kv.0, $kv.1); } clear(@x); }",
			   NULL),
		"1=10 3=30 \n");
	assert_string_equal(script_run("BEGIN { @x[\"a\", 1] = \"short\"; @x[\"a longer one\", 2] "
				       "= \"a longer text\"; "
				       "for ($kv : @x) { print($kv); print($kv.0.0); @y[$kv.1] = "
				       "$kv.0.1; } clear(@x); }",
				       NULL),
			    "((a, 1), short)\na\n((a longer one, 2), a longer text)\na longer one\n"
			    "\n@y[short]: 1\n@y[a longer text]: 2\n");
	assert_string_equal(
		script_run("BEGIN { @c[1] = count(); @c[2] = count(); @c[2] = count(); @m[1] = "
			   "max(7); @s[5] = sum(-3); "
			   "for ($kv : @c) { @n = sum($kv.1); } for ($kv : @m) { print($kv.1); } "
			   "for ($s : @s) { print($s); } clear(@c); clear(@m); clear(@s); }",
			   NULL),
		"7\n(5, -3)\n\n\n@n: 3\n\n");
	/* Entries that are made or given back meanwhile; break and continue; a loop in a loop. */
	assert_string_equal(
		script_run("BEGIN { @x[1] = 1; for ($kv : @x) { @x[$kv.0 + 1] = 1; if ($kv.0 == "
			   "50) { break; } } "
			   "for ($kv : @x) { delete(@x[$kv.0]); } @n = len(@x); "
			   "@x[7] = 1; @x[8] = 2; for ($a : @x) { if ($a.0 == 8) { continue; } "
			   "for ($b : @x) { printf(\"%d%d \", $a.0, $b.0); } } clear(@x); }",
			   NULL),
		"78 77 @n: 0\n\n");
	assert_string_equal(
		script_run("BEGIN { for ($kv : @x) { print($kv); } if (0) { @x[1] = 1; } }", NULL),
		"\n");
}

/* Rounds of all loops are bounded, and entries that are not in use count, too. */
static void over_large_tables(void **state)
{
	(void)state;
	assert_string_equal(script_run("BEGIN { for ($i : 0..900) { @x[$i] = 1; } for ($i : "
				       "0..899) { delete(@x[$i]); } "
				       "for ($kv : @x) { @n = count(); } } END { for ($kv : @x) { "
				       "@m[$kv.0] = 1; } clear(@x); }",
				       NULL),
			    "@m[899]: 1\n@n: 1\n\n");
	assert_string_equal(script_run("BEGIN { for ($i : 0..900) { @x[$i] = 1; } for ($a : @x) { "
				       "for ($b : @x) { @n = count(); } } clear(@x); }",
				       NULL),
			    "@n: 9077\n\n");
}

static void no_tables(void **state)
{
	(void)state;
	refused("BEGIN { @ = hist(1); for ($kv : @) { } }",
		"a table of hist() is no number: it can only be printed");
	refused("BEGIN { @ = 1; for ($kv : @) { } }", "this table has no keys");
	refused("BEGIN { for ($kv : @none) { } }", "this table is never set");
	refused("BEGIN { @[1] = 1; $kv = 5; for ($kv : @) { } }", "$kv holds a number elsewhere");
	refused("BEGIN { @[1] = \"a\"; $kv = (1, \"a longer text\"); for ($kv : @) { } }",
		"this variable has longer values elsewhere");
	refused("BEGIN { @[1] = 1; for ($kv : @[1]) { } }", "'..' is expected here");
	refused("BEGIN { @[1] = 1; for ($kv : @) { print($kv.2); } }",
		"there is no such part of a tuple");
}

/* ---- Words of D ---- */

static void one_second(void)
{
	fake_clock += 1000000000;
}

static void words_of_d(void **state)
{
	(void)state;
	assert_string_equal(script_run("kprobe:do_work { self->calls++; self->last = execname; } "
				       "END { @ = self->calls; self->more = 5; print(self->last); "
				       "delete(self->calls); }",
				       two_programs),
			    "init\n@: 3\n\nself->last[1]: init\nself->more[1]: 5\n");
	assert_string_equal(
		script_run("tick-1s { @[probe] = count(); } tick-250ms, tick-100 { @b = count(); }",
			   one_second),
		"@[tick-1s]: 1\n@b: 2\n");
	refused("tick-1day { }", "the unit is s, ms, us or hz");
	refused("tick-s { }", "a period is UNIT:NUMBER, as in s:5 or hz:99");
	refused("tock-1s { }", "no such kind of probe: 'tock-1s'");
	refused("interval:1s { }", "a period is UNIT:NUMBER, as in s:5 or hz:99");
	refused("BEGIN { @ = self->; }", "a member's name is expected here");
	refused("BEGIN { self = 1; }", "only a table or a variable can be set");
}

/* ---- Values as statements ---- */

static void one_call(void)
{
	fake_call(DO_WORK, PARENT);
}

/* They change nothing but by their own ++, whichever type they have. */
static void values(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("BEGIN { 1; \"text\"; -1; (1, comm); str(1); comm; $x = 5; "
			   "1 + $x++; $x ? $x : 0; *0; $x; print($x); $x++; print($x); }",
			   NULL),
		"6\n7\n");
	assert_string_equal(
		script_run("kprobe:do_work { arg0; kstack; @x[tid]; @x[tid]++; @x[tid]; "
			   "if (arg0) { 1 } else { 2 } @n = len(@x); }",
			   one_call),
		"@n: 1\n@x[1]: 1\n");
	/* Nothing is printed of them, and a table gets no key by being read. */
	assert_string_equal(
		script_run("BEGIN { @x[1] = 1; delete(@x[1]); @x[2]; ksym(1); buf(0, 4); }", NULL),
		"\n");
	assert_string_equal(script_run("kprobe:do_work { 1 }", one_call), "");
	assert_int_equal(script_stats.runs, 1);
}

/* ---- Pointers to numbers ---- */

static const int8_t numbers[] = { -1, -2, -1, -1, 5, 0, 0, 0 };

static const char *of_numbers(const char *expression)
{
	static char text[256];

	snprintf(text, sizeof(text), "BEGIN { $p = %lu; print(%s); }",
		 (unsigned long)(uintptr_t)numbers, expression);
	return script_run(text, NULL);
}

static void pointers_to_numbers(void **state)
{
	(void)state;
	assert_string_equal(of_numbers("*(int8 *)$p"), "-1\n");
	assert_string_equal(of_numbers("*(uint8 *)$p"), "255\n");
	assert_string_equal(of_numbers("*(int16 *)$p"), "-257\n");
	assert_string_equal(of_numbers("*(uint16 *)$p"), "65279\n");
	assert_string_equal(of_numbers("*(int32 *)$p"), "-257\n");
	assert_string_equal(of_numbers("*(uint32*)$p"), "4294967039\n");
	assert_string_equal(of_numbers("*(int64 *)$p"), "25769803519\n");
	assert_string_equal(of_numbers("*(uint64 *)$p"), "25769803519\n");
	assert_string_equal(of_numbers("((int8 *)$p)[1]"), "-2\n");
	assert_string_equal(of_numbers("((uint32 *)$p)[1]"), "5\n");
	assert_string_equal(of_numbers("((uint32 *)$p) == $p"), "1\n");
	assert_string_equal(of_numbers("sizeof((uint8 *)$p)"), "8\n");
	refused("BEGIN { @ = *(int7 *)1 }", "no type is known as 'int7'");
	refused("BEGIN { @ = ((int8 *)1)->x }", "a number has no members");
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
		cmocka_unit_test_setup_teardown(joins, script_reset, script_check),
		cmocka_unit_test_setup_teardown(addresses, script_reset, script_check),
		cmocka_unit_test_setup_teardown(directives, script_reset, script_check),
		cmocka_unit_test_setup_teardown(other_places, script_reset, script_check),
		cmocka_unit_test_setup_teardown(over_tables, script_reset, script_check),
		cmocka_unit_test_setup_teardown(over_large_tables, script_reset, script_check),
		cmocka_unit_test_setup_teardown(no_tables, script_reset, script_check),
		cmocka_unit_test_setup_teardown(words_of_d, script_reset, script_check),
		cmocka_unit_test_setup_teardown(values, script_reset, script_check),
		cmocka_unit_test_setup_teardown(pointers_to_numbers, script_reset, script_check),
		cmocka_unit_test_setup_teardown(threads, script_reset, script_check),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
