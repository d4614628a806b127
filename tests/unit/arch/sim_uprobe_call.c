/*
 * Calls in place of 10-byte NOPs, executed here: registers, flags and the red zone are as the NOP leaves them, wherever
 * the thread is taken out.
 *
 * links: trace/arch/x86_64/uprobe_call.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <sys/mman.h>
#include <kernel/base.h>
#include <trace/arch_uprobe.h>
#include <trace/platform.h>

#define PAGES  3u
#define CODE   64u /* offset of the NOP in the first page; in the last one is the trampoline */
#define MIDDLE 5u

static const uint8_t nop[TRACE_UPROBE_CALL] = { 0x66, 0x2e, 0x0f, 0x1f, 0x84 };
static uint8_t *memory;
static bool has_memory = true;

static bool user_read(void *to, uintptr_t from, size_t bytes)
{
	if (has_memory)
		memcpy(to, (const void *)from, bytes);
	return has_memory;
}

const struct trace_uprobe_host *trace_plat_uprobes(void)
{
	static const struct trace_uprobe_host host = { .read = user_read };

	return &host;
}

static uint8_t *code(void)
{
	return memory + CODE;
}

static uintptr_t trampoline(void)
{
	return (uintptr_t)memory + (PAGES - 1) * TRACE_UPROBE_PAGE;
}

/* The NOP and a return; the trampoline clears rcx and r11 instead of calling a kernel, as SYSCALL changes them. */
static int setup(void **state)
{
	static const uint8_t instead[] = { 0x31, 0xc9 };

	(void)state;
	memory = mmap(NULL, (size_t)PAGES * TRACE_UPROBE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	memcpy(code(), nop, sizeof(nop));
	code()[sizeof(nop)] = 0xc3;
	memcpy((void *)trampoline(), trace_uprobe_trampoline, TRACE_UPROBE_TRAMPOLINE);
	memcpy((uint8_t *)trampoline() + TRACE_UPROBE_TRAMPOLINE_CALLED - sizeof(instead), instead,
	       sizeof(instead));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return munmap(memory, (size_t)PAGES * TRACE_UPROBE_PAGE);
}

static void make_call(void)
{
	trace_uprobe_call_stop(code());
	assert_true(trace_uprobe_call_begin(code(), (uintptr_t)code(), trampoline()));
	assert_int_equal(*code(), TRACE_UPROBE_INT3);
	assert_true(trace_uprobe_call_is(code()));
	trace_uprobe_call_finish(code());
	assert_true(trace_uprobe_call_is(code()));
}

/* Does it with words in the red zone. The sum of all that has to stay. */
static uint64_t run(void)
{
	uint64_t rax = 1, rcx = 2, sum;
	register uint64_t r11 __asm__("r11") = 4;

	__asm__ volatile("lea -512(%%rsp), %%rsp\n"
			 "movq $8, -16(%%rsp)\n movq $16, -136(%%rsp)\n"
			 "mov %%rsp, %%rsi\n call *%[code]\n"
			 "sub %%rsp, %%rsi\n add %%rax, %%rsi\n add %%rcx, %%rsi\n"
			 "add %%r11, %%rsi\n add -16(%%rsp), %%rsi\n add -136(%%rsp), %%rsi\n"
			 "lea 512(%%rsp), %%rsp\n"
			 : "+a"(rax), "+c"(rcx), "+r"(r11), "=&S"(sum)
			 : [code] "r"(code())
			 : "memory", "cc");
	return sum;
}

static void test_call(void **state)
{
	(void)state;
	assert_int_equal(run(), 31);
	make_call();
	assert_int_equal(run(), 31);
	trace_uprobe_call_stop(code());
	trace_uprobe_call_restore(code());
	*code() = nop[0];
	assert_false(trace_uprobe_call_is(code()));
	assert_memory_equal(code(), nop, MIDDLE);
	assert_int_equal(code()[MIDDLE], 0xe8); /* for a thread in front of it */
	assert_int_equal(run(), 31);
	make_call();
	assert_int_equal(run(), 31);
}

static void test_refusals(void **state)
{
	struct trace_uprobe_insn insn = { .len = TRACE_UPROBE_CALL };
	uint8_t before[TRACE_UPROBE_CALL];

	(void)state;
	memcpy(insn.bytes, nop, sizeof(nop));
	assert_true(trace_uprobe_call_is_for(&insn));
	insn.bytes[9] = 1;
	assert_false(trace_uprobe_call_is_for(&insn));
	memcpy(before, code(), sizeof(before));
	assert_false(trace_uprobe_call_begin(code(), (uintptr_t)code(), trampoline()));
	before[0] = TRACE_UPROBE_INT3;
	trace_uprobe_call_stop(code());
	assert_false(trace_uprobe_call_begin(code(), (uintptr_t)code(),
					     (uintptr_t)code() + 0x80000010ul));
	assert_false(trace_uprobe_call_begin(code(), (uintptr_t)code(),
					     (uintptr_t)code() - 0x7ffffff8ul));
	assert_memory_equal(code(), before, sizeof(before));
	code()[2] = 0x90;
	assert_false(trace_uprobe_call_begin(code(), (uintptr_t)code(), trampoline()));
}

/* Instructions of the trampoline, and the state of a thread in front of each. */
static const struct {
	uint32_t offset;
	enum trace_uprobe_place place;
	uint32_t words; /* on the stack, the address behind the call included */
} steps[] = {
	{ 0, TRACE_UPROBE_IN_FRONT, 1 }, { 1, TRACE_UPROBE_IN_FRONT, 2 },
	{ 3, TRACE_UPROBE_IN_FRONT, 3 }, { 4, TRACE_UPROBE_IN_FRONT, 4 },
	{ 9, TRACE_UPROBE_IN_FRONT, 4 }, { 11, TRACE_UPROBE_BEHIND, 4 },
	{ 12, TRACE_UPROBE_BEHIND, 3 },	 { 14, TRACE_UPROBE_BEHIND, 2 },
	{ 15, TRACE_UPROBE_BEHIND, 1 },
};

static void test_leave(void **state)
{
	const uint64_t stack[] = { 1, 4, 2, (uintptr_t)code() + TRACE_UPROBE_CALL };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		uint32_t words = steps[i].words;
		bool is_behind = steps[i].place == TRACE_UPROBE_BEHIND;
		/* The registers that are on the stack still have other values. */
		struct ftrace_regs regs = { .rip = trampoline() + steps[i].offset,
					    .rsp = (uintptr_t)(stack + 4 - words),
					    .rax = words > 3 ? 9 : 1,
					    .r11 = words > 2 ? 9 : 4,
					    .rcx = words > 1 ? 9 : 2 };

		assert_int_equal(trace_uprobe_call_leave(&regs, trampoline()), steps[i].place);
		assert_true(regs.rsp == (uintptr_t)(stack + 4) + TRACE_UPROBE_RED_ZONE);
		assert_true(regs.rip == (uintptr_t)code() + (is_behind ? TRACE_UPROBE_CALL : 0));
		assert_true(regs.rax == 1 && regs.r11 == 4 && regs.rcx == 2);
	}
}

static void test_leave_in_front_of_the_call(void **state)
{
	struct ftrace_regs regs = { .rip = (uintptr_t)code() + MIDDLE, .rsp = 0x1000 };

	(void)state;
	assert_int_equal(trace_uprobe_call_leave(&regs, trampoline()), TRACE_UPROBE_ELSEWHERE);
	make_call();
	assert_int_equal(trace_uprobe_call_leave(&regs, trampoline() + 1), TRACE_UPROBE_ELSEWHERE);
	has_memory = false;
	assert_int_equal(trace_uprobe_call_leave(&regs, trampoline()), TRACE_UPROBE_ELSEWHERE);
	has_memory = true;
	assert_true(regs.rip == (uintptr_t)code() + MIDDLE);
	assert_int_equal(trace_uprobe_call_leave(&regs, trampoline()), TRACE_UPROBE_IN_FRONT);
	assert_true(regs.rip == (uintptr_t)code() && regs.rsp == 0x1000 + TRACE_UPROBE_RED_ZONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(test_leave_in_front_of_the_call, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
