/*
 * Ring buffer: create, free, reset, clock. See <trace/ring_buffer.h>.
 *
 * A ring's memory is one piece: its sub-buffers, then their slots. A new ring looks as if each slot
 * held a sub-buffer without events, and the tail stands at the end of the last one. So the first
 * event crosses into slot 0 as any other would, and no code has to know about a new ring. Sequences
 * go on over reset and resize; numbers of events begin again with a reset, which iterators see by
 * the ring's epoch.
 *
 * Locking: the buffer's lock, then the CPU's. Writers are kept out by the gate and lock-free
 *          readers by is_moving, until trace_plat_synchronize_preempt() has seen them leave.
 */
#include "ring_private.h"
#include "text/str.h"

uint32_t trace_ring_slots_for(uint32_t subbuf_size, size_t bytes)
{
	size_t nr = (bytes + subbuf_size - 1) / subbuf_size;

	return nr < RING_MIN_SLOTS ? RING_MIN_SLOTS : (uint32_t)nr;
}

static size_t memory_bytes(const struct ring_memory *memory)
{
	return (size_t)memory->nr_slots * (memory->subbuf_size + sizeof(struct ring_slot));
}

static size_t copies_bytes(const struct ring_memory *memory)
{
	return 2ul * memory->subbuf_size;
}

bool trace_ring_memory_alloc(uint32_t subbuf_size, uint32_t nr_slots, struct ring_memory *out)
{
	*out = (struct ring_memory){ .nr_slots = nr_slots, .subbuf_size = subbuf_size };
	out->base = trace_plat_alloc(memory_bytes(out));
	if (!out->base)
		return false;
	out->slots = (struct ring_slot *)(void *)(out->base + (size_t)nr_slots * subbuf_size);
	return true;
}

bool trace_ring_memory_alloc_all(uint32_t subbuf_size, uint32_t nr_slots, struct ring_memory *out)
{
	if (!trace_ring_memory_alloc(subbuf_size, nr_slots, out))
		return false;
	out->copies = trace_plat_alloc(copies_bytes(out));
	if (out->copies)
		return true;
	trace_ring_memory_free(out);
	out->base = NULL;
	return false;
}

void trace_ring_memory_free(struct ring_memory *memory)
{
	if (memory->base)
		trace_plat_free(memory->base, memory_bytes(memory));
	if (memory->copies)
		trace_plat_free(memory->copies, copies_bytes(memory));
}

void trace_ring_slot_init(struct ring_slot *slot, uint64_t seq, uint64_t first_event,
			  uint64_t dropped)
{
	atomic_store(&slot->word, ring_tag(seq, 0));
	atomic_store(&slot->end, ring_tag(seq, 0));
	atomic_store(&slot->first_event, first_event);
	atomic_store(&slot->dropped, dropped);
}

/* Two laps on: a lap that is begun now may already have sequences of the next one. */
uint64_t trace_ring_fresh_lap(struct trace_ring_cpu *rc, uint32_t nr_slots)
{
	return (trace_ring_commit_seq(rc) / nr_slots + 2) * nr_slots;
}

void trace_ring_set_tail(struct trace_ring_cpu *rc, uint64_t word, uint64_t last)
{
	__atomic_store_n(&rc->tail.lo, word, __ATOMIC_RELAXED);
	__atomic_store_n(&rc->tail.hi, last, __ATOMIC_RELAXED);
	__atomic_store_n(&rc->commit, word, __ATOMIC_RELEASE);
}

void trace_ring_set_subbuf_size(struct trace_ring_cpu *rc, uint32_t subbuf_size)
{
	rc->subbuf_shift = (uint32_t)__builtin_ctz(subbuf_size);
	rc->subbuf_mask = subbuf_size - 1;
}

void trace_ring_set_memory(struct trace_ring_cpu *rc, const struct ring_memory *memory)
{
	__atomic_store_n(&rc->base, memory->base, __ATOMIC_RELAXED);
	rc->slots = memory->slots;
	rc->nr_slots = memory->nr_slots;
	trace_ring_set_subbuf_size(rc, memory->subbuf_size);
	if (memory->copies) {
		rc->chunk.data = memory->copies;
		rc->dump.chunk.data = memory->copies + memory->subbuf_size;
	}
}

/*
 * Numbers of events begin again at 0. An iterator that has seen anything of what is written after
 * this also sees the new epoch.
 */
static void begin_epoch(struct trace_ring_cpu *rc)
{
	__atomic_store_n(&rc->epoch, rc->epoch + 1, __ATOMIC_RELAXED);
	atomic_thread_fence(memory_order_release); /* pairs with trace_ring_is_outdated() */
}

/* Empty the ring. Only the count of dropped events stays as it is. */
static void begin_empty(struct trace_ring_cpu *rc, uint64_t lap)
{
	uint32_t nr = rc->nr_slots;

	begin_epoch(rc);
	for (uint32_t i = 0; i < nr; i++)
		trace_ring_slot_init(&rc->slots[i], lap + i, 0, 0);
	trace_ring_set_tail(rc, (uint64_t)nr << rc->subbuf_shift, 0);
	rc->event_ref = 0;
	rc->nr_commit_overrun = 0;
	rc->nr_taken = 0;
	rc->reader = (struct ring_cursor){ .epoch = rc->epoch };
	trace_ring_cursor_move(&rc->reader, lap + nr - 1);
	rc->chunk.pos = 0;
	rc->chunk.end = 0;
	rc->chunk.left = 0;
	trace_ring_note_reader(rc);
	rc->read_seq++; /* the reader's sub-buffer holds nothing: nr_dirty() begins behind it */
}

void trace_ring_init(struct trace_ring_cpu *rc, uint64_t lap)
{
	rc->nr_dropped = 0;
	rc->nr_unbuilt = 0;
	begin_empty(rc, lap);
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

/* With `is_kept` it lies in memory that is not ours, as do its sub-buffers. */
static void rc_free(struct trace_ring_cpu *rc, bool is_kept)
{
	struct ring_memory memory;

	if (!rc)
		return;
	memory = trace_ring_memory_of(rc);
	memory.copies = rc->chunk.data;
	if (is_kept)
		memory.base = NULL;
	trace_ring_memory_free(&memory);
	if (!is_kept)
		trace_plat_free(rc, sizeof(*rc));
}

void trace_ring_prepare(struct trace_ring_cpu *rc, uint32_t cpu, size_t bytes)
{
	rc->cpu = cpu;
	rc->asked_bytes = bytes;
	trace_ring_set_subbuf_size(rc, RING_SUBBUF_BYTES);
	rc->dump.rc = rc;
	atomic_store(&rc->is_moving, true);
	trace_ring_gate(rc, RING_GATE_RESIZE);
}

/* A ring without memory for events, closed as one that is being resized. */
static struct trace_ring_cpu *rc_alloc(uint32_t cpu, size_t bytes)
{
	struct trace_ring_cpu *rc = trace_plat_alloc(sizeof(*rc));

	if (rc)
		trace_ring_prepare(rc, cpu, bytes);
	return rc;
}

/*
 * Give a ring its first memory and open it. Its CPU may be running already and count events as
 * dropped, so that count is not set to 0.
 */
static void begin_ring(struct trace_ring_cpu *rc, const struct ring_memory *memory)
{
	trace_plat_lock(&rc->lock);
	trace_ring_set_memory(rc, memory);
	begin_empty(rc, 0);
	trace_ring_move_end(rc, RING_GATE_RESIZE);
}

int trace_ring_give_memory(struct trace_ring_cpu *rc, uint32_t nr_slots)
{
	struct ring_memory memory;

	if (!trace_ring_memory_alloc_all(ring_size(rc), nr_slots, &memory))
		return -ENOMEM;
	begin_ring(rc, &memory);
	return 0;
}

static size_t buffer_bytes(uint32_t nr_cpus)
{
	return sizeof(struct ring_buffer) + nr_cpus * sizeof(void *);
}

static void ring_setup_free_one(struct ring_buffer *buffer)
{
	if (!buffer)
		return;
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		rc_free(buffer->cpu[cpu], buffer->kept);
	trace_plat_free(buffer, buffer_bytes(buffer->nr_cpus));
}

void ring_buffer_free(struct ring_buffer *buffer)
{
	if (!buffer)
		return;
	ring_setup_free_one(buffer->twin);
	ring_setup_free_one(buffer);
}

struct ring_buffer *trace_ring_buffer_alloc_bare(void)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	struct ring_buffer *buffer = trace_plat_alloc(buffer_bytes(nr_cpus));

	if (!buffer)
		return NULL;
	buffer->nr_cpus = nr_cpus;
	buffer->subbuf_size = RING_SUBBUF_BYTES;
	buffer->shared = &buffer->own;
	return buffer;
}

struct ring_buffer *trace_ring_buffer_alloc(size_t bytes, uint32_t flags)
{
	struct ring_buffer *buffer = trace_ring_buffer_alloc_bare();

	if (!buffer)
		return NULL;
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++) {
		buffer->cpu[cpu] = rc_alloc(cpu, bytes);
		if (!buffer->cpu[cpu]) {
			ring_setup_free_one(buffer);
			return NULL;
		}
	}
	ring_buffer_change_overwrite(buffer, flags & RING_BUFFER_OVERWRITE);
	return buffer;
}

/* The number of sub-buffers of a ring when its CPU comes. The buffer's lock is held. */
static uint32_t slots_of(const struct ring_buffer *buffer, const struct trace_ring_cpu *rc)
{
	if (buffer->shared->slim == buffer)
		return RING_MIN_SLOTS;
	return trace_ring_slots_for(ring_size(rc), rc->asked_bytes);
}

/*
 * Give the CPU's ring its memory, and that of the twin, too: twins have the same sizes, so both get
 * it or neither. The buffer's lock is held.
 */
static int ring_setup_add_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct ring_buffer *buffers[2] = { buffer, buffer->twin };
	struct ring_memory memory[2] = { { 0 } };
	bool has_all = true;

	for (int i = 0; i < 2 && buffers[i]; i++) {
		const struct trace_ring_cpu *rc = trace_ring_of(buffers[i], cpu);

		if (has_all && !trace_ring_has_memory(rc))
			has_all = trace_ring_memory_alloc_all(ring_size(rc),
							      slots_of(buffers[i], rc), &memory[i]);
	}
	for (int i = 0; i < 2; i++) {
		if (has_all && memory[i].base)
			begin_ring(trace_ring_of(buffers[i], cpu), &memory[i]);
		else
			trace_ring_memory_free(&memory[i]);
	}
	return has_all ? 0 : -ENOMEM;
}

int ring_buffer_add_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	int err;

	if (cpu >= buffer->nr_cpus)
		return -EINVAL;
	trace_plat_lock(&buffer->shared->lock);
	trace_ring_forbid_swap(buffer);
	err = ring_setup_add_cpu(buffer, cpu);
	trace_ring_allow_swap(buffer);
	trace_plat_unlock(&buffer->shared->lock);
	return err;
}

struct ring_buffer *ring_buffer_alloc(size_t bytes, uint32_t flags)
{
	struct ring_buffer *buffer;

	if (!bytes || bytes > RING_MAX_BYTES)
		return NULL;
	buffer = trace_ring_buffer_alloc(bytes, flags);
	if (!buffer || flags & RING_BUFFER_NO_CPUS)
		return buffer;
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++) {
		if (ring_buffer_add_cpu(buffer, cpu)) {
			ring_buffer_free(buffer);
			return NULL;
		}
	}
	return buffer;
}

/* ---- Reset, clock ---- */

static void reset_ring(struct trace_ring_cpu *rc)
{
	if (!trace_ring_has_memory(rc)) {
		__atomic_store_n(&rc->nr_dropped, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&rc->nr_unbuilt, 0, __ATOMIC_RELAXED);
		return;
	}
	trace_ring_move_begin(rc, RING_GATE_ONE);
	trace_ring_init(rc, trace_ring_fresh_lap(rc, rc->nr_slots));
	trace_ring_move_end(rc, RING_GATE_ONE);
}

void ring_buffer_reset_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	if (cpu >= buffer->nr_cpus)
		return;
	trace_plat_lock(&buffer->shared->lock);
	/* While we wait for rc->lock, the ring could otherwise become that of the twin. */
	trace_ring_forbid_swap(buffer);
	reset_ring(trace_ring_of(buffer, cpu));
	trace_ring_allow_swap(buffer);
	trace_plat_unlock(&buffer->shared->lock);
}

void ring_buffer_reset(struct ring_buffer *buffer)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		ring_buffer_reset_cpu(buffer, cpu);
}

/* Give all rings of `buffer`, which may be NULL, the clock. Exchanges of twins are forbidden. */
static void ring_setup_set_clock(struct ring_buffer *buffer, ring_clock_fn clock)
{
	for (uint32_t cpu = 0; buffer && cpu < buffer->nr_cpus; cpu++) {
		struct trace_ring_cpu *rc = trace_ring_of(buffer, cpu);

		if (!trace_ring_has_memory(rc)) {
			rc->clock = clock;
			continue;
		}
		trace_ring_move_begin(rc, RING_GATE_ONE);
		rc->clock = clock;
		trace_ring_init(rc, trace_ring_fresh_lap(rc, rc->nr_slots));
		trace_ring_move_end(rc, RING_GATE_ONE);
	}
}

void ring_buffer_set_clock(struct ring_buffer *buffer, ring_clock_fn clock)
{
	trace_plat_lock(&buffer->shared->lock);
	buffer->shared->clock = clock;
	trace_ring_forbid_swap(buffer);
	ring_setup_set_clock(buffer, clock);
	ring_setup_set_clock(buffer->twin, clock);
	trace_ring_allow_swap(buffer);
	trace_plat_unlock(&buffer->shared->lock);
}
