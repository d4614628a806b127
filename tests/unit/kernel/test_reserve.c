/* The parameter reserve_mem. links: kernel/mm/reserve.c kernel/params.c kernel/number.c */
#include <unit.h>
#include <stdio.h>
#include <string.h>
#include <arch/memory.h>
#include <arch/paging.h>
#include <kernel/mm.h>
#include <kernel/params.h>
#include <trace/trace.h>
#include "../../../kernel/mm/reserve.h"

#define ROOM (64ull << 20) /* bytes that can be set aside in all */

static char log_text[4096];
static uint64_t taken, last_align;

size_t strlcpy(char *to, const char *from, size_t size);

size_t strlcpy(char *to, const char *from, size_t size)
{
	return (size_t)snprintf(to, size, "%s", from);
}

void printk(enum log_level level, const char *fmt, ...)
{
	size_t used = strlen(log_text);
	va_list args;

	(void)level;
	va_start(args, fmt);
	vsnprintf(log_text + used, sizeof(log_text) - used, fmt, args);
	va_end(args);
}

bool trace_boot_param(const char *name, const char *value)
{
	(void)name;
	(void)value;
	return false;
}

int memory_reserve(uint64_t bytes, uint64_t align, struct memory_range *out)
{
	if (bytes > ROOM - taken)
		return -ENOMEM;
	*out = (struct memory_range){ MEMORY_RESERVE_FROM + taken,
				      MEMORY_RESERVE_FROM + taken + bytes };
	taken += bytes;
	last_align = align;
	return 0;
}

static void test_taken(void **state)
{
	size_t bytes;

	(void)state;
	params_init("reserve_mem=12M:4096:trace reserve_mem=5000:64k:log reserve_mem=0x1000:0:hex");
	reserve_init();
	assert_ptr_equal(mm_reserved("trace", &bytes), arch_phys_to_virt(MEMORY_RESERVE_FROM));
	assert_int_equal(bytes, 12 << 20);
	assert_non_null(mm_reserved("log", &bytes));
	assert_int_equal(bytes, 8192);
	assert_non_null(mm_reserved("hex", &bytes));
	assert_int_equal(bytes, 4096);
	assert_int_equal(last_align, 4096);
	assert_null(mm_reserved("none", &bytes));
	assert_int_equal(bytes, 0);
	assert_null(strstr(log_text, "ignored"));
}

static void refused(const char *value, const char *why)
{
	char line[100], said[200];
	uint64_t before = taken;

	snprintf(line, sizeof(line), "reserve_mem=%s", value);
	snprintf(said, sizeof(said), "Boot parameter %s: %s, ignored\n", line, why);
	log_text[0] = '\0';
	params_init(line);
	reserve_init();
	assert_string_equal(log_text, said);
	assert_int_equal(taken, before);
}

static void test_refused(void **state)
{
	size_t bytes;

	(void)state;
	refused("", "not SIZE:ALIGN:NAME");
	refused("12M", "not SIZE:ALIGN:NAME");
	refused("12M:4096", "not SIZE:ALIGN:NAME");
	refused("M:4096:a", "not SIZE:ALIGN:NAME");
	refused("0:4096:a", "not SIZE:ALIGN:NAME");
	refused("12Mi:4096:a", "not SIZE:ALIGN:NAME");
	refused("4G:4096:a", "no such piece of memory is free");
	refused("99999999999G:4096:a", "not SIZE:ALIGN:NAME");
	refused("4096:12288:a", "ALIGN is no power of two");
	refused("4096:4096:", "NAME has to have 1 to 15 characters");
	refused("4096:4096:1234567890123456", "NAME has to have 1 to 15 characters");
	refused("4096:4096:trace", "there is that name already");
	for (int i = 0; i < 5; i++) {
		char line[] = "reserve_mem=4096:4096:x";

		line[sizeof(line) - 2] = (char)('0' + i);
		params_init(line);
		reserve_init();
	}
	refused("4096:4096:more", "too many");
	assert_null(mm_reserved("more", &bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("kernel/reserve", tests, NULL, NULL);
}
