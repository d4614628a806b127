/* Helpers for tests of the ring buffer: events that can be recognised. */
#ifndef RING_HELP_H
#define RING_HELP_H

#include "unit.h"
#include <stdlib.h>
#include <string.h>
#include <trace/ring_buffer.h>
#include "fake/fake.h"

#define SIZE 4096u
#define ROOM (SIZE - 16u) /* for events, in a sub-buffer */

/* Write an event of `len` bytes that says `id`. False when it was not recorded. */
static inline bool put(struct ring_buffer *ring, uint32_t id, size_t len)
{
	uint8_t *payload = ring_buffer_lock_reserve(ring, len);

	if (!payload)
		return false;
	memset(payload, (int)(id & 0xff), (len + 3) & ~3ul);
	memcpy(payload, &id, sizeof(id));
	ring_buffer_unlock_commit(ring, payload);
	return true;
}

/* Which event is it? Fails when its payload is damaged. */
static inline uint32_t id_of(const struct ring_event *event)
{
	const uint8_t *bytes = event->data;
	uint32_t id;

	memcpy(&id, bytes, sizeof(id));
	for (uint32_t i = 4; i < event->len; i++)
		if (bytes[i] != (uint8_t)id)
			fail_msg("event %u: byte %u is %u", id, i, bytes[i]);
	return id;
}

static inline struct ring_stats stats_of(struct ring_buffer *ring, uint32_t cpu)
{
	struct ring_stats out;

	ring_buffer_stats_cpu(ring, cpu, &out);
	return out;
}

/* Consume all of `cpu`: the events must be `first`, first + 1, ... up to `end`. */
static inline void expect_ids(struct ring_buffer *ring, uint32_t cpu, uint32_t first, uint32_t end)
{
	struct ring_event event;

	while (ring_buffer_consume(ring, cpu, &event)) {
		assert_int_equal(id_of(&event), first);
		assert_int_equal(event.cpu, cpu);
		first++;
	}
	assert_int_equal(first, end);
	assert_true(ring_buffer_empty_cpu(ring, cpu));
}

#endif
