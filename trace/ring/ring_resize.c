/*
 * Ring buffer: new sizes. See <trace/ring_buffer.h>.
 *
 * All new memory is allocated before the first ring changes, for the twin too, so a resize is done
 * for all rings or for none. Then the newest sub-buffers of each ring are copied over, while its
 * writers are kept out.
 *
 * Locking: the buffer's lock, then the CPU's, as in ring_setup.c.
 */
#include "ring_private.h"
#include "text/str.h"

/* Copy the sub-buffer `seq` of `rc` into slot `to` of `memory`, as sub-buffer `new_seq`. */
static void move_subbuf(struct trace_ring_cpu *rc, uint64_t seq, struct ring_memory *memory,
			uint32_t to, uint64_t new_seq)
{
	uint32_t from = (uint32_t)(seq % rc->nr_slots);
	struct ring_slot *old = &rc->slots[from], *slot = &memory->slots[to];
	uint64_t end = atomic_load(&old->end);

	memcpy(memory->base + ((size_t)to << rc->subbuf_shift), ring_page_at(rc, from),
	       ring_size(rc));
	trace_ring_slot_init(slot, new_seq, atomic_load(&old->first_event),
			     atomic_load(&old->dropped));
	atomic_store(&slot->word, ring_tag(new_seq, ring_tag_value(atomic_load(&old->word))));
	/* With any other sequence, 0 here, `end` says that the sub-buffer is filled up. */
	atomic_store(&slot->end,
		     ring_tag_seq(end) == seq ? ring_tag(new_seq, ring_tag_value(end)) : 0);
}

/*
 * Copy as many of the newest sub-buffers as fit to the end of `memory`, with empty ones before
 * them, and move the reader's cursor along. Returns the tail word in the new memory.
 */
static uint64_t move_ring(struct trace_ring_cpu *rc, struct ring_memory *memory)
{
	uint32_t nr = memory->nr_slots, offset = ring_offset_of(rc, rc->tail.lo), empty;
	uint64_t last = trace_ring_commit_seq(rc), first = trace_ring_oldest(rc, rc->reader.seq);
	uint64_t lap = trace_ring_fresh_lap(rc, nr);
	struct ring_slot *oldest;

	if (last - first >= nr)
		first = last - nr + 1;
	empty = nr - (uint32_t)(last - first + 1);
	oldest = &rc->slots[first % rc->nr_slots];
	for (uint32_t i = 0; i < empty; i++)
		trace_ring_slot_init(&memory->slots[i], lap + i, atomic_load(&oldest->first_event),
				     0);
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

/* Move the ring to `memory`; its old memory is in there afterwards. */
static void exchange_memory(struct trace_ring_cpu *rc, struct ring_memory *memory)
{
	struct ring_memory old = trace_ring_memory_of(rc);
	uint64_t tail;

	trace_ring_move_begin(rc, RING_GATE_RESIZE);
	tail = move_ring(rc, memory);
	trace_ring_set_memory(rc, memory);
	trace_ring_set_tail(rc, tail, rc->tail.hi);
	trace_ring_note_reader(rc);
	trace_ring_move_end(rc, RING_GATE_RESIZE);
	*memory = old;
}

/* A resize while it is being made. Rings are counted as in trace_ring_nth(). */
struct resize {
	struct ring_buffer *buffer;
	size_t nr_lists;	    /* rings: nr_cpus, or twice as many with those of the twin */
	struct ring_memory *memory; /* of each ring: its new memory, later its old one */
	uint32_t nr_slots;	    /* the new size */
	int cpu;		    /* RING_BUFFER_ALL_CPUS, or the only one to be resized */
};

/*
 * Is ring `i` one of those to be resized, and does it not have the new size already? A ring without
 * memory is not: ring_buffer_add_cpu() will give it the size that was asked for last.
 */
static bool is_resized(const struct resize *resize, size_t i)
{
	const struct trace_ring_cpu *rc = trace_ring_nth(resize->buffer, i);

	return (resize->cpu == RING_BUFFER_ALL_CPUS || (uint32_t)resize->cpu == rc->cpu) &&
	       trace_ring_has_memory(rc) && rc->nr_slots != resize->nr_slots;
}

static int ring_resize_get_memory(const struct resize *resize)
{
	uint32_t subbuf_size = resize->buffer->subbuf_size;

	for (size_t i = 0; i < resize->nr_lists; i++) {
		if (!is_resized(resize, i))
			continue;
		if (trace_ring_nth(resize->buffer, i)->nr_iters)
			return -EBUSY;
		if (!trace_ring_memory_alloc(subbuf_size, resize->nr_slots, &resize->memory[i]))
			return -ENOMEM;
	}
	return 0;
}

/* The buffer's lock is held, and exchanges of twins are forbidden. */
static int resize_locked(const struct resize *resize)
{
	int err = ring_resize_get_memory(resize);

	for (size_t i = 0; i < resize->nr_lists; i++) {
		if (!err && resize->memory[i].base)
			exchange_memory(trace_ring_nth(resize->buffer, i), &resize->memory[i]);
		trace_ring_memory_free(&resize->memory[i]);
	}
	return err;
}

/*
 * ring_buffer_resize() for checked arguments; `with_twin`: the twin's rings get the same size. The
 * buffer's lock is held.
 */
static int set_slots_locked(struct ring_buffer *buffer, uint32_t nr_slots, int cpu, bool with_twin)
{
	struct resize resize = { .buffer = buffer, .nr_slots = nr_slots, .cpu = cpu };
	size_t list_bytes;
	int err;

	resize.nr_lists = buffer->nr_cpus * (with_twin ? 2ul : 1ul);
	list_bytes = resize.nr_lists * sizeof(*resize.memory);
	resize.memory = trace_plat_alloc(list_bytes);
	if (!resize.memory)
		return -ENOMEM;
	trace_ring_forbid_swap(buffer);
	err = resize_locked(&resize);
	trace_ring_allow_swap(buffer);
	trace_plat_free(resize.memory, list_bytes);
	return err;
}

/*
 * Remember the size that was asked for, without the rounding to whole sub-buffers: with sub-buffers
 * of another size it is rounded again.
 */
static void note_asked(struct ring_buffer *buffer, size_t bytes, int cpu)
{
	for (uint32_t i = 0; buffer && i < buffer->nr_cpus; i++) {
		if (cpu == RING_BUFFER_ALL_CPUS || (uint32_t)cpu == i)
			trace_ring_of(buffer, i)->asked_bytes = bytes;
	}
}

int ring_buffer_resize(struct ring_buffer *buffer, size_t bytes, int cpu)
{
	struct ring_shared *shared = buffer->shared;
	uint32_t nr_slots;
	int err;

	if (!bytes || bytes > RING_MAX_BYTES)
		return -EINVAL;
	if (cpu != RING_BUFFER_ALL_CPUS && (uint32_t)cpu >= buffer->nr_cpus)
		return -EINVAL;
	if (buffer->kept)
		return -EOPNOTSUPP;
	trace_plat_lock(&shared->lock);
	nr_slots = trace_ring_slots_for(buffer->subbuf_size, bytes);
	err = set_slots_locked(buffer, nr_slots, cpu, buffer->twin && !shared->slim);
	if (!err) {
		trace_ring_forbid_swap(buffer);
		note_asked(buffer, bytes, cpu);
		note_asked(buffer->twin, bytes, cpu);
		trace_ring_allow_swap(buffer);
	}
	trace_plat_unlock(&shared->lock);
	return err;
}
