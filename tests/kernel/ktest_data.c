/* Strings, numbers, the heap. */
#include <kernel/heap.h>
#include "ktest.h"
#include <kernel/string.h>

#define BUF	 224
#define NR_NODES 300

static uint32_t random_state = 12345;

static uint32_t next_random(void)
{
	random_state = random_state * 1103515245u + 12345u;
	return random_state >> 8;
}

static void fill(uint8_t *buf)
{
	for (int i = 0; i < BUF; i++)
		buf[i] = (uint8_t)next_random();
}

/* The effect that the function under test should have, a byte at a time, through a volatile pointer. */
static void slow_move(uint8_t *buf, size_t to, size_t from, size_t len)
{
	uint8_t copy[BUF];
	volatile uint8_t *out = buf;

	for (size_t i = 0; i < BUF; i++)
		copy[i] = ((volatile uint8_t *)buf)[i];
	for (size_t i = 0; i < len; i++)
		out[to + i] = copy[from + i];
}

static bool same(const uint8_t *a, const uint8_t *b)
{
	for (int i = 0; i < BUF; i++) {
		if (((const volatile uint8_t *)a)[i] != b[i])
			return false;
	}
	return true;
}

static void test_memmove(void)
{
	uint8_t got[BUF], want[BUF];

	for (size_t len = 0; len <= 40; len++) {
		for (size_t to = 0; to < 20; to++) {
			fill(got);
			memcpy(want, got, BUF);
			memmove(got + to, got + 9, len);
			slow_move(want, to, 9, len);
			KTEST_CHECK(same(got, want));
		}
	}
}

static void test_memcpy_memset(void)
{
	uint8_t got[BUF], want[BUF];

	for (size_t len = 0; len <= 100; len++) {
		for (size_t at = 0; at < 9; at++) {
			fill(got);
			memmove(want, got, BUF);
			memcpy(got + at, got + 110, len);
			slow_move(want, at, 110, len);
			KTEST_CHECK(same(got, want));
			memset(got + at, (int)(0x100 + len), len);
			for (size_t i = 0; i < len; i++)
				want[at + i] = (uint8_t)len;
			KTEST_CHECK(same(got, want));
		}
	}
}

static void test_memcmp(void)
{
	uint8_t a[BUF], b[BUF];

	for (size_t at = 0; at < 40; at++) {
		fill(a);
		memcpy(b, a, BUF);
		KTEST_CHECK(memcmp(a, b, 40) == 0);
		a[at] = 0x7f;
		b[at] = 0x80;
		KTEST_CHECK(memcmp(a, b, 40) < 0 && memcmp(b, a, 40) > 0);
		KTEST_CHECK(memcmp(a, b, at) == 0);
	}
}

/* From each place in a word, with bytes that look like the end of a text if only some of their bits are looked at. */
static void test_lengths(void)
{
	static const char odd[] = { 1, (char)0x80, (char)0xff, (char)0x81, 0x7f };
	char text[64];

	for (size_t at = 0; at < 16; at++) {
		for (size_t len = 0; len < 40; len++) {
			memset(text, 0, sizeof(text));
			for (size_t i = 0; i < len; i++)
				text[at + i] = odd[(i + len) % sizeof(odd)];
			KTEST_CHECK(strlen(text + at) == len);
		}
	}
}

static void test_strings(void)
{
	char buf[8];

	KTEST_CHECK(strlcpy(buf, "abcdefghij", sizeof(buf)) == 10 && strcmp(buf, "abcdefg") == 0);
	KTEST_CHECK(strlcpy(buf, "abc", sizeof(buf)) == 3 && strlen(buf) == 3);
	KTEST_CHECK(strlcat(buf, "defghi", sizeof(buf)) == 9 && strcmp(buf, "abcdefg") == 0);
	KTEST_CHECK(strstr("schedule", "edu") && !strstr("schedule", "edx") && strstr("a", ""));
	KTEST_CHECK(*strrchr("/a/b", '/') == '/' && strrchr("/a/b", '/')[1] == 'b');
	KTEST_CHECK(strchr("abc", '\0') && !strchr("abc", 'x'));
	KTEST_CHECK(strncmp(buf, "abd", 2) == 0 && strncmp(buf, "abd", 3) < 0);
	KTEST_CHECK(str_has_prefix("ftrace=x", "ftrace=") && !str_has_prefix("ft", "ftrace"));
	KTEST_CHECK(strnlen("abc", 2) == 2 && memchr("abc", 'c', 2) == NULL);
}

static void test_numbers(void)
{
	unsigned long u = 7;
	long i = 7;

	KTEST_CHECK(str_to_u64("18446744073709551615", 10, &u) == 0 && u == UINT64_MAX);
	KTEST_CHECK(str_to_u64("18446744073709551616", 10, &u) == -ERANGE);
	KTEST_CHECK(str_to_u64("0x1F", 0, &u) == 0 && u == 31);
	KTEST_CHECK(str_to_u64("017", 0, &u) == 0 && u == 15);
	KTEST_CHECK(str_to_u64("17", 16, &u) == 0 && u == 23);
	KTEST_CHECK(str_to_u64("", 10, &u) == -EINVAL && str_to_u64("0x", 0, &u) == -EINVAL);
	KTEST_CHECK(str_to_u64("12 ", 10, &u) == -EINVAL && u == 23);
	KTEST_CHECK(str_to_i64("-9223372036854775808", 10, &i) == 0 && i == INT64_MIN);
	KTEST_CHECK(str_to_i64("9223372036854775808", 10, &i) == -ERANGE);
	KTEST_CHECK(str_to_i64("-", 10, &i) == -EINVAL && i == INT64_MIN);
}

/* Random insertions and removals; what comes out must ascend. */
static void test_heap(void)
{
	static struct heap_node nodes[NR_NODES];
	static bool is_in[NR_NODES];
	struct heap heap = { 0 };
	uint64_t last = 0;
	int nr = 0;

	memset(is_in, 0, sizeof(is_in));
	for (int round = 0; round < 5000; round++) {
		uint32_t i = next_random() % NR_NODES;

		if (is_in[i]) {
			heap_remove(&heap, &nodes[i]);
		} else {
			nodes[i].key = next_random() % 1000;
			heap_insert(&heap, &nodes[i]);
		}
		is_in[i] = !is_in[i];
		nr += is_in[i] ? 1 : -1;
	}
	for (; heap_first(&heap); nr--) {
		struct heap_node *first = heap_first(&heap);

		KTEST_CHECK(first->key >= last);
		last = first->key;
		heap_remove(&heap, first);
	}
	KTEST_CHECK(nr == 0);
}

const struct ktest ktest_data[] = {
	{ "data_memmove", test_memmove }, { "data_memcpy_memset", test_memcpy_memset },
	{ "data_memcmp", test_memcmp },	  { "data_lengths", test_lengths },
	{ "data_strings", test_strings }, { "data_numbers", test_numbers },
	{ "data_heap", test_heap },	  { 0 },
};
