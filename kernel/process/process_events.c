/*
 * The trace events of programs: <trace/events/NAME.h> in kernel/include has the definitions; and their
 * memory as probes read it. No call sites, because these functions are probes, or run in them.
 */
#include <arch/user.h>
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <trace/platform.h>
#include "process.h"

#define CREATE_TRACE_POINTS
#include <trace/events/raw_syscalls.h>
#include <trace/events/exec.h> /* the last: it names its file, which would be that of the next, too */

bool trace_plat_read_user(void *to, const void *from, size_t bytes)
{
	return arch_read_user_nofault(to, from, bytes);
}

/* The frame lies at the top of the thread's stack, whatever has come since. */
bool trace_plat_user_get(struct trace_plat_user *out)
{
	const struct task *task = current_task();
	const struct trap_frame *regs;

	if (!task || in_nmi())
		return false;
	regs = task_frame(task);
	*out = (struct trace_plat_user){
		.ip = regs->rip, .sp = regs->rsp, .fp = regs->rbp, .tgid = task->process->pid
	};
	return true;
}
