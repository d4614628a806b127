/*
 * Functions with call sites, made once for all tests of a file, and what each test has to leave as it
 * was. NR_FUNCS, how many there are, is defined before this is included, once, behind unit.h.
 */
#ifndef MANY_FUNCS_H
#define MANY_FUNCS_H

#include <string.h>
#include "fake/fake.h"
#include "ops/ftrace_private.h"

#define PARENT (FAKE_TEXT + 0x100000) /* their caller */

static uint8_t text_before[NR_FUNCS * FAKE_FUNC_BYTES];
static long out_before;

/* Before the first test. */
static int funcs_make(void **state)
{
	(void)state;
	fake_reset();
	fake_text_build_many("func_", NR_FUNCS);
	ftrace_init();
	memcpy(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	return ftrace_is_dead();
}

/* A test begins, with as much memory as it wants. */
static void funcs_begin(void)
{
	fake_alloc_budget = -1;
	fake_trampoline_budget = -1;
	out_before = fake_alloc_out;
}

/* It has ended: nothing may be left of it. */
static void funcs_end(void)
{
	fake_alloc_budget = fake_trampoline_budget = -1;
	fake_on_batch = NULL;
	fake_on_sync = NULL;
	assert_memory_equal(text_before, fake_text_at(FAKE_TEXT), sizeof(text_before));
	assert_int_equal(fake_alloc_out, out_before);
	assert_int_equal(fake_nr_trampolines, 0);
	assert_int_equal(ftrace_nr_enabled(), 0);
	assert_int_equal(trace_plat_preempt_count(), 0);
}

#endif
