/*
 * A live patch of half of the targets of `torture`, which comes and goes while they run: each call
 * runs the old function or the new one, once, and gives the same result.
 */
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <stdatomic.h>
#include <trace/livepatch.h>
#include "torture.h"
#include "torture_count.h"

#define WAIT_NS	   (2 * NSEC_PER_MSEC)
#define WAIT_TRIES 5000u

/* ---- Replacements of the targets: the same results, found in another way ---- */

static uint64_t torture_patch_new_leaf(uint64_t value)
{
	torture_count_run(0, value);
	return value + value + value;
}

static uint64_t torture_patch_new_call(uint64_t value)
{
	torture_count_run(1, value);
	return torture_in_nmi(value) == value ? (value ^ 0x5555) + 1 : 0;
}

static uint64_t torture_patch_new_tail_call(uint64_t value)
{
	torture_count_run(2, value);
	return torture_in_nmi(value ^ 0x5555);
}

static uint64_t torture_patch_new_loop(uint64_t value)
{
	torture_count_run(3, value);
	for (uint32_t i = 0; i < 4; i++)
		value = torture_in_nmi(value ^ 0x5555) + i;
	return value;
}

static struct klp_func funcs[] = {
	{ .old_name = "target_leaf", .new_func = (uintptr_t)torture_patch_new_leaf },
	{ .old_name = "target_call", .new_func = (uintptr_t)torture_patch_new_call },
	{ .old_name = "target_tail_call", .new_func = (uintptr_t)torture_patch_new_tail_call },
	{ .old_name = "target_loop", .new_func = (uintptr_t)torture_patch_new_loop },
};

static struct klp_patch patch = { .name = "torture",
				  .funcs = funcs,
				  .nr_funcs = ARRAY_SIZE(funcs) };

/* ---- A user of tracing ---- */

static int torture_patch_change(void)
{
	if (!klp_patch_is_active(&patch))
		return klp_enable_patch(&patch);
	if (!klp_patch_in_transition(&patch))
		return klp_disable_patch(&patch);
	klp_try_complete_transition();
	return 0;
}

static int torture_patch_wait_for_transition(void)
{
	for (uint32_t i = 0; klp_patch_in_transition(&patch); i++) {
		if (i == WAIT_TRIES)
			return -ETIMEDOUT;
		thread_sleep_ns(WAIT_NS);
		klp_try_complete_transition();
	}
	return 0;
}

static int torture_patch_stop(void)
{
	int err = torture_patch_wait_for_transition();

	if (err || !klp_patch_is_active(&patch))
		return err;
	err = klp_disable_patch(&patch);
	return err ? err : torture_patch_wait_for_transition();
}

const struct torture_user torture_patch = {
	.change = torture_patch_change,
	.stop = torture_patch_stop,
};
