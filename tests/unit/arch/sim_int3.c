/*
 * The registers of the library's own entry for #BP: each comes from its place in the frame, and goes back there.
 *
 * links: trace/arch/x86_64/int3_entry.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_host.h>
#include <trace/arch_int3.h>
#include <trace/arch_regs.h>

#define MOVED 0x1000u

static bool is_ours;

/* As a consumer does that sends the CPU elsewhere. */
bool trace_breakpoint_dispatch(uintptr_t *rip, uintptr_t *rsp, void *frame)
{
	const struct trace_int3_frame *pushed = frame;

	assert_ptr_equal(rip, &pushed->rip);
	assert_ptr_equal(rsp, &pushed->rsp);
	if (is_ours)
		*rip += MOVED;
	return is_ours;
}

static const struct trace_int3_frame before = {
	.r15 = 15,
	.r14 = 14,
	.r13 = 13,
	.r12 = 12,
	.r11 = 11,
	.r10 = 10,
	.rbx = 3,
	.r9 = 9,
	.r8 = 8,
	.rdi = 7,
	.rsi = 6,
	.rdx = 2,
	.rcx = 1,
	.rax = 20,
	.rbp = 5,
	.rip = 90,
	.cs = 91,
	.rflags = 92,
	.rsp = 93,
	.ss = 94,
};

static void test_load(void **state)
{
	struct ftrace_regs regs = { .rip = 1000, .parent = 1001, .direct = 1002 };

	(void)state;
	assert_true(trace_arch_has_frames());
	trace_arch_frame_load(&before, &regs);
	assert_true(regs.r15 == 15 && regs.r14 == 14 && regs.r13 == 13 && regs.r12 == 12);
	assert_true(regs.r11 == 11 && regs.r10 == 10 && regs.rbx == 3 && regs.r9 == 9);
	assert_true(regs.r8 == 8 && regs.rdi == 7 && regs.rsi == 6 && regs.rdx == 2);
	assert_true(regs.rcx == 1 && regs.rax == 20 && regs.rbp == 5);
	assert_true(regs.rflags == 92 && regs.rsp == 93);
	assert_true(regs.rip == 1000 && regs.parent == 1001 &&
		    regs.direct == 1002); /* the caller's */
}

static void test_store(void **state)
{
	struct trace_int3_frame after = before;
	struct ftrace_regs regs = { 0 };

	(void)state;
	trace_arch_frame_load(&before, &regs);
	regs.rip = before.rip;
	memset(&after, 0, sizeof(after));
	after.cs = before.cs; /* these two are not changed */
	after.ss = before.ss;
	trace_arch_frame_store(&after, &regs);
	assert_memory_equal(&after, &before, sizeof(after));
}

static void test_hit(void **state)
{
	struct trace_int3_frame frame = before;

	(void)state;
	is_ours = false;
	assert_false(trace_int3_hit(&frame));
	assert_memory_equal(&frame, &before, sizeof(frame));
	is_ours = true;
	assert_true(trace_int3_hit(&frame));
	assert_int_equal(frame.rip, before.rip + MOVED);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_load),
					    cmocka_unit_test(test_store),
					    cmocka_unit_test(test_hit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
