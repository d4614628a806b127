/*
 * The scheduler's inside: one run queue per CPU, ordered by virtual run time.
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

/* thread->on_queue */
#define ON_QUEUE_NO	0u
#define ON_QUEUE_YES	1u /* runnable: waits or runs */
#define ON_QUEUE_MOVING 2u /* runnable, on its way to another CPU */

struct run_queue {
	struct spinlock lock;
	uint32_t cpu;
	struct heap queue;   /* waiting threads, without the running one */
	struct list waiting; /* the same threads */
	struct thread *running;
	struct thread *idle;
	struct thread *switched_out; /* for the thread that is switched to */
	_Atomic uint32_t nr_running; /* waiting + running, without idle; read without lock */
	_Atomic uint32_t resched_sent;
	_Atomic uint64_t min_vruntime_ns; /* only grows; read without lock */
	uint64_t idle_since_ns;
	bool is_halted; /* the idle thread waits for an interrupt, and does nothing else */
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

/* sched_balance.c */
uint32_t sched_select_cpu(struct thread *thread);
/* Bring a thread here from the busiest queue. Queue lock held. True when one came. */
bool sched_pull(struct run_queue *rq, uint32_t min_running);
void sched_balance_tick(struct run_queue *rq);
void sched_balance_init(void);

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
