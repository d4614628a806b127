/*
 * Copies of sub-buffers, for the consuming reader and for iterators. See <trace/ring_buffer.h>.
 *
 * A cursor is a reader's position. trace_ring_fetch() copies the committed events from there on, at
 * most to the end of the sub-buffer, and only then asks the slot's word whether the copy is valid:
 *   the same sequence      no writer had begun to overwrite the sub-buffer; the copy is good
 *   another one            the copy is thrown away; the cursor goes to the oldest sub-buffer left
 * The consuming reader asks with a compare-exchange, whose new word also says how many events it
 * has taken, so that each event is either taken or overrun, never both. Losses show as gaps in the
 * event numbers.
 *
 * A cursor never gets ahead of the sub-buffer of `commit`: it leaves a sub-buffer only after commit
 * has left it, and the writer never claims the one in which commit stands.
 *
 * Emptying a ring begins a new epoch, in which events are counted from 0 again. The consuming
 * reader's cursor is reset with it. An iterator keeps its cursor and has to notice by itself: it
 * asks trace_ring_is_outdated() before it hands out anything, because its results may mix numbers
 * of two epochs; and if so, it begins again.
 */
#include "ring_private.h"

static uint64_t load_first(struct trace_ring_cpu *rc, uint32_t slot)
{
	return atomic_load_explicit(&rc->slots[slot].first_event, memory_order_relaxed);
}

/* The offset at which the data of a finished sub-buffer ends. */
static uint32_t finished_end(struct trace_ring_cpu *rc, uint32_t slot, uint64_t seq)
{
	uint64_t end = atomic_load_explicit(&rc->slots[slot].end, memory_order_relaxed);

	return ring_tag_seq(end) == seq ? ring_tag_value(end) + RING_PAGE_HEAD : ring_size(rc);
}

void trace_ring_extent(struct trace_ring_cpu *rc, uint32_t slot, uint64_t seq,
		       struct ring_extent *out)
{
	/* Pairs with the release in commit: bytes before it are written. */
	uint64_t commit = __atomic_load_n(&rc->commit, __ATOMIC_ACQUIRE);
	bool is_last = ring_slot_of(rc, commit) == slot;
	uint64_t next_first;

	out->first_event = load_first(rc, slot);
	out->dropped = atomic_load_explicit(&rc->slots[slot].dropped, memory_order_relaxed);
	if (is_last)
		next_first = ring_event_number(commit, out->first_event);
	else
		next_first = load_first(rc, ring_next_slot(rc, slot));
	out->entries = (uint32_t)(next_first - out->first_event);
	out->is_finished = !is_last;
	out->is_open = is_last && ring_offset_of(rc, commit);
	out->end = out->is_open ? ring_offset_of(rc, commit) : finished_end(rc, slot, seq);
}

uint64_t trace_ring_committed(struct trace_ring_cpu *rc)
{
	uint64_t commit, again, first;

	do {
		commit = __atomic_load_n(&rc->commit, __ATOMIC_ACQUIRE);
		first = load_first(rc, ring_slot_of(rc, commit));
		atomic_thread_fence(memory_order_acquire);
		again = __atomic_load_n(&rc->commit, __ATOMIC_RELAXED);
		/*
		 * The slot is not reused while commit stands in it: first_event belongs to commit.
		 */
	} while (ring_slot_of(rc, again) != ring_slot_of(rc, commit));
	return ring_event_number(commit, first);
}

uint64_t trace_ring_commit_seq(struct trace_ring_cpu *rc)
{
	uint64_t commit, again, word;

	do {
		commit = __atomic_load_n(&rc->commit, __ATOMIC_ACQUIRE);
		word = atomic_load_explicit(&rc->slots[ring_slot_of(rc, commit)].word,
					    memory_order_acquire);
		again = __atomic_load_n(&rc->commit, __ATOMIC_RELAXED);
	} while (ring_slot_of(rc, again) != ring_slot_of(rc, commit));
	return ring_tag_seq(word);
}

static uint64_t load_word(struct trace_ring_cpu *rc, uint64_t seq)
{
	return atomic_load_explicit(&rc->slots[seq % rc->nr_slots].word, memory_order_acquire);
}

uint64_t trace_ring_oldest(struct trace_ring_cpu *rc, uint64_t seq)
{
	uint64_t there;

	while ((there = ring_tag_seq(load_word(rc, seq))) > seq)
		seq = there - rc->nr_slots + 1;
	return seq;
}

void trace_ring_cursor_move(struct ring_cursor *cursor, uint64_t seq)
{
	cursor->seq = seq;
	cursor->offset = RING_PAGE_HEAD;
	cursor->taken = 0;
}

static TRACE_ALWAYS_INLINE void copy_4(uint8_t *to, const uint8_t *from)
{
	uint32_t word = __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_RELAXED);

	__builtin_memcpy(to, &word, sizeof(word));
}

/* `from` is aligned. */
static TRACE_ALWAYS_INLINE void copy_8(uint8_t *to, const uint8_t *from)
{
	uint64_t word = __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);

	__builtin_memcpy(to, &word, sizeof(word));
}

/*
 * Copy by atomic words, because the writer may be overwriting the memory; confirm() finds out, and
 * the copy is thrown away. This is the only place where reader and writer race for event data.
 * `from` is aligned to 4 bytes, and `bytes` is a multiple of 4.
 */
static RING_RACY void ring_read_copy_words(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
	uint32_t i = 0;

	if ((uintptr_t)from % 8 && bytes) {
		copy_4(to, from);
		i = 4;
	}
	for (; i + 32 <= bytes; i += 32) {
		copy_8(to + i, from + i);
		copy_8(to + i + 8, from + i + 8);
		copy_8(to + i + 16, from + i + 16);
		copy_8(to + i + 24, from + i + 24);
	}
	for (; i < bytes; i += 4)
		copy_4(to + i, from + i);
}

static void copy_chunk(struct trace_ring_cpu *rc, const struct ring_cursor *cursor, uint32_t slot,
		       const struct ring_extent *extent, struct ring_chunk *chunk)
{
	struct ring_page *page = ring_page_at(rc, slot);

	chunk->pos = 0;
	chunk->end = extent->end - cursor->offset;
	chunk->left = extent->entries - cursor->taken;
	chunk->ts = cursor->offset == RING_PAGE_HEAD
			    ? __atomic_load_n(&page->time_stamp, __ATOMIC_RELAXED)
			    : cursor->ts;
	chunk->lost = extent->first_event + cursor->taken - cursor->next_event +
		      (extent->dropped - cursor->dropped);
	ring_read_copy_words(chunk->data, (const uint8_t *)page + cursor->offset, chunk->end);
	/*
	 * Pairs with the exchange in claim_slot(): if we have copied data of a later lap, confirm()
	 * sees that the slot's word has changed.
	 */
	atomic_thread_fence(memory_order_acquire);
}

/*
 * Does the slot still hold the sub-buffer that we have looked at? With `take`: does it, and are its
 * events up to extent->entries taken out of the ring by us?
 */
static bool confirm(struct trace_ring_cpu *rc, const struct ring_cursor *cursor, uint32_t slot,
		    const struct ring_extent *extent, bool take)
{
	uint64_t word = ring_tag(cursor->seq, cursor->taken);

	if (!take)
		return ring_tag_seq(atomic_load_explicit(&rc->slots[slot].word,
							 memory_order_relaxed)) == cursor->seq;
	if (!atomic_compare_exchange_strong(&rc->slots[slot].word, &word,
					    ring_tag(cursor->seq, extent->entries)))
		return false;
	trace_ring_unmark_full(rc);
	return true;
}

/* The time at the end of `chunk`, to which the delta of the next event is added. */
static uint64_t end_time(const struct ring_chunk *chunk)
{
	struct ring_chunk rest = *chunk;
	struct ring_event event;

	while (trace_ring_decode(&rest, &event))
		trace_ring_skip(&rest, &event);
	return rest.ts;
}

bool trace_ring_fetch(struct trace_ring_cpu *rc, struct ring_cursor *cursor,
		      struct ring_chunk *chunk, bool take, bool full)
{
	struct ring_extent extent;
	uint64_t oldest;
	uint32_t slot;

	while (!trace_ring_is_outdated(rc, cursor)) {
		oldest = trace_ring_oldest(rc, cursor->seq);
		if (oldest != cursor->seq)
			trace_ring_cursor_move(cursor, oldest);
		slot = (uint32_t)(cursor->seq % rc->nr_slots);
		trace_ring_extent(rc, slot, cursor->seq, &extent);
		if (full && extent.is_open)
			return false;
		/* Numbers that cannot be: the sub-buffer is being overwritten, or is damaged. */
		if (extent.end < cursor->offset || extent.end > ring_size(rc) ||
		    extent.entries < cursor->taken) {
			if (confirm(rc, cursor, slot, &extent, false))
				return false;
			continue;
		}
		copy_chunk(rc, cursor, slot, &extent, chunk);
		if (!confirm(rc, cursor, slot, &extent, take))
			continue;
		/* The next sub-buffer has a time of its own. */
		if (!extent.is_finished)
			cursor->ts = end_time(chunk);
		cursor->offset = extent.end;
		cursor->taken = extent.entries;
		if (chunk->left) {
			cursor->next_event = extent.first_event + extent.entries;
			cursor->dropped = extent.dropped;
		}
		if (extent.is_finished)
			trace_ring_cursor_move(cursor, cursor->seq + 1);
		if (chunk->left)
			return true;
		if (!extent.is_finished)
			return false;
	}
	return false;
}
