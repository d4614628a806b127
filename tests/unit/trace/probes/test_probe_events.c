/*
 * Events that users put at tracepoints, and on other events: lines of dynamic_events, their
 * mistakes, what is written, and what is done with it as with any event.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include "trace/events/event_parse.h"
#include "probe_help.h"
#include <trace/host_tracepoints.h>
#include <trace/thread.h>
#include "events/event_file.h"
#include "instance/array.h"

static struct trace_thread threads[2];
static const char comms[2][16] = { "shell", "fifteen letters" };
static const struct trace_sched_thread shell = {
	.thread = &threads[0], .comm = comms[0], .pid = 100001, .prio = 120, .state = 'S', .cpu = 1
};
static const struct trace_sched_thread urgent = {
	.thread = &threads[1], .comm = comms[1], .pid = 7, .prio = 49, .state = 'R', .cpu = 3
};

static int define(const char *line)
{
	return echo_append(line, "dynamic_events");
}

static int end(void **state)
{
	(void)state;
	probe_events_end();
	fake_cpus[0].pid = 0;
	return 0;
}

static void switch_threads(void)
{
	trace_sched_switch(&shell, &urgent);
}

/* ---- Lines ---- */

static void lists(void **state)
{
	(void)state;
	assert_int_equal(define("t sched_switch"), 0);
	assert_int_equal(define("t:my/sw sched_switch $arg1 next=+0($arg2):x64 $comm"), 0);
	assert_int_equal(define("e sched.sched_waking"), 0);
	assert_int_equal(define("e:my/ sched/sched_switch prev=$prev_pid:s32 \\\"a\""), 0);
	assert_int_equal(define("t:"
				"x.y sched_waking"),
			 0);
	assert_string_equal(cat("dynamic_events"),
			    "t:tracepoints/sched_switch sched_switch\n"
			    "t:my/sw sched_switch arg1=$arg1 next=+0($arg2):x64 arg3=$comm\n"
			    "e:eprobes/sched_waking sched.sched_waking\n"
			    "e:my/sched_switch sched/sched_switch prev=$prev_pid:s32 "
			    "arg2=\\\"a\"\n"
			    "t:x/y sched_waking\n");
	assert_non_null(node_of("events/my/sw/format"));
	assert_int_equal(define("-:sw"), 0);
	assert_null(node_of("events/my/sw"));
	assert_int_equal(define("-:my/sched_switch"), 0);
	assert_int_equal(define("-:my/sched_switch"), -ENOENT);
	assert_int_equal(define("-:x/y sched_switch"), -ENOENT);
	assert_int_equal(define("-:x/y sched_waking arg1=1"), -ENOENT);
	assert_int_equal(define("-:x/y sched_waking"), 0);
}

/* GROUP/ alone stands for all of the group: none of them is removed if one is on. */
static void removes_groups(void **state)
{
	(void)state;
	assert_int_equal(define("t:my/one sched_switch $arg1"), 0);
	assert_int_equal(define("e:my/two sched.sched_waking"), 0);
	assert_int_equal(define("t:mine/one sched_switch"), 0);
	assert_int_equal(echo("1", "events/my/two/enable"), 0);
	assert_int_equal(define("-:my/"), -EBUSY);
	assert_int_equal(echo("0", "events/my/two/enable"), 0);
	assert_int_equal(define("-:/"), -ENOENT);
	assert_int_equal(define("-:other/"), -ENOENT);
	assert_int_equal(define("-:"), -EINVAL);
	assert_int_equal(define("-:my/ sched_switch"), 0); /* those at this place */
	assert_string_equal(cat("dynamic_events"), "e:my/two sched.sched_waking\n"
						   "t:mine/one sched_switch\n");
	assert_int_equal(define("-:my/"), 0);
	assert_string_equal(cat("dynamic_events"), "t:mine/one sched_switch\n");
	assert_int_equal(define("-:mine/"), 0);
}

static void check_mistake(const struct mistake *mistake)
{
	check_refused(mistake, "dynamic_events",
		      *mistake->line == 'e' ? "event_probe" : "trace_fprobe", 0);
}

#define LONG_NAME "12345678901234567890123456789012345678901234567890123456789012345"

static void mistakes(void **state)
{
	static const struct mistake all[] = {
		{ "t ^nothing", "Tracepoint is not found" },
		{ "t ^sched-switch", "Invalid character in tracepoint name" },
		{ "t^5 sched_switch", "Maxactive is only for function exit" },
		{ "t:^/bar sched_switch", "Group name is not specified" },
		{ "t:^" LONG_NAME "/bar sched_switch", "Group name is too long" },
		{ "t:^foo.1/bar sched_switch",
		  "Group name must follow the same rules as C identifiers" },
		{ "t:^ sched_switch", "Event name is not specified" },
		{ "t:foo/^" LONG_NAME " sched_switch", "Event name is too long" },
		{ "t:foo/^bar-1 sched_switch",
		  "Event name must follow the same rules as C identifiers" },
		{ "t:foo/^enable sched_switch",
		  "Given group/event name is already used by another event" },
		{ "t:sched/^sched_switch sched_switch",
		  "Given group/event name is already used by another event" },
		{ "^t:sched/ sched_switch",
		  "Given group/event name is already used by another event" },
		{ "t sched_switch ^$retval", "$retval is not available on probe" },
		{ "t sched_switch ^%di", "Invalid $-variable specified" },
		{ "t sched_switch ^$arg9", "$argN index is too big" },
		{ "t sched_switch ^var.1=@11", "Argument name must follow the same rules as C "
					       "identifiers" },
		{ "t sched_switch var1=@11 ^var1=@12", "This argument name is already used" },
		{ "t sched_switch arg2=@11 ^@12", "This argument name is already used" },
		{ "t sched_switch ^__probe_ip=@12", "This argument name is already used" },
		{ "t sched_switch ^common_pid=@12", "This argument name is already used" },
		{ "t sched_switch arg1=^", "No argument expression" },
		{ "t sched_switch @11:^unknown_type", "Unknown type is specified" },
		{ "e ^sched_switch", "This requires both group and event name to attach" },
		{ "e ^.sched_switch", "This requires both group and event name to attach" },
		{ "e ^sched.", "This requires both group and event name to attach" },
		{ "e ^sched.nothing", "Attached event does not exist" },
		{ "e sched.sched_switch ^$nothing", "Attached event does not have this field" },
		{ "e sched.sched_switch if^", "No filter rule after 'if'" },
		{ "e sched.sched_switch $prev_pid if prev_pid < x^",
		  "Invalid value (did you forget quotes)?" },
		{ "e sched.sched_switch if prev_pid == 1 && nothing ^== 2", "Field not found" },
		{ "e sched.sched_switch ^$nothing if prev_pid < 4",
		  "Attached event does not have this field" },
		{ "e:sched/^sched_waking sched.sched_switch",
		  "Given group/event name is already used by another event" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_mistake(&all[i]);
	assert_int_equal(define("t"), -EINVAL);
	assert_int_equal(define("p_unknown"), -EINVAL);
	assert_string_equal(cat("dynamic_events"), "");
}

static void too_much(void **state)
{
	char line[4000] = "t sched_switch";

	(void)state;
	for (int i = 0; i < 128; i++)
		strcat(line, " @1:u8[64]");
	assert_int_equal(define(line), -EINVAL); /* longer than a sub-buffer */
	strcpy(line, "t sched_switch");
	for (int i = 0; i < 128; i++)
		strcat(line, " $arg1");
	assert_int_equal(define(line), 0);
	strcat(line, " $arg1");
	assert_int_equal(define(line), -E2BIG);
}

/* ---- Events ---- */

static void raw_arguments(void **state)
{
	(void)state;
	assert_int_equal(define("t:my/waking sched_waking comm=+0(+8($arg2)):string "
				"pid=+16($arg2):s32 $comm"),
			 0);
	event_on("my/waking");
	trace_sched_waking(&shell, &urgent);
	assert_non_null(
		strstr(cat_body("trace"), "comm=\"fifteen letters\" pid=7 arg3=\"init\"\n"));
	assert_non_null(strstr(event_as_tool(), "comm=\"fifteen letters\" pid=7"));
}

/* The name of the tracepoint stands for the place, be it called by one probe or by several. */
static void tracepoint_as_place(void **state)
{
	const char *format;

	(void)state;
	assert_int_equal(define("t:my/two sched_switch stack=$stack back=$stack0 text=$stack2"), 0);
	event_on("my/two");
	switch_threads();
	assert_non_null(strstr(cat_body("trace"), ": two: (sched_switch) stack=0x"));
	assert_null(strstr(cat_body("trace"), "back=0x0 "));
	assert_non_null(strstr(event_as_tool(), "two: (sched_switch) stack=0x"));
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(define("t:my/two sched_waking stack=$stack back=$stack0 text=$stack2"), 0);
	event_on("my/two");
	trace_sched_waking(&shell, &urgent);
	assert_non_null(strstr(cat_body("trace"), ": two: (sched_waking) stack=0x"));
	format = cat("events/my/two/format");
	assert_non_null(strstr(format, "print fmt: \"(%s) stack=0x%llx"));
	assert_non_null(strstr(format, ", \"sched_waking\" }), REC->stack"));
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(define("-:my/two sched_waking"), 0);
	assert_null(strstr(cat_body("trace"), "(sched_")); /* what is recorded says no name */
}

static void fields(void **state)
{
	(void)state;
	assert_int_equal(define("e:my/sw sched.sched_switch prev=$prev_pid:s32 next=$next_pid:u8 "
				"$next_comm prio=$next_prio none=+0(\\0):string"),
			 0);
	event_on("my/sw");
	switch_threads();
	event_is("sw: (sched.sched_switch) prev=100001 next=7 arg3=\"fifteen letters\" prio=0x31 "
		 "none=(fault)");
	assert_string_equal(cat("set_event"), "my:sw\nsched:sched_switch\n");
	assert_non_null(strstr(cat("events/my/sw/format"),
			       "\tfield:s32 prev;\toffset:8;\tsize:4;\tsigned:1;\n"
			       "\tfield:u8 next;\toffset:12;\tsize:1;\tsigned:0;\n"
			       "\tfield:__data_loc char[] arg3;\toffset:13;\tsize:4;\tsigned:1;\n"
			       "\tfield:u64 prio;\toffset:17;\tsize:8;\tsigned:0;\n"
			       "\tfield:__data_loc char[] none;\toffset:25;\tsize:4;\tsigned:1;\n"
			       "\nprint fmt: \"(sched.sched_switch) prev=%d next=%u "
			       "arg3=\\\"%s\\\" prio=0x%llx none=\\\"%s\\\"\", REC->prev, "
			       "REC->next, __get_str(arg3), REC->prio, __get_str(none)\n"));
}

static void types(void **state)
{
	(void)state;
	assert_int_equal(define("e:my/sw sched.sched_switch a=$prev_pid:s8 b=$prev_pid:s16 "
				"c=$prev_pid:s64 d=$prev_pid:x16 e=$prev_pid:x32 "
				"f=$prev_pid:b4@1/32 g=\\-1:s16 h=\\65:char "
				"i=+0(+0(\\0)):u16[2]"),
			 0);
	event_on("my/sw");
	switch_threads();
	event_is_for("sw: (sched.sched_switch) a=-95 b=-31071 c=100001 d=0x86a1 e=0x186a1 f=0 "
		     "g=-1 h='A' i={0,0}",
		     "sw: (sched.sched_switch) a=-95 b=-31071 c=100001 d=0x86a1 e=0x186a1 f=0 "
		     "g=-1 h=65 i={0,0}");
}

/* As many reads as fit in a line; the first of each argument fails. */
static void many_reads(void **state)
{
	static const char reads[] = "+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(\\0)))))))))))))";
	char line[4000] = "e:my/deep sched.sched_switch";

	(void)state;
	for (uint32_t i = 0; i < 72; i++)
		strcat(strcat(line, " "), reads);
	assert_int_equal(define(line), 0);
	event_on("my/deep");
	switch_threads();
	assert_non_null(strstr(cat_body("trace"), " arg71=0x0 arg72=0x0\n"));
	assert_int_equal(echo("0", "events/enable"), 0);
}

static void no_arguments(void **state)
{
	(void)state;
	assert_int_equal(define("e:my/sw sched.sched_switch"), 0);
	event_on("my/sw");
	switch_threads();
	event_is("sw: (sched.sched_switch)");
	assert_int_equal(echo("0", "events/my/sw/enable"), 0);
	switch_threads();
	assert_int_equal(nr_of(cat_body("trace"), "(sched.sched_switch)"), 0);
}

/* ---- As any event ---- */

static void filtered(void **state)
{
	(void)state;
	assert_int_equal(define("e:my/sw sched.sched_switch prev=$prev_pid:s32 $next_comm"), 0);
	event_on("my/sw");
	assert_int_equal(echo("prev == 7", "events/my/sw/filter"), 0);
	switch_threads();
	assert_string_equal(cat_body("trace"), "");
	trace_sched_switch(&urgent, &shell);
	assert_non_null(strstr(cat_body("trace"), "prev=7 arg2=\"shell\"\n"));
	assert_int_equal(echo("arg2 ~ \"fif*\"", "events/my/sw/filter"), 0);
	assert_int_equal(echo("", "trace"), 0);
	trace_sched_switch(&urgent, &shell);
	assert_string_equal(cat_body("trace"), "");
	switch_threads();
	assert_non_null(strstr(cat_body("trace"), "prev=100001"));
	assert_int_equal(echo("0", "events/my/sw/filter"), 0);
}

static void counted(void **state)
{
	(void)state;
	assert_int_equal(define("e:my/sw sched.sched_switch next=$next_pid:s32 $next_comm"), 0);
	assert_int_equal(echo("hist:keys=next,arg2", "events/my/sw/trigger"), 0);
	switch_threads();
	switch_threads();
	assert_non_null(
		strstr(cat("events/my/sw/hist"), "{ next:          7, arg2: fifteen letters "));
	assert_non_null(strstr(cat("events/my/sw/hist"), " Hits: 2\n    Entries: 1\n"));
	assert_int_equal(define("-:my/sw"), -EBUSY);
	assert_int_equal(echo("!hist:keys=next,arg2", "events/my/sw/trigger"), 0);
	assert_int_equal(define("-:my/sw"), 0);
}

static void several_instances(void **state)
{
	(void)state;
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	assert_int_equal(define("e:my/sw sched.sched_switch next=$next_pid:s32"), 0);
	event_on("my/sw");
	assert_int_equal(echo("1", "instances/two/events/my/sw/enable"), 0);
	switch_threads();
	assert_non_null(strstr(cat_body("trace"), "next=7\n"));
	assert_non_null(strstr(cat_body("instances/two/trace"), "next=7\n"));
	assert_int_equal(echo("0", "events/my/sw/enable"), 0);
	switch_threads();
	assert_null(strstr(strstr(cat_body("trace"), "next=7\n") + 1, "next=7\n"));
	assert_int_equal(define("-:my/sw"), -EBUSY);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	assert_int_equal(define("-:my/sw"), 0);
}

/* `if FILTER` asks for fields of the source, recorded or not; the event has a filter of its own, too. */
static void conditions(void **state)
{
	static const char line[] = "e:my/sw sched.sched_switch next=$next_pid:s32 if prev_pid == 7 "
				   "&& next_comm != \"if\"";
	long nr;

	(void)state;
	assert_int_equal(define(line), 0);
	assert_string_equal(cat("dynamic_events"),
			    "e:my/sw sched.sched_switch next=$next_pid:s32 if prev_pid == 7 && "
			    "next_comm != \"if\"\n");
	event_on("my/sw");
	switch_threads();
	assert_string_equal(cat_body("trace"), "");
	trace_sched_switch(&urgent, &shell);
	event_is("sw: (sched.sched_switch) next=100001");
	assert_int_equal(echo("next == 4", "events/my/sw/filter"), 0);
	assert_int_equal(echo("", "trace"), 0);
	trace_sched_switch(&urgent, &shell);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("0", "events/my/sw/filter"), 0);
	assert_int_equal(echo("0", "events/my/sw/enable"), 0);
	assert_int_equal(define("-:my/sw sched.sched_switch next=$next_pid:s32"), 0);
	for_each_allocation(nr, define(line))
		assert_string_equal(cat("dynamic_events"), "");
}

/* All that come from one place show the preempt depth there: of tracepoints of both kinds. */
static void depths(void **state)
{
	(void)state;
	assert_int_equal(define("t:my/t sched_switch"), 0);
	assert_int_equal(define("e:my/e sched.sched_switch"), 0);
	assert_int_equal(define("e:my/again my.e"), 0);
	assert_int_equal(define("e:my/switch my.t"), 0);
	assert_int_equal(define("t:my/t sched_process_fork"), 0); /* its depth counts by itself */
	assert_int_equal(define("e:my/fork sched.sched_process_fork"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("1", "events/my/enable"), 0);
	assert_int_equal(echo("1", "events/sched/sched_switch/enable"), 0);
	fake_this->preempt_count += 2;
	switch_threads();
	trace_sched_process_fork(&shell, &urgent);
	fake_this->preempt_count -= 2;
	/* Five of sched_switch; t, switch and fork. */
	assert_int_equal(nr_of(cat_body("trace"), " ...2. "), 8);
	assert_int_equal(nr_of(cat_body("trace"), "\n"), 8);
}

/* One on a synthetic event, one on one of a probe; none goes before those on it. */
static void chains(void **state)
{
	(void)state;
	assert_int_equal(define("t:my/sw sched_switch next=+16($arg2):s32"), 0);
	assert_int_equal(define("e:my/again my.sw $next:s32"), 0);
	event_on("my/again");
	switch_threads();
	event_is("again: (my.sw) arg1=7");
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(define("-:my/sw"), -EBUSY);
	assert_int_equal(define("-:my/again"), 0);
	assert_int_equal(define("-:my/sw"), 0);
	assert_int_equal(define("t:my/sw sched_switch"), 0);
	assert_int_equal(define("e:my/again my.sw"), 0); /* end() removes both at once */
}

/* Switching all of a group on registers what each needs, whatever order they are in. */
static void all_at_once(void **state)
{
	(void)state;
	assert_int_equal(define("e:my/a my2.b"), -ENODEV);
	assert_int_equal(define("t:my/b sched_switch"), 0);
	assert_int_equal(define("e:my/a my.b"), 0);
	assert_int_equal(define("e:my/c sched.sched_waking"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("1", "events/my/enable"), 0);
	assert_string_equal(cat("events/my/enable"), "1\n");
	switch_threads();
	trace_sched_waking(&shell, &urgent);
	assert_non_null(strstr(cat_body("trace"), ": a: (my.b)\n"));
	assert_non_null(strstr(cat_body("trace"), ": b: ("));
	assert_non_null(strstr(cat_body("trace"), ": c: (sched.sched_waking)\n"));
}

/* ---- Several probes of one event ---- */

static void joined(void **state)
{
	static const struct mistake all[] = {
		{ "t:my/both sched_switch ^b=$arg1", "Argument type or name is different from "
						     "existing probe" },
		{ "t:my/both sched_switch ^a=$arg1:u8", "Argument type or name is different from "
							"existing probe" },
		{ "t:my/both sched_switch a=$arg1 ^b=$arg1",
		  "Argument type or name is different from existing probe" },
		{ "t:my/both sched_switch^",
		  "Argument type or name is different from existing probe" },
		{ "^t:my/both sched_switch a=$arg1",
		  "There is already the exact same probe event" },
		{ "e:my/^both sched.sched_switch a=$prev_pid",
		  "Given group/event name is already used by another event" },
	};

	(void)state;
	assert_int_equal(define("t:my/both sched_switch a=$arg1"), 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_mistake(&all[i]);
	assert_int_equal(define("t:my/both sched_waking a=$arg2"), 0);
	assert_int_equal(echo("", "trace"), 0);
	assert_int_equal(echo("1", "events/my/both/enable"), 0);
	assert_int_equal(define("t:my/both sched_wakeup a=$arg1"), 0); /* on at once */
	assert_string_equal(cat("dynamic_events"), "t:my/both sched_switch a=$arg1\n"
						   "t:my/both sched_waking a=$arg2\n"
						   "t:my/both sched_wakeup a=$arg1\n");
	switch_threads();
	trace_sched_waking(&shell, &urgent);
	trace_sched_wakeup(&shell, &urgent);
	assert_int_equal(nr_of(cat_body("trace"), ": both: ("), 3);
	assert_int_equal(define("-:my/both sched_switch"), -EBUSY);
	assert_int_equal(echo("0", "events/my/both/enable"), 0);
	assert_int_equal(define("-:my/both sched_switch"), 0);
	assert_string_equal(cat("dynamic_events"), "t:my/both sched_waking a=$arg2\n"
						   "t:my/both sched_wakeup a=$arg1\n");
	assert_int_equal(echo("1", "events/my/both/enable"), 0);
	switch_threads();
	trace_sched_wakeup(&shell, &urgent);
	assert_int_equal(nr_of(cat_body("trace"), ": both: ("), 4);
	assert_int_equal(echo("0", "events/my/both/enable"), 0);
	assert_int_equal(define("-:my/both"), 0);
	assert_string_equal(cat("dynamic_events"), "");
}

/* ---- Long events ---- */

static void long_event(void **state)
{
	static char letters[3000];
	char line[200];

	(void)state;
	memset(letters, 'z', sizeof(letters) - 1);
	snprintf(line, sizeof(line), "t:my/long sched_switch a=+0(\\%p):string b=$arg1 c=$comm",
		 (void *)letters);
	assert_int_equal(define(line), 0);
	event_on("my/long");
	switch_threads();
	assert_non_null(strstr(cat_body("trace"), letters));
	assert_non_null(strstr(cat_body("trace"), " c=\"init\"\n"));
	assert_int_equal(echo("c != \"x\"", "events/my/long/filter"), 0);
	for (size_t cut = 1; cut <= 5; cut++) { /* lengths of all kinds, whole to their end */
		letters[sizeof(letters) - 1 - cut] = '\0';
		assert_int_equal(echo("", "trace"), 0);
		switch_threads();
		assert_non_null(strstr(cat_body("trace"), letters));
		assert_non_null(strstr(cat_body("trace"), " c=\"init\"\n"));
	}
	assert_int_equal(echo("0", "events/my/long/filter"), 0);
}

/* Texts that are longer than the longest event are cut with it; one that shrinks leaves nothing old. */
static char shrinking[600];

static void shrink(void)
{
	shrinking[3] = '\0';
}

static void longest_event(void **state)
{
	static char letters[3000];
	static const char old_bytes[] = "qqqqqqqq";
	static uint8_t page[RING_SUBBUF_BYTES];
	struct trace_handle *pages;
	uint64_t pos = 0;
	char line[200];

	(void)state;
	memset(letters, 'z', sizeof(letters) - 1);
	memset(shrinking, 'q', sizeof(shrinking) - 1);
	snprintf(line, sizeof(line), "t:my/cut sched_switch a=+0(\\%p):string b=+0(\\%p):string",
		 (void *)letters, (void *)letters);
	assert_int_equal(define(line), 0);
	event_on("my/cut");
	switch_threads();
	assert_non_null(strstr(cat_body("trace"), letters));
	assert_non_null(strstr(cat_body("trace"), "z\" b=\"zzz"));
	snprintf(line, sizeof(line), "t:my/less sched_switch a=+0(\\%p):string", (void *)shrinking);
	assert_int_equal(define(line), 0);
	event_on("my/less");
	for (int i = 0; i < 8; i++) /* the page of the next one has been written before */
		switch_threads();
	assert_int_equal(echo("", "trace"), 0);
	fake_clock_irq = shrink; /* when there is room for it */
	switch_threads();
	fake_clock_irq = NULL;
	assert_non_null(strstr(cat_body("trace"), ": less: (sched_switch) a=\"qqq\"\n"));
	pages = open_file("per_cpu/cpu0/trace_pipe_raw", TRACE_FS_READ | TRACE_FS_NONBLOCK);
	assert_int_equal(trace_fs_read(pages, page, sizeof(page), &pos), sizeof(page));
	for (size_t at = 0; at + 700 < sizeof(page) && at < 700; at++)
		assert_int_not_equal(memcmp(page + at, old_bytes, sizeof(old_bytes) - 1), 0);
	assert_int_equal(trace_fs_close(pages), 0);
}

/* So many numbers that the event alone does not fit on the stack, and texts behind them. */
static void many_numbers(void **state)
{
	char line[2000] = "t:my/many sched_switch";

	(void)state;
	for (int i = 0; i < 60; i++)
		strcat(line, " \\1");
	strcat(line, " text=\\\"here\"");
	assert_int_equal(define(line), 0);
	event_on("my/many");
	switch_threads();
	assert_non_null(strstr(cat_body("trace"), " arg60=0x1 text=\"here\"\n"));
}

/* ---- Memory ---- */

static void no_memory(void **state)
{
	static const char *const lines[] = { "t:my/a sched_switch $arg1 +0($arg1):string",
					     "t:my/a sched_waking $arg1 +0($arg1):string",
					     "e:my/b my.a $arg1", "e:my/c sched.sched_switch" };
	long nr;
	int err;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for_each_allocation(nr, define(lines[i]))
			assert_null(strstr(cat("dynamic_events"), lines[i]));
		assert_true(nr > 0);
	}
	assert_int_equal(echo("", "trace"), 0);
	for (long budget = 0;; budget++) {
		struct trace_handle *handle = open_file("events/my/enable", TRACE_FS_WRITE);
		uint64_t pos = 0;

		fake_alloc_budget = budget;
		err = (int)trace_fs_write(handle, "1", 1, &pos);
		fake_alloc_budget = -1;
		assert_int_equal(trace_fs_close(handle), 0);
		if (err == 1)
			break;
		assert_int_equal(err, -ENOMEM);
		switch_threads();
		assert_int_equal(echo("0", "events/my/enable"), 0);
		assert_string_equal(cat("events/my/enable"), "0\n");
	}
	assert_int_equal(echo("", "trace"), 0);
	switch_threads();
	assert_int_equal(nr_of(cat_body("trace"), ": a: ("), 1);
	assert_int_equal(nr_of(cat_body("trace"), ": b: (my.a)"), 1);
	assert_int_equal(nr_of(cat_body("trace"), ": c: ("), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lists, event_reset, end),
		cmocka_unit_test_setup_teardown(removes_groups, event_reset, end),
		cmocka_unit_test_setup_teardown(mistakes, event_reset, end),
		cmocka_unit_test_setup_teardown(too_much, event_reset, end),
		cmocka_unit_test_setup_teardown(tracepoint_as_place, event_reset, end),
		cmocka_unit_test_setup_teardown(raw_arguments, event_reset, end),
		cmocka_unit_test_setup_teardown(fields, event_reset, end),
		cmocka_unit_test_setup_teardown(types, event_reset, end),
		cmocka_unit_test_setup_teardown(many_reads, event_reset, end),
		cmocka_unit_test_setup_teardown(no_arguments, event_reset, end),
		cmocka_unit_test_setup_teardown(filtered, event_reset, end),
		cmocka_unit_test_setup_teardown(counted, event_reset, end),
		cmocka_unit_test_setup_teardown(several_instances, event_reset, end),
		cmocka_unit_test_setup_teardown(conditions, event_reset, end),
		cmocka_unit_test_setup_teardown(depths, event_reset, end),
		cmocka_unit_test_setup_teardown(chains, event_reset, end),
		cmocka_unit_test_setup_teardown(all_at_once, event_reset, end),
		cmocka_unit_test_setup_teardown(joined, event_reset, end),
		cmocka_unit_test_setup_teardown(long_event, event_reset, end),
		cmocka_unit_test_setup_teardown(longest_event, event_reset, end),
		cmocka_unit_test_setup_teardown(many_numbers, event_reset, end),
		cmocka_unit_test_setup_teardown(no_memory, event_reset, end),
	};

	return cmocka_run_group_tests(tests, event_setup, event_teardown);
}
