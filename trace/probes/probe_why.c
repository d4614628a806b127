/*
 * Sentences of `why` about probes of instructions that are on but cannot be hit. See
 * instance/why.h.
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include "events/event_file.h"
#include "ops/ftrace_private.h"
#include "probe.h"
#include "text/str.h"

/* An event that is on, and why its probe is silent. */
struct silent {
	char event[TRACE_SYM_LEN];
	char func[TRACE_SYM_LEN];
	uintptr_t offset;
	bool is_gone; /* the code is; otherwise the function is replaced */
};

/*
 * The calls of the function go elsewhere: to a live patch, for example. A probe at its call site is
 * hit all the same, and one behind it is not.
 */
static bool is_replaced(uintptr_t func, uintptr_t addr)
{
	const struct dyn_ftrace *record = ftrace_record_find(ftrace_location(func));

	return record && addr != trace_plat_ip_unpack(record->ip) &&
	       record->flags & FTRACE_FL_IPMODIFY;
}

static bool is_silent(const struct probe *probe, struct silent *out)
{
	const struct kprobe *kprobe = &probe->target.kprobe;
	uintptr_t start;
	size_t bytes;

	if (!trace_plat_symbol(kprobe->addr, out->func, &start, &bytes)) {
		trace_strcpy(out->func, "an address without name", sizeof(out->func));
		start = kprobe->addr;
	}
	out->offset = kprobe->addr - start;
	out->is_gone = kprobe->flags & KPROBE_FLAG_GONE;
	return out->is_gone || is_replaced(start, kprobe->addr);
}

/* The first such probe of the event. */
static bool has_silent(const struct trace_event_file *file, struct silent *out)
{
	const struct probe *probe;

	if (!trace_event_is_on(file) || !trace_probe_is_of_instruction(file->call))
		return false;
	for (probe = trace_probe_event_of(file->call)->first; probe; probe = probe->next) {
		if (is_silent(probe, out)) {
			trace_strcpy(out->event, file->call->event.name, sizeof(out->event));
			return true;
		}
	}
	return false;
}

/*
 * Find silent event number `nth` of the instance, from 0. Removed events are freed after a grace
 * period.
 */
static bool find_silent(const struct trace_why *why, uint32_t nth, struct silent *out)
{
	const struct trace_event_file *file;
	bool found = false;

	trace_plat_preempt_disable();
	for (file = trace_events_of(why->tr)->files; file && !found; file = file->next_of_array)
		found = has_silent(file, out) && !nth--;
	trace_plat_preempt_enable();
	return found;
}

static void say_silent(struct trace_why *why)
{
	struct silent silent;

	for (uint32_t i = 0; i < TRACE_WHY_MAX_NAMED && find_silent(why, i, &silent); i++)
		trace_why_say(why,
			      silent.is_gone
				      ? "The probe %s is not hit any more: the code at %s+0x%lx is "
					"gone; remove it."
				      : "The probe %s is not hit: all calls of %s go elsewhere, to "
					"a live patch for example, and its code at +0x%lx does not "
					"run.",
			      silent.event, silent.func, (unsigned long)silent.offset);
}

const struct trace_why_check trace_probe_kprobe_whys[] = {
	{ TRACE_WHY_EVENTS, say_silent },
	{ .say = NULL },
};
