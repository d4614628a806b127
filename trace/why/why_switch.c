/*
 * Is anything recorded at all? Switches, and what is on. See instance/why.h.
 */
#include "graph/fgraph_private.h"
#include "ops/ftrace_private.h"
#include "why.h"

static bool is_damaged(const struct trace_why *why, uint32_t *out_cpu)
{
	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		*out_cpu = cpu;
		if (why->cpus[cpu].glance.is_damaged)
			return true;
	}
	return false;
}

void trace_why_dead(struct trace_why *why)
{
	struct trace_off off;
	uint32_t cpu;

	if (is_damaged(why, &cpu))
		trace_why_say(why,
			      "The buffer of CPU %u holds events that cannot be decoded: "
			      "something has overwritten its memory.",
			      cpu);
	if (!ftrace_is_dead())
		return;
	if (trace_array_last_off(why->tr, &off) && off.by == TRACE_OFF_BY_DAMAGE)
		trace_why_say(why,
			      "Tracing has stopped for good %s ago, because %s; what was recorded "
			      "until then can be read, dmesg says more, and only a reboot helps.",
			      trace_why_ago(why, off.time_ns).text, ftrace_dead_why());
	else
		trace_why_say(why,
			      "Tracing has stopped for good, because %s; dmesg says more, and only "
			      "a reboot helps.",
			      ftrace_dead_why());
}

/* ---- tracing_on ---- */

/*
 * A sentence goes on: before, the name of code, an event, a monitor, between, the thread, behind.
 */
static const struct {
	const char *before, *between, *behind;
	bool has_name;
} who[TRACE_NR_OFF_BY] = {
	[TRACE_OFF_BY_USER] = { "", "thread ", " wrote 0 to tracing_on", false },
	[TRACE_OFF_BY_FREE_BUFFER] = { "", "thread ",
				       " closed free_buffer, and option disable_on_free is set",
				       false },
	[TRACE_OFF_BY_TRIGGER] = { "the trigger traceoff of ", " was hit in thread ", "", true },
	[TRACE_OFF_BY_COMMAND] = { "", " was called, which has the command traceoff, in thread ",
				   "", true },
	[TRACE_OFF_BY_CODE] = { "", " called tracing_off() in thread ", "", true },
	[TRACE_OFF_BY_DUMP] = { "", "the trace was dumped to the console in thread ", "", false },
	[TRACE_OFF_BY_SNAPSHOT] = { "", "a snapshot was to be taken in thread ",
				    ", and there was no room for it (echo 1 > snapshot)", false },
	[TRACE_OFF_BY_MONITOR] = { "the monitor ",
				   ", which has the reactor traceoff, was violated in thread ", "",
				   true },
	[TRACE_OFF_BY_WARNING] = { "", " warned in thread ", ", and traceoff_on_warning is set",
				   true },
	[TRACE_OFF_BY_BOOT] = { "", "the boot was over in thread ",
				", and traceoff_after_boot is set", false },
	[TRACE_OFF_BY_PARAM] = { "the boot parameter trace_instance=",
				 "^traceoff was there in thread ", "", true },
	[TRACE_OFF_BY_NOISE] = { "the tracer ", " saw a time above its limit in thread ", "",
				 true },
	[TRACE_OFF_BY_DAMAGE] = { "", "tracing stopped for good in thread ", "", false },
};

static void say_off(struct trace_why *why, const struct trace_off *off)
{
	const char *name = off->name;
	struct trace_why_text function;

	if (!name[0] && who[off->by].has_name) {
		function = trace_why_function(off->ip);
		name = function.text;
	}
	trace_why_say(why, "Tracing has been off for %s: %s%s%s%s%s; echo 1 > tracing_on.",
		      trace_why_ago(why, off->time_ns).text, who[off->by].before, name,
		      who[off->by].between, trace_why_thread(off->pid, off->comm).text,
		      who[off->by].behind);
}

void trace_why_off(struct trace_why *why)
{
	struct trace_off off;

	if (ring_buffer_record_is_set_on(why->tr->buffer) || ftrace_is_dead())
		return;
	if (trace_array_last_off(why->tr, &off) && off.by < TRACE_NR_OFF_BY)
		say_off(why, &off);
	else
		trace_why_say(why, "Tracing is off; echo 1 > tracing_on.");
}

/* Beside the switch: disables that are counted. tracing_cpumask makes them, too. */
void trace_why_disabled(struct trace_why *why)
{
	uint32_t nr_paused = 0, nr_there = 0;

	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		uint32_t own = why->tr->cpus[cpu].is_masked;

		if (!why->tr->cpus[cpu].is_there)
			continue;
		nr_there++;
		nr_paused += why->cpus[cpu].glance.nr_disabled > own;
	}
	if (!nr_paused)
		return;
	if (why->tr->options & TRACE_OPT_BIT(TRACE_OPT_PAUSE_ON_TRACE))
		trace_why_say(why,
			      "Recording pauses on %u of %u CPUs while somebody has `trace` open: "
			      "option pause-on-trace is set; close it, or echo 0 > "
			      "options/pause-on-trace.",
			      nr_paused, nr_there);
	else
		trace_why_say(why, "Recording is disabled on %u of %u CPUs by code of the kernel.",
			      nr_paused, nr_there);
}

/* ---- Things that are on ---- */

void trace_why_nothing_on(struct trace_why *why)
{
	if (trace_why_has_tracer(why) || why->nr_events || ftrace_is_dead())
		return;
	if (why->nr_hists)
		trace_why_say(why,
			      "%s histograms are on (%u), which write nothing into the trace: "
			      "read events/SYSTEM/EVENT/hist.",
			      why->all.entries ? "Only" : "The trace is empty because only",
			      why->nr_hists);
	else if (why->nr_scripts)
		trace_why_say(why,
			      "%s scripts are on (%u), which write nothing into the trace: read "
			      "scripts/NAME/output and maps, or what bt prints.",
			      why->all.entries ? "Only" : "The trace is empty because only",
			      why->nr_scripts);
	else if (why->all.glance.committed)
		trace_why_say(why,
			      "Nothing is on but trace_printk() and markers: current_tracer is "
			      "nop, and no event is enabled.");
	else
		trace_why_say(why, "Nothing is on: current_tracer is nop, and no event is enabled; "
				   "echo function > current_tracer, or echo 1 > "
				   "events/sched/enable.");
}
