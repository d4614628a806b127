/*
 * The uncommon half of writing: a sub-buffer is full, time jumped, an event is long, another clock,
 * recording is off, an event is taken back. See <trace/ring_buffer.h>, ring_fast.h.
 *
 * How the tail gets into the next sub-buffer. At any step an interrupt may come whose writers go
 * through all three steps themselves, so each step is a compare-exchange that fails or has no
 * effect the second time:
 *   1. claim: the slot's word goes from its old sequence to the next one. From here readers know
 *      that the old events are gone. Whoever finds the new sequence there goes on to step 2.
 *   2. move: the tail pair goes to the new sub-buffer. One writer succeeds, the others start over.
 *   3. fill: the writer that moved the tail fills in the slots: number of the first event, losses,
 *      time stamp, and the end of the sub-buffer before. Readers look at them only after the
 *      outermost commit. A writer that crosses once more meanwhile needs none of them, because
 *      event numbers are in the tail word.
 */
#include "ring_private.h"

enum claim {
	CLAIM_DONE,
	CLAIM_STALE,   /* an interrupt or the reader changed something: start over */
	CLAIM_OVERRUN, /* no room until the outer event, which this one interrupted, is committed */
	CLAIM_FULL,    /* drop mode: no room until something is read */
};

void trace_ring_publish(struct trace_ring_cpu *rc)
{
	uint64_t commit, tail;

	/*
	 * An interrupt that finds commit equal to the tail publishes its own events. If that
	 * happens between our loads and our store, a plain store would move commit back; the
	 * exchange fails.
	 */
	for (;;) {
		commit = __atomic_load_n(&rc->commit, __ATOMIC_RELAXED);
		atomic_signal_fence(memory_order_seq_cst);
		tail = trace_ring_load(&rc->tail.lo);
		if (commit == tail)
			return;
		__atomic_compare_exchange_n(&rc->commit, &commit, tail, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED);
	}
}

/* Number of events in a finished sub-buffer. */
static uint64_t entries_of(struct trace_ring_cpu *rc, uint32_t slot)
{
	struct ring_slot *next = &rc->slots[ring_next_slot(rc, slot)];

	return atomic_load_explicit(&next->first_event, memory_order_relaxed) -
	       atomic_load_explicit(&rc->slots[slot].first_event, memory_order_relaxed);
}

/* Drop mode: are events of the slot's sub-buffer still to be read? */
static bool ring_write_is_kept(struct trace_ring_cpu *rc, uint32_t slot, uint64_t word)
{
	return !atomic_load(&rc->overwrite) && ring_tag_value(word) != entries_of(rc, slot);
}

/* Take slot `next` for sub-buffer `seq`. Counts the event as dropped when there is no room. */
static enum claim claim_slot(struct trace_ring_cpu *rc, uint32_t next, uint64_t seq)
{
	struct ring_slot *slot = &rc->slots[next];
	uint64_t word, commit = __atomic_load_n(&rc->commit, __ATOMIC_RELAXED);

	/*
	 * commit has to be loaded before the slot's word. Otherwise an interrupt that crosses
	 * between the two loads could move commit into this slot, and we would take that commit
	 * together with the slot's old word for an event that is still open a whole lap behind.
	 */
	atomic_signal_fence(memory_order_seq_cst);
	word = atomic_load_explicit(&slot->word, memory_order_relaxed);
	if (ring_tag_seq(word) == seq)
		return CLAIM_DONE;
	if (ring_tag_seq(word) != seq - rc->nr_slots)
		return CLAIM_STALE;
	/* An outer event, a whole lap behind us, is still open in this slot. */
	if (ring_slot_of(rc, commit) == next) {
		trace_plat_local_add(&rc->nr_commit_overrun, 1);
		return CLAIM_OVERRUN;
	}
	if (ring_write_is_kept(rc, next, word)) {
		trace_plat_local_add(&rc->nr_dropped, 1);
		return CLAIM_FULL;
	}
	/* Pairs with the reader's exchange: it has either taken the events or sees them gone. */
	if (!atomic_compare_exchange_strong(&slot->word, &word, ring_tag(seq, 0)))
		return CLAIM_STALE;
	return CLAIM_DONE;
}

/* Note in the slot that the data of its sub-buffer ends at `offset`. */
static void set_end(struct trace_ring_cpu *rc, uint32_t slot, uint32_t offset)
{
	uint64_t seq =
		ring_tag_seq(atomic_load_explicit(&rc->slots[slot].word, memory_order_relaxed));

	atomic_store_explicit(&rc->slots[slot].end, ring_tag(seq, offset - RING_PAGE_HEAD),
			      memory_order_relaxed);
}

/*
 * Losses are told between sub-buffers, so nothing may follow a dropped event in the sub-buffer of
 * the tail: move the tail to its end. (No writer that we interrupted can have read the count of
 * losses and be about to cross: it would have claimed the slot first, and then nothing would have
 * been dropped.)
 */
void trace_ring_close_subbuf(struct trace_ring_cpu *rc)
{
	uint64_t word, last, end;

	do {
		word = trace_ring_load(&rc->tail.lo);
		last = trace_ring_load(&rc->tail.hi);
		if (!ring_offset_of(rc, word))
			return;
		end = (word | (ring_size(rc) - 1)) + 1;
	} while (!trace_plat_pair_cmpxchg(&rc->tail, &word, last, end, last));

	set_end(rc, ring_slot_of(rc, word), ring_offset_of(rc, word));
	if (__atomic_load_n(&rc->commit, __ATOMIC_RELAXED) == word)
		trace_ring_publish(rc);
}

void trace_ring_drop(struct trace_ring_cpu *rc)
{
	if (trace_ring_is_off(rc))
		return;
	trace_plat_local_add(&rc->nr_unbuilt, 1);
	if (!trace_ring_try_drop(rc))
		trace_ring_close_subbuf(rc);
}

/*
 * The ring was found full, and the tail is at the end of a sub-buffer: set the mark with which
 * further events are dropped without a search for room. If there is room by now, because a reader
 * made some before it could see the mark, or because an interrupt already writes into it, the mark
 * is taken away again. It may be taken away needlessly; the next event then sets it again.
 */
static void mark_full(struct trace_ring_cpu *rc)
{
	uint64_t word;
	uint32_t next;

	trace_ring_gate_full(rc);
	word = trace_ring_load(&rc->tail.lo);
	next = ring_next_slot(rc, ring_slot_of(rc, word));
	/* Pairs with readers: they take, and then look for the mark. */
	if (ring_offset_of(rc, word) ||
	    !ring_write_is_kept(rc, next, atomic_load(&rc->slots[next].word)))
		trace_ring_gate(rc, 0);
}

static uint64_t nr_lost(const struct trace_ring_cpu *rc)
{
	return trace_ring_load(&rc->nr_dropped) + trace_ring_load(&rc->nr_commit_overrun);
}

/* Step 3 of a crossing. We moved the tail from `word` into `slot`. */
static void finish_crossing(struct trace_ring_cpu *rc, uint64_t word, uint32_t slot, uint64_t now,
			    uint64_t lost)
{
	uint64_t number = ring_event_number(word, trace_ring_load(&rc->event_ref));

	if (ring_offset_of(rc, word))
		set_end(rc, ring_slot_of(rc, word), ring_offset_of(rc, word));
	__atomic_store_n(&ring_page_at(rc, slot)->time_stamp, now, __ATOMIC_RELAXED);
	atomic_store_explicit(&rc->slots[slot].first_event, number, memory_order_relaxed);
	atomic_store_explicit(&rc->slots[slot].dropped, lost, memory_order_relaxed);
	__atomic_store_n(&rc->event_ref, number, __ATOMIC_RELAXED);
	/*
	 * When no event is open, commit has to follow: it is compared with where an event starts.
	 */
	if (__atomic_load_n(&rc->commit, __ATOMIC_RELAXED) == word)
		trace_ring_publish(rc);
}

/*
 * Move the tail {word, last} to the next sub-buffer, whose time is `now`. False when the ring is
 * full; true when it moved, by us or by others: look at the tail again.
 */
static bool cross(struct trace_ring_cpu *rc, uint64_t word, uint64_t last, uint64_t now)
{
	uint32_t slot = ring_slot_of(rc, word);
	uint32_t next = ring_next_slot(rc, slot);
	uint64_t seq =
		ring_tag_seq(atomic_load_explicit(&rc->slots[slot].word, memory_order_relaxed)) + 1;
	uint64_t lost, first;

	switch (claim_slot(rc, next, seq)) {
	case CLAIM_STALE:
		return true;
	case CLAIM_OVERRUN:
		trace_ring_close_subbuf(rc);
		return false;
	case CLAIM_FULL:
		trace_ring_close_subbuf(rc);
		mark_full(rc);
		return false;
	case CLAIM_DONE:
		break;
	}
	/*
	 * With the slot claimed there is room, and no interrupt drops an event from here on. So the
	 * count of losses that is read below has all that come before the new sub-buffer.
	 */
	trace_ring_unmark_full(rc);
	lost = nr_lost(rc);
	first = (uint64_t)next << rc->subbuf_shift | RING_PAGE_HEAD;
	if (trace_plat_pair_cmpxchg(&rc->tail, &word, last, (word & ~0xffffffffull) | first, now))
		finish_crossing(rc, word, next, now, lost);
	return true;
}

/* Write the heads of an event at tail word `word`; returns its payload. */
static void *write_heads(struct trace_ring_cpu *rc, uint64_t word, uint64_t delta, uint32_t len)
{
	uint32_t *at = (uint32_t *)(void *)(rc->base + (uint32_t)word);

	if (delta >> RING_DELTA_BITS) {
		at[0] = ((uint32_t)delta & RING_DELTA_MASK) << RING_TYPE_BITS |
			RING_TYPE_TIME_EXTEND;
		at[1] = (uint32_t)(delta >> RING_DELTA_BITS);
		delta = 0;
		/*
		 * trace_ring_is_outermost() expects the event's own head at commit. When we are the
		 * outermost event, move commit over the time extend.
		 */
		if (__atomic_load_n(&rc->commit, __ATOMIC_RELAXED) == word)
			__atomic_store_n(&rc->commit, word + RING_EXTEND_BYTES, __ATOMIC_RELEASE);
		at += 2;
	}
	if (len <= RING_SHORT_PAYLOAD) {
		at[0] = (uint32_t)delta << RING_TYPE_BITS | len / 4;
		return at + 1;
	}
	at[0] = (uint32_t)delta << RING_TYPE_BITS | RING_TYPE_LONG;
	at[1] = len + 4;
	return at + 2;
}

static uint32_t ring_write_head_bytes(uint32_t len)
{
	return len <= RING_SHORT_PAYLOAD ? RING_HEAD_BYTES : 2 * RING_HEAD_BYTES;
}

void *trace_ring_reserve_slow(struct trace_ring_cpu *rc, size_t payload_len)
{
	uint64_t word, last, now, delta;
	uint32_t len, bytes, room;

	if (trace_ring_is_off(rc))
		return NULL;
	if (payload_len > ring_size(rc) - RING_PAGE_HEAD - 2 * RING_HEAD_BYTES - RING_EXTEND_BYTES)
		return NULL;
	if (trace_ring_is_full(atomic_load_explicit(&rc->gate, memory_order_acquire))) {
		if (!trace_ring_try_drop(rc))
			trace_ring_close_subbuf(rc);
		return NULL;
	}
	len = (uint32_t)ring_round_len(payload_len);
	for (;;) {
		word = trace_ring_load(&rc->tail.lo);
		last = trace_ring_load(&rc->tail.hi);
		now = ring_clock_now(rc);
		delta = (int64_t)(now - last) > 0 ? now - last : 0; /* clocks may go back */
		bytes = ring_write_head_bytes(len) + len;
		if (delta >> RING_DELTA_BITS)
			bytes += RING_EXTEND_BYTES;
		room = -(uint32_t)word & (ring_size(rc) - 1);
		if (bytes > room || delta >> RING_EXTEND_BITS) {
			if (!cross(rc, word, last, last + delta))
				return NULL;
			continue;
		}
		if (trace_plat_pair_cmpxchg(&rc->tail, &word, last, word + RING_EVENT_ONE + bytes,
					    last + delta))
			return write_heads(rc, word, delta, len);
	}
}

/*
 * Turn the event at `start`, `bytes` long with its head, into padding, which readers skip, and take
 * it out of the numbers of events.
 */
static void make_padding(struct trace_ring_cpu *rc, uint32_t start, uint32_t bytes)
{
	uint32_t *head = (uint32_t *)(void *)(rc->base + start);
	uint32_t delta = head[0] >> RING_TYPE_BITS;
	uint32_t slot = ring_slot_of(rc, start + 1);
	uint64_t word, last;

	/* In this layout padding with a delta of 0 means that the rest of the page is padding. */
	head[0] = (delta ? delta : 1) << RING_TYPE_BITS | RING_TYPE_PADDING;
	head[1] = bytes - RING_HEAD_BYTES;
	do {
		word = trace_ring_load(&rc->tail.lo);
		last = trace_ring_load(&rc->tail.hi);
	} while (!trace_plat_pair_cmpxchg(&rc->tail, &word, last, word - RING_EVENT_ONE, last));
	/*
	 * Sub-buffers that nested writers have begun since then count it as an event before them.
	 */
	while (slot != ring_slot_of(rc, word)) {
		slot = ring_next_slot(rc, slot);
		atomic_fetch_sub(&rc->slots[slot].first_event, 1);
	}
}

void trace_ring_discard(struct trace_ring_cpu *rc, void *payload, size_t payload_len)
{
	uint32_t len = (uint32_t)ring_round_len(payload_len);
	uint32_t bytes = ring_write_head_bytes(len) + len;
	uint32_t end = (uint32_t)((uint8_t *)payload - rc->base) + len;
	uint32_t delta = *(uint32_t *)(void *)(rc->base + (end - bytes)) >> RING_TYPE_BITS;
	uint64_t word = trace_ring_load(&rc->tail.lo);
	uint64_t last = trace_ring_load(&rc->tail.hi);

	if ((uint32_t)word == end &&
	    trace_plat_pair_cmpxchg(&rc->tail, &word, last, word - RING_EVENT_ONE - bytes,
				    last - delta))
		return;
	make_padding(rc, end - bytes, bytes);
	trace_ring_commit(rc, payload);
}
