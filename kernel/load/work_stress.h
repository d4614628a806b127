/*
 * stress: workloads that check their own results, one worker thread per CPU.
 *
 * Context:   workers are threads bound to one CPU each.
 * Locking:   a workload's own; what is in struct stress_worker belongs to the worker.
 * Ownership: struct stress_run lives until all workers were joined.
 */
#ifndef KERNEL_WORK_STRESS_H
#define KERNEL_WORK_STRESS_H

#include <kernel/base.h>

#define STRESS_WHAT_BYTES 80

struct stress_run {
	const struct stress_kind *kind;
	uint64_t end_ns;     /* workers stop then, */
	uint64_t max_rounds; /* or after so many rounds each */
	uint32_t nr_workers;
	_Atomic uint32_t nr_failed;
	char what[STRESS_WHAT_BYTES]; /* the first failure; written by who counted it */
	void *shared;		      /* the kind's own */
};

struct stress_worker {
	struct stress_run *run;
	uint32_t index;
	uint32_t cpu;
	uint64_t random;
	uint64_t rounds;
	struct thread *thread;
};

struct stress_kind {
	const char *name;
	const char *checked; /* what each round tries, said when it held */
	size_t shared_bytes;
	/* Optional. 0 or -ENOMEM. */
	int (*begin)(struct stress_run *run);
	/* Called over and over; reports with stress_fail(). */
	void (*round)(struct stress_worker *worker);
	/* Optional; all workers have ended: last checks. */
	void (*end)(struct stress_run *run, uint64_t rounds);
};

extern const struct stress_kind stress_alloc;
extern const struct stress_kind stress_locks;
extern const struct stress_kind stress_timers;
extern const struct stress_kind stress_ipi;
extern const struct stress_kind stress_livepatch;

void stress_fail(struct stress_run *run, const char *fmt, ...) TRACE_PRINTF(2, 3);
/* A number below `limit`, from the worker's own sequence. */
uint32_t stress_random(struct stress_worker *worker, uint32_t limit);

#endif
