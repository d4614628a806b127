/*
 * The scheduler's inside: one run queue per CPU. Real-time threads go first, the most urgent at the
 * head; the others are ordered by virtual run time.
 *
 * Lock order: thread->wake_lock, then one run queue's lock; a second run queue's only by trylock.
 * All are taken with interrupts off. A run queue's lock is held across the switch: the thread that
 * is switched to releases it.
 *
 * Context: as said in <kernel/thread.h>.
 */
#ifndef KERNEL_SCHED_H
#define KERNEL_SCHED_H

#include <stdatomic.h>
#include <kernel/heap.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <trace/host_tracepoints.h>

#define PRIO_IDLE 140
#define PRIO_NONE 141

/* As Linux counts: 0 to 98 real time, 120 normal; the smaller the more urgent. */
static inline int32_t sched_prio(const struct thread *thread)
{
	if (thread->flags & THREAD_IDLE)
		return PRIO_IDLE;
	return thread->policy == THREAD_NORMAL ? 120 : THREAD_RT_PRIO_MAX - thread->rt_priority;
}

static inline bool sched_is_rt(const struct thread *thread)
{
	return thread->policy != THREAD_NORMAL;
}

/* thread->on_queue */
#define ON_QUEUE_NO	0u
#define ON_QUEUE_YES	1u /* runnable: waits or runs */
#define ON_QUEUE_MOVING 2u /* runnable, on its way to another CPU */

struct run_queue {
	struct spinlock lock;
	uint32_t cpu;
	struct heap queue;	      /* waiting normal threads, without the running one */
	struct list waiting;	      /* the same threads */
	struct list rt_waiting;	      /* waiting real-time threads, the next first */
	_Atomic int32_t rt_prio;      /* of the first of them, or PRIO_NONE; read without lock */
	_Atomic int32_t running_prio; /* read without lock */
	bool is_rt_throttled; /* real-time threads have had their share: normal ones first */
	bool is_halted;	      /* the idle thread waits for an interrupt, and does nothing else */
	uint64_t rt_ran_ns;   /* by real-time threads, in the period that began then */
	uint64_t rt_period_start_ns;
	struct thread *running;
	struct thread *idle;
	struct thread *switched_out; /* for the thread that is switched to */
	_Atomic uint32_t nr_running; /* waiting + running, without idle; read without lock */
	_Atomic uint32_t resched_sent;
	_Atomic uint64_t min_vruntime_ns; /* only grows; read without lock */
	uint64_t idle_since_ns;
	uint64_t nr_ticks;
	_Atomic uint64_t
		nr_passes; /* calls of sched_switch(): each is outside of preempt-off sections */
	struct sched_cpu_stats stats;
} __attribute__((aligned(64)));

extern struct run_queue run_queues[MAX_CPUS];
extern _Atomic uint64_t sched_idle_mask; /* CPUs that wait in idle and were not yet given work */
extern uint64_t sched_ready_mask;	 /* CPUs whose run queue exists; bits are only added */

static inline struct run_queue *this_run_queue(void)
{
	return cpu_local_read(kernel_private);
}

/*
 * thread_list.c: the queue of the CPU that `thread` belongs to, locked: it may be pulled to another
 * meanwhile. wake_lock held.
 */
struct run_queue *sched_lock_queue_of(struct thread *thread);

/* sched_queue.c: queue lock held. */
void sched_enqueue(struct run_queue *rq, struct thread *thread);
/* `on_queue`: what the thread is now, ON_QUEUE_NO or ON_QUEUE_MOVING. */
void sched_dequeue(struct run_queue *rq, struct thread *thread, uint32_t on_queue);
void sched_put_waiting(struct run_queue *rq, struct thread *thread);
void sched_take_waiting(struct run_queue *rq, struct thread *thread);
/* Charge the running thread up to now. */
void sched_account(struct run_queue *rq);
struct thread *sched_pick_next(struct run_queue *rq);
void sched_check_preempt(struct run_queue *rq, struct thread *woken);
/* Let the CPU of `rq` reschedule soon. Any context but NMI. */
void resched_cpu(struct run_queue *rq);

/* sched_rt.c: queue lock held. */
void sched_rt_put(struct run_queue *rq, struct thread *thread);
void sched_rt_take(struct run_queue *rq, struct thread *thread);
/* The next real-time thread of this CPU, or NULL. */
static inline struct thread *sched_rt_first(struct run_queue *rq)
{
	return list_empty(&rq->rt_waiting)
		       ? NULL
		       : list_entry(rq->rt_waiting.next, struct thread, run_link);
}
extern _Atomic uint64_t sched_rt_waiting_mask; /* CPUs where one waits */
/* Bring the most urgent real-time thread that waits elsewhere, if it is more urgent than `prio`. */
void sched_rt_pull(struct run_queue *rq, int32_t prio);
/* A real-time thread waits here: let a CPU with less urgent work come and take it. */
void sched_rt_push(struct run_queue *rq);
/* A CPU where `thread` can run at once; MAX_CPUS when there is none. */
uint32_t sched_rt_select_cpu(const struct thread *thread, uint64_t allowed);
/* Its turn is over: at the tick. True when another one is to run. */
bool sched_rt_tick(struct run_queue *rq, struct thread *running);

/*
 * sched_rt_limit.c: at the tick, queue lock held, after sched_account(): begin a period, or end the
 * share of real-time threads in this one. True: the log is to be told, without the lock.
 */
bool sched_rt_limit_tick(struct run_queue *rq);
void sched_rt_limit_say(void);

/* sched_balance.c */
uint32_t sched_select_cpu(struct thread *thread);
/* Bring a thread here from the busiest queue. Queue lock held. True when one came. */
bool sched_pull(struct run_queue *rq, uint32_t min_running);
void sched_balance_tick(struct run_queue *rq);
void sched_balance_init(void);

/*
 * sched_tracepoints.c: tell the probes of <trace/host_tracepoints.h>; ask first whether there are
 * any. Queue lock held.
 */
void sched_tell_switch(struct thread *prev, struct thread *next);
/* `ip` is in the function that wakes, `parent` in its caller. */
void sched_tell_wakeup(struct thread *thread, uintptr_t ip, uintptr_t parent);
void sched_tell_migrate(struct thread *thread);

/* sched.c */
void sched_init_cpu(uint32_t cpu, struct thread *idle, struct cpu_local *local);
/* Depth 1. `preempted`: the thread stays runnable whatever its state says. */
void sched_switch(bool preempted);
/* First thing a new thread does. Ends with depth 0 and interrupts on. */
void sched_thread_begins(void);
void sched_idle_loop(void) __attribute__((noreturn));
/* Put a thread that is not on a queue on the queue of a CPU chosen for it. wake_lock held. */
void sched_activate(struct thread *thread);

#endif
