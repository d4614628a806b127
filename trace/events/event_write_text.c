/*
 * Texts of events, measured and copied by probes. See <trace/event_probe.h>.
 *
 * Context: any.
 */
#include <trace/event_probe.h>
#include "event_copy.h"

#define PAGE	   4096u /* or a multiple of it */
#define BYTES_LOW  0x0101010101010101ull
#define BYTES_HIGH 0x8080808080808080ull

static const char none[] = "(null)";

/*
 * Measure a text, by 8 aligned bytes at a time. They may begin before the text or end behind it,
 * but never reach into another page.
 */
__attribute__((no_sanitize("address"))) uint32_t trace_event_text_bytes(const char *text)
{
	uintptr_t at = (uintptr_t)text & ~(uintptr_t)7;
	uint64_t word, zeros;

	if (!text)
		return sizeof(none);
	__builtin_memcpy(&word, (const void *)at, sizeof(word));
	/* Bytes before the text become other than NUL. */
	word |= ~(~0ull << ((uintptr_t)text & 7) * 8);
	for (;;) {
		/* The first test holds for each word with a NUL, and in ASCII for no other. */
		zeros = (word - BYTES_LOW) & BYTES_HIGH;
		if (TRACE_UNLIKELY(zeros) && (zeros &= ~word))
			break;
		at += sizeof(word);
		__builtin_memcpy(&word, (const void *)at, sizeof(word));
	}
	return (uint32_t)(at - (uintptr_t)text) + (uint32_t)__builtin_ctzll(zeros) / 8 + 1;
}

void trace_event_copy_text(char *to, const char *text, uint32_t bytes)
{
	uint32_t at = 0;

	if (TRACE_LIKELY(text && bytes > 8)) {
		trace_event_copy_long((uint8_t *)to, (const uint8_t *)text, bytes - 1);
		to[bytes - 1] = '\0';
		return;
	}
	if (!bytes)
		return;
	if (!text) {
		text = none;
		bytes = bytes < sizeof(none) ? bytes : sizeof(none);
	}
	for (; at < bytes - 1; at++)
		to[at] = text[at];
	to[at] = '\0';
}

/* Copy a text without NUL, a long one, or one at the end of a page. */
static TRACE_NOINLINE uint32_t take_other(char *to, const char *text, uint32_t room)
{
	uint32_t bytes = trace_event_text_bytes(text);

	if (bytes <= room)
		trace_event_copy_text(to, text, bytes);
	return bytes;
}

/* Copy a text by unaligned words, if none of the possible ones reaches into another page. */
__attribute__((no_sanitize("address"))) uint32_t trace_event_take_text(char *to, const char *text,
								       uint32_t room)
{
	uint64_t word, zeros;

	if (TRACE_UNLIKELY(!text || ((uintptr_t)text & (PAGE - 1)) + room > PAGE - sizeof(word)))
		return take_other(to, text, room);
	for (uint64_t i = 0; i < room; i += sizeof(word)) {
		__builtin_memcpy(&word, text + i, sizeof(word));
		zeros = (word - BYTES_LOW) & BYTES_HIGH;
		if (TRACE_UNLIKELY(zeros) && (zeros &= ~word)) {
			word &= zeros ^ (zeros - 1); /* bytes behind the NUL become 0 */
			__builtin_memcpy(to + i, &word, sizeof(word));
			return (uint32_t)i + (uint32_t)__builtin_ctzll(zeros) / 8 + 1;
		}
		__builtin_memcpy(to + i, &word, sizeof(word));
	}
	return take_other(to, text, room);
}
