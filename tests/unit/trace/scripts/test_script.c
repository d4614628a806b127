/* Scripts: values and statements, those that are refused, and any text at all. */
#include "unit.h"
#include "fake/fake.h"
#include "script_help.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

/* ---- Values ---- */

static const struct {
	const char *conversion, *expression, *want;
} value_rows[] = {
	{ "%d", "1 + 2 * 3", "7" },
	{ "%d", "(1 + 2) * 3", "9" },
	{ "%d", "10 - 4 - 3", "3" },
	{ "%d", "-7 / 2", "-3" },
	{ "%d", "-7 % 3", "-1" },
	{ "%d", "7 / -2", "-3" },
	{ "%d", "7 % -2", "1" },
	{ "%d", "5 / 0", "0" },
	{ "%d", "5 % 0", "5" },
	{ "%d", "1 << 4 | 1", "17" },
	{ "%d", "6 & 3 ^ 1", "3" },
	{ "%d", "~0", "-1" },
	{ "%d", "!3 + !0", "1" },
	{ "%d", "1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2 && 1 != 2 && 1 == 1", "1" },
	{ "%d", "1 > 2 || 2 < 2", "0" },
	{ "%d", "-1 < 0", "1" },
	{ "%d", "3 > 2 ? 10 : 20", "10" },
	{ "%d", "0 ? 10 : 1 ? 20 : 30", "20" },
	{ "%x", "0x1f", "1f" },
	{ "%o", "017", "17" },
	{ "%d", "1_000", "1000" },
	{ "%d", "1e6", "1000000" },
	{ "%d", "5ms", "5000000" },
	{ "%d", "(uint8)0x1ff", "255" },
	{ "%d", "(int8)0xff", "-1" },
	{ "%d", "(int16)0x18000", "-32768" },
	{ "%5d|", "42", "   42|" },
	{ "%-5d|", "42", "42   |" },
	{ "%05ld", "42", "00042" },
	{ "%c", "65", "A" },
	{ "%p", "16", "0x10" },
	{ "100%% %s", "\"a\\tb\"", "100% a\tb" },
	{ "%6s|", "comm", "  init|" },
	{ "%-6s|", "execname", "init  |" },
	{ "%s", "probe", "BEGIN" },
	{ "%d", "tid", "1" },
	{ "%d", "cpu", "0" },
	{ "%d", "nsecs", "12345678900" },
	{ "%d", "elapsed", "0" },
	{ "%d", "comm == \"init\"", "1" },
	{ "%d", "comm != \"init\"", "0" },
	{ "%d", "\"init\" == comm && comm != \"ini\"", "1" },
	{ "%d", "(1, \"two\", 3).2", "3" },
	{ "%s", "(1, \"two\", 3).1", "two" },
	{ "%s", "(1, \"two\", 3)", "(1, two, 3)" },
	{ "%s", "str(0)", "" },
	{ "%s", "1 ? \"yes\" : \"no\"", "yes" },
	{ "%d", "*(uint64)0", "0" },
	{ "%d", "sizeof(struct file *)", "8" },
	{ "%d", "sizeof(int16) + sizeof((uint8)1) + sizeof(comm)", "19" },
	{ "%d", "strncmp(comm, \"initial\", 4)", "0" },
	{ "%d", "strncmp(comm, \"initial\", 5)", "1" },
	{ "%d", "strncmp(\"\", \"a\", 0)", "0" },
	{ "%d", "((struct file *)0)->pos", "0" },
};

static void expressions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(value_rows) / sizeof(*value_rows); i++) {
		const char *got = script_value(value_rows[i].conversion, value_rows[i].expression);
		char want[64];

		snprintf(want, sizeof(want), "%s", value_rows[i].want);
		if (strcmp(got, want))
			fail_msg("%s: %s, not %s", value_rows[i].expression, got, want);
	}
}

static void statements(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("BEGIN { $i = 0; while ($i < 4) { @[$i % 2] += $i; $i++; } }", NULL),
		"@[0]: 2\n@[1]: 4\n");
	assert_string_equal(
		script_run("BEGIN { unroll(3) { @u++; } @d = 10; @d--; @d -= 2; @d *= 3; }", NULL),
		"@d: 21\n@u: 3\n");
	assert_string_equal(
		script_run("BEGIN { $a = 1; if ($a == 2) { print(2) } else if ($a == 1) "
			   "{ print(1) } else { print(3) } }",
			   NULL),
		"1\n");
	assert_string_equal(script_run("BEGIN { @t = \"text\"; $s = @t; printf(\"%s.\", $s); @n[1, "
				       "$s] = (1, comm); }",
				       NULL),
			    "text.@n[1, text]: (1, init)\n@t: text\n");
	assert_string_equal(
		script_run("BEGIN { @x[1] = 1; @x[2] = 2; delete(@x[1]); delete(@x, 3); print(@x); "
			   "clear(@x); @y = 5; zero(@y) } END { printf(\"end\\n\") }",
			   NULL),
		"@x[2]: 2\nend\n\n@y: 0\n");
	assert_string_equal(
		script_run("BEGIN { @t = \"ab\"; @u = \"cd\"; printf(\"%s%s.\", @t, @u); }", NULL),
		"abcd.@t: ab\n@u: cd\n");
	assert_string_equal(script_run("BEGIN { @x[1] = 1; @x[2] = 2; @x[2] = 3; @c = count(); "
				       "printf(\"%d %d.\", len(@x), len(@c)); delete(@x[1]); "
				       "delete(@x[7]); printf(\"%d.\", len(@x)); clear(@x); }",
				       NULL),
			    "2 1.1.@c: 1\n\n");
	/* A text has 63 characters. */
	assert_string_equal(script_run("BEGIN { printf(\"%s.\", "
				       "\"012345678901234567890123456789012345678901234567890123456"
				       "7890123456789\"); }",
				       NULL),
			    "012345678901234567890123456789012345678901234567890123456789012.");
	/* A loop ends after 1000 rounds. */
	assert_string_equal(script_run("BEGIN { while (1) { @n++; } }", NULL), "@n: 1000\n");
	/* Comments, and statements without a semicolon behind a block. */
	assert_string_equal(
		script_run("#!/usr/bin/bt\n// one\nBEGIN /* two */ { if (1) { @a = 1 } @b = 2;; }",
			   NULL),
		"@a: 1\n@b: 2\n");
	/* Lines for a preprocessor. */
	assert_string_equal(script_run("#ifndef HAVE_BTF\n#include <linux/sched.h>\n#else\n#endif\n"
				       "BEGIN { @a = 1 }\n#ifdef B\n",
				       NULL),
			    "@a: 1\n");
}

/* ---- Refused ---- */

static const struct {
	const char *text;
	size_t pos;
	int err;
	const char *why;
} refused_rows[] = {
	{ "", 0, -EINVAL, "the script has no probe" },
	{ "foo { }", 0, -EINVAL, "no such kind of probe: 'foo'" },
	{ "BEGIN { @x = 1; print(@x, 0); }", 26, -EINVAL,
	  "a number of keys, or to divide by, is a constant" },
	{ "BEGIN { @x = 1; print(@x, pid); }", 26, -EINVAL,
	  "a number of keys, or to divide by, is a constant" },
	{ "BEGIN { print(1, 2); }", 14, -EINVAL, "a table is expected here" },
	{ "BEGIN { $x = len(1); }", 17, -EINVAL, "a table is expected here" },
	{ "BEGIN { $x = len(@y); }", 17, -EINVAL, "this table is never set" },
	{ "BEGIN { $x = strncmp(1, \"a\", 2); }", 13, -EINVAL, "strncmp() compares two texts" },
	{ "BEGIN { $x = strncmp(\"b\", \"a\", 65); }", 31, -EINVAL,
	  "the number of characters is 0 to 64" },
	{ "BEGIN { $x = sizeof(struct none); }", 20, -EINVAL, "no type is known as 'struct none'" },
	{ "BEGIN { break; }", 8, -EINVAL, "this stands in a loop alone" },
	{ "BEGIN { if (1) { continue } }", 17, -EINVAL, "this stands in a loop alone" },
	{ "BEGIN { for ($x : 0..2) { } break; }", 28, -EINVAL, "this stands in a loop alone" },
	{ "BEGIN { for $x : 0..2 { } }", 12, -EINVAL, "'(' is expected here" },
	{ "BEGIN { for (@x : 0..2) { } }", 13, -EINVAL, "a variable is expected here" },
	{ "BEGIN { for ($x = 0; $x < 2; $x++) { } }", 16, -EINVAL, "':' is expected here" },
	{ "BEGIN { @m[1] = 2; for ($x : @m[1]) { } }", 34, -EINVAL, "'..' is expected here" },
	{ "BEGIN { for ($x : 0..) { } }", 21, -EINVAL, "a value is expected here" },
	{ "BEGIN { for ($x : 0..2 { } }", 23, -EINVAL, "')' is expected here" },
	{ "BEGIN { for ($x : 0..2) @n++; }", 24, -EINVAL, "'{' is expected here" },
	{ "BEGIN { for ($x : comm..2) { } }", 18, -EINVAL, "a number is expected, this is a text" },
	{ "BEGIN { for ($x : 0..comm) { } }", 21, -EINVAL, "a number is expected, this is a text" },
	{ "BEGIN { for ($x : $x..2) { } }", 18, -EINVAL, "this variable was never set" },
	{ "BEGIN { $x = comm; for ($x : 0..2) { } }", 24, -EINVAL, "$x holds a text elsewhere" },
	{ "BEGIN { $x = pid++; }", 13, -EINVAL,
	  "only a table or a variable can be counted up or down" },
	{ "{ }", 0, -EINVAL, "a probe is expected here" },
	{ "BEGIN { #include <x>\n }", 8, -EINVAL, "a value is expected here" },
	{ "BEGIN {\n#define X 1\n}", 8, -EINVAL, "a value is expected here" },
	{ "BEGIN", 5, -EINVAL, "the script ends where '{' is expected" },
	{ "BEGIN { @x = 1", 14, -EINVAL, "the script ends where ';' is expected" },
	{ "BEGIN { @x = 1 @y = 2 }", 15, -EINVAL, "';' is expected here" },
	{ "BEGIN { @x = }", 13, -EINVAL, "a value is expected here" },
	{ "BEGIN { 1 - kstack }", 12, -EINVAL, "a number is expected, this is a stack" },
	{ "BEGIN { @x = foo }", 13, -EINVAL, "no such name: 'foo'" },
	{ "BEGIN { foo(1) }", 8, -EINVAL, "no such function: 'foo'" },
	{ "BEGIN { exit(1) }", 8, -EINVAL, "exit() takes 0 to 0 arguments, here are 1" },
	{ "BEGIN { @x = exit() }", 13, -EINVAL, "exit() gives no value here" },
	{ "BEGIN { count() }", 8, -EINVAL, "count() stands behind '@NAME ='" },
	{ "BEGIN { foo }", 8, -EINVAL, "no such name: 'foo'" },
	{ "BEGIN { @x = retval }", 13, -EINVAL, "BEGIN has no 'retval'" },
	{ "kprobe:nosuch { }", 7, -ENOENT, "no function that can be traced matches 'nosuch'" },
	{ "kprobe { }", 0, -EINVAL, "a probe is KIND:PLACE" },
	{ "BEGIN:x { }", 0, -EINVAL, "nothing stands behind BEGIN and END" },
	{ "tracepoint:shelf { }", 11, -EINVAL, "a trace point is SYSTEM:NAME" },
	{ "tracepoint:shelf:no { }", 11, -ENOENT, "no event matches 'shelf:no'" },
	{ "interval:s { }", 9, -EINVAL, "a period is UNIT:NUMBER, as in s:5 or hz:99" },
	{ "interval:s:0 { }", 9, -EINVAL, "a period is UNIT:NUMBER, as in s:5 or hz:99" },
	{ "interval:x:1 { }", 9, -EINVAL, "the unit is s, ms, us or hz" },
	{ "tracepoint:shelf:shelf_full { @ = args.no }", 39, -EINVAL,
	  "tracepoint:shelf:shelf_full has no field 'no'" },
	{ "tracepoint:shelf:* { @ = args.label }", 30, -EINVAL,
	  "tracepoint:shelf:* has no field 'label'" },
	{ "BEGIN { @x = 1; @x = \"a\" }", 19, -EINVAL, "@x holds a number elsewhere" },
	{ "BEGIN { @x = 1; @x = count() }", 19, -EINVAL, "@x is a table of a number elsewhere" },
	{ "BEGIN { @x = count(); @x++ }", 22, -EINVAL, "this table holds no numbers" },
	{ "BEGIN { @x[1] = 1; @x[1, 2] = 1 }", 19, -EINVAL,
	  "the keys of this table have other types elsewhere" },
	{ "BEGIN { @x[1] = 1; @y = @x }", 24, -EINVAL, "this table has keys elsewhere" },
	{ "BEGIN { @y = @x }", 13, -EINVAL, "this table is never set" },
	{ "BEGIN { @y = $x }", 13, -EINVAL, "this variable was never set" },
	{ "BEGIN { @h = hist(1); @y = @h }", 27, -EINVAL,
	  "a table of hist() is no number: it can only be printed" },
	{ "BEGIN { @h = lhist(1, 5, 5, 1) }", 22, -EINVAL,
	  "lhist() has 1 to 1000 steps from the first to the second end" },
	{ "BEGIN { @h = lhist(1, tid, 5, 1) }", 22, -EINVAL,
	  "the ends and the step of lhist() are constants" },
	{ "BEGIN { @x = comm + 1 }", 18, -EINVAL, "a text cannot be compared with a number" },
	{ "BEGIN { @x = comm < comm }", 18, -EINVAL, "texts can be compared by == and != only" },
	{ "BEGIN { @x = -comm }", 14, -EINVAL, "a number is expected, this is a text" },
	{ "BEGIN { printf(\"%d\") }", 15, -EINVAL, "printf() has more conversions than values" },
	{ "BEGIN { printf(\"x\", 1) }", 15, -EINVAL, "printf() has fewer conversions than values" },
	{ "BEGIN { printf(\"%s\", 1) }", 15, -EINVAL,
	  "%s needs a text: str() makes one of a pointer" },
	{ "BEGIN { printf(\"%d\", comm) }", 15, -EINVAL, "this conversion needs a number" },
	{ "BEGIN { printf(\"%n\", 1) }", 15, -EINVAL, "there is no such conversion in printf()" },
	{ "BEGIN { printf(\"abc }", 15, -EINVAL, "the text has no end: '\"' is missing" },
	{ "BEGIN { @x = 99999999999999999999 }", 13, -EINVAL,
	  "'99999999999999999999' is no number of 64 bits" },
	{ "BEGIN { @x = (1, 2).2 }", 20, -EINVAL, "there is no such part of a tuple" },
	{ "BEGIN { @x = (struct nosuch *)1 }", 14, -EINVAL, "no type is known as 'nosuch'" },
	{ "BEGIN { @x = ((struct file *)1)->no }", 33, -EINVAL, "struct file has no member 'no'" },
	{ "BEGIN { unroll(0) { } }", 15, -EINVAL, "unroll() takes a number of 1 to 100" },
	{ "BEGIN { @x = kstack(33) }", 20, -EINVAL, "a stack has 1 to 32 functions" },
	{ "BEGIN { clear(1) }", 14, -EINVAL, "a table is expected here" },
	{ "BEGIN { @x = $0 }", 13, -EINVAL, "parameters of a script are $1 to $9" },
	{ "BEGIN { @x += comm }", 14, -EINVAL, "a number is expected, this is a text" },
	{ "BEGIN { @x = () }", 13, -EINVAL, "there is nothing in parentheses" },
	{ "kprobe:kfree, kprobe:yield { @x = args.file }", 39, -EINVAL,
	  "arguments by name need one function whose types are known" },
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refused_rows) / sizeof(*refused_rows); i++) {
		struct trace_script *script;
		int err = trace_script_create(refused_rows[i].text, NULL, &script, &script_error);

		assert_null(script);
		if (err != refused_rows[i].err || script_error.pos != refused_rows[i].pos ||
		    strcmp(script_error.why, refused_rows[i].why))
			fail_msg("%s\n%d at %zu: %s", refused_rows[i].text, err, script_error.pos,
				 script_error.why);
	}
}

/* Scripts that the block of a run, or a program, has no room for, and values that are none. */
static void out_of_bounds(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *why;
	} rows[] = {
		{ "BEGIN { $a = kstack; $b = kstack; $c = kstack; $d = kstack; }", -E2BIG,
		  "1024 bytes" },
		{ "BEGIN { unroll(100) { unroll(100) { if (pid) { @x = 1 } else { @y = 1 } } } }",
		  -E2BIG, "more than 4000 times" },
		{ "BEGIN { unroll(40) { unroll(100) { if (pid) { @x = 1 } else { @y = 1 } } } }",
		  -E2BIG, "more than 4000 instructions" },
		{ "kprobe:do_work { print((1, args)); }", -EINVAL, "this is no value" },
		{ "kprobe:do_work { print(args); }", -EINVAL, "this is no value" },
		{ "kprobe:do_work { printf(\"%s\", args); }", -EINVAL, "this is no value" },
		{ "kprobe:do_work { @ = ((struct file *)args)->pos; }", -EINVAL,
		  "this is no value" },
		{ "kprobe:do_work { @ = args == comm; }", -EINVAL, "this is no value" },
		{ "kprobe:do_work { @x[1, 2] = 1; @x[1, 2, args] = 1; }", -EINVAL,
		  "this is no value" },
		{ "tracepoint:shelf:shelf_full, kprobe:do_work { @ = args.shelf; }", -EINVAL,
		  "at other places" },
		{ "BEGIN { $x = \"a\"; $x += \"b\"; }", -EINVAL, "a number is expected" },
		{ "BEGIN { $x = (struct file *)\"a\"; }", -EINVAL, "a number is expected" },
		{ "BEGIN { $x = (struct file *)kstack(); }", -EINVAL, "a number is expected" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct trace_script *script;
		int err = trace_script_create(rows[i].text, NULL, &script, &script_error);

		if (err != rows[i].err || !strstr(script_error.why, rows[i].why))
			fail_msg("%s\n%d: %s", rows[i].text, err, script_error.why);
	}
}

/* Types that grow while others take them over; values made of what they replace. */
static void types_that_grow(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "BEGIN { @x = (\"a\", str(0)); print(@x); @x = (str(0), \"abcdefghij\"); }",
		  "@x: (, abcdefghij)\n@x: (, abcdefghij)\n" },
		{ "BEGIN { $t = (\"a\", 1); @m[$t] = 1; @m[(str(0), 2)] = 2; $t = (\"b\", 3); "
		  "@m[$t] = 3; }",
		  "@m[a, 1]: 1\n@m[, 2]: 2\n@m[b, 3]: 3\n" },
		{ "BEGIN { @e = \"x\"; @d = \"x\"; @c = \"x\"; @b = \"x\"; @e = @d; @d = @c; @c = "
		  "@b; @b = @a; "
		  "@a = \"x\"; @a = str(0); @a = \"a longer text\"; @b = @a; @c = @b; @d = @c; @e "
		  "= @d; print(@e); "
		  "clear(@a); clear(@b); clear(@c); clear(@d); clear(@e) }",
		  "@e: a longer text\n\n\n\n\n\n" },
		{ "BEGIN { @e = @d; @d = @c; @c = @b; @b = @a; @a = 1; @b = @a; @c = @b; @d = @c; "
		  "@e = @d; }",
		  "@a: 1\n@b: 1\n@c: 1\n@d: 1\n@e: 1\n" },
		{ "BEGIN { $t = (1, 2); $t = ($t.1, $t.0); printf(\"%s\", $t); }", "(2, 1)" },
		{ "BEGIN { $t = tid ? (\"a\", 1) : (\"a longer text\", 2); printf(\"%s\", $t); }",
		  "(a, 1)" },
		{ "BEGIN { $x = 1; @a = $x; } END { $x = comm; @b = $x; }", "@a: 1\n@b: init\n" },
		{ "END { @m = max(@b); } BEGIN { @b = -5; }", "@b: -5\n@m: -5\n" },
		{ "BEGIN { while (pid < 0) { @n++ } if (tid > -1) { @a = 1 } else { @b = 1 } if "
		  "(cpu >= 0) { @c = 1 } }",
		  "\n@b: 1\n@c: 1\n\n" },
		{ "BEGIN { $i = -3; while ($i <= 2) { if ($i < 0) { @neg++ } if ($i != 0) { "
		  "@other++ } $i++ } }",
		  "@neg: 3\n@other: 5\n" },
		{ "BEGIN { while (1) { while (1) { while (1) { @n++ } } } }", "@n: 9989\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *got = script_run(rows[i].text, NULL);

		if (strcmp(got, rows[i].want))
			fail_msg("%s\n%s", rows[i].text, got);
	}
}

/* Trees and blocks that are too deep for the recursion that walks them. */
static void too_deep(void **state)
{
	static char text[20000];
	static const char *const parts[][4] = {
		{ "BEGIN { @x = ", "(", "1", "; }" },	 { "BEGIN { @x = ", "~", "tid", "; }" },
		{ "BEGIN { @x = 1", "+tid", "", "; }" }, { "BEGIN { @x = ", "1 ? ", "1", "; }" },
		{ "BEGIN { ", "if (1) {", "", "" },	 { "BEGIN { @x = tid", "[1]", "", "; }" },
		{ "BEGIN { @x = ", "str(", "1", "; }" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct trace_script *script;
		char *at = stpcpy(text, parts[i][0]);

		for (int nr = 0; nr < 1500; nr++)
			at = stpcpy(at, parts[i][1]);
		stpcpy(stpcpy(at, parts[i][2]), parts[i][3]);
		assert_int_equal(trace_script_create(text, NULL, &script, &script_error), -E2BIG);
		assert_non_null(strstr(script_error.why, "levels"));
	}
	memset(text, ' ', sizeof(text) - 1);
	assert_int_equal(
		trace_script_create(text, NULL, &(struct trace_script *){ NULL }, &script_error),
		-E2BIG);
	assert_string_equal(script_error.why, "a script has at most 16383 characters");
}

/* ---- Others ---- */

static void parameters(void **state)
{
	const struct trace_script_params params = { .texts = { "7", "seven" }, .nr = 2 };
	struct trace_script *script;

	(void)state;
	assert_int_equal(trace_script_create("BEGIN { printf(\"%d %s %d\", $1, $2, $3); }", &params,
					     &script, &script_error),
			 0);
	script_text[0] = '\0';
	assert_int_equal(trace_script_start(script), 0);
	assert_int_equal(trace_script_start(script), -EBUSY);
	assert_string_equal(script_end(script), "7 seven 0");
}

static void macros(void **state)
{
	(void)state;
	assert_string_equal(script_value("%d", "AF_INET6 * 10 + AF_INET + TASK_RUNNING"), "102");
}

static void lists(void **state)
{
	static char text[65536];
	char buf[80];
	struct trace_seq seq;
	bool has_more;
	size_t at = 0;

	(void)state;
	do { /* in small pieces */
		trace_seq_init(&seq, buf, sizeof(buf));
		has_more = trace_script_list("*:*s[hc]*", &at, &seq);
		assert_true(seq.len || !has_more);
		strncat(text, buf, seq.len);
	} while (has_more);
	assert_ptr_equal(strstr(text, "kprobe:schedule\n"), text);
	assert_non_null(strstr(text, "tracepoint:shelf:shelf_full\n"));
	assert_null(strstr(text, "yield"));
}

static void shown(void **state)
{
	struct trace_script *script = script_make("kprobe:*, BEGIN { @a[tid] = count(); }");
	char buf[1024];
	struct trace_seq seq;

	(void)state;
	assert_int_equal(trace_script_nr_probes(script), NR_FUNCS + 1);
	trace_seq_init(&seq, buf, sizeof(buf) - 1);
	trace_script_show(script, &seq);
	buf[seq.len] = '\0';
	assert_string_equal(
		buf,
		"kprobe:*, ...: 4 probes, at most 6 steps\n@a: at most 4096 keys, 24 bytes each\n");
	trace_script_free(script);
}

/* Any text is compiled or refused; what was compiled runs, and nothing of it stays. */
static void random_texts(void **state)
{
	static const char *const words[] = {
		"BEGIN ", "END ",    "kprobe:", "kretprobe:", "do_work ", "*",	     "{ ",
		"} ",	  "/ ",	     "@a ",	"@b ",	      "$c ",	  "= ",	     "+= ",
		"++ ",	  "1 ",	     "2 ",	"( ",	      ") ",	  "[ ",	     "] ",
		", ",	  "; ",	     "comm ",	"tid ",	      "arg0 ",	  "hist",    "count",
		"printf", "\"%d\" ", "if ",	"else ",      "while ",	  "unroll ", "? ",
		"for ",	  ".. ",     ": ",	"-> ",	      ".",	  "== ",     "&& ",
		"! ",	  "- ",	     "* ",	"str",	      "kstack ",  "exit() ", "struct file ",
		"name ",  "delete",  "print",
	};
	static char text[1024];
	uint32_t seed = 1, made = 0;

	(void)state;
	for (uint32_t round = 0; round < 60000; round++) {
		struct trace_script *script;
		char *at = text;

		at += sprintf(at, "%s", round % 3 ? "BEGIN { @a = " : "kprobe:* { ");
		for (uint32_t i = 0, nr = round % 13; i < nr; i++) {
			seed = seed * 1103515245 + 12345;
			at = stpcpy(at, words[(seed >> 16) % (sizeof(words) / sizeof(*words))]);
		}
		stpcpy(at, round % 2 ? "; }" : "1; }");
		if (trace_script_create(text, NULL, &script, &script_error)) {
			assert_true(script_error.pos <= strlen(text) && script_error.why[0]);
			continue;
		}
		made++;
		script_text[0] = '\0';
		assert_int_equal(trace_script_start(script), 0);
		if (round % 3 == 0)
			fake_call(DO_WORK, PARENT);
		script_end(script);
	}
	assert_true(made > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(expressions, script_reset, script_check),
		cmocka_unit_test_setup_teardown(statements, script_reset, script_check),
		cmocka_unit_test_setup_teardown(refused, script_reset, script_check),
		cmocka_unit_test_setup_teardown(out_of_bounds, script_reset, script_check),
		cmocka_unit_test_setup_teardown(types_that_grow, script_reset, script_check),
		cmocka_unit_test_setup_teardown(too_deep, script_reset, script_check),
		cmocka_unit_test_setup_teardown(parameters, script_reset, script_check),
		cmocka_unit_test_setup_teardown(macros, script_reset, script_check),
		cmocka_unit_test_setup_teardown(lists, script_reset, script_check),
		cmocka_unit_test_setup_teardown(shown, script_reset, script_check),
		cmocka_unit_test_setup_teardown(random_texts, script_reset, script_check),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
