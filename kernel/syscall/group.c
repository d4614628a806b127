/* Groups and sessions of processes, and waitid(). */
#include "syscall.h"

#define P_ALL  0
#define P_PID  1
#define P_PGID 2

long sys_setpgid(int pid, int pgid)
{
	if (pid < 0)
		return -ESRCH;
	return pgid < 0 ? -EINVAL : process_set_group(pid, pgid);
}

static long group_of(int32_t pid, bool wants_session)
{
	struct process *process = process_find(pid ? pid : current_process()->pid);
	long id;

	if (!process)
		return -ESRCH;
	id = wants_session ? process->sid : process->pgid;
	process_put(process);
	return id;
}

long sys_getpgid(int pid)
{
	return group_of(pid, false);
}

long sys_getpgrp(void)
{
	return current_process()->pgid;
}

long sys_getsid(int pid)
{
	return group_of(pid, true);
}

long sys_setsid(void)
{
	return process_begin_session();
}

/* The number that wait4() tells, in parts. */
static struct user_siginfo group_waitid_info(long pid, int code)
{
	struct user_siginfo info = { .signo = SIGCHLD, .child.pid = (int32_t)pid };

	info.code = CLD_KILLED;
	info.child.status = code & 0x7f;
	if (code == WAIT_CODE_CONTINUED) {
		info.code = CLD_CONTINUED;
		info.child.status = SIGCONT;
	} else if ((code & 0xff) == 0x7f) {
		info.code = code >> 30 ? CLD_TRAPPED : CLD_STOPPED;
		info.child.status = code >> 8 & 0xffff;
	} else if (!(code & 0x7f)) {
		info.code = CLD_EXITED;
		info.child.status = code >> 8 & 0xff;
	}
	return info;
}

long sys_waitid(int which, int upid, struct user_siginfo *infop, int options, void *ru)
{
	struct usage usage;
	const int kinds = WEXITED | WUNTRACED | WCONTINUED;
	struct user_siginfo info = { 0 };
	int code = 0;
	long pid;

	if (options & ~(kinds | WNOHANG | WNOWAIT | (int)(WALL | WCLONE)) || !(options & kinds))
		return -EINVAL;
	if (which < P_ALL || which > P_PGID || (which == P_PID && upid <= 0) ||
	    (which == P_PGID && upid < 0))
		return -EINVAL;
	if (which == P_ALL)
		upid = -1;
	else if (which == P_PGID)
		upid = -upid;
	pid = do_wait(upid, options, &code, &usage);
	if (pid < 0)
		return pid;
	if (pid)
		info = group_waitid_info(pid, code);
	if (infop && copy_siginfo_to_user(infop, &info))
		return -EFAULT;
	return ru ? usage_give(&usage, ru) : 0;
}
