/* Signals of the running program: actions, masks, waiting for them, the way back from a handler. */
#include <kernel/string.h>
#include <kernel/time.h>
#include "sleep.h"
#include "syscall.h"

#define SIGSET_BYTES sizeof(uint64_t)

static struct task_signals *signal_own(void)
{
	return &current_task()->signals;
}

/* With a new action to ignore it, a signal that waits is forgotten. Lock held. */
static void signal_flush_ignored(struct process_signals *signals, int sig)
{
	uint64_t handler = signals->sighand->actions[sig - 1].handler, bit = sigmask(sig);

	if (handler == SIG_IGN || (handler == SIG_DFL && SIGMASK_IGNORE & bit)) {
		signals_flush(signals, bit);
	}
}

static void signal_set_action(int sig, const struct user_sigaction *act,
			      struct user_sigaction *out_old)
{
	struct process_signals *signals = &current_process()->signals;
	struct sighand *sighand = signals->sighand;
	struct user_sigaction *action = &sighand->actions[sig - 1];
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	spin_lock(&sighand->lock);
	*out_old = *action;
	if (act) {
		*action = *act;
		action->flags &= SA_KEPT;
		action->mask &= ~SIGMASK_UNBLOCKABLE;
	}
	spin_unlock(&sighand->lock);
	if (act) {
		signal_flush_ignored(signals, sig);
		recalc_sigpending(current_task());
	}
	spin_unlock_irqrestore(&signals->lock, flags);
}

long sys_rt_sigaction(int sig, const struct user_sigaction *act, struct user_sigaction *oact,
		      size_t sigsetsize)
{
	struct user_sigaction new, old;

	if (sigsetsize != SIGSET_BYTES || !is_valid_signal(sig) ||
	    (act && (sig == SIGKILL || sig == SIGSTOP)))
		return -EINVAL;
	if (act && copy_from_user(&new, act, sizeof(new)))
		return -EFAULT;
	signal_set_action(sig, act ? &new : NULL, &old);
	return oact && copy_to_user(oact, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_rt_sigprocmask(int how, const uint64_t *nset, uint64_t *oset, size_t sigsetsize)
{
	uint64_t old = signal_own()->blocked, set;

	if (sigsetsize != SIGSET_BYTES)
		return -EINVAL;
	if (nset) {
		if (copy_from_user(&set, nset, sizeof(set)))
			return -EFAULT;
		if (how == SIG_BLOCK)
			set |= old;
		else if (how == SIG_UNBLOCK)
			set = old & ~set;
		else if (how != SIG_SETMASK)
			return -EINVAL;
		set_current_blocked(set);
	}
	return oset && copy_to_user(oset, &old, sizeof(old)) ? -EFAULT : 0;
}

long sys_rt_sigpending(uint64_t *uset, size_t sigsetsize)
{
	struct process_signals *signals = &current_process()->signals;
	uint64_t flags, set;

	if (sigsetsize > SIGSET_BYTES)
		return -EINVAL;
	flags = spin_lock_irqsave(&signals->lock);
	set = (signals->shared.signals | signal_own()->pending.signals) & signal_own()->blocked;
	spin_unlock_irqrestore(&signals->lock, flags);
	return copy_to_user(uset, &set, sigsetsize) ? -EFAULT : 0;
}

long sys_pause(void)
{
	while (!thread_sleep_ns(WAIT_FOREVER))
		;
	return -ERESTARTNOHAND;
}

int sigmask_begin(const uint64_t *sigmask, size_t sigsetsize)
{
	struct task_signals *own = signal_own();
	uint64_t set;

	if (!sigmask)
		return 0;
	if (sigsetsize != SIGSET_BYTES)
		return -EINVAL;
	if (copy_from_user(&set, sigmask, sizeof(set)))
		return -EFAULT;
	own->saved = own->blocked;
	set_current_blocked(set);
	return 0;
}

long sigmask_end(const uint64_t *sigmask, long result)
{
	struct task_signals *own = signal_own();

	if (sigmask && result == -ERESTARTNOHAND)
		own->restores_saved = true;
	else if (sigmask)
		set_current_blocked(own->saved);
	return result;
}

long sys_rt_sigsuspend(const uint64_t *unewset, size_t sigsetsize)
{
	int err = sigsetsize == SIGSET_BYTES && !unewset ? -EFAULT
							 : sigmask_begin(unewset, sigsetsize);

	return err ? err : sigmask_end(unewset, sys_pause());
}

/* Take a signal of the set; 0: none is pending. */
static int signal_take_of(uint64_t set, struct user_siginfo *out_info)
{
	struct process_signals *signals = &current_process()->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	int sig = dequeue_signal(current_task(), ~set, out_info);

	spin_unlock_irqrestore(&signals->lock, flags);
	return sig;
}

/* Sleep until a signal of the set, or another, comes, or for `ns`. 0: the time is over. */
static int signal_sleep_for(uint64_t set, uint64_t ns)
{
	struct task_signals *own = signal_own();
	uint64_t blocked = own->blocked;
	int err;

	own->real_blocked = blocked;
	set_current_blocked(blocked & ~set);
	err = thread_sleep_ns(ns);
	own->real_blocked = 0;
	set_current_blocked(blocked);
	return err;
}

static int signal_wait_for(uint64_t set, uint64_t ns, struct user_siginfo *out_info)
{
	int err, sig = signal_take_of(set, out_info);

	if (sig || !ns)
		return sig ? sig : -EAGAIN;
	err = signal_sleep_for(set, ns);
	sig = signal_take_of(set, out_info);
	if (!sig)
		return err ? err : -EAGAIN;
	return sig;
}

long sys_rt_sigtimedwait(const uint64_t *uthese, struct user_siginfo *uinfo,
			 const struct user_timespec *uts, size_t sigsetsize)
{
	struct user_siginfo info;
	uint64_t set, ns = WAIT_FOREVER;
	int err, sig;

	if (sigsetsize != SIGSET_BYTES)
		return -EINVAL;
	if (copy_from_user(&set, uthese, sizeof(set)))
		return -EFAULT;
	err = uts ? user_timespec_ns(uts, &ns) : 0;
	if (err)
		return err;
	sig = signal_wait_for(set & ~SIGMASK_UNBLOCKABLE, ns, &info);
	if (sig > 0 && uinfo && copy_siginfo_to_user(uinfo, &info))
		return -EFAULT;
	return sig;
}

/* ---- The alternate stack ---- */

static int signal_set_stack(const struct arch_signal_stack *stack, bool is_used)
{
	struct task_signals *own = signal_own();
	uint32_t mode = stack->flags & ~SS_AUTODISARM;

	if (is_used)
		return -EPERM;
	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode)
		return -EINVAL;
	if (mode != SS_DISABLE && stack->size < MINSIGSTKSZ)
		return -ENOMEM;
	own->stack = (struct arch_signal_stack){ .flags = stack->flags & ~SS_ONSTACK };
	if (mode != SS_DISABLE) {
		own->stack.sp = stack->sp;
		own->stack.size = stack->size;
	}
	return 0;
}

static bool signal_stack_is_used(void)
{
	const struct arch_signal_stack *stack = &signal_own()->stack;

	return !(stack->flags & SS_AUTODISARM) &&
	       arch_signal_is_on_stack(stack, task_frame(current_task())->rsp);
}

long sys_sigaltstack(const struct arch_signal_stack *uss, struct arch_signal_stack *uoss)
{
	struct arch_signal_stack new, old = signal_own()->stack;
	bool is_used = signal_stack_is_used();
	int err;

	old.flags |= is_used ? SS_ONSTACK : 0;
	if (uss) {
		if (copy_from_user(&new, uss, sizeof(new)))
			return -EFAULT;
		err = signal_set_stack(&new, is_used);
		if (err)
			return err;
	}
	return uoss && copy_to_user(uoss, &old, sizeof(old)) ? -EFAULT : 0;
}

/* Has the frame the stack that the thread has anyway? */
static bool signal_is_own_stack(const struct arch_signal_stack *stack)
{
	const struct arch_signal_stack *own = &signal_own()->stack;

	return stack->sp == own->sp && stack->size == own->size &&
	       (stack->flags & ~SS_ONSTACK) == own->flags;
}

/* ---- Ways back ---- */

long sys_rt_sigreturn(void)
{
	struct task *task = current_task();
	struct trap_frame *regs = task_frame(task);
	struct arch_signal_stack stack;
	uint64_t mask;

	if (!restore_rt_frame(regs, &task->arch, &mask, &stack)) {
		regs->error = UINT64_MAX;
		force_sig(SIGSEGV);
		return 0;
	}
	set_current_blocked(mask);
	if (!signal_is_own_stack(&stack)) /* a bad one changes nothing */
		signal_set_stack(&stack, signal_stack_is_used());
	return (long)regs->rax;
}

long sys_restart_syscall(void)
{
	struct task_signals *own = signal_own();

	return own->restart ? own->restart(own->restart_args) : -EINTR;
}
