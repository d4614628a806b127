/*
 * The trace events of programs: <trace/events/NAME.h> in kernel/include has the definitions; and their
 * memory as probes read it. No call sites, because these functions are probes, or run in them.
 */
#include <arch/user.h>
#include <kernel/preempt.h>
#include <kernel/string.h>
#include <trace/platform.h>
#include <trace/thread.h>
#include <trace/uprobe.h>
#include "process.h"
#include "unwind/unwind.h"
#include "uprobe.h"

#define CREATE_TRACE_POINTS
#include <trace/events/raw_syscalls.h>
#include <trace/events/exec.h> /* the last: it names its file, which would be that of the next, too */

bool trace_plat_read_user(void *to, const void *from, size_t bytes)
{
	return arch_read_user_nofault(to, from, bytes);
}

/* Probes of programs: return addresses that they have replaced. */
static uint64_t user_caller(const struct trace_plat_user *self, uint64_t ret, uint64_t slot)
{
	(void)self;
	return uprobe_return_address(trace_plat_current(), ret, slot);
}

/*
 * Where the program would be without probes: in handlers it stands behind a breakpoint, one byte long. No
 * `mm`: the thread ends, and has left the program's memory.
 */
static uint64_t user_ip(struct mm *mm, const struct trap_frame *regs)
{
	uintptr_t addr = regs->rip;
	bool is_done;

	if (!mm)
		return addr;
	if (TRACE_LIKELY(!mm->uprobe_areas) && !trace_plat_current()->uprobe_phase)
		return addr;
	if (uprobe_slot_origin(mm, addr, &addr, &is_done) || !trace_plat_current()->uprobe_phase)
		return addr;
	addr--;
	return uprobe_is_trampoline(mm, addr)
		       ? uprobe_return_address(trace_plat_current(), addr, regs->rsp - sizeof(addr))
		       : addr;
}

static uint32_t user_frames(struct trace_plat_user *self, uint64_t *out_callers, uint32_t max)
{
	return arch_user_frames(self->fp, self->sp, out_callers, max);
}

/* The rest is read when the program goes on. */
static void user_ask_at_return(void)
{
	atomic_fetch_or(&current_thread()->samples_due, THREAD_STACKS_DUE);
}

static uint32_t user_frames_by_tables(struct trace_plat_user *self, uint64_t *out_callers,
				      uint32_t max)
{
	const struct cfi_frame start = {
		.ip = self->ip, .sp = self->sp, .fp = self->fp, .is_exact = true
	};
	uint32_t nr = unwind_user(current_task()->mm, &start, out_callers, max, &self->is_cut);

	if (self->is_cut)
		user_ask_at_return();
	return nr;
}

uint64_t trace_plat_current_uid_gid(void)
{
	const struct task *task = current_task();

	return task ? (uint64_t)task->cred.group.real << 32 | task->cred.user.real : 0;
}

/* The frame lies at the top of the thread's stack, whatever has come since. */
bool trace_plat_user_get(struct trace_plat_user *out)
{
	const struct task *task = current_task();
	const struct trap_frame *regs;
	bool has_probes = trace_plat_current()->uprobe, has_pointers;

	if (!task || in_nmi())
		return false;
	regs = task_frame(task);
	has_pointers = !task->mm ||
		       atomic_load_explicit(&task->mm->unwind.has_pointers, memory_order_relaxed);
	out->ip = user_ip(task->mm, regs);
	out->sp = regs->rsp;
	out->fp = regs->rbp;
	out->tgid = task->process->pid;
	out->is_cut = false;
	out->caller = has_probes ? user_caller : NULL;
	out->frames = !has_pointers ? user_frames_by_tables : has_probes ? NULL : user_frames;
	return true;
}
