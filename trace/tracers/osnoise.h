/*
 * The tracers osnoise and timerlat, which measure by a thread on each CPU how long others keep it from
 * running.
 *
 *   osnoise   reads the clock again and again. Two readings far apart are noise; the interruptions that were
 *             counted in between say whose: without any it was the machine's
 *   timerlat  sleeps until a deadline of a timer, again and again, and measures how late the timer's
 *             interrupt came, and how late the thread
 *
 *   host's interrupts, sched_switch --> osnoise_account.c: struct osnoise_cpu, events osnoise:*
 *   osnoise_loop.c, timerlat.c      --> osnoise_write.c: ftrace:osnoise, ftrace:timerlat in each instance
 *
 *   osnoise.c        the threads, for both tracers: begin and end, and the limits that stop recording
 *   timerlat_fd.c    programs instead of timerlat's threads
 *   osnoise_files.c  the directory osnoise/, and the feature
 *
 * One of the two runs at a time, in any number of instances: the threads are for all of them.
 *
 * Context:   thread, where nothing else is said.
 * Locking:   the config lock guards the settings and the list of instances; threads read both without it, and
 *            never take it. The list changes only while there are no threads.
 * Ownership: memory for CPUs is made at the first use and stays, because probes look at it.
 */
#ifndef TRACE_OSNOISE_H
#define TRACE_OSNOISE_H

#include <stdatomic.h>
#include <trace/host_tracepoints.h>
#include <trace/noise.h>
#include "hwlat.h"
#include "instance/array.h"
#include "instance/entry.h"

#define OSNOISE_US_NS	    1000u
#define OSNOISE_THRESH_NS   5000u    /* with tracing_thresh at 0 */
#define OSNOISE_PERIOD_US   1000000u /* the settings at first, as on Linux */
#define TIMERLAT_PERIOD_US  1000u
#define TIMERLAT_PERIOD_MIN 100u
#define TIMERLAT_PERIOD_MAX 1000000u
#define OSNOISE_US_MAX	    (UINT64_MAX / OSNOISE_US_NS)

/* Bits of osnoise/options, in Linux's order. */
enum osnoise_option {
	OSNOISE_DEFAULTS, /* never set: writing it sets all others back */
	OSNOISE_WORKLOAD, /* without it there are no threads, and any thread's noise is told by events */
	OSNOISE_PANIC_ON_STOP,
	OSNOISE_PREEMPT_DISABLE,
	OSNOISE_IRQ_DISABLE,
	OSNOISE_NR_OPTIONS
};
#define OSNOISE_DEFAULT_OPTIONS (1u << OSNOISE_WORKLOAD)

struct trace_dir;

struct osnoise_settings {
	_Atomic uint64_t period_us;  /* not less than runtime_us */
	_Atomic uint64_t runtime_us; /* osnoise reads the clock for so much of each period */
	_Atomic uint64_t stop_us;    /* a longer time stops recording; 0: none does */
	_Atomic uint64_t stop_total_us;
	_Atomic uint64_t
		print_stack_us; /* timerlat writes the interrupt's stack above it; 0: never */
	_Atomic uint64_t timerlat_period_us;
	_Atomic uint32_t options; /* bits of enum osnoise_option */
};
extern struct osnoise_settings trace_osnoise_settings;

/* Kinds of interruptions; each may come into those before it. */
enum osnoise_level {
	OSNOISE_THREAD,
	OSNOISE_SOFTIRQ,
	OSNOISE_IRQ,
	OSNOISE_NMI,
	OSNOISE_NR_LEVELS
};

struct osnoise_interruption {
	_Atomic uint64_t arrival_ns; /* when it began; 0: there is none now */
	_Atomic uint64_t start_ns;   /* later by the time that others took since then */
	_Atomic uint32_t count;	     /* how many began since the sampling began */
};

/* One CPU; used by it alone, but for `is_out`. */
struct osnoise_cpu {
	struct trace_thread *_Atomic workload; /* the thread that measures; NULL: none */
	struct osnoise_interruption levels[OSNOISE_NR_LEVELS];
	_Atomic uint32_t nr; /* interruptions of all levels */

	/* timerlat */
	uint32_t seqnum;	      /* of the last activation */
	_Atomic uint64_t deadline_ns; /* the timer that has not fired yet; 0: none */
	uint32_t nr_ips;	      /* of the stack that the interrupt has saved */
	uint32_t ips[TRACE_STACK_MAX];

	/* timerlat_fd */
	const void *_Atomic
		user; /* the handle of the program that is the workload; or NULL. Config lock */
	_Atomic bool is_user_in; /* it is in a read */
	uint64_t user_ns; /* the deadline of its last activation; 0: there was none. The reader's */

	_Atomic bool is_sampling; /* interruptions are counted */
	bool is_out;		  /* osnoise/cpus leaves it out. Config lock */
} __attribute__((aligned(64)));

/* By number; NULL before the first use. */
extern struct osnoise_cpu *_Atomic trace_osnoise_cpus;

/* An instance in which the tracer runs. */
struct osnoise_array {
	struct trace_array *tr;
	struct osnoise_array *next;
};

/* One of the two tracers. */
struct osnoise_kind {
	struct tracer *tracer;
	bool is_urgent; /* its threads are real-time threads */
	/* The work of the thread on its CPU, until trace_osnoise_is_ending(). */
	void (*run)(struct osnoise_cpu *cpu);
};

/* ftrace:osnoise; times in microseconds. */
#define TRACE_TYPE_OSNOISE 16
struct osnoise_entry {
	struct trace_entry ent;
	uint64_t noise;
	uint64_t runtime;
	uint64_t max_sample;
	uint32_t hw_count;
	uint32_t nmi_count;
	uint32_t irq_count;
	uint32_t softirq_count;
	uint32_t thread_count;
} TRACE_ENTRY_ALIGNED;

/* ftrace:timerlat. */
#define TRACE_TYPE_TIMERLAT 17
enum timerlat_context {
	TIMERLAT_IRQ,
	TIMERLAT_THREAD,
	TIMERLAT_USER_RETURN, /* the program is done with this activation */
};
struct timerlat_entry {
	struct trace_entry ent;
	uint32_t seqnum;
	int32_t context; /* enum timerlat_context */
	uint64_t timer_latency;
} TRACE_ENTRY_ALIGNED;

extern struct trace_event trace_osnoise_event;
extern struct trace_event trace_timerlat_event;
extern struct tracer trace_osnoise;
extern struct tracer trace_timerlat;

/* ---- osnoise.c ---- */

/* For init(), start() of a tracer: it runs in `tr`. 0; -EBUSY: the other one runs; -ENOMEM, -errno. */
int trace_osnoise_begin(const struct osnoise_kind *kind, struct trace_array *tr);
/* For reset(), stop(). */
void trace_osnoise_end(struct trace_array *tr);
/* Make the array of CPUs if there is none yet. 0 or -ENOMEM. Config lock held. */
int trace_osnoise_make_cpus(void);
/* Threads that run end before change(arg) and begin anew behind it. Config lock held. 0, -ENOMEM, -errno. */
int trace_osnoise_change(void (*change)(void *arg), void *arg);
/* Threads that run end, and begin anew with `is_done`. Config lock held. */
void trace_osnoise_cpus_change(bool is_done);
bool trace_osnoise_is_ending(void *unused);
/* Is recording on in an instance in which the tracer runs? Any context. */
bool trace_osnoise_is_recording(void);
/* Does the tracer run, without threads of its own? Config lock held. */
bool trace_osnoise_is_bare(const struct tracer *tracer);
/* May a CPU have the workload? Config lock held. */
bool trace_osnoise_wants(uint32_t cpu);
/* A limit was passed: stop recording in all these instances. Any context. */
void trace_osnoise_stop(void);
/* The first of these instances; for the threads, and the timer's interrupt while they sleep. */
const struct osnoise_array *trace_osnoise_arrays(void);

static inline bool trace_osnoise_has(enum osnoise_option option)
{
	return trace_osnoise_settings.options & 1u << option;
}

/* ---- osnoise_account.c ---- */

/* Listen to interruptions, in NMIs, in the host, in the scheduler. 0 or -errno. Config lock held. */
int trace_osnoise_listen(void);
void trace_osnoise_unlisten(void);
/* Count interruptions of this CPU from 0; or no longer. Any CPU's thread. */
void trace_osnoise_sample(struct osnoise_cpu *cpu, bool on);

/* ---- osnoise_write.c ---- */

/* Write the event into each instance, and keep `max_ns` as its tracing_max_latency if it is longer. */
void trace_osnoise_write(const struct osnoise_entry *from, uint64_t max_ns);
void trace_timerlat_write(const struct timerlat_entry *from);
/* The header of `trace`, with the lines `columns` in the usual form. */
void trace_osnoise_print_header(struct trace_iter *iter, struct trace_seq *seq,
				const char *columns);
/* Write the stack that the CPU's interrupt has saved. */
void trace_timerlat_write_stack(const struct osnoise_cpu *cpu);

/* ---- timerlat.c ---- */

/* The timer's interrupt has begun on this CPU. Interrupts off. */
void trace_timerlat_fired(struct osnoise_cpu *cpu);
/* The thread of this activation runs. */
void trace_timerlat_awake(struct osnoise_cpu *cpu, uint64_t deadline_ns);
/* The program of this activation is done with it. */
void trace_timerlat_user_returned(struct osnoise_cpu *cpu, uint64_t deadline_ns);
/* The deadline behind the one before, and behind now. */
uint64_t trace_timerlat_next(uint64_t deadline_ns);

/* ---- timerlat_fd.c ---- */

/* Ids of nodes in per_cpu/. */
#define TIMERLAT_FD_IDS 4096u
/* The directory per_cpu/ of osnoise/; NULL: the host cannot do it. */
const struct trace_dir *trace_timerlat_fd_dir(void);
/* Reads of programs end, and fail from now on: trace_osnoise_is_ending(). Config lock held. */
void trace_timerlat_fd_end(void);

#endif
