/*
 * New processes: fork(), vfork() and what clone() has of both. The child is a copy that returns 0 from
 * the same call.
 */
#include <kernel/string.h>
#include <trace/events/task.h>
#include <trace/uprobe.h>
#include "process.h"

static struct process *fork_copy_process(struct process *parent, uint64_t flags)
{
	struct sighand *sighand = parent->signals.sighand;
	const struct process_tables tables = {
		.files = flags & CLONE_FILES ? files_share(parent->files)
					     : files_copy(parent->files),
		.fs = flags & CLONE_FS ? fs_share(parent->fs) : fs_copy(parent->fs),
		.sighand = flags & CLONE_SIGHAND ? sighand_share(sighand) : sighand_copy(sighand),
	};
	struct process *child = process_create(tables);

	if (!child)
		return NULL;
	if (flags & CLONE_CLEAR_SIGHAND)
		sighand_reset(child->signals.sighand);
	child->personality = parent->personality;
	child->cred = current_task()->cred;
	memcpy(child->limits, parent->limits, sizeof(child->limits));
	if (child->limits[RLIMIT_CPU].cur != RLIM_INFINITY)
		cpu_timers_arm(&child->signals);
	child->pgid = parent->pgid;
	child->sid = parent->sid;
	child->tty_id = parent->tty_id;
	return child;
}

/* A task that does not run yet; NULL when out of memory. */
static struct thread *fork_copy_task(uint64_t flags)
{
	struct task *task = current_task();
	struct process *child = fork_copy_process(task->process, flags);
	struct mm *mm = NULL;

	if (child)
		mm = flags & CLONE_VM ? mm_get(task->mm) : mm_copy(task->mm);
	if (!mm) {
		process_put(child);
		return NULL;
	}
	return task_create(task->thread->name, child, mm, clone_begins, NULL);
}

/* Actions and masks are inherited, pending signals are not. */
static void fork_copy_signals(struct task *child, uint64_t flags)
{
	child->process->signals.exit_signal = (int)(flags & CLONE_SIGNAL);
	/* Two threads that share memory do not share a stack, unless one waits for the other. */
	if (!(flags & CLONE_VM) || flags & CLONE_VFORK)
		child->signals.stack = current_task()->signals.stack;
}

/* From here on the child may be waited for. */
static void fork_add_child(struct process *child, struct birth *born)
{
	struct process *parent = current_process();

	mutex_lock(&process_lock);
	child->pgid = parent->pgid; /* it may have changed meanwhile */
	process_set_parent(child, parent);
	child->born = born;
	process_get(child);
	list_add_tail(&parent->children, &child->sibling);
	process_list_add(child);
	mutex_unlock(&process_lock);
}

struct birth_wait {
	const struct task *task;
	struct birth birth;
};

static bool fork_may_go_on(void *arg)
{
	const struct birth_wait *wait = arg;

	return atomic_load(&wait->birth.is_done) || signal_must_end(wait->task);
}

/* Up to the program of the child, or its end; or that of the running thread. */
static void fork_wait_for_birth(struct process *child, struct birth_wait *wait)
{
	waitq_wait(wait->birth.queue, fork_may_go_on, wait, false, WAIT_FOREVER);
	mutex_lock(&process_lock);
	if (child->born == &wait->birth)
		child->born = NULL;
	mutex_unlock(&process_lock);
	process_put(child);
}

/* The thread that a new process begins with may run. The wait is that of vfork(); NULL: there is none. */
static void fork_start(struct thread *thread, struct birth_wait *wait, int event)
{
	struct process *child = thread->task->process;
	uint64_t pid = (uint64_t)thread->pid;

	if (wait)
		process_get(child);
	wake_up_new_thread(thread);
	thread_put(thread);
	ptrace_event(event, pid);
	if (!wait)
		return;
	fork_wait_for_birth(child, wait);
	ptrace_event(PTRACE_EVENT_VFORK_DONE, pid);
}

long process_fork(const struct trap_frame *regs, const struct kernel_clone_args *args)
{
	struct birth_wait wait = { .task = current_task(),
				   .birth.queue = &current_process()->signals.stopped };
	bool waits = args->flags & CLONE_VFORK;
	struct thread *thread;
	struct task *child;
	int32_t pid;

	thread = fork_copy_task(args->flags);
	if (!thread)
		return -ENOMEM;
	child = thread->task;
	pid = thread->pid;
	clone_copy_task(child, regs, args);
	fork_copy_signals(child, args->flags);
	if (uprobe_thread_forked(&thread->trace))
		pr_warn("fork: no memory for returns that probes wait for: %d will end there\n",
			pid);
	task_link(child);
	if (args->flags & CLONE_PARENT_SETTID)
		(void)!copy_to_user((void *)args->parent_tid, &pid, sizeof(pid));
	fork_add_child(child->process, waits ? &wait.birth : NULL);
	trace_task_newtask(pid, thread->name, args->flags & ~(uint64_t)CLONE_SIGNAL);
	fork_start(thread, waits ? &wait : NULL, ptrace_new_task(child, args->flags));
	return pid;
}
