/*
 * The end of a process, and the news of it for its parent.
 *
 *   do_group_exit() --> do_exit() --> task_exit(): memory and files go, the parent is told
 *                                  parent: do_wait() takes the code; then the process is forgotten
 *
 * Children of a process that ends go to the first program, if there is one. Otherwise they have no
 * parent any more, and none waits for them.
 */
#include <kernel/string.h>
#include "process.h"
#include "tty.h"

void do_group_exit(int exit_code)
{
	current_process()->exit_code = exit_code;
	do_exit(exit_code);
}

static void exit_mm(struct task *task)
{
	const uint32_t zero = 0;

	if (task->clear_child_tid)
		(void)!copy_to_user((void *)task->clear_child_tid, &zero, sizeof(zero));
	process_set_mm(NULL);
}

static void exit_files(struct process *process)
{
	struct files *files;

	mutex_lock(&process_lock);
	files = process->files;
	process->files = NULL;
	mutex_unlock(&process_lock);
	files_free(files);
}

/* From here on no signal comes to the thread. */
static void exit_signals(struct process *process)
{
	uint64_t flags;

	alarm_set(process, 0, 0);
	flags = spin_lock_irqsave(&process->signals.lock);
	process->signals.task = NULL;
	spin_unlock_irqrestore(&process->signals.lock, flags);
}

void process_forget(struct process *process)
{
	list_remove(&process->sibling);
	process_list_remove(process);
	process->parent = NULL;
	process_put(process);
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
	if (child->is_zombie && do_notify_parent(child))
		process_forget(child);
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
	if (!process->parent)
		process_list_remove(process);
	else if (do_notify_parent(process))
		process_forget(process);
	mutex_unlock(&process_lock);
}

void task_exit(struct task *task)
{
	struct process *process = task->process;

	strlcpy(process->comm, task->thread->name, sizeof(process->comm));
	exit_mm(task);
	exit_files(process);
	process_born(process);
	tty_disassociate(process);
	exit_signals(process);
	exit_notify(process);
}
