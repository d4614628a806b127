/*
 * The text of `trace` and trace_pipe, byte for byte. The expected texts were printed by Linux 6.1
 * for the same events; times and names are the test's.
 */
#include "unit.h"
#include "tracefs.h"
#include <trace/event.h>
#include <trace/ring_buffer.h>
#include "instance/entry.h"

#define COLUMNS                                                                                    \
	"#                                _-----=> irqs-off/BH-disabled\n"                         \
	"#                               / _----=> need-resched\n"                                 \
	"#                              | / _---=> hardirq/softirq\n"                              \
	"#                              || / _--=> preempt-depth\n"                                \
	"#                              ||| / _-=> migrate-disable\n"                              \
	"#                              |||| /     delay\n"                                        \
	"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"                              \
	"#              | |         |   |||||     |         |\n"
#define COUNTS(tracer, counts)                                                                     \
	"# tracer: " tracer "\n#\n# entries-in-buffer/entries-written: " counts "   #P:2\n#\n"

static void trace_is(const char *want)
{
	assert_string_equal(cat("trace"), want);
}

static void body_is(const char *want)
{
	assert_string_equal(cat_body("trace"), want);
}

static void start_function(void)
{
	assert_int_equal(echo("function", "current_tracer"), 0);
	fake_thread_add(1, "init");
	fake_thread_add(15, "rcu_preempt");
	fake_thread_add(120, "fifteen-chars-x");
}

static void empty(void **state)
{
	(void)state;
	trace_is(COUNTS("nop", "0/0") COLUMNS);
	assert_int_equal(echo("0", "options/irq-info"), 0);
	trace_is(COUNTS("nop", "0/0") "#           TASK-PID     CPU#     TIMESTAMP  FUNCTION\n"
				      "#              | |         |         |         |\n");
	assert_int_equal(echo("1", "options/irq-info"), 0);
	assert_int_equal(echo("1", "options/latency-format"), 0);
	trace_is("# tracer: nop\n#\n");
	assert_int_equal(echo("0", "options/latency-format"), 0);
}

static void function_lines(void **state)
{
	(void)state;
	start_function();
	call(0, 1, SCHEDULE);
	call(1, 15, KFREE);
	call(0, 120, DO_WORK);
	call(1, 0, SCHEDULE);
	call(0, 4711, KFREE);
	for (cat_chunk = 1; cat_chunk < 5000; cat_chunk *= 7)
		trace_is(COUNTS("function", "5/5") COLUMNS
			 "            init-1       [000] .....    12.345680: schedule <-yield\n"
			 "     rcu_preempt-15      [001] .....    12.345681: kfree <-yield\n"
			 " fifteen-chars-x-120     [000] .....    12.345682: do_work <-yield\n"
			 "          <idle>-0       [001] .....    12.345683: schedule <-yield\n"
			 "           <...>-4711    [000] .....    12.345684: kfree <-yield\n");
	assert_string_equal(
		cat_body("per_cpu/cpu1/trace"),
		"     rcu_preempt-15      [001] .....    12.345681: kfree <-yield\n"
		"          <idle>-0       [001] .....    12.345683: schedule <-yield\n");
}

/* The five columns of state. */
static void state_is(const char *want)
{
	char line[80];

	call(0, 1, KFREE);
	fake_cpus[0].preempt_count = 0;
	fake_cpus[0].irqs_off = fake_cpus[0].need_resched = false;
	snprintf(line, sizeof(line),
		 "            init-1       [000] %s    12.345680: kfree <-yield\n", want);
	body_is(line);
	assert_int_equal(echo("", "trace"), 0);
	fake_clock -= 1000;
}

static void state_columns(void **state)
{
	struct fake_cpu *cpu = &fake_cpus[0];

	(void)state;
	start_function();
	state_is(".....");
	cpu->irqs_off = true;
	state_is("d....");
	cpu->need_resched = true;
	state_is(".N...");
	cpu->preempt_count = 0x3;
	state_is("...3.");
	cpu->preempt_count = 0x2b;
	state_is("...f.");
	cpu->preempt_count = 0x200;
	state_is("b....");
	cpu->irqs_off = true;
	cpu->preempt_count = 0x200;
	state_is("D....");
	cpu->preempt_count = 0x100;
	state_is("..s..");
	cpu->preempt_count = 0x10000;
	state_is("..h..");
	cpu->preempt_count = 0x10100;
	state_is("..H..");
	cpu->preempt_count = 0x100000;
	state_is("..z..");
	cpu->preempt_count = 0x110001;
	cpu->irqs_off = true;
	state_is("d.Z1.");
}

/* A thread's lines begin alike until its CPU, its state or what is shown of it is another one. */
static void lines_that_begin_alike(void **state)
{
	(void)state;
	start_function();
	fake_thread_add(17, "shares its place"); /* with 1 */
	call(0, 1, KFREE);
	call(0, 1, KFREE);
	call(1, 1, KFREE);
	call(1, 17, KFREE);
	call(1, 1, KFREE);
	fake_cpus[1].irqs_off = true;
	call(1, 1, KFREE);
	fake_cpus[1].irqs_off = false;
	call(0, 1, KFREE);
	body_is("            init-1       [000] .....    12.345680: kfree <-yield\n"
		"            init-1       [000] .....    12.345681: kfree <-yield\n"
		"            init-1       [001] .....    12.345682: kfree <-yield\n"
		" shares its plac-17      [001] .....    12.345683: kfree <-yield\n"
		"            init-1       [001] .....    12.345684: kfree <-yield\n"
		"            init-1       [001] d....    12.345685: kfree <-yield\n"
		"            init-1       [000] .....    12.345686: kfree <-yield\n");
}

static void with_option(const char *option, const char *want)
{
	char path[64];

	snprintf(path, sizeof(path), "options/%s", option);
	int was = atoi(cat(path));
	assert_int_equal(echo(was ? "0" : "1", path), 0);
	body_is(want);
	assert_int_equal(echo(was ? "1" : "0", path), 0);
}

static void function_options(void **state)
{
	struct trace_handle *handle;
	uint64_t pos = 0;
	char got[64];

	(void)state;
	start_function();
	call(0, 1, SCHEDULE);
	with_option("print-parent",
		    "            init-1       [000] .....    12.345680: schedule\n");
	with_option("sym-offset", "            init-1       [000] .....    12.345680: "
				  "schedule+0x0/0x10 <-yield+0x4/0x10\n");
	with_option("sym-addr", "            init-1       [000] .....    12.345680: schedule "
				"<ffffffff81000000> <-yield <ffffffff81000014>\n");
	with_option("irq-info", "            init-1       [000]     12.345680: schedule <-yield\n");
	with_option("context-info", "schedule <-yield\n");
	with_option("raw", "1 0 12345679900 ffffffff81000000 ffffffff81000014\n");
	with_option("hex", "00000001 00000000 00000002dfdc201c ffffffff81000000 "
			   "ffffffff81000014 \n");
	assert_int_equal(echo("1", "options/verbose"), 0);
	trace_is("# tracer: function\n#\n"
		 "            init-1       [000] .....    12.345680: schedule <-yield\n");
	assert_int_equal(echo("0", "options/verbose"), 0);
	assert_int_equal(echo("1", "options/bin"), 0);
	assert_int_equal(echo("0", "options/context-info"), 0);
	handle = open_file("trace", TRACE_FS_READ);
	assert_int_equal(trace_fs_read(handle, got, sizeof(got), &pos), 21 + 16);
	assert_memory_equal(got + 21, "\0\0\0\x81\xff\xff\xff\xff\x14\0\0\x81\xff\xff\xff\xff", 16);
	trace_fs_close(handle);
	assert_int_equal(echo("1", "options/context-info"), 0);
	assert_int_equal(echo("0", "options/bin"), 0);
}

#define LATENCY_HEAD(counts)                                                                       \
	"# tracer: function\n#\n"                                                                  \
	"# function latency trace v1.1.5 on fake\n"                                                \
	"# --------------------------------------------------------------------\n"                 \
	"# latency: 0 us, " counts ", CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n"            \
	"#    -----------------\n"                                                                 \
	"#    | task: -0 (uid:0 nice:0 policy:0 rt_prio:0)\n"                                      \
	"#    -----------------\n"                                                                 \
	"#\n"

static void latency_format(void **state)
{
	(void)state;
	start_function();
	call(0, 1, SCHEDULE);
	fake_clock += 2895000;
	call(1, 15, KFREE);
	fake_clock += 342000;
	call(0, 120, KFREE);
	fake_clock += 20000;
	call(0, 120, KFREE);
	assert_int_equal(echo("1", "options/latency-format"), 0);
	trace_is(LATENCY_HEAD("#4/4") "#                    _------=> CPU#            \n"
				      "#                   / _-----=> irqs-off/BH-disabled\n"
				      "#                  | / _----=> need-resched    \n"
				      "#                  || / _---=> hardirq/softirq \n"
				      "#                  ||| / _--=> preempt-depth   \n"
				      "#                  |||| / _-=> migrate-disable \n"
				      "#                  ||||| /     delay           \n"
				      "#  cmd     pid     |||||| time  |   caller     \n"
				      "#     \\   /        ||||||  \\    |    /       \n"
				      "    init-1         0.....    1us#: schedule <-yield\n"
				      "rcu_pree-15        1..... 2897us!: kfree <-yield\n"
				      "fifteen--120       0..... 3240us+: kfree <-yield\n"
				      "fifteen--120       0..... 3261us : kfree <-yield\n");
	assert_int_equal(echo("1", "options/verbose"), 0);
	trace_is(LATENCY_HEAD("#4/4") "            init       1   0 0 00000000 00000000 [00bc6150] "
				      "0.001ms (+2.896ms): "
				      "schedule <-yield\n"
				      "     rcu_preempt      15   1 0 00000000 00000001 [00bc6ca0] "
				      "2.897ms (+0.343ms): "
				      "kfree <-yield\n"
				      " fifteen-chars-x     120   0 0 00000000 00000002 [00bc6df7] "
				      "3.240ms (+0.021ms): "
				      "kfree <-yield\n"
				      " fifteen-chars-x     120   0 0 00000000 00000003 [00bc6e0c] "
				      "3.261ms (+0.000ms): "
				      "kfree <-yield\n");
	assert_int_equal(echo("0", "options/verbose"), 0);
	assert_int_equal(echo("0", "options/latency-format"), 0);
}

static void other_clocks(void **state)
{
	(void)state;
	start_function();
	assert_int_equal(echo("counter", "trace_clock"), 0);
	assert_int_equal(echo("", "trace"), 0);
	call(0, 1, KFREE);
	assert_non_null(strstr(cat_body("trace"), "[000] .....            "));
	assert_null(strstr(cat_body("trace"), "."
					      "345"));
	assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "\nnow ts: "));
	assert_null(strstr(cat("per_cpu/cpu0/stats"), "."));
	assert_int_equal(echo("uptime", "trace_clock"), 0);
	fake_ticks = 777;
	call(0, 1, KFREE);
	body_is("            init-1       [000] .....          777: kfree <-yield\n");
	assert_int_equal(echo(TRACE_CYCLES_CLOCK, "trace_clock"), 0);
	assert_int_equal(echo("", "trace"), 0);
	fake_clock = 2000000;
	call(0, 1, KFREE); /* three cycles a nanosecond */
	body_is("            init-1       [000] .....      6003000: kfree <-yield\n");
}

/* Seconds and microseconds, rounded, at the edges of both. */
static void times(void **state)
{
	static const struct {
		uint64_t ns;
		const char *want;
	} cases[] = {
		{ 1000000, "    0.001000" },	    { 999999499, "    0.999999" },
		{ 999999500, "    1.000000" },	    { 1999999000, "    1.999999" },
		{ 99999000001000, "99999.000001" }, { 1234567999999000, "1234567.999999" },
	};
	char line[100];

	(void)state;
	start_function();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(echo("", "trace"), 0);
		fake_clock = cases[i].ns - 1000;
		call(0, 1, KFREE);
		snprintf(line, sizeof(line),
			 "            init-1       [000] ..... %s: kfree <-yield\n", cases[i].want);
		body_is(line);
	}
}

/* The address that the marker writes has no symbol on the build host: give it one. */
static void name_marker(void)
{
	static bool named;
	unsigned long ip;

	if (named)
		return;
	assert_int_equal(echo("x", "trace_marker"), 0);
	assert_int_equal(echo("1", "options/raw"), 0);
	assert_int_equal(sscanf(strstr(cat_body("trace"), "# "), "# %lx x", &ip), 1);
	assert_int_equal(echo("0", "options/raw"), 0);
	fake_symbol_add(ip, 16, "tracing_mark_write");
	assert_int_equal(echo("", "trace"), 0);
	named = true;
}

static void call_everywhere(void)
{
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		call(cpu, 1, KFREE);
}

/* As a clock of nanoseconds shows them: its microseconds have no sign. */
static bool has_negative_times(const char *path)
{
	const char *body = cat_body(path);

	assert_non_null(strstr(body, ": kfree <-"));
	return strstr(body, " 184467440");
}

static int nr_between;

/* Each CPU records as soon as it is emptied, also while the next one is waited for. */
static void call_between(void)
{
	fake_on_sync = NULL;
	call_everywhere();
	nr_between++;
	fake_on_sync = call_between;
}

/* The zero of the latency format comes before the first event that stays. */
static void no_time_before_zero(void **state)
{
	(void)state;
	assert_int_equal(echo("function", "current_tracer"), 0);
	assert_int_equal(echo("1", "options/latency-format"), 0);
	call_everywhere();
	fake_on_sync = call_between;
	assert_int_equal(echo("", "trace"), 0);
	fake_on_sync = NULL;
	assert_true(nr_between >= 2);
	call_everywhere();
	assert_false(has_negative_times("trace"));
	/* One CPU alone: the other keeps its events. */
	fake_clock += 1000000;
	assert_int_equal(echo("", "per_cpu/cpu1/trace"), 0);
	assert_false(has_negative_times("trace"));
	/* A snapshot has its own zero, wherever it goes. */
	assert_int_equal(echo("1", "snapshot"), 0);
	fake_clock += 1000000;
	assert_int_equal(echo("", "trace"), 0);
	call_everywhere();
	assert_false(has_negative_times("snapshot"));
	assert_int_equal(echo("1", "per_cpu/cpu0/snapshot"), 0);
	assert_false(has_negative_times("snapshot"));
	assert_false(has_negative_times("trace"));
	assert_int_equal(echo("1", "snapshot"), 0);
	assert_int_equal(echo("2", "snapshot"), 0);
	assert_int_equal(echo("1", "snapshot"), 0);
	call_everywhere();
	assert_false(has_negative_times("snapshot"));
	assert_false(has_negative_times("trace"));
	assert_int_equal(echo("0", "snapshot"), 0);
	assert_int_equal(echo("0", "options/latency-format"), 0);
}

static void markers(void **state)
{
	static char text[6001];
	size_t lines = 0, at = 0;

	(void)state;
	name_marker();
	fake_thread_add(1, "init");
	fake_cpus[0].pid = 1;
	assert_int_equal(echo("hello", "trace_marker"), 0);
	assert_int_equal(put("nonl", 4, "trace_marker", TRACE_FS_TRUNC), 0);
	assert_int_equal(echo("", "trace_marker"), 0);
	assert_int_equal(put("a\nb", 3, "trace_marker", TRACE_FS_TRUNC), 0);
	body_is("            init-1       [000] .....    12.345679: tracing_mark_write: hello\n"
		"            init-1       [000] .....    12.345679: tracing_mark_write: nonl\n"
		"            init-1       [000] .....    12.345679: tracing_mark_write: \n"
		"            init-1       [000] .....    12.345679: tracing_mark_write: a\nb\n");
	with_option("printk-msg-only", "hello\nnonl\n\na\nb\n");
	/* A text longer than an event goes in parts. */
	assert_int_equal(echo("", "trace"), 0);
	memset(text, 'a', sizeof(text) - 1);
	assert_int_equal(put(text, 6000, "trace_marker", TRACE_FS_TRUNC), 0);
	for (const char *c = cat_body("trace"); *c; c++) {
		lines += *c == '\n';
		at += *c == 'a' && (c[1] == 'a' || c[-1] == 'a');
	}
	assert_int_equal(lines, 2);
	assert_int_equal(at, 6000);
}

static void markers_off(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "options/markers"), 0);
	assert_int_equal(echo("x", "trace_marker"), -EINVAL);
	assert_int_equal(put("1234", 4, "trace_marker_raw", 0), -EINVAL);
	assert_int_equal(echo("1", "options/markers"), 0);
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_int_equal(echo("x", "trace_marker"), -EBADF);
	assert_int_equal(put("1234", 4, "trace_marker_raw", 0), -EBADF);
	assert_int_equal(echo("1", "tracing_on"), 0);
	body_is("");
}

static void raw_markers(void **state)
{
	const size_t max = RING_MAX_PAYLOAD - 8;
	static char data[5000];

	(void)state;
	fake_cpus[0].pid = 1;
	fake_thread_add(1, "init");
	assert_int_equal(put("\1\2\3", 3, "trace_marker_raw", 0), -EINVAL);
	assert_int_equal(put(data, max + 1, "trace_marker_raw", 0), -EINVAL);
	assert_int_equal(put("\1\0\0\0\1\2\3\4", 8, "trace_marker_raw", 0), 0);
	assert_int_equal(put("\xff\0\0\0", 4, "trace_marker_raw", 0), 0);
	body_is("            init-1       [000] .....    12.345679: # 1 buf: 01 02 03 04\n"
		"            init-1       [000] .....    12.345679: # ff buf:\n");
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(put(data, max, "trace_marker_raw", 0), 0);
	assert_int_equal(strlen(cat_body("trace")), 51 + 8 + (max - 4) * 3 + 1);
}

static void printk(void **state)
{
	const char *volatile gone;
	char text[16] = "short-lived";
	char lots[700];

	(void)state;
	fake_symbol_add((uintptr_t)0xffffffff82000000, 16, "caller");
	fake_thread_add(1, "init");
	fake_cpus[0].pid = 1;
	gone = text;
	trace_bprintk(0xffffffff82000004, "n=%d s=%s p=%ps\n", 42, gone, (void *)fake_func(KFREE));
	memset(text, 'x', sizeof(text) - 1);
	trace_bputs(0xffffffff82000004, "literal\n");
	trace_puts_at(0xffffffff82000004, "copied");
	body_is("            init-1       [000] .....    12.345679: caller: n=42 s=short-lived "
		"p=kfree\n"
		"            init-1       [000] .....    12.345679: caller: literal\n"
		"            init-1       [000] .....    12.345679: caller: copied\n");
	with_option("printk-msg-only", "n=42 s=short-lived p=kfree\nliteral\ncopied\n");
	with_option("context-info", "caller: n=42 s=short-lived p=kfree\ncaller: literal\n"
				    "caller: copied\n");
	/* Arguments that do not fit on the stack. */
	assert_int_equal(echo("", "trace"), 0);
	memset(lots, 'y', sizeof(lots) - 1);
	lots[sizeof(lots) - 1] = '\0';
	trace_bprintk(0xffffffff82000004, "%s.%d\n", lots, 7);
	assert_int_equal(strlen(cat_body("trace")), 51 + 8 + 699 + 3);
	assert_non_null(strstr(cat_body("trace"), "yyy.7\n"));
	/* Off by its option; macros give the caller. */
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("0", "options/trace_printk"), 0);
	trace_printk("unseen %d\n", 1);
	body_is("");
	assert_int_equal(echo("1", "options/trace_printk"), 0);
	trace_printk("seen %d\n", 1);
	trace_printk("plain\n");
	with_option("printk-msg-only", "seen 1\nplain\n");
}

static char growing[800];

static void grow(void)
{
	memset(growing, 'y', sizeof(growing) - 1);
}

/* A string that grows while its event is made: the event goes, those around it stay. */
static void printk_that_grows(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "options/context-info"), 0);
	memset(growing, 'x', 400);
	growing[400] = '\0';
	trace_bprintk(fake_func(KFREE), "before %d\n", 1);
	fake_clock_irq = grow;
	trace_bprintk(fake_func(KFREE), "%s\n", growing);
	fake_clock_irq = NULL;
	assert_int_equal(strlen(growing), sizeof(growing) - 1);
	trace_bprintk(fake_func(KFREE), "behind %d\n", 2);
	body_is("kfree: before 1\nkfree: behind 2\n");
	assert_non_null(strstr(cat("per_cpu/cpu0/stats"), "entries: 2\n"));
	assert_int_equal(echo("1", "options/context-info"), 0);
}

/*
 * A call that never returns may be its function's last instruction: its return address is where the
 * next function begins, or padding. The caller is who made the call, and the callee is itself.
 */
static void callers_that_end_with_a_call(void **state)
{
	uintptr_t end_of_yield = fake_func(DO_WORK);

	(void)state;
	fake_symbol_add((uintptr_t)0xffffffff83000000, 13, "before_padding");
	start_function();
	fake_cpus[0].pid = 1;
	fake_call(DO_WORK, end_of_yield);
	fake_call(KFREE, 0xffffffff8300000d);
	body_is("            init-1       [000] .....    12.345679: do_work <-yield\n"
		"            init-1       [000] .....    12.345679: kfree <-before_padding\n");
	with_option("sym-offset", "            init-1       [000] .....    12.345679: "
				  "do_work+0x0/0x10 <-yield+0x10/0x10\n"
				  "            init-1       [000] .....    12.345679: "
				  "kfree+0x0/0x10 <-before_padding+0xd/0xd\n");
	assert_int_equal(echo("nop", "current_tracer"), 0);
	/* Stacks: all but the first are callers. */
	fake_stack[0] = trace_plat_ip_pack(fake_func(DO_WORK));
	fake_stack[1] = trace_plat_ip_pack(end_of_yield);
	fake_stack[2] = trace_plat_ip_pack(0xffffffff8300000d);
	fake_stack_nr = 3;
	trace_dump_stack(0);
	body_is("            init-1       [000] .....    12.345679: <stack trace>\n"
		" => do_work\n => yield\n => before_padding\n");
	with_option("sym-offset",
		    "            init-1       [000] .....    12.345679: <stack trace>\n"
		    " => do_work+0x0/0x10\n => yield+0x10/0x10\n"
		    " => before_padding+0xd/0xd\n");
	fake_stack_nr = 0;
}

/* Damage that the ring cannot see: an event has less than its type says. */
static void too_short(void **state)
{
	static const uint16_t types[] = { TRACE_TYPE_PRINT, TRACE_TYPE_BPRINT, TRACE_TYPE_BPUTS,
					  TRACE_TYPE_RAW_DATA };
	static const char *const forms[] = { "raw", "hex", "bin" };
	struct trace_event_buffer fbuffer;
	void *entry;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct trace_event event = { .type = types[i] };
		char line[40];

		entry = trace_event_buffer_reserve(&fbuffer, NULL, &event,
						   sizeof(struct trace_entry));
		assert_non_null(entry);
		trace_event_buffer_commit(&fbuffer, entry);
		snprintf(line, sizeof(line), ": Unknown type %u\n", types[i]);
		assert_non_null(strstr(cat("trace"), line));
	}
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		char option[40];

		snprintf(option, sizeof(option), "options/%s", forms[i]);
		assert_int_equal(echo("1", option), 0);
		assert_true(strlen(cat("trace")) < 2000);
		assert_int_equal(echo("0", option), 0);
	}
}

static void printk_raw(void **state)
{
	(void)state;
	assert_int_equal(echo("0", "options/context-info"), 0);
	assert_int_equal(echo("1", "options/raw"), 0);
	trace_bprintk(fake_func(KFREE), "n=%d\n", 42);
	trace_bputs(fake_func(YIELD), "literal\n");
	body_is(": ffffffff81000030 : n=42\n: ffffffff81000010 : literal\n");
	assert_int_equal(echo("0", "options/raw"), 0);
	assert_int_equal(echo("1", "options/context-info"), 0);
}

/* Names that are kept from line to line have a limit, names that are printed do not. */
static void symbols(void **state)
{
	char name[] = "a_name_of_one_hundred_and_twenty_seven_letters_0123456789_0123456789_"
		      "0123456789_0123456789_0123456789_0123456789_0123456789_012";
	char line[200];

	(void)state;
	fake_symbol_add(0xffffffff84000000, 16, name);
	assert_int_equal(echo("0", "options/context-info"), 0);
	trace_bputs(0xffffffff84000004, "z\n");
	snprintf(line, sizeof(line), "%s: z\n", name);
	body_is(line);
	snprintf(line, sizeof(line), "%s+0x4/0x10: z\n", name);
	with_option("sym-offset", line);
	assert_int_equal(echo("1", "options/context-info"), 0);
}

/* A small buffer that many events went over: the newest are there, in order, and the counts are. */
static void overwritten(void **state)
{
	unsigned long entries, written, nr = 0;
	const char *text;
	double last = 0, now;

	(void)state;
	assert_int_equal(echo("8", "buffer_size_kb"), 0);
	start_function();
	for (int i = 0; i < 5000; i++)
		call(i % 50 < 40 ? 0 : 1, 1, KFREE);
	text = cat("trace");
	assert_int_equal(sscanf(strstr(text, "written: "), "written: %lu/%lu", &entries, &written),
			 2);
	assert_int_equal(written, 5000);
	assert_true(entries > 100 && entries < 1000);
	assert_non_null(strstr(text, "\n##### CPU 0 buffer started ####\n"));
	assert_null(strstr(text, "##### CPU 1 buffer started"));
	for (const char *line = cat_body("trace"); *line; line = strchr(line, '\n') + 1) {
		if (*line == '#')
			continue;
		nr++;
		now = atof(strchr(line, ']') + 7);
		assert_true(now > last);
		last = now;
	}
	assert_int_equal(nr, entries);
	assert_int_equal(echo("0", "options/annotate"), 0);
	assert_null(strstr(cat("trace"), "buffer started"));
	assert_int_equal(echo("1", "options/annotate"), 0);
	assert_int_equal(echo("1408", "buffer_size_kb"), 0);
}

static const char *chosen(void)
{
	return tracepoint_string("from a tracepoint_string");
}

/* The names for the addresses in raw events. */
static void formats(void **state)
{
	static const char fmt[] = "with \t, \\ and \"quotes\" %d\n";
	const char *listed, *at;
	char line[200];

	(void)state;
	trace_printk("with \t, \\ and \"quotes\" %d\n", 3);
	snprintf(line, sizeof(line), "0x%lx : \"from a tracepoint_string\"\n",
		 (unsigned long)(uintptr_t)chosen());
	listed = cat("printk_formats");
	assert_non_null(strstr(listed, line));
	at = strstr(listed, " : \"with \\t, \\\\ and \\\"quotes\\\" %d\\n\"\n");
	assert_non_null(at);
	while (at > listed && at[-1] != '\n')
		at--;
	assert_string_equal((const char *)(uintptr_t)strtoull(at, NULL, 16), fmt);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tracefs_reset, tracefs_check)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(empty),
		TEST(formats),
		TEST(function_lines),
		TEST(state_columns),
		TEST(lines_that_begin_alike),
		TEST(function_options),
		TEST(latency_format),
		TEST(other_clocks),
		TEST(times),
		TEST(markers),
		TEST(markers_off),
		TEST(no_time_before_zero),
		TEST(raw_markers),
		TEST(printk),
		TEST(printk_that_grows),
		TEST(callers_that_end_with_a_call),
		TEST(too_short),
		TEST(printk_raw),
		TEST(symbols),
		TEST(overwritten),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
