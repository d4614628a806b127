/* Sending signals to others. The only user is root, who may do it. */
#include "syscall.h"

static long kill_process(int32_t pid, bool to_thread, int sig, const struct user_siginfo *info)
{
	struct process *process = process_find(pid);
	long err;

	if (!process)
		return -ESRCH;
	err = send_signal(process, to_thread, sig, info);
	process_put(process);
	return err;
}

long sys_kill(int pid, int sig)
{
	struct user_siginfo info = siginfo_from_user(sig, SI_USER);

	if (sig && !is_valid_signal(sig))
		return -EINVAL;
	if (pid > 0)
		return kill_process(pid, false, sig, &info);
	if (pid == -1)
		return kill_all_others(sig, &info);
	if (pid == INT32_MIN)
		return -ESRCH;
	return kill_pgrp(pid ? -pid : current_process()->pgid, sig, &info);
}

/* Each process has one thread so far, with the same id. */
long sys_tgkill(int tgid, int pid, int sig)
{
	struct user_siginfo info = siginfo_from_user(sig, SI_TKILL);

	if (tgid <= 0 || pid <= 0 || (sig && !is_valid_signal(sig)))
		return -EINVAL;
	return tgid == pid ? kill_process(pid, true, sig, &info) : -ESRCH;
}

long sys_tkill(int pid, int sig)
{
	return sys_tgkill(pid, pid, sig);
}

/* Only to itself may a program say that a signal came from the kernel or by kill(). */
static long kill_queue(int32_t pid, bool to_thread, int sig, const struct user_siginfo *uinfo)
{
	struct user_siginfo info;

	if (copy_from_user(&info, uinfo, sizeof(info)))
		return -EFAULT;
	if (sig && !is_valid_signal(sig))
		return -EINVAL;
	if ((info.code >= 0 || info.code == SI_TKILL) && pid != current_process()->pid)
		return -EPERM;
	info.signo = sig;
	return kill_process(pid, to_thread, sig, &info);
}

long sys_rt_sigqueueinfo(int pid, int sig, const struct user_siginfo *uinfo)
{
	return kill_queue(pid, false, sig, uinfo);
}

long sys_rt_tgsigqueueinfo(int tgid, int pid, int sig, const struct user_siginfo *uinfo)
{
	if (tgid <= 0 || pid <= 0)
		return -EINVAL;
	return tgid == pid ? kill_queue(pid, true, sig, uinfo) : -ESRCH;
}
