/*
 * Decoding the events of a copied sub-buffer. The layout is Linux's:
 *
 *   31              5 4        0
 *   [ time delta     | type/len ]  [ 32 more bits ]  payload ...
 *
 *   type/len
 *   1-28  an event; its payload has this many words of 4 bytes
 *   0     an event; the next word is its bytes of payload + 4, then comes the payload
 *   29    padding; the next word is the number of bytes behind the head
 *   30    time extend: the delta is the next word << 27, plus the delta in the head
 *   31    time stamp: the same, as an absolute time
 *
 * Every length is checked against the end of the copy. Decoding stops at damaged data.
 *
 * Context: any. It works on a chunk that the caller owns.
 */
#include "ring_private.h"

/*
 * Measure the event at `pos`: where its payload begins, from `pos` on, and the bytes of all of it.
 * False when it does not fit into the data.
 */
static bool ring_event_measure(const struct ring_chunk *chunk, uint32_t pos, uint32_t *out_payload,
			       uint32_t *out_bytes)
{
	const uint32_t *at = (const uint32_t *)(const void *)(chunk->data + pos);
	uint32_t type, room = chunk->end - pos;
	uint64_t bytes;

	if (room < RING_HEAD_BYTES)
		return false;
	type = at[0] & ((1u << RING_TYPE_BITS) - 1);
	*out_payload = RING_HEAD_BYTES;
	if (type > RING_TYPE_LONG && type < RING_TYPE_PADDING) {
		bytes = RING_HEAD_BYTES + type * 4;
	} else if (room < 2 * RING_HEAD_BYTES) {
		return false;
	} else if (type == RING_TYPE_LONG || type == RING_TYPE_PADDING) {
		if (type == RING_TYPE_LONG)
			*out_payload = 2 * RING_HEAD_BYTES;
		bytes = (uint64_t)RING_HEAD_BYTES + at[1];
	} else {
		bytes = RING_EXTEND_BYTES;
	}
	if (bytes > room || bytes % 4 || bytes < *out_payload)
		return false;
	*out_bytes = (uint32_t)bytes;
	return true;
}

/* The time after the head `at` is passed; `ts` is the time before it. */
static uint64_t time_at(const uint32_t *at, uint64_t ts)
{
	uint32_t type = at[0] & ((1u << RING_TYPE_BITS) - 1);
	uint64_t delta = at[0] >> RING_TYPE_BITS;

	if (type < RING_TYPE_TIME_EXTEND)
		return ts + delta;
	delta |= (uint64_t)at[1] << RING_DELTA_BITS;
	if (type == RING_TYPE_TIME_EXTEND)
		return ts + delta;
	return (ts & ~((1ull << RING_EXTEND_BITS) - 1)) | delta;
}

/*
 * The event at chunk->pos, if it is one of the commonest kind: no time before it, at most 28 words.
 */
static TRACE_ALWAYS_INLINE bool decode_short(const struct ring_chunk *chunk,
					     struct ring_event *out_event)
{
	const uint32_t *at = (const uint32_t *)(const void *)(chunk->data + chunk->pos);
	uint32_t words, room = chunk->end - chunk->pos;

	if (room < RING_HEAD_BYTES)
		return false;
	words = at[0] & ((1u << RING_TYPE_BITS) - 1);
	if (words - 1 >= RING_TYPE_PADDING - 1 || RING_HEAD_BYTES + words * 4 > room)
		return false;
	out_event->ts = chunk->ts + (at[0] >> RING_TYPE_BITS);
	out_event->data = at + 1;
	out_event->len = words * 4;
	out_event->lost = chunk->lost;
	return true;
}

bool trace_ring_decode(struct ring_chunk *chunk, struct ring_event *out_event)
{
	const uint32_t *at;
	uint32_t type, payload, bytes;

	if (TRACE_LIKELY(decode_short(chunk, out_event)))
		return chunk->left != 0;
	/* Padding and time stamps change chunk->pos for good; the event itself does not. */
	while (chunk->pos < chunk->end && ring_event_measure(chunk, chunk->pos, &payload, &bytes)) {
		at = (const uint32_t *)(const void *)(chunk->data + chunk->pos);
		type = at[0] & ((1u << RING_TYPE_BITS) - 1);
		out_event->ts = time_at(at, chunk->ts);
		if (type < RING_TYPE_PADDING) {
			out_event->data = chunk->data + chunk->pos + payload;
			out_event->len = bytes - payload;
			out_event->lost = chunk->lost;
			return chunk->left != 0;
		}
		chunk->ts = out_event->ts;
		chunk->pos += bytes;
	}
	return false;
}

void trace_ring_skip(struct ring_chunk *chunk, const struct ring_event *event)
{
	chunk->pos = (uint32_t)((const uint8_t *)event->data - chunk->data) + event->len;
	chunk->ts = event->ts;
	chunk->lost = 0;
	chunk->left--;
}
