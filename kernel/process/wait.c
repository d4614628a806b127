/* Waiting for children: see process.h. */
#include "process.h"

struct child_wait {
	struct process *parent;
	int32_t pid; /* as do_wait() has it */
	int options;
	bool has_children;
	int32_t found; /* pid of a child that has something to tell; 0 for none yet */
	int exit_code;
	struct usage usage;
};

static bool wait_is_meant(const struct child_wait *wait, const struct process *child)
{
	bool is_clone = child->signals.exit_signal != SIGCHLD;

	if (!(wait->options & (int)WALL) && is_clone != !!(wait->options & (int)WCLONE))
		return false;
	if (wait->pid == -1)
		return true;
	if (wait->pid < 0)
		return child->pgid == -wait->pid;
	return wait->pid ? child->pid == wait->pid : child->pgid == wait->parent->pgid;
}

/* Has it ended? Then it is forgotten. */
static bool wait_take_zombie(struct child_wait *wait, struct process *child)
{
	if (!child->is_zombie || !(wait->options & WEXITED) || child->traced_by)
		return false; /* its tracer comes first */
	wait->found = child->pid;
	wait->exit_code = child->exit_code;
	if (wait->options & WNOWAIT) {
		usage_of_process(child, &wait->usage);
		return true;
	}
	usage_of_child(wait->parent, child, &wait->usage);
	process_forget(child);
	return true;
}

/* Has it stopped or gone on? It tells either once. */
static bool wait_take_news(struct child_wait *wait, struct process *child)
{
	struct process_signals *signals = &child->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	bool keeps = wait->options & WNOWAIT;

	if (wait->options & WUNTRACED && signals->is_stopped && signals->stop_code) {
		wait->found = child->pid;
		wait->exit_code = signals->stop_code << 8 | 0x7f;
		signals->stop_code = keeps ? signals->stop_code : 0;
	} else if (wait->options & WCONTINUED && signals->was_continued) {
		wait->found = child->pid;
		wait->exit_code = WAIT_CODE_CONTINUED;
		signals->was_continued = keeps;
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	return wait->found;
}

static void wait_look_at_children(struct child_wait *wait)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &wait->parent->children) {
		struct process *child = list_entry(pos, struct process, sibling);

		if (!wait_is_meant(wait, child))
			continue;
		wait->has_children = true;
		if (child->traced_by == wait->parent)
			continue; /* it is among the tracees */
		if (wait_take_zombie(wait, child) || wait_take_news(wait, child))
			break;
	}
}

static bool wait_is_meant_tracee(const struct child_wait *wait, const struct task *task)
{
	if (wait->pid > 0)
		return wait->pid == task->thread->pid;
	if (wait->pid == -1)
		return true;
	return task->process->pgid == (wait->pid ? -wait->pid : wait->parent->pgid);
}

/* Threads that the process traces, its children or not. */
static void wait_look_at_tracees(struct child_wait *wait)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &wait->parent->tracees) {
		struct task *task = list_entry(pos, struct task, trace.link);
		int32_t pid = task->thread->pid;

		if (!wait_is_meant_tracee(wait, task))
			continue;
		wait->has_children = true;
		if (ptrace_take_news(task, wait->options, &wait->exit_code)) {
			wait->found = pid;
			break;
		}
	}
}

/* The condition of the wait. It takes the first child that has something to tell. */
static bool wait_take_child(void *arg)
{
	struct child_wait *wait = arg;

	mutex_lock(&process_lock);
	wait->has_children = false;
	wait_look_at_children(wait);
	if (!wait->found)
		wait_look_at_tracees(wait);
	mutex_unlock(&process_lock);
	return wait->found || !wait->has_children;
}

long do_wait(int32_t pid, int options, int *out_exit_code, struct usage *out_usage)
{
	struct child_wait wait = { .parent = current_process(), .pid = pid, .options = options };
	int err = 0;

	if (!wait_take_child(&wait) && !(options & WNOHANG))
		err = waitq_wait(&wait.parent->child_waitq, wait_take_child, &wait, true,
				 WAIT_FOREVER);
	if (err)
		return err == -EINTR ? -ERESTARTSYS : err;
	*out_exit_code = wait.exit_code;
	*out_usage = wait.usage;
	return wait.found || wait.has_children ? wait.found : -ECHILD;
}
