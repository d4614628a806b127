/*
 * Ring buffer: create, free, reset, clock. See <trace/ring_buffer.h>.
 *
 * A ring's memory is one piece: its sub-buffers, then their slots. A new ring looks as if `nr`
 * empty sub-buffers had been written and the last of them were full: the first event crosses into
 * slot 0 like any other, so nothing needs to know about "empty". Sequences go on over reset and
 * resize, so that iterators notice.
 *
 * Locking: the buffer's lock, then the CPU's. Writers are kept out by the gate and lock-free
 *          readers by is_moving, until trace_plat_synchronize_preempt() has seen them leave.
 */
#include "ring_private.h"
#include "print/str.h"

uint32_t trace_ring_slots_for(const struct ring_buffer *buffer, size_t bytes)
{
	size_t nr = (bytes + buffer->subbuf_size - 1) / buffer->subbuf_size;

	return nr < RING_MIN_SLOTS ? RING_MIN_SLOTS : (uint32_t)nr;
}

static size_t memory_bytes(const struct ring_buffer *buffer, uint32_t nr_slots)
{
	return (size_t)nr_slots * (buffer->subbuf_size + sizeof(struct ring_slot));
}

bool trace_ring_memory_alloc(const struct ring_buffer *buffer, uint32_t nr_slots,
			     struct ring_memory *out)
{
	out->nr_slots = nr_slots;
	out->base = trace_plat_alloc(memory_bytes(buffer, nr_slots));
	if (!out->base)
		return false;
	out->slots =
		(struct ring_slot *)(void *)(out->base + (size_t)nr_slots * buffer->subbuf_size);
	return true;
}

void trace_ring_memory_free(const struct ring_buffer *buffer, struct ring_memory *memory)
{
	if (memory->base)
		trace_plat_free(memory->base, memory_bytes(buffer, memory->nr_slots));
}

/* Slot `i` holds an empty sub-buffer. */
void trace_ring_slot_init(struct ring_slot *slot, uint64_t seq, uint64_t first_event,
			  uint64_t dropped)
{
	atomic_store(&slot->word, ring_tag(seq, 0));
	atomic_store(&slot->end, ring_tag(seq, 0));
	atomic_store(&slot->first_event, first_event);
	atomic_store(&slot->dropped, dropped);
}

/* The first sequence of a lap that nobody has seen yet. */
uint64_t trace_ring_fresh_lap(struct trace_ring_cpu *rc, uint32_t nr_slots)
{
	return (trace_ring_commit_seq(rc) / nr_slots + 2) * nr_slots;
}

/* Writers whose gate is closed may be looking. */
void trace_ring_set_tail(struct trace_ring_cpu *rc, uint64_t word, uint64_t last)
{
	__atomic_store_n(&rc->tail.lo, word, __ATOMIC_RELAXED);
	__atomic_store_n(&rc->tail.hi, last, __ATOMIC_RELAXED);
	__atomic_store_n(&rc->commit, word, __ATOMIC_RELEASE);
}

void trace_ring_set_memory(struct trace_ring_cpu *rc, const struct ring_memory *memory)
{
	__atomic_store_n(&rc->base, memory->base, __ATOMIC_RELAXED);
	rc->slots = memory->slots;
	rc->nr_slots = memory->nr_slots;
}

/* A new, empty ring in rc's memory, whose slots get the sequences from `lap` on. */
static void ring_init(struct trace_ring_cpu *rc, uint64_t lap)
{
	uint32_t nr = rc->nr_slots;

	for (uint32_t i = 0; i < nr; i++)
		trace_ring_slot_init(&rc->slots[i], lap + i, 0, 0);
	trace_ring_set_tail(rc, (uint64_t)nr << rc->subbuf_shift, 0);
	rc->event_ref = 0;
	rc->nr_dropped = 0;
	rc->nr_commit_overrun = 0;
	rc->nr_taken = 0;
	memset(&rc->reader, 0, sizeof(rc->reader));
	trace_ring_cursor_move(&rc->reader, lap + nr - 1);
	rc->chunk.pos = 0;
	rc->chunk.end = 0;
	rc->chunk.left = 0;
	trace_ring_note_reader(rc);
	rc->read_seq++; /* the sub-buffer before the first one holds nothing */
}

void trace_ring_move_begin(struct trace_ring_cpu *rc, int reason)
{
	trace_plat_lock(&rc->lock);
	trace_ring_gate(rc, reason);
	atomic_store(&rc->is_moving, true);
	trace_plat_synchronize_preempt();
}

void trace_ring_move_end(struct trace_ring_cpu *rc, int reason)
{
	atomic_store(&rc->is_moving, false);
	trace_ring_gate(rc, -reason);
	trace_plat_unlock(&rc->lock);
}

/* ---- Create and free ---- */

static size_t rc_bytes(const struct ring_buffer *buffer)
{
	return sizeof(struct trace_ring_cpu) + 2ul * buffer->subbuf_size;
}

static void rc_free(struct ring_buffer *buffer, struct trace_ring_cpu *rc)
{
	struct ring_memory memory;

	if (!rc)
		return;
	memory = (struct ring_memory){ rc->base, rc->slots, rc->nr_slots };
	trace_ring_memory_free(buffer, &memory);
	trace_plat_free(rc, rc_bytes(buffer));
}

static struct trace_ring_cpu *rc_alloc(struct ring_buffer *buffer, uint32_t cpu, uint32_t nr_slots)
{
	struct trace_ring_cpu *rc = trace_plat_alloc(rc_bytes(buffer));
	struct ring_memory memory;

	if (!rc)
		return NULL;
	if (!trace_ring_memory_alloc(buffer, nr_slots, &memory)) {
		trace_plat_free(rc, rc_bytes(buffer));
		return NULL;
	}
	rc->cpu = cpu;
	trace_ring_set_memory(rc, &memory);
	rc->subbuf_shift = (uint32_t)__builtin_ctz(buffer->subbuf_size);
	rc->chunk.data = (uint8_t *)(rc + 1);
	rc->dump.chunk.data = rc->chunk.data + buffer->subbuf_size;
	rc->dump.rc = rc;
	ring_init(rc, 0);
	trace_ring_gate(rc, 0);
	return rc;
}

static size_t buffer_bytes(uint32_t nr_cpus)
{
	return sizeof(struct ring_buffer) + nr_cpus * sizeof(void *);
}

static void free_one(struct ring_buffer *buffer)
{
	if (!buffer)
		return;
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		rc_free(buffer, buffer->cpu[cpu]);
	trace_plat_free(buffer, buffer_bytes(buffer->nr_cpus));
}

void ring_buffer_free(struct ring_buffer *buffer)
{
	if (!buffer)
		return;
	free_one(buffer->twin);
	free_one(buffer);
}

struct ring_buffer *trace_ring_buffer_alloc(size_t bytes, uint32_t subbuf_size, uint32_t flags)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	struct ring_buffer *buffer;

	buffer = trace_plat_alloc(buffer_bytes(nr_cpus));
	if (!buffer)
		return NULL;
	buffer->nr_cpus = nr_cpus;
	buffer->subbuf_size = subbuf_size;
	buffer->shared = &buffer->own;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		buffer->cpu[cpu] = rc_alloc(buffer, cpu, trace_ring_slots_for(buffer, bytes));
		if (!buffer->cpu[cpu]) {
			free_one(buffer);
			return NULL;
		}
	}
	ring_buffer_change_overwrite(buffer, flags & RING_BUFFER_OVERWRITE);
	return buffer;
}

struct ring_buffer *ring_buffer_alloc(size_t bytes, uint32_t flags)
{
	if (!bytes || bytes > RING_MAX_BYTES)
		return NULL;
	return trace_ring_buffer_alloc(bytes, RING_SUBBUF_BYTES, flags);
}

/* ---- Reset, clock ---- */

static void reset_ring(struct trace_ring_cpu *rc)
{
	trace_ring_move_begin(rc, RING_GATE_ONE);
	ring_init(rc, trace_ring_fresh_lap(rc, rc->nr_slots));
	trace_ring_move_end(rc, RING_GATE_ONE);
}

void ring_buffer_reset_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	if (cpu >= buffer->nr_cpus)
		return;
	trace_plat_lock(&buffer->shared->lock);
	reset_ring(trace_ring_of(buffer, cpu));
	trace_plat_unlock(&buffer->shared->lock);
}

void ring_buffer_reset(struct ring_buffer *buffer)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		ring_buffer_reset_cpu(buffer, cpu);
}

/*
 * An exchange of twins may come at any moment: it finds one clock or the other in both, or does
 * nothing.
 */
static void set_clock(struct ring_buffer *buffer, ring_clock_fn clock)
{
	for (uint32_t cpu = 0; buffer && cpu < buffer->nr_cpus; cpu++) {
		struct trace_ring_cpu *rc = trace_ring_of(buffer, cpu);

		trace_ring_move_begin(rc, RING_GATE_ONE);
		rc->clock = clock;
		ring_init(rc, trace_ring_fresh_lap(rc, rc->nr_slots));
		trace_ring_move_end(rc, RING_GATE_ONE);
	}
}

void ring_buffer_set_clock(struct ring_buffer *buffer, ring_clock_fn clock)
{
	trace_plat_lock(&buffer->shared->lock);
	buffer->shared->clock = clock;
	trace_ring_forbid_swap(buffer);
	set_clock(buffer, clock);
	set_clock(buffer->twin, clock);
	trace_ring_allow_swap(buffer);
	trace_plat_unlock(&buffer->shared->lock);
}
