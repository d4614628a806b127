/*
 * Objects of tracefs that two drivers work through: lines that make, replace and remove each kind,
 * and what is hit meanwhile.
 *
 *   objects_replaced.h   they come and go on one CPU while others hit them (threads_objects.c under
 *                        TSan, test_objects.c under ASan)
 *   objects_failing.h    each allocation and each call of the host fails in turn (test_objects.c)
 *
 * A new kind of object is a row of `objects`. After its last line all is as before the first one.
 * To be included by one test file, after threads_help.h.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <trace/kprobe_hit.h>
#include <trace/wprobe.h>
#include "fs/fs_tree.h"
#include "host/yard.h"
#include "ops/ftrace_private.h"

#define OBJECT_LINES 12u

/* A line that is added to a file (`echo LINE >> FILE`). */
struct object_line {
	const char *text, *path;
};

struct object {
	const char *name;
	void (*hit)(uint32_t cpu, uint32_t round);
	/* Directories whose files show it, besides those of `object_lists`. */
	const char *dirs[3];
	struct object_line lines[OBJECT_LINES];
};

/* Files that list objects. */
static const char *const object_lists[] = {
	"dynamic_events",    "kprobe_events", "synthetic_events",    "set_event",
	"enabled_functions", "monitors",      "rv/enabled_monitors", "set_ftrace_filter",
	"current_tracer",    "tracing_on",    "show_event_filters",  "show_event_triggers",
	"set_event_pid",     "trace_options", "events/yard/enable",  "available_events",
	"kprobe_profile",    "trace_clock",   "buffer_size_kb",	     "set_ftrace_notrace",
};

/* ---- Hits. Each is what a CPU does on its own stack; no text is read, which another may change. ---- */

/* Variables that watchpoints may name. */
static uint64_t object_word;
static const struct fake_variable object_variables[] = {
	{ "object_word", &object_word, sizeof(object_word) },
	{ NULL, NULL, 0 },
};

/* tracefs with `nr` CPUs that hit, and what objects are made of. */
HELPER int objects_setup(uint32_t nr)
{
	int err = cpus_setup(nr, "32k");

	fake_variables = object_variables;
	return err;
}

HELPER void hit_event(uint32_t cpu, uint32_t round)
{
	trace_yard_full((int)cpu, 0);
	if (round % 4 == 0)
		trace_yard_watch((int)cpu);
}

/* The function at `ip` is called and returns. */
HELPER void hit_function(uintptr_t ip)
{
	uintptr_t slot = PARENT;
	struct ftrace_regs fregs = { .parent = PARENT, .slot = &slot, .is_full = true };

	trace_plat_preempt_disable();
	trace_ops_list_func(ip, PARENT, NULL, &fregs);
	trace_plat_preempt_enable();
	while (slot == FAKE_RETURN_HOOK)
		trace_graph_return(&slot);
	if (slot != PARENT)
		fail_msg("a function returned to somebody else");
}

HELPER void hit_call(uint32_t cpu, uint32_t round)
{
	(void)cpu;
	hit_function(fake_func(round % NR_FUNCS));
}

/* A breakpoint at `addr`, if there is a probe. Interrupts are off in the handler of a trap. */
HELPER void hit_breakpoint(uintptr_t addr)
{
	uintptr_t slot = PARENT;
	struct ftrace_regs fregs = { .parent = PARENT, .slot = &slot, .is_full = true };
	struct trace_plat_probe *plat;

	fregs.rip = addr;
	trace_plat_preempt_disable();
	fake_this->irqs_off = true;
	plat = kprobe_hit_find(addr);
	if (plat && kprobe_hit_begin(plat)) {
		if (!kprobe_hit_pre(plat, &fregs) && kprobe_hit_has_post(plat))
			kprobe_hit_post(plat, &fregs);
		kprobe_hit_end();
	}
	fake_this->irqs_off = false;
	trace_plat_preempt_enable();
}

HELPER void hit_insn(uint32_t cpu, uint32_t round)
{
	(void)cpu;
	hit_breakpoint(fake_func(DO_WORK) + 8 + round % 2);
}

/* Debug registers are hit, those that have gone meanwhile as well. */
HELPER void hit_watch(uint32_t cpu, uint32_t round)
{
	struct ftrace_regs regs = { .rip = FAKE_TEXT };

	(void)cpu;
	trace_plat_preempt_disable();
	wprobe_hit(round % TRACE_PLAT_WATCHES, &regs);
	trace_plat_preempt_enable();
}

/* ---- The objects ---- */

#define TURN	"-yard_full-> b -yard_full-> a"
#define FULL	"events/yard/yard_full/"
#define WATCH	"events/yard/yard_watch/"
#define RV(one) "rv/monitors/" one "/"

static const struct object objects[] = {
	/* Monitors: two share an event, each goes while the other is hit. */
	{ .name = "monitor of all",
	  .hit = hit_event,
	  .dirs = { "rv", "events/rv" },
	  .lines = { { "m:one enable=1 a " TURN, "monitors" },
		     { "m:two per=cpu enable=1 a " TURN, "monitors" },
		     { "0", RV("one") "enable" },
		     { "traceoff", RV("two") "reactors" },
		     { "1", RV("one") "enable" },
		     { "-:two", "monitors" },
		     { "1", "tracing_on" },
		     { "-:one", "monitors" } } },
	{ .name = "monitor of each value",
	  .hit = hit_event,
	  .dirs = { "rv", "events/rv" },
	  .lines = { { "m:one per=used size=4 enable=1 a " TURN, "monitors" },
		     { "0", RV("one") "enable" },
		     { "1", RV("one") "enable" },
		     { "!one", "monitors" } } },
	{ .name = "monitor of each thread",
	  .hit = hit_event,
	  .dirs = { "rv", "events/rv" },
	  .lines = { { "m:one per=thread enable=1 a " TURN, "monitors" },
		     { "m:two enable=1 a -yard_full-> a -yard_watch-> a", "monitors" },
		     { "0", RV("two") "enable" },
		     { "1", RV("two") "enable" },
		     { "-:one", "monitors" },
		     { "-:two", "monitors" } } },
	/* A probe of the error of a monitor is hit, too. */
	{ .name = "monitor that is recorded",
	  .hit = hit_event,
	  .dirs = { "rv", "events/rv" },
	  .lines = { { "m:one enable=1 a -yard_full-> a", "monitors" },
		     { "1", "events/rv/event_one/enable" },
		     { "printk", RV("one") "reactors" },
		     { "nop", RV("one") "reactors" },
		     { "0", "events/rv/event_one/enable" },
		     { "-:one", "monitors" } } },
	{ .name = "event",
	  .hit = hit_event,
	  .dirs = { "events/yard" },
	  .lines = { { "1", FULL "enable" }, { "0", FULL "enable" } } },
	/* A filter takes the place of another one; some look at the head of the event. */
	{ .name = "filter",
	  .hit = hit_event,
	  .dirs = { "events/yard" },
	  .lines = { { "1", FULL "enable" },
		     { "used == 0 || used == 3", FULL "filter" },
		     { "used != 7 && used < 9", FULL "filter" },
		     { "common_pid >= 0", FULL "filter" },
		     { "common_pid < 9 && used < 9", FULL "filter" },
		     { "0", FULL "enable" },
		     { "0", FULL "filter" } } },
	/* Those that act before and behind the record, and switch an event that has to be got ready. */
	{ .name = "trigger",
	  .hit = hit_event,
	  .dirs = { "events/yard" },
	  .lines = { { "enable_event:yard:yard_watch:5 if used == 1", FULL "trigger" },
		     { "traceon:3 if used == 7", FULL "trigger" },
		     { "stacktrace if common_pid >= 0", WATCH "trigger" },
		     { "!stacktrace", WATCH "trigger" },
		     { "!traceon", FULL "trigger" },
		     { "!enable_event:yard:yard_watch", FULL "trigger" },
		     { "0", WATCH "enable" } } },
	{ .name = "histogram",
	  .hit = hit_event,
	  .dirs = { "events/yard" },
	  .lines = { { "hist:keys=used:x=used:size=128", FULL "trigger" },
		     { "hist:keys=who:y=$x:size=128 if who < 9", WATCH "trigger" },
		     { "hist:keys=common_cpu:vals=used:name=n:size=128", FULL "trigger" },
		     { "hist:keys=used:x=used:clear", FULL "trigger" },
		     { "hist:keys=common_cpu:vals=used:name=n:clear", FULL "trigger" },
		     { "!hist:keys=common_cpu:vals=used:name=n", FULL "trigger" },
		     { "!hist:keys=who:y=$x if who < 9", WATCH "trigger" },
		     { "!hist:keys=used:x=used", FULL "trigger" } } },
	{ .name = "histogram with actions",
	  .hit = hit_event,
	  .dirs = { "events/yard", "events/synthetic" },
	  .lines = { { "made int used; int who", "synthetic_events" },
		     { "1", "events/synthetic/made/enable" },
		     { "hist:keys=used:x=used", FULL "trigger" },
		     { "hist:keys=who:y=$x:onmatch(yard.yard_full).made(used,$y)",
		       WATCH "trigger" },
		     { "hist:keys=used:z=used:onmax($z).save(used)", FULL "trigger" },
		     { "!hist:keys=used:z=used:onmax($z).save(used)", FULL "trigger" },
		     { "!hist:keys=who:y=$x:onmatch(yard.yard_full).made(used,$y)",
		       WATCH "trigger" },
		     { "!hist:keys=used:x=used", FULL "trigger" },
		     { "0", "events/synthetic/made/enable" },
		     { "!made", "synthetic_events" } } },
	/* Events of tracepoints and of other events: what is hit is theirs, not one of their own. */
	{ .name = "event of a tracepoint",
	  .hit = hit_event,
	  .dirs = { "events/my" },
	  .lines = { { "t:my/point yard_full used=$arg1:s32", "dynamic_events" },
		     { "1", "events/my/point/enable" },
		     { "0", "events/my/point/enable" },
		     { "-:my/point", "dynamic_events" } } },
	{ .name = "event of an event",
	  .hit = hit_event,
	  .dirs = { "events/my" },
	  .lines = { { "e:my/part yard.yard_full used=$used if used < 9", "dynamic_events" },
		     { "1", "events/my/part/enable" },
		     { "0", "events/my/part/enable" },
		     { "-:my/part", "dynamic_events" } } },
};

/* As `echo TEXT >> PATH`; without the memory that a node needs there is no such file. */
HELPER int object_write(const struct object_line *line)
{
	return node_of(line->path) ? echo_append(line->text, line->path) : -ENOMEM;
}

/* Allocations but the nodes of directories: those that were looked at keep the old ones, too. */
HELPER long object_memory(void)
{
	long nr = fake_alloc_out;

	for (struct node_chunk *at = trace_fs_root()->tree->chunks; at; at = at->next)
		nr--;
	return nr;
}

HELPER uint32_t object_nr_lines(const struct object *object)
{
	uint32_t nr = 0;

	while (nr < OBJECT_LINES && object->lines[nr].text)
		nr++;
	return nr;
}

#endif
