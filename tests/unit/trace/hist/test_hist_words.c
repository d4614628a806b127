/*
 * Texts as words of a key: every length, with a NUL at every place and without one, against bytes
 * that are copied one by one. What is in front of a text and behind it makes no difference.
 *
 * links: trace/hist/hist_map.c
 */
#include "unit.h"
#include <string.h>
#include "hist/hist_words.h"

#define LEN_MAX 64u

static void check(const char *text, uint32_t len)
{
	uint64_t words[LEN_MAX / 8 + 1], want[LEN_MAX / 8 + 1] = { 0 }, hash = 0, want_hash = 0;
	uint32_t nr, nr_bytes = (uint32_t)strnlen(text, len);

	memset(words, 0xff, sizeof(words));
	nr = hist_put_text(words, text, len, &hash);
	memcpy(want, text, nr_bytes);
	assert_int_equal(nr, nr_bytes / 8 + 1);
	assert_memory_equal(words, want, 8ul * nr);
	for (uint32_t i = 0; i < nr; i++)
		want_hash = hist_hash(want_hash, want[i]);
	assert_int_equal(hash, want_hash);
}

static void every_length(void **state)
{
	char around[8 + LEN_MAX + 8], *text = around + 8;

	(void)state;
	for (uint32_t len = 0; len <= LEN_MAX - 1; len++) {
		for (uint32_t at = 0; at <= len; at++) {
			memset(around, 'x', sizeof(around));
			for (uint32_t i = 0; i < len; i++)
				text[i] = (char)(0x7e + i * 3 % 7); /* also with the highest bit */
			check(text, len);
			if (at == len)
				break;
			text[at] = '\0';
			check(text, len);
			/* A byte of 1 behind a NUL looks like one when it is done wrongly. */
			text[at + 1] = 1;
			check(text, len);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
