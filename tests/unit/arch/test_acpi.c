/*
 * ACPI tables, good and bad. Each look at physical memory gets a heap block of just the size asked
 * for, and the one before is freed: reading too far, or too late, is caught.
 * links: arch/x86_64/acpi_parse.c arch/x86_64/acpi_madt.c
 */
#include "unit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../../../arch/x86_64/acpi_parse.h"
#include <kernel/base.h>

#define MEMORY 0x4000u
#define RSDT   0x0100u
#define XSDT   0x0200u
#define MADT   0x0400u
#define FADT   0x0800u
#define DSDT   0x1000u
#define HPET   0x2000u
#define SSDT   0x2400u

#define FUZZ_ROUNDS 30000

static uint8_t memory[MEMORY];
static uint8_t rsdp[36];
static void *mapped;
static char complaints[4096];
static struct acpi_info info;

void printk(enum log_level level, const char *fmt, ...)
{
	size_t used = strlen(complaints);
	va_list args;

	assert_true(level <= LOG_WARN);
	va_start(args, fmt);
	vsnprintf(complaints + used, sizeof(complaints) - used, fmt, args);
	va_end(args);
}

static const void *map(uint64_t phys, uint32_t bytes)
{
	free(mapped);
	mapped = NULL;
	if (phys >= MEMORY || bytes > MEMORY - phys)
		return NULL;
	mapped = malloc(bytes);
	memcpy(mapped, memory + phys, bytes);
	return mapped;
}

static void put32(uint32_t at, uint32_t value)
{
	memcpy(memory + at, &value, 4);
}

static void put64(uint32_t at, uint64_t value)
{
	memcpy(memory + at, &value, 8);
}

static void sum(uint8_t *bytes, size_t len, size_t at)
{
	uint8_t total = 0;

	bytes[at] = 0;
	for (size_t i = 0; i < len; i++)
		total = (uint8_t)(total + bytes[i]);
	bytes[at] = (uint8_t)-total;
}

static void finish(uint32_t at, const char *signature, uint32_t len)
{
	memcpy(memory + at, signature, 4);
	put32(at + 4, len);
	sum(memory + at, len, 9);
}

static void make_rsdp(uint8_t revision)
{
	uint32_t rsdt = RSDT;
	uint64_t xsdt = XSDT;

	memcpy(rsdp, "RSD PTR ", 8);
	rsdp[15] = revision;
	memcpy(rsdp + 16, &rsdt, 4);
	memcpy(rsdp + 24, &xsdt, 8);
	sum(rsdp, 20, 8);
	sum(rsdp, 36, 32);
}

/* CPUs 0, 1 as local APICs, 1 again and 300 as x2APIC, one disabled; one IO APIC, wiring. */
static void make_madt(void)
{
	static const uint8_t entries[] = {
		0,  8,	0,   0, 1,  0,	  0,	0,				/* CPU 0 */
		0,  8,	1,   1, 1,  0,	  0,	0,				/* CPU 1 */
		0,  8,	2,   2, 0,  0,	  0,	0,				/* disabled */
		9,  16, 0,   0, 1,  0,	  0,	0,    1,   0, 0, 0, 1, 0, 0, 0, /* 1 again */
		9,  16, 0,   0, 44, 1,	  0,	0,    1,   0, 0, 0, 3, 0, 0, 0, /* 300 */
		1,  12, 7,   0, 0,  0,	  0xc0, 0xfe, 0,   0, 0, 0,		/* IO APIC 7 */
		2,  10, 0,   0, 2,  0,	  0,	0,    0,   0,			/* 0 -> 2 */
		2,  10, 0,   9, 9,  0,	  0,	0,    0xf, 0,			/* 9: low, level */
		4,  6,	255, 0, 0,  1,						/* NMI at LINT1 */
		77, 5,	1,   2, 3,						/* unknown */
		5,  12, 0,   0, 0,  0x10, 0xe0, 0xfe, 0,   0, 0, 0,		/* address */
	};

	memset(memory + MADT, 0, 44);
	put32(MADT + 36, 0xfee00000);
	put32(MADT + 40, 1);
	memcpy(memory + MADT + 44, entries, sizeof(entries));
	finish(MADT, "APIC", 44 + sizeof(entries));
}

static void make_fadt(uint32_t len)
{
	memset(memory + FADT, 0, 0x200);
	put32(FADT + 40, DSDT);
	put32(FADT + 48, 0xb2);
	memory[FADT + 52] = 0x0d;
	put32(FADT + 64, 0x604);
	put32(FADT + 76, 0x608);
	put32(FADT + 112, 1 << 8 | 1 << 10);
	memory[FADT + 116] = ACPI_SPACE_IO;
	put64(FADT + 116 + 4, 0xcf9);
	memory[FADT + 128] = 0x0f;
	finish(FADT, "FACP", len);
}

static void make_dsdt(uint32_t at, const char *signature, const char *aml, size_t len)
{
	memset(memory + at, 0, 36);
	memcpy(memory + at + 36, aml, len);
	finish(at, signature, (uint32_t)(36 + len));
}

#define GOOD_S5 "junk\x08_S5_\x12\x06\x04\x0a\x05\x0a\x07\x00\x00tail"

static void make_all(uint8_t revision)
{
	static const uint32_t list[] = { FADT, MADT, HPET };

	memset(memory, 0, sizeof(memory));
	complaints[0] = '\0';
	make_rsdp(revision);
	for (uint32_t i = 0; i < ARRAY_SIZE(list); i++) {
		put32(RSDT + 36 + 4 * i, list[i]);
		put64(XSDT + 36 + 8 * i, list[i]);
	}
	finish(RSDT, "RSDT", 36 + 4 * 3);
	finish(XSDT, "XSDT", 36 + 8 * 3);
	make_madt();
	make_fadt(244);
	make_dsdt(DSDT, "DSDT", GOOD_S5, sizeof(GOOD_S5) - 1);
	put64(HPET + 44, 0xfed00000);
	finish(HPET, "HPET", 56);
}

static int parse(void)
{
	int err = acpi_parse(&info, rsdp, rsdp[15] >= 2 ? 36 : 20, map);

	free(mapped);
	mapped = NULL;
	return err;
}

static void check_everything(void)
{
	assert_int_equal(parse(), 0);
	assert_string_equal(complaints, "");
	assert_true(info.has_madt && info.has_fadt && info.has_s5 && info.has_8259);
	assert_int_equal(info.nr_cpus, 3);
	assert_int_equal(info.apic_ids[0], 0);
	assert_int_equal(info.apic_ids[1], 1);
	assert_int_equal(info.apic_ids[2], 300);
	assert_int_equal(info.lapic_phys, 0xfee01000);
	assert_true(info.has_lapic_nmi);
	assert_int_equal(info.lapic_nmi_lint, 1);
	assert_int_equal(info.nr_ioapics, 1);
	assert_int_equal(info.ioapics[0].id, 7);
	assert_int_equal(info.ioapics[0].phys, 0xfec00000);
	assert_int_equal(info.nr_overrides, 2);
	assert_int_equal(info.overrides[0].gsi, 2);
	assert_false(info.overrides[0].active_low || info.overrides[0].level);
	assert_int_equal(info.overrides[1].isa_irq, 9);
	assert_true(info.overrides[1].active_low && info.overrides[1].level);
	assert_int_equal(info.pm1a_cnt.addr, 0x604);
	assert_int_equal(info.pm1a_cnt.space, ACPI_SPACE_IO);
	assert_int_equal(info.pm1b_cnt.addr, 0);
	assert_int_equal(info.pm_timer.addr, 0x608);
	assert_true(info.pm_timer_32bit);
	assert_int_equal(info.smi_cmd, 0xb2);
	assert_int_equal(info.acpi_enable, 0x0d);
	assert_int_equal(info.s5_typ_a, 5);
	assert_int_equal(info.s5_typ_b, 7);
	assert_int_equal(info.reset.addr, 0xcf9);
	assert_int_equal(info.reset_value, 0x0f);
	assert_int_equal(info.hpet_phys, 0xfed00000);
}

static void test_old_and_new_root(void **state)
{
	(void)state;
	make_all(0);
	check_everything();
	make_all(2);
	check_everything();
	make_all(2);
	memory[XSDT + 20] ^= 1; /* a damaged XSDT: the RSDT is used */
	assert_int_equal(parse(), 0);
	assert_non_null(strstr(complaints, "damaged"));
	assert_int_equal(info.nr_cpus, 3);
}

static void test_no_root(void **state)
{
	(void)state;
	make_all(0);
	rsdp[3] ^= 1;
	assert_int_equal(parse(), -ENODEV);
	make_all(0);
	rsdp[17] ^= 1; /* the checksum is wrong now */
	assert_int_equal(parse(), -ENODEV);
	assert_int_equal(acpi_parse(&info, NULL, 0, map), -ENODEV);
	assert_int_equal(acpi_parse(&info, rsdp, 19, map), -ENODEV);
	make_all(0);
	memory[RSDT] = 'X';
	finish(RSDT, "RSDX", 48);
	assert_int_equal(parse(), -ENODEV);
	assert_int_equal(info.nr_cpus, 0);
}

/* A table that is damaged is named and left out; the others still count. */
static void test_damaged_table(void **state)
{
	(void)state;
	make_all(2);
	memory[MADT + 50] ^= 1;
	assert_int_equal(parse(), 0);
	assert_non_null(strstr(complaints, "table at 0x400 is damaged"));
	assert_false(info.has_madt);
	assert_true(info.has_fadt && info.has_s5);
	make_all(2);
	put32(MADT + 4, 35);
	assert_int_equal(parse(), 0);
	assert_non_null(strstr(complaints, "table at 0x400 has length 35"));
	make_all(2);
	put32(MADT + 4, 0x80000000);
	assert_int_equal(parse(), 0);
	assert_non_null(strstr(complaints, "has length 2147483648"));
	assert_false(info.has_madt);
}

static void test_bad_madt_entry(void **state)
{
	(void)state;
	make_all(0);
	memory[MADT + 44 + 9] = 0; /* length of the second entry */
	finish(MADT, "APIC", 44 + 60);
	assert_int_equal(parse(), 0);
	assert_int_equal(info.nr_cpus, 1);
	assert_non_null(strstr(complaints, "MADT entry at 52 has length 0"));
	make_all(0);
	finish(MADT, "APIC", 44 + 12); /* ends inside the second entry */
	assert_int_equal(parse(), 0);
	assert_int_equal(info.nr_cpus, 1);
	make_all(0);
	memory[MADT + 44 + 1] = 4; /* too short for a CPU, but the walk goes on behind it */
	memory[MADT + 44 + 5] = 4;
	finish(MADT, "APIC", 44 + 16);
	assert_int_equal(parse(), 0);
	assert_int_equal(info.nr_cpus, 1);
	assert_int_equal(info.apic_ids[0], 1);
	assert_non_null(strstr(complaints, "too short for its type"));
}

static void test_more_cpus_than_room(void **state)
{
	uint32_t pos = 44;

	(void)state;
	make_all(0);
	memset(memory + HPET, 0, 64); /* this MADT covers more; no tables behind it */
	for (uint32_t cpu = 0; cpu < 300; cpu++, pos += 16) {
		memset(memory + 0x2800 + pos, 0, 16);
		memory[0x2800 + pos] = 9;
		memory[0x2800 + pos + 1] = 16;
		put32(0x2800 + pos + 4, cpu);
		put32(0x2800 + pos + 8, 1);
	}
	put32(RSDT + 40, 0x2800);
	finish(RSDT, "RSDT", 44);
	finish(0x2800, "APIC", pos);
	assert_int_equal(parse(), 0);
	assert_int_equal(info.nr_cpus, ACPI_MAX_CPUS);
	assert_non_null(strstr(complaints, "APIC id 299 left out"));
}

static void test_fadt_versions(void **state)
{
	(void)state;
	make_all(0);
	make_fadt(116); /* ACPI 1.0: no reset register, no X_ fields */
	assert_int_equal(parse(), 0);
	assert_true(info.has_fadt && info.has_s5);
	assert_int_equal(info.reset.addr, 0);
	assert_int_equal(info.pm1a_cnt.addr, 0x604);
	make_all(0);
	make_fadt(115);
	assert_int_equal(parse(), 0);
	assert_false(info.has_fadt);
	make_all(0);
	memory[FADT + 172] = ACPI_SPACE_MEMORY; /* X_PM1a_CNT wins */
	put64(FADT + 176, 0x123456789a);
	finish(FADT, "FACP", 244);
	assert_int_equal(parse(), 0);
	assert_int_equal(info.pm1a_cnt.addr, 0x123456789a);
	assert_int_equal(info.pm1a_cnt.space, ACPI_SPACE_MEMORY);
}

#define S5(text, a, b)                                                                             \
	{                                                                                          \
		text, sizeof(text) - 1, true, a, b                                                 \
	}
#define NO_S5(text)                                                                                \
	{                                                                                          \
		text, sizeof(text) - 1, false, 0, 0                                                \
	}

static void test_s5_forms(void **state)
{
	static const struct {
		const char *aml;
		size_t len;
		bool is_found;
		uint16_t a, b;
	} cases[] = {
		S5("\x08_S5_\x12\x06\x04\x0a\x05\x0a\x07", 5, 7),
		S5("\x08_S5_\x12\x06\x04\x00\x00\x00\x00", 0, 0),
		S5("\x08_S5_\x12\x06\x04\x01\x01", 1, 1),
		S5("\x08\\_S5_\x12\x06\x02\x01\x00", 1, 0),
		S5("\x08_S5_\x12\x47\x01\x04\x0b\x05\x01\x0a\x07", 0x105, 7),
		S5("\x08_S5_\x12\x0c\x04\x0c\x05\x00\x00\x00\x0a\x06", 5, 6),
		S5("_S5_\x12\x06\x08_S5_\x12\x06\x04\x0a\x03\x0a\x04", 3, 4),
		NO_S5("_S5_\x12\x06\x04\x0a\x05\x0a\x07"),
		NO_S5("\x08_S5_\x12\x06\x01\x0a\x05\x0a\x07"),
		NO_S5("\x08_S5_\x13\x06\x04\x0a\x05\x0a\x07"),
		NO_S5("\x08_S5_\x12\x06\x04\x70\x05\x0a\x07"),
		NO_S5("\x08_S5_\x12\x06\x04\x0a\x05\x0a"),
		NO_S5("\x08_S5_\x12\xc6"),
		NO_S5("\x08_S5_"),
		NO_S5(""),
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t *aml = malloc(cases[i].len + 1);
		uint16_t a = 0, b = 0;
		bool is_found;

		/* The last byte of the block is the last of the code. */
		memcpy(aml + 1, cases[i].aml, cases[i].len);
		is_found = acpi_parse_s5(aml + 1, (uint32_t)cases[i].len, &a, &b);
		assert_int_equal(is_found, cases[i].is_found);
		if (is_found) {
			assert_int_equal(a, cases[i].a);
			assert_int_equal(b, cases[i].b);
		}
		free(aml);
	}
}

static void test_s5_in_ssdt(void **state)
{
	(void)state;
	make_all(0);
	make_dsdt(DSDT, "DSDT", "nothing here", 12);
	make_dsdt(SSDT, "SSDT", GOOD_S5, sizeof(GOOD_S5) - 1);
	put32(RSDT + 36 + 12, SSDT);
	finish(RSDT, "RSDT", 36 + 16);
	assert_int_equal(parse(), 0);
	assert_true(info.has_s5);
	assert_int_equal(info.s5_typ_a, 5);
}

/* Change bytes at random, mend the checksums, so that the damage gets in. */
static void test_random_damage(void **state)
{
	static const uint32_t tables[] = { RSDT, XSDT, MADT, FADT, DSDT, HPET };

	(void)state;
	srand(1);
	for (int round = 0; round < FUZZ_ROUNDS; round++) {
		make_all(round & 1 ? 2 : 0);
		for (int n = rand() % 6; n >= 0; n--) {
			uint32_t at = tables[rand() % 6], offset = (uint32_t)rand() % 0x100, len;

			memory[at + offset] = (uint8_t)rand();
			len = acpi_read32(memory + at + 4);
			if (len >= 10 && len < 0x400)
				sum(memory + at, len, 9);
		}
		parse();
		assert_true(info.nr_cpus <= ACPI_MAX_CPUS);
		assert_true(info.nr_ioapics <= ACPI_MAX_IOAPICS);
		assert_true(info.nr_overrides <= ACPI_MAX_OVERRIDES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_old_and_new_root),
		cmocka_unit_test(test_no_root),
		cmocka_unit_test(test_damaged_table),
		cmocka_unit_test(test_bad_madt_entry),
		cmocka_unit_test(test_more_cpus_than_room),
		cmocka_unit_test(test_fadt_versions),
		cmocka_unit_test(test_s5_forms),
		cmocka_unit_test(test_s5_in_ssdt),
		cmocka_unit_test(test_random_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
