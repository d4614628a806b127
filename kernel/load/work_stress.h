/*
 * stress: workloads that check their own results, one worker thread per CPU.
 *
 * Context: workers are threads bound to one CPU each. Locking: a workload's own; a struct
 * stress_worker belongs to its worker. Ownership: struct stress_run lives until all workers were
 * joined.
 */
#ifndef KERNEL_WORK_STRESS_H
#define KERNEL_WORK_STRESS_H

#include <kernel/base.h>

#define STRESS_WHAT_BYTES 80

struct stress_run {
	const struct stress_kind *kind;
	uint64_t end_ns;     /* workers stop at this time, as ktime_get_ns() counts, */
	uint64_t max_rounds; /* or after so many rounds each, whichever is first */
	uint32_t nr_workers;
	_Atomic uint32_t nr_failed;   /* calls of stress_fail() */
	char what[STRESS_WHAT_BYTES]; /* the first failure */
	/* memory that the workers of a kind share: shared_bytes, zeroed */
	void *shared;
};

struct stress_worker {
	struct stress_run *run;
	uint32_t index;
	uint32_t cpu;
	uint64_t random; /* state of stress_random() */
	uint64_t rounds; /* done so far */
	struct thread *thread;
};

struct stress_kind {
	const char *name;
	const char *checked; /* the name of the checks: printed when nothing failed */
	size_t shared_bytes; /* of run->shared */
	/* Optional: called before the workers start. 0 or -ENOMEM. */
	int (*begin)(struct stress_run *run);
	/* Called by each worker over and over; reports with stress_fail(). */
	void (*round)(struct stress_worker *worker);
	/* Optional: last checks after all workers have ended. `rounds` is the sum of theirs. */
	void (*end)(struct stress_run *run, uint64_t rounds);
};

extern const struct stress_kind stress_alloc;
extern const struct stress_kind stress_locks;
extern const struct stress_kind stress_timers;
extern const struct stress_kind stress_ipi;
extern const struct stress_kind stress_livepatch;

/* Count a failure, and keep the text of the first one. The workers stop after their round. */
void stress_fail(struct stress_run *run, const char *fmt, ...) TRACE_PRINTF(2, 3);
/* A number from 0 to limit - 1, from a sequence of pseudo-random numbers of this worker. */
uint32_t stress_random(struct stress_worker *worker, uint32_t limit);

#endif
