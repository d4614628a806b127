/*
 * Traps in words, and which of them are the end of a stack.
 *
 * links: arch/x86_64/trap_report.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <stdio.h>
#include <string.h>
#include <arch/cpu.h>
#include <arch/percpu.h>
#include <arch/trap.h>
#include <kernel/base.h>
#include <kernel/upcall.h>
#include "sim.h"
#include "trap_priv.h"

/* A thread's stack and a trap stack; the page below each is its guard. */
#define THREAD_LO 0x10000ul
#define THREAD_HI 0x14000ul
#define TRAP_LO	  0x21000ul
#define TRAP_HI	  0x24000ul

static char printed[1024];

void printk(enum log_level level, const char *fmt, ...)
{
	size_t len = strlen(printed);
	va_list args;

	assert_int_equal(level, LOG_ERR);
	va_start(args, fmt);
	vsnprintf(printed + len, sizeof(printed) - len, fmt, args);
	va_end(args);
}

bool upcall_stack_range(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	*out_lo = THREAD_LO;
	*out_hi = THREAD_HI;
	return addr >= THREAD_LO && addr < THREAD_HI;
}

const char *cpu_trap_stack_of(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	*out_lo = TRAP_LO;
	*out_hi = TRAP_HI;
	return addr >= TRAP_LO - PAGE_SIZE && addr < TRAP_HI ? "NMI" : NULL;
}

void upcall_fault(struct trap_frame *regs, const char *what)
{
	assert_non_null(regs);
	panic("%s", what);
}

static bool overflows(uint64_t vector, uintptr_t addr)
{
	struct trap_frame regs = { .vector = vector };

	write_cr2(addr);
	return trap_is_stack_overflow(&regs);
}

static void overflow(void)
{
	static const uintptr_t guards[] = { THREAD_LO - 1, THREAD_LO - PAGE_SIZE, TRAP_LO - 1,
					    TRAP_LO - PAGE_SIZE };
	static const uintptr_t others[] = { THREAD_LO,
					    THREAD_LO - PAGE_SIZE - 1,
					    THREAD_LO + PAGE_SIZE - 1,
					    THREAD_HI - PAGE_SIZE,
					    THREAD_HI,
					    TRAP_LO,
					    TRAP_HI - 1,
					    TRAP_HI,
					    TRAP_LO - PAGE_SIZE - 1 };

	for (size_t i = 0; i < ARRAY_SIZE(guards); i++) {
		assert_true(overflows(TRAP_PAGE_FAULT, guards[i]));
		assert_true(overflows(TRAP_DOUBLE_FAULT, guards[i]));
		assert_false(overflows(TRAP_PROTECTION, guards[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(overflows(TRAP_PAGE_FAULT, others[i]));
}

static void test_overflow(void **state)
{
	(void)state;
	sim_alone(overflow);
}

static void expect(uint64_t vector, uint64_t error, uintptr_t addr, const char *expected)
{
	struct trap_frame regs = { .vector = vector, .error = error };

	write_cr2(addr);
	printed[0] = '\0';
	arch_describe_fault(&regs);
	assert_string_equal(printed, expected);
}

static void describe(void)
{
	expect(14, 0, 0x1234, "page fault: read from 0x0000000000001234, which is not mapped\n");
	expect(14, 1, 0x1234, "page fault: read from 0x0000000000001234, which is protected\n");
	expect(14, 2, 0x1234, "page fault: write to 0x0000000000001234, which is not mapped\n");
	expect(14, 3, 0x1234, "page fault: write to 0x0000000000001234, which is protected\n");
	expect(14, 17, 0x1234, "page fault: execution of 0x0000000000001234, which is protected\n");
	expect(14, 2, THREAD_LO - 8,
	       "stack overflow: the guard page at 0x000000000000f000 was hit\n"
	       "page fault: write to 0x000000000000fff8, which is not mapped\n");
	expect(8, 0, TRAP_LO - 8,
	       "stack overflow: the guard page at 0x0000000000020000 was hit\n"
	       "double fault (vector 8), error code 0x0\n");
	expect(13, 0x18, 0, "general protection fault (vector 13), error code 0x18\n");
}

static void test_descriptions(void **state)
{
	(void)state;
	sim_alone(describe);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(trap_name(0), "divide error");
	assert_string_equal(trap_name(3), "breakpoint");
	assert_string_equal(trap_name(14), "page fault");
	assert_string_equal(trap_name(21), "control protection fault");
	assert_string_equal(trap_name(9), "unknown trap");
	assert_string_equal(trap_name(22), "unknown trap");
	assert_string_equal(trap_name(UINT64_MAX), "unknown trap");
}

static struct trap_frame fatal_frame;

static void die(void)
{
	write_cr2(THREAD_LO - 8);
	trap_fatal(&fatal_frame);
}

static void test_end(void **state)
{
	(void)state;
	printed[0] = '\0';
	fatal_frame.vector = TRAP_PAGE_FAULT;
	assert_string_equal(sim_panics(die), "stack overflow");
	assert_non_null(strstr(printed, "guard page"));
	fatal_frame.vector = TRAP_PROTECTION;
	assert_string_equal(sim_panics(die), "general protection fault");
}

/* Every register, once. */
static void test_registers(void **state)
{
	struct trap_frame regs;
	uint64_t *words = (uint64_t *)&regs;
	char value[32];

	(void)state;
	for (size_t i = 0; i < sizeof(regs) / sizeof(*words); i++)
		words[i] = 0x7700000000000000 + i * 0x111;
	regs.cs = 8;
	regs.rflags = 0x246;
	printed[0] = '\0';
	arch_dump_registers(&regs);
	for (size_t i = 0; i < 15; i++) {
		snprintf(value, sizeof(value), " %016lx", words[i]);
		assert_non_null(strstr(printed, value));
	}
	assert_non_null(strstr(printed, "RFLAGS 0x00000246"));
	assert_non_null(strstr(printed, "RIP 0008:"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow),  cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_names),	  cmocka_unit_test(test_end),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
