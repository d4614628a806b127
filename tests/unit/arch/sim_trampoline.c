/*
 * Trampolines as they are put together: what is copied where, which operands are filled in, what
 * is known of them afterwards, and what a destroyed one leaves behind. The pieces here are not code
 * but bytes that tell which piece they are of.
 *
 * links: trace/arch/x86_64/trampoline.c trace/arch/x86_64/exec_alloc.c
 * links: trace/arch/x86_64/text_poke.c trace/arch/x86_64/text_write.c
 * links: trace/arch/x86_64/breakpoint.c
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <sys/mman.h>
#include <kernel/base.h>
#include <trace/arch_exec.h>
#include <trace/arch_text.h>
#include <trace/arch_trampoline.h>
#include "insn.h"
#include "sim.h"
#include "sim_text.h"
#include "smp_priv.h"
#include <trace/arch_code.h>

#define CALL_BYTES 5u
#define FUNC_A	   (SIM_EXEC_BASE + 0x1000000)
#define FUNC_B	   (SIM_EXEC_BASE - 0x1000000)

/* NAME, byte, bytes of the head, of a step before its operands and call, of the tail. */
#define PIECES(name, byte, head, step, tail)                                                       \
	__asm__(".globl trampoline_" name ", trampoline_" name "_step, trampoline_" name "_ops\n"  \
		".globl trampoline_" name "_call, trampoline_" name "_tail\n"                      \
		".globl trampoline_" name "_end\n"                                                 \
		"trampoline_" name ": .fill " #head ", 1, " #byte "\n"                             \
		"trampoline_" name "_step: .fill " #step ", 1, " #byte " + 1\n"                    \
		"trampoline_" name "_ops: .quad 0\n	.byte " #byte " + 2\n"                     \
		"trampoline_" name "_call: .byte 0xe8, 0, 0, 0, 0\n"                               \
		"	.byte " #byte " + 3\n"                                                     \
		"trampoline_" name "_tail: .fill " #tail ", 1, " #byte " + 4\n"                    \
		"trampoline_" name "_end:\n")

__asm__(".section .rodata\n");
PIECES("plain", 0x10, 11, 3, 7);
PIECES("regs", 0x20, 40, 5, 30);
PIECES("plain_set", 0x30, 17, 6, 9);
PIECES("regs_set", 0x40, 50, 7, 21);
PIECES("site", 0x50, 13, 4, 12);
__asm__(".text\n");

static const struct kind {
	uint8_t byte;
	size_t head, step, tail;
} kinds[2][2] = { { { 0x10, 11, 3, 7 }, { 0x30, 17, 6, 9 } },
		  { { 0x20, 40, 5, 30 }, { 0x40, 50, 7, 21 } } }; /* by registers, by set */

const char ftrace_caller[64], ftrace_regs_caller[64];
__asm__(".globl ftrace_caller_end\n.set ftrace_caller_end, ftrace_caller + 16\n"
	".globl ftrace_regs_caller_end\n.set ftrace_regs_caller_end, ftrace_regs_caller + 16\n");

static struct ftrace_ops *ops_of(uint32_t i)
{
	return (struct ftrace_ops *)(0x1122334455667700ul + i);
}

static uintptr_t func_of(uint32_t i)
{
	return (i % 2 ? FUNC_A : FUNC_B) + i;
}

/* `bytes` bytes of `byte` at *at, which goes on behind them. */
static void expect_bytes(const uint8_t **at, uint8_t byte, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(*(*at)++, byte);
}

static void expect_step(const uint8_t **at, const struct kind *kind, uint32_t i)
{
	struct ftrace_ops *ops = ops_of(i);
	uint64_t call;

	expect_bytes(at, kind->byte + 1, kind->step);
	assert_memory_equal(*at, &ops, sizeof(ops));
	*at += sizeof(ops);
	expect_bytes(at, kind->byte + 2, 1);
	call = insn_load(*at);
	assert_int_equal(call & 0xff, INSN_CALL);
	assert_int_equal(insn_target(call, (uintptr_t)*at), func_of(i));
	*at += CALL_BYTES;
	expect_bytes(at, kind->byte + 3, 1);
}

static struct trace_trampoline create(uint32_t nr, bool with_regs)
{
	struct trace_trampoline_call calls[80];
	struct trace_trampoline tramp;

	for (uint32_t i = 0; i < nr; i++)
		calls[i] = (struct trace_trampoline_call){ ops_of(i), func_of(i), 0 };
	assert_int_equal(trampoline_create(calls, nr, with_regs, &tramp), 0);
	return tramp;
}

static void expect(const struct trace_trampoline *tramp, uint32_t nr, bool with_regs)
{
	const struct kind *kind = &kinds[with_regs][nr > 1];
	const uint8_t *at = (const uint8_t *)tramp->addr;

	assert_int_equal(tramp->bytes, kind->head + nr * (kind->step + 15) + kind->tail);
	expect_bytes(&at, kind->byte, kind->head);
	for (uint32_t i = 0; i < nr; i++)
		expect_step(&at, kind, i);
	expect_bytes(&at, kind->byte + 4, kind->tail);
}

/* Of a single ops that has a site_func: that is called, and is not told the ops. */
static void create_site(void)
{
	const struct trace_trampoline_call calls[] = { { ops_of(0), func_of(0), FUNC_A + 8 },
						       { ops_of(1), func_of(1), FUNC_A + 9 } };
	struct trace_trampoline tramp, set, regs;
	const uint8_t *at;
	uint64_t call;

	assert_int_equal(trampoline_create(calls, 1, false, &tramp), 0);
	at = (const uint8_t *)tramp.addr;
	assert_int_equal(tramp.bytes, 13 + 4 + 15 + 12);
	expect_bytes(&at, 0x50, 13);
	expect_bytes(&at, 0x51, 4);
	expect_bytes(&at, 0, sizeof(uintptr_t));
	expect_bytes(&at, 0x52, 1);
	call = insn_load(at);
	assert_int_equal(insn_target(call, (uintptr_t)at), FUNC_A + 8);
	assert_int_equal(trace_plat_trampoline_func(&tramp), FUNC_A + 8);
	assert_int_equal(trampoline_create(calls, 2, false, &set), 0);
	expect(&set, 2, false);
	assert_int_equal(trampoline_create(calls, 1, true, &regs), 0);
	expect(&regs, 1, true);
	trampoline_destroy(&tramp);
	trampoline_destroy(&set);
	trampoline_destroy(&regs);
}

static const uint32_t sizes[] = { 1, 2, 3, 5, 70 };

static void create_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (int with_regs = 0; with_regs < 2; with_regs++) {
			struct trace_trampoline tramp = create(sizes[i], with_regs);

			expect(&tramp, sizes[i], with_regs);
			assert_int_equal(trace_plat_trampoline_func(&tramp), func_of(0));
			assert_int_equal(trace_exec_used(), ALIGN_UP(tramp.bytes, TRACE_EXEC_UNIT));
			trampoline_destroy(&tramp);
			for (size_t at = 0; at < tramp.bytes; at++)
				assert_int_equal(((uint8_t *)tramp.addr)[at], INSN_INT3);
			assert_int_equal(trace_exec_used(), 0);
		}
	}
}

/* Its call may be that of any step; the others stay. */
static void retarget_all(void)
{
	struct trace_trampoline tramp = create(5, true);

	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(trampoline_retarget(&tramp, i, FUNC_A + 0x999), 0);
		assert_int_equal(trace_plat_trampoline_func(&tramp),
				 i == 0 ? FUNC_A + 0x999 : func_of(0));
		assert_int_equal(trampoline_retarget(&tramp, i, func_of(i)), 0);
		expect(&tramp, 5, true);
	}
	trampoline_destroy(&tramp);
}

/* Every address is of the one it lies in; another one may have the name of what was destroyed. */
static void expect_found(const struct trace_trampoline *tramps, size_t nr)
{
	uintptr_t start, at = 0;
	size_t size, n = 0;
	bool has_name;

	for (uintptr_t addr = SIM_EXEC_BASE; addr < SIM_EXEC_BASE + 0x1000; addr++) {
		const struct trace_trampoline *in = NULL;

		for (size_t i = 0; i < nr; i++)
			if (addr - tramps[i].addr < tramps[i].bytes)
				in = &tramps[i];
		has_name = trampoline_name(addr, &start, &size);
		if (in)
			assert_true(has_name && start == in->addr && size == in->bytes);
		for (size_t i = 0; has_name && !in && i < nr; i++)
			assert_int_not_equal(start, tramps[i].addr);
	}
	for (; trampoline_next(&at, &size); n++)
		assert_true(n < nr && at == tramps[n].addr && size == tramps[n].bytes);
	assert_int_equal(n, nr);
}

static void find_all(void)
{
	struct trace_trampoline tramps[4];
	uintptr_t start;
	size_t size;

	expect_found(NULL, 0);
	tramps[0] = create(1, false);
	tramps[1] = create(5, true);
	tramps[2] = create(1, true);
	tramps[3] = create(2, false);
	expect_found(tramps, 4);
	assert_false(trampoline_name(SIM_EXEC_BASE - 1, &start, &size));
	assert_false(trampoline_name(SIM_EXEC_BASE + SIM_EXEC_BYTES, &start, &size));
	trampoline_destroy(&tramps[2]);
	tramps[2] = tramps[3];
	expect_found(tramps, 3);
	trampoline_destroy(&tramps[0]);
	expect_found(tramps + 1, 2);
	trampoline_destroy(&tramps[1]);
	trampoline_destroy(&tramps[2]);
	expect_found(NULL, 0);
	tramps[0] = create(5, true); /* a long one in the first units */
	expect_found(tramps, 1);
	trampoline_destroy(&tramps[0]);
}

/* A stack that was recorded still has names, until something else lies there. */
static void name_gone(void)
{
	struct trace_trampoline gone = create(5, true), other;
	uintptr_t start, at = 0;
	size_t size;

	trampoline_destroy(&gone);
	for (uintptr_t addr = gone.addr; addr < gone.addr + gone.bytes; addr++) {
		assert_true(trampoline_name(addr, &start, &size));
		assert_true(start == gone.addr && size == gone.bytes);
	}
	assert_false(trampoline_name(gone.addr + gone.bytes, &start, &size));
	assert_false(trampoline_name(SIM_EXEC_BASE - 1, &start, &size));
	assert_false(trampoline_name(SIM_EXEC_BASE + SIM_EXEC_BYTES, &start, &size));
	assert_false(trampoline_next(&at, &size));
	other = create(1, false);
	assert_int_equal(other.addr, gone.addr);
	assert_true(trampoline_name(other.addr, &start, &size) && size == other.bytes);
	assert_false(trampoline_name(gone.addr + gone.bytes - 1, &start, &size));
	trampoline_destroy(&other);
	/* Over the starts of two short ones that are gone. */
	gone = create(1, false);
	other = create(1, false);
	trampoline_destroy(&gone);
	trampoline_destroy(&other);
	gone = create(5, true);
	assert_true(trampoline_name(other.addr, &start, &size) && start == gone.addr);
	trampoline_destroy(&gone);
}

/* The last unit of all is one like the others; when there is no more room nothing has changed. */
static void fill_all(void)
{
	struct trace_trampoline_call calls[80] = { { ops_of(0), func_of(0), 0 } };
	struct trace_trampoline tramp = { 0 }, last = { 0 };
	uintptr_t at = 0, start;
	size_t size, nr = 0, found = 0;

	while (trampoline_create(calls, 1, false, &tramp) == 0) {
		last = tramp;
		nr++;
	}
	assert_int_equal(nr, SIM_EXEC_BYTES / TRACE_EXEC_UNIT);
	assert_int_equal(last.addr, SIM_EXEC_BASE + SIM_EXEC_BYTES - TRACE_EXEC_UNIT);
	assert_true(trampoline_name(last.addr, &start, &size) && start == last.addr);
	assert_int_equal(trampoline_create(calls, 1, false, &tramp), -ENOMEM);
	while (trampoline_next(&at, &size)) {
		assert_int_equal(at, SIM_EXEC_BASE + found * TRACE_EXEC_UNIT);
		found++;
	}
	assert_int_equal(found, nr);
	for (size_t i = 0; i < nr; i++) {
		tramp = (struct trace_trampoline){ SIM_EXEC_BASE + i * TRACE_EXEC_UNIT,
						   last.bytes };
		trampoline_destroy(&tramp);
	}
	assert_int_equal(trampoline_create(calls, 1000, false, &tramp), -ENOMEM);
	assert_int_equal(trace_exec_used(), 0);
}

static void run(sim_fn fn)
{
	sim_text_reset(SIM_NOP, 0, false);
	smp_online = 1;
	sim_alone(fn);
}

static void test_create(void **state)
{
	(void)state;
	run(create_all);
}

static void test_create_site(void **state)
{
	(void)state;
	run(create_site);
}

static void test_retarget(void **state)
{
	(void)state;
	run(retarget_all);
}

static void test_name_gone(void **state)
{
	(void)state;
	run(name_gone);
}

static void test_find(void **state)
{
	(void)state;
	run(find_all);
	run(fill_all);
}

static void test_shared(void **state)
{
	(void)state;
	assert_int_equal(trace_plat_shared_trampoline(false), (uintptr_t)ftrace_caller);
	assert_int_equal(trace_plat_shared_trampoline(true), (uintptr_t)ftrace_regs_caller);
}

static void test_range(void **state)
{
	const uintptr_t starts[] = { (uintptr_t)ftrace_caller, (uintptr_t)ftrace_regs_caller };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_false(trampoline_contains(starts[i] - 1));
		assert_true(trampoline_contains(starts[i]));
		assert_true(trampoline_contains(starts[i] + 15));
		assert_false(trampoline_contains(starts[i] + 16));
	}
	assert_false(trampoline_contains(SIM_EXEC_BASE - 1));
	assert_true(trampoline_contains(SIM_EXEC_BASE));
	assert_true(trampoline_contains(SIM_EXEC_BASE + SIM_EXEC_BYTES - 1));
	assert_false(trampoline_contains(SIM_EXEC_BASE + SIM_EXEC_BYTES));
}

static int map_exec(void **state)
{
	(void)state;
	return mmap((void *)SIM_EXEC_BASE, SIM_EXEC_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		    0) != (void *)SIM_EXEC_BASE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create),	  cmocka_unit_test(test_create_site),
		cmocka_unit_test(test_retarget),  cmocka_unit_test(test_find),
		cmocka_unit_test(test_name_gone), cmocka_unit_test(test_shared),
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests(tests, map_exec, NULL);
}
