/*
 * Texts eight bytes at a time, and numbers as digits: fast helpers of the formatter, of trace_seq
 * and of the string functions. A word is eight bytes as they are in memory, on a little-endian
 * machine: the first one is the lowest.
 *
 * An aligned word may be loaded wherever one of its bytes may: it never reaches into another page.
 *
 * Context: any.
 */
#ifndef TRACE_WORD_H
#define TRACE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

#define TRACE_WORD_BYTES 8u

/* For functions that look at bytes before or behind a text, which the sanitizers would report. */
#define TRACE_WORD_READER __attribute__((no_sanitize("address"), no_sanitize("thread")))

/* A word of eight bytes `byte`. */
#define TRACE_WORD_OF(byte) (0x0101010101010101ull * (uint8_t)(byte))

/* May all eight bytes from `at` on be loaded, because they are in one page? */
static TRACE_ALWAYS_INLINE bool trace_word_is_inside(const void *at)
{
	return ((uintptr_t)at & 4095) <= 4096 - TRACE_WORD_BYTES;
}

static TRACE_ALWAYS_INLINE uint64_t trace_word_load(const void *at)
{
	uint64_t word;

	__builtin_memcpy(&word, at, sizeof(word));
	return word;
}

/* The lowest bit of the result is the highest one of the first byte that is 0. 0: none is. */
static TRACE_ALWAYS_INLINE uint64_t trace_word_zeros(uint64_t word)
{
	return (word - TRACE_WORD_OF(1)) & ~word & TRACE_WORD_OF(0x80);
}

/* Bytes before the one that such a result, which is not 0, tells of. */
static TRACE_ALWAYS_INLINE size_t trace_word_before(uint64_t zeros)
{
	return (size_t)__builtin_ctzll(zeros) / 8;
}

/* Store the first `nr` bytes of a word, at most eight, and no others. */
static TRACE_ALWAYS_INLINE void trace_word_store(char *to, uint64_t word, size_t nr)
{
	if (nr & 8) {
		__builtin_memcpy(to, &word, 8);
		return;
	}
	if (nr & 4) {
		__builtin_memcpy(to, &word, 4);
		word >>= 32;
		to += 4;
	}
	if (nr & 2) {
		__builtin_memcpy(to, &word, 2);
		word >>= 16;
		to += 2;
	}
	if (nr & 1)
		*to = (char)word;
}

extern const char trace_digit_pairs[201]; /* "000102" up to "99" */

/* The two digits of `value`, below 100, to to[0] and to[1]. */
static TRACE_ALWAYS_INLINE void trace_digits_pair(char *to, uint32_t value)
{
	__builtin_memcpy(to, trace_digit_pairs + (size_t)2 * value, 2);
}

/* `value` in decimal, at least one digit, so that it ends before `end`. Returns where it begins. */
char *trace_digits(char *end, uint64_t value);
#define TRACE_DIGITS_MAX 20u

#endif
