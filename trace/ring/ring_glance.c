/*
 * See ring_glance.h.
 */
#include "ring_glance.h"
#include "ring_private.h"

/* Counters of the reader, who changes them meanwhile: a number may be a little old. */
static RING_RACY uint64_t count_read(struct trace_ring_cpu *rc)
{
	return trace_ring_load(&rc->nr_taken) - __atomic_load_n(&rc->chunk.left, __ATOMIC_RELAXED);
}

/* Is the ring's memory there, and does it stay as long as preemption is off? */
static bool is_there(const struct trace_ring_cpu *rc)
{
	return !atomic_load(&rc->is_moving);
}

void ring_buffer_glance_cpu(struct ring_buffer *buffer, uint32_t cpu, struct ring_glance *out)
{
	struct trace_ring_cpu *rc;

	*out = (struct ring_glance){ 0 };
	if (cpu >= buffer->nr_cpus)
		return;
	trace_plat_preempt_disable();
	rc = trace_ring_of(buffer, cpu);
	out->nr_disabled =
		trace_ring_closed_by(atomic_load(&rc->gate)) & ~(RING_GATE_OFF | RING_GATE_RESIZE);
	out->unbuilt = trace_ring_load(&rc->nr_unbuilt); /* first: it is never more than dropped */
	out->dropped = trace_ring_load(&rc->nr_dropped);
	out->is_damaged = atomic_load_explicit(&rc->is_damaged, memory_order_relaxed);
	out->is_there = is_there(rc);
	if (out->is_there) {
		out->committed = trace_ring_committed(rc);
		out->read = count_read(rc);
		out->commit_overrun = trace_ring_load(&rc->nr_commit_overrun);
		out->now_ts = ring_clock_now(rc);
	}
	trace_plat_preempt_enable();
}

struct look {
	struct trace_ring_cpu *rc;
	struct ring_cursor cursor;
	struct ring_chunk chunk;
	uint32_t page_bytes;
	uint64_t first; /* number of the oldest event that is still to be read */
	uint64_t limit; /* number of the first event that came after we began */
};

/*
 * Begin a look. Events that the reader has taken out and not consumed are in the sub-buffer before
 * its own.
 */
static void ring_glance_begin(struct look *look)
{
	struct trace_ring_cpu *rc = look->rc;
	uint64_t seq;

	trace_plat_preempt_disable();
	look->cursor.epoch = __atomic_load_n(&rc->epoch, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_acquire);
	if (is_there(rc)) {
		look->limit = trace_ring_committed(rc);
		look->first = trace_ring_load(&rc->read_number);
		seq = trace_ring_load(&rc->read_seq);
		trace_ring_cursor_move(&look->cursor, seq ? seq - 1 : 0);
	}
	trace_plat_preempt_enable();
}

static bool ring_glance_fetch(struct look *look)
{
	struct trace_ring_cpu *rc = look->rc;
	bool has_more;

	trace_plat_preempt_disable();
	has_more = is_there(rc) && ring_size(rc) <= look->page_bytes &&
		   trace_ring_fetch(rc, &look->cursor, &look->chunk, false, false) &&
		   !trace_ring_is_outdated(rc, &look->cursor);
	trace_plat_preempt_enable();
	return has_more;
}

void ring_buffer_look_cpu(struct ring_buffer *buffer, uint32_t cpu, struct ring_look_page *page,
			  ring_look_fn fn, void *arg)
{
	struct look look = { .chunk.data = page->data, .page_bytes = page->bytes };
	struct ring_event event;

	if (cpu >= buffer->nr_cpus)
		return;
	look.rc = trace_ring_of(buffer, cpu);
	ring_glance_begin(&look);
	while (ring_glance_fetch(&look)) {
		while (trace_ring_decode(&look.chunk, &event)) {
			uint64_t number = look.cursor.next_event - look.chunk.left;

			if ((int64_t)(number - look.limit) >= 0)
				return;
			event.cpu = cpu;
			if ((int64_t)(number - look.first) >= 0)
				fn(&event, arg);
			trace_ring_skip(&look.chunk, &event);
		}
	}
}
