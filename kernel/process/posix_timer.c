/*
 * The timers of timer_create(): each sends a signal when it rings. While that one waits to be taken, an interval timer
 * does not run: taking it counts the rings that were missed, and starts the timer for the next. See signal.h.
 */
#include <kernel/mm.h>
#include <kernel/time.h>
#include "posix_timer.h"
#include "process.h"

#define TIMERS_MAX 1024 /* of a process */

struct mutex posix_timer_lock;

struct posix_timer *posix_timer_find(struct process_signals *signals, int32_t id)
{
	struct list *pos;

	list_for_each(pos, &signals->timers) {
		struct posix_timer *timer = list_entry(pos, struct posix_timer, link);

		if (timer->id == id)
			return timer;
	}
	return NULL;
}

static struct task *posix_timer_task(const struct posix_timer *timer, int32_t tid)
{
	struct list *pos;

	list_for_each(pos, &timer->process->signals.tasks) {
		struct task *task = list_entry(pos, struct task, link);

		if (task->thread->pid == tid)
			return task;
	}
	return NULL;
}

static bool posix_timer_is_cpu(const struct posix_timer *timer)
{
	return timer->clock == POSIX_CLOCK_PROCESS || timer->clock == POSIX_CLOCK_THREAD;
}

/* That of a thread that has ended stands still. */
uint64_t posix_timer_now(const struct posix_timer *timer)
{
	const struct task *task;
	struct usage usage;

	if (!posix_timer_is_cpu(timer))
		return ktime_get_ns();
	if (timer->clock == POSIX_CLOCK_THREAD) {
		task = posix_timer_task(timer, timer->clock_tid);
		return task ? task->thread->runtime_ns : 0;
	}
	usage_of_process_locked(timer->process, &usage);
	return usage.user_ns + usage.kernel_ns;
}

/* Send its signal. True: it waits to be taken. */
static bool posix_timer_send(struct posix_timer *timer)
{
	struct task *task = timer->tid ? posix_timer_task(timer, timer->tid) : NULL;
	struct user_siginfo info = { .signo = timer->signo, .code = SI_TIMER };
	struct sigpending *pending = &timer->process->signals.shared;
	bool was_pending;

	if (timer->tid && !task)
		return false;
	if (task)
		pending = &task->signals.pending;
	info.from.pid = timer->id;
	info.from.value = timer->value;
	was_pending = pending->signals & sigmask(timer->signo) && timer->signo < SIGRTMIN;
	return !send_signal_locked(timer->process, task, timer->signo, &info) && !was_pending &&
	       pending->signals & sigmask(timer->signo);
}

/* Pass over the rings up to now, the first of which is due; their number. */
static uint64_t posix_timer_forward(struct posix_timer *timer, uint64_t now_ns)
{
	uint64_t rings = 1;

	if (timer->interval_ns) {
		rings += (now_ns - timer->next_ns) / timer->interval_ns;
		timer->next_ns += rings * timer->interval_ns;
	} else {
		timer->next_ns = 0;
	}
	return rings;
}

static void posix_timer_run(struct posix_timer *timer)
{
	if (!timer->next_ns || timer->notify == SIGEV_NONE)
		return;
	if (posix_timer_is_cpu(timer))
		cpu_timers_arm(&timer->process->signals);
	else
		timer_start(&timer->timer, timer->next_ns);
}

/* Its time may have come: it was set anew, or is about to go, otherwise. */
static void posix_timer_check(struct posix_timer *timer, uint64_t now_ns)
{
	if (!timer->next_ns || timer->next_ns > now_ns || timer->is_sent)
		return;
	timer->is_sent = posix_timer_send(timer);
	if (!timer->is_sent) { /* nothing will be taken */
		posix_timer_forward(timer, now_ns);
		posix_timer_run(timer);
	}
}

bool posix_timers_check_cpu(struct process_signals *signals, uint64_t both_ns)
{
	bool has_more = false;
	struct list *pos;

	list_for_each(pos, &signals->timers) {
		struct posix_timer *timer = list_entry(pos, struct posix_timer, link);

		if (!posix_timer_is_cpu(timer) || timer->notify == SIGEV_NONE)
			continue;
		posix_timer_check(timer, timer->clock == POSIX_CLOCK_PROCESS
						 ? both_ns
						 : posix_timer_now(timer));
		has_more |= timer->next_ns && !timer->is_sent;
	}
	return has_more;
}

static void posix_timer_ring(struct timer *base)
{
	struct posix_timer *timer = container_of(base, struct posix_timer, timer);
	struct spinlock *lock = &timer->process->signals.lock;
	uint64_t flags = spin_lock_irqsave(lock);

	posix_timer_check(timer, ktime_get_ns());
	spin_unlock_irqrestore(lock, flags);
}

void posix_timer_taken(struct process_signals *signals, struct user_siginfo *info)
{
	struct posix_timer *timer = posix_timer_find(signals, info->from.pid);
	uint64_t missed;

	if (!timer || !timer->is_sent)
		return;
	timer->is_sent = false;
	missed = posix_timer_forward(timer, posix_timer_now(timer)) - 1;
	timer->overrun = missed < INT32_MAX ? (int32_t)missed : INT32_MAX;
	info->from.uid = (uint32_t)timer->overrun;
	posix_timer_run(timer);
}

uint64_t posix_timer_left(struct posix_timer *timer)
{
	uint64_t now_ns;

	if (!timer->next_ns)
		return 0;
	now_ns = posix_timer_now(timer);
	if (timer->next_ns > now_ns)
		return timer->next_ns - now_ns;
	if (!timer->interval_ns) /* it rings in this moment, or has, with the signal not taken yet */
		return timer->notify == SIGEV_NONE || timer->is_sent ? 0 : 1;
	return timer->interval_ns - (now_ns - timer->next_ns) % timer->interval_ns;
}

/* It rings no more, and its function does not run. */
static void posix_timer_stop(struct posix_timer *timer)
{
	struct spinlock *lock = &timer->process->signals.lock;
	uint64_t flags = spin_lock_irqsave(lock);

	timer->next_ns = 0;
	timer->is_sent = false;
	spin_unlock_irqrestore(lock, flags);
	timer_cancel_sync(&timer->timer);
}

void posix_timer_set(struct posix_timer *timer, uint64_t next_ns, uint64_t interval_ns)
{
	struct spinlock *lock = &timer->process->signals.lock;
	uint64_t flags;

	posix_timer_stop(timer);
	flags = spin_lock_irqsave(lock);
	timer->next_ns = next_ns;
	timer->interval_ns = interval_ns;
	timer->overrun = 0;
	posix_timer_run(timer);
	spin_unlock_irqrestore(lock, flags);
}

int posix_timer_add(struct posix_timer *timer)
{
	struct process_signals *signals = &timer->process->signals;
	int err = signals->nr_timers < TIMERS_MAX ? 0 : -EAGAIN;
	uint64_t flags;

	if (err)
		return err;
	timer_setup(&timer->timer, posix_timer_ring);
	flags = spin_lock_irqsave(&signals->lock);
	do {
		timer->id = signals->next_timer_id++ & INT32_MAX;
	} while (posix_timer_find(signals, timer->id));
	signals->nr_timers++;
	list_add_tail(&signals->timers, &timer->link);
	spin_unlock_irqrestore(&signals->lock, flags);
	return 0;
}

void posix_timer_delete(struct posix_timer *timer)
{
	struct process_signals *signals = &timer->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	list_remove(&timer->link);
	signals->nr_timers--;
	spin_unlock_irqrestore(&signals->lock, flags);
	posix_timer_stop(timer);
	kfree(timer);
}

void posix_timers_delete(struct process *process)
{
	struct list *pos, *next;

	mutex_lock(&posix_timer_lock);
	list_for_each_safe(pos, next, &process->signals.timers)
		posix_timer_delete(list_entry(pos, struct posix_timer, link));
	mutex_unlock(&posix_timer_lock);
}
