/*
 * The end of a process, and the news of it for its parent.
 *
 *   do_group_exit() --> do_exit() --> task_exit(): memory and files go, the parent is woken
 *                                  parent: do_wait() takes the code; then the process is forgotten
 *
 * Children of a process that ends have no parent any more, and none waits for them.
 */
#include "process.h"

void do_group_exit(int exit_code)
{
	current_process()->exit_code = exit_code;
	do_exit(exit_code);
}

static void exit_mm(struct task *task)
{
	struct mm *mm = task->mm;
	const uint32_t zero = 0;

	if (task->clear_child_tid)
		(void)!copy_to_user((void *)task->clear_child_tid, &zero, sizeof(zero));
	task->mm = NULL;
	arch_user_set_root(&task->arch, UINT64_MAX);
	mm_put(mm);
}

/* Take a process out of its parent's list, which holds it. Lock held. */
static void exit_forget(struct process *process)
{
	list_remove(&process->sibling);
	process->parent = NULL;
	process_put(process);
}

static void exit_forget_children(struct process *process)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &process->children) {
		struct process *child = list_entry(pos, struct process, sibling);

		exit_forget(child);
	}
}

static void exit_notify(struct process *process)
{
	mutex_lock(&process_lock);
	exit_forget_children(process);
	process->is_zombie = true;
	if (process->parent)
		waitq_wake_all(&process->parent->child_waitq);
	mutex_unlock(&process_lock);
}

void task_exit(struct task *task)
{
	struct process *process = task->process;

	exit_mm(task);
	files_free(process->files);
	process->files = NULL;
	process_born(process);
	exit_notify(process);
}

/* ---- Waiting ---- */

struct child_wait {
	struct process *parent;
	int32_t pid; /* or -1: any */
	bool has_children;
	int32_t found; /* pid of a child that has ended; 0 for none yet */
	int exit_code;
};

static bool exit_is_meant(const struct child_wait *wait, const struct process *child)
{
	return wait->pid <= 0 || wait->pid == child->pid;
}

/* The condition of the wait. It takes the first child that has ended. */
static bool exit_take_child(void *arg)
{
	struct child_wait *wait = arg;
	struct list *pos, *next;

	mutex_lock(&process_lock);
	wait->has_children = false;
	list_for_each_safe(pos, next, &wait->parent->children) {
		struct process *child = list_entry(pos, struct process, sibling);

		if (!exit_is_meant(wait, child))
			continue;
		wait->has_children = true;
		if (!child->is_zombie)
			continue;
		wait->found = child->pid;
		wait->exit_code = child->exit_code;
		exit_forget(child);
		break;
	}
	mutex_unlock(&process_lock);
	return wait->found || !wait->has_children;
}

long do_wait(int32_t pid, int options, int *out_exit_code)
{
	struct child_wait wait = { .parent = current_process(), .pid = pid };
	int err = 0;

	if (!exit_take_child(&wait) && !(options & WNOHANG))
		err = waitq_wait(&wait.parent->child_waitq, exit_take_child, &wait, true,
				 WAIT_FOREVER);
	if (err)
		return err;
	*out_exit_code = wait.exit_code;
	return wait.found || wait.has_children ? wait.found : -ECHILD;
}
