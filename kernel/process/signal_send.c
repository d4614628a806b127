/* Sending signals: see signal.h. Names are those of Linux where the job is the same. */
#include <stdatomic.h>
#include <kernel/string.h>
#include <trace/events/signal.h>
#include "process.h"

void signals_init(struct process *process)
{
	sigpending_init(&process->signals.shared);
	process->signals.exit_signal = SIGCHLD;
}

void task_signals_init(struct task *task)
{
	sigpending_init(&task->signals.pending);
	task->signals.stack.flags = SS_DISABLE;
}

struct user_siginfo siginfo_from_user(int sig, int code)
{
	return (struct user_siginfo){ .signo = sig,
				      .code = code,
				      .from.pid = current_process()->pid };
}

struct user_siginfo siginfo_from_kernel(int sig)
{
	return (struct user_siginfo){ .signo = sig, .code = SI_KERNEL };
}

static uint64_t signals_handler(const struct process_signals *signals, int sig)
{
	return signals->actions[sig - 1].handler;
}

/* Ignored, and not blocked, which might change before it is taken. */
static bool signal_is_ignored(const struct process *process, int sig)
{
	const struct process_signals *signals = &process->signals;
	const struct task_signals *own = &signals->task->signals;
	uint64_t handler = signals_handler(signals, sig);

	if ((own->blocked | own->real_blocked) & sigmask(sig))
		return false;
	if (process->is_init && handler == SIG_DFL)
		return true;
	return handler == SIG_IGN || (handler == SIG_DFL && SIGMASK_IGNORE & sigmask(sig));
}

static void signals_flush(struct process_signals *signals, uint64_t mask)
{
	flush_sigqueue_mask(&signals->shared, mask);
	flush_sigqueue_mask(&signals->task->signals.pending, mask);
}

/* SIGCONT continues a process that is stopped, whatever it does with the signal then. */
static void signals_continue(struct process_signals *signals)
{
	signals_flush(signals, SIGMASK_STOP);
	signals->takes_stop = false;
	if (!signals->is_stopped)
		return;
	signals->is_stopped = false;
	signals->stop_code = 0;
	signals->tells_continued = true;
	signals->was_continued = true;
	thread_interrupt(signals->task->thread);
	waitq_wake_all(&signals->stopped);
}

/* The signal is about to be pending. False: it is not, because it is ignored. */
static bool prepare_signal(struct process *process, int sig)
{
	struct process_signals *signals = &process->signals;

	if (sigmask(sig) & SIGMASK_STOP)
		signals_flush(signals, sigmask(SIGCONT));
	else if (sig == SIGCONT)
		signals_continue(signals);
	return !signal_is_ignored(process, sig);
}

static void complete_signal(struct process_signals *signals, int sig)
{
	struct task *task = signals->task;

	if (task->signals.blocked & sigmask(sig))
		return;
	if (sig == SIGKILL && signals->is_stopped) {
		signals->is_stopped = false;
		waitq_wake_all(&signals->stopped);
	}
	thread_interrupt(task->thread);
}

static enum signal_result signal_make_pending(struct process *process, bool to_thread, int sig,
					      const struct user_siginfo *info)
{
	struct process_signals *signals = &process->signals;
	struct sigpending *pending = to_thread ? &signals->task->signals.pending : &signals->shared;
	enum signal_result result;

	if (!prepare_signal(process, sig))
		return TRACE_SIGNAL_IGNORED;
	/* SIGKILL must arrive: it needs no memory. */
	result = sigpending_add(pending, sig, sig == SIGKILL ? NULL : info);
	if (result == TRACE_SIGNAL_DELIVERED || result == TRACE_SIGNAL_LOSE_INFO)
		complete_signal(signals, sig);
	return result;
}

static void signal_tell_generate(const struct process *process, bool to_thread, int sig,
				 const struct user_siginfo *info, enum signal_result result)
{
	const struct trace_signal told = { .sig = sig,
					   .error = info ? info->error : 0,
					   .code = info ? info->code : SI_KERNEL,
					   .comm = process->signals.task->thread->name,
					   .pid = process->signals.task->thread->pid,
					   .group = !to_thread,
					   .result = result };

	trace_signal_generate(&told);
}

int send_signal_locked(struct process *process, bool to_thread, int sig,
		       const struct user_siginfo *info)
{
	enum signal_result result;

	if (!sig || !process->signals.task) /* one that has ended takes none */
		return 0;
	result = signal_make_pending(process, to_thread, sig, info);
	if (trace_signal_generate_enabled())
		signal_tell_generate(process, to_thread, sig, info, result);
	return result == TRACE_SIGNAL_OVERFLOW_FAIL ? -EAGAIN : 0;
}

int send_signal(struct process *process, bool to_thread, int sig, const struct user_siginfo *info)
{
	uint64_t flags = spin_lock_irqsave(&process->signals.lock);
	int err = send_signal_locked(process, to_thread, sig, info);

	spin_unlock_irqrestore(&process->signals.lock, flags);
	return err;
}

void kill_self(int sig)
{
	const struct user_siginfo info = siginfo_from_user(sig, SI_USER);

	send_signal(current_process(), true, sig, &info);
}

void task_kill(struct task *task, bool is_final)
{
	send_signal(task->process, false, is_final ? SIGKILL : SIGTERM, NULL);
}

/* ---- Of the running thread ---- */

void recalc_sigpending(struct task *task)
{
	const struct process_signals *signals = &task->process->signals;
	uint64_t pending = task->signals.pending.signals | signals->shared.signals;

	if (pending & ~task->signals.blocked || signals->tells_continued)
		thread_interrupt(task->thread);
	else
		thread_clear_interrupt();
}

void set_current_blocked(uint64_t blocked)
{
	struct task *task = current_task();
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	task->signals.blocked = blocked & ~SIGMASK_UNBLOCKABLE;
	recalc_sigpending(task);
	spin_unlock_irqrestore(&signals->lock, flags);
}

void force_sig_info(const struct user_siginfo *info)
{
	struct task *task = current_task();
	struct process_signals *signals = &task->process->signals;
	struct user_sigaction *action = &signals->actions[info->signo - 1];
	uint64_t flags = spin_lock_irqsave(&signals->lock), bit = sigmask(info->signo);

	if (task->signals.blocked & bit || action->handler == SIG_IGN) {
		action->handler = SIG_DFL;
		task->signals.blocked &= ~bit;
	}
	if (action->handler == SIG_DFL)
		task->process->is_init = false; /* not even the first program survives this */
	send_signal_locked(task->process, true, info->signo, info);
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
		signals->actions[SIGSEGV - 1].handler = SIG_DFL;
		spin_unlock_irqrestore(&signals->lock, flags);
	}
	force_sig(SIGSEGV);
}
