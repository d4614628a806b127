/*
 * Delivery of signals, on the way back to the program: see signal.h.
 *
 *   do_signal() --> get_signal()       the next one that needs something done
 *                     |- ends the process: do_group_exit(), no return
 *                     |- stops it: its threads wait here until SIGCONT or SIGKILL
 *                     '- has a handler --> handle_signal() --> setup_rt_frame()
 *   no handler is called: an interrupted system call begins again
 */
#include <trace/events/signal.h>
#include "posix_timer.h"
#include "process.h"

#define CALL_RESTART 219 /* restart_syscall */

int dequeue_signal(struct task *task, uint64_t blocked, struct user_siginfo *out_info)
{
	int sig = sigpending_take(&task->signals.pending, ~blocked, out_info);

	if (!sig)
		sig = sigpending_take(&task->process->signals.shared, ~blocked, out_info);
	if (sig && out_info->code == SI_TIMER)
		posix_timer_taken(&task->process->signals, out_info);
	recalc_sigpending(task);
	return sig;
}

static bool signal_may_go_on(void *arg)
{
	const struct task *task = arg;

	return !*(const volatile bool *)&task->signals.has_stopped ||
	       *(struct process *const volatile *)&task->trace.tracer;
}

/* All threads are to stop; each does so when it looks for signals. */
static void do_signal_stop(int sig)
{
	struct process_signals *signals = &current_process()->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	struct list *pos;

	if (signals->takes_stop && !signals->is_stopping && !signals->is_ending &&
	    !(signals->shared.signals & sigmask(SIGKILL))) {
		signals->is_stopping = true;
		signals->nr_to_stop = signals->nr_tasks;
		signals->stop_code = signals->stop_signal = sig;
		signals->was_continued = false;
		list_for_each(pos, &signals->tasks)
			thread_interrupt(list_entry(pos, struct task, link)->thread);
	}
	spin_unlock_irqrestore(&signals->lock, flags);
}

static void signal_tell_stopped(struct process *process)
{
	mutex_lock(&process_lock);
	do_notify_parent_cldstop(process, CLD_STOPPED);
	mutex_unlock(&process_lock);
}

/*
 * The process stops, and this thread with it. The last one tells the parent. For one that is traced it is a stop that its tracer
 * ends.
 */
static void signal_stop_here(struct task *task)
{
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	bool stops = signals->is_stopping && !task->signals.has_stopped;
	bool is_last = stops && !--signals->nr_to_stop;

	task->signals.has_stopped |= stops;
	task->trace.wants_trap |= stops && task->trace.tracer;
	signals->is_stopped |= is_last;
	spin_unlock_irqrestore(&signals->lock, flags);
	if (is_last)
		signal_tell_stopped(task->process);
	waitq_wait(&signals->stopped, signal_may_go_on, task, false, WAIT_FOREVER);
	flags = spin_lock_irqsave(&signals->lock);
	recalc_sigpending(task);
	spin_unlock_irqrestore(&signals->lock, flags);
}

/* The parent hears that the process goes on. */
static void signal_tell_continued(void)
{
	struct process *process = current_process();
	struct process_signals *signals = &process->signals;
	uint64_t flags;
	bool tells;

	if (!signals->tells_continued)
		return;
	flags = spin_lock_irqsave(&signals->lock);
	tells = signals->tells_continued;
	signals->tells_continued = false;
	recalc_sigpending(current_task());
	spin_unlock_irqrestore(&signals->lock, flags);
	if (!tells)
		return;
	mutex_lock(&process_lock);
	do_notify_parent_cldstop(process, CLD_CONTINUED);
	mutex_unlock(&process_lock);
}

static void signal_tell_deliver(const struct user_siginfo *info,
				const struct user_sigaction *action)
{
	const struct trace_signal told = { .sig = info->signo,
					   .error = info->error,
					   .code = info->code };

	trace_signal_deliver(&told, action->handler, action->flags);
}

/* The action of a signal, which holds for this one. Lock held. */
static TRACE_ALWAYS_INLINE void signal_take_action(struct process_signals *signals, int sig,
						   struct user_sigaction *out_action)
{
	struct sighand *sighand = signals->sighand;
	struct user_sigaction *action = &sighand->actions[sig - 1];

	spin_lock(&sighand->lock);
	*out_action = *action;
	if (action->handler > SIG_IGN && action->flags & SA_RESETHAND)
		action->handler = SIG_DFL;
	spin_unlock(&sighand->lock);
}

/* Take a signal and what is to be done with it, if there is no tracer to ask; 0: there is none. */
static TRACE_ALWAYS_INLINE int signal_take(struct task *task, struct user_siginfo *out_info,
					   struct user_sigaction *out_action, bool *out_is_traced)
{
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	int sig = dequeue_signal(task, task->signals.blocked, out_info);

	*out_is_traced = task->trace.tracer;
	if (sig) {
		signals->takes_stop |= (sigmask(sig) & SIGMASK_STOP) != 0;
		if (TRACE_LIKELY(!*out_is_traced))
			signal_take_action(signals, sig, out_action);
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	return sig;
}

/* The signal that the tracer makes of it, and its action; 0: none. */
static int signal_ask_tracer(struct task *task, struct user_siginfo *info,
			     struct user_sigaction *out_action)
{
	struct process_signals *signals = &task->process->signals;
	int sig = info->signo == SIGKILL ? SIGKILL : ptrace_signal(info->signo, info);
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	if (sig)
		signal_take_action(signals, sig, out_action);
	spin_unlock_irqrestore(&signals->lock, flags);
	return sig;
}

/* A stop that the terminal asks for does nothing in an orphaned group. */
static bool signal_may_stop(int sig)
{
	bool is_orphaned;

	if (sig == SIGSTOP)
		return true;
	mutex_lock(&process_lock);
	is_orphaned = is_orphaned_pgrp(current_process()->pgid);
	mutex_unlock(&process_lock);
	return !is_orphaned;
}

/* Do what is done without a handler. */
static void signal_do_default(int sig, const struct user_siginfo *info)
{
	if (sigmask(sig) & SIGMASK_IGNORE)
		return;
	if (current_process()->is_init && sig != SIGKILL)
		return;
	if (!(sigmask(sig) & SIGMASK_STOP)) {
		(void)info;
		do_group_exit(sig);
	}
	if (signal_may_stop(sig))
		do_signal_stop(sig);
}

/* Before signals come the end of the thread, stops of its process and those for its tracer. */
static TRACE_ALWAYS_INLINE void signal_do_stops(struct task *task)
{
	const struct process_signals *signals = &task->process->signals;

	do {
		if (task->signals.must_end)
			do_exit(0);
		if (signals->is_stopping && !(task->signals.has_stopped && task->trace.tracer))
			signal_stop_here(task);
		if (ptrace_is_pending(&task->trace))
			ptrace_trap();
	} while (ptrace_is_pending(&task->trace));
	signal_tell_continued();
}

/* The next signal that has a handler; 0: none, and all others are done. */
static int get_signal(struct user_siginfo *out_info, struct user_sigaction *out_action)
{
	struct task *task = current_task();

	for (;;) {
		bool is_traced;
		int sig;

		signal_do_stops(task);
		sig = signal_take(task, out_info, out_action, &is_traced);
		if (!sig)
			return 0;
		if (is_traced)
			sig = signal_ask_tracer(task, out_info, out_action);
		if (!sig)
			continue;
		if (trace_signal_deliver_enabled())
			signal_tell_deliver(out_info, out_action);
		if (out_action->handler > SIG_IGN)
			return sig;
		if (out_action->handler == SIG_DFL)
			signal_do_default(sig, out_info);
	}
}

/* ---- Interrupted system calls ---- */

/* The error of an interrupted call whose result is one that do_signal() knows; 0: it is none. */
static long signal_call_error(const struct trap_frame *regs)
{
	long result = (long)regs->rax;

	if (regs->vector != TRAP_SYSCALL || (int64_t)regs->error < 0)
		return 0;
	return result == -ERESTARTSYS || result == -ERESTARTNOHAND ||
			       result == -ERESTART_RESTARTBLOCK
		       ? -result
		       : 0;
}

static void signal_restart_call(struct trap_frame *regs, uint64_t nr)
{
	regs->rax = nr;
	regs->rip -= SYSCALL_INSN_BYTES;
}

/* With a handler: EINTR, or once more after the handler. */
static void signal_end_call(struct trap_frame *regs, const struct user_sigaction *action)
{
	long error = signal_call_error(regs);

	if (error == ERESTARTSYS && action->flags & SA_RESTART)
		signal_restart_call(regs, regs->error);
	else if (error)
		regs->rax = (uint64_t)-EINTR;
}

/* ---- Handlers ---- */

static void handle_signal(struct trap_frame *regs, int sig, const struct user_siginfo *info,
			  const struct user_sigaction *action)
{
	struct task *task = current_task();
	struct task_signals *own = &task->signals;
	uint64_t blocked = own->blocked | action->mask;
	struct arch_signal signal = { .sig = sig,
				      .info = info,
				      .handler = action->handler,
				      .restorer = action->restorer,
				      .mask = own->restores_saved ? own->saved : own->blocked,
				      .stack = own->stack,
				      .wants_stack = action->flags & SA_ONSTACK,
				      .vector = own->fault_vector,
				      .error = own->fault_error,
				      .addr = own->fault_addr };
	bool steps;

	signal_end_call(regs, action);
	steps = task->trace.forces_step && ptrace_end_step(regs);
	own->restores_saved = false;
	if (!(action->flags & SA_RESTORER) || !setup_rt_frame(regs, &task->arch, &signal)) {
		force_sigsegv(sig);
		return;
	}
	if (own->stack.flags & SS_AUTODISARM)
		own->stack = (struct arch_signal_stack){ .flags = SS_DISABLE };
	if (!(action->flags & SA_NODEFER))
		blocked |= sigmask(sig);
	set_current_blocked(blocked);
	if (steps)
		ptrace_step_done();
}

void do_signal(struct trap_frame *regs)
{
	struct task_signals *own = &current_task()->signals;
	struct user_siginfo info;
	struct user_sigaction action;
	int sig = get_signal(&info, &action);
	long error;

	if (sig) {
		handle_signal(regs, sig, &info, &action);
		return;
	}
	error = signal_call_error(regs);
	if (error)
		signal_restart_call(regs,
				    error == ERESTART_RESTARTBLOCK ? CALL_RESTART : regs->error);
	if (own->restores_saved) {
		own->restores_saved = false;
		set_current_blocked(own->saved);
	}
}
