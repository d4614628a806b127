/*
 * `torture [rounds] [seconds]`: patch the kernel while every CPU runs over the patched sites.
 *
 *   steady    counts the calls of half of the targets; registered for the whole round, its filter
 *             changes by functions that do not matter
 *   two more  come and go: on all functions, on random ones, on patterns, with live changes, and
 *             while NMIs run traced functions
 *   workers   one per CPU, call every target a known number of times and check the results
 *
 * After each round: steady has seen every call of its targets, no call of the others. Now and then,
 * and at the end: text is what it was at the start, byte for byte. At the end: no page and no
 * trampoline is missing.
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
#define CALLS_PER_ROUND	  64u /* of each target, by each worker */
#define CHANGES_PER_ROUND 4u
#define ROUNDS_PER_CHECK  32u /* between two looks at all of text */
#define RANDOM_SITES	  40u
#define NR_STEADY	  (TORTURE_NR_TARGETS / 2) /* the first ones */
#define SETTLE_NS	  (20 * NSEC_PER_MSEC)
#define SETTLE_TRIES	  50u

struct worker {
	struct thread *thread;
	struct semaphore go;
	struct completion done;
	_Atomic bool stop;
	uint64_t nr_wrong; /* results */
	uint64_t seed;
};

static struct {
	struct worker workers[MAX_CPUS];
	uint32_t nr_workers;
	_Atomic uint64_t counts[TORTURE_NR_TARGETS]; /* calls that steady has seen */
	_Atomic uint64_t nr_other;		     /* calls that the other two have seen */
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
	(void)ip;
	(void)parent_ip;
	(void)ops;
	(void)fregs;
	atomic_fetch_add_explicit(&torture.nr_other, 1, memory_order_relaxed);
}

static struct ftrace_ops steady = { .func = count_steady };
static struct ftrace_ops others[] = {
	{ .func = count_other },
	{ .func = count_other, .flags = FTRACE_OPS_FL_RECURSION },
};

/* ---- Workers ---- */

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % limit;
}

/* Call every target twice with the same argument: the results agree, whatever sits on the site. */
static void call_targets(struct worker *worker)
{
	for (uint32_t call = 0; call < CALLS_PER_ROUND / 2; call++) {
		for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++) {
			torture_target_fn volatile target = torture_targets[i];
			uint64_t value = random_below(&worker->seed, 1u << 20);
			uint64_t first = target(value);

			worker->nr_wrong += target(value) != first;
		}
		cond_resched();
	}
}

static int worker_main(void *arg)
{
	struct worker *worker = arg;

	for (;;) {
		semaphore_down(&worker->go);
		if (atomic_load(&worker->stop))
			return 0;
		call_targets(worker);
		complete(&worker->done);
	}
}

static void stop_workers(void)
{
	for (uint32_t i = 0; i < torture.nr_workers; i++) {
		atomic_store(&torture.workers[i].stop, true);
		semaphore_up(&torture.workers[i].go);
		thread_join_wait(torture.workers[i].thread);
	}
}

static int start_workers(void)
{
	torture.nr_workers = 0;
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		struct worker *worker = &torture.workers[torture.nr_workers];

		if (!smp_cpu_online(cpu))
			continue;
		*worker = (struct worker){ .seed = cpu + 1 };
		worker->thread =
			thread_create_on(1ull << cpu, "torture_worker", worker_main, worker, 0);
		if (!worker->thread) {
			stop_workers();
			return -ENOMEM;
		}
		torture.nr_workers++;
	}
	return 0;
}

/* ---- Changes while the workers run ---- */

static bool is_registered(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED;
}

static int toggle(struct ftrace_ops *ops)
{
	return is_registered(ops) ? unregister_ftrace_function(ops) : register_ftrace_function(ops);
}

static int filter_all(struct ftrace_ops *ops)
{
	return ftrace_set_filter(ops, NULL, 0, true);
}

static int filter_pattern(struct ftrace_ops *ops)
{
	static const char *const patterns[] = { "*sched*", "target_*", "*l*", "[a-m]*", "*_*e*" };
	const char *pattern = patterns[random_below(&torture.random, ARRAY_SIZE(patterns))];

	return ftrace_set_filter(ops, pattern, strlen(pattern), random_below(&torture.random, 2));
}

static int filter_random(struct ftrace_ops *ops)
{
	uintptr_t ips[RANDOM_SITES];
	size_t nr;
	const uintptr_t *sites = trace_plat_sites(&nr);

	for (uint32_t i = 0; i < RANDOM_SITES; i++)
		ips[i] = sites[random_below(&torture.random, nr)];
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
	uint32_t i = NR_STEADY + (uint32_t)random_below(&torture.random, NR_STEADY);
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
	struct ftrace_ops *ops = &others[random_below(&torture.random, ARRAY_SIZE(others))];

	return changes[random_below(&torture.random, ARRAY_SIZE(changes))](ops);
}

/* ---- Checks ---- */

static int check_counts(struct command_env *env)
{
	uint64_t expected = (uint64_t)torture.nr_workers * CALLS_PER_ROUND;
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
	for (uint32_t i = 0; i < torture.nr_workers; i++) {
		if (!torture.workers[i].nr_wrong)
			continue;
		command_error(env, "worker %u: %lu wrong results", i,
			      (unsigned long)torture.workers[i].nr_wrong);
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
			err = unregister_ftrace_function(&others[i]);
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
	for (uint32_t i = 0; i < torture.nr_workers; i++)
		semaphore_up(&torture.workers[i].go);
	for (uint32_t i = 0; i < CHANGES_PER_ROUND && !err; i++)
		err = change_something();
	for (uint32_t i = 0; i < torture.nr_workers; i++)
		wait_for_completion(&torture.workers[i].done);
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
	err = start_workers();
	if (err)
		goto free_text;
	err = run_rounds(env, rounds, end_ns, out_done);
	stop_workers();
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
	err = run_all(env, rounds, end_ns, &done);
	trace_plat_poke_stats(&after);
	if (err < 0)
		command_error(env, "%s", command_strerror(err));
	if (!err)
		err = check_memory(env, mm.used_pages - mm.page_table_pages, exec_before);
	command_printf(
		env,
		"torture: %lu rounds, %u CPUs, %lu batches, %lu sites, %lu int3, %lu stale: %s\n",
		(unsigned long)done, torture.nr_workers,
		(unsigned long)(after.batches - before.batches),
		(unsigned long)(after.sites - before.sites),
		(unsigned long)(after.int3_hits - before.int3_hits),
		(unsigned long)(after.stale - before.stale), err ? "FAILED" : "ok");
	return err ? 1 : 0;
}

static int torture_run(struct command_env *env, int argc, char **argv)
{
	bool damage = argc == 2 && strcmp(argv[1], "damage") == 0;
	uint64_t rounds = DEFAULT_ROUNDS, seconds = 0;
	int status;

	if (argc > 3 || (argc > 1 && !damage && !command_parse_u64(argv[1], &rounds)) ||
	    (argc > 2 && !command_parse_u64(argv[2], &seconds)))
		return COMMAND_USAGE;
	if (!mutex_trylock(&torture_lock)) {
		command_error(env, "is running already");
		return 1;
	}
	status = damage ? torture_damage(env) : torture_locked(env, rounds, seconds);
	mutex_unlock(&torture_lock);
	return status;
}

const struct command torture_commands[] = {
	{ .name = "torture",
	  .usage = "[rounds] [seconds] | damage",
	  .help = "patch call sites while all CPUs run over them, and check everything",
	  .run = torture_run },
	{ 0 },
};
