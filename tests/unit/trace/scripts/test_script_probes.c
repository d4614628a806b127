/* Scripts: probes of functions and events, tables, limits, and their ends. */
#include "unit.h"
#include <trace/recursion.h>
#include "allocations.h"
#include "fake/fake.h"
#include "script_help.h"

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

/* ---- Probes ---- */

static void calls(void)
{
	static const uint64_t args[6] = { 11, 12, 13, 14, 15, 16 };

	fake_args = args;
	for (int i = 0; i < 3; i++) {
		fake_enter(DO_WORK, PARENT);
		fake_clock += 1000;
		fake_leave((uint64_t)i - 1);
	}
	fake_call(KFREE, PARENT);
}

static void functions(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("kprobe:do_work { @ = count(); @a = sum(arg0 + arg5); @n = args.nr }",
			   calls),
		"@: 3\n@a: 81\n@n: 12\n");
	assert_string_equal(
		script_run("k:* { @[func] = count(); @p[probe] = count(); }", calls),
		"@[kfree]: 1\n@[do_work]: 3\n@p[kprobe:kfree]: 1\n@p[kprobe:do_work]: 3\n");
	assert_string_equal(
		script_run("kretprobe:do_work /retval >= 0/ { @[retval] = count(); }", calls),
		"@[0]: 1\n@[1]: 1\n");
	assert_int_equal(script_stats.runs, 2);
	assert_string_equal(
		script_run("kprobe:do_work { @s[tid] = nsecs; } kretprobe:do_work /@s[tid]/ "
			   "{ @t = stats(nsecs - @s[tid]); delete(@s[tid]); }",
			   calls),
		"\n@t: count 3, average 1000, total 3000\n\n");
	assert_string_equal(script_run("kretprobe:do_work { @l = min(retval); @m = max(retval); @a "
				       "= avg(retval + 2); }",
				       calls),
			    "@a: 2\n\n@l: -1\n@m: 1\n");
	/* Two probes of a clause, and two clauses of a function. */
	assert_string_equal(
		script_run("kprobe:do_work, kprobe:kfree { @a++ } kprobe:kfree { @b++ }", calls),
		"@a: 4\n@b: 1\n");
}

/* A call by process 70, two by process 71, one by thread 1 of the kernel. */
static void calls_of_processes(void)
{
	struct trace_plat_user user = { .tgid = 70 };

	fake_user = &user;
	fake_call(DO_WORK, PARENT);
	user.tgid = 71;
	fake_call(DO_WORK, PARENT);
	fake_call(DO_WORK, PARENT);
	fake_user = NULL;
	fake_call(DO_WORK, PARENT);
}

static void expect_of_process(int32_t pid, const char *text, const char *want)
{
	struct trace_script_params params = { .pid = pid };
	struct trace_script *script;

	assert_int_equal(trace_script_create(text, &params, &script, &script_error), 0);
	script_text[0] = '\0';
	assert_int_equal(trace_script_start(script), 0);
	calls_of_processes();
	assert_string_equal(script_end(script), want);
}

static void hits_of_a_process(void **state)
{
	const char *text = "BEGIN { @begun++ } kprobe:do_work { @[pid] = count() } "
			   "kprobe:do_work /arg0 == arg0 && pid > 70/ { @more = count() } "
			   "END { @ended++ }";

	(void)state;
	expect_of_process(70, text, "@[70]: 1\n@begun: 1\n@ended: 1\n@more: 0\n");
	expect_of_process(71, text, "@[71]: 2\n@begun: 1\n@ended: 1\n@more: 2\n");
	expect_of_process(72, text, "\n@begun: 1\n@ended: 1\n@more: 0\n");
	expect_of_process(1, text, "@[1]: 1\n@begun: 1\n@ended: 1\n@more: 0\n");
	expect_of_process(0, text, "@[1]: 1\n@[70]: 1\n@[71]: 2\n@begun: 1\n@ended: 1\n@more: 2\n");
}

/* The fake program's user; threads of the kernel are root's. */
static void owners(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("kprobe:do_work { @[pid, uid, gid] = count() }", calls_of_processes),
		"@[1, 0, 0]: 1\n@[70, 1000, 1001]: 1\n@[71, 1000, 1001]: 2\n");
}

static void events_happen(void)
{
	for (int i = -2; i < 6; i++)
		trace_shelf_full(i);
	trace_shelf_empty(7);
	trace_shelf_label(9, "books");
	trace_shelf_label(9, "box"); /* its NUL is the event's last byte */
}

static void events(void **state)
{
	(void)state;
	assert_string_equal(script_run("tracepoint:shelf:shelf_full /args.shelf > 3/ { "
				       "@[args->shelf] = count(); }",
				       events_happen),
			    "@[4]: 1\n@[5]: 1\n");
	assert_string_equal(
		script_run("t:shelf:shelf_[ef]* { @[probe] = count(); @s = sum(args.shelf) }",
			   events_happen),
		"@[tracepoint:shelf:shelf_empty]: 1\n@[tracepoint:shelf:shelf_full]: 8\n@s: "
		"19\n");
	assert_string_equal(script_run("tracepoint:shelf:shelf_label { printf(\"%d %s\\n\", "
				       "args.shelf, args.label); }",
				       events_happen),
			    "9 books\n9 box\n");
}

/* A clause of several words of events is one for each: they have a field at places of their own. */
static void events_of_a_list(void **state)
{
	struct trace_script *script;

	(void)state;
	assert_string_equal(script_run("t:shelf:shelf_full, t:shelf:shelf_label, BEGIN, "
				       "tracepoint:shelf:shelf_empty { @[probe] = count() } END "
				       "{ @[probe] = count() }",
				       events_happen),
			    "@[END]: 1\n@[BEGIN]: 1\n@[tracepoint:shelf:shelf_empty]: "
			    "1\n@[tracepoint:shelf:shelf_label]: "
			    "2\n@[tracepoint:shelf:shelf_full]: 8\n");
	assert_string_equal(
		script_run("t:shelf:shelf_full, t:shelf:shelf_label /args.shelf > 3/ { $s = "
			   "args.shelf; @[probe] = sum($s) }",
			   events_happen),
		"@[tracepoint:shelf:shelf_full]: 9\n@[tracepoint:shelf:shelf_label]: 18\n");
	assert_int_equal(trace_script_create("t:shelf:shelf_label, t:shelf:shelf_full { @ = "
					     "args.label }",
					     NULL, &script, &script_error),
			 -EINVAL);
	assert_string_equal(script_error.why, "t:shelf:shelf_full has no field 'label'");
}

static void histograms(void **state)
{
	(void)state;
	assert_string_equal(
		script_run("tracepoint:shelf:shelf_full { @ = hist(args.shelf); }", events_happen),
		"@: \n"
		"(..., 0)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"[0]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
		"[1]                    1 |@@@@@@@@@@@@@@@@@@@@@@@@@@                          |\n"
		"[2, 4)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"[4, 8)                 2 "
		"|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n");
	assert_string_equal(
		script_run("tracepoint:shelf:shelf_full { @[comm] = lhist(args.shelf, 0, 4, 2); }",
			   events_happen),
		"@[init]: \n"
		"(..., 0)               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"[0, 2)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"[2, 4)                 2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
		"[4, ...)               2 "
		"|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n\n");
	script_run("BEGIN { @ = hist((uint64)1 << 63); @ = hist(1024); }", NULL);
	assert_non_null(strstr(script_text, "\n[1K, 2K)               1 |@@"));
	assert_non_null(strstr(script_text, "\n[8E, 16E)              1 |@@"));
}

static void memory(void **state)
{
	static struct file file = { .name = "a name",
				    .path = { "/a/path", 7 },
				    .mode = 5,
				    .level = -4,
				    .kind = -3,
				    .pos = 1ll << 40 };
	static struct file second = { .next = &file, .is_open = 200 };
	uint64_t args[6] = { (uintptr_t)&second };
	struct trace_script *script =
		script_begin("kprobe:do_work { $f = (struct file *)arg0; "
			     "printf(\"<%s|%s|%s>\\n\", str($f->next->path.text, 3), "
			     "str($f->next->path.text, 7), str($f->next->path.text, 8)); "
			     "printf(\"%d %d %d %d %d %s %s %d\\n\", $f->is_open, $f->next->mode, "
			     "$f->next->level, "
			     "$f->next->kind, $f->next->path.len, str($f->next->path.text), "
			     "$f->next->name, args.file->next->pos) }");

	(void)state;
	fake_args = args;
	fake_call(DO_WORK, PARENT);
	assert_string_equal(script_end(script),
			    "</a/|/a/path|/a/path>\n200 5 -4 -3 7 /a/path a name 1099511627776\n");
}

static void intervals(void **state)
{
	struct trace_script *script =
		script_begin("interval:ms:10 { @n++; if (@n == 3) { printf(\"done\\n\"); exit() } "
			     "} i:s:1 { @s++ }");
	char buf[16384];
	struct trace_seq seq;

	(void)state;
	for (int i = 0; i < 3; i++) {
		trace_seq_init(&seq, buf, sizeof(buf));
		assert_true(trace_script_read(script, &seq));
		fake_clock += 10000000;
	}
	trace_seq_init(&seq, buf, sizeof(buf));
	assert_false(trace_script_read(script, &seq));
	fake_clock += 2000000000;
	assert_string_equal(script_end(script), "@n: 3\n\n");
}

/* ---- Limits ---- */

static void table_full(void **state)
{
	const char *text;

	(void)state;
	text = script_run("BEGIN { $i = 0; unroll(5) { $j = 0; while ($j < 1000) { @[$i * 1000 + "
			  "$j] = 1; $j++; } $i++; } }",
			  NULL);
	assert_int_equal(script_stats.full, 5000 - 4096);
	assert_non_null(strstr(text, "@[4095]: 1\n"));
	assert_null(strstr(text, "@[4096]"));
	/* Large values leave room for fewer keys: 4 MiB of 8 bytes, a key, and 1002 counts. */
	script_run("BEGIN { $i = 0; while ($i < 1000) { @[$i] = lhist($i, 0, 1000, 1); $i++; } }",
		   NULL);
	assert_int_equal(script_stats.full, 1000 - (4 << 20) / (8 * 1004));
	/* A deleted key makes room. */
	script_run("BEGIN { $i = 0; unroll(9) { $j = 0; while ($j < 1000) { @[$i * 1000 + $j] = 1; "
		   "delete(@[$i * 1000 + $j]); $j++; } $i++; } }",
		   NULL);
	assert_int_equal(script_stats.full, 0);
}

static void output_full(void **state)
{
	const char *text = script_run("BEGIN { $i = 0; unroll(9) { $j = 0; while ($j < 1000) { "
				      "printf(\"%d\\n\", $i); $j++; $i++; } } }",
				      NULL);
	uint64_t nr = 0;

	(void)state;
	for (; *text; text++)
		nr += *text == '\n';
	assert_int_equal(nr, 65536 / 16);
	assert_int_equal(nr + script_stats.lost, 9000);
}

/* Hits in the middle of another one are counted. */
static struct trace_script *nested;

static void nested_irq(void)
{
	static bool is_in;

	if (is_in)
		return;
	is_in = true;
	trace_shelf_full(1);
	is_in = false;
}

static void nested_hits(void **state)
{
	(void)state;
	nested = script_begin(
		"tracepoint:shelf:shelf_empty { @ = nsecs } tracepoint:shelf:shelf_full { @f++ }");
	fake_clock_irq = nested_irq;
	trace_shelf_empty(1);
	fake_clock_irq = NULL;
	trace_shelf_full(1);
	script_end(nested);
	assert_non_null(strstr(script_text, "@f: 1\n"));
	assert_int_equal(script_stats.missed, 1);
	assert_int_equal(script_stats.runs, 2);
}

/* The guard of callbacks keeps probes from calling each other; the hit is counted. */
static void guarded_hits(void **state)
{
	struct trace_script *script =
		script_begin("kprobe:do_work { @++ } kretprobe:do_work { @r++ }");
	int bit;

	(void)state;
	bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);
	fake_call(DO_WORK, PARENT);
	trace_recursion_exit(bit);
	fake_call(DO_WORK, PARENT);
	assert_string_equal(script_end(script), "@: 1\n@r: 1\n");
	assert_int_equal(script_stats.missed, 2);
}

/* ---- Counts without a key ---- */

static void count_on_cpus(void)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		fake_bind(cpu);
		calls();
	}
	fake_bind(0);
}

static void counters(void **state)
{
	struct trace_script *script;
	char text[1024] = "kprobe:do_work {";

	(void)state;
	assert_string_equal(
		script_run("kprobe:do_work { @ = count(); } END { printf(\"%d\\n\", @) }",
			   count_on_cpus),
		"6\n@: 6\n");
	assert_string_equal(script_run("kprobe:kfree { @ = count(); }", NULL), "@: 0\n");
	/* More than there are counters. */
	for (char c = 'a'; c <= 'r'; c++)
		sprintf(text + strlen(text), " @%c = count();", c);
	strcat(text, "}");
	script_run(text, count_on_cpus);
	for (char c = 'a'; c <= 'r'; c++) {
		char line[] = "@a: 6\n";

		line[1] = c;
		assert_non_null(strstr(script_text, line));
	}
	/* They are always shown, also when they were cleared. */
	script = script_begin("k:do_work { @ = count(); } BEGIN { zero(@); } k:kfree { zero(@) }");
	count_on_cpus();
	script_gather(script);
	assert_string_equal(script_end(script), "@: 0\n");
	script = script_begin("k:do_work { @ = count(); } k:kfree { clear(@) }");
	count_on_cpus();
	script_gather(script);
	fake_call(DO_WORK, PARENT);
	assert_string_equal(script_end(script), "@: 1\n");
	script = script_begin("k:do_work { @ = count(); } k:kfree /cpu/ { delete(@) }");
	count_on_cpus();
	calls();
	assert_string_equal(script_end(script), "@: 3\n");
}

/* ---- Stacks as keys ---- */

static void stacks(void **state)
{
	static const char *const texts[] = {
		"k:do_work { @[kstack] = count(); @n[kstack]++; @n[kstack(1)]++ }",
		"k:do_work { $s = kstack; @[$s] = count(); @n[$s]++; delete(@n[$s]); @n[$s] = 2 }",
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const char *first = strchr(script_run(texts[i], count_on_cpus), ':');

		/* One stack, six times. */
		assert_non_null(first);
		assert_memory_equal(first, ": 6\n", 4);
		assert_null(strstr(first, "]: 1\n"));
	}
}

static void work_once(void)
{
	fake_call(DO_WORK, PARENT);
}

/* The frames are those that the host gives, each once: a function at its entry, too, is behind its caller's. */
static void stack_of_entry(void **state)
{
	(void)state;
	fake_stack_nr = 4; /* the first: of tracing */
	fake_stack[1] = trace_plat_ip_pack(fake_func(DO_WORK) + 5);
	fake_stack[2] = trace_plat_ip_pack(fake_func(KFREE) + 8);
	fake_stack[3] = trace_plat_ip_pack(fake_func(YIELD) + 9);
	assert_string_equal(script_run("k:do_work { @[kstack] = count(); }", work_once),
			    "@[\n    do_work+5\n    kfree+8\n    yield+9\n]: 1\n");
	fake_stack_nr = 0;
}

/* ---- Failures ---- */

static struct trace_script *made;

static int make_and_start(const char *text)
{
	int err = trace_script_create(text, NULL, &made, &script_error);

	if (!err)
		err = trace_script_start(made);
	if (err)
		trace_script_free(made);
	return err;
}

static void without_memory(void **state)
{
	static const char text[] =
		"kprobe:do_work /tid/ { @[comm] = count(); printf(\"%d\\n\", tid); } "
		"kretprobe:do_work { @r = count(); } "
		"tracepoint:shelf:* { $i = 0; while ($i < 3) { $i++; @h = hist($i); } }";
	long nr, out = fake_alloc_out;

	(void)state;
	/* The events of the instance are made once, and stay. */
	trace_script_free(script_begin(text));
	for_each_allocation(nr, make_and_start(text)) {
		assert_int_equal(fake_alloc_out, out);
	}
	assert_in_range(nr, 20, 200);
	assert_int_equal(trace_script_start(made), -EBUSY);
	trace_script_free(made);
	assert_int_equal(fake_alloc_out, out);
}

/* Memory of a script is taken in pieces: any of its trees and types may be the first that finds none. */
static void without_memory_for_a_type(void **state)
{
	static char text[2048];
	long nr, nr_all = 0;

	(void)state;
	for (size_t pad = 0; pad < 30; pad++) {
		char *at = stpcpy(text, "BEGIN { @m[1, 2] = 1;");

		for (size_t i = 0; i < pad; i++)
			at = stpcpy(at, "@ = 1;");
		for (size_t i = 0; i < 40; i++)
			at = stpcpy(at, "@m[1, 2] = 1;");
		stpcpy(at, "}");
		for_each_allocation(nr, trace_script_create(text, NULL, &made, &script_error)) {
			assert_null(made);
		}
		nr_all += nr;
		trace_script_free(made);
	}
	assert_in_range(nr_all, 200, 2000);
}

/* Sites may call a probe for ever when text was found damaged: its script stays. */
static void tracing_dies(void **state)
{
	struct trace_script *script = script_begin("kprobe:do_work { @ = count(); }");
	struct trace_script_stats stats;

	(void)state;
	ftrace_kill();
	trace_script_stop(script);
	trace_script_free(script);
	fake_call(DO_WORK, PARENT);
	trace_script_stats_get(script, &stats);
	assert_int_equal(trace_script_create("kprobe:do_work { @++ }", NULL, &made, &script_error),
			 0);
	assert_int_equal(trace_script_start(made), -ENODEV);
	trace_script_free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(functions, script_reset, script_check),
		cmocka_unit_test_setup_teardown(hits_of_a_process, script_reset, script_check),
		cmocka_unit_test_setup_teardown(owners, script_reset, script_check),
		cmocka_unit_test_setup_teardown(events, script_reset, NULL),
		cmocka_unit_test_setup_teardown(events_of_a_list, script_reset, NULL),
		cmocka_unit_test_setup_teardown(histograms, script_reset, NULL),
		cmocka_unit_test_setup_teardown(memory, script_reset, script_check),
		cmocka_unit_test_setup_teardown(intervals, script_reset, script_check),
		cmocka_unit_test_setup_teardown(table_full, script_reset, script_check),
		cmocka_unit_test_setup_teardown(output_full, script_reset, script_check),
		cmocka_unit_test_setup_teardown(nested_hits, script_reset, NULL),
		cmocka_unit_test_setup_teardown(guarded_hits, script_reset, script_check),
		cmocka_unit_test_setup_teardown(counters, script_reset, script_check),
		cmocka_unit_test_setup_teardown(stacks, script_reset, script_check),
		cmocka_unit_test_setup_teardown(stack_of_entry, script_reset, script_check),
		cmocka_unit_test_setup_teardown(without_memory, script_reset, NULL),
		cmocka_unit_test_setup_teardown(without_memory_for_a_type, script_reset,
						script_check),
		cmocka_unit_test_setup_teardown(tracing_dies, script_reset, NULL),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
