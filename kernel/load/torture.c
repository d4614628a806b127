/*
 * `torture [rounds] [seconds]`: patch the kernel while every CPU runs over the patched sites.
 *
 *   steady    counts the calls of half of the targets; registered for the whole round, its filter
 *             changes by functions that do not matter
 *   three     more come and go, one of them with all registers: on all functions, on random ones,
 * on patterns, with live changes, and while NMIs run traced functions workers   one per CPU, call
 * every target a known number of times and check the results
 *
 * After each round: steady has seen every call of its targets, and the others none after they were
 * unregistered. Now and then, and at the end: text is what it was at the start, byte for byte. At
 * the end: no page and no trampoline is missing.
 *
 * Context: thread. One torture at a time.
 */
#include <arch/paging.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <kernel/command.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <stdatomic.h>
#include <trace/ftrace.h>
#include "torture.h"

#define DEFAULT_ROUNDS	  100u
#define CHANGES_PER_ROUND 4u
#define ROUNDS_PER_CHECK  32u /* between two looks at all of text */
#define RANDOM_SITES	  40u
#define NR_STEADY	  (TORTURE_NR_TARGETS / 2) /* the first ones */
#define SETTLE_NS	  (20 * NSEC_PER_MSEC)
#define SETTLE_TRIES	  50u

static struct {
	_Atomic uint64_t counts[TORTURE_NR_TARGETS]; /* calls that steady has seen */
	_Atomic uint64_t nr_other;		     /* calls that the others have seen */
	_Atomic uint64_t nr_late;		     /* of them, after unregister had returned */
	uint64_t random;
	uint8_t *text; /* as it was at the start */
} torture;

static struct mutex torture_lock; /* one at a time */

/* ---- Callbacks ---- */

static TRACE_NOTRACE void count_steady(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				       struct ftrace_regs *fregs)
{
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++) {
		if ((uintptr_t)torture_targets[i] == ip)
			atomic_fetch_add_explicit(&torture.counts[i], 1, memory_order_relaxed);
	}
}

static TRACE_NOTRACE void count_other(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
				      struct ftrace_regs *fregs)
{
	const _Atomic bool *may_be_called = ops->private;

	(void)ip;
	(void)parent_ip;
	(void)fregs;
	atomic_fetch_add_explicit(&torture.nr_other, 1, memory_order_relaxed);
	if (!atomic_load(may_be_called))
		atomic_fetch_add_explicit(&torture.nr_late, 1, memory_order_relaxed);
}

static struct ftrace_ops steady = { .func = count_steady };
static _Atomic bool may_be_called[3]; /* by others[] */
static struct ftrace_ops others[] = {
	{ .func = count_other, .private = &may_be_called[0] },
	{ .func = count_other, .private = &may_be_called[1], .flags = FTRACE_OPS_FL_RECURSION },
	{ .func = count_other, .private = &may_be_called[2], .flags = FTRACE_OPS_FL_SAVE_REGS },
};

/* ---- Changes while the workers run ---- */

static bool is_registered(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED;
}

static int remove_other(struct ftrace_ops *ops)
{
	int err = unregister_ftrace_function(ops);

	atomic_store((_Atomic bool *)ops->private, false);
	return err;
}

static int toggle(struct ftrace_ops *ops)
{
	if (is_registered(ops))
		return remove_other(ops);
	atomic_store((_Atomic bool *)ops->private, true);
	return register_ftrace_function(ops);
}

static int filter_all(struct ftrace_ops *ops)
{
	return ftrace_set_filter(ops, NULL, 0, true);
}

static int filter_pattern(struct ftrace_ops *ops)
{
	static const char *const patterns[] = { "*sched*", "target_*", "*l*", "[a-m]*", "*_*e*" };
	const char *pattern = patterns[torture_random(&torture.random, ARRAY_SIZE(patterns))];

	return ftrace_set_filter(ops, pattern, strlen(pattern), torture_random(&torture.random, 2));
}

static int filter_random(struct ftrace_ops *ops)
{
	uintptr_t ips[RANDOM_SITES];
	size_t nr;
	const uintptr_t *sites = trace_plat_sites(&nr);

	for (uint32_t i = 0; i < RANDOM_SITES; i++)
		ips[i] = sites[torture_random(&torture.random, nr)];
	return ftrace_set_filter_ips(ops, ips, RANDOM_SITES, false, true);
}

static void called_in_nmi(const struct trap_frame *regs, void *arg)
{
	(void)regs;
	*(volatile uint64_t *)arg += torture_in_nmi(1);
}

/* Traced functions in NMIs of all other CPUs, wherever they are now. */
static int send_nmis(struct ftrace_ops *ops)
{
	volatile uint64_t calls = 0;

	(void)ops;
	/* One CPU after the other: no two add at once. */
	return smp_nmi_call_others(called_in_nmi, (void *)&calls) == calls ? 0 : -EIO;
}

/* Of functions that steady need not see. */
static int change_steady(struct ftrace_ops *ops)
{
	uint32_t i = NR_STEADY + (uint32_t)torture_random(&torture.random, NR_STEADY);
	uintptr_t ip = (uintptr_t)torture_targets[i];
	int err = ftrace_set_filter_ip(&steady, ip, false, false);

	(void)ops;
	return err ? err : ftrace_set_filter_ip(&steady, ip, true, false);
}

static int change_something(void)
{
	static int (*const changes[])(struct ftrace_ops * ops) = {
		toggle, toggle, filter_all, filter_pattern, filter_random, change_steady, send_nmis,
	};
	struct ftrace_ops *ops = &others[torture_random(&torture.random, ARRAY_SIZE(others))];

	return changes[torture_random(&torture.random, ARRAY_SIZE(changes))](ops);
}

/* ---- Checks ---- */

static int check_counts(struct command_env *env)
{
	uint64_t expected = (uint64_t)torture_nr_workers() * TORTURE_CALLS;
	int failed = 0;

	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++) {
		uint64_t seen = atomic_load(&torture.counts[i]);

		/* The others were in its filter for moments only. */
		if (i < NR_STEADY ? seen == expected : seen <= expected)
			continue;
		command_error(env, "target %u: %lu calls counted, %lu made", i, (unsigned long)seen,
			      (unsigned long)expected);
		failed = 1;
	}
	if (atomic_load(&torture.nr_late)) {
		command_error(env, "%lu calls after unregister",
			      (unsigned long)atomic_load(&torture.nr_late));
		failed = 1;
	}
	if (torture_wrong_results()) {
		command_error(env, "%lu wrong results", (unsigned long)torture_wrong_results());
		failed = 1;
	}
	return failed;
}

static size_t text_bytes(void)
{
	return (uintptr_t)text_end - (uintptr_t)text_start;
}

/* Nothing of ours is registered. */
static int check_text(struct command_env *env)
{
	for (size_t i = 0; i < text_bytes(); i++) {
		if ((uint8_t)text_start[i] == torture.text[i])
			continue;
		command_error(env, "text at %lx is %02x, was %02x",
			      (unsigned long)(uintptr_t)(text_start + i), (uint8_t)text_start[i],
			      torture.text[i]);
		return 1;
	}
	return 0;
}

static int unregister_all(void)
{
	int err = is_registered(&steady) ? unregister_ftrace_function(&steady) : 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (is_registered(&others[i]) && !err)
			err = remove_other(&others[i]);
	}
	return err;
}

/* ---- Rounds ---- */

static int begin_round(void)
{
	uintptr_t ips[NR_STEADY];
	int err;

	for (uint32_t i = 0; i < NR_STEADY; i++)
		ips[i] = (uintptr_t)torture_targets[i];
	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++)
		atomic_store(&torture.counts[i], 0);
	err = ftrace_set_filter_ips(&steady, ips, NR_STEADY, false, true);
	return err || is_registered(&steady) ? err : register_ftrace_function(&steady);
}

/* 0, 1 when a check failed, or -errno. */
static int run_round(struct command_env *env, uint64_t round)
{
	int err = begin_round();

	if (err)
		return err;
	torture_release_workers();
	for (uint32_t i = 0; i < CHANGES_PER_ROUND && !err; i++)
		err = change_something();
	torture_wait_workers();
	if (err)
		return err;
	if (round % 4 == 0)
		err = unregister_ftrace_function(&steady);
	if (check_counts(env))
		return 1;
	if (err || round % ROUNDS_PER_CHECK)
		return err;
	err = unregister_all();
	return err ? err : check_text(env);
}

static int run_rounds(struct command_env *env, uint64_t rounds, uint64_t end_ns, uint64_t *out_done)
{
	int err = 0;

	for (*out_done = 0; *out_done < rounds && !err; ++*out_done) {
		if (command_stopped(env))
			return -EINTR;
		if (ktime_ns() >= end_ns)
			break;
		err = run_round(env, *out_done + 1);
	}
	return err;
}

static void free_filters(void)
{
	ftrace_free_filter(&steady);
	for (uint32_t i = 0; i < ARRAY_SIZE(others); i++)
		ftrace_free_filter(&others[i]);
}

static int run_all(struct command_env *env, uint64_t rounds, uint64_t end_ns, uint64_t *out_done)
{
	int err, end_err;

	torture.text = vmalloc(text_bytes());
	if (!torture.text)
		return -ENOMEM;
	memcpy(torture.text, text_start, text_bytes());
	err = torture_start_workers();
	if (err)
		goto free_text;
	err = run_rounds(env, rounds, end_ns, out_done);
	torture_stop_workers();
	end_err = unregister_all();
	free_filters();
	if (!end_err)
		end_err = check_text(env);
	if (end_err)
		err = end_err;
free_text:
	vfree(torture.text);
	return err;
}

/* Ended threads give their memory back a little later. */
static int check_memory(struct command_env *env, uint64_t pages_before, size_t exec_before)
{
	struct mm_stats now;

	for (uint32_t i = 0; i < SETTLE_TRIES; i++) {
		mm_stats_get(&now);
		if (now.used_pages - now.page_table_pages <= pages_before)
			break;
		thread_sleep_ns(SETTLE_NS);
	}
	if (now.used_pages - now.page_table_pages > pages_before)
		command_error(
			env, "%lu pages are missing",
			(unsigned long)(now.used_pages - now.page_table_pages - pages_before));
	else if (arch_exec_used() != exec_before)
		command_error(env, "%lu bytes of trampolines are left",
			      (unsigned long)(arch_exec_used() - exec_before));
	else
		return 0;
	return 1;
}

static int torture_locked(struct command_env *env, uint64_t rounds, uint64_t seconds)
{
	uint64_t start_ns = ktime_ns(), done = 0;
	uint64_t end_ns = seconds ? start_ns + seconds * NSEC_PER_SEC : UINT64_MAX;
	struct trace_poke_stats before, after;
	size_t exec_before = arch_exec_used();
	struct mm_stats mm;
	int err;

	mm_stats_get(&mm);
	trace_plat_poke_stats(&before);
	torture.random = start_ns | 1;
	atomic_store(&torture.nr_other, 0);
	atomic_store(&torture.nr_late, 0);
	err = run_all(env, rounds, end_ns, &done);
	trace_plat_poke_stats(&after);
	if (err < 0)
		command_error(env, "%s", command_strerror(err));
	if (!err)
		err = check_memory(env, mm.used_pages - mm.page_table_pages, exec_before);
	command_printf(
		env,
		"torture: %lu rounds, %u CPUs, %lu batches, %lu sites, %lu int3, %lu stale: %s\n",
		(unsigned long)done, torture_nr_workers(),
		(unsigned long)(after.batches - before.batches),
		(unsigned long)(after.sites - before.sites),
		(unsigned long)(after.int3_hits - before.int3_hits),
		(unsigned long)(after.stale - before.stale), err ? "FAILED" : "ok");
	return err ? 1 : 0;
}

/* The other forms of the command, by their first word; false when it is none of them. */
static bool run_other(struct command_env *env, const char *word, uint64_t rounds, int *out_status)
{
	if (strcmp(word, "damage") == 0)
		*out_status = torture_damage(env);
	else if (strcmp(word, "graph") == 0)
		*out_status = torture_graph(env, rounds);
	else if (strcmp(word, "longjmp") == 0)
		*out_status = torture_longjmp(env);
	else
		return false;
	return true;
}

static int torture_run(struct command_env *env, int argc, char **argv)
{
	uint64_t rounds = DEFAULT_ROUNDS, second = 0;
	bool is_other = argc > 1 && (*argv[1] < '0' || *argv[1] > '9');
	int status = COMMAND_USAGE;

	if (argc > 3 || (argc > 1 && !is_other && !command_parse_u64(argv[1], &rounds)) ||
	    (argc > 2 && !command_parse_u64(argv[2], &second)))
		return COMMAND_USAGE;
	if (!mutex_trylock(&torture_lock)) {
		command_error(env, "is running already");
		return 1;
	}
	if (!is_other)
		status = torture_locked(env, rounds, second);
	else if (!run_other(env, argv[1], argc > 2 ? second : rounds, &status))
		status = COMMAND_USAGE;
	mutex_unlock(&torture_lock);
	return status;
}

const struct command torture_commands[] = {
	{ .name = "torture",
	  .usage = "[rounds] [seconds] | damage | graph [rounds] | longjmp",
	  .help = "patch call sites while all CPUs run over them, and check everything",
	  .run = torture_run },
	{ 0 },
};
