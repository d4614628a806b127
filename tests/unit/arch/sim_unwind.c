/*
 * Walks over the frames of a stack, up to its last word and not beyond.
 *
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>

#include "../../../arch/x86_64/unwind_probe.c" /* where nothing but frames is */

#define NR    16u
#define FIRST 0x401000u
#define LAST  0x402000u

/* One stack, and a word behind it that is none of its. */
static uintptr_t words[NR + 1];
static uint32_t ips[8];

const char ftrace_caller[1], ftrace_caller_end[1];
const char ftrace_regs_caller[1], ftrace_regs_caller_end[1];

const char *cpu_trap_stack_of(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	(void)addr;
	(void)out_lo;
	(void)out_hi;
	return NULL;
}

const struct trace_thread *cpu_trap_stack_thread(uintptr_t addr)
{
	(void)addr;
	return NULL;
}

bool upcall_stack_range(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	assert_int_not_equal(addr, 0); /* the end of a chain is on no stack */
	*out_lo = (uintptr_t)words;
	*out_hi = (uintptr_t)(words + NR);
	return addr >= *out_lo && addr < *out_hi;
}

uintptr_t upcall_return_address(const struct trace_thread *thread, uintptr_t ret,
				const uintptr_t *at)
{
	(void)thread;
	(void)at;
	return ret;
}

bool trace_probe_is_detour(uintptr_t addr)
{
	(void)addr;
	return false;
}

uintptr_t unwind_odd(uintptr_t rbp, uintptr_t *out, size_t max, size_t *out_nr)
{
	(void)rbp;
	(void)out;
	(void)max;
	*out_nr = 0;
	return 0;
}

/* A frame at word 0, the next one at word `at`. Returns how many addresses are found. */
static size_t walk(size_t at, size_t max)
{
	memset(words, 0, sizeof(words));
	words[0] = (uintptr_t)&words[at];
	words[1] = FIRST;
	if (at < NR)
		words[at + 1] = LAST;
	return trace_plat_backtrace((uintptr_t)words, false, ips, max);
}

static void test_frame_at_the_end(void **state)
{
	(void)state;
	assert_int_equal(walk(NR - 2, 8), 2);
	assert_int_equal(ips[0], FIRST);
	assert_int_equal(ips[1], LAST);
}

/* A frame has two words: the second would be behind the stack. */
static void test_frame_that_does_not_fit(void **state)
{
	(void)state;
	assert_int_equal(walk(NR - 1, 8), 1);
	assert_int_equal(ips[0], FIRST);
	assert_int_equal(walk(NR, 8), 1);
	assert_int_equal(trace_plat_backtrace((uintptr_t)&words[NR - 1], false, ips, 8), 0);
	assert_int_equal(trace_plat_backtrace((uintptr_t)&words[NR], false, ips, 8), 0);
}

static void test_room_for_one(void **state)
{
	(void)state;
	ips[1] = 7;
	assert_int_equal(walk(4, 1), 1);
	assert_int_equal(ips[1], 7);
}

/* Frames ascend: a chain that turns back, or on the spot, has come to its end. */
static void test_chain_that_turns_back(void **state)
{
	(void)state;
	walk(4, 8);
	words[4] = (uintptr_t)words;
	assert_int_equal(trace_plat_backtrace((uintptr_t)words, false, ips, 8), 2);
	words[4] = (uintptr_t)&words[4];
	assert_int_equal(trace_plat_backtrace((uintptr_t)words, false, ips, 8), 2);
	words[4] = (uintptr_t)&words[6] + 4; /* no place for a word */
	assert_int_equal(trace_plat_backtrace((uintptr_t)words, false, ips, 8), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_at_the_end),
		cmocka_unit_test(test_frame_that_does_not_fit),
		cmocka_unit_test(test_room_for_one),
		cmocka_unit_test(test_chain_that_turns_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
