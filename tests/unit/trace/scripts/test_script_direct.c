/* Scripts: probes of programs, of tracepoints, of data and of timers, on the fake machine. */
#include "unit.h"
#include "allocations.h"
#include "fake/fake.h"
#include "script_help.h"
#include "programs.h"
#include <elf.h>
#include <trace/sample.h>
#include <trace/thread.h>

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"
#include "program_elf.h"

#define PID	 100
#define MS	 1000000u
#define CALLER	 0x400555ul
#define FUNCTION 0x1010u /* offset of main */

/* ---- Host ---- */

static uint32_t asked[2];

static const char *lacks(enum trace_sample_clock clock)
{
	(void)clock;
	return NULL;
}

static void set(uint32_t cpu, enum trace_sample_clock clock, uint32_t period_ns)
{
	if (clock == TRACE_SAMPLE_TIMER)
		asked[cpu] = period_ns;
}

static const struct trace_sample_host sample_host = { .lacks = lacks, .set = set };

static int setup(void **state)
{
	trace_sample_host_set(&sample_host);
	return script_setup(state);
}

static int reset(void **state)
{
	int err = script_reset(state);

	/* The first use of an event makes memory that stays. */
	assert_int_equal(echo("1", "profile/on"), 0);
	assert_int_equal(echo("0", "profile/on"), 0);
	memory_out = fake_alloc_out;
	fake_thread_add(PID, "prog");
	fake_programs_start();
	fake_run(PID);
	return err;
}

static int check(void **state)
{
	fake_run(PID);
	trace_thread_exited(PID, "prog");
	fake_thread_exit(PID);
	fake_run(1);
	assert_int_equal(fake_file_refs, 0);
	assert_int_equal(asked[0], 0);
	assert_int_equal(asked[1], 0);
	fake_uprobes = NULL;
	return script_check(state);
}

static void refused(const char *text, int want, const char *why)
{
	struct trace_script *script;
	long out = fake_alloc_out;
	int err = trace_script_create(text, NULL, &script, &script_error);

	if (err != want || strcmp(script_error.why, why))
		fail_msg("%s: %d %s", text, err, script_error.why);
	assert_int_equal(fake_alloc_out, out);
	assert_int_equal(fake_file_refs, 0);
}

/* ---- Programs ---- */

static void step(uint64_t offset, uint64_t arg)
{
	struct ftrace_regs regs = { .arg = { arg, arg + 1 } };

	assert_true(fake_program_step(offset, &regs));
}

static void programs_run(void)
{
	step(0x10, 5);
	step(0x10, 6);
	step(0x18, 7);
	step(FUNCTION, 8);
	step(FUNCTION + 4, 9);
}

static void calls_return(void)
{
	for (uint64_t i = 0; i < 3; i++) {
		fake_program_call(FUNCTION, 30, CALLER);
		assert_int_equal(fake_program_return(30, i - 1), CALLER);
	}
}

static void places(void **state)
{
	(void)state;
	assert_string_equal(script_run("uprobe:/bin/prog:0x10 { @ = count(); @a = sum(arg0 + "
				       "arg1); @p[probe, func, comm] = count(); }",
				       programs_run),
			    "@: 2\n@a: 24\n@p[uprobe:/bin/prog:0x10, 0x400010, prog]: 2\n");
	/* A predicate with a slash stands behind a path with some. */
	assert_string_equal(script_run("u:/bin/prog:0x10/arg0 == 6/ { @ = count(); } "
				       "u:/bin/prog:24, u:/bin/prog:0x10 { @b++ }",
				       programs_run),
			    "@: 1\n@b: 3\n");
	/* A program has no stack in the kernel that would be its own. */
	assert_string_equal(script_run("u:/bin/prog:24 { @[kstack] = count(); }", programs_run),
			    "@[\n]: 1\n");
	step(0x10, 1);
}

static void symbols(void **state)
{
	(void)state;
	program_elf_make();
	assert_string_equal(script_run("uprobe:/bin/prog:main { @a = sum(arg0); } "
				       "uprobe:/bin/prog:main+4 { @b = sum(arg0); }",
				       programs_run),
			    "@a: 8\n@b: 9\n");
	assert_string_equal(
		script_run("uretprobe:/bin/prog:main { @[retval] = count(); @f[func] = count(); }",
			   calls_return),
		"@[0]: 1\n@[1]: 1\n@[-1]: 1\n@f[0x401010]: 3\n");
	assert_string_equal(
		script_run("uprobe:/bin/prog:main { @s[tid] = nsecs; } ur:/bin/prog:main "
			   "/@s[tid]/ { @ = count(); delete(@s[tid]); }",
			   calls_return),
		"@: 3\n\n");
	/* A library is found by its name, whatever its number. */
	assert_string_equal(script_run("uprobe:libprog:main { @a = sum(arg0); }", programs_run),
			    "@a: 8\n");
	assert_string_equal(script_run("uprobe:/bin/prog:\"main\" /1/ { @a = sum(arg0); } "
				       "u:libprog:\"main+4\", u:libprog:\"0x10\" { @b = count(); }",
				       NULL),
			    "\n@b: 0\n");
	refused("uprobe:/bin/prog:\"a::b {, c\" { }", -ENOENT,
		"the file has no symbol 'a::b {, c'");
	refused("uprobe:/bin/prog:\"\" { }", -EINVAL,
		"a probe of a program is PATH:SYMBOL or PATH:OFFSET");
	refused("uprobe:/bin/prog:main\" { }", -EINVAL, "the script ends where '{' is expected");
	refused("uprobe:\"main\" { }", -EINVAL,
		"a probe of a program is PATH:SYMBOL or PATH:OFFSET");
	refused("uprobe:libnone:main { }", -ENOENT, "there is no file 'libnone'");
	refused("uprobe:/lib64/libprog:main { }", -ENOENT, "there is no file '/lib64/libprog'");
	refused("uprobe:/bin/prog:twice { }", -EINVAL, "the file has several symbols 'twice'");
	refused("uprobe:/bin/prog:none { }", -ENOENT, "the file has no symbol 'none'");
	refused("uprobe:/bin/prog:ma* { }", -EINVAL,
		"one symbol or offset stands here, no pattern");
	refused("uprobe:/bin/prog:main+x { }", -EINVAL, "no offset: 'x'");
}

static void no_places(void **state)
{
	(void)state;
	refused("uprobe:/bin/prog { }", -EINVAL,
		"a probe of a program is PATH:SYMBOL or PATH:OFFSET");
	refused("uprobe:/bin/none:main { }", -ENOENT, "there is no file '/bin/none'");
	refused("uprobe:p:1 { }", -ENOENT, "there is no file 'p'");
	refused("uprobe::1 { }", -EINVAL, "a probe of a program is PATH:SYMBOL or PATH:OFFSET");
	refused("uprobe:/bin/prog:main { }", -ENOEXEC, "this is no program, and has no 'main'");
	refused("uprobe:/bin/prog:0x10 { @ = retval; }", -EINVAL,
		"uprobe:/bin/prog:0x10 has no 'retval'");
	refused("uretprobe:/bin/prog:0x10 { @ = arg0; }", -EINVAL,
		"uretprobe:/bin/prog:0x10 has no 'arg0'");
	refused("uprobe:/bin/prog:0x10, kprobe:do_work { @ = func; }", -EINVAL,
		"kprobe:do_work has no 'func'");
	fake_program_file[0x10] = NO_PROBE;
	assert_int_equal(trace_script_create("uprobe:/bin/prog:0x10 { }", NULL,
					     &(struct trace_script *){ NULL }, &script_error),
			 -EOPNOTSUPP);
	fake_uprobes = NULL;
	refused("uprobe:/bin/prog:0x10 { }", -ENODEV,
		"this machine has no programs, so no '/bin/prog'");
}

/* ---- Tracepoints ---- */

static void events_happen(void)
{
	for (int i = -2; i < 6; i++)
		trace_shelf_full(i);
	trace_shelf_empty(7);
}

static void tracepoints(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("rawtracepoint:shelf_full { @ = sum((int32)arg0); }", events_happen),
		"@: 12\n");
	assert_string_equal(
		script_run("rt:shelf_full, rt:shelf_em* { @[probe] = count(); }", events_happen),
		"@[rawtracepoint:shelf_empty]: 1\n@[rawtracepoint:shelf_full]: 8\n");
	trace_shelf_full(1);
	refused("rawtracepoint:none* { }", -ENOENT, "no tracepoint matches 'none*'");
	refused("rt:shelf_full { @ = arg5; }", -EINVAL, "rt:shelf_full has no 'arg5'");
	refused("rt:shelf_full, kprobe:do_work { @ = arg0; }", -EINVAL,
		"kprobe:do_work has no 'arg0'");
}

/* ---- Data ---- */

static uint64_t words[2];

static void touch(void)
{
	for (uint64_t i = 0; i < 3; i++)
		fake_write(&words[0], &i, sizeof(i));
	fake_read(&words[0], 8);
	fake_write(&words[1], &words[0], sizeof(words[0]));
}

static void data(void **state)
{
	char text[128];

	(void)state;
	snprintf(text, sizeof(text), "watchpoint:%#lx:8:w { @ = count(); }", (uintptr_t)words);
	assert_string_equal(script_run(text, touch), "@: 3\n");
	snprintf(text, sizeof(text), "w:%#lx:8:rw { @[probe] = count(); }", (uintptr_t)words);
	script_run(text, touch);
	assert_non_null(strstr(script_text, ":8:rw]: 4\n"));
	touch();
	refused("watchpoint:0:8:w { }", -EINVAL,
		"a watchpoint is ADDRESS:LENGTH:w or ADDRESS:LENGTH:rw");
	refused("watchpoint:4096:3:w { }", -EINVAL, "the length of a watchpoint is 1, 2, 4 or 8");
	refused("watchpoint:4096:16:w { }", -EINVAL, "the length of a watchpoint is 1, 2, 4 or 8");
	refused("watchpoint:4096:8:x { }", -EINVAL, "a watchpoint is hit by w or rw, not by 'x'");
	refused("watchpoint:4096 { }", -EINVAL, "the length of a watchpoint is 1, 2, 4 or 8");
}

/* ---- Timers ---- */

static void tick(uint32_t cpu, uint32_t period_ns, uint32_t periods, enum trace_sample_clock clock)
{
	const struct trace_sample_hit hit = { .ip = FAKE_TEXT,
					      .now_ns = fake_clock,
					      .period_ns = period_ns,
					      .periods = periods,
					      .clock = clock };

	fake_bind(cpu);
	trace_sample(&hit);
	fake_bind(0);
}

static void timers(void **state)
{
	struct trace_script *script = script_begin("profile:hz:500 { @a[cpu] = count(); } "
						   "profile:ms:5 { @b = count(); }");

	(void)state;
	/* The shorter one is asked for. */
	assert_int_equal(asked[0], 2 * MS);
	assert_int_equal(asked[1], 2 * MS);
	for (int i = 0; i < 10; i++)
		tick(0, 2 * MS, 1, TRACE_SAMPLE_TIMER);
	tick(1, 2 * MS, 4, TRACE_SAMPLE_TIMER); /* three were missed: one call */
	tick(1, 2 * MS, 1, TRACE_SAMPLE_NMI);
	script_end(script);
	assert_string_equal(script_text, "@a[1]: 1\n@a[0]: 10\n@b: 5\n");
	tick(0, 2 * MS, 1, TRACE_SAMPLE_TIMER);
	/* A long period is counted in shorter ones. */
	script = script_begin("profile:s:3 { @ = count(); }");
	assert_int_equal(asked[0], 1000 * MS);
	for (int i = 0; i < 7; i++)
		tick(0, 1000 * MS, 1, TRACE_SAMPLE_TIMER);
	assert_string_equal(script_end(script), "@: 2\n");
	refused("profile:hz:100001 { }", -EINVAL, "a profile has at most 100000 hits a second");
	refused("profile:hz:0 { }", -EINVAL, "a period is UNIT:NUMBER, as in s:5 or hz:99");
	refused("profile:days:1 { }", -EINVAL, "the unit is s, ms, us or hz");
}

/* With the instances' own sampling, which has its own period. */
static void timers_and_samples(void **state)
{
	struct trace_script *script;

	(void)state;
	assert_int_equal(echo("1000", "profile/frequency"), 0);
	assert_int_equal(echo("1", "profile/on"), 0);
	script = script_begin("profile:ms:2 { @ = count(); }");
	assert_int_equal(asked[0], MS);
	for (int i = 0; i < 6; i++)
		tick(0, MS, 1, TRACE_SAMPLE_TIMER);
	assert_int_equal(echo("0", "profile/on"), 0);
	assert_int_equal(asked[0], 2 * MS);
	assert_string_equal(script_end(script), "@: 3\n");
}

/* ---- Names ---- */

/* All names, with room for about one at a time. */
static const char *list(const char *pattern)
{
	static char text[4096];
	char buf[48];
	struct trace_seq seq;
	bool has_more = true;
	size_t at = 0;

	text[0] = '\0';
	while (has_more) {
		trace_seq_init(&seq, buf, sizeof(buf));
		has_more = trace_script_list(pattern, &at, &seq);
		strncat(text, buf, seq.len);
	}
	return text;
}

static void names(void **state)
{
	(void)state;
	program_elf_make();
	assert_string_equal(list("uprobe:/bin/prog:*"),
			    "uprobe:/bin/prog:main\nuprobe:/bin/prog:main\nuprobe:/bin/prog:twice\n"
			    "uprobe:/bin/prog:twice\nuprobe:/bin/prog:far\n");
	assert_string_equal(list("uretprobe:/bin/prog:m*n"),
			    "uretprobe:/bin/prog:main\nuretprobe:/bin/prog:main\n");
	assert_string_equal(list("uprobe:/bin/none:*"), "");
	assert_non_null(strstr(list("rawtracepoint:shelf_*"), "rawtracepoint:shelf_full\n"));
	assert_null(strstr(list("rawtracepoint:shelf_*"), "tracepoint:shelf:"));
	assert_string_equal(list("*shelf_empty"), "tracepoint:shelf:shelf_empty\n"
						  "rawtracepoint:shelf_empty\n");
}

/* ---- No memory ---- */

static void without_memory(void **state)
{
	static const char text[] = "uprobe:/bin/prog:0x10, uretprobe:/bin/prog:0x18, rt:shelf_*, "
				   "profile:hz:99 { @ = count(); }";
	struct trace_script *script;
	long nr, out = fake_alloc_out;

	(void)state;
	trace_script_free(script_begin(text));
	for_each_allocation(nr, trace_script_create(text, NULL, &script, &script_error)) {
		assert_null(script);
		assert_int_equal(fake_alloc_out, out);
		assert_int_equal(fake_file_refs, 0);
	}
	assert_in_range(nr, 5, 100);
	for_each_allocation(nr, trace_script_start(script)) {
		trace_script_free(script);
		assert_int_equal(fake_alloc_out, out);
		assert_int_equal(asked[0], 0);
		script = script_make(text);
	}
	assert_in_range(nr, 2, 100);
	trace_script_free(script);
	assert_int_equal(fake_alloc_out, out);
}

static void hit_while_copied(void)
{
	fake_clock += 1000;
	fake_call(DO_WORK, PARENT);
}

/* A copy of a table takes memory for the keys that are there; one that grows meanwhile is copied again. */
static void copies_of_tables(void **state)
{
	struct trace_script *script =
		script_begin("BEGIN { @[1] = sum(1); @[2] = sum(2); @h[3] = lhist(5, 0, 1000, 1); "
			     "print(@); print(@h); } kprobe:do_work { @[nsecs] = sum(3); }");
	const char *text;

	(void)state;
	fake_alloc_max_bytes = 262144; /* all of @, not all of @h */
	fake_on_alloc = hit_while_copied;
	script_gather(script);
	fake_on_alloc = NULL;
	fake_alloc_max_bytes = 0;
	assert_null(strstr(script_text, "memory"));
	assert_non_null(strstr(script_text, "@[1]: 1\n@[2]: 2\n@["));
	assert_non_null(strstr(script_text, "@h[3]: \n[5, 6) "));
	text = script_end(script);
	assert_non_null(strstr(text, "]: 3\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places, reset, check),
		cmocka_unit_test_setup_teardown(symbols, reset, check),
		cmocka_unit_test_setup_teardown(no_places, reset, check),
		cmocka_unit_test_setup_teardown(tracepoints, reset, check),
		cmocka_unit_test_setup_teardown(data, reset, check),
		cmocka_unit_test_setup_teardown(timers, reset, check),
		cmocka_unit_test_setup_teardown(timers_and_samples, reset, check),
		cmocka_unit_test_setup_teardown(names, reset, check),
		cmocka_unit_test_setup_teardown(without_memory, reset, check),
		cmocka_unit_test_setup_teardown(copies_of_tables, script_reset, script_check),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
