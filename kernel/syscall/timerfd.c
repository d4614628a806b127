/*
 * timerfd_create(): a file that is a timer. A read waits until it has rung, and tells how often since the last one. No
 * timer of the kernel runs for it: the time of the next ring says whether it has rung.
 */
#include <kernel/mm.h>
#include <kernel/poll.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "sleep.h"
#include "syscall.h"

#define CLOCK_REALTIME	  0
#define CLOCK_MONOTONIC	  1
#define CLOCK_BOOTTIME	  7
#define TFD_TIMER_ABSTIME 1
#define TFD_TIMER_CANCEL  2 /* when the clock is set, which is never */

struct timerfd {
	struct mutex lock;
	uint64_t next_ns;     /* as ktime_get_ns() counts; 0: it is off */
	uint64_t interval_ns; /* 0: it rings once */
	bool is_real_time;
	struct waitq waitq; /* readers; woken when it is set */
};

struct timerfd_value { /* struct itimerspec */
	struct user_timespec interval, value;
};

/* How often it has rung. The lock is held. */
static uint64_t timerfd_rings(const struct timerfd *timer, uint64_t now_ns)
{
	if (!timer->next_ns || now_ns < timer->next_ns)
		return 0;
	return timer->interval_ns ? 1 + (now_ns - timer->next_ns) / timer->interval_ns : 1;
}

/* The same, and they are told; and when it rings next, WAIT_FOREVER for never. */
static uint64_t timerfd_take(struct timerfd *timer, uint64_t *out_next_ns)
{
	uint64_t rings;

	mutex_lock(&timer->lock);
	rings = timerfd_rings(timer, ktime_get_ns());
	if (rings)
		timer->next_ns =
			timer->interval_ns ? timer->next_ns + rings * timer->interval_ns : 0;
	*out_next_ns = timer->next_ns ? timer->next_ns : WAIT_FOREVER;
	mutex_unlock(&timer->lock);
	return rings;
}

struct timerfd_wait {
	struct timerfd *timer;
	uint64_t next_ns; /* it rings then, as far as the reader knows */
};

static bool timerfd_is_set_anew(void *arg)
{
	const struct timerfd_wait *wait = arg;
	bool is_anew;

	mutex_lock(&wait->timer->lock);
	is_anew = wait->timer->next_ns && wait->timer->next_ns != wait->next_ns;
	mutex_unlock(&wait->timer->lock);
	return is_anew;
}

/* Until it rings, or was set. 0 or -EINTR. */
static int timerfd_sleep(struct timerfd_wait *wait)
{
	uint64_t ns = WAIT_FOREVER, now_ns = ktime_get_ns();
	int err;

	if (wait->next_ns != WAIT_FOREVER)
		ns = wait->next_ns > now_ns ? wait->next_ns - now_ns : 0;
	err = waitq_wait(&wait->timer->waitq, timerfd_is_set_anew, wait, true, ns);
	return err == -ETIMEDOUT ? 0 : err;
}

static ssize_t timerfd_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct timerfd_wait wait = { .timer = file->object };
	uint64_t rings;
	int err = 0;

	(void)pos;
	if (len < sizeof(rings))
		return -EINVAL;
	while (!(rings = timerfd_take(wait.timer, &wait.next_ns)) && !err)
		err = file->flags & VFS_NONBLOCK ? -EAGAIN : timerfd_sleep(&wait);
	if (!rings)
		return err;
	memcpy(buf, &rings, sizeof(rings));
	return sizeof(rings);
}

static bool timerfd_is_readable(struct file *file)
{
	struct timerfd *timer = file->object;
	bool has_rung;

	mutex_lock(&timer->lock);
	has_rung = timerfd_rings(timer, ktime_get_ns());
	mutex_unlock(&timer->lock);
	return has_rung;
}

static uint32_t timerfd_poll(struct file *file, struct poll_table *table)
{
	struct timerfd *timer = file->object;
	uint64_t next_ns;

	poll_wait(table, &timer->waitq);
	mutex_lock(&timer->lock);
	next_ns = timer->next_ns;
	mutex_unlock(&timer->lock);
	if (!next_ns)
		return 0;
	poll_wait_until(table, next_ns);
	return ktime_get_ns() >= next_ns ? POLLIN : 0;
}

static int timerfd_close(struct file *file)
{
	kfree(file->object);
	return 0;
}

static const struct file_ops timerfd_ops = {
	.read = timerfd_read,
	.is_readable = timerfd_is_readable,
	.poll = timerfd_poll,
	.close = timerfd_close,
};

long sys_timerfd_create(int clockid, int flags)
{
	uint32_t nonblock = flags & O_NONBLOCK ? VFS_NONBLOCK : 0;
	struct timerfd *timer;
	struct file *file;

	if (flags & ~(O_CLOEXEC | O_NONBLOCK) ||
	    (clockid != CLOCK_REALTIME && clockid != CLOCK_MONOTONIC && clockid != CLOCK_BOOTTIME))
		return -EINVAL;
	timer = kzalloc(sizeof(*timer));
	file = timer ? file_create(&timerfd_ops, timer, VFS_READ | VFS_WRITE | nonblock) : NULL;
	if (!file) {
		kfree(timer);
		return -ENOMEM;
	}
	timer->is_real_time = clockid == CLOCK_REALTIME;
	return files_install(current_process()->files, file, 0, flags & O_CLOEXEC);
}

/* The file, with a reference; NULL with *out_err set: -EBADF, -EINVAL: it is no timer. */
static struct file *timerfd_get(int ufd, int *out_err)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)ufd);

	*out_err = file ? 0 : -EBADF;
	if (file && file->ops != &timerfd_ops) {
		fput(file);
		*out_err = -EINVAL;
		return NULL;
	}
	return file;
}

static struct user_timespec timerfd_spec(uint64_t ns)
{
	return (struct user_timespec){ .sec = (int64_t)(ns / NSEC_PER_SEC),
				       .nsec = (int64_t)(ns % NSEC_PER_SEC) };
}

/* The time that is left, and the interval. The lock is held. */
static struct timerfd_value timerfd_value_of(const struct timerfd *timer)
{
	uint64_t now_ns = ktime_get_ns(), next_ns = timer->next_ns, rings;

	rings = timerfd_rings(timer, now_ns);
	if (rings)
		next_ns = timer->interval_ns ? next_ns + rings * timer->interval_ns : 0;
	return (struct timerfd_value){ .interval = timerfd_spec(timer->interval_ns),
				       .value = timerfd_spec(next_ns ? next_ns - now_ns : 0) };
}

static void timerfd_set(struct timerfd *timer, uint64_t next_ns, uint64_t interval_ns,
			struct timerfd_value *out_old)
{
	mutex_lock(&timer->lock);
	*out_old = timerfd_value_of(timer);
	timer->next_ns = next_ns;
	timer->interval_ns = interval_ns;
	mutex_unlock(&timer->lock);
	waitq_wake_all(&timer->waitq);
}

/* Its first ring as ktime_get_ns() counts; 0: it is off. */
static uint64_t timerfd_next(const struct timerfd *timer, int flags, uint64_t ns)
{
	uint64_t ahead;

	if (!ns || !(flags & TFD_TIMER_ABSTIME))
		return ns ? ktime_after(ns) : 0;
	ahead = timer->is_real_time ? ktime_get_real_ns() - ktime_get_ns() : 0;
	return ns > ahead ? ns - ahead : 1;
}

long sys_timerfd_settime(int ufd, int flags, const struct user_timespec *utmr,
			 struct user_timespec *otmr)
{
	uint64_t interval_ns, ns;
	struct timerfd_value old;
	struct file *file;
	int err = flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL) ? -EINVAL : 0;

	if (!err)
		err = user_timespec_ns(&utmr[0], &interval_ns);
	if (!err)
		err = user_timespec_ns(&utmr[1], &ns);
	if (err)
		return err;
	file = timerfd_get(ufd, &err);
	if (!file)
		return err;
	timerfd_set(file->object, timerfd_next(file->object, flags, ns), interval_ns, &old);
	fput(file);
	return otmr && copy_to_user(otmr, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_timerfd_gettime(int ufd, struct user_timespec *otmr)
{
	struct timerfd_value value;
	struct timerfd *timer;
	int err;
	struct file *file = timerfd_get(ufd, &err);

	if (!file)
		return err;
	timer = file->object;
	mutex_lock(&timer->lock);
	value = timerfd_value_of(timer);
	mutex_unlock(&timer->lock);
	fput(file);
	return copy_to_user(otmr, &value, sizeof(value)) ? -EFAULT : 0;
}
