/*
 * All processes, by pid, group and session: see process.h. A process is in the list from its start until
 * its parent has forgotten it.
 */
#include "process.h"

static struct {
	struct spinlock lock;
	struct list processes; /* by all_link; guarded by lock */
} process_list = { .processes = LIST_INIT(process_list.processes) };

void process_list_add(struct process *process)
{
	uint64_t flags = spin_lock_irqsave(&process_list.lock);

	list_add_tail(&process_list.processes, &process->all_link);
	spin_unlock_irqrestore(&process_list.lock, flags);
}

void process_list_remove(struct process *process)
{
	uint64_t flags = spin_lock_irqsave(&process_list.lock);

	list_remove(&process->all_link);
	list_init(&process->all_link);
	spin_unlock_irqrestore(&process_list.lock, flags);
}

struct process *process_find(int32_t pid)
{
	uint64_t flags = spin_lock_irqsave(&process_list.lock);
	struct process *found = NULL;
	struct list *pos;

	list_for_each(pos, &process_list.processes) {
		struct process *process = list_entry(pos, struct process, all_link);

		if (process->pid == pid)
			found = process;
	}
	if (found)
		process_get(found);
	spin_unlock_irqrestore(&process_list.lock, flags);
	return found;
}

int32_t process_nth_pid(uint32_t index)
{
	uint64_t flags = spin_lock_irqsave(&process_list.lock);
	struct list *pos;
	int32_t pid = 0;

	list_for_each(pos, &process_list.processes) {
		if (index-- == 0) {
			pid = list_entry(pos, struct process, all_link)->pid;
			break;
		}
	}
	spin_unlock_irqrestore(&process_list.lock, flags);
	return pid;
}

void process_each(void (*fn)(struct process *process, void *arg), void *arg)
{
	uint64_t flags = spin_lock_irqsave(&process_list.lock);
	struct list *pos;

	list_for_each(pos, &process_list.processes)
		fn(list_entry(pos, struct process, all_link), arg);
	spin_unlock_irqrestore(&process_list.lock, flags);
}

struct group_walk {
	int32_t pgid;
	void (*fn)(struct process *process, void *arg);
	void *arg;
};

static void pid_visit_member(struct process *process, void *arg)
{
	const struct group_walk *walk = arg;

	if (process->pgid == walk->pgid)
		walk->fn(process, walk->arg);
}

void process_each_in_group(int32_t pgid, void (*fn)(struct process *process, void *arg), void *arg)
{
	struct group_walk walk = { pgid, fn, arg };

	process_each(pid_visit_member, &walk);
}

/* ---- Signals for many ---- */

struct kill_walk {
	int sig;
	const struct user_siginfo *info;
	int nr;	 /* processes that got it */
	int err; /* of the last that did not */
};

static void pid_kill(struct process *process, void *arg)
{
	struct kill_walk *walk = arg;
	int err = check_kill_permission(process, walk->sig, walk->info);

	if (!err)
		err = send_signal(process, NULL, walk->sig, walk->info);
	if (err)
		walk->err = err;
	else
		walk->nr++;
}

static int pid_kill_result(const struct kill_walk *walk)
{
	if (walk->nr)
		return 0;
	return walk->err ? walk->err : -ESRCH;
}

int kill_pgrp(int32_t pgid, int sig, const struct user_siginfo *info)
{
	struct kill_walk walk = { .sig = sig, .info = info };

	process_each_in_group(pgid, pid_kill, &walk);
	return pid_kill_result(&walk);
}

static void pid_kill_other(struct process *process, void *arg)
{
	if (process != current_process() && !process->is_init)
		pid_kill(process, arg);
}

int kill_all_others(int sig, const struct user_siginfo *info)
{
	struct kill_walk walk = { .sig = sig, .info = info };

	process_each(pid_kill_other, &walk);
	return pid_kill_result(&walk);
}

struct session_walk {
	int32_t sid;
	int sig;
	const struct user_siginfo *info; /* NULL: the terminal is forgotten */
};

static void pid_visit_session(struct process *process, void *arg)
{
	const struct session_walk *walk = arg;

	if (process->sid != walk->sid || !process->tty_id)
		return;
	if (walk->info)
		send_signal(process, NULL, walk->sig, walk->info);
	else
		process->tty_id = 0;
}

void kill_session(int32_t sid, int sig, const struct user_siginfo *info)
{
	struct session_walk walk = { .sid = sid, .sig = sig, .info = info };

	process_each(pid_visit_session, &walk);
}

void forget_session_tty(int32_t sid)
{
	struct session_walk walk = { .sid = sid };

	process_each(pid_visit_session, &walk);
}

/* ---- Groups and sessions ---- */

struct session_look {
	int32_t pgid, sid;
	bool is_there;
};

static void pid_look_at_session(struct process *process, void *arg)
{
	struct session_look *look = arg;

	look->is_there |= process->sid == look->sid;
}

bool process_group_is_in_session(int32_t pgid, int32_t sid)
{
	struct session_look look = { .pgid = pgid, .sid = sid };

	process_each_in_group(pgid, pid_look_at_session, &look);
	return look.is_there;
}

/* May the running process put `process` into that group? process_lock is held. */
static int pid_check_setpgid(const struct process *process, int32_t pgid)
{
	const struct process *self = current_process();

	if (process != self && process->parent != self)
		return -ESRCH;
	if (process->sid != self->sid || process->pid == process->sid)
		return -EPERM;
	if (process != self && process->has_execed)
		return -EACCES;
	if (pgid != process->pid && !process_group_is_in_session(pgid, self->sid))
		return -EPERM;
	return 0;
}

int process_set_group(int32_t pid, int32_t pgid)
{
	struct process *process = process_find(pid ? pid : current_process()->pid);
	int err;

	if (!process)
		return -ESRCH;
	pgid = pgid ? pgid : process->pid;
	mutex_lock(&process_lock);
	err = pid_check_setpgid(process, pgid);
	if (!err)
		process->pgid = pgid;
	mutex_unlock(&process_lock);
	process_put(process);
	return err;
}

static void pid_note_member(struct process *process, void *arg)
{
	(void)process;
	*(bool *)arg = true;
}

int process_begin_session(void)
{
	struct process *self = current_process();
	bool is_leader = false;

	mutex_lock(&process_lock);
	process_each_in_group(self->pid, pid_note_member, &is_leader);
	if (!is_leader) {
		self->sid = self->pgid = self->pid;
		self->tty_id = 0;
	}
	mutex_unlock(&process_lock);
	return is_leader ? -EPERM : self->pid;
}
