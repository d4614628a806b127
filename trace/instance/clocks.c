/*
 * trace_clock: the times that events can carry. See array.h.
 */
#include <stdatomic.h>
#include "array.h"
#include "kept.h"
#include "snapshot.h"
#include "text/str.h"

static _Atomic uint64_t counter;

/* The clock `counter`: each event has the next number, whatever CPU it is on. */
static uint64_t counter_now(void)
{
	return atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed) + 1;
}

static uint64_t cycles_now(void)
{
	return trace_plat_cycles();
}

/*
 * Times of `local` may differ a little between CPUs. The others that count nanoseconds agree on all
 * CPUs; there is one such clock, so the names that Linux has for different ones mean the same here.
 */
const struct trace_clock trace_clocks[] = {
	{ .name = "local", .now = NULL, .is_ns = true },
	{ .name = "global", .now = trace_plat_clock_mono_ns, .is_ns = true },
	{ .name = "counter", .now = counter_now, .is_ns = false },
	{ .name = "uptime", .now = trace_plat_uptime_ticks, .is_ns = false },
	{ .name = "perf", .now = trace_plat_clock_mono_ns, .is_ns = true },
	{ .name = "mono", .now = trace_plat_clock_mono_ns, .is_ns = true },
	{ .name = "mono_raw", .now = trace_plat_clock_mono_ns, .is_ns = true },
	{ .name = "boot", .now = trace_plat_clock_mono_ns, .is_ns = true },
	{ .name = TRACE_CYCLES_CLOCK, .now = cycles_now, .is_ns = false },
};
const size_t trace_nr_clocks = TRACE_ARRAY_SIZE(trace_clocks);

const struct trace_clock *trace_clock_find(const char *name)
{
	for (size_t i = 0; i < trace_nr_clocks; i++) {
		if (trace_streq(trace_clocks[i].name, name))
			return &trace_clocks[i];
	}
	return NULL;
}

void trace_array_set_clock(struct trace_array *tr, const struct trace_clock *clock)
{
	trace_array_note_emptied(tr, "a new trace_clock"); /* ring_buffer_set_clock() does it */
	tr->clock = clock;
	trace_plat_lock(&tr->read_lock);
	ring_buffer_set_clock(tr->buffer, clock->now);
	trace_plat_unlock(&tr->read_lock);
	trace_kept_note_clock(tr);
	trace_array_reset(tr, RING_BUFFER_ALL_CPUS, "a new trace_clock");
	trace_snapshot_of(tr)->start_ts = tr->start_ts; /* set_clock has emptied the twin, too */
}
