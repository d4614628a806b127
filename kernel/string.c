/* See <kernel/string.h>. Not traced. */
#include <kernel/string.h>
#include <stdint.h>

/* 8, 4 and 2 bytes of memory of any type, at any alignment. */
struct word {
	uint64_t value;
} __attribute__((packed, may_alias));
struct half {
	uint32_t value;
} __attribute__((packed, may_alias));
struct quarter {
	uint16_t value;
} __attribute__((packed, may_alias));

static uint64_t load(const unsigned char *from)
{
	return ((const struct word *)from)->value;
}

static void store(unsigned char *to, uint64_t value)
{
	((struct word *)to)->value = value;
}

/* Less than 8 bytes: as many from the beginning as from the end, which may overlap. */
static void copy_short(unsigned char *to, const unsigned char *from, size_t len)
{
	if (len >= 4) {
		uint32_t last = ((const struct half *)(from + len - 4))->value;

		((struct half *)to)->value = ((const struct half *)from)->value;
		((struct half *)(to + len - 4))->value = last;
	} else if (len >= 2) {
		uint16_t last = ((const struct quarter *)(from + len - 2))->value;

		((struct quarter *)to)->value = ((const struct quarter *)from)->value;
		((struct quarter *)(to + len - 2))->value = last;
	} else if (len) {
		*to = *from;
	}
}

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;
	size_t i = 0;

	if (len < 8) {
		copy_short(t, f, len);
		return to;
	}
	/*
	 * Copy the last 8 bytes first. The loops copy whole words up to there; their last one may
	 * overlap them.
	 */
	store(t + len - 8, load(f + len - 8));
	for (; i + 32 < len; i += 32) {
		store(t + i, load(f + i));
		store(t + i + 8, load(f + i + 8));
		store(t + i + 16, load(f + i + 16));
		store(t + i + 24, load(f + i + 24));
	}
	for (; i + 8 < len; i += 8)
		store(t + i, load(f + i));
	return to;
}

void *memmove(void *to, const void *from, size_t len)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	if (t <= f || t >= f + len) {
		for (; len >= 8; len -= 8, t += 8, f += 8)
			store(t, load(f));
		while (len--)
			*t++ = *f++;
		return to;
	}
	for (; len >= 8; len -= 8)
		store(t + len - 8, load(f + len - 8));
	while (len--)
		t[len] = f[len];
	return to;
}

static void store_four(unsigned char *to, uint64_t word)
{
	store(to, word);
	store(to + 8, word);
	store(to + 16, word);
	store(to + 24, word);
}

static void set_short(unsigned char *to, uint64_t word, size_t len)
{
	if (len >= 4) {
		((struct half *)to)->value = (uint32_t)word;
		((struct half *)(to + len - 4))->value = (uint32_t)word;
	} else if (len >= 2) {
		((struct quarter *)to)->value = (uint16_t)word;
		((struct quarter *)(to + len - 2))->value = (uint16_t)word;
	} else if (len) {
		*to = (unsigned char)word;
	}
}

void *memset(void *to, int byte, size_t len)
{
	uint64_t word = 0x0101010101010101ull * (unsigned char)byte;
	unsigned char *t = to;

	if (len < 8) {
		set_short(t, word, len);
		return to;
	}
	store(t + len - 8, word);
	for (; len > 64; len -= 64, t += 64) {
		store_four(t, word);
		store_four(t + 32, word);
		__asm__ volatile("" : "+r"(t));
	}
	for (size_t i = 0; i + 8 < len; i += 8) {
		store(t + i, word);
		__asm__ volatile("" : "+r"(i));
	}
	return to;
}

int memcmp(const void *a, const void *b, size_t len)
{
	const unsigned char *x = a, *y = b;

	for (; len >= 8 && load(x) == load(y); len -= 8) {
		x += 8;
		y += 8;
	}
	for (; len; len--, x++, y++) {
		if (*x != *y)
			return *x - *y;
	}
	return 0;
}

#define EACH_BYTE(value) ((value)*0x0101010101010101ull)

/* The lowest 0 among the bytes of a word has the lowest bit of these. */
static inline uint64_t zero_bytes(uint64_t word)
{
	return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80ull);
}

void *memchr(const void *in, int byte, size_t len)
{
	uint64_t word, zeros, all = EACH_BYTE((uint64_t)(unsigned char)byte);
	const unsigned char *p = in;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		__builtin_memcpy(&word, p, sizeof(word));
		zeros = zero_bytes(word ^ all);
		if (zeros)
			return (void *)(uintptr_t)(p + (unsigned int)__builtin_ctzll(zeros) / 8);
	}
	for (; len; len--, p++) {
		if (*p == (unsigned char)byte)
			return (void *)(uintptr_t)p;
	}
	return NULL;
}

/* Of the lowest byte that is 0, the highest bit; higher bytes may have a bit, too. 0: there is no such byte. */
static uint64_t zero_byte(uint64_t word)
{
	return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

/* Eight bytes at a time, from where they lie in one page for certain. */
size_t strlen(const char *s)
{
	const unsigned char *begin = (const unsigned char *)s, *end = begin;
	uint64_t zero;

	for (; (uintptr_t)end % 8; end++) {
		if (!*end)
			return (size_t)(end - begin);
	}
	for (zero = zero_byte(load(end)); !zero; zero = zero_byte(load(end)))
		end += 8;
	return (size_t)(end - begin) + (size_t)__builtin_ctzll(zero) / 8;
}

size_t strnlen(const char *s, size_t max)
{
	size_t len = 0;

	while (len < max && s[len])
		len++;
	return len;
}

/* May eight bytes be read here, although the text may end before? Within a page there is memory. */
static bool has_word(const unsigned char *at)
{
	return (uintptr_t)at % 4096 <= 4096 - 8;
}

int strcmp(const char *a, const char *b)
{
	const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
	uint64_t word, ends;
	unsigned int i;

	for (; has_word(x) && has_word(y); x += 8, y += 8) {
		word = load(x);
		ends = zero_byte(word) | (word ^ load(y));
		if (!ends)
			continue;
		i = (unsigned int)__builtin_ctzll(ends) / 8; /* they differ, or both end */
		return x[i] - y[i];
	}
	for (; *x == *y && *x; x++, y++)
		;
	return *x - *y;
}

int strncmp(const char *a, const char *b, size_t max)
{
	for (; max; max--, a++, b++) {
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	}
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

char *strchrnul(const char *s, int c)
{
	uint64_t all = EACH_BYTE((uint64_t)(unsigned char)c), ends;

	for (; has_word((const unsigned char *)s); s += 8) {
		uint64_t word = load((const unsigned char *)s);

		ends = zero_byte(word) | zero_byte(word ^ all);
		if (ends)
			return (char *)(uintptr_t)s + (unsigned int)__builtin_ctzll(ends) / 8;
	}
	while (*s && *s != (char)c)
		s++;
	return (char *)(uintptr_t)s;
}

char *strrchr(const char *s, int c)
{
	const char *found = NULL;

	for (;; s++) {
		if (*s == (char)c)
			found = s;
		if (!*s)
			return (char *)(uintptr_t)found;
	}
}

char *strstr(const char *s, const char *what)
{
	size_t len = strlen(what);

	for (;; s++) {
		if (strncmp(s, what, len) == 0)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	size_t len = strlen(from), nr = len < size ? len : size - 1;

	memcpy(to, from, nr);
	to[nr] = '\0';
	return len;
}

size_t strlcat(char *to, const char *from, size_t size)
{
	size_t used = strnlen(to, size);

	if (used == size)
		return size + strlen(from);
	return used + strlcpy(to + used, from, size - used);
}

bool str_has_prefix(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}
