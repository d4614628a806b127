/*
 * Instructions of probes that are done by hand: where the processor would go on, with which stack,
 * for each condition and each form. Conditions are compared with this machine's.
 *
 * links: trace/arch/x86_64/probe_insn.c trace/arch/x86_64/decode*.c arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <kernel/base.h>
#include "probe_private.h"

#define ADDR 0x401000u

static uintptr_t stack[8];
static bool has_memory;

bool trace_plat_read(void *dst, const void *src, size_t size)
{
	if (has_memory)
		memcpy(dst, src, size);
	return has_memory;
}

static struct plat_probe probe_of(const char *bytes, size_t len)
{
	struct plat_probe probe = { 0 };
	struct trace_insn insn;

	assert_int_equal(trace_insn_decode(&insn, (const uint8_t *)bytes, len), 0);
	assert_int_equal(insn.length, len);
	assert_null(trace_probe_compile(&probe, &insn, ADDR));
	probe.addr = ADDR;
	return probe;
}

/* Registers with a number each, which tells them apart. */
static struct ftrace_regs some_regs(void)
{
	struct ftrace_regs regs = { .rax = 0x10,
				    .rcx = 0x11,
				    .rdx = 0x12,
				    .rbx = 0x13,
				    .rbp = 0x15,
				    .rsi = 0x16,
				    .rdi = 0x17,
				    .r8 = 0x18,
				    .r9 = 0x19,
				    .r10 = 0x1a,
				    .r11 = 0x1b,
				    .r12 = 0x1c,
				    .r13 = 0x1d,
				    .r14 = 0x1e,
				    .r15 = 0x1f };

	memset(stack, 0, sizeof(stack));
	regs.rsp = (uintptr_t)&stack[4];
	return regs;
}

/* Done, and where it goes on; `depth`: words on the stack that were not there before. */
static uintptr_t go(const char *bytes, size_t len, struct ftrace_regs *regs, int depth)
{
	struct plat_probe probe = probe_of(bytes, len);

	assert_true(trace_probe_emulate(&probe, regs));
	assert_true(regs->rsp == (uintptr_t)&stack[4 - depth]);
	if (depth > 0)
		assert_int_equal(stack[4 - depth], ADDR + len);
	return regs->rip;
}

#define GO(bytes, regs, depth) go(bytes, sizeof(bytes) - 1, regs, depth)

#define SETCC(nr, cc)                                                                              \
	case nr:                                                                                   \
		__asm__ volatile("push %1\n\tpopfq\n\tset" cc " %0"                                \
				 : "=q"(answer)                                                    \
				 : "r"(flags)                                                      \
				 : "cc", "memory");                                                \
		break

static bool machine_says(uint32_t condition, uint64_t flags)
{
	uint8_t answer = 2;

	switch (condition) {
		SETCC(0, "o");
		SETCC(1, "no");
		SETCC(2, "b");
		SETCC(3, "ae");
		SETCC(4, "e");
		SETCC(5, "ne");
		SETCC(6, "be");
		SETCC(7, "a");
		SETCC(8, "s");
		SETCC(9, "ns");
		SETCC(10, "p");
		SETCC(11, "np");
		SETCC(12, "l");
		SETCC(13, "ge");
		SETCC(14, "le");
		SETCC(15, "g");
	}
	return answer;
}

static void test_conditions(void **state)
{
	static const uint64_t bits[] = { 1, 4, 0x40, 0x80, 0x800 };

	(void)state;
	for (uint32_t condition = 0; condition < 16; condition++) {
		for (uint32_t set = 0; set < 1u << ARRAY_SIZE(bits); set++) {
			char near[] = { 0x70, 0x20 }, far[] = { 0x0f, (char)0x80, 0, 1, 0, 0 };
			struct ftrace_regs regs = some_regs();
			bool taken;

			regs.rflags = 2;
			for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
				regs.rflags |= set >> i & 1 ? bits[i] : 0;
			taken = machine_says(condition, regs.rflags);
			near[0] = (char)(near[0] + (char)condition);
			far[1] = (char)(far[1] + (char)condition);
			assert_int_equal(go(near, 2, &regs, 0), ADDR + 2 + (taken ? 0x20 : 0));
			assert_int_equal(go(far, 6, &regs, 0), ADDR + 6 + (taken ? 0x100 : 0));
		}
	}
}

/* loopne, loope, loop, jrcxz: the first three count down. */
static void test_loops(void **state)
{
	static const struct {
		uint8_t opcode;
		uint64_t rcx, flags;
		bool taken;
	} loops[] = {
		{ 0xe0, 2, 0, true },	  { 0xe0, 2, 0x40, false }, { 0xe0, 1, 0, false },
		{ 0xe1, 2, 0, false },	  { 0xe1, 2, 0x40, true },  { 0xe1, 1, 0x40, false },
		{ 0xe2, 2, 0, true },	  { 0xe2, 2, 0x40, true },  { 0xe2, 1, 0, false },
		{ 0xe2, 1, 0x40, false }, { 0xe2, 0, 0, true },	    { 0xe3, 0, 0, true },
		{ 0xe3, 1, 0, false },	  { 0xe3, 1, 0x40, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++) {
		const char bytes[] = { (char)loops[i].opcode, (char)0xf0 };
		struct ftrace_regs regs = some_regs();

		regs.rcx = loops[i].rcx;
		regs.rflags = loops[i].flags;
		assert_int_equal(go(bytes, 2, &regs, 0), ADDR + 2 - (loops[i].taken ? 0x10 : 0));
		assert_true(regs.rcx == loops[i].rcx - (loops[i].opcode != 0xe3));
		assert_true(regs.rflags == loops[i].flags);
	}
}

static void test_jumps_and_calls(void **state)
{
	struct ftrace_regs regs = some_regs();

	(void)state;
	assert_int_equal(GO("\xeb\xfe", &regs, 0), ADDR);
	assert_int_equal(GO("\xe9\x00\x01\x00\x00", &regs, 0), ADDR + 5 + 0x100);
	assert_int_equal(GO("\xe8\x00\x01\x00\x00", &regs, 1), ADDR + 5 + 0x100);
	regs = some_regs();
	assert_int_equal(GO("\x90", &regs, 0), ADDR + 1);
	assert_int_equal(GO("\x0f\x1f\x44\x00\x00", &regs, 0), ADDR + 5);
	assert_int_equal(GO("\xf3\x0f\x1e\xfa", &regs, 0), ADDR + 4);
	stack[4] = 0x1234;
	assert_int_equal(GO("\xc3", &regs, -1), 0x1234);
	regs = some_regs();
	stack[4] = 0x1234;
	assert_int_equal(GO("\xc2\x10\x00", &regs, -3), 0x1234);
}

/* By a register: each of the sixteen. */
static void test_jumps_by_register(void **state)
{
	(void)state;
	for (uint32_t nr = 0; nr < 16; nr++) {
		const char rex = nr & 8 ? 0x41 : 0x40;
		const char jmp[] = { rex, (char)0xff, (char)(0xe0 | (nr & 7)) };
		const char call[] = { rex, (char)0xff, (char)(0xd0 | (nr & 7)) };
		struct ftrace_regs regs = some_regs();
		uintptr_t wanted = nr == 4 ? regs.rsp : 0x10 + nr;

		assert_true(go(jmp, 3, &regs, 0) == wanted);
		assert_true(go(call, 3, &regs, 1) == wanted);
	}
}

/* By memory: base, index, scale, displacement, or the instruction's own place. */
static void test_jumps_by_memory(void **state)
{
	static uintptr_t table[16];
	struct ftrace_regs regs = some_regs();
	struct plat_probe probe;

	(void)state;
	has_memory = true;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		table[i] = 0x5000 + i;
	regs.rbx = (uintptr_t)table;
	regs.r9 = 3;
	assert_int_equal(GO("\xff\x23", &regs, 0), 0x5000); /* jmp [rbx] */
	assert_int_equal(GO("\xff\x63\x08", &regs, 0), 0x5001);
	assert_int_equal(GO("\x42\xff\x24\xcb", &regs, 0), 0x5003); /* [rbx + r9 * 8] */
	regs.r9 = 4;
	assert_int_equal(GO("\x42\xff\x64\x8b\x08", &regs, 0), 0x5003); /* [rbx + r9 * 4 + 8] */
	assert_int_equal(GO("\x42\xff\x54\x8b\x08", &regs, 1), 0x5003); /* call */
	probe = probe_of("\xff\x25\x10\x00\x00\x00", 6);		/* jmp [rip + 16] */
	assert_int_equal(probe.target, ADDR + 6 + 16);
	/* An operand that cannot be read is left to the instruction itself, which faults as it has to. */
	regs = some_regs();
	has_memory = false;
	regs.rip = 7;
	probe = probe_of("\xff\x13", 2);
	assert_false(trace_probe_emulate(&probe, &regs));
	assert_true(regs.rip == 7 && regs.rsp == (uintptr_t)&stack[4]);
}

/* Other instructions run in their slot, a NOP in the detour if there is one. */
static void test_not_by_hand(void **state)
{
	struct plat_probe probe = probe_of("\x48\x01\xf8", 3);
	struct ftrace_regs regs = some_regs();

	(void)state;
	assert_false(trace_probe_emulate(&probe, &regs));
	probe = probe_of("\x90", 1);
	probe.copy = 0x1000;
	assert_false(trace_probe_emulate(&probe, &regs));
	assert_true(regs.rip == 0 && regs.rsp == (uintptr_t)&stack[4]);
}

/* An instruction that cannot be done from elsewhere is refused with a reason. */
static void test_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *why;
	} insns[] = {
		{ "\xcb", 1, "segments" },
		{ "\x8e\xd0", 2, "segments" },
		{ "\x48\xcf", 2, "kernel" },
		{ "\x0f\x05", 2, "kernel" },
		{ "\x0f\x01\xf8", 3, "kernel" },
		{ "\xfb", 1, "interrupt" },
		{ "\xf4", 1, "interrupt" },
		{ "\xcc", 1, "trap" },
		{ "\xcd\x80", 2, "trap" },
		{ "\x0f\x0b", 2, "trap" },
		{ "\x0f\x01\xd5", 3, "transaction" },
		{ "\x67\x48\x8b\x05\x00\x00\x00\x00", 8, "form" }, /* mov rax, [eip] */
		{ "\x66\xff\xe0", 3, "form" },			   /* jmp ax */
		{ "\x64\xff\x20", 3, "form" },			   /* jmp fs:[rax] */
		{ "\x65\xff\x20", 3, "form" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(insns); i++) {
		struct plat_probe probe;
		struct trace_insn insn;
		const char *why;

		assert_int_equal(
			trace_insn_decode(&insn, (const uint8_t *)insns[i].bytes, insns[i].len), 0);
		why = trace_probe_compile(&probe, &insn, ADDR);
		if (!why || !strstr(why, insns[i].why))
			fail_msg("insn %zu: %s", i, why ? why : "not refused");
	}
	probe_of("\x64\x48\x8b\x00", 4);	 /* mov rax, fs:[rax] runs in a slot */
	probe_of("\x67\x48\x8b\x00", 4);	 /* mov rax, [eax], too */
	probe_of("\x66\x0f\x1f\x44\x00\x00", 6); /* a NOP may be of any form */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions),	cmocka_unit_test(test_loops),
		cmocka_unit_test(test_jumps_and_calls), cmocka_unit_test(test_jumps_by_register),
		cmocka_unit_test(test_jumps_by_memory), cmocka_unit_test(test_not_by_hand),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
