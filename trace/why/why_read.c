/* Effects of readers, options and the clock on the trace, for `why`. See instance/why.h. */
#include "text/str.h"
#include "why.h"

#define POLLED_NS 1000000000ull /* a waiting reader polls much more often */

void trace_why_readers(struct trace_why *why)
{
	uint64_t read = why->all.glance.read;

	for (uint32_t cpu = 0; cpu < why->nr_cpus; cpu++) {
		const struct trace_array_cpu *state = &why->tr->cpus[cpu];

		if (!__atomic_load_n(&state->is_piped, __ATOMIC_RELAXED))
			continue;
		trace_why_say(why,
			      "Somebody else reads: thread %s has trace_pipe open and takes events "
			      "away (%s until now).",
			      trace_why_thread(state->piped_by, NULL).text,
			      trace_why_number(read).text);
		return;
	}
	if (read)
		trace_why_say(why,
			      "%s of %s events are not in `trace` any more: they were read from "
			      "trace_pipe or trace_pipe_raw.",
			      trace_why_number(read).text,
			      trace_why_number(why->all.glance.committed).text);
}

/* ---- Options ---- */

static const struct {
	enum trace_option option;
	bool hides_when; /* it hides something when it is set; or when it is clear */
	const char *text;
} hiders[] = {
	{ TRACE_OPT_MARKERS, false,
	  "Writing to trace_marker fails: option markers is not set; echo 1 > options/markers." },
	{ TRACE_OPT_CONTEXT_INFO, false,
	  "Lines have no thread, CPU and time: option context-info is not set; echo 1 > "
	  "options/context-info." },
	{ TRACE_OPT_IRQ_INFO, false,
	  "Lines do not say what context they come from: option irq-info is not set; echo 1 > "
	  "options/irq-info." },
	{ TRACE_OPT_PRINTK_MSG_ONLY, true,
	  "Lines of trace_printk() are the text alone: option printk-msg-only is set; echo 0 > "
	  "options/printk-msg-only." },
	{ TRACE_OPT_TRACE_PRINTK, false,
	  "trace_printk() writes nothing: option trace_printk is not set; echo 1 > "
	  "options/trace_printk." },
	{ TRACE_OPT_PRINTK_DEST, false,
	  "trace_printk() writes into another instance, which has set option trace_printk_dest; "
	  "echo 1 > options/trace_printk_dest." },
	{ TRACE_OPT_COPY_MARKER, false,
	  "What is written to trace_marker goes to other instances, if at all: option "
	  "copy_trace_marker is not set; echo 1 > options/copy_trace_marker." },
	{ TRACE_OPT_RECORD_CMD, false,
	  "Threads that have ended have no names: option record-cmd is not set; echo 1 > "
	  "options/record-cmd." },
	{ TRACE_OPT_RAW, true, "Events are numbers: option raw is set; echo 0 > options/raw." },
	{ TRACE_OPT_HEX, true, "Events are in hex: option hex is set; echo 0 > options/hex." },
	{ TRACE_OPT_BIN, true, "Events are bytes: option bin is set; echo 0 > options/bin." },
};

/* In other instances it is usual that these are not set. */
#define ROOT_HIDERS                                                                                \
	(TRACE_OPTIONS_ROOT_ONLY | TRACE_OPT_BIT(TRACE_OPT_PRINTK_DEST) |                          \
	 TRACE_OPT_BIT(TRACE_OPT_COPY_MARKER))

void trace_why_options(struct trace_why *why)
{
	bool is_root = trace_array_is_global(why->tr);

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(hiders); i++) {
		uint64_t bit = TRACE_OPT_BIT(hiders[i].option);

		if (!is_root && bit & ROOT_HIDERS)
			continue;
		if (!!(why->tr->options & bit) == hiders[i].hides_when)
			trace_why_say(why, "%s", hiders[i].text);
	}
}

/* ---- Late ---- */

/* Has a pipe of this CPU just been polled, and its reader been told to wait? */
static bool is_polled(const struct trace_why *why, uint32_t cpu)
{
	uint64_t then = why->tr->cpus[cpu].polled_ns;

	return then && why->now_ns < then + POLLED_NS;
}

void trace_why_late(struct trace_why *why)
{
	uint32_t percent = why->tr->buffer_percent;
	struct ring_buffer *buffer = why->tr->buffer;

	for (uint32_t cpu = 0; percent && cpu < why->nr_cpus; cpu++) {
		const struct trace_why_ring *ring = &why->cpus[cpu];

		if (!is_polled(why, cpu) || !ring->entries ||
		    ring_buffer_is_filled(buffer, cpu, percent))
			continue;
		trace_why_say(why,
			      "A reader of CPU %u waits until its buffer is filled to %u %%; %s "
			      "event%s there; echo 0 > buffer_percent.",
			      cpu, percent, trace_why_number(ring->entries).text,
			      ring->entries == 1 ? " is" : "s are");
		return;
	}
}

void trace_why_clock(struct trace_why *why)
{
	const struct trace_clock *clock = why->tr->clock;

	if (!clock->is_ns)
		trace_why_say(why,
			      "Times are no times: trace_clock is %s, which does not count "
			      "nanoseconds; echo local > trace_clock.",
			      clock->name);
}
