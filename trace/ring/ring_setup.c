/*
 * Ring buffer: create, free, resize, reset, clock, exchange. See <trace/ring_buffer.h>.
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

#define MAX_RING_BYTES 0xfff00000ul /* positions have 32 bits */

/* Memory of a ring. */
struct ring_memory {
	uint8_t *base;
	struct ring_slot *slots;
	uint32_t nr_slots;
};

static uint32_t slots_for(const struct ring_buffer *buffer, size_t bytes)
{
	size_t nr = (bytes + buffer->subbuf_size - 1) / buffer->subbuf_size;

	return nr < RING_MIN_SLOTS ? RING_MIN_SLOTS : (uint32_t)nr;
}

static size_t memory_bytes(const struct ring_buffer *buffer, uint32_t nr_slots)
{
	return (size_t)nr_slots * (buffer->subbuf_size + sizeof(struct ring_slot));
}

static bool memory_alloc(const struct ring_buffer *buffer, uint32_t nr_slots,
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

static void memory_free(const struct ring_buffer *buffer, struct ring_memory *memory)
{
	if (memory->base)
		trace_plat_free(memory->base, memory_bytes(buffer, memory->nr_slots));
}

/* Slot `i` holds an empty sub-buffer. */
static void slot_init(struct ring_slot *slot, uint64_t seq, uint64_t first_event, uint64_t dropped)
{
	atomic_store(&slot->word, ring_tag(seq, 0));
	atomic_store(&slot->end, ring_tag(seq, 0));
	atomic_store(&slot->first_event, first_event);
	atomic_store(&slot->dropped, dropped);
}

/* The first sequence of a lap that nobody has seen yet. */
static uint64_t fresh_lap(struct trace_ring_cpu *rc, uint32_t nr_slots)
{
	return (trace_ring_commit_seq(rc) / nr_slots + 2) * nr_slots;
}

/* Writers whose gate is closed may be looking. */
static void set_tail(struct trace_ring_cpu *rc, uint64_t word, uint64_t last)
{
	__atomic_store_n(&rc->tail.lo, word, __ATOMIC_RELAXED);
	__atomic_store_n(&rc->tail.hi, last, __ATOMIC_RELAXED);
	__atomic_store_n(&rc->commit, word, __ATOMIC_RELEASE);
}

static void set_memory(struct trace_ring_cpu *rc, const struct ring_memory *memory)
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
		slot_init(&rc->slots[i], lap + i, 0, 0);
	set_tail(rc, (uint64_t)nr << rc->subbuf_shift, 0);
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

void trace_ring_move_begin(struct trace_ring_cpu *rc)
{
	trace_plat_lock(&rc->lock);
	trace_ring_gate(rc, 1);
	atomic_store(&rc->is_moving, true);
	trace_plat_synchronize_preempt();
}

void trace_ring_move_end(struct trace_ring_cpu *rc)
{
	atomic_store(&rc->is_moving, false);
	trace_ring_gate(rc, -1);
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
	memory_free(buffer, &memory);
	trace_plat_free(rc, rc_bytes(buffer));
}

static struct trace_ring_cpu *rc_alloc(struct ring_buffer *buffer, uint32_t cpu, uint32_t nr_slots)
{
	struct trace_ring_cpu *rc = trace_plat_alloc(rc_bytes(buffer));
	struct ring_memory memory;

	if (!rc)
		return NULL;
	if (!memory_alloc(buffer, nr_slots, &memory)) {
		trace_plat_free(rc, rc_bytes(buffer));
		return NULL;
	}
	rc->buffer = buffer;
	rc->cpu = cpu;
	set_memory(rc, &memory);
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

struct ring_buffer *ring_buffer_alloc(size_t bytes, uint32_t flags)
{
	uint32_t nr_cpus = trace_plat_nr_cpus();
	struct ring_buffer *buffer;

	if (!bytes || bytes > MAX_RING_BYTES)
		return NULL;
	buffer = trace_plat_alloc(buffer_bytes(nr_cpus));
	if (!buffer)
		return NULL;
	buffer->nr_cpus = nr_cpus;
	buffer->subbuf_size = RING_SUBBUF_BYTES;
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++) {
		buffer->cpu[cpu] = rc_alloc(buffer, cpu, slots_for(buffer, bytes));
		if (!buffer->cpu[cpu]) {
			ring_buffer_free(buffer);
			return NULL;
		}
	}
	ring_buffer_change_overwrite(buffer, flags & RING_BUFFER_OVERWRITE);
	return buffer;
}

void ring_buffer_free(struct ring_buffer *buffer)
{
	if (!buffer)
		return;
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		rc_free(buffer, buffer->cpu[cpu]);
	trace_plat_free(buffer, buffer_bytes(buffer->nr_cpus));
}

/* ---- Resize ---- */

/* Copy the sub-buffer `seq` of `rc` into slot `to` of `memory`, as sub-buffer `new_seq`. */
static void move_subbuf(struct trace_ring_cpu *rc, uint64_t seq, struct ring_memory *memory,
			uint32_t to, uint64_t new_seq)
{
	uint32_t from = (uint32_t)(seq % rc->nr_slots);
	struct ring_slot *old = &rc->slots[from], *slot = &memory->slots[to];
	uint64_t end = atomic_load(&old->end);

	memcpy(memory->base + ((size_t)to << rc->subbuf_shift), ring_page_at(rc, from),
	       ring_size(rc));
	slot_init(slot, new_seq, atomic_load(&old->first_event), atomic_load(&old->dropped));
	atomic_store(&slot->word, ring_tag(new_seq, ring_tag_value(atomic_load(&old->word))));
	/* A tag of another lap says that it is full. */
	atomic_store(&slot->end,
		     ring_tag_seq(end) == seq ? ring_tag(new_seq, ring_tag_value(end)) : 0);
}

/*
 * The newest sub-buffers move to the end of `memory`; empty ones come before them. Returns the tail
 * word there.
 */
static uint64_t move_ring(struct trace_ring_cpu *rc, struct ring_memory *memory)
{
	uint32_t nr = memory->nr_slots, offset = ring_offset_of(rc, rc->tail.lo), empty;
	uint64_t last = trace_ring_commit_seq(rc), first = trace_ring_oldest(rc, rc->reader.seq);
	uint64_t lap = fresh_lap(rc, nr);
	struct ring_slot *oldest;

	if (last - first >= nr)
		first = last - nr + 1;
	empty = nr - (uint32_t)(last - first + 1);
	oldest = &rc->slots[first % rc->nr_slots];
	for (uint32_t i = 0; i < empty; i++)
		slot_init(&memory->slots[i], lap + i, atomic_load(&oldest->first_event), 0);
	for (uint64_t seq = first; seq <= last; seq++) {
		uint32_t to = empty + (uint32_t)(seq - first);

		move_subbuf(rc, seq, memory, to, lap + to);
	}
	if (rc->reader.seq < first)
		trace_ring_cursor_move(&rc->reader, first);
	rc->reader.seq += lap + empty - first;
	return (rc->tail.lo & ~0xffffffffull) |
	       (((uint64_t)(offset ? nr - 1 : nr) << rc->subbuf_shift) + offset);
}

/* Give `rc` the memory, and get its old one back. */
static void exchange_memory(struct trace_ring_cpu *rc, struct ring_memory *memory)
{
	struct ring_memory old = { rc->base, rc->slots, rc->nr_slots };
	uint64_t tail;

	trace_ring_move_begin(rc);
	tail = move_ring(rc, memory);
	set_memory(rc, memory);
	set_tail(rc, tail, rc->tail.hi);
	trace_ring_note_reader(rc);
	trace_ring_move_end(rc);
	*memory = old;
}

/* Is `i` among the CPUs that `cpu` names, and is its size another one? */
static bool is_resized(const struct ring_buffer *buffer, uint32_t i, int cpu, uint32_t nr_slots)
{
	return (cpu == RING_BUFFER_ALL_CPUS || (uint32_t)cpu == i) &&
	       buffer->cpu[i]->nr_slots != nr_slots;
}

int ring_buffer_resize(struct ring_buffer *buffer, size_t bytes, int cpu)
{
	struct ring_memory *memory = NULL;
	size_t list_bytes = buffer->nr_cpus * sizeof(*memory);
	uint32_t nr_slots = slots_for(buffer, bytes);
	int err = 0;

	if (!bytes || bytes > MAX_RING_BYTES)
		return -EINVAL;
	if (cpu != RING_BUFFER_ALL_CPUS && (uint32_t)cpu >= buffer->nr_cpus)
		return -EINVAL;
	memory = trace_plat_alloc(list_bytes);
	if (!memory)
		return -ENOMEM;
	trace_plat_lock(&buffer->lock);
	for (uint32_t i = 0; i < buffer->nr_cpus && !err; i++) {
		if (!is_resized(buffer, i, cpu, nr_slots))
			continue;
		if (buffer->cpu[i]->nr_iters)
			err = -EBUSY;
		else if (!memory_alloc(buffer, nr_slots, &memory[i]))
			err = -ENOMEM;
	}
	for (uint32_t i = 0; i < buffer->nr_cpus; i++) {
		if (!err && memory[i].base)
			exchange_memory(buffer->cpu[i], &memory[i]);
		memory_free(buffer, &memory[i]);
	}
	trace_plat_unlock(&buffer->lock);
	trace_plat_free(memory, list_bytes);
	return err;
}

/* ---- Reset, clock ---- */

void ring_buffer_reset_cpu(struct ring_buffer *buffer, uint32_t cpu)
{
	struct trace_ring_cpu *rc;

	if (cpu >= buffer->nr_cpus)
		return;
	rc = buffer->cpu[cpu];
	trace_plat_lock(&buffer->lock);
	trace_ring_move_begin(rc);
	ring_init(rc, fresh_lap(rc, rc->nr_slots));
	trace_ring_move_end(rc);
	trace_plat_unlock(&buffer->lock);
}

void ring_buffer_reset(struct ring_buffer *buffer)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++)
		ring_buffer_reset_cpu(buffer, cpu);
}

void ring_buffer_set_clock(struct ring_buffer *buffer, ring_clock_fn clock)
{
	trace_plat_lock(&buffer->lock);
	buffer->clock = clock;
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++) {
		struct trace_ring_cpu *rc = buffer->cpu[cpu];

		trace_ring_move_begin(rc);
		rc->clock = clock;
		ring_init(rc, fresh_lap(rc, rc->nr_slots));
		trace_ring_move_end(rc);
	}
	trace_plat_unlock(&buffer->lock);
}
