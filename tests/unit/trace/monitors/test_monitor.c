/*
 * Monitors: what is written to `monitors` and the files of rv/, what they read as, and what happens
 * at events.
 */
#include "unit.h"
#include "allocations.h"
#include "monitor_help.h"
#include "events/event_scratch.h"
#include "fs/fs_tree.h"
#include "monitors/monitor_private.h"
#include "text/str.h"
#include <trace/event.h>
#include <trace/ring_buffer.h>
#include <trace/thread.h>

#define CREATE_TRACE_POINTS
#include "host/shelf_events.h"

#define ONE "rv/monitors/one/"
/* Full and empty in turn, of all shelves at once. */
#define TURN  "a -shelf_full-> b -shelf_empty-> a"
#define SHELF "events/shelf/shelf_full/"

/* The number that the next type of events gets. Those that have gone are not used again so soon. */
static long next_type(void)
{
	uint32_t type;

	assert_int_equal(echo_append("m:probe a -shelf_full-> a", "monitors"), 0);
	type = trace_monitor_find("probe", 5)->error_call.event.type;
	assert_int_equal(echo_append("-:probe", "monitors"), 0);
	return type;
}

/*
 * Memory without what the registry has for the next types, beside the 256 of the first piece of its
 * table, and without the nodes of directories: those that were looked at keep the old ones, too.
 */
static long memory_in_use(void)
{
	long nr = fake_alloc_out - (next_type() >= 256);

	for (struct node_chunk *at = trace_fs_root()->tree->chunks; at; at = at->next)
		nr--;
	return nr;
}

static int reset(void **state)
{
	int err = tracefs_reset(state);

	memory_out = memory_in_use();

	assert_int_equal(echo("", "error_log"), 0);
	fake_stack_nr = 0;
	return err;
}

static int all_off(void **state)
{
	assert_int_equal(echo("", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("1", "rv/monitoring_on"), 0);
	assert_int_equal(echo("1", "rv/reacting_on"), 0);
	assert_int_equal(echo("0", "events/enable"), 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("", "set_event_pid"), 0);
	assert_int_equal(echo("0", "snapshot"), 0);
	for (struct trace_monitor *m = NULL; (m = trace_monitor_behind(m));)
		trace_monitor_memory_free(m); /* what those that stay keep */
	assert_int_equal(echo("", "monitors"), 0);
	assert_string_equal(cat(SHELF "enable"), "0\n");
	clear_filters();
	(void)state;
	assert_int_equal(memory_in_use(), memory_out);
	return 0;
}

/* ---- Files ---- */

static void list(void **state)
{
	(void)state;
	says("rv/available_monitors", "wip\nwrs\nwwnr\n");
	says("rv/enabled_monitors", "");
	says("rv/available_reactors", "nop\npanic\nprintk\nsnapshot\ntraceoff\n");
	says("rv/monitoring_on", "1\n");
	says("rv/reacting_on", "1\n");
	says("rv/monitors/wip/desc", "wakeup in preemptive per-cpu testing monitor.\n");
	assert_null(node_of("rv/monitors/one"));
	monitor_make("m:one " TURN);
	says("rv/available_monitors", "one\nwip\nwrs\nwwnr\n");
	says(ONE "desc", "m:one " TURN "\n");
	says(ONE "enable", "0\n");
	says(ONE "reactors", "[nop]\npanic\nprintk\nsnapshot\ntraceoff\n");
	says(ONE "state", "# the monitor is off\n");
	assert_true(strncmp(cat("monitors"), "m:one " TURN "\n# m:wip per=cpu preemptive -", 60) ==
		    0);
	cat_chunk = 5;
	has("monitors", "m:one " TURN "\n# m:wip");
	has("events/rv/event_one/format", "field:char state[24];\toffset:16;");
	has("events/rv/error_wwnr/format", "field:int id;\toffset:8;\tsize:4;\tsigned:1;");
	monitor_make("-:one");
	assert_null(node_of("rv/monitors/one"));
	assert_null(node_of("events/rv/event_one"));
	monitor_make("m:one " TURN);
	monitor_make("!one");
	says("rv/available_monitors", "wip\nwrs\nwwnr\n");
}

static void one_at_a_time(void **state)
{
	(void)state;
	monitor_make("m:one " TURN);
	assert_int_equal(echo_append("m:one a -shelf_full-> a", "monitors"), -EEXIST);
	has("error_log", "monitors: error: there is such a monitor already\n"
			 "  Command: m:one a -shelf_full-> a\n             ^\n");
	assert_int_equal(echo_append("m:wip a -shelf_full-> a", "monitors"), -EEXIST);
	assert_int_equal(echo_append("-:wip", "monitors"), -EPERM);
	assert_int_equal(echo_append("-:nosuch", "monitors"), -ENOENT);
	assert_int_equal(echo_append("!", "monitors"), -ENOENT);
	/* Truncation, several lines at once, comments. */
	assert_int_equal(
		echo("m:two a -shelf_full-> a\n# m:three\n\nm:four a -shelf_empty-> a", "monitors"),
		0);
	says("rv/available_monitors", "four\ntwo\nwip\nwrs\nwwnr\n");
	assert_int_equal(
		echo_append("m:five a -shelf_full-> a\nx\nm:six a -shelf_full-> a", "monitors"),
		-EINVAL);
	has("error_log", "error: m:NAME, -:NAME or !NAME is expected\n");
	says("rv/available_monitors", "five\nfour\ntwo\nwip\nwrs\nwwnr\n");
}

/* One of its two events is there already, of another kind: the other one does not stay. */
static void name_of_an_event(void **state)
{
	static const char *const taken[] = { "event_one", "error_one" };
	char line[40];

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(taken); i++) {
		snprintf(line, sizeof(line), "p:rv/%s kfree", taken[i]);
		assert_int_equal(echo_append(line, "dynamic_events"), 0);
		assert_int_equal(echo_append("m:one " TURN, "monitors"), -EEXIST);
		says("rv/available_monitors", "wip\nwrs\nwwnr\n");
		snprintf(line, sizeof(line), "events/rv/%s/format", taken[i]);
		assert_non_null(node_of(line));
		snprintf(line, sizeof(line), "events/rv/%s/format", taken[!i]);
		assert_null(node_of(line));
		assert_int_equal(echo("", "dynamic_events"), 0);
	}
	monitor_make("m:one " TURN);
}

/* No two files of the tree have the same number, whichever place a monitor has. */
static uint32_t collect_ids(struct trace_node *dir, uint64_t *ids, uint32_t nr)
{
	struct trace_node *node = NULL;

	while ((node = trace_fs_next_child(dir, node))) {
		assert_true(nr < 8000);
		ids[nr++] = node->id;
		if (node->is_dir)
			nr = collect_ids(node, ids, nr);
	}
	return nr;
}

static int compare_ids(const void *a, const void *b)
{
	return *(const uint64_t *)a < *(const uint64_t *)b
		       ? -1
		       : *(const uint64_t *)a > *(const uint64_t *)b;
}

static void ids_are_unique(void **state)
{
	static uint64_t ids[8000];
	uint32_t nr;

	(void)state;
	monitor_make("m:one " TURN);
	monitor_make("m:two " TURN);
	nr = collect_ids(trace_fs_root(), ids, 0);
	qsort(ids, nr, sizeof(ids[0]), compare_ids);
	for (uint32_t i = 1; i < nr; i++)
		assert_true(ids[i - 1] < ids[i]);
}

static void make_all(void)
{
	char text[80];

	for (size_t i = 0; i < MONITORS_MAX - 3; i++) {
		snprintf(text, sizeof(text), "m:m%02zu a -shelf_full-> a", i);
		monitor_make(text);
	}
}

/* Memory of the registry of types for that many stays. */
static int setup(void **state)
{
	int err = tracefs_setup(state);

	make_all();
	assert_int_equal(echo("", "monitors"), 0);
	return err;
}

/* As many as there may be, and not one more. */
static void many(void **state)
{
	(void)state;
	make_all();
	assert_int_equal(echo_append("m:more a -shelf_full-> a", "monitors"), -ENOSPC);
	assert_non_null(node_of("rv/monitors/m60/hits"));
	monitor_make("-:m30");
	assert_null(node_of("rv/monitors/m30"));
	monitor_make("m:more a -shelf_full-> a");
	assert_non_null(node_of("rv/monitors/more/hits"));
}

static const struct refused_line errors[] = {
	{ "one", -EINVAL, "m:NAME, -:NAME or !NAME is expected", 0 },
	{ "m:", -EINVAL, "a name is expected", 2 },
	{ "m: a -shelf_full-> b", -EINVAL, "a name is expected", 2 },
	{ "m:7 a -shelf_full-> b", -EINVAL, "a name is expected", 2 },
	{ "m:a-b a -shelf_full-> b", -EINVAL, "a blank is expected", 3 },
	{ "m:a234567890123456789012345 a -shelf_full-> b", -EINVAL, "the name is too long", 2 },
	{ "m:x", -EINVAL, "a state is expected", 3 },
	{ "m:x per=cpu", -EINVAL, "a state is expected", 11 },
	{ "m:x per= a -shelf_full-> b", -EINVAL, "global, cpu, thread or a field is expected", 8 },
	{ "m:x per=a.b a -shelf_full-> b", -EINVAL, "global, cpu, thread or a field is expected",
	  8 },
	{ "m:x size=0 a -shelf_full-> b", -ERANGE, "neither too small nor too large: 1 to 131072",
	  9 },
	{ "m:x size=2000000 a -shelf_full-> b", -ERANGE,
	  "neither too small nor too large: 1 to 131072", 9 },
	{ "m:x size=x a -shelf_full-> b", -EINVAL, "not a number", 9 },
	{ "m:x react=x a -shelf_full-> b", -EINVAL, "there is no such reactor", 10 },
	{ "m:x enable=2 a -shelf_full-> b", -EINVAL, "neither 0 nor 1", 11 },
	{ "m:x what=2 a -shelf_full-> b", -EINVAL, "there is no such option", 4 },
	{ "m:x a", -EINVAL, "a step is expected: -EVENT->", 5 },
	{ "m:x a b", -EINVAL, "a step is expected: -EVENT->", 6 },
	{ "m:x a -> b", -EINVAL, "an event is expected", 7 },
	{ "m:x a -shelf_full b", -EINVAL, "-> is expected", 18 },
	{ "m:x a -shelf_full- b", -EINVAL, "-> is expected", 17 },
	{ "m:x a -shelf_full->", -EINVAL, "a state is expected", 19 },
	{ "m:x a -shelf_full-> 7", -EINVAL, "a state is expected", 20 },
	{ "m:x a -shelf_full-> b c", -EINVAL, "; or a step is expected", 22 },
	{ "m:x a -shelf_full-> b; ; b", -EINVAL, "a state is expected", 23 },
	{ "m:x a -shelf_full-> b; b", -EINVAL, "a step is expected: -EVENT->", 24 },
	{ "m:x a -nosuch-> b", -EINVAL, "there is no such event", 7 },
	{ "m:x a -shelf_full|nosuch-> b", -EINVAL, "there is no such event", 18 },
	{ "m:x a -shelf:nosuch-> b", -EINVAL, "there is no such event", 13 },
	{ "m:x a -sched:shelf_full-> b", -EINVAL, "there is no such event", 13 },
	{ "m:x a -ftrace:print-> b", -EINVAL, "there is no such event", 14 },
	{ "m:x a -rv:event_wip-> b", -EINVAL, "events of monitors are not monitored", 10 },
	{ "m:x a -y=-> b", -EINVAL, "an event is expected", 9 },
	{ "m:x a -shelf_full[shelf]-> b", -EINVAL,
	  "an automaton with one state for all has no fields", 18 },
	{ "m:x per=cpu a -shelf_full[nosuch]-> b", -EINVAL, "the event has no such field", 26 },
	{ "m:x per=cpu a -shelf_label[label]-> b", -EINVAL, "the field is not a number", 27 },
	{ "m:x per=cpu a -shelf_full[]-> b", -EINVAL, "a field is expected", 26 },
	{ "m:x per=cpu a -shelf_full[shelf-> b", -EINVAL, "a ] is expected", 31 },
	{ "m:x per=nosuch a -shelf_full-> b", -EINVAL, "the event has no such field", 18 },
	{ "m:x a -shelf_full{shelf == 1-> b", -EINVAL, "nothing closes this brace", 17 },
	{ "m:x a -shelf_full{nosuch == 1}-> b", -EINVAL, "Field not found", 25 },
	{ "m:x a -shelf_full-> b; a -shelf_full-> c", -EINVAL,
	  "from here it leads to another state already", 26 },
	{ "m:x -shelf_full-> b; -shelf_full-> c", -EINVAL,
	  "from here it leads to another state already", 22 },
	{ "m:x a -y=shelf_full-> b -y=shelf_empty-> c", -EINVAL,
	  "it stands for something else already", 25 },
	{ "m:x a234567890123456789012345 -shelf_full-> b", -EINVAL, "the name is too long", 4 },
	{ "m:x a -a234567890123456789012345=shelf_full-> b", -EINVAL, "the name is too long", 7 },
	{ "m:x a -shelf_full-> a; b -shelf_empty-> c", -EINVAL, "", -1 }, /* see below */
};

static void wrong_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(errors) - 1; i++) {
		is_refused("monitors", "monitors", &errors[i]);
		says("rv/available_monitors", "wip\nwrs\nwwnr\n");
	}
	/* From a state that is never reached: a step all the same. */
	monitor_make(errors[TRACE_ARRAY_SIZE(errors) - 1].text);
}

static void too_many(void **state)
{
	char text[3000];
	int len;

	(void)state;
	len = snprintf(text, sizeof(text), "m:x s0");
	for (int i = 1; i < 33; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " -shelf_full-> s%d", i);
	assert_int_equal(echo_append(text, "monitors"), -E2BIG);
	has("error_log", "error: there are too many states\n");
	len = snprintf(text, sizeof(text), "m:x s");
	for (int i = 0; i < 33; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				" -shelf_full{shelf==%d}-> s", i);
	assert_int_equal(echo_append(text, "monitors"), -E2BIG);
	has("error_log", "error: there are too many events\n");
}

/* ---- Effects of events ---- */

static void steps(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " TURN);
	says("rv/enabled_monitors", "one\n");
	says(SHELF "enable", "0*\n");
	assert_int_equal(echo("1", "events/rv/enable"), 0);
	says(ONE "state", "# unknown 1, a 0, b 0\nunknown\n");
	trace_shelf_full(1); /* unknown, until it is empty once */
	says(ONE "state", "# unknown 1, a 0, b 0\nunknown\n");
	trace_shelf_empty(1);
	says(ONE "state", "# unknown 0, a 1, b 0\na\n");
	trace_shelf_full(1);
	says(ONE "state", "# unknown 0, a 0, b 1\nb\n");
	trace_shelf_empty(1);
	counted("one", 1, 2, 0);
	assert_int_equal(monitor_hits("one", "before that"), 1);
	trace_shelf_empty(1);
	counted("one", 1, 2, 1);
	has(ONE "hits",
	    "\n         1  a x shelf_full -> b\n         1  a x shelf_empty -> violation\n"
	    "         0  b x shelf_full -> violation\n"
	    "         1  b x shelf_empty -> a\n"
	    "last: event shelf_empty not expected in the state a\n      by ");
	says(ONE "state", "# unknown 1, a 0, b 0\nunknown\n");
	has("trace", ": event_one: a x shelf_full -> b\n");
	has("trace", ": event_one: b x shelf_empty -> a (final)\n");
	has("trace", ": error_one: event shelf_empty not expected in the state a\n");
	/* Only of what the monitor takes part in, and not for ever. */
	trace_shelf_empty(1);
	assert_int_equal(echo("0", ONE "enable"), 0);
	trace_shelf_full(1);
	counted("one", 2, 2, 1);
	says(SHELF "enable", "0\n");
	assert_int_equal(echo("1", ONE "enable"), 0);
	counted("one", 0, 0, 0);
	has_not(ONE "hits", "last");
}

/* The event is seen whatever there is about it in the instance; those in others do not matter. */
static void whatever_is_set(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " TURN);
	assert_int_equal(echo("0", "tracing_on"), 0);
	assert_int_equal(echo("4711", "set_event_pid"), 0);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	counted("one", 1, 1, 0);
	assert_int_equal(echo("1", SHELF "enable"), 0);
	assert_int_equal(echo("shelf == 77", SHELF "filter"), 0);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	counted("one", 1, 3, 0);
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo("", "set_event_pid"), 0);
	assert_int_equal(echo("0", SHELF "filter"), 0);
	trace_shelf_full(2);
	counted("one", 1, 3, 1);
	has("trace", ": shelf_full: shelf=2\n");
}

/* Of a thread that set_event_pid leaves out: it is not recorded, but seen, also when it is injected. */
static void threads_that_are_left_out(void **state)
{
	(void)state;
	fake_thread_add(5, "left");
	monitor_make("m:one enable=1 " TURN);
	assert_int_equal(echo("1", SHELF "enable"), 0);
	assert_int_equal(echo("4711", "set_event_pid"), 0);
	fake_cpus[0].pid = 5;
	fake_cpus[0].thread = *fake_thread_of(5);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	counted("one", 1, 1, 0);
	trace_shelf_empty(1);
	assert_int_equal(echo("shelf=1", SHELF "inject"), 0);
	counted("one", 1, 3, 0);
	has_not("trace", "shelf_full");
	fake_cpus[0].pid = 0;
	memset(&fake_cpus[0].thread, 0, sizeof(fake_cpus[0].thread));
	fake_thread_exit(5);
	assert_int_equal(echo("", "set_event_pid"), 0);
}

/* An event that is too long for the probe's stack; recording may be off, or the ring full. */
static void long_events(void **state)
{
	char label[400];

	(void)state;
	memset(label, 'x', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	monitor_make("m:one enable=1 a -shelf_label{label ~ \"xx*\"}-> b -shelf_full-> a");
	trace_shelf_full(1);
	trace_shelf_label(1, label);
	trace_shelf_label(1, "short");
	counted("one", 1, 1, 0);
	has_not("trace", "shelf_label");
	trace_shelf_label(1, label);
	counted("one", 1, 1, 1);
	assert_int_equal(echo("0", "tracing_on"), 0);
	trace_shelf_full(1);
	trace_shelf_label(1, label);
	counted("one", 2, 2, 1);
	assert_int_equal(echo("1", "events/shelf/shelf_label/enable"), 0);
	trace_shelf_full(1);
	trace_shelf_label(1, label);
	counted("one", 2, 4, 1);
	has_not("trace", "shelf_label");
	assert_int_equal(echo("1", "tracing_on"), 0);
	trace_shelf_full(1);
	trace_shelf_label(1, label);
	counted("one", 2, 6, 1);
	has("trace", "shelf_label: ");
}

static char inner_label[300], outer_label[300];

static void write_inner(void)
{
	fake_clock_irq = NULL;
	trace_shelf_label(2, inner_label);
}

/* An interrupt while a long event is written has a long one, too: each is as it was written. */
static void long_inside_long(void **state)
{
	(void)state;
	memset(outer_label, 'o', sizeof(outer_label) - 1);
	memset(inner_label, 'i', sizeof(inner_label) - 1);
	monitor_make("m:one enable=1 a -shelf_label-> b -shelf_full-> a");
	assert_int_equal(echo("1", "events/shelf/shelf_label/enable"), 0);
	trace_shelf_full(1);
	fake_clock_irq = write_inner;
	trace_shelf_label(1, outer_label);
	counted("one", 1, 1, 1);
	has("trace", outer_label);
	has("trace", inner_label);
}

/* As many as there are contexts, and not one more. */
static void scratch_pads(void **state)
{
	uint8_t *places[EVENT_SCRATCH_DEPTH];

	(void)state;
	for (uint32_t i = 0; i < EVENT_SCRATCH_DEPTH; i++) {
		places[i] = trace_event_scratch_get();
		assert_non_null(places[i]);
		memset(places[i], (int)i, RING_MAX_PAYLOAD);
	}
	assert_null(trace_event_scratch_get());
	assert_null(trace_event_scratch_get());
	for (uint32_t i = EVENT_SCRATCH_DEPTH; i--;) {
		assert_int_equal(places[i][0], i);
		assert_int_equal(places[i][RING_MAX_PAYLOAD - 1], i);
		trace_event_scratch_put();
	}
	assert_ptr_equal(trace_event_scratch_get(), places[0]);
	trace_event_scratch_put();
}

/* An event by `inject` is seen like a real one, and only where it is injected. */
static void injected(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " TURN);
	assert_int_equal(echo("shelf=1", "events/shelf/shelf_empty/inject"), 0);
	assert_int_equal(echo("shelf=1", SHELF "inject"), 0);
	counted("one", 1, 1, 0);
	assert_int_equal(echo("shelf=2", SHELF "inject"), 0);
	counted("one", 1, 1, 1);
	assert_int_equal(echo("4711", "set_event_pid"), 0);
	assert_int_equal(echo("shelf == 9", SHELF "filter"), 0);
	assert_int_equal(echo("shelf=1", "events/shelf/shelf_empty/inject"), 0);
	assert_int_equal(echo("shelf=1", SHELF "inject"), 0);
	counted("one", 2, 2, 1);
	assert_int_equal(trace_fs_mkdir(node_of("instances"), "other"), 0);
	assert_int_equal(echo("shelf=1", "instances/other/" SHELF "inject"), 0);
	counted("one", 2, 2, 1);
	assert_int_equal(trace_fs_rmdir(node_of("instances"), "other"), 0);
}

static void filters(void **state)
{
	(void)state;
	monitor_make(
		"m:one enable=1 idle -shelf_full{ shelf == 1 }-> one "
		"-shelf_full{shelf == 2 || shelf == 7}-> two -out=shelf:shelf_empty-> idle; one "
		"-out-> idle");
	trace_shelf_full(3);
	trace_shelf_empty(3);
	trace_shelf_full(3); /* is none of them */
	trace_shelf_full(1);
	trace_shelf_full(7);
	counted("one", 1, 2, 0);
	trace_shelf_full(1);
	counted("one", 1, 2, 1);
	has(ONE "hits", "         1  two x shelf_full -> violation\n"
			"         0  two x shelf_full.2 -> violation\n"
			"         0  two x out -> idle\n");
	/* The first that has a step; with both written the same it is one. */
	monitor_make("m:two enable=1 a -shelf_full{shelf<9}-> b -shelf_full-> c -shelf_empty-> a; "
		     "c -shelf_full{shelf<9}-> a");
	trace_shelf_full(1);
	counted("two", 0, 0, 0);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	says("rv/monitors/two/state", "# unknown 0, a 0, b 1, c 0\nb\n");
	trace_shelf_full(1);
	says("rv/monitors/two/state", "# unknown 0, a 0, b 0, c 1\nc\n");
	trace_shelf_full(10);
	counted("two", 1, 2, 1);
	/* Braces and quotes in the filter. */
	monitor_make("m:three a -shelf_label{label == \"}-> x;\" || cpu & CPUS{0-1}}-> b "
		     "-shelf_full-> a");
	monitor_make("m:four a -shelf_full | shelf_empty -> b; b - shelf_full|shelf_empty->a;");
	has("rv/monitors/four/hits", "b x shelf_empty -> a");
}

/* The event that tells that a state is reached. */
static void begin(void **state)
{
	(void)state;
	/* Nothing leads home: in the first state, as if it had begun there. */
	monitor_make("m:one enable=1 a -shelf_full-> b -shelf_label-> c -shelf_label-> b");
	trace_shelf_label(1, "");
	counted("one", 0, 0, 0);
	trace_shelf_full(1);
	says(ONE "state", "# unknown 0, a 0, b 1, c 0\nb\n");
	/* A loop at the first state does not tell. */
	monitor_make("m:two enable=1 a -shelf_label-> a -shelf_full-> b -shelf_empty-> a");
	trace_shelf_label(1, "");
	trace_shelf_full(1);
	counted("two", 0, 0, 0);
	trace_shelf_empty(1);
	counted("two", 1, 0, 0);
	/* It is written. */
	monitor_make("m:three enable=1 -shelf_label-> a -shelf_full-> b -shelf_empty-> a "
		     "-shelf_label-> a");
	trace_shelf_empty(1);
	counted("three", 0, 0, 0);
	trace_shelf_label(1, "");
	trace_shelf_full(1);
	trace_shelf_label(1, "");
	counted("three", 1, 1, 1);
}

static void per_cpu(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 per=cpu " TURN);
	trace_shelf_empty(1);
	fake_bind(1);
	trace_shelf_full(1);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	fake_bind(0);
	says(ONE "state", "# unknown 0, a 1, b 1\ncpu0: a\ncpu1: b\n");
	counted("one", 2, 1, 0);
	monitor_make("m:two enable=1 per=cpu a -shelf_full[shelf]-> b -shelf_empty[shelf]-> a");
	trace_shelf_empty(1);
	trace_shelf_empty(2);
	trace_shelf_empty(-1);
	says("rv/monitors/two/state", "# unknown 1, a 1, b 0\ncpu0: unknown\ncpu1: a\n");
	assert_int_equal(monitor_hits("two", "of nobody"), 2);
	trace_shelf_empty(1);
	has("rv/monitors/two/hits",
	    "last: event shelf_empty not expected in the state a, of cpu1\n");
}

static void per_thread(void **state)
{
	(void)state;
	fake_thread_add(7, "seven");
	fake_thread_add(8, "eight");
	monitor_make("m:one enable=1 per=thread " TURN);
	assert_int_equal(echo("1", "events/rv/enable"), 0);
	fake_cpus[0].pid = 7;
	trace_shelf_empty(1);
	fake_cpus[0].pid = 8;
	trace_shelf_full(1);
	trace_shelf_empty(1);
	trace_shelf_full(1);
	has(ONE "state", "seven-7: a\n");
	has(ONE "state", "eight-8: b\n");
	fake_cpus[0].pid = 0; /* no thread */
	trace_shelf_full(1);
	fake_cpus[0].pid = 99; /* unheard of */
	trace_shelf_full(1);
	assert_int_equal(monitor_hits("one", "of nobody"), 2);
	fake_cpus[0].pid = 8;
	trace_shelf_full(1);
	has("trace", "error_one: 8: event shelf_full not expected in the state b\n");
	has(ONE "hits", "in the state b, of thread 8\n      by ");
	fake_cpus[0].pid = 0;
	/* By a field. */
	monitor_make("m:two enable=1 per=thread a -shelf_full[shelf]-> b -shelf_empty[shelf]-> a");
	trace_shelf_empty(7);
	trace_shelf_full(8);
	has("rv/monitors/two/state", "seven-7: a\n");
	has("rv/monitors/two/state", "eight-8: unknown\n");
	/* A thread that comes; one that goes; one of the same number. */
	fake_thread_add(9, "nine");
	trace_thread_created(1, 9, fake_thread_of(9));
	trace_shelf_empty(9);
	has("rv/monitors/two/state", "nine-9: a\n");
	fake_cpus[0].pid = 9;
	trace_thread_exited(9, "nine");
	fake_cpus[0].pid = 0;
	fake_thread_exit(9);
	has_not("rv/monitors/two/state", "-9:");
	trace_shelf_full(9);
	assert_int_equal(monitor_hits("two", "of nobody"), 1);
	trace_thread_created(1, 9, fake_thread_of(7));
	has("rv/monitors/two/state", "-9: unknown\n");
	trace_thread_exited(9, "nine");
	fake_thread_exit(7);
	fake_thread_exit(8);
}

/* Threads that find no room are counted, and one that goes makes room. */
static void too_many_threads(void **state)
{
	struct trace_thread thread = { 0 };

	(void)state;
	monitor_make("m:one enable=1 per=thread size=3 a -shelf_full[shelf]-> b "
		     "-shelf_empty[shelf]-> a");
	for (int32_t pid = 1000; pid < 1010; pid++)
		trace_thread_created(1, pid, &thread);
	assert_int_equal(monitor_hits("one", "threads without room"), 7);
	for (int32_t pid = 1000; pid < 1010; pid++)
		trace_thread_exited(pid, "x");
	/* Come and go many times: places are used again, and who is there keeps his. */
	trace_thread_created(1, 4000, &thread);
	trace_shelf_empty(4000);
	for (int32_t pid = 2000; pid < 3000; pid++) {
		trace_thread_created(1, pid, &thread);
		trace_shelf_empty(pid);
		trace_shelf_full(4000);
		trace_shelf_empty(4000);
		trace_thread_exited(pid, "x");
	}
	counted("one", 1001, 2000, 0);
	assert_int_equal(monitor_hits("one", "of nobody"), 0);
}

static void state_begins(const char *want)
{
	if (strncmp(cat(ONE "state"), want, strlen(want)) != 0)
		fail_msg("not \"%s\":\n%s", want, cat(ONE "state"));
}

/* Wherever in the table a thread stands, and whoever went beside it: it is counted once. */
static void threads_by_state(void **state)
{
	struct trace_thread thread = { 0 };

	(void)state;
	monitor_make("m:one enable=1 per=thread size=3 a -shelf_full[shelf]-> b "
		     "-shelf_empty[shelf]-> a");
	for (int32_t pid = 1000; pid < 1100; pid++) {
		for (int32_t i = 0; i < 3; i++)
			trace_thread_created(1, pid + i, &thread);
		state_begins("# unknown 3, a 0, b 0\n");
		trace_shelf_empty(pid);
		trace_shelf_empty(pid + 1);
		trace_shelf_full(pid + 1);
		state_begins("# unknown 1, a 1, b 1\n");
		trace_thread_exited(pid, "x");
		state_begins("# unknown 1, a 0, b 1\n");
		trace_thread_exited(pid + 2, "x");
		state_begins("# unknown 0, a 0, b 1\n");
		trace_thread_exited(pid + 1, "x");
		state_begins("# unknown 0, a 0, b 0\n");
	}
}

static void thread_in_the_last_state(void **state)
{
	char text[1200] = "m:one enable=1 per=thread s1";
	struct trace_thread thread = { 0 };

	(void)state;
	for (unsigned int i = 2; i <= MONITOR_STATES_MAX; i++)
		sprintf(text + strlen(text), " -shelf_full[shelf]-> s%u", i);
	strcat(text, " -shelf_empty[shelf]-> s1");
	monitor_make(text);
	trace_thread_created(1, 1000, &thread);
	trace_shelf_empty(1000);
	for (unsigned int i = 2; i <= MONITOR_STATES_MAX; i++)
		trace_shelf_full(1000);
	has(ONE "state", ", s16 0, ");
	has(ONE "state", ", s32 1\n");
	trace_thread_exited(1000, "x");
}

static void per_field(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 per=shelf size=3 " TURN);
	assert_int_equal(echo("1", "events/rv/enable"), 0);
	for (int shelf = 10; shelf < 15; shelf++) {
		trace_shelf_empty(shelf);
		trace_shelf_full(shelf);
	}
	has(ONE "state", "# unknown 0, a 0, b 3\n");
	has(ONE "state", "\nshelf 0xa: b\n");
	has(ONE "state", "\nshelf 0xb: b\n");
	has(ONE "state", "\nshelf 0xc: b\n");
	has_not(ONE "state", "shelf 0xd");
	assert_int_equal(monitor_hits("one", "drops"), 4);
	trace_shelf_full(11);
	counted("one", 3, 3, 1);
	has("trace", "event_one: 0xa: a x shelf_full -> b\n");
	has("trace", "error_one: 0xb: event shelf_full not expected in the state b\n");
	has(ONE "hits", "in the state b, of shelf 0xb\n");
	monitor_make("m:two enable=1 per=shelf a -shelf_full-> b -shelf_label[common_pid]-> a");
}

static void switches(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 " TURN);
	monitor_make("m:two " TURN);
	assert_int_equal(echo_append("two wip", "rv/enabled_monitors"), 0);
	says("rv/enabled_monitors", "one\ntwo\nwip\n");
	assert_int_equal(echo_append("!two\n!wip", "rv/enabled_monitors"), 0);
	says("rv/enabled_monitors", "one\n");
	assert_int_equal(echo_append("!two nosuch", "rv/enabled_monitors"), -EINVAL);
	has("error_log", "enabled_monitors: error: there is no such monitor\n"
			 "  Command: !two nosuch\n                ^\n");
	trace_shelf_empty(1);
	assert_int_equal(echo("0", "rv/monitoring_on"), 0);
	trace_shelf_empty(1);
	trace_shelf_empty(1);
	counted("one", 1, 0, 0);
	says("rv/enabled_monitors", "one\n");
	assert_int_equal(echo("1", ONE "enable"), 0);
	assert_int_equal(echo("1", "rv/monitors/two/enable"), 0);
	trace_shelf_empty(1);
	counted("two", 0, 0, 0);
	assert_int_equal(echo("1", "rv/monitoring_on"), 0);
	trace_shelf_full(1); /* what was meanwhile is not known */
	counted("one", 1, 0, 0);
	trace_shelf_empty(1);
	counted("one", 2, 0, 0);
	counted("two", 1, 0, 0);
	assert_int_equal(echo("2", "rv/monitoring_on"), -EINVAL);
	assert_int_equal(echo("x", "rv/reacting_on"), -EINVAL);
	assert_int_equal(echo("2", ONE "enable"), -EINVAL);
	assert_int_equal(echo("", "rv/enabled_monitors"), 0);
	says("rv/enabled_monitors", "");
}

/* Off once more is nothing new: states are shown until all begin anew. */
static void off_twice(void **state)
{
	char before[4000];

	(void)state;
	monitor_make("m:one enable=1 per=cpu " TURN);
	trace_shelf_empty(1);
	assert_int_equal(echo("0", "rv/monitoring_on"), 0);
	snprintf(before, sizeof(before), "%s", cat(ONE "state"));
	assert_non_null(strstr(before, ": a\n"));
	assert_int_equal(echo("0", "rv/monitoring_on"), 0);
	says(ONE "state", before);
	assert_int_equal(echo("1", "rv/monitoring_on"), 0);
	has_not(ONE "state", ": a\n");
}

/* ---- Reactors ---- */

static void violate(void)
{
	trace_shelf_empty(1);
	trace_shelf_empty(1);
}

/* As many as there are contexts may be reacted to at once; others are counted. */
static void too_deep(void **state)
{
	struct trace_monitor *one;

	(void)state;
	monitor_make("m:one enable=1 " TURN);
	has_not(ONE "hits", "without reaction");
	one = trace_monitor_find("one", 3);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		fake_bind(cpu);
		monitor_cpu_of(one, cpu)->depth = 4;
		violate();
		assert_int_equal(monitor_cpu_of(one, cpu)->depth, 4);
		monitor_cpu_of(one, cpu)->depth = 0;
	}
	fake_bind(0);
	has(ONE "hits", "without reaction: 2\n");
	fake_cpus[0].pid = 1234;
	violate();
	fake_cpus[0].pid = 0;
	has(ONE "hits", "-1234 on cpu0 at ");
}

static void reactors(void **state)
{
	(void)state;
	monitor_make("m:one enable=1 react=print " TURN);
	says(ONE "reactors", "nop\npanic\n[printk]\nsnapshot\ntraceoff\n");
	violate();
	assert_non_null(strstr(fake_log(), "rv: monitor one does not allow event shelf_empty on "
					   "state a: "));
	assert_int_equal(echo("panic", ONE "reactors"), 0);
	violate();
	assert_int_equal(fake_nr_panics, 1);
	assert_int_equal(echo("0", "rv/reacting_on"), 0);
	violate();
	assert_int_equal(fake_nr_panics, 1);
	counted("one", 3, 0, 3);
	assert_int_equal(echo("1", "rv/reacting_on"), 0);
	assert_int_equal(echo("1", "events/shelf/enable"), 0);
	assert_int_equal(echo("1", "events/rv/enable"), 0);
	assert_int_equal(echo("traceoff", ONE "reactors"), 0);
	violate();
	says("tracing_on", "0\n");
	/* The event, then the error, and nothing more. */
	assert_non_null(strstr(strstr(cat("trace"), "shelf_empty: shelf=1"), "error_one: "));
	trace_shelf_full(4);
	has_not("trace", "shelf_full");
	assert_int_equal(echo("1", "tracing_on"), 0);
	assert_int_equal(echo(" snapshot ", ONE "reactors"), 0);
	violate();
	has("snapshot", "error_one: event shelf_empty not expected in the state a\n");
	assert_int_equal(echo("nosuch", ONE "reactors"), -EINVAL);
	says(ONE "reactors", "nop\npanic\nprintk\n[snapshot]\ntraceoff\n");
	assert_int_equal(echo("nop", ONE "reactors"), 0);
	violate();
}

/* Its own events have filters and triggers, as all others. */
static void own_events(void **state)
{
	struct trace_handle *handle;

	(void)state;
	monitor_make("m:one enable=1 " TURN);
	assert_int_equal(echo("state == \"b\"", "events/rv/error_one/filter"), 0);
	assert_int_equal(echo("1", "events/rv/error_one/enable"), 0);
	violate();
	has_not("trace", "error_one");
	trace_shelf_empty(1);
	trace_shelf_full(1);
	trace_shelf_full(1);
	has("trace", "error_one: event shelf_full not expected in the state b\n");
	/* While one of them is in use the monitor stays, but it is off. */
	assert_int_equal(echo_append("-:one", "monitors"), -EBUSY);
	has("error_log", "monitors: error: its events are in use\n");
	says("rv/enabled_monitors", "");
	assert_int_equal(echo("", "monitors"), -EBUSY);
	assert_int_equal(echo("0", "events/rv/error_one/enable"), 0);
	assert_int_equal(echo("1", "events/rv/event_one/enable"), 0);
	assert_int_equal(echo_append("-:one", "monitors"), -EBUSY);
	assert_int_equal(echo("0", "events/rv/event_one/enable"), 0);
	handle = open_file(ONE "hits", TRACE_FS_READ);
	monitor_make("-:one");
	monitor_make("m:one " TURN);
	assert_int_equal(trace_fs_close(handle), 0);
}

/* A file that was opened before the monitor went says so. */
static void gone(void **state)
{
	static const char *const names[] = { "desc", "enable", "hits", "reactors", "state" };
	struct trace_handle *handles[5];
	uint64_t pos;
	char text[10];

	(void)state;
	monitor_make("m:one " TURN);
	for (size_t i = 0; i < 5; i++) {
		char path[80];

		snprintf(path, sizeof(path), ONE "%s", names[i]);
		handles[i] = open_file(path, TRACE_FS_READ | (i % 2 ? TRACE_FS_WRITE : 0));
	}
	monitor_make("-:one");
	monitor_make("m:one " TURN);
	for (size_t i = 0; i < 5; i++) {
		pos = 0;
		assert_int_equal(trace_fs_read(handles[i], text, sizeof(text), &pos), -ENODEV);
		pos = 0;
		if (i % 2)
			assert_int_equal(trace_fs_write(handles[i], i == 1 ? "1" : "nop",
							i == 1 ? 1 : 3, &pos),
					 -ENODEV);
		assert_int_equal(trace_fs_close(handles[i]), 0);
	}
}

/* ---- Those that come with trace/ ---- */

static const char comm[TRACE_COMM_LEN] = "any";

static void switch_to(int32_t prev, int32_t next)
{
	const struct trace_sched_thread from = { .comm = comm, .pid = prev, .state = 'S' };
	const struct trace_sched_thread to = { .comm = comm, .pid = next, .state = 'R' };

	trace_sched_switch(&from, &to);
}

static void wake(int32_t pid)
{
	const struct trace_sched_thread waker = { .comm = comm, .pid = 1 };
	const struct trace_sched_thread wakee = { .comm = comm, .pid = pid };

	trace_sched_waking(&waker, &wakee);
}

static void wwnr(void **state)
{
	(void)state;
	fake_thread_add(7, "seven");
	fake_thread_add(8, "eight");
	assert_int_equal(echo("wwnr", "rv/enabled_monitors"), 0);
	assert_int_equal(echo("1", "events/rv/error_wwnr/enable"), 0);
	wake(7);
	switch_to(7, 8); /* of 7 it is known that it does not run */
	wake(7);
	switch_to(8, 7);
	counted("wwnr", 2, 2, 0);
	wake(8);
	has_not("trace", "error_wwnr");
	wake(7);
	has("trace", "error_wwnr: 7: event wakeup not expected in the state running\n");
	counted("wwnr", 2, 3, 1);
	fake_thread_exit(7);
	fake_thread_exit(8);
}

/* ---- Memory ---- */

static void no_memory(void **state)
{
	static const char *const texts[] = {
		"m:one enable=1 a -shelf_full-> b -shelf_empty-> a",
		"m:one enable=1 per=thread a -shelf_full[shelf]-> b -shelf_empty[shelf]-> a",
		"m:one per=shelf react=snapshot a -shelf_full{shelf == 1}-> b -shelf_empty-> a",
	};
	long before, budget;

	(void)state;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(texts); i++) {
		/* what an event and its directory keep after the first use */
		monitor_make(texts[i]);
		look_at_all(trace_fs_root());
		monitor_make("-:one");
		look_at_all(trace_fs_root());
		before = memory_in_use();
		for_each_allocation(budget, echo_append(texts[i], "monitors")) {
			says("rv/available_monitors", "wip\nwrs\nwwnr\n");
			look_at_all(trace_fs_root());
			assert_int_equal(memory_in_use(), before);
		}
		assert_in_range(budget, 4, 99);
		monitor_make("-:one");
		look_at_all(trace_fs_root());
		assert_int_equal(memory_in_use(), before);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, reset, all_off)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(list),
		TEST(one_at_a_time),
		TEST(name_of_an_event),
		TEST(ids_are_unique),
		TEST(off_twice),
		TEST(many),
		TEST(wrong_lines),
		TEST(too_many),
		TEST(steps),
		TEST(whatever_is_set),
		TEST(threads_that_are_left_out),
		TEST(long_events),
		TEST(long_inside_long),
		TEST(scratch_pads),
		TEST(injected),
		TEST(filters),
		TEST(begin),
		TEST(per_cpu),
		TEST(per_thread),
		TEST(too_many_threads),
		TEST(threads_by_state),
		TEST(thread_in_the_last_state),
		TEST(per_field),
		TEST(switches),
		TEST(too_deep),
		TEST(reactors),
		TEST(own_events),
		TEST(gone),
		TEST(wwnr),
		TEST(no_memory),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
