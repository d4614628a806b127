/*
 * Events that users put at instructions, on the fake machine: kprobe_events, its mistakes, batches,
 * what is recorded, kprobe_profile.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include "trace/events/event_parse.h"
#include "probe_help.h"
#include <trace/ftrace.h>
#include <trace/kprobe.h>

static uintptr_t stack[] = { 0, 0x111, 0x222 };

static int define(const char *line)
{
	return echo_append(line, "kprobe_events");
}

static int begin(void **state)
{
	int err = event_reset(state);

	fake_refused = 0;
	return err;
}

static int end(void **state)
{
	(void)state;
	probe_events_end();
	assert_string_equal(cat("kprobe_events"), "");
	assert_int_equal(fake_nr_probes, 0);
	fake_run(-1);
	fake_cpus[0].pid = 0;
	return 0;
}

static void take_over(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		      struct ftrace_regs *fregs)
{
	(void)ip, (void)parent_ip, (void)ops, (void)fregs;
}

static void call_func(size_t func)
{
	struct ftrace_regs regs = { .arg = { 1, 2, (uintptr_t) "text", 4, 5, 6 },
				    .parent = PARENT,
				    .slot = stack };
	enum fake_via via;

	(void)fake_call_regs(func, &regs, &via);
}

static void lists(void **state)
{
	char line[60];

	(void)state;
	assert_int_equal(define("p schedule"), 0);
	assert_int_equal(define("p yield+8 %di"), 0);
	assert_int_equal(define("p:my/ do_work+0 size=$arg1"), 0);
	snprintf(line, sizeof(line), "p 0x%lx", fake_func(KFREE) + 9);
	assert_int_equal(define(line), 0);
	assert_int_equal(echo_append("e:again kprobes.p_schedule_0", "dynamic_events"), 0);
	assert_int_equal(define("e:again kprobes.p_schedule_0"), -EINVAL); /* of other kinds */
	assert_int_equal(define("-:again"), -ENOENT);
	assert_string_equal(cat("kprobe_events"), "p:kprobes/p_schedule_0 schedule\n"
						  "p:kprobes/p_yield_8 yield+8 arg1=%di\n"
						  "p:my/p_do_work_0 do_work+0 size=$arg1\n"
						  "p:kprobes/p_0xffffffff81000039 "
						  "0xffffffff81000039\n");
	assert_int_equal(echo("", "kprobe_events"), -EBUSY); /* one is probed itself */
	assert_int_equal(echo_append("-:again", "dynamic_events"), 0);
	assert_int_equal(echo("", "kprobe_events"), 0);
}

static void check_mistake(const struct mistake *mistake)
{
	check_refused(mistake, "kprobe_events", "trace_kprobe", 0);
}

static void mistakes(void **state)
{
	static const struct mistake all[] = {
		{ "p^100 schedule", "Maxactive is only for function exit" },
		{ "p ^non_exist_func", "Invalid probed address or symbol" },
		{ "p ^hoge-fuga", "Invalid probed address or symbol" },
		{ "p ^hoge+1000-1000", "Invalid probed address or symbol" },
		{ "p ^schedule+", "Invalid probed address or symbol" },
		{ "p ^+8", "Failed to register probe event: 0x8: there is no function" },
		{ "r^1a111 schedule", "Invalid maxactive number" },
		{ "r^0 schedule", "Invalid maxactive number" },
		{ "r^100000 schedule", "Maxactive is too big" },
		{ "r ^schedule+8", "Retprobe address must be an function entry" },
		{ "p ^schedule+8%return", "Retprobe address must be an function entry" },
		{ "r schedule ^%di", "Invalid register name" },
		{ "^r:events/same schedule", "Probe type is different from existing probe" },
		{ "p schedule^%hoge", "Invalid probed address suffix" },
		{ "r schedule^%entry", "Invalid probed address suffix" },
		{ "p ^schedule+8%entry", "Retprobe address must be an function entry" },
		{ "p ^schedule+3", "Probe point is not an instruction boundary" },
		{ "p schedule ^$retval", "$retval is not available on probe" },
		{ "p schedule ^$stack10000", "Invalid stack number" },
		{ "p schedule ^$arg10000", "Invalid argument number" },
		{ "p schedule+8 ^$arg1", "Invalid $-variable specified" },
		{ "p schedule ^%none_reg", "Invalid register name" },
		{ "p:^/bar schedule", "Group name is not specified" },
		{ "^p:events/same schedule", "There is already the exact same probe event" },
		{ "p:events/same schedule ^$arg1",
		  "Argument type or name is different from existing probe" },
	};

	(void)state;
	assert_int_equal(define("p:events/same schedule"), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_mistake(&all[i]);
	fake_why_not_add("inlined_one", "inlined into yield (kernel/a.c:3)");
	check_mistake(&(struct mistake){
		"p ^inlined_one+4",
		"Invalid probed address or symbol: inlined into yield (kernel/a.c:3)" });
	fake_refused = fake_func(KFREE) + 9;
	check_mistake(&(struct mistake){
		"p ^kfree+9", "Failed to register probe event: kfree+0x9: the host has reasons" });
	check_refused(&(struct mistake){ "f kfree ^%di", "Invalid $-variable specified" },
		      "dynamic_events", "trace_fprobe", -EINVAL);
	check_refused(&(struct mistake){ "f kfree%return ^%ax", "Invalid $-variable specified" },
		      "dynamic_events", "trace_fprobe", -EINVAL);
	check_refused(&(struct mistake){ "^f kfree", "Events of this kind are for dynamic_events" },
		      "kprobe_events", "kprobe_events", -EINVAL);
	assert_string_equal(cat("kprobe_events"), "p:events/same schedule\n");
}

/* Code of `dir/a.c` begins in line 10; that of line 30 is the entry of a function. */
static struct fake_line source_lines[] = {
	{ "dir/a.c", 10, 0 }, { "dir/a.c", 30, 0 }, { "dir/b.c", 5, 0 },
	{ "two/b.c", 7, 0 },  { .file = NULL },
};

static void lines_of_source(void **state)
{
	static const struct mistake all[] = {
		{ "p ^c.c:4", "No code comes from a file of that name" },
		{ "p ^b.c:5", "Several files are called so: write more of the path" },
		{ "p a.c:^31", "There is no code from that line on" },
		{ "p dir/b.c:^x", "This is no line: FILE:LINE" },
		{ "p a.c:^0", "This is no line: FILE:LINE" },
		{ "p a.c:^", "This is no line: FILE:LINE" },
		{ "p a.c:^4294967296", "This is no line: FILE:LINE" },
		{ "r ^a.c:10", "Retprobe address must be an function entry" },
		{ "p ^ext4:schedule", "There are no modules: SYMBOL alone" },
		{ "p ^ext4:schedule+8", "There are no modules: SYMBOL alone" },
		{ "p a.c:10 ^$arg1", "Invalid $-variable specified" },
	};

	(void)state;
	check_mistake(&(struct mistake){ "p ^a.c:10", "This kernel has no table of lines" });
	source_lines[0].addr = fake_func(YIELD) + 9;
	source_lines[1].addr = fake_func(DO_WORK);
	fake_lines = source_lines;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_mistake(&all[i]);
	source_lines[0].line = 8;
	check_mistake(&(struct mistake){
		"p a.c:^9", "No code is near that line: the next that has some is 30" });
	assert_int_equal(define("p a.c:3"), 0);
	assert_int_equal(define("p:my/at dir/a.c:29 $arg1"), 0);
	assert_int_equal(define("r:my/back a.c:30 $retval"), 0);
	assert_string_equal(cat("kprobe_events"), "p:kprobes/p_yield_9 yield+9\n"
						  "p:my/at do_work+0 arg1=$arg1\n"
						  "r:my/back do_work+0 arg1=$retval\n");
	assert_int_equal(define("p:my/at do_work+0 arg1=$arg1"), -EEXIST);
	event_on("my/at");
	call_func(DO_WORK);
	event_is_for("at: (do_work+0x0/0x10) arg1=0x1", "at: (do_work+0x0) arg1=0x1");
	fake_lines = NULL;
}

/* Two functions of a name in two files, a third one of which the file is not known, for a while. */
static struct fake_line same_lines[] = {
	{ "dir/one.c", 3, 0 },
	{ "dir/the-other.c", 9, 0 },
	{ "dir/one.c", 12, 0 },
	{ .file = NULL },
};

static void names_of_several(void **state)
{
	static const char both[] = "The symbol is not unique: same@dir/one.c, "
				   "same@dir/the-other.c";
	char why[200], line[60];

	(void)state;
	fake_symbol_add(fake_func(YIELD), 16, "same");
	fake_symbol_add(fake_func(DO_WORK), 16, "same");
	same_lines[0].addr = fake_func(YIELD);
	same_lines[1].addr = fake_func(DO_WORK);
	same_lines[2].addr = fake_func(YIELD) + 9;
	fake_lines = same_lines;
	check_refused(&(struct mistake){ "p ^same", both }, "kprobe_events", "trace_kprobe",
		      -EADDRNOTAVAIL);
	check_mistake(&(struct mistake){ "p:a ^same+9 %di", both });
	check_mistake(&(struct mistake){ "r ^same", both });
	check_refused(&(struct mistake){ "f ^same%return", both }, "dynamic_events", "trace_fprobe",
		      -EADDRNOTAVAIL);
	check_mistake(&(struct mistake){ "p schedule ^@same", "The symbol is not unique" });
	check_mistake(&(struct mistake){
		"p ^same@c", "No function of that name is of that file: same@dir/one.c, "
			     "same@dir/the-other.c" });
	check_mistake(&(struct mistake){ "p ^nothing@one.c", "Invalid probed address or symbol" });
	check_mistake(&(struct mistake){ "p ^same@one.c-9", "No function of that name is of that "
							    "file: same@dir/one.c, "
							    "same@dir/the-other.c" });
	assert_int_equal(define("p:one same@one.c $arg1"), 0);
	assert_int_equal(define("p:nine same@dir/one.c+9"), 0);
	assert_int_equal(define("r:two same@the-other.c"), 0);
	assert_int_equal(define("p:line one.c:12"), 0);
	assert_string_equal(cat("kprobe_events"), "p:kprobes/one same@one.c arg1=$arg1\n"
						  "p:kprobes/nine same@dir/one.c+9\n"
						  "r:kprobes/two same@the-other.c\n"
						  "p:kprobes/line same@dir/one.c+9\n");
	assert_int_equal(define("-:one same@one.c"), 0);
	assert_int_equal(define("-:line"), 0);
	event_on("kprobes/nine");
	assert_int_equal(fake_nr_probes, 1);
	assert_int_equal(echo("0", "events/enable"), 0);
	same_lines[1].file = "dir/one.c"; /* now their addresses alone tell them apart */
	snprintf(why, sizeof(why), "The symbol is not unique: 0x%lx, 0x%lx", fake_func(YIELD),
		 fake_func(DO_WORK));
	check_mistake(&(struct mistake){ "p ^same@one.c", why });
	snprintf(line, sizeof(line), "p:by_number 0x%lx $arg1", fake_func(DO_WORK));
	assert_int_equal(define(line), 0);
	assert_int_equal(define("p:line one.c:12"), 0);
	snprintf(line, sizeof(line), "p:kprobes/line 0x%lx\n", fake_func(YIELD) + 9);
	assert_non_null(strstr(cat("kprobe_events"), line));
	same_lines[1].file = "dir/the-other.c";
	probe_events_end();
	fake_lines = NULL;
	fake_symbols_forget();
}

static void recorded(void **state)
{
	(void)state;
	assert_int_equal(define("p:my/call do_work a=%di b=$arg2:u8 c=+0($arg3):string "
				"d=$stack1 $comm"),
			 0);
	event_on("my/call");
	call_func(DO_WORK);
	event_is_for("call: (do_work+0x0/0x10) a=0x1 b=2 c=\"text\" d=0x111 arg5=\"init\"",
		     "call: (do_work+0x0) a=0x1 b=2 c=\"text\" d=0x111 arg5=\"init\"");
	assert_string_equal(cat("kprobe_profile"),
			    "  call                                                       1"
			    "               0\n");
}

static void without_arguments(void **state)
{
	(void)state;
	assert_int_equal(define("p:my/call do_work"), 0);
	event_on("my/call");
	call_func(DO_WORK);
	event_is_for("call: (do_work+0x0/0x10)", "call: (do_work+0x0)");
}

/* How many batches of changes of text a write takes. */
static uint64_t batches_of(const char *text, const char *path)
{
	uint64_t before = fake_nr_batches;

	assert_int_equal(echo(text, path), 0);
	return fake_nr_batches - before;
}

/* ---- Returns ---- */

/* A line of kprobe_profile: a name of twelve characters, counts of one. */
#define PROFILE(name, hits, missed)                                                                \
	"  " name "                                               " hits "               " missed  \
	"\n"

static void returned(void **state)
{
	(void)state;
	assert_int_equal(define("r do_work $retval"), 0);
	assert_int_equal(define("p:my/back do_work%return ret=$retval:s32 $comm"), 0);
	assert_int_equal(define("r8:my/eight kfree+0"), 0);
	assert_int_equal(echo_append("f kfree $arg2", "dynamic_events"), 0);
	assert_int_equal(echo_append("f kfree%return $retval", "dynamic_events"), 0);
	assert_int_equal(echo_append("f12:many kfree%return", "dynamic_events"), 0);
	assert_int_equal(echo_append("f12:many kfree", "dynamic_events"), -EINVAL);
	assert_int_equal(echo_append("f:my/in kfree%entry $arg1", "dynamic_events"), 0);
	assert_int_equal(define("p:my/at kfree%entry $arg1"), 0);
	assert_int_equal(define("f kfree"), -EINVAL); /* that is no kprobe */
	assert_string_equal(cat("kprobe_events"), "r:kprobes/r_do_work_0 do_work arg1=$retval\n"
						  "r:my/back do_work ret=$retval:s32 arg2=$comm\n"
						  "r8:my/eight kfree+0\n"
						  "p:my/at kfree arg1=$arg1\n");
	assert_non_null(strstr(cat("dynamic_events"), "f:fprobes/kfree__entry kfree arg1=$arg2\n"
						      "f:fprobes/kfree__exit kfree%return "
						      "arg1=$retval\n"
						      "f12:fprobes/many kfree%return\n"
						      "f:my/in kfree arg1=$arg1\n"));
	fake_run(1); /* a thread with a shadow stack */
	event_on("my/back");
	(void)fake_enter(DO_WORK, PARENT);
	(void)fake_leave(77);
	event_is_for("back: (yield+0x4/0x10 <- do_work) ret=77 arg2=\"init\"",
		     "back: (yield+0x4 <- do_work) ret=77 arg2=\"init\"");
	assert_int_equal(echo("ret < 0", "events/my/back/filter"), 0);
	for (int i = -1; i <= 1; i++) {
		(void)fake_enter(DO_WORK, PARENT);
		(void)fake_leave((uint64_t)i);
	}
	event_is_for("back: (yield+0x4/0x10 <- do_work) ret=-1 arg2=\"init\"",
		     "back: (yield+0x4 <- do_work) ret=-1 arg2=\"init\"");
	assert_int_equal(echo("0", "events/my/back/filter"), 0);
	event_on("fprobes/kfree__exit");
	(void)fake_enter(KFREE, PARENT);
	(void)fake_leave(5);
	event_is_for("kfree__exit: (yield+0x4/0x10 <- kfree) arg1=0x5",
		     "kfree__exit: (yield+0x4 <- kfree) arg1=0x5");
	event_on("fprobes/kfree__entry");
	call_func(KFREE);
	event_is_for("kfree__entry: (kfree+0x0/0x10) arg1=0x2",
		     "kfree__entry: (kfree+0x0) arg1=0x2");
	assert_non_null(strstr(cat("kprobe_profile"), PROFILE("kfree__entry", "1", "0")));
	assert_non_null(strstr(cat("kprobe_profile"), PROFILE("kfree__exit ", "1", "0")));
}

/* A call that cannot be hooked is missed, and said to be: by an event of either kind. */
static void missed_returns(void **state)
{
	(void)state;
	assert_int_equal(define("r:my/ret kfree"), 0);
	assert_int_equal(echo_append("f:my/out kfree%return", "dynamic_events"), 0);
	assert_int_equal(echo("1", "events/my/enable"), 0);
	fake_run(-1); /* without a shadow stack */
	(void)fake_call(KFREE, PARENT);
	assert_non_null(strstr(cat("kprobe_profile"), PROFILE("ret         ", "0", "1")));
	assert_non_null(strstr(cat("kprobe_profile"), PROFILE("out         ", "0", "1")));
	assert_int_equal(echo("0", "events/my/enable"), 0);
}

/* However many are switched, of whatever kinds, text is changed in one batch. */
static void batches(void **state)
{
	static const char *const names[] = { "schedule", "yield", "do_work", "kfree" };
	char line[40];

	(void)state;
	for (int i = 0; i < NR_FUNCS; i++) {
		snprintf(line, sizeof(line), "p:sites/a%d %s", i, names[i]);
		assert_int_equal(define(line), 0);
		snprintf(line, sizeof(line), "p:middle/b%d %s+%d", i, names[i], 8 + i);
		assert_int_equal(define(line), 0);
	}
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(batches_of("1", "events/sites/enable"), 1);
	assert_int_equal(batches_of("1", "events/middle/enable"), 1);
	call_func(YIELD);
	assert_int_equal(nr_of(cat_body("trace"), ": a1: (yield+0x0/0x10)\n"), 1);
	assert_int_equal(batches_of("0", "events/sites/enable"), 1);
	assert_int_equal(batches_of("0", "events/middle/enable"), 1);
	for (int i = 0; i < NR_FUNCS; i++) {
		snprintf(line, sizeof(line), "p:mixed/c%d %s", i, names[i]);
		assert_int_equal(define(line), 0);
		snprintf(line, sizeof(line), "p:mixed/d%d %s+%d", i, names[i], 8 + i);
		assert_int_equal(define(line), 0);
	}
	assert_int_equal(define("p:mixed/all yield %r10"), 0);
	assert_int_equal(define("r:mixed/back yield $retval"), 0);
	assert_int_equal(define("r:mixed/other do_work"), 0);
	assert_int_equal(echo_append("f:mixed/entry kfree", "dynamic_events"), 0);
	assert_int_equal(echo_append("f:mixed/exit kfree%return", "dynamic_events"), 0);
	assert_int_equal(batches_of("1", "events/mixed/enable"), 1);
	assert_int_equal(batches_of("0", "events/mixed/enable"), 1);
}

/* One cannot be switched on: those of other kinds still are together, those of its kind are one by one. */
static void one_is_gone(void **state)
{
	uint64_t before;

	(void)state;
	assert_int_equal(define("p:some/gone kfree+9"), 0);
	assert_int_equal(define("p:some/a schedule"), 0);
	assert_int_equal(define("r:some/b schedule"), 0);
	assert_int_equal(define("r:some/c yield"), 0);
	assert_int_equal(define("r:some/d do_work"), 0);
	assert_int_equal(kprobes_code_goes(fake_func(KFREE) + 9, fake_func(KFREE) + 10), 0);
	before = fake_nr_batches;
	assert_int_equal(echo("1", "events/some/enable"), -EINVAL);
	assert_int_equal(fake_nr_batches, before + 2);
	assert_string_equal(cat("events/some/gone/enable"), "0\n");
	for (char letter = 'a'; letter <= 'd'; letter++) {
		char path[40];

		snprintf(path, sizeof(path), "events/some/%c/enable", letter);
		assert_string_equal(cat(path), "1\n");
	}
}

static uint32_t nr_looks;

static void note_look(void)
{
	nr_looks++;
}

/* How often all stacks are looked at when so many probes are removed, at one place each. */
static uint32_t looks_of_removal(uint32_t nr)
{
	static const char *const names[] = { "schedule", "yield", "do_work", "kfree" };
	char line[40];

	for (uint32_t i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "p:going/e%u %s+%u", i, names[i % NR_FUNCS],
			 8 + i / NR_FUNCS % 3);
		assert_int_equal(define(line), 0);
	}
	nr_looks = 0;
	fake_on_each_stack = note_look;
	assert_int_equal(define("-:going/"), 0);
	fake_on_each_stack = NULL;
	assert_string_equal(cat("kprobe_events"), "");
	return nr_looks;
}

/* However many go, threads are waited for once. */
static void removed_together(void **state)
{
	(void)state;
	assert_int_equal(looks_of_removal(4), looks_of_removal(24));
	assert_in_range(looks_of_removal(24), 1, 2);
}

static uint32_t nr_syncs;

static void note_sync(void)
{
	nr_syncs++;
}

/* How often is waited for CPUs when so many of each kind are removed together? */
static uint32_t syncs_of_removal(uint32_t nr, const char *line_of_removal)
{
	static const char *const names[] = { "schedule", "yield", "do_work", "kfree" };
	char line[60];

	for (uint32_t i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "p:going/e%u %s", i, names[i % NR_FUNCS]);
		assert_int_equal(define(line), 0);
		snprintf(line, sizeof(line), "r:going/r%u %s", i, names[i % NR_FUNCS]);
		assert_int_equal(define(line), 0);
		snprintf(line, sizeof(line), "p:going/joined %s x=$stack%u", names[i % NR_FUNCS],
			 i);
		assert_int_equal(define(line), 0);
	}
	assert_int_equal(echo("1", "events/going/enable"), 0);
	assert_int_equal(echo("0", "events/going/enable"), 0);
	nr_syncs = 0;
	fake_on_sync = note_sync;
	assert_int_equal(*line_of_removal ? define(line_of_removal) : echo("", "kprobe_events"), 0);
	fake_on_sync = NULL;
	assert_string_equal(cat("kprobe_events"), "");
	return nr_syncs;
}

/* However many go, CPUs are waited for as often. */
static void waits_of_removal(void **state)
{
	static const char *const lines[] = { "-:going/", "" };

	(void)state;
	for (int i = 0; i < 2; i++) {
		uint32_t few = syncs_of_removal(4, lines[i]);

		assert_int_equal(syncs_of_removal(12, lines[i]), few);
		assert_in_range(few, 1, 5);
	}
}

/* Without memory for all at once each is switched on its own. */
static void one_by_one(void **state)
{
	struct trace_handle *handle;
	uint64_t pos = 0;

	(void)state;
	assert_int_equal(define("p:many/a do_work"), 0);
	assert_int_equal(define("p:many/b kfree+8"), 0);
	assert_int_equal(define("p:many/c kfree"), 0);
	assert_int_equal(define("r:many/d kfree"), 0);
	assert_int_equal(define("r:many/e do_work"), 0);
	assert_int_equal(echo_append("t:many/f sched_switch", "dynamic_events"), 0);
	assert_int_equal(echo_append("t:many/g sched_switch $arg1", "dynamic_events"), 0);
	handle = open_file("events/many/enable", TRACE_FS_WRITE);
	for (long budget = 0;; budget++) {
		fake_alloc_budget = budget;
		if (trace_fs_write(handle, "1", 1, &pos) == 1)
			break;
		fake_alloc_budget = -1;
		assert_int_equal(trace_fs_write(handle, "0", 1, &pos), 1);
	}
	fake_alloc_budget = -1;
	assert_int_equal(trace_fs_close(handle), 0);
	assert_string_equal(cat("events/many/enable"), "1\n");
	assert_int_equal(echo("", "trace"), 0);
	call_func(KFREE);
	assert_int_equal(nr_of(cat_body("trace"), ": c: (kfree+0x0/0x10)\n"), 1);
}

/* An unknown breakpoint at the place of one of several: the others are on, and the file says so. */
static void one_is_busy(void **state)
{
	uintptr_t place = fake_func(KFREE) + 8;

	(void)state;
	assert_int_equal(define("p:many/a do_work"), 0);
	assert_int_equal(define("p:many/b kfree+8"), 0);
	assert_int_equal(define("p:many/c kfree"), 0);
	*fake_text_at(place) ^= 1;
	fake_breakpoint = place;
	assert_int_equal(echo("1", "events/many/enable"), -EBUSY);
	*fake_text_at(place) ^= 1;
	fake_breakpoint = 0;
	assert_string_equal(cat("events/many/a/enable"), "1\n");
	assert_string_equal(cat("events/many/b/enable"), "0\n");
	assert_string_equal(cat("events/many/c/enable"), "1\n");
	assert_int_equal(echo("", "trace"), 0);
	call_func(KFREE);
	assert_int_equal(nr_of(cat_body("trace"), ": c: (kfree+0x0/0x10)\n"), 1);
	assert_int_equal(echo("1", "events/many/enable"), 0);
	assert_string_equal(cat("events/many/enable"), "1\n");
}

static void joined(void **state)
{
	(void)state;
	assert_int_equal(define("p:my/both do_work a=$arg1"), 0);
	assert_int_equal(echo("1", "events/my/both/enable"), 0);
	assert_int_equal(define("p:my/both kfree a=$arg2"), 0);
	assert_int_equal(echo("", "trace"), 0);
	call_func(DO_WORK);
	call_func(KFREE);
	assert_int_equal(nr_of(cat_body("trace"), ": both: (do_work+0x0/0x10) a=0x1\n"), 1);
	assert_int_equal(nr_of(cat_body("trace"), ": both: (kfree+0x0/0x10) a=0x2\n"), 1);
	assert_int_equal(echo("0", "events/my/both/enable"), 0);
	assert_int_equal(define("-:my/both kfree"), 0);
	assert_string_equal(cat("kprobe_events"), "p:my/both do_work a=$arg1\n");
}

/* A probe that is on and cannot be hit: kprobe_profile and `why` say so. */
static void silent(void **state)
{
	struct ftrace_ops elsewhere = { .func = take_over,
					.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY };

	(void)state;
	assert_int_equal(define("p:my/inside do_work+9"), 0);
	assert_int_equal(define("p:my/entry do_work"), 0);
	assert_int_equal(define("p:my/gone kfree+9"), 0);
	assert_int_equal(echo("1", "events/my/enable"), 0);
	assert_null(strstr(cat("why"), "not hit"));
	assert_int_equal(ftrace_set_filter_ip(&elsewhere, fake_func(DO_WORK), false, true), 0);
	assert_int_equal(register_ftrace_function(&elsewhere), 0);
	assert_non_null(strstr(cat("why"), "The probe inside is not hit: all calls of do_work go "
					   "elsewhere, to a live patch for example, and its code "
					   "at +0x9 does not run.\n"));
	assert_null(strstr(cat("why"), "The probe entry"));
	assert_int_equal(unregister_ftrace_function(&elsewhere), 0);
	ftrace_free_filter(&elsewhere);
	assert_null(strstr(cat("why"), "not hit"));
	assert_int_equal(kprobes_code_goes(fake_func(KFREE), fake_func(KFREE) + 16), 0);
	assert_non_null(strstr(cat("why"), "The probe gone is not hit any more: the code at "
					   "kfree+0x9 is gone; remove it.\n"));
	fake_nameless = fake_func(KFREE);
	assert_non_null(strstr(cat("why"), "the code at an address without name+0x0 is gone;"));
	fake_nameless = 0;
	assert_non_null(strstr(cat("kprobe_profile"), " 0               0 [GONE]\n"));
	assert_int_equal(echo("0", "events/my/enable"), 0);
	assert_int_equal(echo("1", "events/my/gone/enable"), -EINVAL);
	assert_null(strstr(cat("why"), "not hit"));
	assert_int_equal(define("-:my/gone"), 0);
}

static void no_memory(void **state)
{
	static const char *const lines[] = { "p:my/a do_work $arg1 +0($arg3):string",
					     "p:my/a kfree $arg1 +0($arg3):string",
					     "p:my/b kfree+8 %r10" };
	long nr;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		for_each_allocation(nr, define(lines[i]))
			assert_null(strstr(cat("dynamic_events"), lines[i]));
		assert_true(nr > 0);
	}
	fake_probe_budget = 0;
	assert_int_equal(define("p:my/c kfree+9"), -ENOMEM);
	fake_probe_budget = -1;
}

/* ---- Stacks ---- */

/* The addresses of the only stack in `trace`: function and offset of each. */
static void check_stack(const char *want)
{
	const char *text = strstr(cat_body("trace"), "<stack trace>\n");

	assert_non_null(text);
	assert_string_equal(text + strlen("<stack trace>\n"), want);
	assert_int_equal(echo("", "trace"), 0);
}

/* Functions in front of the probed place, which handle the hit, are left out. */
static void stacks(void **state)
{
	static const char entry[] = " => do_work\n => yield\n", back[] = " => yield\n => kfree\n";

	(void)state;
	assert_int_equal(define("p:my/in do_work"), 0);
	assert_int_equal(define("p:my/mid do_work+9"), 0);
	assert_int_equal(define("r:my/out do_work"), 0);
	fake_stack_nr = 3;
	fake_stack[0] = trace_plat_ip_pack(fake_func(SCHEDULE) + 3);
	fake_stack[1] = trace_plat_ip_pack(fake_func(DO_WORK) + TRACE_INSN_SIZE);
	fake_stack[2] = trace_plat_ip_pack(fake_func(YIELD) + 4);
	assert_int_equal(echo("1", "options/stacktrace"), 0);
	event_on("my/in");
	call_func(DO_WORK);
	check_stack(entry);
	assert_int_equal(echo("0", "options/stacktrace"), 0);
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("stacktrace", "events/my/in/trigger"), 0);
	call_func(DO_WORK);
	check_stack(entry);
	assert_int_equal(echo("!stacktrace", "events/my/in/trigger"), 0);
	assert_int_equal(echo("hist:keys=common_stacktrace", "events/my/in/trigger"), 0);
	call_func(DO_WORK);
	assert_non_null(strstr(cat("events/my/in/hist"), "{ common_stacktrace:\n"
							 "         do_work+0x5/0x10\n"
							 "         yield+0x4/0x10\n"));
	assert_int_equal(echo("!hist:keys=common_stacktrace", "events/my/in/trigger"), 0);
	fake_run(1); /* a thread with a shadow stack */
	fake_stack[1] = trace_plat_ip_pack(PARENT);
	fake_stack[2] = trace_plat_ip_pack(fake_func(KFREE) + 4);
	assert_int_equal(echo("stacktrace", "events/my/out/trigger"), 0);
	(void)fake_enter(DO_WORK, PARENT);
	(void)fake_leave(77);
	check_stack(back);
	assert_int_equal(echo("!stacktrace", "events/my/out/trigger"), 0);
	fake_stack_nr = 0;
}

/* ---- Triggers of an event that is off ---- */

/* Counts by `keys` when `args` are recorded and the function is called twice. */
static void check_counted(const char *args, const char *keys, const char *counted)
{
	char text[80];

	snprintf(text, sizeof(text), "p:my/call do_work %s", args);
	assert_int_equal(define(text), 0);
	snprintf(text, sizeof(text), "hist:keys=%s", keys);
	assert_int_equal(echo(text, "events/my/call/trigger"), 0);
	call_func(DO_WORK);
	call_func(DO_WORK);
	assert_non_null(strstr(cat("events/my/call/hist"), counted));
	assert_string_equal(cat_body("trace"), "");
	snprintf(text, sizeof(text), "!hist:keys=%s", keys);
	assert_int_equal(echo(text, "events/my/call/trigger"), 0);
	assert_int_equal(define("-:my/call"), 0);
}

static void counted(void **state)
{
	(void)state;
	check_counted("", "__probe_ip.hex",
		      "{ __probe_ip: ffffffff81000020 } hitcount:          2");
	check_counted("a=%si", "a", "{ a:          2 } hitcount:          2");
	check_counted("a=%di b=%si c=$arg4", "__probe_ip.hex,a,c",
		      "{ __probe_ip: ffffffff81000020, a:          1, c:          4 } "
		      "hitcount:          2");
	check_counted("a=%si:u8 b=$arg4:u16 c=$arg5:u32 d=$arg6", "a,b,d",
		      "{ a:          2, b:          4, d:          6 } hitcount:          2");
	check_counted("a=+0($arg3):u8 b=%di", "a,b",
		      "{ a:        116, b:          1 } hitcount:          2");
	check_counted("a=+0($arg3):string b=%di", "b", "{ b:          1 } hitcount:          2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lists, begin, end),
		cmocka_unit_test_setup_teardown(mistakes, begin, end),
		cmocka_unit_test_setup_teardown(lines_of_source, begin, end),
		cmocka_unit_test_setup_teardown(names_of_several, begin, end),
		cmocka_unit_test_setup_teardown(recorded, begin, end),
		cmocka_unit_test_setup_teardown(stacks, begin, end),
		cmocka_unit_test_setup_teardown(without_arguments, begin, end),
		cmocka_unit_test_setup_teardown(returned, begin, end),
		cmocka_unit_test_setup_teardown(missed_returns, begin, end),
		cmocka_unit_test_setup_teardown(batches, begin, end),
		cmocka_unit_test_setup_teardown(one_is_gone, begin, end),
		cmocka_unit_test_setup_teardown(removed_together, begin, end),
		cmocka_unit_test_setup_teardown(waits_of_removal, begin, end),
		cmocka_unit_test_setup_teardown(one_by_one, begin, end),
		cmocka_unit_test_setup_teardown(one_is_busy, begin, end),
		cmocka_unit_test_setup_teardown(joined, begin, end),
		cmocka_unit_test_setup_teardown(silent, begin, end),
		cmocka_unit_test_setup_teardown(no_memory, begin, end),
		cmocka_unit_test_setup_teardown(counted, begin, end),
	};

	return cmocka_run_group_tests(tests, event_setup, event_teardown);
}
