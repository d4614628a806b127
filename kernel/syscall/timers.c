/* timer_create() and what there is for its timers; they work in process/posix_timer.c. */
#include <kernel/mm.h>
#include <kernel/time.h>
#include "process/posix_timer.h"
#include "sleep.h"
#include "syscall.h"

#define CLOCK_BOOTTIME 7
#define TIMER_ABSTIME  1

struct timers_value { /* struct itimerspec */
	struct user_timespec interval, value;
};

/* SIGEV_SIGNAL goes to the process, also with SIGEV_THREAD; SIGEV_THREAD_ID to a thread of it. */
static int timers_check_event(const struct user_sigevent *event)
{
	struct thread *thread;

	switch (event->notify) {
	case SIGEV_NONE:
		return 0;
	case SIGEV_THREAD_ID:
		thread = event->tid > 0 ? process_get_thread(current_process(), event->tid) : NULL;
		if (!thread)
			return -EINVAL;
		thread_put(thread);
		break;
	case SIGEV_SIGNAL:
	case SIGEV_THREAD:
		break;
	default:
		return -EINVAL;
	}
	return is_valid_signal(event->signo) ? 0 : -EINVAL;
}

static struct posix_timer *timers_make(int which_clock, const struct user_sigevent *event)
{
	struct posix_timer *timer = kzalloc(sizeof(*timer));

	if (!timer)
		return NULL;
	timer->process = current_process();
	timer->clock = which_clock;
	timer->clock_tid = current_thread()->pid;
	timer->notify = event->notify;
	timer->signo = event->signo;
	timer->tid = event->notify == SIGEV_THREAD_ID ? event->tid : 0;
	timer->value = event->value;
	return timer;
}

/* Tell the id of a new timer; without an event of the program's that is its value, too. The lock is held. */
static int timers_tell(struct posix_timer *timer, bool has_event, int *created_timer_id)
{
	if (!has_event)
		timer->value = (uint64_t)timer->id;
	if (!copy_to_user(created_timer_id, &timer->id, sizeof(timer->id)))
		return 0;
	posix_timer_delete(timer);
	return -EFAULT;
}

static int timers_add(struct posix_timer *timer, bool has_event, int *created_timer_id)
{
	int err;

	mutex_lock(&posix_timer_lock);
	err = posix_timer_add(timer);
	if (err)
		kfree(timer);
	else
		err = timers_tell(timer, has_event, created_timer_id);
	mutex_unlock(&posix_timer_lock);
	return err;
}

/* The clock as struct posix_timer has it; -1: there is none. The C library gives the two of processor time numbers below 0. */
static int timers_clock(int which_clock)
{
	if (which_clock == -6) /* of the own process: ~0 << 3, and 2 for all of its time */
		return POSIX_CLOCK_PROCESS;
	if (which_clock == -2) /* of the own thread */
		return POSIX_CLOCK_THREAD;
	return (which_clock >= 0 && which_clock <= POSIX_CLOCK_THREAD) ||
			       which_clock == CLOCK_BOOTTIME
		       ? which_clock
		       : -1;
}

long sys_timer_create(int which_clock, const struct user_sigevent *timer_event_spec,
		      int *created_timer_id)
{
	struct user_sigevent event = { .signo = SIGALRM, .notify = SIGEV_SIGNAL };
	struct posix_timer *timer;
	int err;

	if (timer_event_spec && copy_from_user(&event, timer_event_spec, sizeof(event)))
		return -EFAULT;
	which_clock = timers_clock(which_clock);
	if (which_clock < 0)
		return -EINVAL;
	err = timers_check_event(&event);
	if (err)
		return err;
	timer = timers_make(which_clock, &event);
	return timer ? timers_add(timer, timer_event_spec, created_timer_id) : -EAGAIN;
}

/* The timer of that id, with the lock held; NULL, without it. */
static struct posix_timer *timers_lock(int timer_id)
{
	struct process_signals *signals = &current_process()->signals;
	struct posix_timer *timer;
	uint64_t flags;

	mutex_lock(&posix_timer_lock);
	flags = spin_lock_irqsave(&signals->lock);
	timer = posix_timer_find(signals, timer_id);
	spin_unlock_irqrestore(&signals->lock, flags);
	if (!timer)
		mutex_unlock(&posix_timer_lock);
	return timer;
}

static struct user_timespec timers_spec(uint64_t ns)
{
	return (struct user_timespec){ .sec = (int64_t)(ns / NSEC_PER_SEC),
				       .nsec = (int64_t)(ns % NSEC_PER_SEC) };
}

static struct timers_value timers_value_of(struct posix_timer *timer)
{
	struct process_signals *signals = &timer->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	uint64_t left_ns = posix_timer_left(timer), interval_ns = timer->interval_ns;

	spin_unlock_irqrestore(&signals->lock, flags);
	return (struct timers_value){ timers_spec(interval_ns), timers_spec(left_ns) };
}

/* Its first ring as its clock counts; 0: it is off. */
static uint64_t timers_next(const struct posix_timer *timer, int flags, uint64_t ns)
{
	struct process_signals *signals = &timer->process->signals;
	uint64_t ahead = 0, now_ns, irq_flags;

	if (!ns)
		return 0;
	irq_flags = spin_lock_irqsave(&signals->lock);
	now_ns = posix_timer_now(timer);
	spin_unlock_irqrestore(&signals->lock, irq_flags);
	if (!(flags & TIMER_ABSTIME))
		return now_ns + ns < now_ns ? UINT64_MAX : now_ns + ns;
	if (timer->clock == POSIX_CLOCK_REAL)
		ahead = ktime_get_real_ns() - ktime_get_ns();
	return ns > ahead ? ns - ahead : 1;
}

long sys_timer_settime(int timer_id, int flags, const struct user_timespec *new_setting,
		       struct user_timespec *old_setting)
{
	uint64_t interval_ns, ns;
	struct posix_timer *timer;
	struct timers_value old;
	int err = new_setting ? user_timespec_ns(&new_setting[0], &interval_ns) : -EINVAL;

	if (!err)
		err = user_timespec_ns(&new_setting[1], &ns);
	if (err)
		return err;
	timer = timers_lock(timer_id);
	if (!timer)
		return -EINVAL;
	old = timers_value_of(timer);
	posix_timer_set(timer, timers_next(timer, flags, ns), interval_ns);
	mutex_unlock(&posix_timer_lock);
	return old_setting && copy_to_user(old_setting, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_timer_gettime(int timer_id, struct user_timespec *setting)
{
	struct posix_timer *timer = timers_lock(timer_id);
	struct timers_value value;

	if (!timer)
		return -EINVAL;
	value = timers_value_of(timer);
	mutex_unlock(&posix_timer_lock);
	return copy_to_user(setting, &value, sizeof(value)) ? -EFAULT : 0;
}

long sys_timer_getoverrun(int timer_id)
{
	struct posix_timer *timer = timers_lock(timer_id);
	long overrun;

	if (!timer)
		return -EINVAL;
	overrun = *(volatile int32_t *)&timer->overrun;
	mutex_unlock(&posix_timer_lock);
	return overrun;
}

long sys_timer_delete(int timer_id)
{
	struct posix_timer *timer = timers_lock(timer_id);

	if (!timer)
		return -EINVAL;
	posix_timer_delete(timer);
	mutex_unlock(&posix_timer_lock);
	return 0;
}
