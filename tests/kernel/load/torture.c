/*
 * `torture [crowd | kprobes] [rounds] [seconds]`: patch the kernel while every CPU runs over the patched
 * sites.
 *
 *   workers   one per CPU, call every target as long as a round goes on, count that, and check the
 *             results
 *   reader    reads files of tracefs meanwhile; with `crowd` only
 *   users     use tracing in all ways, and change something while the workers run: torture.h; with
 *             `crowd` all that there are, else ops alone
 *
 * After each round: every target has run as often as it was called, and every user has counted what
 * it should. Now and then, and at the end: text is what it was at the start, byte for byte. At the
 * end: no return is hooked, no page and no trampoline is missing. The last line says how often.
 *
 * Context: thread. One torture at a time.
 */
#include <arch/paging.h>
#include <arch/sections.h>
#include <arch/smp.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <stdatomic.h>
#include <trace/arch_exec.h>
#include <trace/fgraph.h>
#include "../test_commands.h"
#include "torture.h"

#define DEFAULT_ROUNDS	  100u
#define CHANGES_PER_ROUND 4u
#define CROWD_CHANGES	  2u  /* of each user */
#define ROUNDS_PER_CHECK  32u /* between two looks at all of text */
#define WARM_ROUNDS	  3u  /* of a crowd, before memory is counted */
#define SETTLE_NS	  (20 * NSEC_PER_MSEC)
#define SETTLE_TRIES	  50u
#define LEAK_REPEATS	  4u /* of a few rounds: what we lose, we lose each time */
#define LEAK_ROUNDS	  2u

static const struct torture_user *const all_users[] = {
	&torture_ops, /* alone without a crowd */
	&torture_regs,	 &torture_patch,  &torture_traces,  &torture_profile,
	&torture_system, &torture_events, &torture_scripts,
};

static const struct torture_user *const kprobe_users[] = {
	&torture_kprobes,
	&torture_ops,
	&torture_regs,
	&torture_patch,
};

static struct {
	const struct torture_user *const *users;
	uint32_t nr_users;
	uint64_t random;
	uint64_t nr_calls; /* of targets, checked */
	uint8_t *text;	   /* as it was at the start */
} torture;

static struct mutex torture_lock; /* one at a time */

uint64_t torture_pick(uint64_t limit)
{
	return torture_random(&torture.random, limit);
}

/* ---- Checks ---- */

bool torture_expect(struct command_env *env, const char *what, uint64_t nr, uint64_t expected)
{
	if (nr != expected)
		command_error(env, "%s: %lu, expected %lu", what, (unsigned long)nr,
			      (unsigned long)expected);
	return nr == expected;
}

static bool torture_check_reader(struct command_env *env)
{
	const char *path;
	int err = torture_reader_error(&path);

	if (err)
		command_perror(env, path, err);
	return !err;
}

/* 1 when something is wrong. */
static int torture_check_round(struct command_env *env)
{
	uint64_t expected = torture_calls();
	bool is_right = torture_expect(env, "wrong results", torture_wrong_results(), 0);

	torture.nr_calls += expected * TORTURE_NR_TARGETS;
	is_right &= torture_check_reader(env);
	is_right &= torture_expect(env, "dead", ftrace_is_dead() || ftrace_graph_is_dead(), 0);
	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++)
		is_right &= torture_expect(env, "runs of a target", atomic_load(&torture_runs[i]),
					   expected);
	for (uint32_t i = 0; i < torture.nr_users; i++) {
		if (torture.users[i]->check)
			is_right &= torture.users[i]->check(env, expected);
	}
	return is_right ? 0 : 1;
}

static size_t torture_text_bytes(void)
{
	return (uintptr_t)text_end - (uintptr_t)text_start;
}

/* Nothing of ours is registered. */
static int torture_check_text(struct command_env *env)
{
	for (size_t i = 0; i < torture_text_bytes(); i++) {
		if ((uint8_t)text_start[i] == torture.text[i])
			continue;
		command_error(env, "text at %lx is %02x, was %02x",
			      (unsigned long)(uintptr_t)(text_start + i), (uint8_t)text_start[i],
			      torture.text[i]);
		return 1;
	}
	return 0;
}

/* ---- Rounds ---- */

static int torture_start_users(void)
{
	int err = 0;

	for (uint32_t i = 0; i < torture.nr_users && !err; i++) {
		if (torture.users[i]->start)
			err = torture.users[i]->start();
	}
	return err;
}

static int torture_stop_users(void)
{
	int err = 0;

	for (uint32_t i = 0; i < torture.nr_users; i++) {
		int user_err = torture.users[i]->stop ? torture.users[i]->stop() : 0;

		if (!err)
			err = user_err;
	}
	return err;
}

static int torture_begin_round(void)
{
	int err = 0;

	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++)
		atomic_store(&torture_runs[i], 0);
	for (uint32_t i = 0; i < torture.nr_users && !err; i++) {
		if (torture.users[i]->begin)
			err = torture.users[i]->begin();
	}
	return err;
}

static int torture_change_something(void)
{
	const struct torture_user *user = torture.users[torture_pick(torture.nr_users)];

	return user->change ? user->change() : 0;
}

/* Everything off, and the text as it was: 0, 1 or -errno. */
static int torture_pause_users(struct command_env *env)
{
	int err = torture_stop_users();

	if (!err)
		err = torture_check_text(env);
	return err ? err : torture_start_users();
}

/* 0, 1 when a check failed, or -errno. */
static int torture_run_round(struct command_env *env, uint64_t round)
{
	uint32_t nr_changes =
		torture.nr_users > 1 ? CROWD_CHANGES * torture.nr_users : CHANGES_PER_ROUND;
	int err = torture_begin_round();

	if (err)
		return err;
	torture_release_workers();
	torture_release_reader();
	for (uint32_t i = 0; i < nr_changes && !err; i++)
		err = torture_change_something();
	torture_wait_workers();
	torture_rest_reader();
	if (err) {
		torture_last_writes(env);
		return err;
	}
	err = torture_check_round(env);
	if (err && torture.nr_users > 1)
		torture_last_writes(env);
	return err || round % ROUNDS_PER_CHECK ? err : torture_pause_users(env);
}

static int torture_run_rounds(struct command_env *env, uint64_t rounds, uint64_t end_ns,
			      uint64_t *out_done)
{
	int err = 0;

	for (*out_done = 0; *out_done < rounds && !err; ++*out_done) {
		if (command_stopped(env))
			return -EINTR;
		if (*out_done && ktime_get_ns() >= end_ns)
			break;
		err = torture_run_round(env, *out_done + 1);
	}
	return err;
}

static int torture_run_with_workers(struct command_env *env, uint64_t rounds, uint64_t end_ns,
				    uint64_t *out_done)
{
	int err, end_err;

	memcpy(torture.text, text_start, torture_text_bytes());
	err = torture_start_workers(torture.nr_users > 1);
	if (err)
		return err;
	if (torture.nr_users > 1)
		err = torture_start_reader();
	if (!err)
		err = torture_start_users();
	if (!err)
		err = torture_run_rounds(env, rounds, end_ns, out_done);
	end_err = torture_stop_users();
	torture_stop_reader();
	if (!torture_stop_workers()) {
		command_error(env, "a return is hooked still");
		err = 1;
	}
	if (!end_err)
		end_err = torture_check_text(env);
	return end_err ? end_err : err;
}

static int torture_run_all(struct command_env *env, uint64_t rounds, uint64_t end_ns,
			   uint64_t *out_done)
{
	int err;

	torture.text = vmalloc(torture_text_bytes());
	if (!torture.text)
		return -ENOMEM;
	err = torture_run_with_workers(env, rounds, end_ns, out_done);
	vfree(torture.text);
	return err;
}

/* Memory in use; slabs by their objects, for how many pages these share is a matter of luck. */
struct memory {
	uint64_t pages;
	uint64_t objects;
	size_t exec_bytes;
};

static void torture_measure_memory(struct memory *out)
{
	struct mm_stats mm;

	mm_stats_get(&mm);
	/* A shadow stack is a page; threads that sleep in a hooked call keep theirs. */
	out->pages = mm.used_pages - mm.page_table_pages - mm.slab_pages - ftrace_graph_nr_stacks();
	out->objects = mm.slab_objects;
	out->exec_bytes = trace_exec_used();
}

static bool torture_has_grown(const struct memory *now, const struct memory *before)
{
	return now->pages > before->pages || now->objects > before->objects ||
	       now->exec_bytes > before->exec_bytes;
}

/* Ended threads, and trampolines that they stood in, give their memory back a little later. */
static struct memory torture_settled_memory(const struct memory *before)
{
	struct memory now;

	torture_measure_memory(&now);
	for (uint32_t i = 0; i < SETTLE_TRIES && torture_has_grown(&now, before); i++) {
		thread_sleep_ns(SETTLE_NS);
		torture_measure_memory(&now);
	}
	return now;
}

/*
 * Other commands use memory meanwhile, so one that grew says little. What torture loses, it loses
 * whenever it runs: memory that grows with every repeat is ours. 0, 1 or -errno.
 */
static int torture_check_memory(struct command_env *env, struct memory before)
{
	struct memory now = torture_settled_memory(&before);
	bool is_right = true;
	uint64_t done;

	for (uint32_t i = 0; i < LEAK_REPEATS && torture_has_grown(&now, &before); i++) {
		int err = torture_run_all(env, LEAK_ROUNDS, UINT64_MAX, &done);

		if (err)
			return err;
		before = now;
		now = torture_settled_memory(&before);
	}
	if (now.pages > before.pages)
		is_right = torture_expect(env, "pages in use", now.pages, before.pages);
	if (now.objects > before.objects)
		is_right = torture_expect(env, "objects in use", now.objects, before.objects);
	if (now.exec_bytes > before.exec_bytes)
		is_right = torture_expect(env, "bytes of trampolines", now.exec_bytes,
					  before.exec_bytes);
	return is_right ? 0 : 1;
}

/* Memory that first uses keep for the next ones is not missing. */
static int torture_warm_up(struct command_env *env)
{
	uint64_t done;

	return torture.nr_users > 1 ? torture_run_all(env, WARM_ROUNDS, UINT64_MAX, &done) : 0;
}

static int torture_run_measured(struct command_env *env, uint64_t rounds, uint64_t seconds,
				uint64_t *out_done)
{
	struct memory before;
	uint64_t end_ns;
	int err = torture_warm_up(env);

	if (err)
		return err;
	torture_measure_memory(&before);
	end_ns = seconds ? ktime_after(seconds * NSEC_PER_SEC) : UINT64_MAX;
	err = torture_run_all(env, rounds, end_ns, out_done);
	return err ? err : torture_check_memory(env, before);
}

static int torture_locked(struct command_env *env, uint64_t rounds, uint64_t seconds)
{
	uint64_t done = 0;
	struct trace_poke_stats before, after;
	int err;

	trace_plat_poke_stats(&before);
	torture.random = ktime_get_ns() | 1;
	torture.nr_calls = 0;
	err = torture_run_measured(env, rounds, seconds, &done);
	trace_plat_poke_stats(&after);
	if (err < 0)
		command_error(env, "%s", command_strerror(err));
	command_printf(env,
		       "torture: %lu rounds, %u CPUs, %lu batches, %lu sites, %lu int3, %lu stale; "
		       "each of %lu calls counted by all, text and memory compared: %s\n",
		       (unsigned long)done, torture_nr_workers(),
		       (unsigned long)(after.batches - before.batches),
		       (unsigned long)(after.sites - before.sites),
		       (unsigned long)(after.int3_hits - before.int3_hits),
		       (unsigned long)(after.stale - before.stale), (unsigned long)torture.nr_calls,
		       err ? "FAILED" : "ok");
	return err ? 1 : 0;
}

/* The forms of the command that begin with a word; COMMAND_USAGE when it is none. */
static int torture_run_word(struct command_env *env, const char *word, uint64_t rounds,
			    uint64_t seconds)
{
	torture.nr_users = ARRAY_SIZE(all_users);
	if (strcmp(word, "crowd") == 0)
		return torture_locked(env, rounds, seconds);
	if (strcmp(word, "kprobes") == 0) {
		torture.users = kprobe_users;
		torture.nr_users = ARRAY_SIZE(kprobe_users);
		return torture_locked(env, rounds, seconds);
	}
	if (strcmp(word, "damage") == 0)
		return torture_damage(env);
	if (strcmp(word, "records") == 0)
		return torture_records(env);
	if (strcmp(word, "graph") == 0)
		return torture_graph(env, rounds);
	if (strcmp(word, "longjmp") == 0)
		return torture_longjmp(env);
	return COMMAND_USAGE;
}

static int torture_run(struct command_env *env, int argc, char **argv)
{
	const char *word = argc > 1 && (*argv[1] < '0' || *argv[1] > '9') ? argv[1] : NULL;
	uint64_t rounds = DEFAULT_ROUNDS, seconds = 0;
	int status;

	argc -= word ? 1 : 0;
	argv += word ? 1 : 0;
	if (argc > 3 || (argc > 1 && !command_parse_u64(argv[1], &rounds)) ||
	    (argc > 2 && !command_parse_u64(argv[2], &seconds)) ||
	    seconds > UINT64_MAX / NSEC_PER_SEC)
		return COMMAND_USAGE;
	if (!mutex_trylock(&torture_lock)) {
		command_error(env, "is running already");
		return 1;
	}
	torture.users = all_users;
	torture.nr_users = 1;
	status = word ? torture_run_word(env, word, rounds, seconds)
		      : torture_locked(env, rounds, seconds);
	mutex_unlock(&torture_lock);
	return status;
}

const struct command torture_commands[] = {
	{ .name = "torture",
	  .usage = "[crowd | kprobes] [rounds] [seconds] | damage | records | graph [rounds] | "
		   "longjmp",
	  .help = "patch call sites while all CPUs run over them, and check everything",
	  .run = torture_run },
	{ 0 },
};
