/* How threads are scheduled: policies, real-time priorities, nice. */
#include <kernel/cred.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "syscall.h"

#define PRIO_PROCESS	   0 /* the one kind of target of setpriority() that there is */
#define IOPRIO_WHO_PROCESS 1 /* the same of ioprio_get() */

_Static_assert(THREAD_NORMAL == 0 && THREAD_FIFO == 1 && THREAD_RR == 2, "as programs have them");

static bool policy_is_known(int policy)
{
	return policy >= THREAD_NORMAL && policy <= THREAD_RR;
}

/* Those of the own user, as long as they become no more urgent; all of them with CAP_SYS_NICE. */
static int policy_may_set(const struct thread *thread, int policy, int priority)
{
	if (capable(CAP_SYS_NICE))
		return 0;
	if (policy != THREAD_NORMAL &&
	    (policy != (int)thread->policy || priority > (int)thread->rt_priority))
		return -EPERM;
	return cred_may_change(thread->task->process, CAP_SYS_NICE) ? 0 : -EPERM;
}

/* Give the thread a policy, or its own one again (-1), and the priority that the program has at `param`. */
static long policy_set(int pid, int policy, const int *param)
{
	struct thread *thread;
	int priority, err;

	if (pid < 0 || (policy != -1 && !policy_is_known(policy)))
		return -EINVAL;
	if (!param || copy_from_user(&priority, param, sizeof(priority)))
		return param ? -EFAULT : -EINVAL;
	thread = syscall_get_thread(pid);
	if (!thread)
		return -ESRCH;
	if (policy == -1)
		policy = thread->policy;
	err = priority < 0 ? -EINVAL : policy_may_set(thread, policy, priority);
	if (!err)
		err = thread_set_policy(thread, (enum thread_policy)policy, (uint32_t)priority);
	thread_put(thread);
	return err;
}

long sys_sched_setscheduler(int pid, int policy, int *param)
{
	return policy_is_known(policy) ? policy_set(pid, policy, param) : -EINVAL;
}

long sys_sched_setparam(int pid, int *param)
{
	return policy_set(pid, -1, param);
}

long sys_sched_getscheduler(int pid)
{
	struct thread *thread = pid < 0 ? NULL : syscall_get_thread(pid);
	long policy;

	if (!thread)
		return pid < 0 ? -EINVAL : -ESRCH;
	policy = thread->policy;
	thread_put(thread);
	return policy;
}

long sys_sched_getparam(int pid, int *param)
{
	struct thread *thread = pid < 0 || !param ? NULL : syscall_get_thread(pid);
	int priority;

	if (!thread)
		return pid < 0 || !param ? -EINVAL : -ESRCH;
	priority = thread->rt_priority;
	thread_put(thread);
	return copy_to_user(param, &priority, sizeof(priority)) ? -EFAULT : 0;
}

static int policy_nice(const struct thread *thread)
{
	return thread->nice;
}

struct user_sched_attr { /* struct sched_attr, of its first version */
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period; /* of deadlines, which there are none of */
};

long sys_sched_getattr(int pid, void *uattr, unsigned int usize, unsigned int flags)
{
	struct user_sched_attr attr = { .size = sizeof(attr) };
	struct thread *thread;

	if (!uattr || pid < 0 || usize < sizeof(attr) || usize > PAGE_SIZE || flags)
		return -EINVAL;
	thread = syscall_get_thread(pid);
	if (!thread)
		return -ESRCH;
	attr.policy = thread->policy;
	attr.priority = thread->rt_priority;
	if (attr.policy == THREAD_NORMAL)
		attr.nice = policy_nice(thread);
	thread_put(thread);
	return copy_to_user(uattr, &attr, sizeof(attr)) ? -EFAULT : 0;
}

/* There are no disks: no process has asked for a class of its own, IOPRIO_CLASS_NONE. */
long sys_ioprio_get(int which, int who)
{
	struct thread *thread = which == IOPRIO_WHO_PROCESS ? syscall_get_thread(who) : NULL;

	if (!thread)
		return which == IOPRIO_WHO_PROCESS ? -ESRCH : -EINVAL;
	thread_put(thread);
	return 0;
}

long sys_sched_get_priority_max(int policy)
{
	if (!policy_is_known(policy))
		return -EINVAL;
	return policy == THREAD_NORMAL ? 0 : THREAD_RT_PRIO_MAX;
}

long sys_sched_get_priority_min(int policy)
{
	if (!policy_is_known(policy))
		return -EINVAL;
	return policy == THREAD_NORMAL ? 0 : 1;
}

/* Turns of SCHED_RR have a length; threads of SCHED_FIFO go on until they wait. */
long sys_sched_rr_get_interval(int pid, struct user_timespec *interval)
{
	struct thread *thread = pid < 0 ? NULL : syscall_get_thread(pid);
	struct user_timespec out = { 0 };

	if (!thread)
		return pid < 0 ? -EINVAL : -ESRCH;
	if (thread->policy != THREAD_FIFO)
		out.nsec = thread->policy == THREAD_RR ? THREAD_RR_TURN_NS : THREAD_SLICE_NS;
	thread_put(thread);
	return copy_to_user(interval, &out, sizeof(out)) ? -EFAULT : 0;
}

/* 20 - nice: the C library takes it back, as negative results are errors. */
long sys_getpriority(int which, int who)
{
	struct thread *thread = which == PRIO_PROCESS ? syscall_get_thread(who) : NULL;
	long result;

	if (!thread)
		return which == PRIO_PROCESS ? -ESRCH : -EINVAL;
	result = 20 - policy_nice(thread);
	thread_put(thread);
	return result;
}

long sys_setpriority(int which, int who, int niceval)
{
	struct thread *thread = which == PRIO_PROCESS ? syscall_get_thread(who) : NULL;
	int err;

	if (!thread)
		return which == PRIO_PROCESS ? -ESRCH : -EINVAL;
	if (niceval < THREAD_NICE_MIN)
		niceval = THREAD_NICE_MIN;
	if (niceval > THREAD_NICE_MAX)
		niceval = THREAD_NICE_MAX;
	if (!cred_may_change(thread->task->process, CAP_SYS_NICE))
		err = -EPERM;
	else if (niceval < thread->nice && !capable(CAP_SYS_NICE))
		err = -EACCES;
	else
		err = thread_set_nice(thread, niceval);
	thread_put(thread);
	return err;
}
