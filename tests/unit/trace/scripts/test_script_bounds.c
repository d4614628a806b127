/* Scripts at each bound of the checker, which are taken, and beyond it, which are refused. */
#include "unit.h"
#include "fake/fake.h"
#include "script_help.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

/* `why`: the beginning of what the error says; NULL: the script is taken. `pos`: of the place that it shows. */
struct row {
	const char *text;
	size_t pos;
	int err;
	const char *why;
};

static void rows_are_right(const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct trace_script *script;
		int err = trace_script_create(rows[i].text, NULL, &script, &script_error);
		const char *why = err ? script_error.why : "";

		trace_script_free(script);
		if (err != rows[i].err || (err && script_error.pos != rows[i].pos) ||
		    strncmp(why, rows[i].why ? rows[i].why : "",
			    rows[i].why ? strlen(rows[i].why) : 1))
			fail_msg("%s\n%d at %zu: %s", rows[i].text, err, script_error.pos, why);
	}
}

#define ROWS_ARE_RIGHT(rows) rows_are_right(rows, sizeof(rows) / sizeof(*(rows)))

static void statements(void **state)
{
	static const struct row rows[] = {
		{ "BEGIN { @x; }", 8, -EINVAL, "this table is never set" },
		{ "BEGIN { @x == 1; }", 8, -EINVAL, "this table is never set" },
		{ "BEGIN { @x = avg(1); @x; }", 21, -EINVAL, "a table of avg() is no number" },
		{ "BEGIN { $x; }", 8, -EINVAL, "this variable was never set" },
		{ "BEGIN { 1 1 }", 10, -EINVAL, "';' is expected here" },
		{ "BEGIN { 1 = 1 }", 10, -EINVAL, "only a table or a variable can be set" },
		{ "BEGIN { @x && = 1 }", 14, -EINVAL, "a value is expected here" },
		{ "kprobe:do_work { args }", 17, -EINVAL, "this is no value" },
		{ "BEGIN { $x = 1; $x >= 1; @y = 1; @y != 2; }", 0, 0, NULL },
		{ "BEGIN { @x <<= 1; @x >>= 1; @x |= 1; @x ^= 1; @x &= 1; @x %= 3; @x /= 2 }", 0, 0,
		  NULL },
		{ "BEGIN { unroll(1) { } unroll(100) { } }", 0, 0, NULL },
		{ "BEGIN { unroll(101) { } }", 15, -EINVAL, "unroll() takes a number of 1 to 100" },
		{ "BEGIN { unroll(tid) { } }", 15, -EINVAL, "unroll() takes a number of 1 to 100" },
		{ "BEGIN { (1)++ }", 9, -EINVAL, "only a table or a variable can be counted" },
		{ "BEGIN { ++tid }", 10, -EINVAL, "only a table or a variable can be counted" },
		{ "BEGIN { @x.a = 1 }", 13, -EINVAL, "only a table or a variable can be set" },
		{ "BEGIN { $t = comm; $t++ }", 19, -EINVAL,
		  "a number is expected, this is a text" },
	};

	(void)state;
	ROWS_ARE_RIGHT(rows);
}

static void members(void **state)
{
	static const struct row rows[] = {
		{ "kprobe:do_work { @ = args.nosuch }", 26, -EINVAL,
		  "do_work has no argument 'nosuch' in a register" },
		{ "kprobe:do_work { @ = args.last }", 26, -EINVAL,
		  "do_work has no argument 'last' in a register" },
		{ "kprobe:kfree { @ = args.pair }", 24, -EINVAL, "this argument is no number" },
		{ "kprobe:kfree, BEGIN { @ = args.file }", 26, -EINVAL, "BEGIN has no 'args'" },
		{ "kprobe:schedule { @ = args.file }", 27, -EINVAL, "arguments by name need one" },
		{ "BEGIN { @ = tid.no }", 16, -EINVAL, "only structs, pointers to them and args" },
		{ "BEGIN { @ = tid[1] }", 15, -EINVAL, "this is no array, and no pointer" },
		{ "BEGIN { @ = comm[1] }", 16, -EINVAL, "this is no array, and no pointer" },
		{ "BEGIN { $f = (struct file *)1; @ = $f[comm] }", 38, -EINVAL,
		  "a number is expected, this is a text" },
		{ "BEGIN { @ = *comm }", 12, -EINVAL, "this points to no known type" },
		{ "BEGIN { @ = (uint8)comm }", 19, -EINVAL,
		  "a number is expected, this is a text" },
		{ "BEGIN { @ = (uint9)1 }", 13, -EINVAL, "no type is known as 'uint9'" },
		{ "BEGIN { @ = (uint8)1, (int64)1 }", 20, -EINVAL, "';' is expected here" },
		{ "BEGIN { @ = ((struct odd *)1)->wide }", 31, -EINVAL,
		  "a member of this type cannot be read" },
		{ "BEGIN { @ = *(__int128 *)1 }", 12, -EINVAL, "this is no value" },
		{ "BEGIN { @ = ((__int128 *)1)[1] }", 27, -EINVAL, "this is no value" },
		{ "BEGIN { @ = *(double *)1 }", 12, -EINVAL, "this is no value" },
		{ "BEGIN { @ = ((struct odd *)1)->real }", 31, -EINVAL,
		  "a member of this type cannot be read" },
		{ "BEGIN { @ = ((struct odd *)1)->across }", 31, -EINVAL,
		  "a member of this type cannot be read" },
		{ "BEGIN { @ = ((struct odd *)1)->within }", 0, 0, NULL },
		{ "BEGIN { @ = (1, 2).1 }", 0, 0, NULL },
		{ "BEGIN { @ = (1, 2).1e }", 19, -EINVAL, "no number of a part of a tuple" },
		{ "BEGIN { @ = tid.+ }", 16, -EINVAL, "a member's name is expected here" },
		{ "BEGIN { @ = tid.0 }", 16, -EINVAL, "there is no such part of a tuple" },
	};

	(void)state;
	ROWS_ARE_RIGHT(rows);
}

/* Numbers at their ends. */
static void numbers(void **state)
{
	static const struct row rows[] = {
		{ "BEGIN { @ = 18446744073709551615 }", 0, 0, NULL },
		{ "BEGIN { @ = 18446744073709551616 }", 12, -EINVAL,
		  "'18446744073709551616' is no" },
		{ "BEGIN { @ = 18446744073709551_615 }", 0, 0, NULL },
		{ "BEGIN { @ = 18446744073709551_616 }", 12, -EINVAL,
		  "'18446744073709551_616' is" },
		{ "BEGIN { @ = 184467440737095516_20 }", 12, -EINVAL,
		  "'184467440737095516_20' is" },
		{ "BEGIN { @ = 1e19 }", 0, 0, NULL },
		{ "BEGIN { @ = 2e19 }", 12, -EINVAL, "'2e19' is no number of 64 bits" },
		{ "BEGIN { @ = 0e20 }", 12, -EINVAL, "'0e20' is no number of 64 bits" },
		{ "BEGIN { @ = 5124095h }", 0, 0, NULL },
		{ "BEGIN { @ = 5124096h }", 12, -EINVAL, "'5124096h' is no number of 64 bits" },
		{ "BEGIN { @ = 1e }", 12, -EINVAL, "'1e' is no number of 64 bits" },
		{ "BEGIN { @ = 5x }", 12, -EINVAL, "'5x' is no number of 64 bits" },
		{ "BEGIN { @ = $9 }", 0, 0, NULL },
		{ "BEGIN { @ = $10 }", 12, -EINVAL, "parameters of a script are $1 to $9" },
		{ "BEGIN { @ = $1x }", 12, -EINVAL, "parameters of a script are $1 to $9" },
		{ "BEGIN { @ = \"a }", 12, -EINVAL, "the text has no end" },
		{ "BEGIN { @ = \"", 12, -EINVAL, "the text has no end" },
		{ "BEGIN { @ = kstack(1) }", 0, 0, NULL },
		{ "BEGIN { @ = kstack(32) }", 0, 0, NULL },
		{ "BEGIN { @ = kstack(0) }", 19, -EINVAL, "a stack has 1 to 32 functions" },
		{ "BEGIN { @ = ustack(tid) }", 19, -EINVAL, "a stack has 1 to 32 functions" },
		{ "profile:us:10 { }", 0, 0, NULL },
		{ "profile:hz:100000 { }", 0, 0, NULL },
		{ "profile:us:9 { }", 8, -EINVAL, "a profile has at most 100000 hits a second" },
		{ "interval:s:4294967295 { }", 0, 0, NULL },
		{ "interval:s:4294967296 { }", 9, -EINVAL, "a period is UNIT:NUMBER" },
		{ "interval:hz:1000000000 { }", 0, 0, NULL },
		{ "interval:hz:1000000001 { }", 9, -EINVAL, "the unit is s, ms, us or hz" },
	};

	(void)state;
	ROWS_ARE_RIGHT(rows);
}

/* Tables, and what is stored in them. */
static void tables(void **state)
{
	static const struct row rows[] = {
		{ "BEGIN { @[1, 2, 3, 4, 5, 6, 7, 8] = 1 }", 0, 0, NULL },
		{ "BEGIN { @[1, 2, 3, 4, 5, 6, 7, 8, 9] = 1 }", 10, -EINVAL,
		  "more than 8 values together" },
		{ "BEGIN { @ = (1, 2, 3, 4, 5, 6, 7, 8, 9) }", 13, -EINVAL,
		  "more than 8 values together" },
		{ "BEGIN { @[1] = 1; delete(@[1], 1) }", 31, -EINVAL, "the keys stand twice" },
		{ "BEGIN { @[1] = 1; delete(@) }", 25, -EINVAL, "this table has keys elsewhere" },
		{ "BEGIN { @ = 1; delete(@[1]) }", 8, -EINVAL, "this table has keys elsewhere" },
		{ "BEGIN { clear(@no) }", 14, -EINVAL, "this table is never set" },
		{ "BEGIN { @[1] = 1; clear(@[1]) }", 0, 0, NULL },
		{ "BEGIN { delete(tid) }", 15, -EINVAL, "a table is expected here" },
		{ "BEGIN { @a = avg(1); @b = @a }", 26, -EINVAL, "a table of avg() is no number" },
		{ "BEGIN { @a = stats(1); @b = @a }", 28, -EINVAL,
		  "a table of stats() is no number" },
		{ "BEGIN { @a = count(); @b = @a }", 0, 0, NULL },
		{ "BEGIN { @a = count(); @a = sum(1) }", 25, -EINVAL,
		  "@a is a table of count() else" },
		{ "BEGIN { @a += count() }", 14, -EINVAL, "count() gives no value here" },
		{ "BEGIN { @a = count(); @a = 1 }", 25, -EINVAL, "@a holds count() elsewhere" },
		{ "BEGIN { @a = lhist(1, 0, 1000, 1) }", 0, 0, NULL },
		{ "BEGIN { @a = lhist(1, 0, 1001, 1) }", 22, -EINVAL,
		  "lhist() has 1 to 1000 steps" },
		{ "BEGIN { @a = lhist(1, 0, 10, 0) }", 22, -EINVAL, "lhist() has 1 to 1000 steps" },
		{ "BEGIN { @a = lhist(1, 0, 10, -1) }", 22, -EINVAL,
		  "lhist() has 1 to 1000 steps" },
		{ "BEGIN { @a = lhist(1, 6, 5, 1) }", 22, -EINVAL, "lhist() has 1 to 1000 steps" },
		{ "BEGIN { @a = lhist(1, -1, 9223372036854775807, 1000000000000000000) }", 22,
		  -EINVAL, "lhist() has 1 to 1000 steps" },
		{ "BEGIN { @a = lhist(1, 0, 9223372036854775807, 1000000000000000000) }", 0, 0,
		  NULL },
		{ "BEGIN { @a = sum(comm) }", 17, -EINVAL, "a number is expected, this is a text" },
		{ "BEGIN { @ = tid ? 1 : comm }", 16, -EINVAL,
		  "both values of ?: must be of one type" },
		{ "BEGIN { @ = comm ? 1 : 2 }", 12, -EINVAL,
		  "a number is expected, this is a text" },
		{ "BEGIN { @ = kstack + 1 }", 12, -EINVAL,
		  "a number is expected, this is a stack" },
		{ "BEGIN { @ = 1 + (1, 2) }", 16, -EINVAL,
		  "a number is expected, this is a tuple" },
		{ "BEGIN { @ = comm == tid }", 17, -EINVAL,
		  "a text cannot be compared with a number" },
		{ "BEGIN /comm/ { }", 7, -EINVAL, "a number is expected, this is a text" },
		{ "BEGIN { $x = 1; $x = comm }", 19, -EINVAL, "$x holds a number elsewhere" },
		{ "BEGIN { ksym(comm) }", 13, -EINVAL, "a number is expected, this is a text" },
		{ "BEGIN { @ = ksym(comm) }", 17, -EINVAL, "a number is expected, this is a text" },
	};

	(void)state;
	ROWS_ARE_RIGHT(rows);
}

/* printf(): as many values as there are conversions, and as there may be. */
static void formats(void **state)
{
	static const struct row rows[] = {
		{ "BEGIN { printf(\"%d%d%d%d%d%d%d%d\", 1, 2, 3, 4, 5, 6, 7, 8) }", 0, 0, NULL },
		{ "BEGIN { printf(\"%d%d%d%d%d%d%d%d%d\", 1, 2, 3, 4, 5, 6, 7, 8, 9) }", 8, -EINVAL,
		  "printf() takes 1 to 9 arguments, here are 10" },
		{ "BEGIN { printf(\"%0000000000000001d\", 1) }", 0, 0, NULL },
		{ "BEGIN { printf(\"%00000000000000001d\", 1) }", 15, -EINVAL,
		  "a conversion has more than 16 flags and digits" },
		{ "BEGIN { printf(\"%5%\") }", 15, -EINVAL, "printf() has more conversions than" },
		{ "BEGIN { printf(\"%\", 1) }", 15, -EINVAL, "there is no such conversion" },
		{ "BEGIN { printf(tid) }", 15, -EINVAL, "printf() begins with a text" },
		{ "BEGIN { printf(\"%x\", kstack) }", 15, -EINVAL,
		  "this conversion needs a number" },
		{ "BEGIN { printf(\"%s\", (struct file *)1) }", 15, -EINVAL, "%s needs a text" },
		{ "BEGIN { printf(\"%s%d\", ksym(1), ksym(1)) }", 0, 0, NULL },
	};

	(void)state;
	ROWS_ARE_RIGHT(rows);
}

/* Seven values that wait for their right sides, and `last`. */
#define WAITING(last) "tid|tid^tid&tid==tid<tid<<tid+" last
#define SAVED(last)   "BEGIN { $p = (struct file *)1; @x = " WAITING("tid*$p[" WAITING(last) "]; }")

/* Values that wait, and bytes of the block, as many as a run has room for. */
static void room(void **state)
{
	static const struct row rows[] = {
		{ SAVED("tid"), 0, 0, NULL },
		{ SAVED("$p->path"), 0, -E2BIG,
		  "an expression of this clause has more than 16 values" },
		/* 1024 bytes: of a stack, 8 for each function and 8 more. */
		{ "BEGIN { $a = kstack; $b = kstack; $c = kstack; $d = kstack(28); }", 0, 0, NULL },
		{ "BEGIN { $a = kstack; $b = kstack; $c = kstack; $d = kstack(29); }", 0, -E2BIG,
		  "variables, keys and texts of this clause need more than 1024 bytes" },
	};

	(void)state;
	ROWS_ARE_RIGHT(rows);
}

/* Blocks in blocks: the last one has no expression that would be too deep. */
static void nesting(void **state)
{
	char text[400];

	(void)state;
	for (int nr = 16; nr <= 17; nr++) {
		struct trace_script *script;
		char *at = stpcpy(text, "BEGIN { ");
		int err;

		for (int i = 0; i < nr; i++)
			at = stpcpy(at, "if (1) { ");
		for (int i = 0; i <= nr; i++)
			at = stpcpy(at, "} ");
		err = trace_script_create(text, NULL, &script, &script_error);
		assert_int_equal(err, nr == 16 ? 0 : -E2BIG);
		if (err) {
			assert_string_equal(script_error.why, "too deep: more than 16 levels");
			assert_int_equal(script_error.pos, 8 + 9 * nr);
		}
		trace_script_free(script);
	}
}

/* A text of the longest length is taken, one of a character more is not. */
static void length(void **state)
{
	static char text[20000];
	struct trace_script *script;

	(void)state;
	memset(text, ' ', 16383);
	memcpy(text, "BEGIN { }", 9);
	assert_int_equal(trace_script_create(text, NULL, &script, &script_error), 0);
	assert_string_equal(script_error.why, "");
	trace_script_free(script);
	text[16383] = ' ';
	assert_int_equal(trace_script_create(text, NULL, &script, &script_error), -E2BIG);
}

/* More functions of one name than are looked for, none of which can be traced. */
static void one_name(void **state)
{
	struct trace_script *script;

	(void)state;
	for (uintptr_t i = 0; i < 40; i++)
		fake_symbol_add(0x1000 + 16 * i, 16, "often");
	assert_int_equal(trace_script_create("kprobe:often { }", NULL, &script, &script_error),
			 -ENOENT);
	assert_string_equal(script_error.why, "no function that can be traced matches 'often'");
}

static void one_call(void)
{
	fake_call(DO_WORK, PARENT);
}

static void names_of_probes(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("k:do_work, kr:do_work, BEGIN { printf(\"%s\\n\", probe) }", one_call),
		"BEGIN\nkprobe:do_work\nkretprobe:do_work\n");
}

/* Times of a hit are its own, and a number of 8 bytes in an event is one. */
static void two_calls(void)
{
	fake_clock += 1000;
	fake_call(DO_WORK, PARENT);
	fake_clock += 500;
	fake_call(DO_WORK, PARENT);
}

static void times(void **state)
{
	(void)state;
	assert_string_equal(script_run("k:do_work { printf(\"%d\\n\", elapsed); }", two_calls),
			    "1000\n1500\n");
}

static void inject(void)
{
	assert_int_equal(echo("v=12345678901 w=7", "events/synthetic/x/inject"), 0);
}

static void fields(void **state)
{
	(void)state;
	assert_int_equal(echo("x u64 v; u32 w", "synthetic_events"), 0);
	assert_string_equal(script_run("tracepoint:synthetic:x { printf(\"%ld %d\\n\", args.v, "
				       "args.w); }",
				       inject),
			    "12345678901 7\n");
}

/* for ($x : FIRST..END) */
static void ranges(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "BEGIN { for ($x : 2..5) { printf(\"%d \", $x) } }", "2 3 4 " },
		{ "BEGIN { for ($x : -2..1) { printf(\"%d \", $x) } }", "-2 -1 0 " },
		{ "BEGIN { for ($x:5..5) { @n++ } for ($x : 5..2) { @n++ } @a = 1 }", "@a: 1\n\n" },
		/* Both bounds are looked at once, and the block changes neither them nor the place. */
		{ "BEGIN { $a = 1; $b = 4; for ($x : $a..$b) { $a = 9; $b = 0; "
		  "printf(\"%d \", $x); $x = 7 } }",
		  "1 2 3 " },
		{ "BEGIN { @b = 2; for ($x : @b - 1..@b * 2) { @b++; @s += $x } }",
		  "@b: 5\n@s: 6\n" },
		{ "BEGIN { for ($x : 0..9) { if ($x == 1) { continue } if ($x == 4) { break } "
		  "printf(\"%d \", $x) } printf(\".\") }",
		  "0 2 3 ." },
		{ "BEGIN { for ($x : 0..9) { if ($x == 2) { return } printf(\"%d \", $x) } "
		  "printf(\".\") }",
		  "0 1 " },
		/* A loop in one of the same words; the same loop twice. */
		{ "BEGIN { for ($x : 0..2) { for ($x : 0..2) { printf(\"%d \", $x) } } }",
		  "0 1 0 1 " },
		{ "BEGIN { for ($x : 0..cpu + 2) { for ($y : $x..2) { "
		  "printf(\"%d%d \", $x, $y) } } for ($x : 0..cpu + 2) { @n++ } for ($x : 0..cpu + "
		  "2) { @n++ } }",
		  "00 01 11 @n: 4\n" },
		{ "BEGIN { unroll(2) { for ($x : 0..2) { @n++ } } }", "@n: 4\n" },
		{ "BEGIN { for ($x : 0..5000) { @n++ } }", "@n: 1000\n" },
		{ "BEGIN { for ($x : 0..1e6) { for ($y : 0..1e6) { @n++ } } }", "@n: 9990\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *got = script_run(rows[i].text, NULL);

		if (strcmp(got, rows[i].want))
			fail_msg("%s\n%s", rows[i].text, got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ranges, script_reset, script_check),
		cmocka_unit_test_setup_teardown(statements, script_reset, script_check),
		cmocka_unit_test_setup_teardown(members, script_reset, script_check),
		cmocka_unit_test_setup_teardown(numbers, script_reset, script_check),
		cmocka_unit_test_setup_teardown(tables, script_reset, script_check),
		cmocka_unit_test_setup_teardown(formats, script_reset, script_check),
		cmocka_unit_test_setup_teardown(room, script_reset, script_check),
		cmocka_unit_test_setup_teardown(nesting, script_reset, script_check),
		cmocka_unit_test_setup_teardown(length, script_reset, script_check),
		cmocka_unit_test_setup_teardown(one_name, script_reset, script_check),
		cmocka_unit_test_setup_teardown(names_of_probes, script_reset, script_check),
		cmocka_unit_test_setup_teardown(times, script_reset, script_check),
		cmocka_unit_test_setup_teardown(fields, script_reset, NULL),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
