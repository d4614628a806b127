/*
 * News for parents: SIGCHLD, and who waits is woken; and for groups that a terminal's stops would leave
 * stopped for ever. See signal.h.
 */
#include "process.h"

static struct user_siginfo signal_info_of_child(const struct process *child, int code, int status)
{
	return (struct user_siginfo){
		.signo = SIGCHLD,
		.code = code,
		.child = { .pid = child->pid, .uid = child->cred.user.real, .status = status }
	};
}

struct user_siginfo siginfo_of_end(const struct process *child)
{
	int sig = child->exit_code & 0x7f;

	return signal_info_of_child(child, sig ? CLD_KILLED : CLD_EXITED,
				    sig ? sig : child->exit_code >> 8 & 0xff);
}

bool do_notify_parent(struct process *child)
{
	struct process *parent = child->parent;
	struct process_signals *signals = &parent->signals;
	int send = child->signals.exit_signal;
	struct user_siginfo info = siginfo_of_end(child);
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	const struct user_sigaction *action = &signals->sighand->actions[SIGCHLD - 1];
	bool forgets =
		send == SIGCHLD && (action->handler == SIG_IGN || action->flags & SA_NOCLDWAIT);

	info.signo = send;
	if (send && !(send == SIGCHLD && action->handler == SIG_IGN))
		send_signal_locked(parent, NULL, send, &info);
	spin_unlock_irqrestore(&signals->lock, flags);
	waitq_wake_all(&parent->child_waitq);
	return forgets;
}

void signal_tell_stop(struct process *process, const struct user_siginfo *info)
{
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	const struct user_sigaction *action = &signals->sighand->actions[SIGCHLD - 1];

	if (action->handler != SIG_IGN && !(action->flags & SA_NOCLDSTOP))
		send_signal_locked(process, NULL, SIGCHLD, info);
	spin_unlock_irqrestore(&signals->lock, flags);
	waitq_wake_all(&process->child_waitq);
}

/* A parent that traces its child hears of the stop of each thread instead. */
void do_notify_parent_cldstop(struct process *child, int code)
{
	const struct user_siginfo info = signal_info_of_child(
		child, code, code == CLD_STOPPED ? child->signals.stop_code : SIGCONT);

	if (child->parent && !(code == CLD_STOPPED && child->traced_by == child->parent))
		signal_tell_stop(child->parent, &info);
}

/* ---- Orphaned groups ---- */

struct orphan_look {
	const struct process *ignored; /* it is about to end */
	bool has_keeper;	       /* a parent of a member is in another group of the session */
	bool has_stopped;
};

static void signal_look_at_member(struct process *process, void *arg)
{
	struct orphan_look *look = arg;
	const struct process *parent = process->parent;

	if (process == look->ignored || process->is_zombie)
		return;
	look->has_stopped |= process->signals.is_stopped;
	if (parent && parent != look->ignored && parent->pgid != process->pgid &&
	    parent->sid == process->sid)
		look->has_keeper = true;
}

bool is_orphaned_pgrp(int32_t pgid)
{
	struct orphan_look look = { 0 };

	process_each_in_group(pgid, signal_look_at_member, &look);
	return !look.has_keeper;
}

/* Members that are stopped would stay so when `process` has ended. */
static void signal_kill_orphaned_pgrp(struct process *process, int32_t pgid)
{
	struct orphan_look look = { .ignored = process };
	const struct user_siginfo hangup = siginfo_from_kernel(SIGHUP);
	const struct user_siginfo cont = siginfo_from_kernel(SIGCONT);

	process_each_in_group(pgid, signal_look_at_member, &look);
	if (look.has_keeper || !look.has_stopped)
		return;
	kill_pgrp(pgid, SIGHUP, &hangup);
	kill_pgrp(pgid, SIGCONT, &cont);
}

void kill_orphaned_pgrps(struct process *process)
{
	struct list *pos;

	list_for_each(pos, &process->children) {
		const struct process *child = list_entry(pos, struct process, sibling);

		if (child->pgid != process->pgid && child->sid == process->sid)
			signal_kill_orphaned_pgrp(process, child->pgid);
	}
	if (process->parent && process->parent->pgid != process->pgid &&
	    process->parent->sid == process->sid)
		signal_kill_orphaned_pgrp(process, process->pgid);
}
