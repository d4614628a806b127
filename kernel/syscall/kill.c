/* Sending signals to others. */
#include "syscall.h"

static long kill_process(int32_t pid, int sig, const struct user_siginfo *info)
{
	struct process *process;
	long err;

	if (pid == current_process()->pid) /* to itself it may send all */
		return send_signal(current_process(), NULL, sig, info);
	process = process_find(pid);
	if (!process)
		process = process_of_thread(pid);
	if (!process)
		return -ESRCH;
	err = check_kill_permission(process, sig, info);
	if (!err)
		err = send_signal(process, NULL, sig, info);
	process_put(process);
	return err;
}

/* `tgid` 0: whatever process the thread is of. */
static long kill_thread(int32_t tgid, int32_t pid, int sig, const struct user_siginfo *info)
{
	struct process *process = process_of_thread(pid);
	long err = -ESRCH;

	if (process && (!tgid || process->pid == tgid))
		err = check_kill_permission(process, sig, info);
	if (!err)
		err = send_signal_to(process, pid, sig, info);
	process_put(process);
	return err;
}

long sys_kill(int pid, int sig)
{
	struct user_siginfo info = siginfo_from_user(sig, SI_USER);

	if (sig && !is_valid_signal(sig))
		return -EINVAL;
	if (pid > 0)
		return kill_process(pid, sig, &info);
	if (pid == -1)
		return kill_all_others(sig, &info);
	if (pid == INT32_MIN)
		return -ESRCH;
	return kill_pgrp(pid ? -pid : current_process()->pgid, sig, &info);
}

long sys_tgkill(int tgid, int pid, int sig)
{
	struct user_siginfo info = siginfo_from_user(sig, SI_TKILL);

	if (tgid <= 0 || pid <= 0 || (sig && !is_valid_signal(sig)))
		return -EINVAL;
	return kill_thread(tgid, pid, sig, &info);
}

long sys_tkill(int pid, int sig)
{
	struct user_siginfo info = siginfo_from_user(sig, SI_TKILL);

	if (pid <= 0 || (sig && !is_valid_signal(sig)))
		return -EINVAL;
	return kill_thread(0, pid, sig, &info);
}

/* Only to itself may a program say that a signal came from the kernel or by kill(). */
static long kill_get_info(int32_t pid, int sig, const struct user_siginfo *uinfo,
			  struct user_siginfo *out_info)
{
	if (copy_siginfo_from_user(out_info, uinfo))
		return -EFAULT;
	if (sig && !is_valid_signal(sig))
		return -EINVAL;
	if ((out_info->code >= 0 || out_info->code == SI_TKILL) && pid != current_process()->pid)
		return -EPERM;
	out_info->signo = sig;
	return 0;
}

long sys_rt_sigqueueinfo(int pid, int sig, const struct user_siginfo *uinfo)
{
	struct user_siginfo info;
	long err = kill_get_info(pid, sig, uinfo, &info);

	return err ? err : kill_process(pid, sig, &info);
}

long sys_rt_tgsigqueueinfo(int tgid, int pid, int sig, const struct user_siginfo *uinfo)
{
	struct user_siginfo info;
	long err;

	if (tgid <= 0 || pid <= 0)
		return -EINVAL;
	err = kill_get_info(tgid, sig, uinfo, &info);
	return err ? err : kill_thread(tgid, pid, sig, &info);
}
