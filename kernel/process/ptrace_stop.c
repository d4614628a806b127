/* Stops of the running thread for its tracer: see ptrace.h. */
#include "process.h"
#include "ptrace.h"

#define TRAP_BRKPT 1

/* The news that a stop is for the tracer. */
struct ptrace_news {
	int code; /* signal, and event << 8 */
	uint64_t message;
	struct user_siginfo *info; /* NULL: there is none */
	int signal; /* what the thread goes on with if its tracer says nothing else, or ends; 0: nothing */
	bool is_trap; /* code and information are made of the state that the process has when the stop begins */
};

static bool ptrace_may_go_on(void *arg)
{
	const struct task *task = arg;
	const volatile struct ptrace *trace = &task->trace;

	return !trace->is_stopped || signal_must_end(task) ||
	       (trace->is_listening && (trace->wants_trap || trace->has_news));
}

static struct user_siginfo ptrace_info_of(int code)
{
	return (struct user_siginfo){ .signo = code & 0x7f,
				      .code = code,
				      .from.pid = current_thread()->pid };
}

/* The code of a stop for the state of the process; 0: there is no reason to stop. signals.lock is held. */
static int ptrace_trap_code(struct task *task)
{
	const struct process_signals *signals = &task->process->signals;
	int stop = signals->is_stopping ? signals->stop_signal : 0;

	task->trace.has_news = false;
	return task->trace.is_seized ? (stop ? stop : SIGTRAP) | PTRACE_EVENT_STOP << 8 : stop;
}

#define PTRACE_STOPPED -1

/* PTRACE_STOPPED; or there is no tracer any more, or the thread is about to end: the signal to go on with. signals.lock is held. */
static int ptrace_begin_stop_locked(struct task *task, const struct ptrace_news *news)
{
	struct ptrace *trace = &task->trace;
	int code = news->is_trap ? ptrace_trap_code(task) : news->code;

	trace->wants_trap = false;
	if (!code || signal_must_end(task))
		return 0;
	if (!trace->tracer)
		return news->signal;
	__builtin_memcpy(trace->fpu, task->arch.fpu, sizeof(trace->fpu));
	trace->code = code;
	trace->message = news->message;
	trace->is_group = !news->info && !(code >> 8);
	if (news->info)
		trace->info = *news->info;
	else if (code >> 8)
		trace->info = ptrace_info_of(code);
	trace->is_told = trace->is_listening = false;
	trace->signal = news->signal;
	trace->is_stopped = true;
	return PTRACE_STOPPED;
}

static int ptrace_begin_stop(struct task *task, const struct ptrace_news *news)
{
	struct process_signals *signals = &task->process->signals;
	uint64_t flags;
	int result;

	arch_user_fpu_store(&task->arch);
	flags = spin_lock_irqsave(&signals->lock);
	result = ptrace_begin_stop_locked(task, news);
	spin_unlock_irqrestore(&signals->lock, flags);
	return result;
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

/* The signal that the tracer gives; 0: none. The information of the same one may be another now. */
static int ptrace_end_stop(struct task *task, const struct ptrace_news *news)
{
	struct ptrace *trace = &task->trace;
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	int signal = signal_must_end(task) ? 0 : trace->signal;

	if (signal && signal == news->signal)
		*news->info = trace->info;
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
	int result;

	ptrace_end_step(task_frame(task));
	result = ptrace_begin_stop(task, news);
	if (result != PTRACE_STOPPED)
		return result;
	ptrace_tell_tracer(task);
	waitq_wait(&task->process->signals.stopped, ptrace_may_go_on, task, false, WAIT_FOREVER);
	return ptrace_end_stop(task, news);
}

/* A stop that is no signal's: the information tells the code itself. */
static int ptrace_notify(int code, uint64_t message)
{
	struct user_siginfo info = ptrace_info_of(code);
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
	const struct ptrace_news news = { .is_trap = true };

	ptrace_stop(&news);
}

int ptrace_signal(int signal, struct user_siginfo *info)
{
	struct task *task = current_task();
	const struct ptrace_news news = { .code = signal, .info = info, .signal = signal };
	int given = ptrace_stop(&news);

	if (!given)
		return 0;
	if (given != signal)
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
