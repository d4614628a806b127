/* Events, histograms and queries that libtracefs makes in the kernel. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "tracefs_test.h"

static void test_probe(enum tracefs_dynevent_type type, struct tracefs_dynevent *probe,
		       const char *name)
{
	char *system = NULL, *event = NULL, *prefix = NULL, *place = NULL, *format = NULL;
	struct tracefs_dynevent *found;

	if (!EXPECT(probe && tracefs_dynevent_create(probe) == 0)) {
		printf("%s\n", tracefs_error_last(NULL));
		return;
	}
	found = tracefs_dynevent_get(type, NULL, name);
	EXPECT(found &&
	       tracefs_dynevent_info(found, &system, &event, &prefix, &place, &format) == type);
	EXPECT(system && event && tracefs_event_enable(box, system, event) == 0);
	EXPECT(tracefs_dynevent_get_event(tep, found));
	EXPECT(tracefs_dynevent_destroy(probe, false)); /* is on */
	EXPECT(tracefs_event_disable(box, system, event) == 0 &&
	       tracefs_dynevent_destroy(probe, false) == 0);
	EXPECT(!tracefs_dynevent_get(type, NULL, name));
}

void test_probes(void)
{
	test_probe(TRACEFS_DYNEVENT_KPROBE,
		   tracefs_kprobe_alloc(NULL, "look", "vfs_stat", "path=+0($arg1):string"), "look");
	test_probe(TRACEFS_DYNEVENT_KPROBE, tracefs_kprobe_alloc("own", "opens", "vfs_open", NULL),
		   "opens");
	test_probe(TRACEFS_DYNEVENT_KRETPROBE,
		   tracefs_kretprobe_alloc(NULL, "back", "vfs_open", "err=$retval", 0), "back");
	test_probe(
		TRACEFS_DYNEVENT_EPROBE,
		tracefs_eprobe_alloc("own", "next", "sched", "sched_switch", "pid=$next_pid:s32"),
		"next");
	EXPECT(tracefs_kprobe_raw("own", "wrong", "no_such_function", NULL));
	EXPECT(tracefs_kprobe_raw("own", "one", "vfs_open", NULL) == 0);
	EXPECT(tracefs_kretprobe_raw("own", "two", "vfs_open", NULL) == 0);
	EXPECT(tracefs_dynevent_destroy_all(TRACEFS_DYNEVENT_KPROBE | TRACEFS_DYNEVENT_KRETPROBE,
					    true) == 0);
	EXPECT(!tracefs_dynevent_get_all(TRACEFS_DYNEVENT_ALL, NULL));
}

void test_histograms(void)
{
	struct tracefs_hist *hist =
		tracefs_hist_alloc_2d(tep, "sched", "sched_switch", "next_pid",
				      TRACEFS_HIST_KEY_NORMAL, "prev_state", TRACEFS_HIST_KEY_HEX);

	if (!EXPECT(hist))
		return;
	EXPECT(tracefs_hist_add_value(hist, "next_prio") == 0 &&
	       tracefs_hist_add_sort_key(hist, "next_pid") == 0);
	EXPECT(tracefs_hist_start(box, hist) == 0);
	sleep(1);
	EXPECT(tracefs_hist_pause(box, hist) == 0);
	EXPECT(has_text(box, "events/sched/sched_switch/trigger", "[paused]"));
	EXPECT(has_text(box, "events/sched/sched_switch/hist", "next_prio:"));
	EXPECT(tracefs_hist_continue(box, hist) == 0 && tracefs_hist_reset(box, hist) == 0);
	EXPECT(tracefs_hist_destroy(box, hist) == 0);
	EXPECT(has_text(box, "events/sched/sched_switch/trigger", "# Available triggers:"));
	tracefs_hist_free(hist);
}

static bool comes_soon(const char *event)
{
	for (int i = 0; i < 100; i++) {
		usleep(100000);
		if (count_events(event, NULL))
			return true;
	}
	return false;
}

#define DELTA "(end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) as lat"
static const char *const queries[] = {
	"select start.pid, end.next_prio as prio, " DELTA
	" from sched_waking as start join sched_switch as end"
	" on start.pid = end.next_pid where start.prio < 130 && end.prev_pid >= 0",
	"select end.common_pid as pid, " DELTA " from irq_disable as start join irq_enable as end"
	" on start.common_pid = end.common_pid, start.parent_offs == end.parent_offs where "
	"start.common_pid != 0",
};

/* A latency between two events, as sqlhist has it: each as an event, or only the largest or changed ones, or with a snapshot. */
static void test_query(const char *query, enum tracefs_synth_handler handler, bool takes_snapshot)
{
	static int nr;
	char *err = NULL, name[64] = "lat", event[16], *found;
	struct tracefs_synth *synth;
	struct trace_seq text;

	snprintf(event, sizeof event, "wait%d",
		 nr++); /* libtraceevent would take the first one for all */
	synth = tracefs_sql(tep, event, query, &err);
	if (!EXPECT(synth))
		return;
	trace_seq_init(&text);
	EXPECT(tracefs_synth_echo_cmd(&text, synth) == 0);
	found = strstr(text.buffer, "__lat_"); /* the variable's own name has a number */
	if (found)
		snprintf(name, sizeof name, "%.*s", (int)strcspn(found, "=,:"), found);
	if (handler)
		EXPECT(tracefs_synth_trace(synth, handler, name) == 0);
	if (takes_snapshot)
		EXPECT(tracefs_synth_snapshot(synth, handler, name) == 0);
	if (EXPECT(tracefs_synth_create(synth) == 0)) {
		EXPECT(tracefs_event_enable(box, "synthetic", event) == 0);
		EXPECT(tracefs_synth_get_event(tep, synth));
		if (!EXPECT(comes_soon(event)))
			puts(query);
		EXPECT(tracefs_event_disable(box, "synthetic", event) == 0);
		EXPECT(tracefs_synth_destroy(synth) == 0);
	}
	tracefs_synth_free(synth);
	trace_seq_destroy(&text);
}

void test_queries(void)
{
	test_query(queries[0], TRACEFS_SYNTH_HANDLE_NONE, false);
	test_query(queries[0], TRACEFS_SYNTH_HANDLE_MAX, true);
	test_query(queries[0], TRACEFS_SYNTH_HANDLE_CHANGE, false);
	test_query(queries[1], TRACEFS_SYNTH_HANDLE_NONE, false);
}
