/*
 * The end of a process, and the news of it for its parent.
 *
 *   do_group_exit() --> do_exit() --> task_exit(): memory and files go, the parent is told
 *       |                                parent: do_wait() takes the code; then the process is forgotten
 *       '--> the other threads: get_signal() --> do_exit() --> task_exit(): memory goes
 *
 * The last thread of a process gives up what they have in common, whichever it is.
 *
 * Children of a process that ends go to the first program, if there is one. Otherwise they have no
 * parent any more, and none waits for them.
 */
#include <kernel/string.h>
#include "posix_timer.h"
#include "process.h"
#include "futex.h"
#include "tty.h"

void do_group_exit(int exit_code)
{
	struct task *task = current_task();
	struct process_signals *signals = &task->process->signals;
	uint64_t flags;

	flags = spin_lock_irqsave(&signals->lock);
	if (!signals->is_ending) {
		signals->is_ending = true;
		task->process->exit_code = exit_code;
		signals_end_others(signals, task);
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	ptrace_event(PTRACE_EVENT_EXIT, (uint64_t)exit_code);
	do_exit(exit_code);
}

void do_thread_exit(int exit_code)
{
	ptrace_event(PTRACE_EVENT_EXIT, (uint64_t)exit_code);
	current_task()->exit_code = exit_code;
	do_exit(exit_code);
}

/* ---- The others, for an execve ---- */

static bool exit_is_alone(void *arg)
{
	const struct process_signals *signals = arg;

	return *(const volatile uint32_t *)&signals->nr_tasks == 1;
}

int end_other_threads(struct task *task)
{
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	bool may = !signals->is_ending && !signals->exec_task;

	if (may) {
		signals->exec_task = task;
		signals_end_others(signals, task);
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	if (!may)
		return -EAGAIN;
	waitq_wait(&signals->alone, exit_is_alone, signals, false, WAIT_FOREVER);
	flags = spin_lock_irqsave(&signals->lock);
	signals->exec_task = NULL;
	spin_unlock_irqrestore(&signals->lock, flags);
	thread_take_pid(task->thread, task->process->pid);
	ptrace_took_pid(task);
	return 0;
}

/* ---- The end of a thread, and of its process ---- */

void exit_mm_release(struct task *task)
{
	const uint32_t zero = 0;
	const struct futex_at tid = { .mm = task->mm, .addr = task->clear_child_tid };

	user_return_stacks();
	exit_robust_list(task);
	if (tid.addr && mm_is_shared(tid.mm) &&
	    !copy_to_user((void *)tid.addr, &zero, sizeof(zero)))
		futex_wake(&tid, 1, FUTEX_ANY_BIT);
	task->clear_child_tid = 0;
}

static void exit_files(struct process *process)
{
	struct files *files;

	mutex_lock(&process_lock);
	files = process->files;
	process->files = NULL;
	mutex_unlock(&process_lock);
	files_put(files);
	fs_leave(process->fs);
}

void process_forget(struct process *process)
{
	list_remove(&process->sibling);
	process_list_remove(process);
	process->parent = NULL;
	process_put(process);
}

void exit_tell_parent(struct process *process)
{
	if (!process->parent)
		process_list_remove(process);
	else if (do_notify_parent(process) && !process->traced_by)
		process_forget(process);
}

/* A child gets another parent, or none. Lock held. */
static void exit_reparent(struct process *child, struct process *parent)
{
	if (!parent && child->is_zombie) {
		process_forget(child);
		return;
	}
	list_remove(&child->sibling);
	list_init(&child->sibling);
	process_set_parent(child, parent);
	if (!parent) {
		process_put(child);
		return;
	}
	child->signals.exit_signal = SIGCHLD;
	list_add_tail(&parent->children, &child->sibling);
	if (child->is_zombie && !child->traced_by)
		exit_tell_parent(child);
}

static void exit_give_children_away(struct process *process)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &process->children)
		exit_reparent(list_entry(pos, struct process, sibling), process_init_program);
}

static void exit_notify(struct process *process)
{
	mutex_lock(&process_lock);
	kill_orphaned_pgrps(process);
	if (process_init_program == process)
		process_init_program = NULL;
	exit_give_children_away(process);
	process->is_zombie = true;
	if (process->traced_by && process->traced_by != process->parent)
		ptrace_tell_end(process);
	else
		exit_tell_parent(process);
	mutex_unlock(&process_lock);
}

/* The thread was the last one that a stop of its process has waited for. */
static void exit_tell_stopped(struct process *process)
{
	mutex_lock(&process_lock);
	do_notify_parent_cldstop(process, CLD_STOPPED);
	mutex_unlock(&process_lock);
}

/* Nothing of the process runs any more. */
static void exit_process(struct process *process)
{
	exit_files(process);
	process_born(process);
	tty_disassociate(process);
	alarm_set(process, 0, 0);
	posix_timers_delete(process);
	ptrace_tracer_ends(process);
	exit_notify(process);
	complete_all(&process->ended);
}

void task_exit(struct task *task)
{
	struct process *process = task->process;
	bool stops, is_last = task_unlink(task, &stops);

	if (task->thread->pid == process->pid)
		strlcpy(process->comm, task->thread->name, sizeof(process->comm));
	if (stops)
		exit_tell_stopped(process);
	exit_mm_release(task);
	task_drop_mm(task, is_last);
	ptrace_thread_ended(task);
	if (is_last)
		exit_process(process);
}
