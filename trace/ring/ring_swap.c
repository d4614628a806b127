/*
 * Exchange the rings of one CPU between two buffers, for snapshots. See <trace/ring_buffer.h>.
 *
 * The struct trace_ring_cpu stay where they are, so nobody needs to look up theirs again: their
 * contents are exchanged while writers and readers are kept out of both.
 */
#include "ring_private.h"

static void exchange_words(uint64_t *a, uint64_t *b, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t word = __atomic_load_n(&a[i], __ATOMIC_RELAXED);

		__atomic_store_n(&a[i], __atomic_load_n(&b[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
		__atomic_store_n(&b[i], word, __ATOMIC_RELAXED);
	}
}

/* Context: both are moving, so nobody else uses the contents. */
static void exchange(struct trace_ring_cpu *a, struct trace_ring_cpu *b)
{
	const size_t start = offsetof(struct trace_ring_cpu, tail);
	const size_t end = offsetof(struct trace_ring_cpu, nr_slots);
	uint8_t *data_a = a->chunk.data, *data_b = b->chunk.data;

	exchange_words((uint64_t *)(void *)data_a, (uint64_t *)(void *)data_b, ring_size(a) / 8);
	exchange_words((uint64_t *)(void *)((uint8_t *)a + start),
		       (uint64_t *)(void *)((uint8_t *)b + start), (end - start) / 8);
	a->chunk.data = data_a;
	b->chunk.data = data_b;
}

int ring_buffer_swap_cpu(struct ring_buffer *a, struct ring_buffer *b, uint32_t cpu)
{
	struct trace_ring_cpu *rc_a, *rc_b;
	int err = 0;

	if (a == b || cpu >= a->nr_cpus || cpu >= b->nr_cpus)
		return -EINVAL;
	if ((uintptr_t)a > (uintptr_t)b)
		return ring_buffer_swap_cpu(b, a, cpu); /* one order of locks */
	rc_a = a->cpu[cpu];
	rc_b = b->cpu[cpu];
	trace_plat_lock(&a->lock);
	trace_plat_lock(&b->lock);
	if (rc_a->nr_slots != rc_b->nr_slots || a->subbuf_size != b->subbuf_size ||
	    a->clock != b->clock) {
		err = -EINVAL;
		goto unlock;
	}
	if (rc_a->nr_iters || rc_b->nr_iters) {
		err = -EBUSY;
		goto unlock;
	}
	trace_ring_move_begin(rc_a);
	trace_ring_move_begin(rc_b);
	exchange(rc_a, rc_b);
	trace_ring_move_end(rc_b);
	trace_ring_move_end(rc_a);
unlock:
	trace_plat_unlock(&b->lock);
	trace_plat_unlock(&a->lock);
	return err;
}
