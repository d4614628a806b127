/*
 * The scheduler's inside: one run queue per CPU. Real-time threads go first, the most urgent at the
 * head. The normal ones are ordered by virtual run time: the time that each has run, adjusted when
 * it wakes or changes the CPU. The one with the least runs next.
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
#include <kernel/cpu.h>
#include <kernel/heap.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/thread.h>
#include <trace/host_tracepoints.h>

#define PRIO_IDLE 140 /* of an idle thread */
#define PRIO_NONE 141 /* of no thread: less urgent than all */

/* As Linux counts: 0 to 98 real time, 100 to 139 normal; the smaller the more urgent. */
static inline int32_t sched_prio(const struct thread *thread)
{
	if (thread->flags & THREAD_IDLE)
		return PRIO_IDLE;
	return thread->policy == THREAD_NORMAL ? 120 + thread->nice
					       : THREAD_RT_PRIO_MAX - thread->rt_priority;
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
	bool is_urgent_turn;  /* urgent normal threads first, since urgent_since_ns */
	_Atomic bool
		is_closed; /* its CPU goes offline: no thread comes any more. Set with the lock held */
	bool is_halted;	   /* the idle thread waits for an interrupt, and does nothing else */
	uint64_t rt_ran_ns; /* how long real-time threads have run since rt_period_start_ns */
	uint64_t rt_period_start_ns;
	uint64_t rt_since_ns; /* real-time threads have run since then, one behind the other */
	uint64_t urgent_since_ns;
	struct thread *running;
	struct thread *idle;
	struct thread *switched_out;	  /* the previous thread, for sched_finish_switch() */
	_Atomic uint32_t nr_running;	  /* waiting + running, without idle; read without lock */
	_Atomic uint32_t resched_sent;	  /* a reschedule interrupt is on its way */
	_Atomic uint64_t min_vruntime_ns; /* of its threads; only grows; read without lock */
	uint64_t idle_since_ns;		  /* when the idle thread began to wait last */
	uint64_t nr_ticks;
	/* Calls of sched_switch(). At each, no preempt-off section is open on this CPU. */
	_Atomic uint64_t nr_passes;
	struct sched_cpu_stats stats;
} __attribute__((aligned(64)));

extern struct run_queue run_queues[MAX_CPUS];
extern _Atomic uint64_t sched_idle_mask; /* CPUs that wait in idle and were not yet given work */

static inline struct run_queue *this_run_queue(void)
{
	return cpu_local_read(kernel_private);
}

/*
 * thread_list.c. Lock and return the run queue of the CPU that `thread` belongs to. It tries again
 * when another CPU has pulled the thread to its own queue meanwhile. wake_lock held.
 */
struct run_queue *sched_lock_queue_of(struct thread *thread);

/* sched_queue.c: queue lock held. A thread becomes runnable here, and waits. */
void sched_enqueue(struct run_queue *rq, struct thread *thread);
/* The thread leaves the queue. `on_queue`: its new state, ON_QUEUE_NO or ON_QUEUE_MOVING. */
void sched_dequeue(struct run_queue *rq, struct thread *thread, uint32_t on_queue);
/* A thread of this queue begins or ends to wait; it stays runnable. */
void sched_put_waiting(struct run_queue *rq, struct thread *thread);
void sched_take_waiting(struct run_queue *rq, struct thread *thread);
/* Add the time up to now to the run time of the running thread. */
void sched_account(struct run_queue *rq);
/* Take the next thread to run out of those that wait; the idle thread if there is none. */
struct thread *sched_pick_next(struct run_queue *rq);
/* Reschedule the CPU if `woken`, which now waits there, should run before the running thread. */
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
extern _Atomic uint64_t sched_rt_waiting_mask; /* CPUs where a real-time thread waits */
/* Bring the most urgent real-time thread that waits elsewhere, if it is more urgent than `prio`. */
void sched_rt_pull(struct run_queue *rq, int32_t prio);
/* A real-time thread waits here: let a CPU with less urgent work come and take it. */
void sched_rt_push(struct run_queue *rq);
/*
 * The CPU out of `allowed` that does the least urgent work, if `thread` is more urgent than that;
 * otherwise MAX_CPUS.
 */
uint32_t sched_rt_select_cpu(const struct thread *thread, uint64_t allowed);
/*
 * Is a real-time thread that waits here to run instead of `running`? It is when it is more urgent,
 * or as urgent and the turn of a THREAD_RR thread is over.
 */
bool sched_rt_tick(struct run_queue *rq, struct thread *running);

/*
 * sched_rt_limit.c. At the tick, queue lock held, after sched_account(): begin a period, or end the
 * share of real-time threads in this one. True, once: call sched_rt_limit_say(), without the lock.
 */
bool sched_rt_limit_tick(struct run_queue *rq);
/* Say in the log that the limit has taken effect. */
void sched_rt_limit_say(void);
/* Is there a limit? */
bool sched_rt_has_limit(void);

/*
 * sched_urgent.c: queue lock held. The next to run of the urgent threads that wait here; NULL when
 * there is none.
 */
struct thread *sched_urgent_first(const struct run_queue *rq);
/* At the tick, after sched_account(): begin a turn of urgent threads, or end it. */
void sched_urgent_tick(struct run_queue *rq);
/* A thread that does not run stands in code that is to go: let it leave. */
void sched_urgent_let_go(struct thread *thread);

/* sched_balance.c. Lock and return the queue for a thread that becomes runnable. Its wake_lock held. */
struct run_queue *sched_lock_queue_for(struct thread *thread);
/*
 * Bring a normal thread here from the busiest queue, if that has at least `min_running` runnable
 * threads. Queue lock held. True when one came.
 */
bool sched_pull(struct run_queue *rq, uint32_t min_running);
/* At the tick of a CPU that is not idle, queue lock held. */
void sched_balance_tick(struct run_queue *rq);
void sched_balance_init(void);

/*
 * sched_tracepoints.c. Call the tracepoints of <trace/host_tracepoints.h>. The caller asks first
 * whether there is a listener, with trace_sched_switch_enabled() and the like. Queue lock held.
 */
void sched_tell_switch(struct thread *prev, struct thread *next);
/* `ip` is in the function that wakes, `parent` in its caller. */
void sched_tell_wakeup(struct thread *thread, uintptr_t ip, uintptr_t parent);
void sched_tell_wakeup_new(struct thread *thread, uintptr_t ip, uintptr_t parent);
/* The same before the thread has a queue; its wake_lock held. */
void sched_tell_waking(struct thread *thread, uintptr_t ip, uintptr_t parent);
void sched_tell_migrate(struct thread *thread, uint32_t orig_cpu);
void sched_tell_runtime(struct thread *thread, uint64_t ran_ns);
/* Its wait or sleep, of which the thread knows the start, has ended. */
void sched_tell_waited(struct thread *thread);
void sched_tell_slept(struct thread *thread);
/* Without a lock, thread context. */
void sched_tell_fork(struct thread *child);
void sched_tell_exit(struct thread *thread);
void sched_tell_free(struct thread *thread);
void sched_tell_wait(const struct thread *awaited);

/* sched.c. Set up the run queue of a CPU, and `local` as if `idle` ran there. */
void sched_init_cpu(uint32_t cpu, struct thread *idle, struct cpu_local *local);
/*
 * Let the next thread run; returns when this one runs again. Preempt depth 1. With `preempted` the
 * thread stays runnable, whatever its state says.
 */
void sched_switch(bool preempted);
/* The first thing a new thread calls. Preempt depth 0 and interrupts on afterwards. */
void sched_thread_begins(void);
/* The loop of a CPU's idle thread. It ends when the queue is closed, and all its threads are elsewhere. */
void sched_idle_loop(void);
/* Let no thread run on that CPU any more. Any CPU, thread context. */
void sched_close_queue(uint32_t cpu);
/* The reason why a thread is put on a queue. */
enum sched_activation {
	SCHED_WAKES,
	SCHED_IS_NEW,
	SCHED_MOVES, /* it was runnable, but may not run on its CPU any more */
};
/* Put a thread that is not on a queue on the queue of a CPU chosen for it. wake_lock held. */
void sched_activate(struct thread *thread, enum sched_activation why);

#endif
