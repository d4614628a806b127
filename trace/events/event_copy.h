/*
 * Copies of a few bytes, for probes: without loop or call for short ones.
 *
 * Context: any.
 */
#ifndef TRACE_EVENT_COPY_H
#define TRACE_EVENT_COPY_H

#include <stdint.h>
#include <trace/compiler.h>

static TRACE_ALWAYS_INLINE void trace_event_copy_8(uint8_t *to, const uint8_t *from)
{
	__builtin_memcpy(to, from, 8);
}

static TRACE_ALWAYS_INLINE void trace_event_copy_16(uint8_t *to, const uint8_t *from)
{
	trace_event_copy_8(to, from);
	trace_event_copy_8(to + 8, from + 8);
}

/*
 * Copy at least 8 bytes: from the beginning, and a piece that ends with the last byte. Bytes in the
 * middle may be copied twice, which is cheaper than computing how many are left.
 */
static TRACE_ALWAYS_INLINE void trace_event_copy_long(uint8_t *to, const uint8_t *from,
						      uint64_t bytes)
{
	uint8_t *to_end = to + bytes;
	const uint8_t *from_end = from + bytes;

	if (bytes <= 16) {
		trace_event_copy_8(to, from);
		trace_event_copy_8(to_end - 8, from_end - 8);
		return;
	}
	TRACE_OPAQUE(to_end); /* the compiler would compute the addresses anew */
	TRACE_OPAQUE(from_end);
	trace_event_copy_16(to, from);
	while (TRACE_UNLIKELY(bytes > 32)) {
		bytes -= 16;
		trace_event_copy_16(to_end - bytes, from_end - bytes);
	}
	trace_event_copy_16(to_end - 16, from_end - 16);
}

/* Copy `bytes`, a multiple of 4. The shortest path is for one word, the commonest case. */
static TRACE_ALWAYS_INLINE void trace_event_copy_words(void *to, const void *from, uint64_t bytes)
{
	if (bytes == 4)
		__builtin_memcpy(to, from, 4);
	else
		trace_event_copy_long(to, from, bytes);
}

#endif
