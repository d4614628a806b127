/*
 * The profiler in an instance: its settings, and the counts of each CPU. See <trace/sample.h>.
 *
 *   sample.c        hits: instances that want one, and the limit of the time they take
 *   sample_set.c    periods that the host is asked for
 *   sample_event.c  the event, and its text
 *   sample_files.c  the directory profile/
 *   sample_stack.c  stacks of programs, read when these go on
 *   sample_watch.c  functions that are called at periods of their own
 *
 * Context:   thread, where nothing else is said.
 * Locking:   the config lock; hits read the atomic members without it.
 * Ownership: the array of CPUs belongs to its instance, and is there as long as that.
 */
#ifndef TRACE_SAMPLE_PRIVATE_H
#define TRACE_SAMPLE_PRIVATE_H

#include <stdatomic.h>
#include <trace/sample.h>
#include <trace/trace_events.h>
#include "instance/array.h"
#include "instance/pids.h"

#define SAMPLE_NS	     1000000000u /* of a second */
#define SAMPLE_HZ_DEFAULT    997u /* a prime: it keeps step with nothing that the kernel does */
#define SAMPLE_HZ_MAX	     100000u
#define SAMPLE_PERCENT	     25u  /* of a CPU's time that sampling may take, as on Linux */
#define SAMPLE_COST_STEP_NS  100u /* by which the cost of a sample grows at least, if it does */
#define SAMPLE_BURST_PERIODS 16u  /* the limit bites when more time than theirs is owed */

/* The interrupted code: field `context` of the event. */
enum sample_context {
	SAMPLE_KERNEL, /* a thread, in the kernel */
	SAMPLE_USER,
	SAMPLE_IDLE,
	SAMPLE_IRQ,
	SAMPLE_SOFTIRQ,
	SAMPLE_NR_CONTEXTS
};

struct sample_entry {
	struct trace_entry ent;
	uint64_t ip;
	uint32_t period; /* in nanoseconds */
	uint8_t context; /* enum sample_context */
	uint8_t irqs_off;
	uint16_t unused;
} TRACE_ENTRY_ALIGNED;

/* Of an instance and a CPU. Hits on that CPU change it; `is_out` changes with the config lock held. */
struct sample_cpu {
	uint64_t credit_ns;  /* passed since the last sample, less its period */
	uint64_t cost_ns;    /* of a sample, smoothed */
	uint64_t debt_ns;    /* taken by samples beyond the limit */
	uint64_t nr;	     /* samples */
	uint64_t lost;	     /* hits that were missed: the interrupt came late */
	uint64_t throttled;  /* hits left out by the limit */
	_Atomic bool is_out; /* it is not in the file `cpus` */
} __attribute__((aligned(64)));

struct sample_array {
	struct sample_cpu *cpus; /* by number; NULL: there was no memory, or there is no host */
	struct trace_pids *_Atomic pids; /* of the sampled threads, never changed; NULL: all */
	_Atomic uint32_t period_ns;
	_Atomic uint32_t allowed_ns; /* for each period; more is owed */
	_Atomic uint32_t clock;	     /* enum trace_sample_clock */
	_Atomic bool is_noted;	     /* the log has a line about the limit */
	uint32_t hz;
	uint32_t percent;
	uint32_t bit; /* of the instance, in those of the host's at_return() */
};
TRACE_SLOT(trace_sample_of, struct sample_array, sample)

extern struct trace_event_call trace_sample_call;
extern const char *const trace_sample_clocks[TRACE_SAMPLE_NR_CLOCKS];

/* NULL: the host has no such clocks. */
extern const struct trace_sample_host *trace_sample_host;

/* Ask the host for the periods that instances want now. Config lock held. */
void trace_sample_apply(void);
/* Ask for none, until trace_sample_apply(). Config lock held. */
void trace_sample_pause(void);
/* Memory for trace_sample_apply(). 0 or -ENOMEM. */
int trace_sample_set_init(void);
/* Change the frequency, 1 to SAMPLE_HZ_MAX, and the limit in percent of a CPU's time. */
void trace_sample_set_rate(struct sample_array *sample, uint32_t hz, uint32_t percent);

/* A sample was recorded, and the program's stack is wanted: member user_stack of the event's class. */
void trace_sample_user_stack(const struct trace_event_file *file);
/* Another bit with each call, the first again after the last. Config lock held, or at the start. */
uint32_t trace_sample_take_bit(void);

/* Register the directory profile/: for the feature's init(). */
void trace_sample_files_init(void);
/* Free a set of threads that no hit looks at any more; NULL: nothing. */
void trace_sample_free_pids(struct trace_pids *pids);

#endif
