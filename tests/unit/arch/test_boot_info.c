/*
 * The boot loader's information: what is copied, and that damage is refused, never followed.
 * links: arch/x86_64/boot_info.c
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <arch/boot_info.h>
#include <trace/errno.h>

#define MAX_INFO 80000

/* Information under construction: tags one after the other, each on 8 bytes. */
struct build {
	_Alignas(8) uint8_t bytes[MAX_INFO];
	uint32_t pos;
};

static void put32(struct build *b, uint32_t value)
{
	memcpy(b->bytes + b->pos, &value, sizeof(value));
	b->pos += sizeof(value);
}

static void put64(struct build *b, uint64_t value)
{
	memcpy(b->bytes + b->pos, &value, sizeof(value));
	b->pos += sizeof(value);
}

static void put_tag(struct build *b, uint32_t type, const void *data, uint32_t len)
{
	put32(b, type);
	put32(b, 8 + len);
	memcpy(b->bytes + b->pos, data, len);
	b->pos = (b->pos + len + 7) & ~7u;
}

static void start(struct build *b)
{
	memset(b, 0, sizeof(*b));
	b->pos = 8;
}

static void put_map(struct build *b, uint32_t nr, const uint64_t (*entries)[3])
{
	put32(b, 6);
	put32(b, 16 + 24 * nr);
	put32(b, 24);
	put32(b, 0);
	for (uint32_t i = 0; i < nr; i++) {
		put64(b, entries[i][0]);
		put64(b, entries[i][1]);
		put64(b, entries[i][2]);
	}
}

static int finish(struct build *b)
{
	put_tag(b, 0, "", 0);
	memcpy(b->bytes, &b->pos, sizeof(b->pos));
	return boot_info_from_multiboot(b->bytes);
}

static const uint64_t two[][3] = { { 0, 0x9fc00, 1 }, { 0x100000, 0x3f00000, 1 } };

static void test_everything_is_copied(void **state)
{
	struct build b;
	size_t nr, len;
	const struct memory_map_entry *map;

	(void)state;
	start(&b);
	put_tag(&b, 1, "ftrace=function exit", 21);
	put_tag(&b, 2, "GRUB 2.06", 10);
	put_map(&b, 2, two);
	put_tag(&b, 14, "RSD PTR 0123456789ab", 20);
	assert_int_equal(finish(&b), 0);
	memset(b.bytes, 0xee, sizeof(b.bytes));

	assert_string_equal(boot_info_cmdline(), "ftrace=function exit");
	map = boot_info_memory_map(&nr);
	assert_int_equal(nr, 2);
	assert_int_equal(map[1].range.start, 0x100000);
	assert_int_equal(map[1].range.end, 0x4000000);
	assert_int_equal(map[1].kind, MEMORY_USABLE);
	assert_memory_equal(boot_info_rsdp(&len), "RSD PTR 0123456789ab", 20);
	assert_int_equal(len, 20);
}

static void test_new_rsdp_wins_in_either_order(void **state)
{
	struct build b;
	size_t len;

	(void)state;
	for (int order = 0; order < 2; order++) {
		start(&b);
		put_map(&b, 2, two);
		put_tag(&b, order ? 15 : 14, "RSD PTR oooooooooooooooooooooooooooo",
			order ? 36 : 20);
		put_tag(&b, order ? 14 : 15, "RSD PTR oooooooooooooooooooooooooooo",
			order ? 20 : 36);
		assert_int_equal(finish(&b), 0);
		boot_info_rsdp(&len);
		assert_int_equal(len, 36);
	}
}

static void test_odd_entries(void **state)
{
	static const uint64_t odd[][3] = {
		{ 0, 0, 1 },		     /* empty: left out */
		{ UINT64_MAX - 10, 100, 1 }, /* wraps: left out */
		{ 0x100000, 0x100000, 77 },  /* of an unknown kind: reserved */
		{ 0x200000, 0x100000, 1 },
	};
	struct build b;
	size_t nr;

	(void)state;
	start(&b);
	put_map(&b, 4, odd);
	assert_int_equal(finish(&b), 0);
	assert_int_equal(boot_info_memory_map(&nr)[0].kind, MEMORY_RESERVED);
	assert_int_equal(nr, 2);
}

static void test_refused(void **state)
{
	struct build b;

	(void)state;
	start(&b); /* no memory map */
	put_tag(&b, 1, "x", 2);
	assert_int_equal(finish(&b), -EINVAL);

	start(&b); /* a tag that is longer than the rest */
	put_map(&b, 2, two);
	put32(&b, 1);
	put32(&b, 10000);
	assert_int_equal(finish(&b), -EINVAL);

	start(&b); /* a tag of no length: would never end */
	put_map(&b, 2, two);
	put32(&b, 1);
	put32(&b, 0);
	assert_int_equal(finish(&b), -EINVAL);

	start(&b); /* no end tag */
	put_map(&b, 2, two);
	memcpy(b.bytes, &b.pos, sizeof(b.pos));
	assert_int_equal(boot_info_from_multiboot(b.bytes), -EINVAL);
}

static void test_long_command_line_is_cut(void **state)
{
	static char text[BOOT_CMDLINE_MAX + 10];
	struct build b;

	(void)state;
	memset(text, 'x', sizeof(text));
	start(&b);
	put_map(&b, 2, two);
	put_tag(&b, 1, text, sizeof(text));
	assert_int_equal(finish(&b), 0);
	assert_int_equal(strlen(boot_info_cmdline()), BOOT_CMDLINE_MAX - 1);
}

/* Random damage in a buffer of exactly the stated size: the sanitizer sees every byte too far. */
static void test_damage_is_never_followed(void **state)
{
	struct build b;
	uint32_t refused = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < 20000; round++) {
		uint8_t *copy;

		start(&b);
		put_tag(&b, 1, "a=b", 4);
		put_map(&b, 2, two);
		put_tag(&b, 14, "RSD PTR 0123456789ab", 20);
		finish(&b);
		for (int n = rand() % 4; n >= 0; n--)
			b.bytes[8 + (uint32_t)rand() % (b.pos - 8)] = (uint8_t)rand();
		copy = malloc(b.pos);
		assert_non_null(copy);
		memcpy(copy, b.bytes, b.pos);
		refused += boot_info_from_multiboot(copy) != 0;
		free(copy);
	}
	assert_in_range(refused, 100, 19900);
}

/* ---- PVH ---- */

/* All that a loader leaves, at physical addresses from 0x1000 on; nothing else may be read. */
struct pvh_memory {
	uint32_t start[14];
	uint32_t map[300][6];
	char cmdline[16];
	uint8_t rsdp[64];
};

#define PVH_AT	     0x1000u
#define PVH_IN(part) (PVH_AT + (uint32_t)offsetof(struct pvh_memory, part))

static struct pvh_memory pvh;

static const void *pvh_at(uint64_t phys)
{
	assert_in_range(phys, PVH_AT, PVH_AT + sizeof(pvh) - 1);
	return (const uint8_t *)&pvh + (phys - PVH_AT);
}

/* Two ranges, a command line, an old RSDP. */
static void start_pvh(void)
{
	const uint32_t ranges[2][6] = { { 0, 0, 0x9fc00, 0, 1, 0 }, { 0, 1, 0x1000, 0, 77, 0 } };

	memset(&pvh, 0, sizeof(pvh));
	pvh.start[0] = 0x336ec578;
	pvh.start[1] = 1;
	pvh.start[6] = PVH_IN(cmdline);
	pvh.start[8] = PVH_IN(rsdp);
	pvh.start[10] = PVH_IN(map);
	pvh.start[12] = 2;
	memcpy(pvh.map, ranges, sizeof(ranges));
	strcpy(pvh.cmdline, "ftrace=function");
	memcpy(pvh.rsdp, "RSD PTR 0123456", 15);
}

static void test_pvh_is_copied(void **state)
{
	const struct memory_map_entry *map;
	size_t nr, len;

	(void)state;
	start_pvh();
	assert_int_equal(boot_info_from_pvh(PVH_AT, pvh_at), 0);
	memset(&pvh, 0xee, sizeof(pvh));
	assert_string_equal(boot_info_cmdline(), "ftrace=function");
	map = boot_info_memory_map(&nr);
	assert_int_equal(nr, 2);
	assert_int_equal(map[0].range.end, 0x9fc00);
	assert_int_equal(map[0].kind, MEMORY_USABLE);
	assert_int_equal(map[1].range.start, 0x100000000);
	assert_int_equal(map[1].kind, MEMORY_RESERVED);
	assert_memory_equal(boot_info_rsdp(&len), "RSD PTR 0123456", 15);
	assert_int_equal(len, 20);
}

static void test_pvh_without_what_may_be_missing(void **state)
{
	size_t len;

	(void)state;
	start_pvh();
	pvh.start[6] = pvh.start[8] = 0;
	assert_int_equal(boot_info_from_pvh(PVH_AT, pvh_at), 0);
	assert_string_equal(boot_info_cmdline(), "");
	assert_null(boot_info_rsdp(&len));
}

static void test_pvh_new_rsdp_says_its_length(void **state)
{
	size_t len;

	(void)state;
	for (uint32_t says = 36; says <= 36000; says *= 1000) {
		start_pvh();
		pvh.rsdp[15] = 2;
		memcpy(pvh.rsdp + 20, &says, sizeof(says));
		assert_int_equal(boot_info_from_pvh(PVH_AT, pvh_at), 0);
		boot_info_rsdp(&len);
		assert_int_equal(len, says == 36 ? 36 : 64);
	}
}

static void test_pvh_refused(void **state)
{
	static const uint32_t needed[] = { 0, 1, 10, 12 }; /* magic, version, where, how many */
	size_t nr;

	(void)state;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		start_pvh();
		pvh.start[needed[i]] = 0;
		assert_int_equal(boot_info_from_pvh(PVH_AT, pvh_at), -EINVAL);
	}
	start_pvh();
	for (size_t i = 0; i < 300; i++)
		pvh.map[i][2] = pvh.map[i][4] = 1;
	pvh.start[12] = UINT32_MAX; /* what does not fit is not looked at */
	assert_int_equal(boot_info_from_pvh(PVH_AT, pvh_at), 0);
	boot_info_memory_map(&nr);
	assert_int_equal(nr, 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_is_copied),
		cmocka_unit_test(test_new_rsdp_wins_in_either_order),
		cmocka_unit_test(test_odd_entries),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_long_command_line_is_cut),
		cmocka_unit_test(test_damage_is_never_followed),
		cmocka_unit_test(test_pvh_is_copied),
		cmocka_unit_test(test_pvh_without_what_may_be_missing),
		cmocka_unit_test(test_pvh_new_rsdp_says_its_length),
		cmocka_unit_test(test_pvh_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
