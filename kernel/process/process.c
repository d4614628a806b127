/* Processes and tasks as objects: see process.h. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "process.h"

struct mutex process_lock;
struct process *process_init_program;

_Static_assert(sizeof(struct task) <= PAGE_SIZE, "a task is a page");

static void process_put_tables(struct process_tables *tables)
{
	if (tables->files) /* otherwise it has ended */
		fs_leave(tables->fs);
	files_put(tables->files);
	fs_put(tables->fs);
	sighand_put(tables->sighand);
}

struct process *process_create(struct process_tables tables)
{
	struct process *process =
		tables.files && tables.fs && tables.sighand ? kzalloc(sizeof(*process)) : NULL;

	if (!process) {
		process_put_tables(&tables);
		return NULL;
	}
	atomic_store(&process->refs, 1);
	list_init(&process->children);
	list_init(&process->sibling);
	list_init(&process->tracees);
	list_init(&process->all_link);
	signals_init(process);
	process->files = tables.files;
	process->fs = tables.fs;
	process->signals.sighand = tables.sighand;
	process->start_ns = ktime_get_ns();
	process->cred = cred_of_root;
	rlimits_init(process);
	return process;
}

void process_get(struct process *process)
{
	atomic_fetch_add(&process->refs, 1);
}

void process_put(struct process *process)
{
	struct process_tables tables;

	if (!process || atomic_fetch_sub(&process->refs, 1) > 1)
		return;
	tables = (struct process_tables){ .files = process->files,
					  .fs = process->fs,
					  .sighand = process->signals.sighand };
	process_put_tables(&tables);
	sigpending_free(&process->signals.shared);
	kfree(process);
}

struct mm *process_get_mm(struct process *process)
{
	struct mm *mm;

	mutex_lock(&process_lock);
	mm = process->mm ? mm_get(process->mm) : NULL;
	mutex_unlock(&process_lock);
	return mm;
}

bool process_is_dumpable(struct process *process)
{
	bool is_dumpable;

	mutex_lock(&process_lock);
	is_dumpable = !process->mm || process->mm->is_dumpable;
	mutex_unlock(&process_lock);
	return is_dumpable;
}

static void process_load_mm(struct task *task, struct mm *mm)
{
	uint64_t irqs = arch_irq_save();

	if (mm)
		mm_enter_cpu(mm);
	if (mm)
		arch_user_restart(&task->arch, mm->root);
	else
		arch_user_set_root(&task->arch, UINT64_MAX);
	mm_leave_cpu(task->mm);
	task->mm = mm;
	arch_irq_restore(irqs);
}

void process_set_mm(struct mm *mm)
{
	struct task *task = current_task();
	struct mm *old = task->mm;

	mutex_lock(&process_lock);
	task->process->mm = mm;
	mutex_unlock(&process_lock);
	process_load_mm(task, mm);
	if (old)
		usage_keep_mm(task->process, old);
	mm_put(old);
}

void task_drop_mm(struct task *task, bool is_last)
{
	struct mm *mm = task->mm;

	if (is_last) {
		mutex_lock(&process_lock);
		task->process->mm = NULL;
		mutex_unlock(&process_lock);
	}
	process_load_mm(task, NULL);
	if (is_last && mm)
		usage_keep_mm(task->process, mm);
	mm_put(mm);
}

void process_born(struct process *process)
{
	struct birth *born;

	mutex_lock(&process_lock);
	born = process->born;
	process->born = NULL;
	if (born) {
		atomic_store(&born->is_done, true);
		waitq_wake_all(born->queue);
	}
	mutex_unlock(&process_lock);
}

/* The function of each task's thread. */
static int process_task_begin(void *arg)
{
	struct task *task = arg;
	int err = task->begin(task->arg);

	if (err)
		task->exit_code = 127 << 8;
	return err;
}

struct thread *task_create(const char *name, struct process *process, struct mm *mm,
			   int (*begin)(void *arg), void *arg)
{
	struct task *task = page_alloc_zeroed(0);
	struct thread *thread =
		task ? kernel_clone(name, process_task_begin, task, THREAD_USER) : NULL;

	if (!thread) {
		free_pages(task, 0);
		process_put(process);
		mm_put(mm);
		return NULL;
	}
	arch_user_init(&task->arch);
	task->thread = thread;
	task->process = process;
	task->cred = process->cred;
	task->mm = mm;
	task->arch.root = mm->root;
	task->begin = begin;
	task->arg = arg;
	task_signals_init(task);
	thread->task = task;
	return thread;
}

void task_link(struct task *task)
{
	struct process *process = task->process;
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);

	if (!signals->nr_tasks++) {
		process->pid = task->thread->pid;
		process->mm = task->mm;
	} else {
		files_share(process->files);
	}
	task->thread->tgid = process->pid;
	list_add_tail(&signals->tasks, &task->link);
	task->signals.must_end = signals->is_ending || signals->exec_task;
	signals->nr_to_stop += signals->is_stopping;
	if (task->signals.must_end || signals->is_stopping)
		thread_interrupt(task->thread);
	spin_unlock_irqrestore(&signals->lock, flags);
}

bool task_unlink(struct task *task, bool *out_stops)
{
	struct process *process = task->process;
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	bool is_last = !--signals->nr_tasks;

	if (is_last && !signals->is_ending)
		process->exit_code = task->exit_code;
	if (!is_last)
		files_put(process->files); /* never the last use */
	list_remove(&task->link);
	list_init(&task->link);
	usage_keep(process, task->thread);
	retarget_shared_pending(task, ~task->signals.blocked);
	*out_stops = signals->is_stopping && !--signals->nr_to_stop && !is_last;
	signals->is_stopped |= *out_stops;
	spin_unlock_irqrestore(&signals->lock, flags);
	waitq_wake_all(&signals->alone);
	return is_last;
}

struct thread *process_get_thread(struct process *process, int32_t tid)
{
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	struct thread *found = NULL;
	struct list *pos;

	list_for_each(pos, &signals->tasks) {
		struct thread *thread = list_entry(pos, struct task, link)->thread;

		if (!found && (!tid || thread->pid == tid))
			found = thread;
	}
	if (found)
		thread_get(found);
	spin_unlock_irqrestore(&signals->lock, flags);
	return found;
}

int32_t process_nth_tid(struct process *process, uint32_t index)
{
	struct process_signals *signals = &process->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	struct list *pos;
	int32_t tid = 0;

	list_for_each(pos, &signals->tasks) {
		if (index-- == 0) {
			tid = list_entry(pos, struct task, link)->thread->pid;
			break;
		}
	}
	spin_unlock_irqrestore(&signals->lock, flags);
	return tid;
}

struct process *process_of_thread(int32_t tid)
{
	struct thread *thread = thread_find(tid), *alive = NULL;
	struct process *process = thread && thread->task ? thread->task->process : NULL;

	if (process)
		alive = process_get_thread(process, tid);
	if (alive)
		process_get(process);
	thread_put(alive);
	thread_put(thread);
	return alive ? process : NULL;
}

uint64_t process_cpu_ns(struct process *process)
{
	struct usage usage;

	usage_of_process(process, &usage);
	return usage.user_ns + usage.kernel_ns;
}

void task_free(struct task *task)
{
	sigpending_free(&task->signals.pending);
	process_put(task->process);
	free_pages(task, 0);
}

TRACE_NOTRACE bool task_is_stopped(const struct task *task)
{
	return task->trace.tracer ? task->trace.is_stopped : task->signals.has_stopped;
}

TRACE_NOTRACE void task_switch(struct task *prev, struct task *next, uintptr_t stack_top)
{
	struct mm *from = prev ? prev->mm : NULL, *to = next ? next->mm : NULL;

	if (to && to != from)
		mm_enter_cpu(to);
	arch_user_switch(prev ? &prev->arch : NULL, next ? &next->arch : NULL, stack_top);
	if (from && from != to)
		mm_leave_cpu(from);
}
