/*
 * See why.h.
 */
#include <trace/event.h>
#include "text/str.h"
#include "why.h"

#define SECOND_NS 1000000000ull

static const struct trace_why_check checks[] = {
	{ TRACE_WHY_DEAD, trace_why_dead },
	{ TRACE_WHY_OFF, trace_why_off },
	{ TRACE_WHY_DISABLED, trace_why_disabled },
	{ TRACE_WHY_NOTHING_ON, trace_why_nothing_on },
	{ TRACE_WHY_FUNCTIONS, trace_why_patching },
	{ TRACE_WHY_FUNCTIONS, trace_why_filter },
	{ TRACE_WHY_THREADS, trace_why_threads },
	{ TRACE_WHY_CPUS, trace_why_cpus },
	{ TRACE_WHY_LOST, trace_why_overwritten },
	{ TRACE_WHY_LOST, trace_why_dropped },
	{ TRACE_WHY_EMPTIED, trace_why_emptied },
	{ TRACE_WHY_READERS, trace_why_readers },
	{ TRACE_WHY_OPTIONS, trace_why_options },
	{ TRACE_WHY_LATE, trace_why_late },
	{ TRACE_WHY_LATE, trace_why_clock },
	{ TRACE_WHY_FINE, trace_why_fine },
	{ .say = NULL },
};

/* ---- The contents of the buffer ---- */

/* Events come and go meanwhile, so no difference may become negative. */
static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct count {
	struct trace_why *why;
	struct trace_why_ring *ring;
	uint64_t since_ts; /* beginning of the last second */
	uint64_t now_ns;   /* right behind the ring's now_ts; UINT64_MAX: its clock is no clock */
};

static void count_type(struct trace_why_type *type, const struct count *count, uint64_t ts)
{
	uint64_t then = count->now_ns;

	if (then != UINT64_MAX)
		then = minus(then, minus(count->ring->glance.now_ts, ts));
	type->nr++;
	type->newest_ns = then > type->newest_ns ? then : type->newest_ns;
}

static void count_event(const struct ring_event *event, void *arg)
{
	struct count *count = arg;
	struct trace_why_ring *ring = count->ring;
	const struct trace_entry *entry = event->data;

	if (!ring->entries++)
		ring->first_ts = event->ts;
	ring->event_bytes += event->len + 4;
	if (event->ts >= count->since_ts)
		ring->nr_last_second++;
	if (entry->type < TRACE_WHY_TYPES)
		count_type(&count->why->types[entry->type], count, event->ts);
	else
		count->why->has_types = false;
}

static void add_to_all(struct trace_why *why, const struct trace_why_ring *ring)
{
	struct trace_why_ring *all = &why->all;

	all->glance.committed += ring->glance.committed;
	all->glance.read += ring->glance.read;
	all->glance.commit_overrun += ring->glance.commit_overrun;
	all->glance.dropped += ring->glance.dropped;
	all->glance.unbuilt += ring->glance.unbuilt;
	all->entries += ring->entries;
	all->overrun += ring->overrun;
	all->nr_last_second += ring->nr_last_second;
}

static void look_at_ring(struct trace_why *why, uint32_t cpu, struct ring_look_page *page)
{
	struct trace_why_ring *ring = &why->cpus[cpu];
	struct ring_buffer *buffer = why->tr->buffer;
	bool is_ns = why->tr->clock->is_ns;
	struct count count = { .why = why, .ring = ring };

	ring_buffer_glance_cpu(buffer, cpu, &ring->glance);
	count.now_ns = is_ns ? trace_plat_clock_ns() : UINT64_MAX;
	ring->size_bytes = ring_buffer_size(buffer, cpu);
	count.since_ts = is_ns ? minus(ring->glance.now_ts, SECOND_NS - 1) : UINT64_MAX;
	ring_buffer_look_cpu(buffer, cpu, page, count_event, &count);
	ring->overrun = minus(ring->glance.committed, ring->glance.read + ring->entries);
	add_to_all(why, ring);
}

/* ---- The checks ---- */

static void call_checks(struct trace_why *why, const struct trace_why_check *check,
			enum trace_why_place place)
{
	for (; check && check->say; check++) {
		if (check->place == place)
			check->say(why);
	}
}

static void call_all(struct trace_why *why)
{
	for (enum trace_why_place place = 0; place < TRACE_NR_WHY_PLACES; place++) {
		call_checks(why, checks, place);
		for (const struct trace_whys *own = trace_whys_first(); own; own = own->next)
			call_checks(why, own->checks, place);
	}
}

/* All the memory of one reading, in one piece. */
static size_t work_bytes(uint32_t nr_cpus, uint32_t page_bytes)
{
	return page_bytes + nr_cpus * sizeof(struct trace_why_ring) +
	       TRACE_WHY_TYPES * sizeof(struct trace_why_type);
}

int trace_why_print(struct trace_array *tr, struct trace_seq *seq)
{
	struct trace_why why = { .tr = tr, .seq = seq, .nr_cpus = trace_plat_nr_cpus() };
	struct ring_look_page page = { .bytes = ring_buffer_subbuf_size(tr->buffer) };
	size_t bytes = work_bytes(why.nr_cpus, page.bytes);
	uint8_t *work = trace_plat_alloc(bytes);

	if (!work)
		return -ENOMEM;
	page.data = work;
	why.cpus = (struct trace_why_ring *)(void *)(work + page.bytes);
	why.types = (struct trace_why_type *)(void *)(why.cpus + why.nr_cpus);
	why.has_types = true;
	why.now_ns = trace_plat_clock_ns();
	for (uint32_t cpu = 0; cpu < why.nr_cpus; cpu++)
		look_at_ring(&why, cpu, &page);
	call_all(&why);
	trace_plat_free(work, bytes);
	return 0;
}
