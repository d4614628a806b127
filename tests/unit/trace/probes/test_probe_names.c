/*
 * Arguments of probe events by their names in the source, on the fake machine and with a few types:
 * what they become, how they are listed, their mistakes, and arguments that are kept until the return.
 */
#include "unit.h"
#include "allocations.h"
#include "tracefs.h"
#include "trace/events/event_parse.h"
#include "probe_help.h"
#include <trace/host_tracepoints.h>
#include <trace/trace.h>
#include "probe_types.h"
#include "text/str.h"
#include "types/btf.h"

static char bad_page[FAKE_PAGE_BYTES] __attribute__((aligned(FAKE_PAGE_BYTES)));
static struct file other = { .name = "other",
			     .next = (const struct file *)(const void *)bad_page,
			     .pos = -7 };
static struct file file = { .name = "first",
			    .path = { "/tmp/file", 9 },
			    .next = &other,
			    .mode = 5,
			    .level = -4,
			    .is_open = 1,
			    .kind = 3,
			    .pos = 1ll << 40 };
static uintptr_t stack[] = { 0, 77, 0x222 };

static int setup(void **state)
{
	int err;

	probe_types_make();
	err = event_setup(state);
	assert_true(trace_btf_is_loaded());
	return err;
}

static int begin(void **state)
{
	int err = event_reset(state);

	probe_types_name();
	fake_bad_page = bad_page;
	return err;
}

static int end(void **state)
{
	(void)state;
	probe_events_end();
	fake_bad_page = NULL;
	fake_file_names = NULL;
	fake_run(-1);
	fake_cpus[0].pid = 0;
	return 0;
}

static void define(const char *line)
{
	if (echo_append(line, "dynamic_events"))
		fail_msg("%s: %s", line, cat("error_log"));
}

static const uint64_t passed[FAKE_NR_ARGS] = {
	(uintptr_t)&file, 0x12345, (uintptr_t) "a text", 4096, 0x101, 6
};

static void call_func(size_t func)
{
	struct ftrace_regs regs = { .parent = PARENT, .slot = stack };
	enum fake_via via;

	memcpy(regs.arg, passed, sizeof(passed));
	(void)fake_call_regs(func, &regs, &via);
}

/* The event that a call of do_work() makes, when its line has these arguments. */
static void check_call(const char *args, const char *listed, const char *recorded)
{
	char line[200], want[200], tool[200];

	snprintf(line, sizeof(line), "p:my/call do_work %s", args);
	define(line);
	snprintf(want, sizeof(want), "p:my/call do_work %s\n", listed);
	assert_string_equal(cat("dynamic_events"), want);
	event_on("my/call");
	call_func(DO_WORK);
	snprintf(want, sizeof(want), "call: (do_work+0x0/0x10) %s", recorded);
	snprintf(tool, sizeof(tool), "call: (do_work+0x0) %s", event_line_of_tool(recorded));
	event_is_for(want, tool);
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo_append("-:my/call", "dynamic_events"), 0);
}

/* As many bytes count as the type has. */
static void arguments(void **state)
{
	(void)state;
	check_call("nr size", "nr=nr size=size", "nr=9029 size=4096");
	check_call("a=size:x64 nr:u8 now", "a=size:x64 nr=nr:u8 now=now", "a=0x1000 nr=69 now=1");
	check_call("text:string last", "text=text:string last=last", "text=\"a text\" last=77");
	check_call("$arg2 $arg4:x32 $arg6 x=$arg4", "nr=nr size=size:x32 arg3=$arg6 x=$arg4",
		   "nr=9029 size=0x1000 arg3=0x6 x=0x1000");
	check_call("+0(text):x8[3] \\1", "arg1=+0(text):x8[3] arg2=\\1",
		   "arg1={0x61,0x20,0x74} arg2=0x1");
}

static void members(void **state)
{
	(void)state;
	check_call("file->name:string p=file->path.text:string file->path.len",
		   "arg1=file->name:string p=file->path.text:string arg3=file->path.len",
		   "arg1=\"first\" p=\"/tmp/file\" arg3=9");
	check_call("file->next->name:string pos=file->next->pos file->next->next->pos",
		   "arg1=file->next->name:string pos=file->next->pos arg3=file->next->next->pos",
		   "arg1=\"other\" pos=-7 arg3=0");
	check_call("o=file->is_open k=file->kind n=file->name:x8[2]",
		   "o=file->is_open k=file->kind n=file->name:x8[2]", "o=1 k=3 n={0x66,0x69}");
}

static void bit_fields(void **state)
{
	(void)state;
	check_call("file->mode l=file->level m=file->mode:x8 w=file->mode:b8@0/32",
		   "arg1=file->mode l=file->level m=file->mode:x8 w=file->mode:b8@0/32",
		   "arg1=5 l=-4 m=0x5 w=229");
	check_call("p=file->packed", "p=file->packed", "p=48");
}

static void all_arguments(void **state)
{
	(void)state;
	define("f:my/all do_work $arg*");
	define("p:my/none yield $arg*");
	define("p:my/some kfree first=$arg1 $arg*");
	/* 2^32 + 1 is not 1. */
	assert_int_equal(echo_append("p:my/far kfree $arg4294967297", "dynamic_events"), -EINVAL);
	assert_string_equal(cat("dynamic_events"),
			    "f:my/all do_work file=file nr=nr text=text size=size now=now "
			    "arg6=$arg6 last=last\n"
			    "p:my/none yield\n"
			    "p:my/some kfree first=$arg1 pair=pair file=file\n");
	assert_non_null(strstr(cat("events/my/all/format"), "\tfield:u64 file;\toffset:12;"));
	assert_non_null(
		strstr(cat("events/my/all/format"), "\tfield:u16 nr;\toffset:20;\tsize:2;"));
}

/* A struct takes two registers. */
static void behind_a_struct(void **state)
{
	(void)state;
	define("p:my/third kfree third=+0($arg3):string file=+0(file):string");
	event_on("my/third");
	call_func(KFREE);
	event_is_for("third: (kfree+0x0/0x10) third=\"a text\" file=\"a text\"",
		     "third: (kfree+0x0) third=\"a text\" file=\"a text\"");
}

static void running_thread(void **state)
{
	(void)state;
	fake_run(1);
	check_call("$current->comm:string pid=$current->pid",
		   "arg1=$current->comm:string pid=$current->pid", "arg1=\"init\" pid=1");
	check_call("+0($current):s32 $COMM c=$comm", "arg1=+0($current):s32 arg2=$COMM c=$comm",
		   "arg1=1 arg2=\"init\" c=\"init\"");
	define("e:my/on sched.sched_switch pid=$current->pid now=$current");
	define("p:my/middle yield+8 pid=$current->pid");
}

/* ---- Casts ---- */

static void casts(void **state)
{
	(void)state;
	check_call("(file)%di->name:string pos=(file)$arg1->pos m=(file)file->mode",
		   "arg1=(file)%di->name:string pos=(file)$arg1->pos m=(file)file->mode",
		   "arg1=\"first\" pos=1099511627776 m=5");
	check_call("(file)%di->path.text:string (file)%di->next->name:string l=(file)%di->level",
		   "arg1=(file)%di->path.text:string arg2=(file)%di->next->name:string "
		   "l=(file)%di->level",
		   "arg1=\"/tmp/file\" arg2=\"other\" l=-4");
	/* A typedef of a struct; an array of bytes; an address that cannot be read. */
	check_call(
		"(pair_t)%di->a:x64 n=(file)%di->name:x8[2] f=(file)(file->next->next)->pos",
		"arg1=(pair_t)%di->a:x64 n=(file)%di->name:x8[2] f=(file)(file->next->next)->pos",
		"arg1=0x7473726966 n={0x66,0x69} f=0");
}

/* The value is any other: a cast itself, a read, the address of a member. */
static void casts_of_all(void **state)
{
	(void)state;
	check_call("a=(file)(file->next)->name:string p=(file)((file)%di->next)->pos",
		   "a=(file)(file->next)->name:string p=(file)((file)%di->next)->pos",
		   "a=\"other\" p=-7");
	check_call("l=+8((file)%di->next):x8[2] p=(file)+32(%di)->pos",
		   "l=+8((file)%di->next):x8[2] p=(file)+32(%di)->pos", "l={0x0,0x0} p=-7");
	stack[2] = (uintptr_t)&file.path.len;
	check_call("n=(file,path.len)$stack2->name:string l=(file,path.len)$stack2->level",
		   "n=(file,path.len)$stack2->name:string l=(file,path.len)$stack2->level",
		   "n=\"first\" l=-4");
	check_call("(file,path.len)($stack2)->next->pos",
		   "arg1=(file,path.len)($stack2)->next->pos", "arg1=-7");
	fake_run(1);
	check_call("(fake_thread)$current->pid", "arg1=(fake_thread)$current->pid", "arg1=1");
	define("p:my/middle do_work+8 (file)%di->pos (file)(\\0x10)->pos");
	define("r:my/back yield (file)$retval->pos");
	define("t:my/switch sched_switch (file)next->pos (sched_thread)$arg3->pid");
}

/* Fields need no `$` there. */
static void casts_of_fields(void **state)
{
	(void)state;
	define("p:my/source do_work file=%di");
	define("e:my/on my.source pos=(file)file->next->pos name=(file)$file->name:string");
	event_on("my/on");
	call_func(DO_WORK);
	event_is_for("on: (my.source) pos=-7 name=\"first\"",
		     "on: (my.source) pos=-7 name=\"first\"");
}

/* ---- Filters and histograms ---- */

static void filtered(void **state)
{
	(void)state;
	define("p:my/call do_work size pos=file->next->pos name=file->name:string");
	assert_int_equal(echo("size > 4000 && pos < 0 && name ~ \"fir*\"", "events/my/call/filter"),
			 0);
	assert_int_equal(echo("hist:keys=pos:vals=size", "events/my/call/trigger"), 0);
	event_on("my/call");
	call_func(DO_WORK);
	assert_non_null(strstr(cat_body("trace"), " size=4096 pos=-7 name=\"first\"\n"));
	assert_non_null(strstr(cat("events/my/call/hist"), "size:       4096"));
	assert_int_equal(echo("pos > 0", "events/my/call/filter"), 0);
	assert_int_equal(echo("", "trace"), 0);
	call_func(DO_WORK);
	assert_string_equal(cat_body("trace"), "");
	assert_int_equal(echo("!hist:keys=pos:vals=size", "events/my/call/trigger"), 0);
}

/* ---- Returns ---- */

static void call_and_return(size_t func, uint64_t value)
{
	fake_args = passed;
	(void)fake_enter(func, PARENT);
	(void)fake_leave(value);
	fake_args = NULL;
}

static void results(void **state)
{
	(void)state;
	define("r:my/back do_work $retval");
	define("r:my/file yield pos=$retval->next->pos name=$retval->name:string");
	fake_run(1);
	event_on("my/back");
	call_and_return(DO_WORK, (uint32_t)-22);
	event_is_for("back: (yield+0x4/0x10 <- do_work) arg1=-22",
		     "back: (yield+0x4 <- do_work) arg1=-22");
	event_on("my/file");
	call_and_return(YIELD, (uintptr_t)&file);
	event_is_for("file: (yield+0x4/0x10 <- yield) pos=-7 name=\"first\"",
		     "file: (yield+0x4 <- yield) pos=-7 name=\"first\"");
}

/* Two words are in the frame of the call, five beside it. */
static void arguments_at_returns(void **state)
{
	(void)state;
	define("r:my/few do_work size $retval second=$arg2:u16");
	define("f:my/many do_work%return nr $arg3:string size now n=$arg6 file->path.len $retval");
	assert_string_equal(cat("dynamic_events"),
			    "r:my/few do_work size=size arg2=$retval second=$arg2:u16\n"
			    "f:my/many do_work%return nr=nr text=text:string size=size now=now "
			    "n=$arg6 arg6=file->path.len arg7=$retval\n");
	fake_run(1);
	event_on("my/few");
	call_and_return(DO_WORK, 3);
	event_is_for("few: (yield+0x4/0x10 <- do_work) size=4096 arg2=3 second=9029",
		     "few: (yield+0x4 <- do_work) size=4096 arg2=3 second=9029");
	event_on("my/many");
	call_and_return(DO_WORK, 3);
	event_is_for("many: (yield+0x4/0x10 <- do_work) nr=9029 text=\"a text\" size=4096 now=1 "
		     "n=0x6 arg6=9 arg7=3",
		     "many: (yield+0x4 <- do_work) nr=9029 text=\"a text\" size=4096 now=1 "
		     "n=0x6 arg6=9 arg7=3");
}

/* ---- Tracepoints ---- */

static void tracepoints(void **state)
{
	static const struct trace_sched_thread prev = { .pid = 1, .comm = "one" },
					       next = { .pid = 2, .comm = "two" };

	(void)state;
	define("t:my/all sched_switch $arg*");
	define("t:my/switch sched_switch prev->comm:string next->pid third=$arg3");
	assert_string_equal(cat("dynamic_events"),
			    "t:my/all sched_switch prev=prev next=next\n"
			    "t:my/switch sched_switch arg1=prev->comm:string arg2=next->pid "
			    "third=$arg3\n");
	event_on("my/switch");
	trace_sched_switch(&prev, &next);
	assert_non_null(strstr(cat_body("trace"), " arg1=\"one\" arg2=2 third=0x"));
}

/* ---- Mistakes ---- */

static void check_mistake(const struct mistake *mistake)
{
	check_refused(mistake, "dynamic_events", NULL, 0);
}

static void mistakes(void **state)
{
	static const struct mistake all[] = {
		{ "p do_work ^nothing", "This variable is not found at this probe point" },
		{ "p do_work ^$arg9", "This variable is not found at this probe point" },
		{ "p do_work size=size text ^nothing $arg*",
		  "This variable is not found at this probe point" },
		{ "p schedule ^file", "No BTF entry for this probe point" },
		{ "r schedule $retval->^pos", "No BTF entry for this probe point" },
		{ "p do_work+8 ^file",
		  "BTF is not available or not supported: names are those of arguments, at the "
		  "entry of a function and at its return" },
		{ "e sched.sched_switch ^prev", "BTF is not available or not supported" },
		{ "e sched.sched_switch $next_pid ^prev_pid",
		  "BTF is not available or not supported: a field has a $ in front" },
		{ "p schedule ^$arg*", "BTF is not available or not supported" },
		{ "p do_work+8 ^$arg*", "$arg* can be used only on function entry or exit" },
		{ "p do_work $arg* ^$arg*", "$arg* can be used only once in the parameters" },
		{ "p do_work all=^$arg*",
		  "$arg* must be an independent parameter without name etc." },
		{ "p do_work +0(^$arg*)",
		  "$arg* must be an independent parameter without name etc." },
		{ "p do_work size ^$arg*", "This argument name is already used" },
		{ "p do_work $arg* ^size", "This argument name is already used" },
		{ "p do_work size->^pos", "This is not a pointer to union/structure." },
		{ "p do_work file->pos->^pos", "This is not a pointer to union/structure." },
		{ "p do_work file->pos.^pos", "Failed to get BTF type info." },
		{ "p do_work text->^pos", "Failed to get BTF type info." },
		{ "p do_work file.^pos", "Non pointer structure/union argument is not supported." },
		{ "p do_work file->^nothing", "This field is not found." },
		{ "p do_work file->path.^nothing", "This field is not found." },
		{ "p do_work file->^", "This field is not found." },
		{ "p do_work file^-.pos", "Failed to parse single hyphen. Forgot '>'?" },
		{ "p do_work file->next^-pos", "Failed to parse single hyphen. Forgot '>'?" },
		{ "p do_work file^-", "Failed to parse single hyphen. Forgot '>'?" },
		{ "p do_work ^file:string", "This type does not fit for string." },
		{ "p do_work file->^pos:string", "This type does not fit for string." },
		{ "p do_work x=file->^next:ustring", "This type does not fit for string." },
		{ "p do_work size:^s128", "Unknown type is specified" },
		{ "r kfree ^$retval", "This function returns 'void' type" },
		{ "p do_work ^$retval->pos", "$retval is not available on probe" },
		{ "r do_work $retval->^pos", "This is not a pointer to union/structure." },
		{ "r do_work $retval.^pos",
		  "Non pointer structure/union argument is not supported." },
		{ "r do_work size ^last", "Too many entry arguments specified" },
		{ "r do_work ^$arg7", "Too many entry arguments specified" },
		{ "p do_work $current->^nothing", "This field is not found." },
		{ "t sched_switch ^nothing", "This variable is not found at this probe point" },
		{ "t sched_wakeup ^$arg*", "Argument name is too long" },
		{ "t sched_wakeup a=$comm ^a_name_of_more_than_thirty_two_letters:u64",
		  "Argument name is too long" },
		{ "t sched_switch ^funcs_", "This variable is not found at this probe point" },
		{ "t sched_waking ^waker", "No BTF entry for this probe point" },
		{ "p do_work a=(file)file^", "Typecast requires a field access" },
		{ "p do_work a=(file)(%di)^", "Typecast requires a field access" },
		{ "p do_work a=(file)(%di)^.pos", "Typecast requires a field access" },
		{ "p do_work a=(file)+8(%di)^", "Typecast requires a field access" },
		{ "p do_work a=(a)((b)((c)(^(d)file->d)->c)->b)->a",
		  "Too many nested typecasts/dereferences" },
		{ "p do_work a=(file,^level)%di->pos",
		  "Typecast field option is not byte-aligned" },
		{ "p do_work a=(file,^nothing)%di->pos", "This field is not found." },
		{ "p do_work a=(file,^->pos)%di->pos", "This field is not found." },
		{ "p do_work a=(file,^.pos)%di->pos", "This field is not found." },
		{ "p do_work a=(file,^.)%di->pos", "This field is not found." },
		{ "p do_work a=(file,^)%di->pos", "This field is not found." },
		{ "p do_work a=(file)%di->^nothing", "This field is not found." },
		{ "p do_work a=(file)%di->^", "This field is not found." },
		{ "p do_work a=(file,next^->pos)%di->pos",
		  "Typecast field option does not support -> operator" },
		{ "p do_work a=(^nothing)%di->pos", "This is not a pointer to union/structure." },
		{ "p do_work a=(^kind)%di->pos", "This is not a pointer to union/structure." },
		{ "p do_work a=(^)%di->pos", "This is not a pointer to union/structure." },
		{ "p do_work a=(file)(^file->mode)->pos",
		  "This is not a pointer to union/structure." },
		{ "p do_work a=(file)^@symbol+10->pos",
		  "@SYM+/-OFFSET with typecast needs parentheses" },
		{ "p do_work a=(file^", "Dereference brace is not closed" },
		{ "p do_work a=(file)^(%di->pos", "Dereference brace is not closed" },
		{ "p do_work a=(file)+8(%di->pos^", "Dereference brace is not closed" },
		{ "p do_work a=+8((file)^(%di->pos)", "Dereference brace is not closed" },
		{ "p do_work a=(file)^+8%di->pos", "Dereference needs a brace" },
		{ "p do_work a=(file)^$comm->pos", "$comm can not be dereferenced" },
		{ "p do_work a=(file)^->pos", "Dereference needs a brace" },
		{ "p do_work a=(file)(^)->pos", "Invalid fetch argument" },
		{ "p do_work a=(file)%di^-pos", "Typecast requires a field access" },
		{ "p do_work a=(file)^nothing->pos",
		  "This variable is not found at this probe point" },
		{ "p do_work+8 a=(file)^file->pos",
		  "BTF is not available or not supported: names are those of arguments, at the "
		  "entry of a function and at its return" },
		{ "e sched.sched_switch a=(file)^nothing->pos",
		  "Attached event does not have this field" },
		{ "p do_work file:^%pd", "Unknown type is specified" },
		{ "p do_work file:^%pD", "Unknown type is specified" },
		{ "p do_work "
		  "^file->next->next->next->next->next->next->next->next->next->next->next",
		  "Argument expression is too long" },
	};

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++)
		check_mistake(&all[i]);
	assert_string_equal(cat("dynamic_events"), "");
}

/* In place of a dentry a file has `next`, whose name is `path.text`. */
static const struct trace_plat_file_names file_names = {
	.file = "file",
	.dentry = "file",
	.file_dentry = offsetof(struct file, next),
	.dentry_name = offsetof(struct file, path.text),
};

static void names_of_files(void **state)
{
	static const struct mistake all[] = {
		{ "p do_work ^nr:%pd", "This type does not fit for %pd." },
		{ "p do_work file->^mode:%pD", "This type does not fit for %pD." },
		{ "p do_work ^text:%pD", "This type does not fit for %pD." },
		{ "r do_work ^$retval:%pd", "This type does not fit for %pd." },
		{ "p do_work a=$comm:^%pd", "$comm and immediate-string only accepts string type" },
		{ "p do_work a=\\\"b\":^%pD",
		  "$comm and immediate-string only accepts string type" },
		{ "p do_work file:^%pd[2]", "Unknown type is specified" },
		{ "p do_work file:^%ps", "Unknown type is specified" },
	};
	static const struct trace_plat_file_names others = { .file = "none", .dentry = "pair" };

	(void)state;
	fake_file_names = &file_names;
	check_call("file:%pd a=$arg1:%pd d=%di:%pd", "file=file:%pd a=$arg1:%pd d=%di:%pd",
		   "file=\"/tmp/file\" a=\"/tmp/file\" d=\"/tmp/file\"");
	other.path.text = "the other";
	check_call("file:%pD n=file->next:%pd b=file->next->next:%pd",
		   "file=file:%pD n=file->next:%pd b=file->next->next:%pd",
		   "file=\"the other\" n=\"the other\" b=(fault)");
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++)
		check_mistake(&all[i]);
	assert_non_null(strstr(cat("README"), "%pd/%pD"));
	fake_file_names = &others;
	check_mistake(
		&(struct mistake){ "p do_work ^file:%pD", "This type does not fit for %pD." });
	check_mistake(
		&(struct mistake){ "p do_work ^file:%pd", "This type does not fit for %pd." });
}

static void no_memory(void **state)
{
	long nr;
	int err;

	(void)state;
	for (long budget = 0;; budget++) {
		fake_alloc_budget = budget;
		err = echo_append("r:my/a do_work $arg* $retval", "dynamic_events");
		fake_alloc_budget = -1;
		if (err != -ENOMEM)
			break;
		assert_string_equal(cat("dynamic_events"), "");
	}
	assert_int_equal(err, -EINVAL); /* `last` is on the stack */
	for_each_allocation(
		nr, echo_append("r:my/a do_work $arg1 $arg2 $arg3 $arg4 $retval", "dynamic_events"))
		assert_string_equal(cat("dynamic_events"), "");
}

/* ---- Without types ---- */

static void without_types(void **state)
{
	static const struct mistake all[] = {
		{ "p do_work ^file", "BTF is not available or not supported" },
		{ "p do_work ^$arg*", "BTF is not available or not supported" },
		{ "r do_work $retval->^pos", "BTF is not available or not supported" },
		{ "p do_work $current->^pid", "BTF is not available or not supported" },
		{ "p do_work a=(^file)%di->pos", "BTF is not available or not supported" },
	};

	(void)state;
	assert_non_null(strstr(cat("README"), "<argname>[->field[->field|.field...]]"));
	trace_btf_unload();
	assert_null(strstr(cat("README"), "<argname>"));
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(all); i++)
		check_mistake(&all[i]);
	define("r:my/a do_work $arg1 $retval $current");
	assert_string_equal(cat("dynamic_events"),
			    "r:my/a do_work arg1=$arg1 arg2=$retval arg3=$current\n");
	assert_int_equal(trace_btf_load(fake_btf, fake_btf_bytes), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(arguments, begin, end),
		cmocka_unit_test_setup_teardown(members, begin, end),
		cmocka_unit_test_setup_teardown(names_of_files, begin, end),
		cmocka_unit_test_setup_teardown(bit_fields, begin, end),
		cmocka_unit_test_setup_teardown(all_arguments, begin, end),
		cmocka_unit_test_setup_teardown(behind_a_struct, begin, end),
		cmocka_unit_test_setup_teardown(running_thread, begin, end),
		cmocka_unit_test_setup_teardown(casts, begin, end),
		cmocka_unit_test_setup_teardown(casts_of_all, begin, end),
		cmocka_unit_test_setup_teardown(casts_of_fields, begin, end),
		cmocka_unit_test_setup_teardown(filtered, begin, end),
		cmocka_unit_test_setup_teardown(results, begin, end),
		cmocka_unit_test_setup_teardown(arguments_at_returns, begin, end),
		cmocka_unit_test_setup_teardown(tracepoints, begin, end),
		cmocka_unit_test_setup_teardown(mistakes, begin, end),
		cmocka_unit_test_setup_teardown(no_memory, begin, end),
		cmocka_unit_test_setup_teardown(without_types, begin, end),
	};

	return cmocka_run_group_tests(tests, setup, event_teardown);
}
