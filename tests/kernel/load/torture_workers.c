/* The threads of `torture` that run over the sites: see torture.h. */
#include <arch/smp.h>
#include <kernel/mm.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <stdatomic.h>
#include <trace/fgraph.h>
#include "torture.h"

struct worker {
	struct thread *thread;
	struct semaphore go;
	struct completion done;
	uint32_t cpu;
	_Atomic bool stop;
	/* of each target in this round; its own until that is done, as the next */
	uint64_t nr_calls;
	uint64_t nr_wrong;
	uint64_t seed;
};

#define PASSES_AT_ONCE 4u
#define PAUSE_NS       (NSEC_PER_MSEC / 4) /* at least */
#define PAUSES	       3u		   /* as long as the passes took */

static _Atomic bool is_enough;
static bool goes_on; /* a round lasts until it is enough */
static struct worker workers[MAX_CPUS];
static uint32_t nr_workers;

uint64_t torture_random(uint64_t *state, uint64_t limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state % limit;
}

/* Call every target twice with the same argument: the results agree, whatever sits on the site. */
static void torture_workers_call_targets(struct worker *worker)
{
	for (uint32_t i = 0; i < TORTURE_NR_TARGETS; i++) {
		torture_target_fn volatile target = torture_targets[i];
		uint64_t value = torture_random(&worker->seed, TORTURE_MAX_VALUE);
		uint64_t first = target(value);

		worker->nr_wrong += target(value) != first;
	}
	worker->nr_calls += 2;
}

/*
 * No call of this thread waits for its hooked return: none on the shadow stack, and no hook where
 * return addresses lie.
 */
static TRACE_NOINLINE bool torture_workers_stack_is_clean(void)
{
	const struct thread *thread = current_thread();
	const uintptr_t *word = __builtin_frame_address(0);
	const uintptr_t *end = (const uintptr_t *)((uintptr_t)thread->stack + STACK_BYTES);
	bool is_clean = ftrace_graph_depth(&thread->trace) == 0;

	for (; word < end; word++)
		is_clean &= *word != trace_plat_return_hook();
	return is_clean;
}

/* With pauses: whoever changes things needs the CPUs too. */
static void torture_workers_go_on_calling(struct worker *worker)
{
	uint64_t start_ns = ktime_get_ns(), pause_ns;

	for (uint32_t i = 0; i < PASSES_AT_ONCE; i++)
		torture_workers_call_targets(worker);
	pause_ns = PAUSES * (ktime_get_ns() - start_ns);
	thread_sleep_ns(pause_ns > PAUSE_NS ? pause_ns : PAUSE_NS);
}

/* Exit status: is the stack clean? */
static int worker_main(void *arg)
{
	struct worker *worker = arg;

	for (;;) {
		semaphore_down(&worker->go);
		if (atomic_load(&worker->stop))
			return torture_workers_stack_is_clean();
		worker->nr_calls = 0;
		while (worker->nr_calls < TORTURE_CALLS) {
			torture_workers_call_targets(worker);
			cond_resched();
		}
		while (goes_on && !atomic_load(&is_enough))
			torture_workers_go_on_calling(worker);
		complete(&worker->done);
	}
}

bool torture_stop_workers(void)
{
	bool are_clean = true;

	for (uint32_t i = 0; i < nr_workers; i++) {
		atomic_store(&workers[i].stop, true);
		semaphore_up(&workers[i].go);
		are_clean &= thread_join_wait(workers[i].thread);
	}
	return are_clean;
}

int torture_start_workers(bool until_enough)
{
	goes_on = until_enough;
	nr_workers = 0;
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		struct worker *worker = &workers[nr_workers];

		if (!smp_cpu_online(cpu))
			continue;
		*worker = (struct worker){ .cpu = cpu, .seed = cpu + 1 };
		worker->thread =
			thread_create_on(1ull << cpu, "torture_worker", worker_main, worker, 0);
		if (!worker->thread) {
			torture_stop_workers();
			return -ENOMEM;
		}
		nr_workers++;
	}
	return 0;
}

void torture_release_workers(void)
{
	atomic_store(&is_enough, false);
	for (uint32_t i = 0; i < nr_workers; i++)
		semaphore_up(&workers[i].go);
}

void torture_wait_workers(void)
{
	atomic_store(&is_enough, true);
	for (uint32_t i = 0; i < nr_workers; i++)
		wait_for_completion(&workers[i].done);
}

uint32_t torture_nr_workers(void)
{
	return nr_workers;
}

uint32_t torture_worker_cpu(uint32_t worker)
{
	return workers[worker].cpu;
}

int32_t torture_worker_pid(uint32_t worker)
{
	return workers[worker].thread->pid;
}

uint64_t torture_worker_calls(uint32_t worker)
{
	return workers[worker].nr_calls;
}

uint64_t torture_calls(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr_workers; i++)
		sum += workers[i].nr_calls;
	return sum;
}

uint64_t torture_wrong_results(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr_workers; i++)
		sum += workers[i].nr_wrong;
	return sum;
}
