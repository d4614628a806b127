/*
 * stress ipi: calls on other CPUs run there, exactly once each, before the caller goes on.
 */
#include <stdatomic.h>
#include <arch/smp.h>
#include <kernel/thread.h>
#include "work_stress.h"

struct ipi_shared {
	_Atomic uint64_t nr_asked;
	_Atomic uint64_t nr_run;
};

struct ipi_call {
	struct ipi_shared *shared;
	uint64_t seen; /* a bit per CPU, which each call there inverts: 1 after a single call */
};

static void stress_ipi_note_call(void *arg)
{
	struct ipi_call *call = arg;

	atomic_fetch_add(&call->shared->nr_run, 1);
	__atomic_fetch_xor(&call->seen, 1ull << cpu_local_read(id), __ATOMIC_SEQ_CST);
}

static uint64_t stress_ipi_count_bits(uint64_t bits)
{
	uint64_t nr = 0;

	for (; bits; bits &= bits - 1)
		nr++;
	return nr;
}

static void stress_ipi_check_seen(struct stress_worker *worker, uint64_t seen, uint64_t expected)
{
	atomic_fetch_add(&((struct ipi_shared *)worker->run->shared)->nr_asked,
			 stress_ipi_count_bits(expected));
	if (seen != expected)
		stress_fail(worker->run, "called CPUs %#lx, run on %#lx", expected, seen);
}

static void ipi_round(struct stress_worker *worker)
{
	struct ipi_call call = { .shared = worker->run->shared };
	uint32_t cpu = stress_random(worker, smp_nr_cpus());

	if (stress_random(worker, 4) == 0) {
		on_each_cpu(stress_ipi_note_call, &call, true);
		stress_ipi_check_seen(worker, call.seen, smp_online_mask());
	} else if (smp_call_function_single(cpu, stress_ipi_note_call, &call) == 0) {
		stress_ipi_check_seen(worker, call.seen, 1ull << cpu);
	}
	smp_send_reschedule(cpu);
	if (stress_random(worker, 32) == 0)
		smp_sync_cores();
}

static void ipi_end(struct stress_run *run, uint64_t rounds)
{
	const struct ipi_shared *shared = run->shared;

	(void)rounds;
	if (shared->nr_run != shared->nr_asked)
		stress_fail(run, "%lu calls asked for, %lu run", shared->nr_asked, shared->nr_run);
}

const struct stress_kind stress_ipi = {
	.name = "ipi",
	.checked = "each call ran once, where and before it should",
	.shared_bytes = sizeof(struct ipi_shared),
	.round = ipi_round,
	.end = ipi_end,
};
