/*
 * The ops of `torture`:
 *
 *   steady    counts the calls of half of the targets; registered for the whole round, its filter
 *             changes by functions that do not matter
 *   two more  come and go: on all functions, on random ones, on patterns, with live changes, and
 *             while NMIs run traced functions
 *
 * After each round steady has seen every call of its targets, and the others none after they were
 * unregistered.
 */
#include <arch/smp.h>
#include <kernel/string.h>
#include <stdatomic.h>
#include <trace/ftrace.h>
#include "../nmi_call.h"
#include "torture.h"

#define RANDOM_SITES 40u
#define NR_STEADY    (TORTURE_NR_TARGETS / 2) /* the first ones */
#define KEEP_ROUNDS  4u			      /* so often steady stays registered, on average */

static struct {
	_Atomic uint64_t counts[TORTURE_NR_TARGETS]; /* calls that steady has seen */
	_Atomic uint64_t nr_late; /* calls that the other two have seen after unregister */
} seen;

/* ---- Callbacks ---- */

static TRACE_NOTRACE void count_steady(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++) {
		if ((uintptr_t)torture_targets[i] == ip)
			atomic_fetch_add_explicit(&seen.counts[i], 1, memory_order_relaxed);
	}
}

static TRACE_NOTRACE void count_other(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				      struct ftrace_regs *fregs)
{
	const _Atomic bool *may_be_called = ops->private;

	(void)ip;
	(void)parent_ip;
	(void)fregs;
	if (!atomic_load(may_be_called))
		atomic_fetch_add_explicit(&seen.nr_late, 1, memory_order_relaxed);
}

static struct ftrace_ops steady = { .func = count_steady };
static _Atomic bool may_be_called[3]; /* by others[] */
static struct ftrace_ops others[] = {
	{ .func = count_other, .private = &may_be_called[0] },
	{ .func = count_other, .private = &may_be_called[1], .flags = FTRACE_OPS_FL_RECURSION },
	{ .func = count_other, .private = &may_be_called[2], .flags = FTRACE_OPS_FL_SAVE_REGS },
};

/* ---- Changes while the workers run ---- */

static bool torture_ops_is_registered(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED;
}

static int torture_ops_remove_other(struct ftrace_ops *ops)
{
	int err = unregister_ftrace_function(ops);

	atomic_store((_Atomic bool *)ops->private, false);
	return err;
}

static int torture_ops_toggle(struct ftrace_ops *ops)
{
	if (torture_ops_is_registered(ops))
		return torture_ops_remove_other(ops);
	atomic_store((_Atomic bool *)ops->private, true);
	return register_ftrace_function(ops);
}

static int torture_ops_filter_all(struct ftrace_ops *ops)
{
	return ftrace_set_filter(ops, NULL, 0, true);
}

static int torture_ops_filter_pattern(struct ftrace_ops *ops)
{
	static const char *const patterns[] = { "*sched*", "target_*", "*l*", "[a-m]*", "*_*e*" };
	const char *pattern = patterns[torture_pick(ARRAY_SIZE(patterns))];

	return ftrace_set_filter(ops, pattern, strlen(pattern), torture_pick(2));
}

static int torture_ops_filter_random(struct ftrace_ops *ops)
{
	uintptr_t ips[RANDOM_SITES];
	size_t nr;
	const uintptr_t *sites = trace_plat_sites(&nr);

	for (uint32_t i = 0; i < RANDOM_SITES; i++)
		ips[i] = sites[torture_pick(nr)];
	return ftrace_set_filter_ips(ops, ips, RANDOM_SITES, false, true);
}

static void torture_ops_called_in_nmi(const struct trap_frame *regs, void *arg)
{
	(void)regs;
	*(volatile uint64_t *)arg += torture_in_nmi(1);
}

/* Traced functions in NMIs of all other CPUs, wherever they are now. */
static int torture_ops_send_nmis(struct ftrace_ops *ops)
{
	volatile uint64_t calls = 0;

	(void)ops;
	/* One CPU after the other: no two add at once. */
	return nmi_call_others(torture_ops_called_in_nmi, (void *)&calls) == calls ? 0 : -EIO;
}

/* Of functions that steady need not see. */
static int torture_ops_change_steady(struct ftrace_ops *ops)
{
	uint32_t i = NR_STEADY + (uint32_t)torture_pick(NR_STEADY);
	uintptr_t ip = (uintptr_t)torture_targets[i];
	int err = ftrace_set_filter_ip(&steady, ip, false, false);

	(void)ops;
	return err ? err : ftrace_set_filter_ip(&steady, ip, true, false);
}

static int torture_ops_change_something(void)
{
	static int (*const changes[])(struct ftrace_ops * ops) = {
		torture_ops_toggle,	    torture_ops_toggle,	       torture_ops_filter_all,
		torture_ops_filter_pattern, torture_ops_filter_random, torture_ops_change_steady,
		torture_ops_send_nmis,
	};
	struct ftrace_ops *ops = &others[torture_pick(ARRAY_SIZE(others))];

	return changes[torture_pick(ARRAY_SIZE(changes))](ops);
}

/* ---- Rounds ---- */

static int torture_ops_begin_round(void)
{
	uintptr_t ips[NR_STEADY];
	int err;

	for (uint32_t i = 0; i < NR_STEADY; i++)
		ips[i] = (uintptr_t)torture_targets[i];
	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++)
		atomic_store(&seen.counts[i], 0);
	atomic_store(&seen.nr_late, 0);
	if (torture_ops_is_registered(&steady) && torture_pick(KEEP_ROUNDS) == 0) {
		err = unregister_ftrace_function(&steady);
		if (err)
			return err;
	}
	err = ftrace_set_filter_ips(&steady, ips, NR_STEADY, false, true);
	return err || torture_ops_is_registered(&steady) ? err : register_ftrace_function(&steady);
}

static bool torture_ops_check_round(struct command_env *env, uint64_t expected)
{
	bool is_right = torture_expect(env, "late calls", atomic_load(&seen.nr_late), 0);

	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++) {
		uint64_t nr = atomic_load(&seen.counts[i]);

		/* The others were in its filter for moments only. */
		if (i < NR_STEADY || nr > expected)
			is_right &= torture_expect(env, "calls of a target", nr, expected);
	}
	return is_right;
}

static int torture_ops_stop(void)
{
	int err = torture_ops_is_registered(&steady) ? unregister_ftrace_function(&steady) : 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (torture_ops_is_registered(&others[i]) && !err)
			err = torture_ops_remove_other(&others[i]);
		if (!err)
			ftrace_free_filter(&others[i]);
	}
	if (!err)
		ftrace_free_filter(&steady);
	return err;
}

const struct torture_user torture_ops = {
	.begin = torture_ops_begin_round,
	.change = torture_ops_change_something,
	.check = torture_ops_check_round,
	.stop = torture_ops_stop,
};
