/*
 * Helpers for tests of probes at instructions: MAX probes, and a CPU that comes to them. MAX and
 * NR_FUNCS are defined before this is included, once, behind unit.h.
 */
#ifndef KPROBE_HELP_H
#define KPROBE_HELP_H

#include <trace/kprobe.h>
#include "trace/ops/many_funcs.h"

static struct kprobe probes[MAX];
static struct kprobe *pointers[MAX]; /* to those that were made */

static struct kprobe *kprobe_make(size_t i, uintptr_t addr, kprobe_pre_handler_t pre_handler,
				  uint32_t flags)
{
	probes[i] = (struct kprobe){ .addr = addr, .pre_handler = pre_handler, .flags = flags };
	pointers[i] = &probes[i];
	return &probes[i];
}

/* A CPU comes to `addr`: the site of a function, or behind it. Returns where it goes on. */
static uintptr_t kprobe_come_to(uintptr_t addr)
{
	uintptr_t stack = PARENT;
	struct ftrace_regs fregs = { .parent = PARENT, .slot = &stack };
	size_t func = (addr - FAKE_TEXT) / FAKE_FUNC_BYTES;
	enum fake_via via;

	if (addr == fake_func(func))
		return fake_call_regs(func, &fregs, &via);
	return fake_step(addr, &fregs);
}

static void kprobe_run_worker(void)
{
	while (fake_run_later())
		;
}

static int kprobe_begin(void **state)
{
	(void)state;
	funcs_begin();
	fake_probe_budget = -1;
	fake_bad_insn = fake_refused = 0;
	fake_jump_bytes = 0;
	memset(probes, 0, sizeof(probes));
	return 0;
}

static int kprobe_end(void **state)
{
	(void)state;
	kprobe_run_worker();
	fake_breakpoint = 0;
	funcs_end();
	assert_int_equal(fake_nr_probes, 0);
	assert_int_equal(trace_plat_recursion_word(), 0);
	return 0;
}

#endif
