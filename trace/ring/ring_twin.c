/*
 * Twins: two ring buffers that exchange the rings of a CPU, for snapshots. See
 * <trace/ring_buffer.h>.
 *
 * An exchange swaps two pointers; code that has looked up a ring before goes on with that ring.
 * When an interrupt exchanges the rings between a writer's look-up and its reserve, the writer's
 * event goes into the ring that is now the other buffer's, and its commit finds it there by its
 * address. A reader on another CPU finishes one copy from the ring that it has looked up. While an
 * event is open the exchange is refused, so an event is never further away than in the ring of the
 * twin.
 *
 * The on/off switch is common to the twins. Both gates are set again after an exchange, because
 * whoever switches at the same moment may have gone through the pointers as they were before, and
 * missed a ring.
 *
 * Locking: an exchange runs with interrupts off and cannot sleep. So those who need the rings to
 *          stay where they are take no lock against it: they count themselves in swap_word, which
 *          makes new exchanges fail, and spin until the exchanges that have begun are done.
 */
#include "ring_private.h"

/* Two counts in shared->swap_word. */
#define SWAP_ONE   (1u << 16)	  /* high half: exchanges in flight */
#define FORBID_ONE 1u		  /* low half: users that forbid exchanges */
#define FORBIDDEN  (SWAP_ONE - 1) /* mask of the low half */

void trace_ring_forbid_swap(struct ring_buffer *buffer)
{
	_Atomic uint32_t *word = &buffer->shared->swap_word;

	atomic_fetch_add(word, FORBID_ONE);
	while (atomic_load(word) >= SWAP_ONE)
		;
}

void trace_ring_allow_swap(struct ring_buffer *buffer)
{
	atomic_fetch_sub(&buffer->shared->swap_word, FORBID_ONE);
}

static bool is_event_open(struct trace_ring_cpu *rc)
{
	return trace_ring_load(&rc->commit) != trace_ring_load(&rc->tail.lo);
}

static bool have_same_size(const struct trace_ring_cpu *a, const struct trace_ring_cpu *b)
{
	return a->nr_slots == b->nr_slots && a->subbuf_shift == b->subbuf_shift;
}

/* Counted in swap_word, so that the rings are neither resized nor emptied meanwhile. */
static int ring_twin_exchange(struct ring_buffer *a, struct ring_buffer *b, uint32_t cpu)
{
	struct trace_ring_cpu *rc_a = a->cpu[cpu], *rc_b = b->cpu[cpu];

	if (!have_same_size(rc_a, rc_b))
		return -EINVAL;
	if (is_event_open(rc_a) || is_event_open(rc_b))
		return -EBUSY;
	__atomic_store_n(&a->cpu[cpu], rc_b, __ATOMIC_RELEASE);
	__atomic_store_n(&b->cpu[cpu], rc_a, __ATOMIC_RELEASE);
	atomic_thread_fence(memory_order_seq_cst);
	trace_ring_gate_off(a->shared, rc_a);
	trace_ring_gate_off(a->shared, rc_b);
	return 0;
}

int ring_buffer_swap_cpu(struct ring_buffer *a, struct ring_buffer *b, uint32_t cpu)
{
	_Atomic uint32_t *word = &a->shared->swap_word;
	int err = -EBUSY;

	if (a->twin != b || cpu >= a->nr_cpus)
		return -EINVAL;
	if (!(atomic_fetch_add(word, SWAP_ONE) & FORBIDDEN))
		err = ring_twin_exchange(a, b, cpu);
	atomic_fetch_sub(word, SWAP_ONE);
	return err;
}

/* Give each ring of the twin the smallest size, if the ring of the same CPU in `buffer` has any. */
static int give_memory(struct ring_buffer *twin, struct ring_buffer *buffer)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < twin->nr_cpus && !err; cpu++) {
		if (trace_ring_has_memory(trace_ring_of(buffer, cpu)))
			err = trace_ring_give_memory(twin->cpu[cpu], RING_MIN_SLOTS);
	}
	return err;
}

/* Make the two buffers twins of each other. The lock of `buffer` is held. */
static void ring_twin_join(struct ring_buffer *buffer, struct ring_buffer *twin)
{
	buffer->shared->slim = twin;
	twin->shared = buffer->shared;
	twin->twin = buffer;
	__atomic_store_n(&buffer->twin, twin, __ATOMIC_SEQ_CST);
	for (uint32_t cpu = 0; cpu < twin->nr_cpus; cpu++) {
		struct trace_ring_cpu *rc = twin->cpu[cpu];

		rc->clock = buffer->shared->clock;
		atomic_store(&rc->overwrite, atomic_load(&buffer->cpu[cpu]->overwrite));
		/* After the store of `twin`: a switch from then on finds this ring itself. */
		trace_ring_gate_off(buffer->shared, rc);
	}
}

struct ring_buffer *ring_buffer_alloc_twin(struct ring_buffer *buffer)
{
	struct ring_buffer *twin;
	int err;

	if (buffer->kept)
		return NULL;
	twin = trace_ring_buffer_alloc(1, 0);
	if (!twin)
		return NULL;
	trace_plat_lock(&buffer->shared->lock);
	err = give_memory(twin, buffer);
	if (!err)
		ring_twin_join(buffer, twin);
	trace_plat_unlock(&buffer->shared->lock);
	if (!err)
		return twin;
	ring_buffer_free(twin);
	return NULL;
}

bool ring_buffer_has_last(const struct ring_buffer *buffer)
{
	uint32_t cpu = trace_plat_cpu_id();

	return trace_ring_load(&buffer->cpu[cpu]->tail.hi) >
	       trace_ring_load(&buffer->twin->cpu[cpu]->tail.hi);
}

int ring_buffer_fit(struct ring_buffer *buffer)
{
	struct ring_shared *shared = buffer->shared;
	struct ring_buffer *twin = buffer->twin;
	int err = 0;

	trace_plat_lock(&shared->lock);
	if (shared->slim == buffer) {
		for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
			buffer->cpu[cpu]->asked_bytes = twin->cpu[cpu]->asked_bytes;
		err = trace_ring_reshape_locked(buffer, twin->subbuf_size, 0, false);
		if (!err)
			shared->slim = NULL;
	}
	trace_plat_unlock(&shared->lock);
	return err;
}

int ring_buffer_slim(struct ring_buffer *buffer)
{
	struct ring_shared *shared = buffer->shared;
	int err;

	trace_plat_lock(&shared->lock);
	err = trace_ring_reshape_locked(buffer, RING_SUBBUF_BYTES, RING_MIN_SLOTS, false);
	if (!err)
		shared->slim = buffer;
	trace_plat_unlock(&shared->lock);
	return err;
}
