/*
 * stress livepatch: two patches for the same functions are enabled and disabled, one on top of the
 * other, while every CPU calls these functions.
 *
 * A pass calls one outer function, which calls two inner ones; all three are replaced together. The
 * outer one is on the stack during the whole pass, so no thread may change sides within it: each
 * pass must be of one version throughout, and count three calls.
 */
#include <stdatomic.h>
#include <kernel/thread.h>
#include <trace/livepatch.h>
#include "work_stress.h"

#define NR_VERSIONS 3

struct pass {
	uint32_t nr_calls;
	uint32_t versions; /* bit for each version that was called */
	bool stays;	   /* sleeps between the two inner calls */
};

static TRACE_ALWAYS_INLINE void note(struct pass *pass, uint32_t version)
{
	pass->nr_calls++;
	pass->versions |= 1u << version;
	__asm__ volatile("" : : : "memory");
}

TRACE_NOINLINE void klp_stress_left(struct pass *pass);
TRACE_NOINLINE void klp_stress_right(struct pass *pass);
TRACE_NOINLINE void klp_stress_outer(struct pass *pass);

/*
 * The body of the outer functions. The barrier at the end keeps the compiler from making the last
 * call a jump: the outer function would then not be on the stack any more.
 */
static TRACE_ALWAYS_INLINE void call_both(struct pass *pass)
{
	klp_stress_left(pass);
	if (pass->stays)
		thread_sleep_ns(20000);
	klp_stress_right(pass);
	__asm__ volatile("" : : : "memory");
}

void klp_stress_left(struct pass *pass)
{
	note(pass, 0);
}

void klp_stress_right(struct pass *pass)
{
	note(pass, 0);
}

void klp_stress_outer(struct pass *pass)
{
	note(pass, 0);
	call_both(pass);
}

static TRACE_NOINLINE void stress_livepatch_left_1(struct pass *pass)
{
	note(pass, 1);
}

static TRACE_NOINLINE void stress_livepatch_right_1(struct pass *pass)
{
	note(pass, 1);
}

/* Calls the inner functions by their old names, whose calls go to the new versions. */
static TRACE_NOINLINE void stress_livepatch_outer_1(struct pass *pass)
{
	note(pass, 1);
	call_both(pass);
}

static TRACE_NOINLINE void stress_livepatch_left_2(struct pass *pass)
{
	note(pass, 2);
}

static TRACE_NOINLINE void stress_livepatch_right_2(struct pass *pass)
{
	note(pass, 2);
}

static TRACE_NOINLINE void stress_livepatch_outer_2(struct pass *pass)
{
	note(pass, 2);
	call_both(pass);
}

static struct klp_func funcs_1[] = {
	{ .old_name = "klp_stress_outer", .new_func = (uintptr_t)stress_livepatch_outer_1 },
	{ .old_name = "klp_stress_left", .new_func = (uintptr_t)stress_livepatch_left_1 },
	{ .old_name = "klp_stress_right", .new_func = (uintptr_t)stress_livepatch_right_1 },
};

static struct klp_func funcs_2[] = {
	{ .old_name = "klp_stress_outer", .new_func = (uintptr_t)stress_livepatch_outer_2 },
	{ .old_name = "klp_stress_left", .new_func = (uintptr_t)stress_livepatch_left_2 },
	{ .old_name = "klp_stress_right", .new_func = (uintptr_t)stress_livepatch_right_2 },
};

static struct klp_patch patches[] = {
	{ .name = "stress_1", .funcs = funcs_1, .nr_funcs = 3 },
	{ .name = "stress_2", .funcs = funcs_2, .nr_funcs = 3 },
};

struct livepatch_shared {
	_Atomic uint64_t nr_passes[NR_VERSIONS];
	_Atomic uint64_t nr_switches;
};

static void stress_livepatch_check_pass(struct stress_worker *worker)
{
	struct livepatch_shared *shared = worker->run->shared;
	struct pass pass = { .stays = stress_random(worker, 64) == 0 };

	klp_stress_outer(&pass);
	if (pass.nr_calls != 3)
		stress_fail(worker->run, "a pass counted %u calls", pass.nr_calls);
	if (pass.versions & (pass.versions - 1) || !pass.versions)
		stress_fail(worker->run, "a pass of versions %#x", pass.versions);
	else
		atomic_fetch_add(&shared->nr_passes[__builtin_ctz(pass.versions)], 1);
}

/*
 * For the first worker: enable or disable one of the patches, also in the middle of a transition.
 */
static void stress_livepatch_change(struct stress_worker *worker)
{
	struct livepatch_shared *shared = worker->run->shared;
	struct klp_patch *patch = &patches[stress_random(worker, 2)];
	int err;

	if (!klp_patch_is_active(patch))
		err = klp_enable_patch(patch);
	else if (patch->is_enabled)
		err = klp_disable_patch(patch);
	else
		err = klp_reenable_patch(patch);
	if (!err)
		atomic_fetch_add(&shared->nr_switches, 1);
	else if (err != -EBUSY && err != -EINVAL)
		stress_fail(worker->run, "switching %s: error %d", patch->name, -err);
}

static void livepatch_round(struct stress_worker *worker)
{
	for (int i = 0; i < 100; i++)
		stress_livepatch_check_pass(worker);
	if (worker->index == 0 && stress_random(worker, 16) == 0)
		stress_livepatch_change(worker);
	if (stress_random(worker, 4) == 0)
		klp_try_complete_transition(); /* this thread is in none of the functions now */
}

/* Disable a patch and wait until the transition is complete. */
static void stress_livepatch_remove_patch(struct klp_patch *patch)
{
	while (klp_patch_is_active(patch)) {
		if (patch->is_enabled)
			klp_disable_patch(patch);
		klp_try_complete_transition();
		thread_sleep_ns(1000000);
	}
}

static void livepatch_end(struct stress_run *run, uint64_t rounds)
{
	const struct livepatch_shared *shared = run->shared;
	struct pass pass = { 0 };
	uint64_t nr = 0;

	for (int i = 0; i < 2; i++)
		stress_livepatch_remove_patch(&patches[i]);
	klp_stress_outer(&pass);
	if (pass.versions != 1 || pass.nr_calls != 3)
		stress_fail(run, "not back: %u calls of versions %#x", pass.nr_calls,
			    pass.versions);
	for (int i = 0; i < NR_VERSIONS; i++)
		nr += atomic_load(&shared->nr_passes[i]);
	if (!run->nr_failed && nr != rounds * 100)
		stress_fail(run, "%lu passes of %lu", nr, rounds * 100);
	if (!run->nr_failed && rounds > 1000 && !atomic_load(&shared->nr_switches))
		stress_fail(run, "nothing was ever patched");
}

const struct stress_kind stress_livepatch = {
	.name = "livepatch",
	.checked = "each pass of one version",
	.shared_bytes = sizeof(struct livepatch_shared),
	.round = livepatch_round,
	.end = livepatch_end,
};
