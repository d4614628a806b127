/* Scratch pads. See event_scratch.h. */
#include <stdatomic.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include "event_scratch.h"

/* A scratch pad. Contexts nest on their CPU, so the number of places in use is its whole state. */
struct event_scratch {
	_Alignas(64) _Atomic uint32_t nr_used;
	_Alignas(8) uint8_t places[EVENT_SCRATCH_DEPTH][RING_MAX_PAYLOAD];
};

static struct event_scratch *_Atomic pads; /* for all CPUs, or NULL */

bool trace_event_scratch_make(void)
{
	struct event_scratch *made;

	if (pads)
		return true;
	made = trace_plat_alloc(trace_plat_nr_cpus() * sizeof(*made));
	/* Pairs with the acquire below. */
	atomic_store_explicit(&pads, made, memory_order_release);
	return made;
}

static struct event_scratch *own_pad(void)
{
	struct event_scratch *all = atomic_load_explicit(&pads, memory_order_acquire);

	return all ? &all[trace_plat_cpu_id()] : NULL;
}

void *trace_event_scratch_get(void)
{
	struct event_scratch *pad = own_pad();
	uint32_t at;

	if (!pad)
		return NULL;
	at = atomic_fetch_add_explicit(&pad->nr_used, 1, memory_order_relaxed);
	if (at < EVENT_SCRATCH_DEPTH)
		return pad->places[at];
	trace_event_scratch_put();
	return NULL;
}

void trace_event_scratch_put(void)
{
	atomic_fetch_sub_explicit(&own_pad()->nr_used, 1, memory_order_relaxed);
}
