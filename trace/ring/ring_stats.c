/*
 * Accounting of a ring. Writers count only the events that they drop; everything else follows from
 * the numbers of events. See <trace/ring_buffer.h>.
 *
 *   number:  0 .............................. first .................. committed
 *              read, or overrun by the writer       still in the ring
 *
 * The reader counts the events that it has taken. An event before `first`, the oldest one still in
 * the ring, that was not taken was overrun. Events in the reader's chunk are taken but not read;
 * they count as still there.
 *
 * Locking: rc->lock, which keeps the reader away; the writer goes on.
 */
#include "ring_private.h"

/* The oldest sub-buffer that is still in the ring. */
struct oldest {
	uint64_t seq;
	uint32_t slot;
	uint64_t word; /* the slot's word: how many of its events were taken */
	struct ring_extent extent;
};

/* Is the sub-buffer still in its slot, so that what we have read about it is true? */
static bool is_unchanged(struct trace_ring_cpu *rc, const struct oldest *oldest)
{
	atomic_thread_fence(memory_order_acquire);
	return ring_tag_seq(oldest->word) == oldest->seq &&
	       atomic_load(&rc->slots[oldest->slot].word) == oldest->word;
}

static void ring_stats_find_oldest(struct trace_ring_cpu *rc, struct oldest *out)
{
	out->seq = rc->reader.seq;
	for (;;) {
		out->seq = trace_ring_oldest(rc, out->seq);
		out->slot = (uint32_t)(out->seq % rc->nr_slots);
		out->word = atomic_load(&rc->slots[out->slot].word);
		trace_ring_extent(rc, out->slot, out->seq, &out->extent);
		if (!is_unchanged(rc, out))
			continue;
		/* After a reset the first ones are empty. */
		if (!out->extent.is_finished || out->extent.entries)
			return;
		out->seq++;
	}
}

/* Bytes of events, heads included, from the oldest to the last committed one. */
static uint64_t count_bytes(struct trace_ring_cpu *rc, const struct oldest *oldest)
{
	uint64_t last = trace_ring_commit_seq(rc), bytes = rc->chunk.end - rc->chunk.pos;
	uint64_t first = last - oldest->seq < rc->nr_slots ? oldest->seq : last - rc->nr_slots + 1;
	uint32_t taken = first == rc->reader.seq ? rc->reader.offset : RING_PAGE_HEAD;
	struct ring_extent extent;

	for (uint64_t seq = first; seq <= last; seq++) {
		trace_ring_extent(rc, (uint32_t)(seq % rc->nr_slots), seq, &extent);
		if (extent.end > taken)
			bytes += extent.end - taken;
		taken = RING_PAGE_HEAD;
	}
	return bytes;
}

/* Time of the oldest event, or 0. Its sub-buffer is copied into the memory that a dump has. */
static uint64_t oldest_ts(struct trace_ring_cpu *rc)
{
	struct ring_cursor cursor = rc->reader;
	struct ring_chunk chunk = rc->chunk;
	struct ring_event event;

	if (trace_ring_decode(&chunk, &event))
		return event.ts;
	chunk.data = rc->dump.chunk.data;
	if (!trace_ring_fetch(rc, &cursor, &chunk, false, false))
		return 0;
	return trace_ring_decode(&chunk, &event) ? event.ts : 0;
}

static void ring_stats_collect(struct trace_ring_cpu *rc, struct ring_stats *out)
{
	struct oldest oldest;
	uint64_t first;

	do {
		ring_stats_find_oldest(rc, &oldest);
		first = oldest.extent.first_event + ring_tag_value(oldest.word);
		out->entries = trace_ring_committed(rc) - first + rc->chunk.left;
		out->overrun = first - rc->nr_taken;
		out->read = rc->nr_taken - rc->chunk.left;
		out->commit_overrun = trace_ring_load(&rc->nr_commit_overrun);
		out->dropped = trace_ring_load(&rc->nr_dropped);
	} while (!is_unchanged(rc, &oldest));
	/*
	 * Counting bytes takes so long that, inside the loop, a busy writer would make us start
	 * over for ever. So `bytes` is exact only while the ring is not written to; it is never
	 * more than a ring holds.
	 */
	out->bytes = count_bytes(rc, &oldest);
	out->oldest_ts = oldest_ts(rc);
	out->now_ts = ring_clock_now(rc);
}

void ring_buffer_stats_cpu(struct ring_buffer *buffer, uint32_t cpu, struct ring_stats *out_stats)
{
	struct trace_ring_cpu *rc;

	*out_stats = (struct ring_stats){ 0 };
	if (cpu >= buffer->nr_cpus)
		return;
	rc = trace_ring_of(buffer, cpu);
	trace_plat_lock(&rc->lock);
	if (trace_ring_has_memory(rc)) {
		ring_stats_collect(rc, out_stats);
	} else {
		out_stats->dropped = trace_ring_load(&rc->nr_dropped);
		out_stats->now_ts = ring_clock_now(rc);
	}
	trace_plat_unlock(&rc->lock);
}

uint64_t ring_buffer_entries_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(buffer, cpu, &stats);
	return stats.entries;
}

uint64_t ring_buffer_overrun_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(buffer, cpu, &stats);
	return stats.overrun;
}

uint64_t ring_buffer_commit_overrun_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(buffer, cpu, &stats);
	return stats.commit_overrun;
}

uint64_t ring_buffer_dropped_events_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(buffer, cpu, &stats);
	return stats.dropped;
}

uint64_t ring_buffer_read_events_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(buffer, cpu, &stats);
	return stats.read;
}

uint64_t ring_buffer_bytes_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(buffer, cpu, &stats);
	return stats.bytes;
}

uint64_t ring_buffer_oldest_event_ts(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_stats stats;

	ring_buffer_stats_cpu(buffer, cpu, &stats);
	return stats.oldest_ts;
}

uint64_t ring_buffer_entries(struct ring_buffer *buffer)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		sum += ring_buffer_entries_cpu(buffer, cpu);
	return sum;
}

uint64_t ring_buffer_overruns(struct ring_buffer *buffer)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		sum += ring_buffer_overrun_cpu(buffer, cpu);
	return sum;
}
