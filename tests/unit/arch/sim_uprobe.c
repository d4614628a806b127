/*
 * Instructions of programs at which probes are: done by hand with a program's memory that may be missing, and as they
 * stand in slots, at each end of the distance that operands and jumps can bridge.
 *
 * links: trace/arch/x86_64/uprobe_insn.c trace/arch/x86_64/probe_insn.c trace/arch/x86_64/decode*.c
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <kernel/base.h>
#include <trace/arch_uprobe.h>
#include <trace/platform.h>
#include "probe_private.h"

#define ADDR 0x401000ul

static uintptr_t stack[8];
static bool has_memory;

static bool user_read(void *to, uintptr_t from, size_t bytes)
{
	if (has_memory)
		memcpy(to, (const void *)from, bytes);
	return has_memory;
}

static bool user_write(uintptr_t to, const void *from, size_t bytes)
{
	if (has_memory)
		memcpy((void *)to, from, bytes);
	return has_memory;
}

const struct trace_uprobe_host *trace_plat_uprobes(void)
{
	static const struct trace_uprobe_host host = { .read = user_read, .write = user_write };

	return &host;
}

bool trace_plat_read(void *dst, const void *src, size_t size)
{
	(void)dst;
	(void)src;
	(void)size;
	fail_msg("it is memory of a program");
	return false;
}

static struct trace_uprobe_insn prepared(const char *bytes, size_t len)
{
	struct trace_uprobe_insn insn;

	assert_null(trace_uprobe_prepare((const uint8_t *)bytes, len, &insn));
	assert_int_equal(insn.len, len);
	assert_memory_equal(insn.bytes, bytes, len);
	return insn;
}

static struct ftrace_regs some_regs(void)
{
	memset(stack, 0, sizeof(stack));
	has_memory = true;
	return (struct ftrace_regs){
		.rip = ADDR, .rsp = (uintptr_t)&stack[4], .rbx = 0x7000, .rcx = 2, .r9 = 3
	};
}

/* Done by hand, and where it goes on; `depth`: words on the stack that were not there before. */
static uintptr_t go(const char *bytes, size_t len, struct ftrace_regs *regs, int depth)
{
	struct trace_uprobe_insn insn = prepared(bytes, len);

	assert_int_equal(trace_uprobe_emulate(&insn, regs), TRACE_UPROBE_DONE);
	assert_true(regs->rsp == (uintptr_t)&stack[4 - depth]);
	assert_int_equal(stack[3], depth ? ADDR + len : 0);
	return regs->rip;
}

#define GO(bytes, depth) (regs = some_regs(), go(bytes, sizeof(bytes) - 1, &regs, depth))

static void test_by_hand(void **state)
{
	struct ftrace_regs regs;

	(void)state;
	assert_int_equal(GO("\x0f\x1f\x00", 0), ADDR + 3);
	assert_int_equal(GO("\xeb\x10", 0), ADDR + 2 + 0x10);
	assert_int_equal(GO("\xe9\xf0\xff\xff\xff", 0), ADDR + 5 - 0x10);
	assert_int_equal(GO("\x74\x10", 0), ADDR + 2); /* je */
	assert_int_equal(GO("\x75\x10", 0), ADDR + 2 + 0x10);
	assert_int_equal(GO("\xe2\x10", 0), ADDR + 2 + 0x10); /* loop */
	assert_int_equal(regs.rcx, 1);
	assert_int_equal(GO("\xe3\x10", 0), ADDR + 2); /* jrcxz */
	assert_int_equal(GO("\xe8\x10\x00\x00\x00", 1), ADDR + 5 + 0x10);
	assert_int_equal(GO("\xff\xd3", 1), 0x7000); /* call rbx */
}

/* call [rbx + r9 * 8 + 8], call [rip + disp32] */
static void test_calls_by_memory(void **state)
{
	static const uintptr_t to[] = { 1, 2, 3, 4, 0x5004, 6 };
	char relative[] = "\xff\x15\x00\x00\x00\x00";
	struct trace_uprobe_insn insn = prepared("\x42\xff\x54\xcb\x08", 5);
	struct ftrace_regs regs = some_regs();
	int32_t disp = 0x20;

	(void)state;
	regs.rbx = (uintptr_t)to;
	assert_int_equal(trace_uprobe_emulate(&insn, &regs), TRACE_UPROBE_DONE);
	assert_int_equal(regs.rip, 0x5004);
	assert_int_equal(stack[3], ADDR + 5);
	memcpy(relative + 2, &disp, sizeof(disp));
	insn = prepared(relative, 6);
	regs = some_regs();
	regs.rip = (uintptr_t)&to[4] - 6 - 0x20;
	assert_int_equal(trace_uprobe_emulate(&insn, &regs), TRACE_UPROBE_DONE);
	assert_int_equal(regs.rip, 0x5004);
	assert_int_equal(stack[3], (uintptr_t)&to[4] - 0x20);
}

/* A call whose operand or stack is missing changes nothing. */
static void test_faults(void **state)
{
	static const char *const calls[] = { "\xff\x13", "\xff\xd3" }; /* [rbx], rbx */

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		struct trace_uprobe_insn insn = prepared(calls[i], 2);
		struct ftrace_regs regs = some_regs(), before = regs;

		has_memory = false;
		assert_int_equal(trace_uprobe_emulate(&insn, &regs), TRACE_UPROBE_FAULT);
		assert_memory_equal(&regs, &before, sizeof(regs));
	}
}

static void test_not_by_hand(void **state)
{
	static const char *const insns[] = { "\x48\x01\xf8", "\xc3\x90\x90", "\xff\xe3\x90" };
	struct trace_uprobe_insn insn;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(insns); i++) {
		struct ftrace_regs regs = some_regs(), before = regs;

		assert_null(trace_uprobe_prepare((const uint8_t *)insns[i], 3, &insn));
		assert_int_equal(trace_uprobe_emulate(&insn, &regs), TRACE_UPROBE_SLOT_NEEDED);
		assert_memory_equal(&regs, &before, sizeof(regs));
	}
	assert_non_null(trace_uprobe_prepare((const uint8_t *)"\x06", 1, &insn));
	assert_int_equal(insn.len, 0);
	assert_non_null(trace_uprobe_prepare((const uint8_t *)"\xcb", 1, &insn)); /* a far return */
	assert_int_equal(insn.len, 1);
}

/* The slot: `bytes`, the jump back, int3s. */
static void slot_is(uintptr_t addr, uintptr_t slot, const char *bytes, size_t len,
		    const char *copied)
{
	struct trace_uprobe_insn insn = prepared(bytes, len);
	uint8_t code[TRACE_UPROBE_SLOT];
	int32_t back;

	memset(code, 0, sizeof(code));
	assert_true(trace_uprobe_copy(&insn, addr, slot, code));
	assert_memory_equal(code, copied, len);
	assert_int_equal(code[len], 0xe9);
	memcpy(&back, code + len + 1, sizeof(back));
	assert_true(slot + len + 5 + (uintptr_t)(intptr_t)back == addr + len);
	for (size_t i = len + 5; i < sizeof(code); i++)
		assert_int_equal(code[i], TRACE_UPROBE_INT3);
}

#define ADD	  "\x48\x01\xf8"
#define LOAD(end) "\x48\x8b\x05" end /* mov rax, [rip + disp32] */

static void test_slots(void **state)
{
	(void)state;
	slot_is(ADDR, ADDR + 0x5000, ADD, 3, ADD);
	slot_is(ADDR, ADDR - 0x5000, ADD, 3, ADD);
	slot_is(ADDR, ADDR + 0x5000, LOAD("\x10\x60\x00\x00"), 7, LOAD("\x10\x10\x00\x00"));
	slot_is(ADDR, ADDR - 0x5000, LOAD("\x10\x60\x00\x00"), 7, LOAD("\x10\xb0\x00\x00"));
}

static bool fits(const char *bytes, size_t len, uintptr_t addr, uintptr_t slot)
{
	struct trace_uprobe_insn insn = prepared(bytes, len);
	uint8_t code[TRACE_UPROBE_SLOT];

	return trace_uprobe_copy(&insn, addr, slot, code);
}

/* Jumps and operands of 32 bits with a sign. */
static void test_distance(void **state)
{
	const uintptr_t far = 0x80000000ul, addr = 0x200000000ul;

	(void)state;
	assert_true(fits(ADD, 3, addr, addr + far - 1));
	assert_false(fits(ADD, 3, addr, addr + far + 1));
	assert_true(fits(ADD, 3, addr, addr - far + 1));
	assert_false(fits(ADD, 3, addr, addr - far - 1));
	assert_true(fits(LOAD("\xff\xff\xff\x7f"), 7, addr, addr + 0x1000));
	assert_false(fits(LOAD("\xff\xff\xff\x7f"), 7, addr, addr - 0x1000));
	assert_true(fits(LOAD("\x00\x00\x00\x80"), 7, addr, addr - 0x1000));
	assert_false(fits(LOAD("\x00\x00\x00\x80"), 7, addr, addr + 0x1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand), cmocka_unit_test(test_calls_by_memory),
		cmocka_unit_test(test_faults),	cmocka_unit_test(test_not_by_hand),
		cmocka_unit_test(test_slots),	cmocka_unit_test(test_distance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
