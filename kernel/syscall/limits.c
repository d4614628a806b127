/* Limits of programs: getrlimit(), setrlimit(), prlimit64(). */
#include <kernel/cred.h>
#include <kernel/rlimit.h>
#include "syscall.h"

/* Those of another process: all its ids are the caller's real ones. */
static bool limits_may_touch(const struct process *process)
{
	const struct cred *from = current_cred();
	const struct cred_ids *user = &process->cred.user, *group = &process->cred.group;

	if (process == current_process() || capable(CAP_SYS_RESOURCE))
		return true;
	return from->user.real == user->real && from->user.real == user->effective &&
	       from->user.real == user->saved && from->group.real == group->real &&
	       from->group.real == group->effective && from->group.real == group->saved;
}

/* 0; -EPERM: only root raises the upper limit, and there are no more descriptors than FILES_MAX. */
static int limits_check(unsigned int resource, const struct rlimit *old, const struct rlimit *new)
{
	if (new->cur > new->max)
		return -EINVAL;
	if (resource == RLIMIT_NOFILE && new->max > FILES_MAX)
		return -EPERM;
	return new->max > old->max && !capable(CAP_SYS_RESOURCE) ? -EPERM : 0;
}

static int limits_exchange(struct process *process, unsigned int resource, const struct rlimit *new,
			   struct rlimit *out_old)
{
	int err;

	if (!limits_may_touch(process))
		return -EPERM;
	mutex_lock(&process_lock);
	*out_old = process->limits[resource];
	err = new ? limits_check(resource, out_old, new) : 0;
	if (!err && new)
		process->limits[resource] = *new;
	if (!err && new &&resource == RLIMIT_CPU)
		cpu_timers_arm(&process->signals);
	mutex_unlock(&process_lock);
	return err;
}

long sys_prlimit64(int pid, unsigned int resource, const struct rlimit *new_rlim,
		   struct rlimit *old_rlim)
{
	struct rlimit new, old;
	struct process *process;
	int err;

	if (resource >= NR_RLIMITS)
		return -EINVAL;
	if (new_rlim && copy_from_user(&new, new_rlim, sizeof(new)))
		return -EFAULT;
	process = process_of_thread(pid ? pid : current_thread()->pid);
	if (!process)
		return -ESRCH;
	err = limits_exchange(process, resource, new_rlim ? &new : NULL, &old);
	process_put(process);
	if (!err && old_rlim && copy_to_user(old_rlim, &old, sizeof(old)))
		err = -EFAULT;
	return err;
}

long sys_getrlimit(unsigned int resource, struct rlimit *rlim)
{
	return rlim ? sys_prlimit64(0, resource, NULL, rlim) : -EFAULT;
}

long sys_setrlimit(unsigned int resource, const struct rlimit *rlim)
{
	return rlim ? sys_prlimit64(0, resource, rlim, NULL) : -EFAULT;
}
