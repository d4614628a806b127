/* Calls that wait for a time: nanosleep(), poll(). A signal without a handler does not end them. */
#include <kernel/poll.h>
#include <kernel/time.h>
#include "sleep.h"
#include "syscall.h"

#define CLOCK_MONOTONIC 1
#define TIMER_ABSTIME	1

int user_timespec_ns(const struct user_timespec *from, uint64_t *out_ns)
{
	struct user_timespec time;

	if (copy_from_user(&time, from, sizeof(time)))
		return -EFAULT;
	if (time.sec < 0 || time.nsec < 0 || time.nsec >= (int64_t)NSEC_PER_SEC)
		return -EINVAL;
	*out_ns = (uint64_t)time.sec > INT64_MAX / NSEC_PER_SEC
			  ? INT64_MAX
			  : (uint64_t)time.sec * NSEC_PER_SEC + (uint64_t)time.nsec;
	return 0;
}

/* ---- nanosleep() ---- */

static int sleep_tell_rest(uint64_t deadline_ns, struct user_timespec *rmtp)
{
	uint64_t now = ktime_get_ns(), left = deadline_ns > now ? deadline_ns - now : 0;
	const struct user_timespec rest = { .sec = (int64_t)(left / NSEC_PER_SEC),
					    .nsec = (int64_t)(left % NSEC_PER_SEC) };

	return rmtp && copy_to_user(rmtp, &rest, sizeof(rest)) ? -EFAULT : 0;
}

/* args: the deadline, and where the rest is told. */
static long sleep_until(void *arg)
{
	uint64_t *args = arg, deadline_ns = args[0], now = ktime_get_ns();
	struct task_signals *own = &current_task()->signals;

	if (!thread_sleep_ns(deadline_ns > now ? deadline_ns - now : 0))
		return 0;
	if (sleep_tell_rest(deadline_ns, (struct user_timespec *)args[1]))
		return -EFAULT;
	own->restart = sleep_until;
	own->restart_args[0] = deadline_ns;
	own->restart_args[1] = args[1];
	return -ERESTART_RESTARTBLOCK;
}

long sys_clock_nanosleep(int which_clock, int flags, const struct user_timespec *rqtp,
			 struct user_timespec *rmtp)
{
	uint64_t ns, now = ktime_get_ns(), args[2];
	int err;

	if (which_clock < 0 || which_clock > CLOCK_MONOTONIC || flags & ~TIMER_ABSTIME)
		return -EINVAL;
	err = user_timespec_ns(rqtp, &ns);
	if (err)
		return err;
	if (flags & TIMER_ABSTIME)
		return thread_sleep_ns(ns > now ? ns - now : 0) ? -ERESTARTNOHAND : 0;
	args[0] = ktime_after(ns);
	args[1] = (uintptr_t)rmtp;
	return sleep_until(args);
}

long sys_nanosleep(const struct user_timespec *rqtp, struct user_timespec *rmtp)
{
	return sys_clock_nanosleep(CLOCK_MONOTONIC, 0, rqtp, rmtp);
}

/* ---- poll() ---- */

uint32_t user_poll_events(const struct pollfd *poll, struct poll_table *table)
{
	struct file *file;
	uint32_t events;

	if (poll->fd < 0)
		return 0;
	file = files_get_file(current_process()->files, (unsigned int)poll->fd);
	if (!file)
		return POLLNVAL;
	events = vfs_poll(file, (uint16_t)poll->events, table);
	fput(file);
	return events;
}

struct sleep_poll {
	struct pollfd *ufds;
	unsigned int nfds;
};

/* How many files have events now, or -EFAULT. */
static long sleep_poll_look(struct poll_table *table, void *arg)
{
	const struct sleep_poll *wait = arg;
	struct pollfd poll;
	long nr = 0;

	for (unsigned int i = 0; i < wait->nfds; i++) {
		uint32_t events;

		if (copy_from_user(&poll, &wait->ufds[i], sizeof(poll)))
			return -EFAULT;
		events = user_poll_events(&poll, nr ? NULL : table);
		poll.revents = (int16_t)(events & ((uint16_t)poll.events | POLL_ALWAYS));
		nr += poll.revents != 0;
		if (copy_to_user(&wait->ufds[i], &poll, sizeof(poll)))
			return -EFAULT;
	}
	return nr;
}

/* args: the array, its length, the deadline. */
static long sleep_poll_until(void *arg)
{
	uint64_t *args = arg;
	struct sleep_poll wait = { (struct pollfd *)args[0], (unsigned int)args[1] };
	struct task_signals *own = &current_task()->signals;
	long nr = poll_until(args[2], sleep_poll_look, &wait);

	if (nr != -EINTR)
		return nr;
	own->restart = sleep_poll_until;
	for (size_t i = 0; i < 3; i++)
		own->restart_args[i] = args[i];
	return -ERESTART_RESTARTBLOCK;
}

long sys_ppoll(struct pollfd *ufds, unsigned int nfds, struct user_timespec *tsp,
	       const uint64_t *sigmask, size_t sigsetsize)
{
	uint64_t args[] = { (uintptr_t)ufds, nfds, UINT64_MAX }, ns = 0;
	int err = nfds > FILES_MAX ? -EINVAL : 0;
	long nr;

	if (!err && tsp) {
		err = user_timespec_ns(tsp, &ns);
		args[2] = ktime_after(ns);
	}
	if (!err)
		err = sigmask_begin(sigmask, sigsetsize);
	if (err)
		return err;
	nr = sleep_poll_until(args);
	return sigmask_end(sigmask, nr == -ERESTART_RESTARTBLOCK ? -ERESTARTNOHAND : nr);
}

long sys_poll(struct pollfd *ufds, unsigned int nfds, int timeout_msecs)
{
	uint64_t args[] = { (uintptr_t)ufds, nfds, UINT64_MAX };

	if (nfds > FILES_MAX)
		return -EINVAL;
	if (timeout_msecs >= 0)
		args[2] = ktime_after((uint64_t)timeout_msecs * NSEC_PER_MSEC);
	return sleep_poll_until(args);
}
