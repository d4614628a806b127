/* All threads: numbers, search, groups, affinity; see <kernel/thread.h>. */
#include <arch/cpu.h>
#include <arch/smp.h>
#include <kernel/process.h>
#include <kernel/string.h>
#include "sched.h"
#include "thread_list.h"

#define PID_MAX 4194303 /* the largest pid, as in Linux */

static struct list all_threads = LIST_INIT(all_threads);
static struct spinlock thread_list_lock; /* guards the list and the next two */
static int32_t last_pid;
static bool has_wrapped; /* pids have begun again at 1: the next one may still be in use */

static struct thread *thread_find_locked(int32_t pid)
{
	struct list *pos;

	list_for_each(pos, &all_threads) {
		struct thread *thread = list_entry(pos, struct thread, all_link);

		if (thread->pid == pid)
			return thread;
	}
	return NULL;
}

void thread_list_add(struct thread *thread)
{
	uint64_t flags = spin_lock_irqsave(&thread_list_lock);

	do {
		last_pid++;
		if (last_pid > PID_MAX) {
			last_pid = 1;
			has_wrapped = true;
		}
	} while (has_wrapped && thread_find_locked(last_pid));
	thread->pid = last_pid;
	list_add_tail(&all_threads, &thread->all_link);
	spin_unlock_irqrestore(&thread_list_lock, flags);
}

void thread_list_add_idle(struct thread *thread)
{
	uint64_t flags = spin_lock_irqsave(&thread_list_lock);

	list_add_tail(&all_threads, &thread->all_link);
	spin_unlock_irqrestore(&thread_list_lock, flags);
}

void thread_list_remove(struct thread *thread)
{
	uint64_t flags = spin_lock_irqsave(&thread_list_lock);

	list_remove(&thread->all_link);
	spin_unlock_irqrestore(&thread_list_lock, flags);
}

void thread_take_pid(struct thread *thread, int32_t pid)
{
	uint64_t flags = spin_lock_irqsave(&thread_list_lock);
	struct thread *other = thread_find_locked(pid);

	if (other)
		other->pid = thread->pid;
	thread->pid = pid;
	cpu_local_write(current_pid, pid);
	spin_unlock_irqrestore(&thread_list_lock, flags);
}

/*
 * Take a reference. False when the last one is gone, because the thread is about to be freed. The
 * list's lock, which is held, keeps the memory.
 */
static bool thread_try_get(struct thread *thread)
{
	uint32_t refs = atomic_load(&thread->refs);

	while (refs > 0) {
		if (atomic_compare_exchange_weak(&thread->refs, &refs, refs + 1))
			return true;
	}
	return false;
}

struct thread *thread_find(int32_t pid)
{
	uint64_t flags = spin_lock_irqsave(&thread_list_lock);
	struct thread *thread = pid > 0 ? thread_find_locked(pid) : NULL;

	if (thread && !thread_try_get(thread))
		thread = NULL;
	spin_unlock_irqrestore(&thread_list_lock, flags);
	return thread;
}

static bool thread_list_lock_if(bool may_wait, uint64_t *out_flags)
{
	if (!may_wait)
		return spin_trylock_irqsave(&thread_list_lock, out_flags);
	*out_flags = spin_lock_irqsave(&thread_list_lock);
	return true;
}

bool thread_name(int32_t pid, bool may_wait, char *out_name)
{
	struct thread *thread;
	uint64_t flags;

	if (!thread_list_lock_if(may_wait, &flags))
		return false;
	thread = pid > 0 ? thread_find_locked(pid) : NULL;
	if (thread)
		memcpy(out_name, thread->name, sizeof(thread->name));
	spin_unlock_irqrestore(&thread_list_lock, flags);
	return thread;
}

int32_t thread_tgid(int32_t pid, bool may_wait)
{
	struct thread *thread;
	int32_t tgid = 0;
	uint64_t flags;

	if (!thread_list_lock_if(may_wait, &flags))
		return 0;
	thread = pid > 0 ? thread_find_locked(pid) : NULL;
	if (thread)
		tgid = thread->tgid ? thread->tgid : pid;
	spin_unlock_irqrestore(&thread_list_lock, flags);
	return tgid;
}

void thread_each(void (*fn)(struct thread *thread, void *arg), void *arg)
{
	uint64_t flags = spin_lock_irqsave(&thread_list_lock);
	struct list *pos;

	list_for_each(pos, &all_threads)
		fn(list_entry(pos, struct thread, all_link), arg);
	spin_unlock_irqrestore(&thread_list_lock, flags);
}

static void thread_interrupt_member(struct thread *thread, void *arg)
{
	/* Of a program, the thread that runs it is interrupted, which tells the program. */
	if (thread->group == *(int32_t *)arg && !(thread->flags & THREAD_SERVICE) && !thread->task)
		thread_interrupt(thread);
}

void thread_interrupt_group(int32_t group)
{
	thread_each(thread_interrupt_member, &group);
}

static void thread_interrupt_in_session(struct thread *thread, void *arg)
{
	if (thread->session != *(uint64_t *)arg || thread->flags & THREAD_SERVICE)
		return;
	if (thread->task)
		task_kill(thread->task, true);
	else
		thread_interrupt(thread);
}

void thread_interrupt_session(uint64_t session)
{
	thread_each(thread_interrupt_in_session, &session);
}

int thread_kill(int32_t pid)
{
	struct thread *thread = thread_find(pid);
	int err = 0;

	if (!thread)
		return -ESRCH;
	if (thread->flags & THREAD_SERVICE)
		err = -EPERM;
	else if (thread->task)
		task_kill(thread->task, false);
	else
		thread_interrupt(thread);
	thread_put(thread);
	return err;
}

struct run_queue *sched_lock_queue_of(struct thread *thread)
{
	for (;;) {
		struct run_queue *rq = &run_queues[atomic_load(&thread->cpu)];

		spin_lock(&rq->lock);
		if (atomic_load(&thread->cpu) == rq->cpu)
			return rq;
		spin_unlock(&rq->lock);
	}
}

/* A thread that waits for a CPU it may not use any more goes to another. wake_lock held. */
static void thread_move_waiting(struct thread *thread)
{
	struct run_queue *rq = sched_lock_queue_of(thread);

	if (atomic_load(&thread->on_queue) != ON_QUEUE_YES || thread->affinity & 1ull << rq->cpu) {
		spin_unlock(&rq->lock);
		return;
	}
	if (thread == rq->running) {
		resched_cpu(rq); /* sched_put_previous() moves it */
		spin_unlock(&rq->lock);
		return;
	}
	sched_dequeue(rq, thread, ON_QUEUE_MOVING);
	spin_unlock(&rq->lock);
	sched_activate(thread, SCHED_MOVES);
}

int thread_set_affinity(struct thread *thread, uint64_t affinity)
{
	uint64_t flags;

	bool has_some;

	flags = spin_lock_irqsave(&thread->wake_lock);
	has_some = affinity & cpu_active_mask; /* with the lock: see cpu_break_affinity() */
	if (has_some) {
		thread->affinity = affinity;
		thread_move_waiting(thread);
	}
	spin_unlock_irqrestore(&thread->wake_lock, flags);
	return has_some ? 0 : -EINVAL;
}

static bool thread_is_valid_policy(enum thread_policy policy, uint32_t rt_priority)
{
	if (policy == THREAD_NORMAL)
		return rt_priority == 0;
	return (policy == THREAD_FIFO || policy == THREAD_RR) && rt_priority >= 1 &&
	       rt_priority <= THREAD_RT_PRIO_MAX;
}

/* A change of how a thread is scheduled: of its nice alone, or of the rest. */
struct thread_rank {
	bool is_nice;
	int nice;
	enum thread_policy policy;
	uint32_t rt_priority;
};

/* Queue lock and wake_lock held. */
static void thread_change_rank(struct run_queue *rq, struct thread *thread,
			       const struct thread_rank *rank)
{
	bool waits = atomic_load(&thread->on_queue) == ON_QUEUE_YES && thread != rq->running;

	if (waits)
		sched_take_waiting(rq, thread);
	if (rank->is_nice) {
		thread->nice = (int8_t)rank->nice;
	} else {
		thread->policy = (uint8_t)rank->policy;
		thread->rt_priority = (uint8_t)rank->rt_priority;
	}
	if (waits)
		sched_put_waiting(rq, thread);
	if (thread == rq->running)
		atomic_store(&rq->running_prio, sched_prio(thread));
	/* The CPU decides again: the thread may have to stop running, or to run at once. */
	resched_cpu(rq);
}

static int thread_set_rank(struct thread *thread, const struct thread_rank *rank)
{
	struct run_queue *rq;
	uint64_t flags;

	if (thread->flags & THREAD_IDLE)
		return -EPERM;
	flags = spin_lock_irqsave(&thread->wake_lock);
	rq = sched_lock_queue_of(thread);
	thread_change_rank(rq, thread, rank);
	spin_unlock(&rq->lock);
	spin_unlock_irqrestore(&thread->wake_lock, flags);
	return 0;
}

int thread_set_policy(struct thread *thread, enum thread_policy policy, uint32_t rt_priority)
{
	const struct thread_rank rank = { .policy = policy, .rt_priority = rt_priority };

	return thread_is_valid_policy(policy, rt_priority) ? thread_set_rank(thread, &rank)
							   : -EINVAL;
}

int thread_set_nice(struct thread *thread, int nice)
{
	const struct thread_rank rank = { .is_nice = true, .nice = nice };

	return thread_set_rank(thread, &rank);
}

TRACE_NOTRACE const char *thread_state_name(const struct thread *thread)
{
	if (thread->flags & THREAD_IDLE)
		return "I";
	if (thread->task && task_is_stopped(thread->task))
		return "T";
	switch (atomic_load(&thread->state)) {
	case THREAD_RUNNING:
		return "R";
	case THREAD_INTERRUPTIBLE:
		return "S";
	case THREAD_UNINTERRUPTIBLE:
		return "D";
	default:
		return "Z";
	}
}
