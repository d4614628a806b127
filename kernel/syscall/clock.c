/*
 * Clocks: the time of day, the time since the boot, and CPU time of threads and processes.
 */
#include <kernel/time.h>
#include "syscall.h"

#define CLOCK_REALTIME		 0
#define CLOCK_MONOTONIC		 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID	 3
#define CLOCK_REALTIME_COARSE	 5
#define CLOCK_REALTIME_ALARM	 8
#define CLOCK_TAI		 11
#define NR_CLOCKS		 12
#define CLOCK_TICKS_PER_SECOND	 100 /* of times() */
#define CLOCK_OF_THREAD		 4   /* in numbers below 0, with the two next bits */
#define CLOCK_KIND		 3
#define CLOCK_KIND_VIRT		 1
#define RUSAGE_SELF		 0
#define RUSAGE_CHILDREN		 (-1)
#define RUSAGE_THREAD		 1

static uint64_t clock_read_ns(int which_clock)
{
	if (TRACE_LIKELY(which_clock == CLOCK_MONOTONIC))
		return ktime_get_ns();
	switch (which_clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		return ktime_get_real_ns();
	case CLOCK_PROCESS_CPUTIME_ID:
		return process_cpu_ns(current_process());
	case CLOCK_THREAD_CPUTIME_ID:
		return current_thread()->runtime_ns;
	default:
		return ktime_get_ns();
	}
}

static int clock_usage_of_thread(int tid, struct usage *out)
{
	struct thread *thread = syscall_get_thread(tid);
	bool is_ours = thread && thread->task->process == current_process();

	if (is_ours)
		usage_of_thread(thread, out);
	if (thread)
		thread_put(thread);
	return is_ours ? 0 : -EINVAL;
}

static int clock_usage_of_process(int pid, struct usage *out)
{
	struct process *process = process_find(pid ? pid : current_process()->pid);

	if (!process)
		return -EINVAL;
	usage_of_process(process, out);
	process_put(process);
	return 0;
}

/* Processor time of any process, or of a thread of the own one: the clock's number has its pid, inverted. 0 or -EINVAL. */
static int clock_read_cpu(int which_clock, uint64_t *out_ns)
{
	int pid = (int)(~(unsigned int)which_clock >> 3), kind = which_clock & CLOCK_KIND, err;
	struct usage usage;

	if (kind == CLOCK_KIND)
		return -EINVAL;
	if (which_clock & CLOCK_OF_THREAD)
		err = clock_usage_of_thread(pid, &usage);
	else
		err = clock_usage_of_process(pid, &usage);
	if (!err)
		*out_ns = usage.user_ns + (kind == CLOCK_KIND_VIRT ? 0 : usage.kernel_ns);
	return err;
}

static struct user_timespec clock_timespec(uint64_t ns)
{
	return (struct user_timespec){ .sec = (int64_t)(ns / NSEC_PER_SEC),
				       .nsec = (int64_t)(ns % NSEC_PER_SEC) };
}

static struct user_timeval clock_timeval(uint64_t ns)
{
	return (struct user_timeval){ .sec = (int64_t)(ns / NSEC_PER_SEC),
				      .usec = (int64_t)(ns % NSEC_PER_SEC / NSEC_PER_USEC) };
}

long sys_clock_gettime(int which_clock, struct user_timespec *tp)
{
	struct user_timespec out;
	uint64_t ns;

	if (TRACE_LIKELY((unsigned int)which_clock < NR_CLOCKS))
		ns = clock_read_ns(which_clock);
	else if (which_clock >= 0 || clock_read_cpu(which_clock, &ns))
		return -EINVAL;
	out = clock_timespec(ns);
	return copy_to_user(tp, &out, sizeof(out)) ? -EFAULT : 0;
}

long sys_clock_getres(int which_clock, struct user_timespec *tp)
{
	const struct user_timespec out = { .nsec = 1 };
	uint64_t ns;

	if (which_clock >= NR_CLOCKS || (which_clock < 0 && clock_read_cpu(which_clock, &ns)))
		return -EINVAL;
	return tp && copy_to_user(tp, &out, sizeof(out)) ? -EFAULT : 0;
}

/* The time zone is that of Greenwich. */
long sys_gettimeofday(struct user_timeval *tv, void *tz)
{
	const struct user_timeval out = clock_timeval(ktime_get_real_ns());
	const uint64_t zone = 0;

	if (tv && copy_to_user(tv, &out, sizeof(out)))
		return -EFAULT;
	return tz && copy_to_user(tz, &zone, sizeof(zone)) ? -EFAULT : 0;
}

long sys_time(long *tloc)
{
	long now = (long)(ktime_get_real_ns() / NSEC_PER_SEC);

	return tloc && copy_to_user(tloc, &now, sizeof(now)) ? -EFAULT : now;
}

long sys_times(uint64_t *tbuf)
{
	const uint64_t tick_ns = NSEC_PER_SEC / CLOCK_TICKS_PER_SECOND;
	struct usage own, children;
	uint64_t out[4];

	usage_of_process(current_process(), &own);
	usage_of_children(current_process(), &children);
	out[0] = own.user_ns / tick_ns;
	out[1] = own.kernel_ns / tick_ns;
	out[2] = children.user_ns / tick_ns;
	out[3] = children.kernel_ns / tick_ns;
	if (tbuf && copy_to_user(tbuf, out, sizeof(out)))
		return -EFAULT;
	return (long)(ktime_get_ns() / tick_ns);
}

long sys_getrusage(int who, void *ru)
{
	struct usage usage;

	if (who == RUSAGE_SELF)
		usage_of_process(current_process(), &usage);
	else if (who == RUSAGE_CHILDREN)
		usage_of_children(current_process(), &usage);
	else if (who == RUSAGE_THREAD)
		usage_of_thread(current_thread(), &usage);
	else
		return -EINVAL;
	if (who != RUSAGE_CHILDREN)
		usage_add_mm(&usage, current_task()->mm);
	return usage_give(&usage, ru);
}
