/*
 * Kept buffers. See <trace/ring_kept.h>.
 *
 * A CPU's part of the memory is a struct kept_cpu, its slots, its sub-buffers. Of the ring's words
 * only `commit` is read after a reset: it stands in the newest sub-buffer, whose sequence says which
 * sequence each other slot has to have. A slot with that of the next lap was being claimed; with any
 * other it is damaged.
 *
 * Before the ring's old words are overwritten, commit's position is put into `sealed`, until the new
 * words stand. All else that the check writes leads the next check to the same result.
 */
#include <trace/ring_kept.h>
#include "ring_private.h"
#include "text/str.h"

#define KEPT_MAGIC	 0x78626b6361626746ull
#define KEPT_VERSION	 1u
#define KEPT_ALIGN	 64u
#define KEPT_EVENT_BYTES 8	     /* of the shortest event */
#define KEPT_SEALED	 0x5ea1edull /* high half of `sealed` when its low half is a position */

/* The memory begins with this. `sum` is over all that comes before it. */
struct kept_head {
	uint64_t magic;
	uint32_t version;
	uint32_t nr_cpus;
	uint64_t bytes; /* of the memory */
	uint64_t note_bytes;
	uint64_t cpu_bytes; /* of a CPU's part */
	uint32_t nr_slots;
	uint32_t subbuf_size;
	uint32_t rc_bytes;
	uint32_t commit_at; /* offset in struct trace_ring_cpu */
	uint64_t sum;
} __attribute__((aligned(KEPT_ALIGN)));

struct kept_cpu {
	struct trace_ring_cpu rc;
	uint64_t sealed;
} __attribute__((aligned(KEPT_ALIGN)));

/* The check of one CPU's ring. */
struct kept_check {
	const struct ring_kept_memory *memory;
	struct ring_kept_report *report;
	struct ring_memory ring;
	uint64_t newest;      /* sequence of the sub-buffer in which commit stands */
	uint32_t offset;      /* of commit in there; 0: at its end */
	uint64_t number;      /* events so far */
	uint64_t lost;	      /* so far */
	uint64_t last_ts;     /* of the sub-buffer before */
	uint64_t old_dropped; /* `dropped` of the slot before */
};

/* The result of a walk along the events of a sub-buffer. */
struct kept_walk {
	uint32_t bytes; /* of data */
	uint32_t nr_events;
	uint64_t first_ts, last_ts;
};

static uint64_t kept_sum(const struct kept_head *head)
{
	const uint64_t *words = (const uint64_t *)(const void *)head;
	uint64_t sum = KEPT_MAGIC;

	for (size_t i = 0; i < offsetof(struct kept_head, sum) / sizeof(*words); i++)
		sum = (sum ^ words[i]) * 0x100000001b3ull;
	return sum;
}

static size_t kept_round(size_t bytes)
{
	return (bytes + KEPT_ALIGN - 1) & ~(size_t)(KEPT_ALIGN - 1);
}

static size_t kept_slots_bytes(uint32_t nr_slots)
{
	return kept_round(nr_slots * sizeof(struct ring_slot));
}

/* The head that a buffer in the memory has. Its nr_slots is 0 when the memory is too small. */
static struct kept_head kept_layout(const struct ring_kept_memory *memory)
{
	struct kept_head head = { .magic = KEPT_MAGIC,
				  .version = KEPT_VERSION,
				  .nr_cpus = trace_plat_nr_cpus(),
				  .bytes = memory->bytes,
				  .note_bytes = memory->note_bytes,
				  .subbuf_size = RING_SUBBUF_BYTES,
				  .rc_bytes = sizeof(struct trace_ring_cpu),
				  .commit_at = offsetof(struct trace_ring_cpu, commit) };
	size_t taken = sizeof(head) + memory->note_bytes;
	size_t room = memory->bytes > taken ? (memory->bytes - taken) / head.nr_cpus : 0;
	size_t slots;

	head.cpu_bytes = room & ~(uint64_t)(KEPT_ALIGN - 1);
	if (head.cpu_bytes > RING_MAX_BYTES)
		head.cpu_bytes = RING_MAX_BYTES;
	room = head.cpu_bytes > sizeof(struct kept_cpu) + KEPT_ALIGN
		       ? head.cpu_bytes - sizeof(struct kept_cpu) - KEPT_ALIGN
		       : 0;
	slots = room / (RING_SUBBUF_BYTES + sizeof(struct ring_slot));
	head.nr_slots = slots < RING_MIN_SLOTS ? 0 : (uint32_t)slots;
	head.sum = kept_sum(&head);
	return head;
}

static void *kept_note_of(const struct kept_head *head)
{
	return (uint8_t *)(uintptr_t)head + sizeof(*head);
}

static struct kept_cpu *kept_cpu_of(const struct kept_head *head, uint32_t cpu)
{
	uint8_t *cpus = (uint8_t *)kept_note_of(head) + head->note_bytes;

	return (struct kept_cpu *)(void *)(cpus + cpu * head->cpu_bytes);
}

void *ring_kept_find(const struct ring_kept_memory *memory)
{
	struct kept_head head = kept_layout(memory);

	if (!head.nr_slots || memcmp(memory->memory, &head, sizeof(head)) != 0)
		return NULL;
	return kept_note_of(memory->memory);
}

void *ring_kept_note(const struct ring_buffer *buffer)
{
	return buffer->kept ? kept_note_of(buffer->kept) : NULL;
}

/* ---- The check ---- */

static TRACE_ALWAYS_INLINE bool kept_is_sound(const struct ring_kept_memory *memory,
					      const struct ring_event *event)
{
	return !memory->is_sound || memory->is_sound(memory->arg, event->data, event->len);
}

static struct ring_page *kept_page(const struct kept_check *check, uint32_t slot)
{
	uint8_t *page = check->ring.base + (size_t)slot * check->ring.subbuf_size;

	return (struct ring_page *)(void *)page;
}

/*
 * Pass the events of the commonest kind that come next: short ones without a time before them. This
 * is nearly all of the work. False: there is one that may not be.
 */
static bool kept_walk_short(const struct ring_kept_memory *memory, struct ring_chunk *chunk)
{
	const uint8_t *at = chunk->data + chunk->pos, *end = chunk->data + chunk->end;
	uint32_t head, bytes, left = chunk->left;
	uint64_t ts = chunk->ts;
	bool is_sound = true;

	while (end - at >= KEPT_EVENT_BYTES) {
		head = *(const uint32_t *)(const void *)at;
		bytes = (head & ((1u << RING_TYPE_BITS) - 1)) * 4;
		if (bytes - 4 >= (RING_TYPE_PADDING - 1) * 4 || end - at < RING_HEAD_BYTES + bytes)
			break;
		at += RING_HEAD_BYTES;
		is_sound = !memory->is_sound || memory->is_sound(memory->arg, at, bytes);
		if (TRACE_UNLIKELY(!is_sound))
			break;
		at += bytes;
		ts += head >> RING_TYPE_BITS;
		left--;
	}
	chunk->pos = (uint32_t)(at - chunk->data);
	chunk->left = left;
	chunk->ts = ts;
	return is_sound;
}

/* Walk along `bytes` bytes of events. False: there is something that cannot be. */
static bool kept_walk(const struct kept_check *check, struct ring_page *page, uint32_t bytes,
		      struct kept_walk *out)
{
	struct ring_chunk chunk = { .data = page->data, .end = bytes, .left = UINT32_MAX };
	struct ring_event event;

	*out = (struct kept_walk){ .bytes = bytes, .first_ts = page->time_stamp };
	chunk.ts = page->time_stamp;
	for (;;) {
		if (!kept_walk_short(check->memory, &chunk))
			return false;
		if (!trace_ring_decode(&chunk, &event))
			break;
		if (!kept_is_sound(check->memory, &event) || event.ts < chunk.ts)
			return false;
		trace_ring_skip(&chunk, &event);
	}
	out->nr_events = UINT32_MAX - chunk.left;
	out->last_ts = chunk.ts;
	return chunk.pos == bytes && chunk.ts >= out->first_ts;
}

/* Bytes of data of sub-buffer `seq` as its slot or commit say. False: no sub-buffer has so many. */
static bool kept_bytes(const struct kept_check *check, uint64_t seq, uint32_t *out_bytes)
{
	const struct ring_slot *slot = &check->ring.slots[seq % check->ring.nr_slots];
	uint64_t end = atomic_load_explicit(&slot->end, memory_order_relaxed);

	*out_bytes = check->ring.subbuf_size - RING_PAGE_HEAD;
	if (seq == check->newest && check->offset)
		*out_bytes = check->offset - RING_PAGE_HEAD;
	else if (ring_tag_seq(end) == seq)
		*out_bytes = ring_tag_value(end);
	return *out_bytes <= check->ring.subbuf_size - RING_PAGE_HEAD && *out_bytes % 4 == 0;
}

/* Look at sub-buffer `seq`, which its slot is said to hold. */
static bool kept_look(const struct kept_check *check, uint64_t seq, struct kept_walk *out)
{
	uint32_t bytes, slot = (uint32_t)(seq % check->ring.nr_slots);

	return kept_bytes(check, seq, &bytes) &&
	       kept_walk(check, kept_page(check, slot), bytes, out);
}

/* A count of lost events that the words of a damaged slot may not speak against: 1 or more. */
static uint64_t kept_lost_in(const struct kept_check *check, uint64_t seq)
{
	const struct ring_slot *slots = check->ring.slots;
	uint32_t slot = (uint32_t)(seq % check->ring.nr_slots);
	uint32_t next = slot + 1 == check->ring.nr_slots ? 0 : slot + 1;
	uint64_t nr = atomic_load(&slots[next].first_event) - atomic_load(&slots[slot].first_event);

	return seq != check->newest && nr - 1 < check->ring.subbuf_size / 8 ? nr : 1;
}

/* Events that were dropped before the sub-buffer of `slot`, as far as that can be believed. */
static uint64_t kept_dropped(struct kept_check *check, const struct ring_slot *slot)
{
	uint64_t dropped = atomic_load(&slot->dropped), nr = dropped - check->old_dropped;

	check->old_dropped = dropped;
	return nr < 1ull << 32 ? nr : 0;
}

/* Give the slot of sub-buffer `seq` its words anew: it has `walk`, or nothing and was lost. */
static void kept_settle(struct kept_check *check, uint64_t seq, const struct kept_walk *walk)
{
	struct ring_slot *slot = &check->ring.slots[seq % check->ring.nr_slots];

	trace_ring_slot_init(slot, seq, check->number, check->lost);
	atomic_store(&slot->end, ring_tag(seq, walk->bytes));
	check->number += walk->nr_events;
	if (walk->nr_events)
		check->last_ts = walk->last_ts;
}

/*
 * Do the times of sub-buffer `seq` lie between those beside it? Of two that contradict each other both
 * are dropped: which one is damaged cannot be told.
 */
static bool kept_is_in_time(const struct kept_check *check, uint64_t seq,
			    const struct kept_walk *walk)
{
	uint32_t bytes, next = (uint32_t)((seq + 1) % check->ring.nr_slots);
	const struct ring_slot *slot = &check->ring.slots[next];

	if (!walk->nr_events)
		return true;
	if (walk->first_ts < check->last_ts)
		return false;
	return seq == check->newest || ring_tag_seq(atomic_load(&slot->word)) != seq + 1 ||
	       !kept_bytes(check, seq + 1, &bytes) || !bytes ||
	       kept_page(check, next)->time_stamp >= walk->last_ts;
}

/* The slot's sub-buffer, in the order of sequences. */
static void kept_check_slot(struct kept_check *check, uint64_t seq)
{
	const struct ring_slot *slot = &check->ring.slots[seq % check->ring.nr_slots];
	uint64_t holds = ring_tag_seq(atomic_load(&slot->word)), lost = 0;
	struct kept_walk walk = { 0 };

	if (holds == seq && kept_look(check, seq, &walk) && kept_is_in_time(check, seq, &walk)) {
		check->lost += kept_dropped(check, slot);
	} else {
		walk = (struct kept_walk){ 0 };
		if (holds != seq + check->ring.nr_slots) {
			lost = kept_lost_in(check, seq);
			check->report->nr_damaged++;
		}
	}
	kept_settle(check, seq, &walk);
	check->lost += lost;
}

/* Where commit stood: a position in the ring, or 0 when that is damaged. */
static uint32_t kept_commit(const struct kept_cpu *part, const struct ring_memory *ring)
{
	uint64_t word = part->sealed >> 32 == KEPT_SEALED ? part->sealed : part->rc.commit;
	uint64_t end = (uint64_t)ring->nr_slots * ring->subbuf_size;
	uint32_t at = (uint32_t)word, offset = at % ring->subbuf_size;

	if (!at || at > end || at % 4 || (offset && offset < RING_PAGE_HEAD))
		return 0;
	return at;
}

/* Check all sub-buffers of a CPU; `at` is kept_commit(). False: nothing can be said of them. */
static bool kept_check_cpu(struct kept_check *check, uint32_t at)
{
	const struct ring_memory *ring = &check->ring;
	uint32_t slot = (at - 1) / ring->subbuf_size;
	uint64_t first;

	if (!at)
		return false;
	check->newest = ring_tag_seq(atomic_load(&ring->slots[slot].word));
	check->offset = at % ring->subbuf_size;
	if (check->newest % ring->nr_slots != slot || check->newest + 1 < ring->nr_slots ||
	    check->newest >> (60 - RING_TAKEN_BITS))
		return false;
	first = check->newest - ring->nr_slots + 1;
	check->old_dropped = atomic_load(&ring->slots[first % ring->nr_slots].dropped);
	for (uint64_t seq = first; seq <= check->newest; seq++)
		kept_check_slot(check, seq);
	check->report->nr_events += check->number;
	return true;
}

/* ---- Making the buffer ---- */

static struct ring_memory kept_ring_memory(const struct kept_head *head, uint32_t cpu)
{
	uint8_t *slots = (uint8_t *)(kept_cpu_of(head, cpu) + 1);

	return (struct ring_memory){ .slots = (struct ring_slot *)(void *)slots,
				     .base = slots + kept_slots_bytes(head->nr_slots),
				     .nr_slots = head->nr_slots,
				     .subbuf_size = head->subbuf_size };
}

/* The ring has the events that the check has found, and the next one begins a sub-buffer. */
static void kept_take_over(struct trace_ring_cpu *rc, const struct kept_check *check)
{
	uint64_t slot = check->newest % rc->nr_slots;

	trace_ring_set_tail(rc, check->number << 32 | (slot + 1) << rc->subbuf_shift, 0);
	rc->event_ref = check->number;
	rc->nr_dropped = check->lost;
	trace_ring_cursor_move(&rc->reader, check->newest - rc->nr_slots + 1);
	trace_ring_note_reader(rc);
}

/* Put `word` into `sealed`: behind all stores before it, and before all that follow. */
static void kept_seal(struct kept_cpu *part, uint64_t word)
{
	atomic_thread_fence(memory_order_seq_cst);
	__atomic_store_n(&part->sealed, word, __ATOMIC_SEQ_CST);
}

/* Make the ring of `cpu`; with `at`, as kept_commit() gives it, there may be one from before. */
static bool kept_make_ring(struct ring_buffer *buffer, uint32_t cpu, struct kept_check *check,
			   uint32_t at)
{
	struct kept_cpu *part = kept_cpu_of(buffer->kept, cpu);
	struct trace_ring_cpu *rc = &part->rc;
	bool was_found;

	check->ring.copies = trace_plat_alloc(2ul * check->ring.subbuf_size);
	if (!check->ring.copies)
		return false;
	was_found = kept_check_cpu(check, at);
	kept_seal(part, was_found ? (uint64_t)KEPT_SEALED << 32 | at : 0);
	memset(rc, 0, sizeof(*rc));
	trace_ring_prepare(rc, cpu, (size_t)check->ring.nr_slots * check->ring.subbuf_size);
	buffer->cpu[cpu] = rc;
	trace_plat_lock(&rc->lock);
	trace_ring_set_memory(rc, &check->ring);
	if (was_found)
		kept_take_over(rc, check);
	else
		trace_ring_init(rc, 0);
	trace_ring_move_end(rc, RING_GATE_RESIZE);
	kept_seal(part, 0);
	return true;
}

static bool kept_make_rings(struct ring_buffer *buffer, const struct ring_kept_memory *memory,
			    struct ring_kept_report *report)
{
	for (uint32_t cpu = 0; cpu < buffer->nr_cpus; cpu++) {
		const struct kept_cpu *part = kept_cpu_of(buffer->kept, cpu);
		struct kept_check check = { .memory = memory, .report = report };

		check.ring = kept_ring_memory(buffer->kept, cpu);
		if (!kept_make_ring(buffer, cpu, &check,
				    report->is_found ? kept_commit(part, &check.ring) : 0))
			return false;
	}
	return true;
}

/* Are there no bytes but zeros where the head would be? */
static bool kept_is_blank(const struct ring_kept_memory *memory)
{
	const uint8_t *bytes = memory->memory;

	for (size_t i = 0; i < sizeof(struct kept_head); i++) {
		if (bytes[i])
			return false;
	}
	return true;
}

/* There is no buffer in the memory: until its head stands there is none for the next kernel. */
static void kept_clear(const struct ring_kept_memory *memory, struct ring_kept_report *report)
{
	report->is_blank = kept_is_blank(memory);
	memset(memory->memory, 0, sizeof(struct kept_head) + memory->note_bytes);
}

struct ring_buffer *ring_buffer_alloc_kept(const struct ring_kept_memory *memory, uint32_t flags,
					   struct ring_kept_report *out)
{
	struct kept_head head = kept_layout(memory);
	struct ring_buffer *buffer;

	*out = (struct ring_kept_report){ .is_found = ring_kept_find(memory) };
	buffer = head.nr_slots ? trace_ring_buffer_alloc_bare() : NULL;
	if (!buffer)
		return NULL;
	buffer->kept = memory->memory;
	if (!out->is_found) {
		kept_clear(memory, out);
		head.magic = 0;
		memcpy(memory->memory, &head, sizeof(head));
	}
	if (!kept_make_rings(buffer, memory, out)) {
		ring_buffer_free(buffer);
		return NULL;
	}
	atomic_thread_fence(memory_order_seq_cst);
	__atomic_store_n(&buffer->kept->magic, KEPT_MAGIC, __ATOMIC_SEQ_CST);
	ring_buffer_change_overwrite(buffer, flags & RING_BUFFER_OVERWRITE);
	return buffer;
}

/* ---- Copies ---- */

/* Give `to` the events of `from`, which has as many sub-buffers. Both are closed. */
static void kept_copy_ring(struct trace_ring_cpu *to, struct trace_ring_cpu *from)
{
	trace_ring_move_begin(to, RING_GATE_ONE);
	trace_plat_lock(&from->lock);
	trace_ring_init(to, trace_ring_fresh_lap(to, to->nr_slots));
	memcpy(to->base, from->base, (size_t)from->nr_slots << from->subbuf_shift);
	memcpy(to->slots, from->slots, from->nr_slots * sizeof(struct ring_slot));
	trace_ring_set_tail(to, from->commit, 0);
	to->event_ref = from->event_ref;
	to->nr_dropped = from->nr_dropped;
	trace_ring_cursor_move(&to->reader, trace_ring_oldest(from, 0));
	trace_ring_note_reader(to);
	trace_plat_unlock(&from->lock);
	trace_ring_move_end(to, RING_GATE_ONE);
}

int ring_kept_copy(struct ring_buffer *to, struct ring_buffer *from)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < from->nr_cpus && !err; cpu++) {
		err = ring_buffer_add_cpu(to, cpu);
		if (!err)
			err = ring_buffer_resize(to, ring_buffer_size(from, cpu), (int)cpu);
	}
	if (err)
		return err;
	trace_plat_lock(&to->shared->lock);
	for (uint32_t cpu = 0; cpu < from->nr_cpus; cpu++)
		kept_copy_ring(trace_ring_of(to, cpu), trace_ring_of(from, cpu));
	trace_plat_unlock(&to->shared->lock);
	return 0;
}
