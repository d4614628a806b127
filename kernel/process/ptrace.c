/* Tracers and their tracees: see ptrace.h. */
#include "process.h"
#include "ptrace.h"

static uint32_t nr_tracees; /* process_lock */

static bool ptrace_is_first(const struct task *task)
{
	return task->thread->pid == task->process->pid;
}

static bool ptrace_is_allowed(const struct process *process, const struct cred *to)
{
	const struct cred *own = current_cred();
	bool is_user = own->user.real == to->user.real && own->user.real == to->user.effective &&
		       own->user.real == to->user.saved;
	bool is_group = own->group.real == to->group.real &&
			own->group.real == to->group.effective &&
			own->group.real == to->group.saved;

	if (capable(CAP_SYS_PTRACE) || process == current_process())
		return true;
	return is_user && is_group && !(to->permitted & ~own->permitted) &&
	       (!process->mm || process->mm->is_dumpable);
}

bool ptrace_may_access(struct process *process)
{
	bool may;

	mutex_lock(&process_lock);
	may = ptrace_is_allowed(process, &process->cred);
	mutex_unlock(&process_lock);
	return may;
}

struct mm *ptrace_get_mm(struct process *process, int *out_err)
{
	struct mm *mm = NULL;

	mutex_lock(&process_lock);
	*out_err = ptrace_is_allowed(process, &process->cred) ? 0 : -EPERM;
	if (!*out_err && process->mm)
		mm = mm_get(process->mm);
	else if (!*out_err)
		*out_err = -ESRCH;
	mutex_unlock(&process_lock);
	return mm;
}

bool ptrace_limits_exec(void)
{
	const struct process *tracer = current_task()->trace.tracer;

	return tracer && !(tracer->cred.effective >> CAP_SYS_PTRACE & 1);
}

/* process_lock and signals.lock are held. */
static void ptrace_link(struct task *task, struct process *tracer, bool seizes, uint32_t options)
{
	struct ptrace *trace = &task->trace;

	thread_get(task->thread);
	*trace = (struct ptrace){ .tracer = tracer, .is_seized = seizes, .options = options };
	list_add_tail(&tracer->tracees, &trace->link);
	if (ptrace_is_first(task))
		task->process->traced_by = tracer;
	if (!nr_tracees++)
		syscall_set_ptraced(true);
}

/* A thread that is stopped with its process stops for the tracer, another one for SIGSTOP or not at all. */
static int ptrace_attach_locked(struct task *task, bool seizes, uint32_t options)
{
	const struct user_siginfo info = siginfo_from_kernel(SIGSTOP);
	struct process *process = task->process, *tracer = current_process();

	if (process == tracer || task->trace.tracer || list_empty(&task->link) ||
	    !ptrace_is_allowed(process, &task->cred))
		return -EPERM;
	ptrace_link(task, tracer, seizes, options);
	task->trace.wants_trap = task->signals.has_stopped;
	if (!seizes)
		send_signal_locked(process, task, SIGSTOP, &info);
	if (task->trace.wants_trap)
		thread_interrupt(task->thread);
	return 0;
}

int ptrace_attach(struct task *task, bool seizes, uint32_t options)
{
	struct process_signals *signals = &task->process->signals;
	uint64_t flags;
	int err;

	mutex_lock(&process_lock);
	flags = spin_lock_irqsave(&signals->lock);
	err = ptrace_attach_locked(task, seizes, options);
	spin_unlock_irqrestore(&signals->lock, flags);
	waitq_wake_all(&signals->stopped);
	mutex_unlock(&process_lock);
	return err;
}

int ptrace_traceme(void)
{
	struct task *task = current_task();
	struct process_signals *signals = &task->process->signals;
	struct process *parent;
	uint64_t flags;
	int err = -EPERM;

	mutex_lock(&process_lock);
	parent = task->process->parent;
	flags = spin_lock_irqsave(&signals->lock);
	/* A parent without threads lets go of its tracees, and takes no more. */
	if (parent && parent->signals.nr_tasks && !task->trace.tracer) {
		ptrace_link(task, parent, false, 0);
		err = 0;
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	mutex_unlock(&process_lock);
	return err;
}

static void ptrace_go(struct ptrace *trace, enum ptrace_mode mode, int signal)
{
	trace->mode = mode;
	trace->signal = signal;
	trace->is_stopped = false;
}

void ptrace_resume(struct task *task, enum ptrace_mode mode, int signal)
{
	struct process_signals *signals = &task->process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	ptrace_go(&task->trace, mode, signal);
	spin_unlock_irqrestore(&signals->lock, flags);
	waitq_wake_all(&signals->stopped);
}

/* A process that has ended, and of which only the tracer has heard: its parent is told now. */
static void ptrace_leave_process(struct process *process, const struct process *tracer)
{
	process->traced_by = NULL;
	if (process->is_zombie && process->parent != tracer)
		exit_tell_parent(process);
}

void ptrace_detach(struct task *task, int signal)
{
	struct process *process = task->process, *tracer = task->trace.tracer;
	struct process_signals *signals = &process->signals;
	bool is_of_process = task->trace.was_first || ptrace_is_first(task);
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	list_remove(&task->trace.link);
	task->trace.tracer = NULL;
	task->trace.wants_trap = task->trace.has_news = false;
	ptrace_go(&task->trace, PTRACE_RUNS, signal);
	if (!list_empty(&task->link) && signals->is_stopping)
		thread_interrupt(task->thread); /* it stops as the others have */
	spin_unlock_irqrestore(&signals->lock, flags);
	waitq_wake_all(&signals->stopped);
	if (is_of_process)
		ptrace_leave_process(process, tracer);
	if (!--nr_tracees)
		syscall_set_ptraced(false);
	thread_put(task->thread);
}

bool ptrace_is_held(const struct task *task)
{
	const struct ptrace *trace = &task->trace;

	return trace->tracer == current_process() && *(const volatile bool *)&trace->is_stopped &&
	       !trace->is_listening && !trace->has_ended;
}

int32_t ptrace_tracer_pid(const struct task *task)
{
	int32_t pid;

	mutex_lock(&process_lock);
	pid = task->trace.tracer ? task->trace.tracer->pid : 0;
	mutex_unlock(&process_lock);
	return pid;
}

/* ---- News for wait4() ---- */

/* Other threads of a process that have ended are told before the process. */
static bool ptrace_has_others(const struct task *task)
{
	struct list *pos;

	list_for_each(pos, &task->trace.tracer->tracees) {
		const struct task *other = list_entry(pos, struct task, trace.link);

		if (other != task && other->process == task->process)
			return true;
	}
	return false;
}

/* The process, or one of its threads alone. */
static bool ptrace_take_end(struct task *task, int options, int *out_code)
{
	struct process *process = task->process;
	bool is_process = task->trace.was_first, is_child = process->parent == task->trace.tracer;

	if (!(options & WEXITED) ||
	    (is_process && (!process->is_zombie || ptrace_has_others(task))))
		return false;
	*out_code = is_process ? process->exit_code : task->trace.code;
	if (options & WNOWAIT)
		return true;
	process_get(process);
	ptrace_detach(task, 0);
	if (is_process && is_child)
		process_forget(process);
	process_put(process);
	return true;
}

bool ptrace_take_news(struct task *task, int options, int *out_code)
{
	struct ptrace *trace = &task->trace;
	struct process_signals *signals = &task->process->signals;
	uint64_t flags;
	bool has_news;

	if (trace->has_ended)
		return ptrace_take_end(task, options, out_code);
	flags = spin_lock_irqsave(&signals->lock);
	has_news = trace->is_stopped && !trace->is_told && !trace->is_listening;
	if (has_news) {
		*out_code = trace->code << 8 | WAIT_CODE_TRAPPED;
		trace->is_told = !(options & WNOWAIT);
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	return has_news;
}

/* ---- Births and ends ---- */

static int ptrace_event_of_clone(uint64_t clone_flags)
{
	if (clone_flags & CLONE_VFORK)
		return PTRACE_EVENT_VFORK;
	return (clone_flags & CLONE_SIGNAL) == SIGCHLD ? PTRACE_EVENT_FORK : PTRACE_EVENT_CLONE;
}

int ptrace_new_task(struct task *child, uint64_t clone_flags)
{
	struct ptrace *own = &current_task()->trace;
	struct process_signals *signals = &child->process->signals;
	int event = ptrace_event_of_clone(clone_flags);
	uint64_t flags;

	if (TRACE_LIKELY(!own->tracer))
		return 0;
	mutex_lock(&process_lock);
	flags = spin_lock_irqsave(&signals->lock);
	/* Another tracer may have been quicker. */
	if (own->tracer && own->options & 1u << event && !child->trace.tracer) {
		ptrace_link(child, own->tracer, own->is_seized, own->options);
		child->trace.wants_trap = own->is_seized;
		if (!own->is_seized)
			sigpending_add(&child->signals.pending, SIGSTOP, NULL);
		thread_interrupt(child->thread);
	} else {
		event = 0;
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	mutex_unlock(&process_lock);
	return event;
}

static struct task *ptrace_find_first(const struct process *process)
{
	struct list *pos;

	list_for_each(pos, &process->traced_by->tracees) {
		struct task *task = list_entry(pos, struct task, trace.link);

		if (task->process == process && task->trace.was_first)
			return task;
	}
	return NULL;
}

void ptrace_took_pid(struct task *task)
{
	struct process *process = task->process;
	struct task *first;

	mutex_lock(&process_lock);
	first = process->traced_by ? ptrace_find_first(process) : NULL;
	if (first)
		ptrace_detach(first, 0);
	process->traced_by = task->trace.tracer;
	mutex_unlock(&process_lock);
}

static void ptrace_send_child(struct process *tracer, const struct user_siginfo *info)
{
	send_signal(tracer, NULL, SIGCHLD, info);
	waitq_wake_all(&tracer->child_waitq);
}

void ptrace_tell_end(struct process *process)
{
	const struct user_siginfo info = siginfo_of_end(process);

	ptrace_send_child(process->traced_by, &info);
}

void ptrace_thread_ended(struct task *task)
{
	struct ptrace *trace = &task->trace;
	struct process *process = task->process;
	struct user_siginfo info;

	if (TRACE_LIKELY(!trace->tracer))
		return;
	mutex_lock(&process_lock);
	trace->has_ended = true;
	trace->was_first = ptrace_is_first(task);
	trace->code = process->signals.is_ending ? process->exit_code : task->exit_code;
	if (trace->tracer && !trace->was_first) {
		info = siginfo_of_end(process);
		info.child.pid = task->thread->pid;
		ptrace_send_child(trace->tracer, &info);
	}
	mutex_unlock(&process_lock);
}

void ptrace_tracer_ends(struct process *tracer)
{
	mutex_lock(&process_lock);
	while (!list_empty(&tracer->tracees)) {
		struct task *task = list_entry(tracer->tracees.next, struct task, trace.link);
		struct process *process = task->process;

		process_get(process);
		if (task->trace.options & PTRACE_O_EXITKILL && !task->trace.has_ended)
			send_signal(process, NULL, SIGKILL, NULL);
		ptrace_detach(task, task->trace.signal);
		process_put(process);
	}
	mutex_unlock(&process_lock);
}
