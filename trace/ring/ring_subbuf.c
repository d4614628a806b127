/*
 * Ring buffer: sub-buffers of another size. See <trace/ring_buffer.h>.
 *
 * As with a resize, all new memory is allocated before the first ring changes. The rings are
 * emptied, because events cannot be moved into sub-buffers of another size without writing each of
 * them again. When the gate opens it has the new size's mask.
 *
 * Locking: the buffer's lock, then the CPU's, as in ring_setup.c. Exchanges of twins are forbidden.
 */
#include "ring_private.h"

struct reshape {
	struct ring_buffer *buffer;
	uint32_t subbuf_size;
	uint32_t nr_slots; /* 0: as many as each ring needs for its size */
	size_t nr_rings;
	struct ring_memory *memory; /* of each ring: its new memory, later its old one */
};

static bool ring_subbuf_get_memory(const struct reshape *reshape, const struct trace_ring_cpu *rc,
				   struct ring_memory *out)
{
	uint32_t nr_slots = reshape->nr_slots;

	if (!nr_slots)
		nr_slots = trace_ring_slots_for(reshape->subbuf_size, rc->asked_bytes);
	return trace_ring_memory_alloc_all(reshape->subbuf_size, nr_slots, out);
}

static int get_all_memory(const struct reshape *reshape)
{
	for (size_t i = 0; i < reshape->nr_rings; i++) {
		struct trace_ring_cpu *rc = trace_ring_nth(reshape->buffer, i);

		if (rc->nr_iters)
			return -EBUSY;
		if (trace_ring_has_memory(rc) &&
		    !ring_subbuf_get_memory(reshape, rc, &reshape->memory[i]))
			return -ENOMEM;
	}
	return 0;
}

/* Empty the ring and give it `memory`; its old memory is in there afterwards. */
static void ring_subbuf_begin_anew(struct trace_ring_cpu *rc, struct ring_memory *memory)
{
	struct ring_memory old;
	uint64_t lap;

	trace_ring_move_begin(rc, RING_GATE_ONE);
	old = trace_ring_memory_of(rc);
	old.copies = rc->chunk.data;
	lap = trace_ring_fresh_lap(rc, memory->nr_slots);
	trace_ring_set_memory(rc, memory);
	trace_ring_init(rc, lap);
	trace_ring_move_end(rc, RING_GATE_ONE);
	*memory = old;
}

static void ring_subbuf_set_size(struct ring_buffer *buffer, uint32_t subbuf_size)
{
	__atomic_store_n(&buffer->subbuf_size, subbuf_size, __ATOMIC_RELAXED);
}

static int reshape_all(const struct reshape *reshape)
{
	struct ring_buffer *buffer = reshape->buffer;
	int err = get_all_memory(reshape);

	for (size_t i = 0; i < reshape->nr_rings; i++) {
		struct trace_ring_cpu *rc = trace_ring_nth(buffer, i);

		if (!err && trace_ring_has_memory(rc))
			ring_subbuf_begin_anew(rc, &reshape->memory[i]);
		else if (!err)
			trace_ring_set_subbuf_size(rc, reshape->subbuf_size);
		trace_ring_memory_free(&reshape->memory[i]);
	}
	if (err)
		return err;
	ring_subbuf_set_size(buffer, reshape->subbuf_size);
	if (reshape->nr_rings > buffer->nr_cpus)
		ring_subbuf_set_size(buffer->twin, reshape->subbuf_size);
	return 0;
}

int trace_ring_reshape_locked(struct ring_buffer *buffer, uint32_t subbuf_size, uint32_t nr_slots,
			      bool with_twin)
{
	struct reshape reshape = {
		.buffer = buffer,
		.subbuf_size = subbuf_size,
		.nr_slots = nr_slots,
		.nr_rings = buffer->nr_cpus * (with_twin ? 2ul : 1ul),
	};
	size_t list_bytes = reshape.nr_rings * sizeof(*reshape.memory);
	int err;

	reshape.memory = trace_plat_alloc(list_bytes);
	if (!reshape.memory)
		return -ENOMEM;
	trace_ring_forbid_swap(buffer);
	err = reshape_all(&reshape);
	trace_ring_allow_swap(buffer);
	trace_plat_free(reshape.memory, list_bytes);
	return err;
}

int ring_buffer_subbuf_order_set(struct ring_buffer *buffer, int order)
{
	struct ring_shared *shared = buffer->shared;
	int err = 0;

	if (order < 0 || order > RING_SUBBUF_MAX_ORDER)
		return -EINVAL;
	if (buffer->kept)
		return buffer->subbuf_size == RING_SUBBUF_BYTES << order ? 0 : -EOPNOTSUPP;
	trace_plat_lock(&shared->lock);
	if (buffer->subbuf_size != RING_SUBBUF_BYTES << order)
		err = trace_ring_reshape_locked(buffer, RING_SUBBUF_BYTES << order, 0,
						buffer->twin && !shared->slim);
	trace_plat_unlock(&shared->lock);
	return err;
}

int ring_buffer_subbuf_order_get(struct ring_buffer *buffer)
{
	return __builtin_ctz(ring_buffer_subbuf_size(buffer) / RING_SUBBUF_BYTES);
}

uint32_t ring_buffer_subbuf_size(struct ring_buffer *buffer)
{
	return __atomic_load_n(&buffer->subbuf_size, __ATOMIC_RELAXED);
}

size_t ring_buffer_max_event_size(struct ring_buffer *buffer)
{
	return ring_buffer_subbuf_size(buffer) - RING_SUBBUF_OVERHEAD;
}
