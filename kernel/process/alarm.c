/* The timer of setitimer(ITIMER_REAL) and alarm(): SIGALRM when it rings. See signal.h. */
#include <kernel/time.h>
#include "process.h"

/* The next time of an interval timer, which does not fall behind: missed ones are left out. */
static uint64_t alarm_next(const struct process_signals *signals, uint64_t now_ns)
{
	uint64_t late_ns = now_ns - signals->alarm_ns;

	return now_ns + signals->alarm_interval_ns - late_ns % signals->alarm_interval_ns;
}

static void alarm_ring(struct timer *timer)
{
	struct process_signals *signals = container_of(timer, struct process_signals, alarm);
	struct process *process = container_of(signals, struct process, signals);
	const struct user_siginfo info = siginfo_from_kernel(SIGALRM);
	uint64_t now_ns = ktime_get_ns(), flags = spin_lock_irqsave(&signals->lock);

	/* It was set anew, or is gone, since it rang. */
	if (signals->alarm_ns && signals->alarm_ns <= now_ns) {
		send_signal_locked(process, NULL, SIGALRM, &info);
		signals->alarm_ns = signals->alarm_interval_ns ? alarm_next(signals, now_ns) : 0;
		if (signals->alarm_ns)
			timer_start(&signals->alarm, signals->alarm_ns);
	}
	spin_unlock_irqrestore(&signals->lock, flags);
}

void alarm_get(struct process *process, uint64_t *out_left_ns, uint64_t *out_interval_ns)
{
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock), now_ns = ktime_get_ns();

	*out_interval_ns = signals->alarm_interval_ns;
	if (!signals->alarm_ns)
		*out_left_ns = 0;
	else /* it has not rung yet, so it is not 0 */
		*out_left_ns = signals->alarm_ns > now_ns ? signals->alarm_ns - now_ns : 1;
	spin_unlock_irqrestore(&signals->lock, flags);
}

void alarm_set(struct process *process, uint64_t ns, uint64_t interval_ns)
{
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	signals->alarm_ns = 0;
	spin_unlock_irqrestore(&signals->lock, flags);
	timer_cancel_sync(&signals->alarm);
	flags = spin_lock_irqsave(&signals->lock);
	signals->alarm_interval_ns = interval_ns;
	signals->alarm_ns = ns ? ktime_after(ns) : 0;
	timer_setup(&signals->alarm, alarm_ring);
	if (ns)
		timer_start(&signals->alarm, signals->alarm_ns);
	spin_unlock_irqrestore(&signals->lock, flags);
}
