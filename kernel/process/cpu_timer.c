/*
 * Timers of processor time: setitimer(ITIMER_VIRTUAL, ITIMER_PROF), timer_create() of such clocks, and RLIMIT_CPU. The tick looks
 * at those of the process that it has interrupted: they ring with the first tick after their time. See signal.h.
 */
#include <kernel/rlimit.h>
#include <kernel/time.h>
#include "posix_timer.h"
#include "process.h"

void cpu_timers_arm(struct process_signals *signals)
{
	atomic_store_explicit(&signals->has_cpu_timers, true, memory_order_relaxed);
}

/* signals.lock is held. */
static uint64_t cpu_timer_now(struct process *process, enum cpu_itimer_kind kind)
{
	struct usage usage;

	usage_of_process_locked(process, &usage);
	return usage.user_ns + (kind == CPU_ITIMER_PROF ? usage.kernel_ns : 0);
}

void cpu_itimer_get(struct process *process, enum cpu_itimer_kind kind, uint64_t *out_left_ns,
		    uint64_t *out_interval_ns)
{
	struct process_signals *signals = &process->signals;
	const struct cpu_itimer *timer = &signals->cpu_itimers[kind];
	uint64_t flags = spin_lock_irqsave(&signals->lock), now_ns = cpu_timer_now(process, kind);

	*out_interval_ns = timer->interval_ns;
	if (!timer->next_ns)
		*out_left_ns = 0;
	else /* it has not rung yet, so it is not 0 */
		*out_left_ns = timer->next_ns > now_ns ? timer->next_ns - now_ns : 1;
	spin_unlock_irqrestore(&signals->lock, flags);
}

void cpu_itimer_set(struct process *process, enum cpu_itimer_kind kind, uint64_t ns,
		    uint64_t interval_ns)
{
	struct process_signals *signals = &process->signals;
	struct cpu_itimer *timer = &signals->cpu_itimers[kind];
	uint64_t flags = spin_lock_irqsave(&signals->lock), now_ns = cpu_timer_now(process, kind);

	timer->interval_ns = interval_ns;
	timer->next_ns = !ns ? 0 : now_ns + ns < now_ns ? UINT64_MAX : now_ns + ns;
	if (ns)
		cpu_timers_arm(signals);
	spin_unlock_irqrestore(&signals->lock, flags);
}

/* True: it will ring once more. */
static bool cpu_timer_check(struct process *process, struct cpu_itimer *timer, uint64_t now_ns,
			    int signal)
{
	const struct user_siginfo info = siginfo_from_kernel(signal);

	if (timer->next_ns && timer->next_ns <= now_ns) {
		send_signal_locked(process, NULL, signal, &info);
		if (timer->interval_ns)
			timer->next_ns += ((now_ns - timer->next_ns) / timer->interval_ns + 1) *
					  timer->interval_ns;
		else
			timer->next_ns = 0;
	}
	return timer->next_ns;
}

/* Behind the upper limit the process ends; behind the lower one it hears of that each second. True: there is one. */
static bool cpu_timer_check_limit(struct process *process, uint64_t now_ns)
{
	struct rlimit *limit = &process->limits[RLIMIT_CPU];
	int signal = 0;

	if (limit->cur == RLIM_INFINITY)
		return false;
	if (limit->max != RLIM_INFINITY && now_ns / NSEC_PER_SEC >= limit->max)
		signal = SIGKILL;
	else if (now_ns / NSEC_PER_SEC >= limit->cur)
		signal = SIGXCPU;
	if (signal) {
		const struct user_siginfo info = siginfo_from_kernel(signal);

		send_signal_locked(process, NULL, signal, &info);
		limit->cur++;
	}
	return true;
}

void cpu_timers_tick(struct task *task)
{
	struct process *process = task->process;
	struct process_signals *signals = &process->signals;
	struct usage usage;
	uint64_t flags, both_ns;
	bool has_more;

	if (!atomic_load_explicit(&signals->has_cpu_timers, memory_order_relaxed))
		return;
	flags = spin_lock_irqsave(&signals->lock);
	if (!list_empty(&signals->tasks)) {
		usage_of_process_locked(process, &usage);
		both_ns = usage.user_ns + usage.kernel_ns;
		has_more = cpu_timer_check(process, &signals->cpu_itimers[CPU_ITIMER_VIRTUAL],
					   usage.user_ns, SIGVTALRM);
		has_more |= cpu_timer_check(process, &signals->cpu_itimers[CPU_ITIMER_PROF],
					    both_ns, SIGPROF);
		has_more |= cpu_timer_check_limit(process, both_ns);
		has_more |= posix_timers_check_cpu(signals, both_ns);
		atomic_store_explicit(&signals->has_cpu_timers, has_more, memory_order_relaxed);
	}
	spin_unlock_irqrestore(&signals->lock, flags);
}
