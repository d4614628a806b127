/*
 * `torture graph [rounds]`: hooked returns while every CPU runs over the hooked functions.
 *
 *   steady   entry and return of half of the targets; registered for the whole round
 *   roaming  comes and goes, on all functions, on patterns, with live changes, in NMIs too
 *   workers  as in torture.c
 *
 * After each round steady has seen every call of its targets, and every return. What roaming has
 * seen to begin has either returned, is still on a shadow stack, or ended with its thread.
 *
 * `torture longjmp`: leaves two hooked functions without returning from them. The next return does
 * not fit: graph tracing stops for good, says so, and the kernel goes on.
 *
 * Context: thread; torture.c lets one run at a time.
 */
#include <arch/smp.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include <stdatomic.h>
#include <trace/fgraph.h>
#include "../nmi_call.h"
#include "torture.h"

#define NR_STEADY	  (TORTURE_NR_TARGETS / 2) /* the first ones */
#define CHANGES_PER_ROUND 4u
#define QUIET_TRIES	  1000u

struct graph_user {
	struct fgraph_ops gops;
	_Atomic uint64_t entries;
	_Atomic uint64_t returns;
	bool is_registered;
};

static uint64_t random_state;
static uint64_t nr_steady_calls; /* checked, of all rounds */

static TRACE_NOTRACE bool count_entry(const struct ftrace_graph_ent *ent, struct fgraph_ops *gops)
{
	struct graph_user *user = gops->private;

	(void)ent;
	atomic_fetch_add_explicit(&user->entries, 1, memory_order_relaxed);
	return true;
}

static TRACE_NOTRACE void count_return(const struct ftrace_graph_ret *ret, struct fgraph_ops *gops)
{
	struct graph_user *user = gops->private;

	(void)ret;
	atomic_fetch_add_explicit(&user->returns, 1, memory_order_relaxed);
}

#define GRAPH_USER(name)                                                                           \
	{                                                                                          \
		.gops = {.entryfunc = count_entry, .retfunc = count_return, .private = &(name) }   \
	}

static struct graph_user steady = GRAPH_USER(steady);
static struct graph_user roaming = GRAPH_USER(roaming);

static int torture_graph_toggle(struct graph_user *user)
{
	int err;

	if (user->is_registered) {
		user->is_registered = false;
		return unregister_ftrace_graph(&user->gops);
	}
	atomic_store(&user->entries, 0);
	atomic_store(&user->returns, 0);
	err = register_ftrace_graph(&user->gops);
	user->is_registered = !err;
	return err;
}

/* ---- Changes while the workers run ---- */

static int torture_graph_toggle_roaming(void)
{
	return torture_graph_toggle(&roaming);
}

static int torture_graph_filter_pattern(void)
{
	static const char *const patterns[] = { "*", "*sched*", "target_*", "[a-m]*", "*_*e*" };
	const char *pattern = patterns[torture_random(&random_state, ARRAY_SIZE(patterns))];

	return ftrace_set_filter(&roaming.gops.ops, pattern, strlen(pattern), true);
}

static void torture_graph_called_in_nmi(const struct trap_frame *regs, void *arg)
{
	(void)regs;
	*(volatile uint64_t *)arg += torture_in_nmi(1);
}

static int torture_graph_send_nmis(void)
{
	volatile uint64_t calls = 0;

	/* One CPU after the other: no two add at once. */
	return nmi_call_others(torture_graph_called_in_nmi, (void *)&calls) == calls ? 0 : -EIO;
}

static int torture_graph_change_something(void)
{
	static int (*const changes[])(void) = { torture_graph_toggle_roaming,
						torture_graph_filter_pattern,
						torture_graph_send_nmis };

	return changes[torture_random(&random_state, ARRAY_SIZE(changes))]();
}

/* ---- Checks ---- */

static int torture_graph_check_steady(struct command_env *env)
{
	uint64_t expected = torture_calls() * NR_STEADY;
	uint64_t entries = atomic_load(&steady.entries), returns = atomic_load(&steady.returns);

	nr_steady_calls += expected;
	if (entries == expected && returns == expected && ftrace_graph_pending(&steady.gops) == 0)
		return 0;
	command_error(env, "%lu calls made, %lu entries, %lu returns counted",
		      (unsigned long)expected, (unsigned long)entries, (unsigned long)returns);
	return 1;
}

/*
 * No call of it begins any more: its filter is a function without callers now. Returns that
 * happen while frames are counted make the sum wrong; then it is made again.
 */
static int torture_graph_check_roaming(struct command_env *env)
{
	uint64_t entries = 0, returns = 0, pending = 0, abandoned = 0;
	int err =
		ftrace_set_filter_ip(&roaming.gops.ops, (uintptr_t)torture_targets[0], false, true);

	for (uint32_t i = 0; i < QUIET_TRIES && roaming.is_registered && !err; i++) {
		abandoned = atomic_load(&roaming.gops.user.nr_abandoned);
		returns = atomic_load(&roaming.returns);
		pending = ftrace_graph_pending(&roaming.gops);
		entries = atomic_load(&roaming.entries);
		if (entries == returns + pending + abandoned)
			return 0;
	}
	if (err || !roaming.is_registered)
		return err;
	command_error(env, "%lu entries, %lu returns, %lu on stacks, %lu ended",
		      (unsigned long)entries, (unsigned long)returns, (unsigned long)pending,
		      (unsigned long)abandoned);
	return 1;
}

/* ---- Rounds ---- */

static int torture_graph_begin_round(void)
{
	uintptr_t ips[NR_STEADY];
	int err;

	for (uint32_t i = 0; i < NR_STEADY; i++)
		ips[i] = (uintptr_t)torture_targets[i];
	err = ftrace_set_filter_ips(&steady.gops.ops, ips, NR_STEADY, false, true);
	if (!err && !steady.is_registered)
		return torture_graph_toggle(&steady);
	atomic_store(&steady.entries, 0);
	atomic_store(&steady.returns, 0);
	return err;
}

/* 0, 1 when a check failed, or -errno. */
static int torture_graph_run_round(struct command_env *env, uint64_t round)
{
	int err = torture_graph_begin_round();

	if (err)
		return err;
	torture_release_workers();
	for (uint32_t i = 0; i < CHANGES_PER_ROUND && !err; i++)
		err = torture_graph_change_something();
	torture_wait_workers();
	if (!err)
		err = torture_graph_check_steady(env);
	if (!err && torture_wrong_results()) {
		command_error(env, "wrong results");
		err = 1;
	}
	if (!err)
		err = torture_graph_check_roaming(env);
	if (!err && round % 4 == 0)
		err = torture_graph_toggle(&steady);
	return err;
}

static int torture_graph_run_rounds(struct command_env *env, uint64_t rounds, uint64_t *out_done)
{
	int err = torture_start_workers(false);

	if (err)
		return err;
	for (*out_done = 0; *out_done < rounds && !err; ++*out_done)
		err = command_stopped(env) ? -EINTR : torture_graph_run_round(env, *out_done + 1);
	torture_stop_workers();
	return err;
}

int torture_graph(struct command_env *env, uint64_t rounds)
{
	uint64_t done = 0;
	int err;

	random_state = ktime_get_ns() | 1;
	nr_steady_calls = 0;
	err = torture_graph_run_rounds(env, rounds, &done);
	if (steady.is_registered)
		torture_graph_toggle(&steady);
	if (roaming.is_registered)
		torture_graph_toggle(&roaming);
	ftrace_free_filter(&steady.gops.ops);
	ftrace_free_filter(&roaming.gops.ops);
	if (err < 0)
		command_error(env, "%s", command_strerror(err));
	command_printf(
		env,
		"torture: %lu rounds of graph, %u CPUs; each of %lu calls seen to begin and to "
		"return, all other entries accounted for after each round: %s\n",
		(unsigned long)done, torture_nr_workers(), (unsigned long)nr_steady_calls,
		err ? "FAILED" : "ok");
	return err ? 1 : 0;
}

/* ---- A return that does not fit ---- */

static void *jump_buffer[5];

static TRACE_NOINLINE void longjmp_inner(void)
{
	__builtin_longjmp(jump_buffer, 1);
}

static TRACE_NOINLINE void longjmp_middle(void)
{
	longjmp_inner();
	__asm__ volatile("" : : : "memory");
}

static TRACE_NOINLINE int longjmp_outer(void)
{
	if (__builtin_setjmp(jump_buffer))
		return 1;
	longjmp_middle();
	return 0;
}

int torture_longjmp(struct command_env *env)
{
	static const char pattern[] = "longjmp_*";
	int err = ftrace_set_filter(&steady.gops.ops, pattern, strlen(pattern), true);
	int jumped;

	if (!err)
		err = torture_graph_toggle(&steady);
	if (err) {
		command_error(env, "%s", command_strerror(err));
		return 1;
	}
	jumped = longjmp_outer();
	torture_graph_toggle(&steady);
	ftrace_free_filter(&steady.gops.ops);
	if (!jumped || !ftrace_graph_is_dead() || steady.entries != 3 || steady.returns != 0) {
		command_error(env, "the jump was not noticed");
		return 1;
	}
	command_puts(env,
		     "torture: the jump was noticed, graph tracing is off until the next boot\n");
	return 0;
}
