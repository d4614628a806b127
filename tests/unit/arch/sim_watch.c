/*
 * Watchpoints in the debug registers, which a process may not touch: each instruction that does so
 * faults, and is done on registers that the test keeps.
 *
 * links: trace/arch/x86_64/watch.c arch/x86_64/smp_sync.c
 */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <trace/arch_host.h>
#include <trace/arch_probe.h>
#include <trace/arch_regs.h>
#include <trace/arch_watch.h>
#include <trace/wprobe.h>

#define DR7_NONE 0x400ull
#define DR6_NONE 0xffff0ff0ull
#define STEP	 0x4000ull /* in DR6: a single step was done */

/* ---- The machine ---- */

static uint64_t dr[8];
static uint64_t scratch; /* the address that stood in all four while something was watched */
static unsigned int nr_scratched; /* registers with that address when DR6 was last written */
static int nr_touched;

/* Of the processor: what is watched while the addresses change would be hit at a wrong place. */
static void write_dr(unsigned int number, uint64_t value)
{
	if (number < 4 && dr[7] & 0xff) {
		assert_true(number == 0 || value == scratch);
		scratch = value;
	}
	dr[number] = value;
	if (number != 6)
		return;
	nr_scratched = 0;
	for (int i = 0; i < 4; i++)
		nr_scratched += dr[i] == scratch;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	static const int of[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
				  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
				  REG_R12, REG_R13, REG_R14, REG_R15 };
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *insn = (const uint8_t *)(uintptr_t)regs[REG_RIP];
	unsigned int high = insn[0] == 0x41 ? 8 : 0, number;
	greg_t *reg;

	(void)signal;
	(void)info;
	insn += high ? 1 : 0;
	if (insn[0] != 0x0f || (insn[1] != 0x21 && insn[1] != 0x23))
		abort();
	number = insn[2] >> 3 & 7;
	reg = &regs[of[high + (insn[2] & 7)]];
	if (insn[1] == 0x23)
		write_dr(number, (uint64_t)*reg);
	else
		*reg = (greg_t)dr[number];
	regs[REG_RIP] = (greg_t)(uintptr_t)(insn + 3);
	nr_touched++;
}

/* ---- Functions that the source asks for ---- */

static int call_error;
static uint32_t hits; /* a bit for each place that was hit */
static int nr_loads;
static char frame;

int trace_arch_call_cpus(void (*fn)(void *arg), void *arg)
{
	if (!call_error)
		fn(arg);
	return call_error;
}

void trace_arch_frame_load(const void *from, struct ftrace_regs *out_regs)
{
	assert_ptr_equal(from, &frame);
	memset(out_regs, 0x77, sizeof(*out_regs));
	nr_loads++;
}

uintptr_t trace_probe_original(uintptr_t addr)
{
	return addr - 0x1000;
}

void wprobe_hit(uint32_t place, struct ftrace_regs *regs)
{
	assert_true(regs->rip == 0x4000 && !regs->parent && !regs->direct);
	assert_true(regs->rdi == 0x7777777777777777ull);
	hits |= 1u << place;
}

/* ---- Tests ---- */

static const struct trace_plat_watch none[TRACE_PLAT_WATCHES];

/* In each test, for cmocka has handlers of its own. */
static void start(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	memset(dr, 0, sizeof(dr));
	dr[6] = DR6_NONE;
	dr[7] = DR7_NONE;
	call_error = 0;
	assert_int_equal(sigaction(SIGSEGV, &action, NULL), 0);
	assert_int_equal(trace_plat_watch_set(none), 0);
	scratch = 0;
	nr_touched = 0;
}

/* The bits of Intel's manual, volume 3, 18.2.4: on, on what, and how long. */
static void test_registers(void **state)
{
	const struct trace_plat_watch all[] = {
		{ 0x1001, 1, false }, { 0x2002, 2, true }, { 0x3004, 4, false }, { 0x4008, 8, true }
	};
	const struct trace_plat_watch third[] = { { 0 }, { 0 }, { 0x5000, 2, false }, { 0 } };

	(void)state;
	start();
	assert_int_equal(trace_plat_watch_set(all), 0);
	assert_true(dr[0] == 0x1001 && dr[1] == 0x2002 && dr[2] == 0x3004 && dr[3] == 0x4008);
	assert_int_equal(dr[7], 0xbd710455);
	assert_int_equal(trace_plat_watch_set(third), 0);
	assert_int_equal(dr[2], 0x5000);
	assert_int_equal(dr[7], 0x05000410);
	assert_int_equal(trace_plat_watch_set(none), 0);
	assert_int_equal(dr[7], DR7_NONE);
	call_error = -ENODEV;
	assert_int_equal(trace_plat_watch_set(none), -ENODEV);
}

/* A change settles the emulator: a hit of a word that no user may watch. */
static void test_settling(void **state)
{
	struct trace_plat_watch one[TRACE_PLAT_WATCHES] = { { 0x1000, 8, false } };

	(void)state;
	start();
	assert_int_equal(trace_plat_watch_set(one), 0);
	assert_int_equal(scratch, 0); /* nothing was watched yet */
	assert_int_equal(trace_plat_watch_set(one), 0);
	assert_int_not_equal(scratch, 0);
	assert_int_equal(nr_scratched, 4);
	assert_true(dr[6] == DR6_NONE && dr[0] == 0x1000);
	for (uintptr_t i = 0; i < 8; i++) {
		one[1] = (struct trace_plat_watch){ scratch + i, 1, false };
		assert_int_equal(trace_plat_watch_set(one), -EINVAL);
		assert_int_equal(dr[7], 0x00090401);
	}
	one[1].addr = scratch + 8;
	assert_int_equal(trace_plat_watch_set(one), 0);
	one[1].addr = scratch - 1;
	assert_int_equal(trace_plat_watch_set(one), 0);
}

static void test_cpu_online(void **state)
{
	const struct trace_plat_watch one[] = { { 0 }, { 0x2000, 4, true }, { 0 }, { 0 } };

	(void)state;
	start();
	trace_watch_cpu_online();
	assert_int_equal(nr_touched, 0);
	assert_int_equal(trace_plat_watch_set(one), 0);
	memset(dr, 0, sizeof(dr));
	dr[7] = DR7_NONE;
	trace_watch_cpu_online();
	assert_true(dr[1] == 0x2000 && dr[7] == 0x00f00404);
}

/* Suspended, nothing is watched; then what was. */
static void test_suspended(void **state)
{
	const struct trace_plat_watch one[] = { { 0 }, { 0x2000, 4, true }, { 0 }, { 0 } };
	uint64_t suspended;

	(void)state;
	start();
	assert_int_equal(trace_plat_watch_set(one), 0);
	suspended = trace_watch_suspend();
	assert_int_equal(dr[7], DR7_NONE);
	trace_watch_restore(suspended);
	assert_true(dr[1] == 0x2000 && dr[7] == 0x00f00404);
}

static bool trap(uint64_t dr6)
{
	hits = 0;
	nr_loads = 0;
	dr[6] = dr6;
	return trace_watch_dispatch(0x5000, &frame);
}

/* Each place that was hit and is watched is told; what else has happened is left to the host. */
static void test_dispatch(void **state)
{
	const struct trace_plat_watch some[] = {
		{ 0x1000, 1, false }, { 0 }, { 0x3000, 1, true }, { 0x4000, 1, true }
	};

	(void)state;
	start();
	assert_int_equal(trace_plat_watch_set(some), 0);
	assert_true(trap(DR6_NONE | 1));
	assert_int_equal(hits, 1);
	assert_int_equal(dr[6], DR6_NONE);
	assert_true(trap(DR6_NONE | 8));
	assert_int_equal(hits, 8);
	assert_true(trap(DR6_NONE | 0xf));
	assert_int_equal(hits, 0xd);
	assert_int_equal(nr_loads, 1);
	assert_false(trap(DR6_NONE | 2)); /* set, but nothing is watched there */
	assert_int_equal(hits, 0);
	assert_int_equal(nr_loads, 0);
	assert_false(trap(DR6_NONE | STEP));
	assert_int_equal(hits, 0);
	assert_false(trap(DR6_NONE | STEP | 4)); /* both */
	assert_int_equal(hits, 4);
	assert_int_equal(dr[6], DR6_NONE);
}

/* The hit of the scratch word is swallowed, a step at that moment is not. */
static void test_dispatch_while_settling(void **state)
{
	const struct trace_plat_watch one[] = { { 0x1000, 8, false }, { 0 }, { 0 }, { 0 } };

	(void)state;
	start();
	assert_int_equal(trace_plat_watch_set(one), 0);
	assert_int_equal(trace_plat_watch_set(one), 0);
	dr[0] = scratch;
	assert_true(trap(DR6_NONE | 1));
	assert_false(trap(DR6_NONE | STEP | 1));
	assert_int_equal(hits, 0);
	assert_int_equal(dr[6], DR6_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),  cmocka_unit_test(test_settling),
		cmocka_unit_test(test_cpu_online), cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_dispatch),   cmocka_unit_test(test_dispatch_while_settling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
