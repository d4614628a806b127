/*
 * clone(): a process more, or a thread more of the running one, and what both have of the running thread. Those that
 * are made return 0 from the same call.
 *
 *   do_clone() --> process_fork()        fork.c: CLONE_THREAD is not set
 *              \-> clone_new_thread()    a task with the same process and mm
 */
#include <trace/events/task.h>
#include "process.h"

#define CLONE_PLACES                                                                               \
	(CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID)
/* A thread has all of these in common with the others. */
#define CLONE_OF_THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define CLONE_PROCESS_FLAGS                                                                        \
	(CLONE_SIGNAL | CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |          \
	 CLONE_SYSVSEM | CLONE_PLACES | CLONE_CLEAR_SIGHAND)

int clone_begins(void *arg)
{
	struct task *task = current_task();

	(void)arg;
	if (task->set_child_tid)
		(void)!copy_to_user((void *)task->set_child_tid, &task->thread->pid,
				    sizeof(task->thread->pid));
	syscall_exit_to_child(task_frame(task));
	return 0;
}

static void clone_set_registers(struct task *child, const struct trap_frame *regs, uintptr_t stack)
{
	struct trap_frame *frame = task_frame(child);

	*frame = *regs;
	frame->rax = 0;
	if (current_task()->trace.forces_step)
		arch_user_step_off(frame);
	if (stack)
		frame->rsp = stack;
}

void clone_copy_task(struct task *child, const struct trap_frame *regs,
		     const struct kernel_clone_args *args)
{
	arch_user_copy(&child->arch, &current_task()->arch);
	clone_set_registers(child, regs, args->stack);
	child->cred = current_task()->cred;
	child->signals.blocked = current_task()->signals.blocked;
	child->set_child_tid = args->flags & CLONE_CHILD_SETTID ? args->child_tid : 0;
	child->clear_child_tid = args->flags & CLONE_CHILD_CLEARTID ? args->child_tid : 0;
	if (args->flags & CLONE_SETTLS)
		child->arch.fs_base = args->tls;
}

static long clone_new_thread(const struct trap_frame *regs, const struct kernel_clone_args *args)
{
	struct task *task = current_task();
	struct thread *thread;
	int32_t pid;
	int event;

	process_get(task->process);
	thread = task_create(task->thread->name, task->process, mm_get(task->mm), clone_begins,
			     NULL);
	if (!thread)
		return -ENOMEM;
	pid = thread->pid;
	clone_copy_task(thread->task, regs, args);
	if (args->flags & CLONE_PARENT_SETTID)
		(void)!copy_to_user((void *)args->parent_tid, &pid, sizeof(pid));
	trace_task_newtask(pid, thread->name, args->flags & ~(uint64_t)CLONE_SIGNAL);
	task_link(thread->task);
	event = ptrace_new_task(thread->task, args->flags);
	wake_up_new_thread(thread);
	thread_put(thread);
	ptrace_event(event, (uint64_t)pid);
	return pid;
}

/* A handler is an address, which means the same only in the same memory. */
static int clone_check_process(uint64_t flags)
{
	bool shares_handlers = flags & CLONE_SIGHAND;

	if (flags & ~(uint64_t)CLONE_PROCESS_FLAGS)
		return -EINVAL;
	return shares_handlers && (!(flags & CLONE_VM) || flags & CLONE_CLEAR_SIGHAND) ? -EINVAL
										       : 0;
}

/* Flags that go together on Linux only, and those that go together here only. */
static int clone_check(const struct kernel_clone_args *args)
{
	uint64_t flags = args->flags & ~(uint64_t)CLONE_DETACHED;
	uint64_t ignored = CLONE_SYSVSEM | CLONE_SIGNAL | CLONE_PLACES;

	if (flags & CLONE_SETTLS && args->tls >= TASK_SIZE_MAX)
		return -EPERM;
	if (!(flags & CLONE_THREAD))
		return clone_check_process(flags);
	return (flags & ~ignored) == CLONE_OF_THREAD ? 0 : -EINVAL;
}

long do_clone(const struct trap_frame *regs, const struct kernel_clone_args *args)
{
	int err = clone_check(args);

	if (!err && !may_add_task())
		err = -EAGAIN;
	if (err)
		return err;
	return args->flags & CLONE_THREAD ? clone_new_thread(regs, args) : process_fork(regs, args);
}
