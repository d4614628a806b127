/*
 * Is the buffer large enough, and who emptied it? See instance/why.h.
 */
#include <trace/fmt.h>
#include "text/str.h"
#include "why.h"

#define SECOND_NS 1000000000ull
#define KB	  1024ull
/* Greatest age of an event that is named as a reason for what is missing now. */
#define RECENT_NS (60 * SECOND_NS)

/* The time that the events still there reach back, on the CPU that has the shortest history. */
static uint64_t held_ns(const struct trace_why *why)
{
	uint64_t held = UINT64_MAX, now;

	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		const struct trace_why_ring *ring = &why->cpus[cpu];

		now = ring->glance.now_ts;
		if (ring->overrun && ring->entries && now - ring->first_ts < held)
			held = now - ring->first_ts;
	}
	return held == UINT64_MAX ? 0 : held;
}

/* The size, per CPU, in which all would have had room: of the CPU that has lost most. */
static uint64_t wanted_kb(const struct trace_why *why)
{
	uint64_t kb = 0, all, wanted, rounded = 1;

	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		const struct trace_why_ring *ring = &why->cpus[cpu];

		all = ring->entries + ring->overrun + ring->glance.dropped;
		if (all == ring->entries || !ring->entries)
			continue;
		wanted = ring->size_bytes / KB * (all / ring->entries + 1);
		kb = wanted > kb ? wanted : kb;
	}
	while (rounded < kb)
		rounded *= 2;
	return rounded;
}

static uint64_t size_kb(const struct trace_why *why)
{
	uint64_t bytes = 0;

	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		if (why->cpus[cpu].overrun || why->cpus[cpu].glance.dropped || !bytes)
			bytes = why->cpus[cpu].size_bytes;
	}
	return bytes / KB;
}

void trace_why_overwritten(struct trace_why *why)
{
	uint64_t overrun = why->all.overrun, all = why->all.glance.committed;

	if (!overrun)
		return;
	trace_why_say(why,
		      "%s of the events are lost: %s of %s were overwritten before anybody read "
		      "them, because the buffer has %s KB per CPU%s%s; echo %llu > buffer_size_kb "
		      "would have held them all.",
		      trace_why_percent(overrun, all).text, trace_why_number(overrun).text,
		      trace_why_number(all).text, trace_why_number(size_kb(why)).text,
		      why->tr->clock->is_ns ? " and reaches back only " : "",
		      why->tr->clock->is_ns ? trace_why_time(held_ns(why)).text : "",
		      (unsigned long long)wanted_kb(why));
}

static bool why_buffer_is_recording(const struct trace_why *why)
{
	return ring_buffer_record_is_set_on(why->tr->buffer);
}

static void say_dropped(struct trace_why *why, uint64_t dropped)
{
	bool overwrites = why->tr->options & TRACE_OPT_BIT(TRACE_OPT_OVERWRITE);
	uint64_t nr = dropped + why->all.glance.committed;

	if (!overwrites)
		trace_why_say(why,
			      "%s of the events are lost: %s of %s, the newest, were dropped, "
			      "because the buffer of %s KB per CPU is full and option overwrite is "
			      "not set; read trace_pipe, echo > trace, echo 1 > options/overwrite, "
			      "or echo %llu > buffer_size_kb.",
			      trace_why_percent(dropped, nr).text, trace_why_number(dropped).text,
			      trace_why_number(nr).text, trace_why_number(size_kb(why)).text,
			      (unsigned long long)wanted_kb(why));
	else
		trace_why_say(why,
			      "%s event%s dropped while the buffer was being resized, or because a "
			      "CPU has no buffer yet, or before option overwrite was set.",
			      trace_why_number(dropped).text, dropped == 1 ? " was" : "s were");
}

void trace_why_dropped(struct trace_why *why)
{
	const struct ring_glance *all = &why->all.glance;

	if (all->dropped > all->unbuilt)
		say_dropped(why, all->dropped - all->unbuilt);
	if (all->unbuilt)
		trace_why_say(
			why,
			"%s long event%s dropped before it was known whether they pass: too many "
			"others of the same CPU were being written, one inside another.",
			trace_why_number(all->unbuilt).text, all->unbuilt == 1 ? " was" : "s were");
	if (all->commit_overrun)
		trace_why_say(why,
			      "%s event%s dropped in interrupts: they filled the whole buffer "
			      "while an event was being written; echo %llu > buffer_size_kb.",
			      trace_why_number(all->commit_overrun).text,
			      all->commit_overrun == 1 ? " was" : "s were",
			      (unsigned long long)size_kb(why) * 2);
}

/* ---- Emptied ---- */

void trace_why_emptied(struct trace_why *why)
{
	uint64_t then = why->tr->emptied_ns;
	const char *by = why->tr->emptied_by;

	if (!by || why->now_ns - then > RECENT_NS || !why_buffer_is_recording(why))
		return;
	if (!trace_why_has_tracer(why) && !why->nr_events)
		return;
	trace_why_note(why,
		       "The trace is no older than %s: %s has emptied the buffer then; %s event%s "
		       "come since.",
		       trace_why_ago(why, then).text, by,
		       trace_why_number(why->all.glance.committed).text,
		       why->all.glance.committed == 1 ? " has" : "s have");
}

/* ---- All is well ---- */

/* The time that the buffer lasts at the rate of the last second, on the CPU where that is least. */
static uint64_t lasts_ns(const struct trace_why *why)
{
	uint64_t lasts = UINT64_MAX;

	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		const struct trace_why_ring *ring = &why->cpus[cpu];
		uint64_t room;

		if (!ring->nr_last_second || !ring->event_bytes)
			continue;
		room = ring->size_bytes / (ring->event_bytes / ring->entries);
		if (room * SECOND_NS / ring->nr_last_second < lasts)
			lasts = room * SECOND_NS / ring->nr_last_second;
	}
	return lasts;
}

static void say_rate(struct trace_why *why, const char *what)
{
	uint64_t nr = why->all.nr_last_second;

	if (!why->tr->clock->is_ns)
		trace_why_say(why, "Nothing is wrong: %s on; %s event%s there.", what,
			      trace_why_number(why->all.entries).text,
			      why->all.entries == 1 ? " is" : "s are");
	else if (!nr)
		trace_why_say(why,
			      "Nothing is wrong: %s on, but no event came in the last "
			      "second; %s event%s there.",
			      what, trace_why_number(why->all.entries).text,
			      why->all.entries == 1 ? " is" : "s are");
	else
		trace_why_say(why,
			      "Nothing is wrong: %s on, %s event%s came in the last second, "
			      "and at that rate the buffer of %s KB per CPU holds %s.",
			      what, trace_why_number(nr).text, trace_why_s(nr),
			      trace_why_number(size_kb(why)).text,
			      trace_why_time(lasts_ns(why)).text);
}

void trace_why_fine(struct trace_why *why)
{
	char what[TRACE_WHY_NAMES + 64];
	bool has_tracer = trace_why_has_tracer(why);

	if (why->nr_said)
		return;
	trace_snprintf(what, sizeof(what), "%s%s%s%s%s %s", has_tracer ? "tracer " : "",
		       has_tracer ? trace_why_tracer(why)->name : "",
		       has_tracer && why->nr_events ? " and " : "",
		       why->nr_events > 1 ? "events "
		       : why->nr_events	  ? "event "
					  : "",
		       why->event_names, has_tracer + why->nr_events > 1 ? "are" : "is");
	say_rate(why, what);
}
