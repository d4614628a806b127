/*
 * The consuming reader of a ring: event by event, or whole pages. See <trace/ring_buffer.h>.
 *
 * Events leave the ring as a chunk, a copy of (part of) a sub-buffer. From then on the writer
 * cannot overwrite them, but statistics count them as still there until they are consumed one by
 * one.
 *
 * Context: thread. ring_buffer_empty(), ring_buffer_is_filled(): any.
 * Locking: rc->lock. Those two take no lock: they look with preemption off, at words that are
 *          stored atomically. Whoever exchanges the memory of a ring sets is_moving and waits until
 *          they have left.
 */
#include "ring_private.h"
#include "text/str.h"

void trace_ring_note_reader(struct trace_ring_cpu *rc)
{
	__atomic_store_n(&rc->read_number, rc->reader.next_event - rc->chunk.left,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&rc->read_seq, rc->reader.seq, __ATOMIC_RELAXED);
}

/* Show the next event of the chunk, and fetch another chunk when it has none. False: no event. */
static bool ring_consume_fill(struct trace_ring_cpu *rc, bool full, struct ring_event *out_event)
{
	bool found;

	if (!trace_ring_has_memory(rc))
		return false;
	while (!(found = trace_ring_decode(&rc->chunk, out_event))) {
		if (rc->chunk.left) {
			atomic_store_explicit(&rc->is_damaged, true, memory_order_relaxed);
			trace_plat_bug("ring buffer: damaged events on CPU %u", rc->cpu);
			rc->chunk.left = 0;
		}
		if (!trace_ring_fetch(rc, &rc->reader, &rc->chunk, true, full))
			break;
		rc->nr_taken += rc->chunk.left;
	}
	trace_ring_note_reader(rc);
	out_event->cpu = rc->cpu;
	return found;
}

bool ring_buffer_peek(struct ring_buffer *buffer, uint32_t cpu, struct ring_event *out_event)
{
	struct trace_ring_cpu *rc;
	bool found;

	if (cpu >= buffer->nr_cpus)
		return false;
	rc = trace_ring_of(buffer, cpu);
	trace_plat_lock(&rc->lock);
	found = ring_consume_fill(rc, false, out_event);
	trace_plat_unlock(&rc->lock);
	return found;
}

bool ring_buffer_consume(struct ring_buffer *buffer, uint32_t cpu, struct ring_event *out_event)
{
	struct trace_ring_cpu *rc;
	bool found;

	if (cpu >= buffer->nr_cpus)
		return false;
	rc = trace_ring_of(buffer, cpu);
	trace_plat_lock(&rc->lock);
	found = ring_consume_fill(rc, false, out_event);
	if (found) {
		trace_ring_skip(&rc->chunk, out_event);
		trace_ring_note_reader(rc);
	}
	trace_plat_unlock(&rc->lock);
	return found;
}

/* Copy the rest of the chunk to `page`, with a count of lost events behind it if it fits. */
static void chunk_to_page(struct trace_ring_cpu *rc, struct ring_page *page)
{
	uint32_t room = ring_size(rc) - RING_PAGE_HEAD;
	uint32_t bytes = rc->chunk.end - rc->chunk.pos;

	page->time_stamp = rc->chunk.ts;
	page->commit = bytes;
	memcpy(page->data, rc->chunk.data + rc->chunk.pos, bytes);
	memset(page->data + bytes, 0, room - bytes);
	if (!rc->chunk.lost)
		return;
	page->commit |= RING_PAGE_MISSED_EVENTS;
	if (room - bytes < sizeof(rc->chunk.lost))
		return;
	page->commit |= RING_PAGE_MISSED_STORED;
	memcpy(page->data + bytes, &rc->chunk.lost, sizeof(rc->chunk.lost));
}

int ring_buffer_read_page(struct ring_buffer *buffer, uint32_t cpu, bool full,
			  struct ring_page *out_page)
{
	struct trace_ring_cpu *rc;
	struct ring_event event;
	int err = -EAGAIN;

	if (cpu >= buffer->nr_cpus)
		return -EINVAL;
	rc = trace_ring_of(buffer, cpu);
	trace_plat_lock(&rc->lock);
	if (ring_consume_fill(rc, full, &event)) {
		chunk_to_page(rc, out_page);
		rc->chunk.pos = rc->chunk.end;
		rc->chunk.left = 0;
		trace_ring_note_reader(rc);
		err = 0;
	}
	trace_plat_unlock(&rc->lock);
	return err;
}

/* The number of sub-buffers with events to read. */
static uint64_t nr_dirty(struct trace_ring_cpu *rc)
{
	uint64_t nr = trace_ring_commit_seq(rc) - trace_ring_load(&rc->read_seq);

	return nr < rc->nr_slots ? nr : rc->nr_slots;
}

bool ring_buffer_is_filled(struct ring_buffer *buffer, uint32_t cpu, uint32_t percent)
{
	struct trace_ring_cpu *rc;
	bool filled = false;

	if (cpu >= buffer->nr_cpus)
		return false;
	rc = trace_ring_of(buffer, cpu);
	trace_plat_preempt_disable();
	if (!atomic_load(&rc->is_moving) &&
	    trace_ring_committed(rc) != trace_ring_load(&rc->read_number))
		filled = nr_dirty(rc) * 100 >= (uint64_t)percent * (rc->nr_slots - 1) || !percent;
	trace_plat_preempt_enable();
	return filled;
}

bool ring_buffer_empty_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	return !ring_buffer_is_filled(buffer, cpu, 0);
}

bool ring_buffer_empty(struct ring_buffer *buffer)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		if (!ring_buffer_empty_cpu(buffer, cpu))
			return false;
	return true;
}
