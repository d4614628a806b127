/*
 * Iterators over a ring that consume nothing. See <trace/ring_buffer.h>.
 *
 * An iterator begins with a copy of the chunk that the consuming reader has taken and not yet
 * consumed, then goes on from the reader's cursor with copies of its own. It ends at the event that
 * was committed last when it started; otherwise it would never end while its own reader is traced.
 *
 * When the ring is emptied under it, the iterator starts again with what has come since, and
 * reports no lost events for this: the events that it did not show were removed on purpose, and
 * those that were overwritten since then are newer than its start. A ring that gets its memory
 * under an iterator (ring_buffer_add_cpu()) is treated as one that was emptied.
 *
 * Context: thread; ring_buffer_dump_start() and its iterator: any.
 * Locking: start and reset take rc->lock, and so does a step that finds the ring emptied; other
 *          steps take none. While an iterator is open, the ring cannot be resized.
 */
#include "ring_private.h"
#include "text/str.h"

/* Stand on the oldest event. rc->lock held, or everybody stopped. */
static void rewind(struct ring_iter *iter)
{
	struct trace_ring_cpu *rc = iter->rc;
	uint8_t *data = iter->chunk.data;

	iter->is_absent = !trace_ring_has_memory(rc);
	iter->limit = iter->is_absent ? 0 : trace_ring_committed(rc);
	iter->cursor = rc->reader;
	iter->chunk = rc->chunk;
	iter->chunk.data = data;
	if (!iter->is_absent)
		memcpy(data, rc->chunk.data, ring_size(rc));
	iter->has_next = false;
	iter->is_anew = false;
	iter->was_emptied = false;
}

struct ring_iter *ring_buffer_read_start(struct ring_buffer *buffer, uint32_t cpu)
{
	struct trace_ring_cpu *rc;
	struct ring_iter *iter;

	if (cpu >= buffer->nr_cpus)
		return NULL;
	trace_plat_lock(&buffer->shared->lock);
	rc = trace_ring_of(buffer, cpu);
	iter = trace_plat_alloc(sizeof(*iter) + ring_size(rc));
	if (iter)
		atomic_fetch_add(&rc->nr_iters, 1); /* from here on the ring cannot be resized */
	trace_plat_unlock(&buffer->shared->lock);
	if (!iter)
		return NULL;
	iter->rc = rc;
	iter->chunk.data = (uint8_t *)(iter + 1);
	ring_buffer_iter_reset(iter);
	return iter;
}

void ring_buffer_read_finish(struct ring_iter *iter)
{
	struct trace_ring_cpu *rc = iter->rc;

	trace_plat_free(iter, sizeof(*iter) + ring_size(rc));
	atomic_fetch_sub(&rc->nr_iters, 1);
}

void ring_buffer_iter_reset(struct ring_iter *iter)
{
	trace_plat_lock(&iter->rc->lock);
	rewind(iter);
	trace_plat_unlock(&iter->rc->lock);
}

/*
 * The ring was emptied: start again. This takes rc->lock, which the iterator of a dump must not do;
 * it never comes here, because everybody who could empty the ring has stopped.
 */
static void ring_iter_begin_anew(struct ring_iter *iter)
{
	ring_buffer_iter_reset(iter);
	iter->is_anew = true;
	iter->was_emptied = true;
}

/* Decode the event that the chunk stands on, unless that was done. False: there is none. */
static bool decode_next(struct ring_iter *iter)
{
	if (!iter->has_next) {
		iter->has_next = trace_ring_decode(&iter->chunk, &iter->next);
		iter->next.cpu = iter->rc->cpu;
	}
	return iter->has_next;
}

/*
 * Stand on the next event of the chunk, and fetch another chunk when it has none. False: no event.
 */
static bool ring_iter_fill(struct ring_iter *iter)
{
	for (;;) {
		if (trace_ring_is_outdated(iter->rc, &iter->cursor))
			ring_iter_begin_anew(iter);
		if (iter->is_absent)
			return false;
		if (decode_next(iter))
			return true;
		if (!trace_ring_fetch(iter->rc, &iter->cursor, &iter->chunk, false, false) &&
		    !trace_ring_is_outdated(iter->rc, &iter->cursor))
			return false;
	}
}

/* Was the next event of the chunk committed before the iterator was started? */
static bool is_before_limit(const struct ring_iter *iter)
{
	uint64_t number = iter->cursor.next_event - iter->chunk.left;

	return (int64_t)(iter->limit - number) > 0;
}

bool ring_buffer_iter_peek(struct ring_iter *iter, struct ring_event *out_event)
{
	if (!ring_iter_fill(iter))
		return false;
	if (iter->is_anew) {
		iter->is_anew = false;
		iter->chunk.lost = 0;
		iter->next.lost = 0;
	}
	*out_event = iter->next;
	return is_before_limit(iter);
}

void ring_buffer_iter_advance(struct ring_iter *iter)
{
	struct ring_event event;

	/*
	 * The event that peek has shown is still in our chunk, even if the ring was emptied since.
	 */
	if (decode_next(iter) ? is_before_limit(iter) : ring_buffer_iter_peek(iter, &event)) {
		trace_ring_skip(&iter->chunk, &iter->next);
		iter->has_next = false;
	}
}

bool ring_buffer_iter_was_emptied(struct ring_iter *iter)
{
	bool was_emptied = iter->was_emptied;

	iter->was_emptied = false;
	return was_emptied;
}

struct ring_iter *ring_buffer_dump_start(struct ring_buffer *buffer, uint32_t cpu)
{
	struct trace_ring_cpu *rc;

	if (cpu >= buffer->nr_cpus)
		return NULL;
	rc = trace_ring_of(buffer, cpu);
	/* The machine stopped in the middle of a resize: the ring's words do not fit together. */
	if (atomic_load(&rc->is_moving))
		return NULL;
	rewind(&rc->dump);
	return &rc->dump;
}
