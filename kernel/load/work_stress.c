/*
 * The command stress: starts workers, joins them, reports. See work_stress.h.
 */
#include <stdatomic.h>
#include <arch/smp.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include "shell/cmd/command_tables.h"
#include "work_stress.h"

static const struct stress_kind *const kinds[] = {
	&stress_alloc, &stress_ipi, &stress_livepatch, &stress_locks, &stress_timers,
};

void stress_fail(struct stress_run *run, const char *fmt, ...)
{
	va_list args;

	if (atomic_fetch_add(&run->nr_failed, 1))
		return;
	va_start(args, fmt);
	trace_vsnprintf(run->what, sizeof(run->what), fmt, args);
	va_end(args);
}

uint32_t stress_random(struct stress_worker *worker, uint32_t limit)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	worker->random ^= worker->random << 17;
	return (uint32_t)(worker->random >> 32) % limit;
}

static int stress_loop(void *arg)
{
	struct stress_worker *worker = arg;
	struct stress_run *run = worker->run;

	while (worker->rounds < run->max_rounds && ktime_get_ns() < run->end_ns) {
		if (run->nr_failed || thread_interrupted())
			break;
		run->kind->round(worker);
		worker->rounds++;
		cond_resched();
	}
	return 0;
}

static int stress_start_workers(struct stress_run *run, struct stress_worker *workers)
{
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		struct stress_worker *worker = &workers[run->nr_workers];

		if (!smp_cpu_online(cpu))
			continue;
		worker->run = run;
		worker->index = run->nr_workers;
		worker->cpu = cpu;
		worker->random = 0x9e3779b97f4a7c15ull * (cpu + 1);
		worker->thread =
			thread_create_on(1ull << cpu, run->kind->name, stress_loop, worker, 0);
		if (!worker->thread)
			return -ENOMEM;
		run->nr_workers++;
	}
	return 0;
}

/* Wait for all workers. Returns the sum of their rounds. */
static uint64_t stress_join_workers(struct stress_run *run, struct stress_worker *workers)
{
	uint64_t rounds = 0;

	for (uint32_t i = 0; i < run->nr_workers; i++) {
		int status;

		if (thread_join(workers[i].thread, &status)) {
			thread_interrupt(workers[i].thread);
			thread_join_wait(workers[i].thread);
		}
		rounds += workers[i].rounds;
	}
	return rounds;
}

static int stress_run_workers(struct stress_run *run, uint64_t *out_rounds)
{
	struct stress_worker *workers = kcalloc(smp_nr_cpus(), sizeof(*workers));
	int err;

	if (!workers)
		return -ENOMEM;
	err = stress_start_workers(run, workers);
	if (err)
		run->end_ns = 0;
	*out_rounds = stress_join_workers(run, workers);
	kfree(workers);
	return err;
}

/* Run the workload run->kind, from its begin() to its end(). 0 or -ENOMEM. */
static int stress_one(struct stress_run *run, uint64_t *out_rounds)
{
	const struct stress_kind *kind = run->kind;
	int err = 0;

	run->shared = kzalloc(kind->shared_bytes);
	if (!run->shared)
		return -ENOMEM;
	if (kind->begin)
		err = kind->begin(run);
	if (!err)
		err = stress_run_workers(run, out_rounds);
	if (kind->end)
		kind->end(run, *out_rounds);
	kfree(run->shared);
	return err;
}

static int stress_and_report(struct command_env *env, const struct stress_kind *kind,
			     uint64_t limit_ns, uint64_t max_rounds)
{
	struct stress_run run = { .kind = kind, .max_rounds = max_rounds };
	uint64_t rounds = 0;
	int err;

	run.end_ns = limit_ns == UINT64_MAX ? limit_ns : ktime_get_ns() + limit_ns;
	err = stress_one(&run, &rounds);
	if (thread_interrupted())
		return COMMAND_SIGINT;
	if (err) {
		command_error(env, "%s: %s", kind->name, command_strerror(err));
		return 1;
	}
	if (run.nr_failed) {
		command_error(env, "%s: failed: %s", kind->name, run.what);
		return 1;
	}
	command_printf(env, "stress: %s: %lu rounds on %u CPUs, ok: %s\n", kind->name, rounds,
		       run.nr_workers, kind->checked);
	return 0;
}

/* Parse `[KIND | all] [SECONDS | -n ROUNDS]`. False for a mistake. */
static bool stress_parse_arguments(int argc, char **argv, const char **out_name, uint64_t *out_ns,
				   uint64_t *out_rounds)
{
	uint64_t seconds = 1;
	int i = 1;

	if (i < argc && argv[i][0] >= 'a' && argv[i][0] <= 'z')
		*out_name = argv[i++];
	if (i + 1 < argc && strcmp(argv[i], "-n") == 0) {
		*out_ns = UINT64_MAX;
		return command_parse_u64(argv[i + 1], out_rounds) && i + 2 == argc;
	}
	if (i < argc && (!command_parse_u64(argv[i++], &seconds) || seconds > 100000))
		return false;
	*out_ns = seconds * NSEC_PER_SEC;
	return i == argc;
}

static int stress_command(struct command_env *env, int argc, char **argv)
{
	const char *name = "all";
	uint64_t ns = 0, rounds = UINT64_MAX;
	int status = COMMAND_USAGE;

	if (!stress_parse_arguments(argc, argv, &name, &ns, &rounds))
		return COMMAND_USAGE;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(name, "all") != 0 && strcmp(name, kinds[i]->name) != 0)
			continue;
		status = stress_and_report(env, kinds[i], ns, rounds);
		if (status)
			break;
	}
	return status;
}

const struct command stress_commands[] = {
	{ "stress", "[alloc | ipi | livepatch | locks | timers | all] [SECONDS | -n ROUNDS]",
	  "load the kernel on all CPUs and check the results", stress_command, 0 },
	{ 0 },
};
