/*
 * Texts as words of a key, by inline functions for the fastest probes. See hist_run.h.
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef HIST_WORDS_H
#define HIST_WORDS_H

#include "hist_run.h"

#define HIST_BYTES_LOW	0x0101010101010101u
#define HIST_BYTES_HIGH 0x8080808080808080u

/*
 * Keep the bytes of a word before its first zero byte, and make the others 0; all are kept when
 * none is 0.
 */
static TRACE_ALWAYS_INLINE uint64_t hist_cut_word(uint64_t word, uint64_t zeros)
{
	/* The lowest bit of `zeros` is the highest one of that byte. */
	return word & (((zeros & (0 - zeros)) >> 7) - 1);
}

/* Bits of the zero bytes of a word, for hist_cut_word(); 0 when no byte is 0. */
static TRACE_ALWAYS_INLINE uint64_t hist_zeros_in(uint64_t word)
{
	return (word - HIST_BYTES_LOW) & ~word & HIST_BYTES_HIGH;
}

/*
 * Write a text of at most `len` bytes as words, with zeros behind its end. The words are added to
 * *hash. The 8 bytes before the text's end are readable, even when it is shorter. Returns the
 * number of words; the last one has a zero byte.
 */
static TRACE_ALWAYS_INLINE uint32_t hist_put_text(uint64_t *to, const char *text, uint32_t len,
						  uint64_t *hash)
{
	const char *last = text + (size_t)len / 8 * 8;
	uint64_t *const start = to;
	uint64_t word, zeros = 0;

	for (; text != last; text += 8) {
		__builtin_memcpy(&word, text, 8);
		zeros = hist_zeros_in(word);
		if (TRACE_UNLIKELY(zeros))
			break;
		*hash = hist_hash(*hash, word);
		*to++ = word;
	}
	if (TRACE_LIKELY(!zeros)) {
		word = 0;
		if (TRACE_LIKELY(len % 8)) {
			__builtin_memcpy(&word, text + len % 8 - 8, 8);
			word >>= 64 - 8 * (len % 8);
		}
		zeros = hist_zeros_in(word);
	}
	word = hist_cut_word(word, zeros);
	*hash = hist_hash(*hash, word);
	*to = word;
	return (uint32_t)(to - start) + 1;
}

#endif
