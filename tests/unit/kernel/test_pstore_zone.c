/* Zones of pstore: texts that survive, damage, resets in the middle. links: kernel/pstore/zone.c */
#include <unit.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "../../../kernel/pstore/zone.h"

#define BLOCKS 4u
#define BYTES  (BLOCKS * ZONE_BLOCK_BYTES)
#define ID     4096u
#define WORD   8u  /* place of a block's length and sum */
#define HEAD   16u /* bytes before its text */

size_t strlcpy(char *to, const char *from, size_t size);

size_t strlcpy(char *to, const char *from, size_t size)
{
	return (size_t)snprintf(to, size, "%s", from);
}

static uint64_t words[BYTES / 8];
static uint8_t *const memory = (uint8_t *)words;
static struct zone zone;
static char found[BYTES + 1];

static const char *after_reset(void)
{
	zone_init(&zone, memory, BYTES, ID);
	found[zone_text(&zone, found, "[damaged]")] = '\0';
	return found;
}

/* A text of `len` bytes, in which each place differs from those a block before and behind. */
static const char *text_of(size_t len)
{
	static char text[4 * BYTES];

	for (size_t i = 0; i < len; i++)
		text[i] = (char)('a' + (i + i / ZONE_TEXT_BYTES) % 26);
	text[len] = '\0';
	return text;
}

static void begin(uint64_t generation, bool goes_round)
{
	zone_init(&zone, memory, BYTES, ID);
	zone_begin(&zone, generation, goes_round);
}

static void put(const char *text)
{
	zone_append(&zone, text, strlen(text));
}

static int setup(void **state)
{
	(void)state;
	memset(memory, 0, BYTES);
	return 0;
}

static void test_nothing(void **state)
{
	(void)state;
	assert_string_equal(after_reset(), "");
	memset(memory, 0xff, BYTES);
	assert_string_equal(after_reset(), "");
	assert_int_equal(zone.old, 0);
}

static void test_small_writes(void **state)
{
	const char *text = text_of(600);

	(void)state;
	begin(1, true);
	for (size_t i = 0; i < 600; i += 3)
		assert_int_equal(zone_append(&zone, text + i, 3), 3);
	assert_string_equal(after_reset(), text);
	assert_int_equal(zone.old, 1);
	assert_string_equal(after_reset(), text);
}

static void test_goes_round(void **state)
{
	const char *text = text_of(3 * BYTES);

	(void)state;
	begin(1, true);
	assert_int_equal(zone_append(&zone, text, 3 * BYTES), 3 * BYTES);
	after_reset();
	assert_true(strlen(found) > (BLOCKS - 1) * ZONE_TEXT_BYTES);
	assert_string_equal(found, text + 3 * BYTES - strlen(found));
}

static void test_ends(void **state)
{
	(void)state;
	begin(1, false);
	assert_int_equal(zone_append(&zone, text_of(BYTES), BYTES), BLOCKS * ZONE_TEXT_BYTES);
	assert_int_equal(zone_append(&zone, "more", 4), 0);
	assert_string_equal(after_reset(), text_of(BLOCKS * ZONE_TEXT_BYTES));
}

/* The old text stays until the new one has its first block. */
static void test_generations(void **state)
{
	(void)state;
	begin(1, true);
	put("first");
	begin(2, true);
	assert_string_equal(after_reset(), "first");
	begin(2, true);
	put("second");
	assert_string_equal(after_reset(), "second");
	zone_erase(&zone, 1);
	assert_string_equal(after_reset(), "second");
	zone_erase(&zone, 2);
	assert_string_equal(after_reset(), "");
}

/* A text of another place, or of a zone of another size, is none. */
static void test_other_layout(void **state)
{
	(void)state;
	begin(1, true);
	put("text");
	zone_init(&zone, memory, BYTES, ID + 1);
	assert_int_equal(zone.old, 0);
	zone_init(&zone, memory, BYTES - ZONE_BLOCK_BYTES, ID);
	assert_int_equal(zone.old, 0);
	zone_init(&zone, memory, ZONE_BLOCK_BYTES - 1, ID);
	assert_int_equal(zone.nr_blocks, 0);
	assert_string_equal(after_reset(), "text");
}

/* The text of 3 blocks and a bit, without block `without`. */
static const char *text_without(size_t without, size_t len)
{
	static char text[BYTES];
	const char *whole = text_of(len);
	size_t from = without * ZONE_TEXT_BYTES;

	if (without == 0)
		return whole + ZONE_TEXT_BYTES;
	snprintf(text, sizeof(text), "%.*s", (int)from, whole);
	if (from + ZONE_TEXT_BYTES < len)
		snprintf(text + from, sizeof(text) - from, "[damaged]%s",
			 whole + from + ZONE_TEXT_BYTES);
	return text;
}

/* Each byte of heads and text takes each other value: that block is gone, and nothing else. */
static void test_each_flip(void **state)
{
	const size_t len = 3 * ZONE_TEXT_BYTES + 100;

	(void)state;
	begin(1, false);
	put(text_of(len));
	for (size_t at = 0; at < BYTES; at++) {
		size_t block = at / ZONE_BLOCK_BYTES, offset = at % ZONE_BLOCK_BYTES;
		bool is_used = block < 3 || offset < HEAD + 100;

		for (unsigned int flip = 1; flip < 256; flip++) {
			memory[at] ^= (uint8_t)flip;
			assert_string_equal(after_reset(),
					    is_used ? text_without(block, len) : text_of(len));
			memory[at] ^= (uint8_t)flip;
		}
	}
}

/*
 * The reset comes between any two stores of a write that fills a block, opens the next over the oldest one
 * and puts some text there: the text is that from before, or more of the same, but for the oldest block.
 */
static void test_reset_in_write(void **state)
{
	static uint8_t before[BYTES], after[BYTES];
	const size_t old_len = BYTES / ZONE_BLOCK_BYTES * ZONE_TEXT_BYTES - 10;
	const char *whole = text_of(old_len + 20);
	const size_t last = (BLOCKS - 1) * ZONE_BLOCK_BYTES, tail = last + ZONE_BLOCK_BYTES - 10;

	(void)state;
	begin(1, true);
	zone_append(&zone, whole, old_len);
	memcpy(before, memory, BYTES);
	zone_append(&zone, whole + old_len, 20);
	memcpy(after, memory, BYTES);

	memcpy(memory, before, BYTES);
	for (size_t i = 0; i <= 10; i++) { /* the end of the last block's text */
		memcpy(memory + tail, after + tail, i);
		assert_memory_equal(after_reset(), whole, old_len);
		assert_int_equal(strlen(found), old_len);
	}
	memcpy(memory + last + WORD, after + last + WORD, 8);
	assert_int_equal(strlen(after_reset()), old_len + 10);
	memset(memory + WORD, 0, 8); /* block 0 is opened */
	assert_memory_equal(after_reset(), whole + ZONE_TEXT_BYTES, old_len + 10 - ZONE_TEXT_BYTES);
	memcpy(memory, after, 8);
	assert_int_equal(strlen(after_reset()), old_len + 10 - ZONE_TEXT_BYTES);
	for (size_t i = 0; i <= 10; i++) {
		memcpy(memory + HEAD, after + HEAD, i);
		assert_int_equal(strlen(after_reset()), old_len + 10 - ZONE_TEXT_BYTES);
	}
	memcpy(memory + WORD, after + WORD, 8);
	assert_string_equal(after_reset(), whole + ZONE_TEXT_BYTES);
}

/* ---- A writer beside the one that erases ---- */

static uint8_t *page;

/* The first write to the page: before it is done, another CPU begins a new text there. */
static void write_meanwhile(int signal)
{
	(void)signal;
	mprotect(page, BYTES, PROT_READ | PROT_WRITE);
	put("new");
}

/* Erasing an old text leaves a block that has got a new one in this moment. */
static void test_erase_beside_writer(void **state)
{
	const struct sigaction action = { .sa_handler = write_meanwhile };
	struct sigaction old;

	(void)state;
	page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	zone_init(&zone, page, BYTES, ID);
	zone_begin(&zone, 1, false);
	put("old");
	zone_init(&zone, page, BYTES, ID);
	zone_begin(&zone, 2, false);
	assert_int_equal(sigaction(SIGSEGV, &action, &old), 0);
	assert_int_equal(mprotect(page, BYTES, PROT_READ), 0);
	zone_erase(&zone, 1);
	assert_int_equal(sigaction(SIGSEGV, &old, NULL), 0);
	zone_init(&zone, page, BYTES, ID);
	assert_int_equal(zone_text(&zone, found, "[damaged]"), 3);
	assert_memory_equal(found, "new", 3);
	munmap(page, BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nothing, setup),
		cmocka_unit_test_setup(test_small_writes, setup),
		cmocka_unit_test_setup(test_goes_round, setup),
		cmocka_unit_test_setup(test_ends, setup),
		cmocka_unit_test_setup(test_generations, setup),
		cmocka_unit_test_setup(test_other_layout, setup),
		cmocka_unit_test_setup(test_each_flip, setup),
		cmocka_unit_test_setup(test_reset_in_write, setup),
		cmocka_unit_test_setup(test_erase_beside_writer, setup),
	};

	return cmocka_run_group_tests_name("pstore_zone", tests, NULL, NULL);
}
