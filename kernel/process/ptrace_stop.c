/* Stops of the running thread for its tracer: see ptrace.h. */
#include "process.h"
#include "ptrace.h"

#define TRAP_BRKPT 1

/* The news that a stop is for the tracer. */
struct ptrace_news {
	int code; /* signal, and event << 8 */
	uint64_t message;
	const struct user_siginfo *info; /* NULL: there is none */
};

static bool ptrace_may_go_on(void *arg)
{
	const struct task *task = arg;
	const volatile struct ptrace *trace = &task->trace;

	return !trace->is_stopped || signal_must_end(task) ||
	       (trace->is_listening && (trace->wants_trap || trace->has_news));
}

/* False: there is no tracer any more, or the thread is about to end. */
static bool ptrace_begin_stop(struct task *task, const struct ptrace_news *news)
{
	struct ptrace *trace = &task->trace;
	struct process_signals *signals = &task->process->signals;
	uint64_t flags;
	bool stops;

	arch_user_fpu_store(&task->arch);
	flags = spin_lock_irqsave(&signals->lock);
	stops = trace->tracer && !signal_must_end(task);
	if (stops) {
		__builtin_memcpy(trace->fpu, task->arch.fpu, sizeof(trace->fpu));
		trace->code = news->code;
		trace->message = news->message;
		trace->is_group = !news->info;
		if (news->info)
			trace->info = *news->info;
		trace->is_told = trace->is_listening = trace->wants_trap = false;
		if (news->code >> 8 == PTRACE_EVENT_STOP)
			trace->has_news = false;
		trace->signal = 0;
		trace->is_stopped = true;
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	return stops;
}

static void ptrace_tell_tracer(struct task *task)
{
	const struct user_siginfo info = { .signo = SIGCHLD,
					   .code = CLD_TRAPPED,
					   .child = { .pid = task->thread->pid,
						      .status = task->trace.code & 0x7f } };
	struct process *tracer;

	mutex_lock(&process_lock);
	tracer = task->trace.tracer;
	if (tracer && task->trace.is_stopped)
		signal_tell_stop(tracer, &info);
	mutex_unlock(&process_lock);
}

/* The signal that the tracer gives; 0: none. */
static int ptrace_end_stop(struct task *task)
{
	struct ptrace *trace = &task->trace;
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	int signal = trace->signal;

	trace->is_stopped = trace->is_listening = false;
	trace->signal = 0;
	recalc_sigpending(task);
	spin_unlock_irqrestore(&signals->lock, flags);
	if (trace->has_new_fpu)
		arch_user_fpu_load(&task->arch, trace->fpu);
	trace->has_new_fpu = false;
	arch_user_set_fs_base(&task->arch, task->arch.fs_base);
	arch_user_set_gs_base(&task->arch, task->arch.gs_base);
	if (trace->mode == PTRACE_STEPS)
		trace->forces_step = arch_user_step_on(task_frame(task));
	return signal;
}

static int ptrace_stop(const struct ptrace_news *news)
{
	struct task *task = current_task();

	ptrace_end_step(task_frame(task));
	if (!ptrace_begin_stop(task, news))
		return 0;
	ptrace_tell_tracer(task);
	waitq_wait(&task->process->signals.stopped, ptrace_may_go_on, task, false, WAIT_FOREVER);
	return ptrace_end_stop(task);
}

/* A stop that is no signal's: the information tells the code itself. */
static int ptrace_notify(int code, uint64_t message)
{
	const struct user_siginfo info = { .signo = code & 0x7f,
					   .code = code,
					   .from.pid = current_thread()->pid };
	const struct ptrace_news news = { .code = code, .message = message, .info = &info };

	return ptrace_stop(&news);
}

void ptrace_event(int event, uint64_t message)
{
	const struct ptrace *trace = &current_task()->trace;

	if (TRACE_LIKELY(!trace->tracer) || !event)
		return;
	if (trace->options & 1u << event)
		ptrace_notify(SIGTRAP | event << 8, message);
	else if (event == PTRACE_EVENT_EXEC && !trace->is_seized)
		kill_self(
			SIGTRAP); /* so that a debugger which knows no events sees the new program */
}

void ptrace_trap(void)
{
	struct task *task = current_task();
	const struct process_signals *signals = &task->process->signals;
	int stop = signals->is_stopping ? signals->stop_signal : 0;
	const struct ptrace_news news = { .code = stop };

	task->trace.wants_trap = task->trace.has_news = false;
	if (task->trace.is_seized)
		ptrace_notify((stop ? stop : SIGTRAP) | PTRACE_EVENT_STOP << 8, 0);
	else if (stop)
		ptrace_stop(&news);
}

int ptrace_signal(int signal, struct user_siginfo *info)
{
	struct task *task = current_task();
	const struct ptrace_news news = { .code = signal, .info = info };
	int given = ptrace_stop(&news);

	if (!given)
		return 0;
	if (given == signal)
		*info = task->trace.info;
	else
		*info = (struct user_siginfo){ .signo = given,
					       .from.pid = ptrace_tracer_pid(task) };
	if (!(task->signals.blocked & sigmask(given)))
		return given;
	send_signal(task->process, task, given, info);
	return 0;
}

void ptrace_syscall_stop(struct trap_frame *regs, int kind)
{
	const struct ptrace *trace = &current_task()->trace;
	int code = SIGTRAP | (trace->options & PTRACE_O_TRACESYSGOOD ? 0x80 : 0), signal;

	if (trace->mode == PTRACE_TO_CALL) {
		signal = ptrace_notify(code, (uint64_t)kind);
		if (signal)
			kill_self(signal);
		if (kind == PTRACE_SYSCALL_ENTRY && signal_must_end(current_task()))
			regs->error = UINT64_MAX; /* it does nothing more */
	} else if (kind == PTRACE_SYSCALL_EXIT && ptrace_end_step(regs)) {
		ptrace_step_done();
	}
}

bool ptrace_end_step(struct trap_frame *regs)
{
	struct ptrace *trace = &current_task()->trace;
	bool steps = trace->forces_step;

	if (steps)
		arch_user_step_off(regs);
	trace->forces_step = false;
	return steps;
}

/* The next stop, before another instruction is executed. */
void ptrace_step_done(void)
{
	const struct user_siginfo info = { .signo = SIGTRAP,
					   .code = TRAP_BRKPT,
					   .fault.addr = task_frame(current_task())->rip };

	force_sig_info(&info);
}
