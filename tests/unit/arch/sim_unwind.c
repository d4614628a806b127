/*
 * Walks over the frames of a stack, up to its last word and not beyond.
 *
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>

#include "../../../arch/x86_64/unwind_probe.c" /* where nothing but frames is */

/* Compiled code: FIRST, LAST and SITE lie in it. */
__asm__(".globl text_start, assembly_start\n.set text_start, 0x400000\n.set assembly_start, "
	"0x410000\n.globl minus_text_start, plain_bytes\n.set minus_text_start, -0x400000\n.set "
	"plain_bytes, 0x10000\n");

#define NR     16u
#define FIRST  0x401000u
#define LAST   0x402000u
#define SITE   0x403000u
#define STUB   0x410000u	      /* from assembly */
#define CODE   (SIM_EXEC_BASE + 0x40) /* of a trampoline */
#define DETOUR (SIM_EXEC_BASE + 0x80)

/* One stack, and a word behind it that is none of its. */
static uintptr_t words[NR + 1];
static uint32_t ips[8];
static uint32_t nr_looked_for; /* stacks */

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
	nr_looked_for++;
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
	return addr == DETOUR;
}

/* Addresses behind call sites; and the depth of each function. */
static uintptr_t behind_site;
static int depth_now;

bool unwind_is_behind_site(uintptr_t ret)
{
	return ret == behind_site;
}

int unwind_return_depth(uintptr_t rip)
{
	(void)rip;
	return depth_now;
}

/* Of the frame at word 8: an instruction that was interrupted, and the frame it goes on with. */
static uintptr_t odd[3], odd_next;
static size_t nr_odd;

uintptr_t unwind_odd(uintptr_t rbp, uintptr_t *out, size_t max, size_t *out_nr)
{
	(void)rbp;
	assert_true(nr_odd <= max);
	memcpy(out, odd, nr_odd * sizeof(*odd));
	*out_nr = nr_odd;
	return odd_next;
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

/* A frame at a word, with the next one at another and its return address. */
static void frame_at(size_t at, size_t next, uintptr_t ret)
{
	words[at] = next ? (uintptr_t)&words[next] : 0;
	words[at + 1] = ret;
}

static size_t backtrace(size_t from, bool is_callback)
{
	memset(ips, 0, sizeof(ips));
	return trace_plat_backtrace((uintptr_t)&words[from], is_callback, ips, 8);
}

static void check_ips(size_t nr, uint32_t first, uint32_t second, uint32_t third)
{
	assert_int_equal(nr, !!first + !!second + !!third);
	assert_int_equal(ips[0], first);
	assert_int_equal(ips[1], second);
	assert_int_equal(ips[2], third);
}

/* Of a callback: the traced function and its callers, nothing between it and the trampoline. */
static void test_callback_of_a_trampoline(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	frame_at(0, 2, FIRST);
	frame_at(2, 4, FIRST);
	frame_at(4, 6, CODE);
	frame_at(6, 10, SITE); /* pushed by the trampoline: the site, and who has called */
	words[8] = FIRST;
	frame_at(10, 0, LAST);
	check_ips(backtrace(0, true), SITE, FIRST, LAST);
	check_ips(backtrace(4, true), SITE, FIRST, LAST);
	words[6] = 0;
	check_ips(backtrace(0, true), SITE, FIRST, 0);
	/* Without a trampoline there is no such function. */
	words[5] = FIRST;
	words[4] = (uintptr_t)words;
	assert_int_equal(backtrace(0, true), 0);
	words[4] = 0;
	assert_int_equal(backtrace(0, true), 0);
}

/* In the middle of a walk: the trampoline, the function, its caller, and on. */
static void test_trampoline_on_the_way(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	frame_at(0, 2, FIRST);
	frame_at(2, 4, CODE);
	frame_at(4, 8, SITE);
	words[6] = FIRST;
	frame_at(8, 0, LAST);
	assert_int_equal(backtrace(0, false), 5);
	assert_int_equal(ips[0], FIRST);
	assert_true(trace_plat_ip_unpack(ips[1]) == CODE);
	assert_true(ips[2] == SITE && ips[3] == FIRST && ips[4] == LAST);
	words[4] = (uintptr_t)words; /* a chain that turns back behind it */
	assert_int_equal(backtrace(0, false), 4);
	words[2] = (uintptr_t)&words[NR - 1]; /* one that has no room for the two addresses */
	assert_int_equal(backtrace(0, false), 2);
}

/* The running thread's stack is known to its CPU; it ends where it does otherwise. */
static void test_stack_of_the_running_thread(void **state)
{
	(void)state;
	sim_local()->kernel_stack_top = (uintptr_t)(words + NR);
	nr_looked_for = 0;
	test_frame_at_the_end(NULL);
	assert_int_equal(nr_looked_for, 0);
	test_frame_that_does_not_fit(NULL);
	test_chain_that_turns_back(NULL);
	test_trampoline_on_the_way(NULL);
	sim_local()->kernel_stack_top = 0;
}

/* Code from assembly has frames as well; an address of 0 is the end. */
static void test_return_into_assembly(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	frame_at(0, 2, FIRST);
	frame_at(2, 4, STUB);
	frame_at(4, 0, LAST);
	check_ips(backtrace(0, false), FIRST, STUB, LAST);
	words[2] = (uintptr_t)words; /* a chain that turns back behind it */
	check_ips(backtrace(0, false), FIRST, STUB, 0);
	frame_at(2, 4, 0);
	check_ips(backtrace(0, false), FIRST, 0, 0);
}

/* A detour's frame: the probed instruction is found, then the frames of its function. */
static void test_detour_on_the_way(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	frame_at(0, 4, DETOUR);
	frame_at(4, 0, LAST);
	odd[0] = SITE;
	nr_odd = 1;
	odd_next = (uintptr_t)&words[4];
	check_ips(backtrace(0, false), SITE, LAST, 0);
	check_ips(backtrace(0, true), SITE, LAST, 0);
	/* Zeros behind the instructions do not count. */
	odd[1] = odd[2] = 0;
	nr_odd = 3;
	check_ips(backtrace(0, false), SITE, LAST, 0);
	odd[0] = 0;
	assert_int_equal(backtrace(0, false), 0);
	/* The instruction was one of a trampoline. */
	odd[0] = CODE;
	nr_odd = 1;
	frame_at(4, 8, SITE);
	words[6] = FIRST;
	frame_at(8, 0, LAST);
	assert_int_equal(backtrace(0, false), 4);
	assert_true(trace_plat_ip_unpack(ips[0]) == CODE);
	assert_true(ips[1] == SITE && ips[2] == FIRST && ips[3] == LAST);
	nr_odd = 0;
	assert_int_equal(backtrace(0, false), 0);
}

/* A frame with its lowest bit set is that of a trap: what it has interrupted comes first. */
static void test_trap_on_the_way(void **state)
{
	(void)state;
	memset(words, 0, sizeof(words));
	frame_at(0, 4, FIRST);
	words[0] |= 1;
	frame_at(8, 0, LAST);
	odd[0] = SITE;
	nr_odd = 1;
	odd_next = (uintptr_t)&words[8];
	check_ips(backtrace(0, false), FIRST, SITE, LAST);
	check_ips(backtrace(0, true), SITE, LAST, 0);
	odd_next = (uintptr_t)&words[NR]; /* on no stack */
	check_ips(backtrace(0, false), FIRST, SITE, 0);
	odd_next = 0;
	check_ips(backtrace(0, false), FIRST, SITE, 0);
}

/* The frame of a trap at word 2 of a large stack, which interrupted code with rsp at `at_rsp`, or a program. */
static uintptr_t deep[64];

static struct trap_frame *trap_at_two(uintptr_t rip, size_t at_rsp, uint64_t cs)
{
	struct trap_frame *regs = (struct trap_frame *)&deep[2];

	memset(deep, 0, sizeof(deep));
	sim_local()->kernel_stack_top = (uintptr_t)(deep + 64);
	deep[0] = (uintptr_t)regs | 1;
	deep[1] = FIRST;
	*regs = (struct trap_frame){
		.rip = rip, .cs = cs, .rsp = (uintptr_t)&deep[at_rsp], .rbp = (uintptr_t)&deep[60]
	};
	deep[61] = LAST;
	nr_odd = 0; /* unwind_odd() finds nothing */
	return regs;
}

static size_t walk_deep(void)
{
	memset(ips, 0, sizeof(ips));
	return trace_plat_backtrace((uintptr_t)deep, false, ips, 8);
}

/* A trap in usual code is walked over at once; a caller without a frame is found at rsp. */
static void test_trap_in_usual_code(void **state)
{
	(void)state;
	depth_now = -1;
	trap_at_two(SITE, 30, KERNEL_CS);
	check_ips(walk_deep(), FIRST, SITE, LAST);
	depth_now = 1;
	deep[31] = FIRST + 8;
	assert_int_equal(walk_deep(), 4);
	assert_true(ips[1] == SITE && ips[2] == FIRST + 8 && ips[3] == LAST);
	/* From the trap's frame itself, as the profiler does. */
	memset(ips, 0, sizeof(ips));
	check_ips(trace_plat_backtrace((uintptr_t)&deep[2] | 1, false, ips, 8), SITE, FIRST + 8,
		  LAST);
	sim_local()->kernel_stack_top = 0;
}

/* Rare cases are left to unwind_odd(), which finds nothing here. */
static void test_trap_in_rare_code(void **state)
{
	static const uintptr_t rips[] = { CODE, DETOUR, STUB, 0, 0x3fffff };
	struct trap_frame *regs;

	(void)state;
	depth_now = -1;
	for (size_t i = 0; i < sizeof(rips) / sizeof(*rips); i++) {
		trap_at_two(rips[i], 30, KERNEL_CS);
		check_ips(walk_deep(), FIRST, 0, 0);
	}
	trap_at_two(SITE, 30, USER_CS);
	check_ips(walk_deep(), FIRST, 0, 0);
	depth_now = 0;
	regs = trap_at_two(SITE, 30, KERNEL_CS); /* no return address at rsp */
	check_ips(walk_deep(), FIRST, 0, 0);
	deep[30] = behind_site = FIRST + 16;
	check_ips(walk_deep(), FIRST, 0, 0);
	behind_site = 0;
	assert_int_equal(walk_deep(), 4);
	regs->rsp = (uintptr_t)&deep[64]; /* above the stack */
	check_ips(walk_deep(), FIRST, 0, 0);
	regs->rsp = (uintptr_t)&deep[30] + 4;
	check_ips(walk_deep(), FIRST, 0, 0);
	sim_local()->kernel_stack_top = 0;
}

/* A trap frame that the stack's end cuts is none. */
static void test_trap_at_the_end(void **state)
{
	const size_t words_of_frame = sizeof(struct trap_frame) / sizeof(uintptr_t);

	(void)state;
	depth_now = -1;
	trap_at_two(SITE, 30, KERNEL_CS);
	sim_local()->kernel_stack_top = (uintptr_t)(deep + 2 + words_of_frame);
	check_ips(walk_deep(), FIRST, SITE, 0);
	sim_local()->kernel_stack_top -= sizeof(uintptr_t);
	check_ips(walk_deep(), FIRST, 0, 0);
	sim_local()->kernel_stack_top = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_at_the_end),
		cmocka_unit_test(test_frame_that_does_not_fit),
		cmocka_unit_test(test_room_for_one),
		cmocka_unit_test(test_chain_that_turns_back),
		cmocka_unit_test(test_stack_of_the_running_thread),
		cmocka_unit_test(test_return_into_assembly),
		cmocka_unit_test(test_callback_of_a_trampoline),
		cmocka_unit_test(test_trampoline_on_the_way),
		cmocka_unit_test(test_detour_on_the_way),
		cmocka_unit_test(test_trap_on_the_way),
		cmocka_unit_test(test_trap_in_usual_code),
		cmocka_unit_test(test_trap_in_rare_code),
		cmocka_unit_test(test_trap_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
