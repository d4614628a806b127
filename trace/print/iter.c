/*
 * See iter.h.
 */
#include "instance/array.h"
#include "instance/kept.h"
#include "iter.h"
#include "text/str.h"

static size_t iter_bytes(uint32_t nr_cpus)
{
	return sizeof(struct trace_iter) + nr_cpus * sizeof(struct trace_iter_cpu) +
	       TRACE_ITER_SYMBOLS * sizeof(struct trace_iter_symbol);
}

/* Note the clock and the start of the buffer. Both may change when the buffer is emptied. */
static void note_clock(struct trace_iter *iter)
{
	const struct trace_array *tr = iter->tr;
	const struct trace_snapshot *snapshot = trace_snapshot_of(tr);

	iter->is_ns = tr->clock->is_ns;
	/* The buffer of the walk may be the snapshot by now, or the other way round. */
	if (iter->max.latency_ns)
		iter->start_ts = iter->max.start_ts;
	else
		iter->start_ts =
			iter->walked == snapshot->buffer ? snapshot->start_ts : tr->start_ts;
}

static void set_up(struct trace_iter *iter, struct trace_array *tr, int cpu)
{
	bool is_all = cpu == RING_BUFFER_ALL_CPUS;

	iter->tr = tr;
	iter->tracer = tr->tracer;
	iter->cpu = cpu;
	iter->first_cpu = is_all ? 0 : (uint32_t)cpu;
	iter->nr_cpus = is_all ? trace_plat_nr_cpus() : 1;
	iter->is_latency = tr->options & TRACE_OPT_BIT(TRACE_OPT_LATENCY_FORMAT);
	iter->walked = trace_iter_buffer(iter);
	note_clock(iter);
}

/* Pass over the events on `cpus[i]` that do not belong to the maximum. */
static void skip_older(struct trace_iter *iter, uint32_t i)
{
	struct trace_iter_cpu *cpu = &iter->cpus[i];
	bool is_other = iter->max.is_one_cpu && iter->first_cpu + i != iter->max.cpu;
	struct ring_event event;

	cpu->nr_skipped = 0;
	while (iter->max.latency_ns && ring_buffer_iter_peek(cpu->ring, &event) &&
	       (is_other || event.ts < iter->max.start_ts)) {
		ring_buffer_iter_advance(cpu->ring);
		cpu->nr_skipped++;
	}
}

/* Begin the walk over `cpus[i]`, whose ring iterator stands on the oldest event. */
static void iter_begin(struct trace_iter *iter, uint32_t i)
{
	struct trace_iter_cpu *cpu = &iter->cpus[i];

	cpu->was_seen = false;
	cpu->graph = (struct trace_iter_graph){ 0 };
	cpu->has_event = false;
	skip_older(iter, i);
}

/* Fill the event of `cpus[i]` if it has none. */
static void iter_fetch(struct trace_iter *iter, uint32_t i)
{
	struct trace_iter_cpu *cpu = &iter->cpus[i];

	if (cpu->has_event)
		return;
	cpu->step = iter->step;
	if (iter->is_consuming) {
		cpu->has_event =
			ring_buffer_peek(iter->tr->buffer, iter->first_cpu + i, &cpu->event);
		return;
	}
	if (!cpu->ring)
		return;
	cpu->has_event = ring_buffer_iter_peek(cpu->ring, &cpu->event);
	if (ring_buffer_iter_was_emptied(cpu->ring)) {
		note_clock(iter);
		iter_begin(iter, i);
		cpu->has_event = ring_buffer_iter_peek(cpu->ring, &cpu->event);
	}
}

/* The CPU with the oldest event, or NULL. */
static struct trace_iter_cpu *oldest(struct trace_iter *iter)
{
	struct trace_iter_cpu *best = NULL;

	for (uint32_t i = 0; i < iter->nr_cpus; i++) {
		struct trace_iter_cpu *cpu = &iter->cpus[i];

		iter_fetch(iter, i);
		if (cpu->has_event && (!best || cpu->event.ts < best->event.ts))
			best = cpu;
	}
	return best;
}

static void note_overruns(struct trace_iter *iter)
{
	struct ring_buffer *buffer = trace_iter_buffer(iter);

	iter->has_overruns = buffer && ring_buffer_overruns(buffer) != 0;
}

static bool start_rings(struct trace_iter *iter)
{
	struct ring_buffer *buffer = trace_iter_buffer(iter);

	if (!buffer)
		return true;
	for (uint32_t i = 0; i < iter->nr_cpus; i++) {
		iter->cpus[i].ring = ring_buffer_read_start(buffer, iter->first_cpu + i);
		if (!iter->cpus[i].ring)
			return false;
	}
	note_overruns(iter);
	for (uint32_t i = 0; i < iter->nr_cpus; i++)
		iter_begin(iter, i);
	return true;
}

/*
 * Allocate iter->copy, large enough for each event that there may be now. While a peeking walk is
 * open the size of sub-buffers stays. It may change under a consuming walk, which copies short
 * events only.
 */
static bool get_copy(struct trace_iter *iter)
{
	struct ring_buffer *buffer = trace_iter_buffer(iter);

	if (!buffer)
		return true;
	iter->copy_bytes = ring_buffer_subbuf_size(buffer);
	iter->copy = trace_plat_alloc(iter->copy_bytes);
	return iter->copy;
}

struct trace_iter *trace_iter_open(struct trace_array *tr, int cpu, enum trace_iter_kind kind)
{
	struct trace_iter *iter = trace_plat_alloc(iter_bytes(trace_plat_nr_cpus()));

	if (!iter)
		return NULL;
	iter->cpus = (struct trace_iter_cpu *)(iter + 1);
	iter->symbols = (struct trace_iter_symbol *)(iter->cpus + trace_plat_nr_cpus());
	iter->is_consuming = kind == TRACE_ITER_CONSUMING;
	iter->is_snapshot = kind == TRACE_ITER_SNAPSHOT;
	/* The snapshot of a latency tracer also has events from before the maximum. */
	if (iter->is_snapshot && tr->tracer->uses_snapshot)
		trace_max_read(tr, &iter->max);
	set_up(iter, tr, cpu);
	if ((!iter->is_consuming && !start_rings(iter)) || !get_copy(iter)) {
		trace_iter_close(iter);
		return NULL;
	}
	return iter;
}

void trace_iter_close(struct trace_iter *iter)
{
	for (uint32_t i = 0; i < iter->nr_cpus; i++) {
		if (iter->cpus[i].ring)
			ring_buffer_read_finish(iter->cpus[i].ring);
	}
	if (iter->copy)
		trace_plat_free(iter->copy, iter->copy_bytes);
	trace_plat_free(iter, iter_bytes(trace_plat_nr_cpus()));
}

void trace_iter_rewind(struct trace_iter *iter)
{
	note_clock(iter);
	for (uint32_t i = 0; i < iter->nr_cpus && iter->cpus[i].ring; i++) {
		ring_buffer_iter_reset(iter->cpus[i].ring);
		iter->cpus[i].is_started = false;
		iter_begin(iter, i);
	}
	iter->nr_seen = 0;
	note_overruns(iter);
}

static bool next_consuming(struct trace_iter *iter)
{
	struct trace_iter_cpu *cpu;

	while ((cpu = oldest(iter))) {
		uint32_t number = iter->first_cpu + (uint32_t)(cpu - iter->cpus);

		/* The event that was peeked may be gone by now; it only told the order of CPUs. */
		cpu->has_event = false;
		if (ring_buffer_consume(iter->tr->buffer, number, &iter->event)) {
			iter->walked = iter->tr->buffer;
			note_clock(iter);
			return true;
		}
	}
	return false;
}

/* Copy the current event to iter->copy; an event that does not fit is cut. */
static void keep_event(struct trace_iter *iter)
{
	if (iter->event.data == iter->copy)
		return;
	if (iter->event.len > iter->copy_bytes)
		iter->event.len = iter->copy_bytes;
	memcpy(iter->copy, iter->event.data, iter->event.len);
	iter->event.data = iter->copy;
}

/*
 * The CPU with the oldest event. If the event was fetched in an earlier step, its ring may have
 * been emptied since, so it is fetched once more.
 */
static struct trace_iter_cpu *oldest_now(struct trace_iter *iter)
{
	struct trace_iter_cpu *cpu;
	uint64_t ts;

	iter->step++;
	while ((cpu = oldest(iter)) && cpu->step != iter->step) {
		ts = cpu->event.ts;
		cpu->has_event = false;
		iter_fetch(iter, (uint32_t)(cpu - iter->cpus));
		if (cpu->has_event && cpu->event.ts == ts)
			break;
	}
	return cpu;
}

static bool next_peeking(struct trace_iter *iter)
{
	struct trace_iter_cpu *cpu = oldest_now(iter);

	if (!cpu)
		return false;
	iter->event = cpu->event;
	if (!cpu->was_seen)
		iter->event.lost = 0; /* lost before the walk began; the header has that number */
	cpu->was_seen = true;
	ring_buffer_iter_advance(cpu->ring);
	cpu->has_event = false;
	iter->next_ts = iter->event.ts;
	if (!iter->is_latency)
		return true;
	keep_event(iter);
	cpu = oldest(iter);
	if (cpu && cpu->event.ts > iter->next_ts) /* with another clock times may go back */
		iter->next_ts = cpu->event.ts;
	return true;
}

bool trace_iter_next(struct trace_iter *iter)
{
	bool found = iter->is_consuming ? next_consuming(iter) : next_peeking(iter);

	if (found)
		iter->index = iter->nr_seen++;
	return found;
}

bool trace_iter_peek(struct trace_iter *iter, struct ring_event *out_event)
{
	uint32_t i = iter->event.cpu - iter->first_cpu;
	struct trace_iter_cpu *cpu = &iter->cpus[i];

	/* The search for the next event may reuse the memory of the current one. */
	keep_event(iter);
	if (iter->is_consuming) {
		/* Peek again: the event that oldest() has peeked may be gone by now. */
		iter->peeked = iter->tr->buffer;
		cpu->has_event = ring_buffer_peek(iter->peeked, iter->event.cpu, &cpu->event);
	} else {
		iter_fetch(iter, i);
	}
	*out_event = cpu->event;
	return cpu->has_event;
}

void trace_iter_skip(struct trace_iter *iter)
{
	struct trace_iter_cpu *cpu = &iter->cpus[iter->event.cpu - iter->first_cpu];
	struct ring_event taken;

	if (iter->is_consuming)
		ring_buffer_consume(iter->peeked, iter->event.cpu, &taken);
	else
		ring_buffer_iter_advance(cpu->ring);
	cpu->has_event = false;
	iter->nr_seen++;
}

bool trace_iter_is_empty(const struct trace_iter *iter)
{
	struct ring_buffer *buffer = trace_iter_buffer(iter);

	if (!buffer)
		return true;
	if (iter->cpu == RING_BUFFER_ALL_CPUS)
		return ring_buffer_empty(buffer);
	return ring_buffer_empty_cpu(buffer, (uint32_t)iter->cpu);
}

bool trace_iter_shows_nothing(struct trace_iter *iter)
{
	return !oldest(iter);
}

void trace_iter_count(const struct trace_iter *iter, uint64_t *out_entries, uint64_t *out_written)
{
	struct ring_buffer *buffer = trace_iter_buffer(iter);

	*out_entries = 0;
	*out_written = 0;
	if (!buffer)
		return;
	/* As on Linux, the counts are those of all CPUs, even for a walk over one. */
	for (uint32_t cpu = 0; cpu < trace_plat_nr_cpus(); cpu++) {
		bool is_ours = cpu - iter->first_cpu < iter->nr_cpus;
		uint64_t skipped = is_ours ? iter->cpus[cpu - iter->first_cpu].nr_skipped : 0;
		uint64_t entries = ring_buffer_entries_cpu(buffer, cpu);

		/* Skipped events may have been overwritten or emptied since. */
		entries -= skipped < entries ? skipped : entries;
		*out_entries += entries;
		*out_written += entries;
		if (!skipped)
			*out_written += ring_buffer_overrun_cpu(buffer, cpu);
	}
}

const char *trace_iter_comm_of(struct trace_iter *iter, int32_t pid)
{
	struct trace_cmdline *line = &iter->comms[trace_iter_place(pid)];

	if (!line->comm[0] || line->pid != pid) {
		iter->heads[trace_iter_place(pid)].len = 0;
		line->pid = pid;
		if (trace_kept_holds(iter->tr))
			trace_kept_comm(iter->tr, pid, line->comm);
		else
			trace_cmdlines_find(pid, !iter->is_dump, line->comm);
	}
	return line->comm;
}

const char *trace_iter_comm(struct trace_iter *iter)
{
	return trace_iter_comm_of(iter, trace_iter_entry(iter)->pid);
}

int32_t trace_iter_tgid(const struct trace_iter *iter, int32_t pid)
{
	return trace_kept_holds(iter->tr) ? 0 : trace_cmdlines_tgid(pid, !iter->is_dump);
}

void trace_iter_dump(struct trace_iter *iter, struct trace_array *tr, int cpu)
{
	set_up(iter, tr, cpu);
	iter->is_latency = true;
	iter->is_dump = true;
	for (uint32_t i = 0; i < iter->nr_cpus; i++) {
		iter->cpus[i] = (struct trace_iter_cpu){ 0 };
		iter->cpus[i].ring = ring_buffer_dump_start(tr->buffer, iter->first_cpu + i);
	}
}

void trace_iter_style(const struct trace_iter *iter, struct trace_seq *seq)
{
	seq->hashes_pointers = iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_HASH_PTR);
	seq->lists_bits = iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_BITMASK_LIST);
}
