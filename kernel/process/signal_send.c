/* Sending signals: see signal.h. Names are those of Linux where the job is the same. */
#include <stdatomic.h>
#include <kernel/string.h>
#include <trace/events/signal.h>
#include "process.h"

_Static_assert(sizeof(struct user_siginfo) == ARCH_SIGINFO_USED, "as Linux's kernel keeps it");

void signals_init(struct process *process)
{
	sigpending_init(&process->signals.shared);
	list_init(&process->signals.tasks);
	list_init(&process->signals.timers);
	process->signals.exit_signal = SIGCHLD;
}

void task_signals_init(struct task *task)
{
	sigpending_init(&task->signals.pending);
	list_init(&task->link);
	task->signals.stack.flags = SS_DISABLE;
}

struct user_siginfo siginfo_from_user(int sig, int code)
{
	return (struct user_siginfo){ .signo = sig,
				      .code = code,
				      .from = { .pid = current_process()->pid,
						.uid = current_cred()->user.real } };
}

struct user_siginfo siginfo_from_kernel(int sig)
{
	return (struct user_siginfo){ .signo = sig, .code = SI_KERNEL };
}

int copy_siginfo_to_user(void *to, const struct user_siginfo *from)
{
	static const uint8_t unused[ARCH_SIGINFO_BYTES - ARCH_SIGINFO_USED];

	return copy_to_user(to, from, sizeof(*from)) ||
			       copy_to_user((char *)to + sizeof(*from), unused, sizeof(unused))
		       ? -EFAULT
		       : 0;
}

int copy_siginfo_from_user(struct user_siginfo *to, const void *from)
{
	return !access_ok((uintptr_t)from, ARCH_SIGINFO_BYTES) ||
			       copy_from_user(to, from, sizeof(*to))
		       ? -EFAULT
		       : 0;
}

/* One with the same user, or SIGCONT within a session. The kernel may send each. */
int check_kill_permission(const struct process *process, int sig, const struct user_siginfo *info)
{
	const struct cred_ids *from = &current_cred()->user, *to = &process->cred.user;

	if (info->code > 0 || from->effective == to->saved || from->effective == to->real ||
	    from->real == to->saved || from->real == to->real || capable(CAP_KILL))
		return 0;
	return sig == SIGCONT && process->sid == current_process()->sid ? 0 : -EPERM;
}

static uint64_t signals_handler(const struct process_signals *signals, int sig)
{
	return signals->sighand->actions[sig - 1].handler;
}

static struct task *signal_first_task(const struct process_signals *signals)
{
	return list_entry(signals->tasks.next, struct task, link);
}

/*
 * Ignored, and not blocked, which might change before it is taken. For the process, its oldest thread decides, as on
 * Linux.
 */
static bool signal_is_ignored(const struct process *process, const struct task *task, int sig)
{
	const struct process_signals *signals = &process->signals;
	const struct task_signals *own = &(task ? task : signal_first_task(signals))->signals;
	uint64_t handler = signals_handler(signals, sig);

	if (sig != SIGKILL && (task ? task : signal_first_task(signals))->trace.tracer)
		return false; /* the tracer hears of it */
	if ((own->blocked | own->real_blocked) & sigmask(sig))
		return false;
	if (process->is_init && handler == SIG_DFL)
		return true;
	return handler == SIG_IGN || (handler == SIG_DFL && SIGMASK_IGNORE & sigmask(sig));
}

void signals_flush(struct process_signals *signals, uint64_t mask)
{
	struct list *pos;

	flush_sigqueue_mask(&signals->shared, mask);
	list_for_each(pos, &signals->tasks)
		flush_sigqueue_mask(&list_entry(pos, struct task, link)->signals.pending, mask);
}

static void signals_interrupt_all(struct process_signals *signals)
{
	struct list *pos;

	list_for_each(pos, &signals->tasks)
		thread_interrupt(list_entry(pos, struct task, link)->thread);
}

/* None is stopped any more. Tracers that have seized a thread hear of that. */
static void signals_end_stop(struct process_signals *signals)
{
	struct list *pos;

	list_for_each(pos, &signals->tasks) {
		struct task *task = list_entry(pos, struct task, link);

		task->signals.has_stopped = false;
		task->trace.has_news |= task->trace.is_seized && signals->is_stopping;
		if (task->trace.has_news)
			thread_interrupt(task->thread);
	}
	signals->is_stopping = false;
	signals->is_stopped = false;
	waitq_wake_all(&signals->stopped);
}

void signals_end_others(struct process_signals *signals, const struct task *task)
{
	struct list *pos;

	list_for_each(pos, &signals->tasks) {
		struct task *other = list_entry(pos, struct task, link);

		if (other == task)
			continue;
		other->signals.must_end = true;
		thread_interrupt(other->thread);
	}
	signals_end_stop(signals);
}

/* SIGCONT continues a process that is stopped, whatever it does with the signal then. */
static void signals_continue(struct process_signals *signals)
{
	signals_flush(signals, SIGMASK_STOP);
	signals->takes_stop = false;
	if (signals->is_stopped) {
		signals->stop_code = 0;
		signals->tells_continued = true;
		signals->was_continued = true;
		thread_interrupt(signal_first_task(signals)->thread);
	}
	signals_end_stop(signals);
}

/* The signal is about to be pending. False: it is not, because it is ignored. */
static bool prepare_signal(struct process *process, const struct task *task, int sig)
{
	struct process_signals *signals = &process->signals;

	if (sigmask(sig) & SIGMASK_STOP)
		signals_flush(signals, sigmask(SIGCONT));
	else if (sig == SIGCONT)
		signals_continue(signals);
	return !signal_is_ignored(process, task, sig);
}

/* The first thread that does not block the signal; NULL: they all do. */
static struct task *signal_choose_task(const struct process_signals *signals, int sig)
{
	struct list *pos;

	list_for_each(pos, &signals->tasks) {
		struct task *task = list_entry(pos, struct task, link);

		if (!(task->signals.blocked & sigmask(sig)))
			return task;
	}
	return NULL;
}

static void complete_signal(struct process_signals *signals, const struct task *task, int sig)
{
	waitq_wake_all(&signals->readers);
	if (sig == SIGKILL) {
		signals_end_stop(signals);
		signals_interrupt_all(signals); /* the first that looks ends them all */
		return;
	}
	if (!task)
		task = signal_choose_task(signals, sig);
	if (task && !(task->signals.blocked & sigmask(sig)))
		thread_interrupt(task->thread);
}

static enum signal_result signal_make_pending(struct process *process, struct task *task, int sig,
					      const struct user_siginfo *info)
{
	struct process_signals *signals = &process->signals;
	struct sigpending *pending =
		task && sig != SIGKILL ? &task->signals.pending : &signals->shared;
	enum signal_result result;

	if (!prepare_signal(process, task, sig))
		return TRACE_SIGNAL_IGNORED;
	/* SIGKILL must arrive: it needs no memory. */
	result = sigpending_add(pending, sig, sig == SIGKILL ? NULL : info);
	if (result == TRACE_SIGNAL_DELIVERED || result == TRACE_SIGNAL_LOSE_INFO)
		complete_signal(signals, task, sig);
	return result;
}

static void signal_tell_generate(const struct process *process, const struct task *task, int sig,
				 const struct user_siginfo *info, enum signal_result result)
{
	const struct thread *to = (task ? task : signal_first_task(&process->signals))->thread;
	const struct trace_signal told = { .sig = sig,
					   .error = info ? info->error : 0,
					   .code = info ? info->code : SI_KERNEL,
					   .comm = to->name,
					   .pid = to->pid,
					   .group = !task,
					   .result = result };

	trace_signal_generate(&told);
}

int send_signal_locked(struct process *process, struct task *task, int sig,
		       const struct user_siginfo *info)
{
	enum signal_result result;

	if (!sig || list_empty(task ? &task->link : &process->signals.tasks))
		return 0;
	result = signal_make_pending(process, task, sig, info);
	if (trace_signal_generate_enabled())
		signal_tell_generate(process, task, sig, info, result);
	return result == TRACE_SIGNAL_OVERFLOW_FAIL ? -EAGAIN : 0;
}

int send_signal(struct process *process, struct task *task, int sig,
		const struct user_siginfo *info)
{
	uint64_t flags = spin_lock_irqsave(&process->signals.lock);
	int err = send_signal_locked(process, task, sig, info);

	spin_unlock_irqrestore(&process->signals.lock, flags);
	return err;
}

int send_signal_to(struct process *process, int32_t tid, int sig, const struct user_siginfo *info)
{
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	struct list *pos;
	int err = -ESRCH;

	list_for_each(pos, &signals->tasks) {
		struct task *task = list_entry(pos, struct task, link);

		if (task->thread->pid == tid) {
			err = send_signal_locked(process, task, sig, info);
			break;
		}
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	return err;
}

bool signal_must_end(const struct task *task)
{
	return task->signals.must_end || task->process->signals.shared.signals & sigmask(SIGKILL);
}

void kill_self(int sig)
{
	const struct user_siginfo info = siginfo_from_user(sig, SI_USER);

	send_signal(current_process(), current_task(), sig, &info);
}

void task_kill(struct task *task, bool is_final)
{
	send_signal(task->process, NULL, is_final ? SIGKILL : SIGTERM, NULL);
}

/* ---- Of the running thread ---- */

void recalc_sigpending(struct task *task)
{
	const struct process_signals *signals = &task->process->signals;
	const struct task_signals *own = &task->signals;
	uint64_t pending = own->pending.signals | signals->shared.signals;

	if (pending & ~own->blocked || signals->tells_continued || own->must_end ||
	    (signals->is_stopping && !own->has_stopped) || ptrace_is_pending(&task->trace))
		thread_interrupt(task->thread);
	else if (thread_interrupted())
		thread_clear_interrupt();
}

void retarget_shared_pending(struct task *task, uint64_t mask)
{
	const struct process_signals *signals = &task->process->signals;
	struct list *pos;

	mask &= signals->shared.signals;
	if (!mask)
		return;
	list_for_each(pos, &signals->tasks) {
		struct task *other = list_entry(pos, struct task, link);

		if (mask & ~other->signals.blocked && other != task)
			thread_interrupt(other->thread);
	}
}

void set_current_blocked(uint64_t blocked)
{
	struct task *task = current_task();
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	blocked &= ~SIGMASK_UNBLOCKABLE;
	retarget_shared_pending(task, blocked & ~task->signals.blocked);
	task->signals.blocked = blocked;
	recalc_sigpending(task);
	spin_unlock_irqrestore(&signals->lock, flags);
}

void force_sig_info(const struct user_siginfo *info)
{
	struct task *task = current_task();
	struct process_signals *signals = &task->process->signals;
	struct user_sigaction *action = &signals->sighand->actions[info->signo - 1];
	uint64_t flags = spin_lock_irqsave(&signals->lock), bit = sigmask(info->signo);

	if (task->signals.blocked & bit || action->handler == SIG_IGN) {
		action->handler = SIG_DFL;
		task->signals.blocked &= ~bit;
	}
	if (action->handler == SIG_DFL)
		task->process->is_init = false; /* not even the first program survives this */
	send_signal_locked(task->process, task, info->signo, info);
	recalc_sigpending(task);
	spin_unlock_irqrestore(&signals->lock, flags);
}

void force_sig(int sig)
{
	const struct user_siginfo info = siginfo_from_kernel(sig);

	force_sig_info(&info);
}

void force_sigsegv(int sig)
{
	struct process_signals *signals = &current_process()->signals;
	uint64_t flags;

	/* The handler of SIGSEGV itself could not be called: a second try would go the same way. */
	if (sig == SIGSEGV) {
		flags = spin_lock_irqsave(&signals->lock);
		signals->sighand->actions[SIGSEGV - 1].handler = SIG_DFL;
		spin_unlock_irqrestore(&signals->lock, flags);
	}
	force_sig(SIGSEGV);
}
