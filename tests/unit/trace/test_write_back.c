/*
 * Lines that a file of tracefs lists can be written to it with `!` in front, `-:` for dynamic
 * events, and each takes exactly itself away. All files are walked; each that can be written to is either one of those
 * or is named here.
 */
#include "unit.h"
#include "trace/hist/hist_help.h"
#include "text/str.h"
#include <trace/kprobe.h>

#define SWITCH "events/sched/sched_switch/trigger"
#define WAKING "events/sched/sched_waking/trigger"
#define WAKEUP "events/sched/sched_wakeup/trigger"

/* ---- Lines of the lists: of each form one, with others beside it ---- */

static const struct {
	const char *path, *text;
} forms[] = {
	{ "synthetic_events", "woken u64 lat; pid_t pid; char comm[16]" },
	{ "synthetic_events", "slow u64 lat; long[] stack" },
	{ "dynamic_events", "s:synthetic/slower u64 lat; char name[]" },
	{ "kprobe_events", "p:my/plain schedule" },
	{ "kprobe_events", "p:my/inside schedule+8 a=%di b=$stack0:x8" },
	{ "kprobe_events", "p do_work text=\\\"a_text\" array=+0(%si):u8[4] bits=%di:b3@1/8" },
	{ "kprobe_events", "p:my/two do_work+8" },
	{ "kprobe_events", "p:my/two yield+8" },
	{ "kprobe_events", "r:my/back schedule $retval" },
	{ "kprobe_events", "r16:my/many yield $retval $comm" },
	{ "kprobe_events", "p:my/way schedule%return" },
	{ "dynamic_events", "f:my/entry do_work arg=$arg1" },
	{ "dynamic_events", "f:my/exit do_work%return $retval" },
	{ "dynamic_events", "t:my/point sched_switch next=+16($arg2):s32" },
	{ "dynamic_events", "w:my/watched w@promise:8 old=$old $value" },
	{ "dynamic_events", "e:my/part sched.sched_switch $comm a=$prev_pid:s32" },
	{ "dynamic_events", "e:my/some sched.sched_switch a=$prev_pid if prev_pid == 1" },
	{ "monitors", "m:one a -sched_switch-> b -sched_waking-> a" },
	{ "monitors", "m:two per=cpu a -sched_switch-> a" },
	{ "rv/enabled_monitors", "one wwnr" },
	{ "set_event", "sched:sched_switch" },
	{ "set_event", "harbour:*" },
	{ "set_event", "my:plain" },
	{ "set_event_pid", "1 7 2147483647" },
	{ "set_event_notrace_pid", "0 8" },
	{ "set_ftrace_pid", "0 1 9" },
	{ "set_ftrace_notrace_pid", "5" },
	{ "set_graph_function", "schedule yield" },
	{ "set_graph_notrace", "do_work" },
	{ "set_ftrace_notrace", "kfree yield" },
	{ "stack_trace_filter", "schedule kfree" },
	{ "set_ftrace_filter", "schedule kfree" },
	{ "set_ftrace_filter", "schedule:traceoff" },
	{ "set_ftrace_filter", "schedule:traceon:7" },
	{ "set_ftrace_filter", "yield:traceoff:0x10" },
	{ "set_ftrace_filter", "yield:traceon" },
	{ "set_ftrace_filter", "*:stacktrace:3" },
	{ "set_ftrace_filter", "kfree:stacktrace" },
	{ "set_ftrace_filter", "yield:snapshot" },
	{ "set_ftrace_filter", "yield:snapshot:1" },
	{ "set_ftrace_filter", "kfree:dump" },
	{ "set_ftrace_filter", "kfree:cpudump" },
	{ "set_ftrace_filter", "schedule:enable_event:sched:sched_wakeup" },
	{ "set_ftrace_filter", "yield:enable_event:sched:sched_wakeup:4" },
	{ "set_ftrace_filter", "yield:disable_event:sched:sched_switch" },
	{ "set_ftrace_filter", "schedule:disable_event:sched:sched_switch:2" },
	{ SWITCH, "traceoff" },
	{ SWITCH, "stacktrace:5" },
	{ SWITCH, "snapshot if prev_pid == 7 || (next_comm ~ \"s*\" && !prev_prio & 4)" },
	{ SWITCH, "enable_event:sched:sched_waking" },
	{ SWITCH, "disable_event:sched:sched_wakeup:3 if prev_pid != 0" },
	{ SWITCH, "enable_hist:harbour:cargo:1" },
	{ SWITCH, "disable_hist:harbour:widths if next_pid == 1" },
	{ WAKING, "traceon:0 if pid > 3" },
	{ WAKING, "stacktrace if comm == \"[active]\"" },
	{ WAKING, "snapshot:0x20" },
	{ "events/ftrace/print/trigger", "stacktrace if buf ~ \"*here*\"" },
	{ "events/my/plain/trigger", "traceoff:2" },
	{ "events/my/plain/trigger", "hist:keys=common_cpu" },
	{ SWITCH, "hist:keys=next_pid" },
	{ SWITCH, "hist:keys=next_pid:pause" },
	{ SWITCH, "hist:keys=next_pid if prev_pid == 0" },
	{ SWITCH, "hist:keys=next_pid:vals=017,0x3f" },
	{ SWITCH, "hist:keys=next_pid:vals=00,next_prio" },
	{ SWITCH, "hist:keys=next_pid:x=017,y=0x3f:z=00" },
	{ SWITCH, "hist:keys=next_pid:u=15,v=2*3:w=0x10/010,m=-1" },
	{ SWITCH, "hist:keys=next_pid:mul=next_pid*0x2,sum=(prev_pid+017)*3" },
	{ SWITCH, "hist:keys=0x10,next_pid" },
	{ SWITCH, "hist:keys=common_pid.execname,next_prio.log2,prev_prio.buckets=07:vals=next_pid."
		  "hex,hitcount.percent:sort=common_pid,next_prio.descending" },
	{ SWITCH, "hist:key=next_prio.bucket=0x10:sort=next_prio.descending" },
	{ SWITCH, "hist:keys=next_comm,cpu,common_stacktrace:values=prev_pid.graph:sort=cpu:size="
		  "100:nohitcount" },
	{ SWITCH, "hist:keys=common_timestamp.usecs,comm:clock=local:sort=common_timestamp" },
	{ SWITCH, "hist:keys=stacktrace,common_comm:name=stacks" },
	{ "events/harbour/cargo/trigger", "hist:keys=func.sym,nr.syscall:sort=func.descending,nr" },
	{ "events/harbour/cargo/trigger", "hist:keys=func.sym-offset:sort=func if bytes > 3" },
	{ WAKING, "hist:keys=pid:a=prio,ts0=common_timestamp.usecs if comm != \"x if y\"" },
	{ WAKEUP, "hist:keys=pid:b=$a:c=$ts0:d=common_timestamp.usecs-$ts0" },
	{ WAKEUP, "hist:keys=pid:e=sched.sched_waking.$a:f=sched.sched_waking.$ts0-1" },
	{ SWITCH, "hist:keys=next_pid:lat=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking)."
		  "woken($lat,next_pid,next_comm)" },
	{ SWITCH, "hist:keys=next_pid:late=common_timestamp.usecs-$ts0:onmax($late).save(next_prio,"
		  "prev_comm):onchange($late).snapshot()" },
	{ SWITCH, "hist:keys=next_pid:later=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking)"
		  ".trace(woken,$later,prio,next_comm)" },
};

/* ---- The files ---- */

/* In these each line is a thing of its own, which `!` takes away. */
static const char *const lists[] = {
	"trigger",
	"set_event",
	"set_event_pid",
	"set_event_notrace_pid",
	"set_ftrace_pid",
	"set_ftrace_notrace_pid",
	"set_ftrace_filter",
	"set_ftrace_notrace",
	"set_graph_function",
	"set_graph_notrace",
	"stack_trace_filter",
	"kprobe_events",
	"dynamic_events",
	"synthetic_events",
	"monitors",
	"enabled_monitors",
	NULL,
};
/* These have one value, or a choice of them, or take what they do not show. */
static const char *const others[] = {
	"buffer_percent", "buffer_size_kb",  "buffer_subbuf_size_kb",
	"current_tracer", "enable",	     "error_log",
	"filter",	  "free_buffer",     "function_profile_enabled",
	"inject",	  "max_graph_depth", "monitoring_on",
	"reacting_on",	  "reactors",	     "saved_cmdlines_size",
	"snapshot",	  "stack_max_size",  "trace",
	"trace_clock",	  "trace_marker",    "trace_marker_raw",
	"trace_options",  "tracing_cpumask", "tracing_max_latency",
	"tracing_on",	  "tracing_thresh",  NULL,
};

static bool is_among(const char *const *names, const char *name)
{
	for (; *names; names++) {
		if (trace_streq(*names, name))
			return true;
	}
	return false;
}

#define LINES_MAX 1000u
static struct line {
	char path[120];
	char text[600];
} lines[2][LINES_MAX];
static size_t nr_lines[2];

static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A line of a list that says that it is empty, or what may be written. */
static bool is_remark(const char *text)
{
	return *text == '#' || !*text || trace_streq(text, "no pid");
}

/* Is the event only listed in set_event because a trigger or a command waits for it, as on Linux? */
static bool is_off(const struct line *line)
{
	const char *name = name_in(line->path);
	char path[800];

	if (!trace_streq(name, "set_event"))
		return false;
	snprintf(path, sizeof(path), "%.*sevents/%s/enable", (int)(name - line->path), line->path,
		 line->text);
	*strchr(path, ':') = '/';
	return *cat(path) == '0';
}

static void note_lines(size_t set, const char *path)
{
	char *copy = strdup(cat(path)), *text = copy, *end;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		struct line *line = &lines[set][nr_lines[set]];

		assert_true(nr_lines[set] < LINES_MAX);
		snprintf(line->path, sizeof(line->path), "%s", path);
		snprintf(line->text, sizeof(line->text), "%.*s", (int)(end - text), text);
		nr_lines[set] += !is_remark(line->text) && !is_off(line);
	}
	free(copy);
}

static void walk(size_t set, struct trace_node *dir, const char *path)
{
	struct trace_node *node = NULL;
	char name[120];

	while ((node = trace_fs_next_child(dir, node))) {
		snprintf(name, sizeof(name), "%s%s%s", path, *path ? "/" : "", node->name);
		if (node->is_dir)
			walk(set, node, name);
		else if (trace_streq(dir->name, "options") || trace_streq(dir->name, "trace_stat"))
			continue;
		else if (is_among(lists, node->name))
			note_lines(set, name);
		else if (node->mode & 0222 && !is_among(others, node->name))
			fail_msg("%s: is what it shows to be removed with `!`?", name);
	}
}

static void look(size_t set)
{
	nr_lines[set] = 0;
	walk(set, trace_fs_root(), "");
}

/* The same files as before, without those that have gone. */
static void look_again(void)
{
	const char *last = "";

	nr_lines[1] = 0;
	for (size_t i = 0; i < nr_lines[0]; i++) {
		const char *path = lines[0][i].path;

		if (!trace_streq(path, last) && node_of(path))
			note_lines(1, path);
		last = path;
	}
}

/* ---- Removing ---- */

/* Does another list show the same thing: a probe in dynamic_events, a monitor that is enabled? */
static bool is_mirror(const struct line *gone, const struct line *other)
{
	const char *text = gone->text, *shown = other->text;

	if (trace_streq(text, shown))
		return !trace_streq(gone->path, other->path);
	if (trace_str_starts(shown, "s:synthetic/"))
		return trace_streq(shown + 12, text);
	if (trace_str_starts(text, "s:synthetic/"))
		return trace_streq(text + 12, shown);
	if (trace_str_starts(text, "m:") && trace_streq(name_in(other->path), "enabled_monitors"))
		return trace_str_starts(text + 2, shown) && text[2 + strlen(shown)] == ' ';
	/* Memory for a field that the histogram took goes with it. */
	return trace_str_starts(text, "hist:") && strstr(shown, ":synthetic_");
}

/* Set 1 is set 0 without line `gone`, and without its mirrors. */
static void check_gone(size_t gone, const char *written)
{
	size_t at = 0;

	for (size_t i = 0; i < nr_lines[0]; i++) {
		const struct line *was = &lines[0][i], *is = &lines[1][at];

		if (at < nr_lines[1] && i != gone && trace_streq(was->path, is->path) &&
		    trace_streq(was->text, is->text))
			at++;
		else if (i != gone && !is_mirror(&lines[0][gone], was))
			fail_msg("%s > %s has taken away %s: %s", written, lines[0][gone].path,
				 was->path, was->text);
	}
	if (at < nr_lines[1])
		fail_msg("%s > %s is left in %s: %s", written, lines[0][gone].path,
			 lines[1][at].path, lines[1][at].text);
}

static const char *removal_of(const char *text, bool is_dash)
{
	static char removal[700];
	const char *colon = strchr(text, ':');

	if (is_dash)
		snprintf(removal, sizeof(removal), "-%s", colon);
	else
		snprintf(removal, sizeof(removal), "!%s", text);
	return removal;
}

/* Is `-:` a form of that list? */
static bool takes_dash(const char *path)
{
	return trace_streq(path, "kprobe_events") || trace_streq(path, "dynamic_events") ||
	       trace_streq(path, "monitors");
}

/* Remove line `at` of set 0. False: it is in use. */
static bool remove_line(size_t at, bool is_dash)
{
	const struct line *line = &lines[0][at];
	const char *text = removal_of(line->text, is_dash && takes_dash(line->path));
	int err = echo_append(text, line->path);

	if (err == -EBUSY)
		return false;
	if (err)
		fail_msg("%s > %s: %d, %s", text, line->path, err, cat("error_log"));
	look_again();
	check_gone(at, text);
	memcpy(lines[0], lines[1], sizeof(lines[0][0]) * nr_lines[1]);
	nr_lines[0] = nr_lines[1];
	return true;
}

/* Remove the lines, as far as they are not in use. */
static void remove_lines(bool is_backward, bool is_dash)
{
	size_t at = is_backward ? nr_lines[0] : 0;

	while (is_backward ? at : at < nr_lines[0]) {
		at -= is_backward;
		if (!remove_line(at, is_dash))
			at += !is_backward;
		else if (at > nr_lines[0])
			at = nr_lines[0];
	}
}

/* ---- The tests ---- */

static void set_all(const char *instance)
{
	char path[120];

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", instance, forms[i].path);
		if (!node_of(path))
			continue; /* it is not each instance's */
		if (echo_append(forms[i].text, path))
			fail_msg("%s > %s: %s", forms[i].text, path, cat("error_log"));
	}
}

static void all_can_be_taken_away(bool is_backward, bool is_dash)
{
	static uint64_t promise;
	static const struct fake_variable variables[] = { { "promise", &promise, 8 },
							  { .name = NULL } };

	fake_variables = variables;
	look(0);
	assert_int_equal(nr_lines[0], 0);
	set_all("");
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "two"), 0);
	set_all("instances/two/");
	look(0);
	assert_true(nr_lines[0] > sizeof(forms) / sizeof(forms[0]));
	for (size_t before = 0; nr_lines[0]; before = nr_lines[0]) {
		remove_lines(is_backward, is_dash);
		if (nr_lines[0] == before)
			fail_msg("%zu lines stay, the first is %s: %s", nr_lines[0],
				 lines[0][0].path, lines[0][0].text);
	}
	look(0);
	assert_int_equal(nr_lines[0], 0);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "two"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
	fake_variables = NULL;
}

static void from_the_first(void **state)
{
	(void)state;
	all_can_be_taken_away(false, false);
}

static void from_the_last(void **state)
{
	(void)state;
	all_can_be_taken_away(true, false);
}

static void with_a_dash(void **state)
{
	(void)state;
	all_can_be_taken_away(false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_the_first),
		cmocka_unit_test(from_the_last),
		cmocka_unit_test(with_a_dash),
	};

	return cmocka_run_group_tests(tests, tracefs_setup, NULL);
}
