/* Processes and tasks as objects: see process.h. */
#include <stdatomic.h>
#include <kernel/string.h>
#include <kernel/time.h>
#include "process.h"

struct mutex process_lock;
struct process *process_init_program;

_Static_assert(sizeof(struct task) <= PAGE_SIZE, "a task is a page");

struct process *process_create(struct files *files)
{
	struct process *process = kzalloc(sizeof(*process));

	if (!process) {
		files_free(files);
		return NULL;
	}
	atomic_store(&process->refs, 1);
	list_init(&process->children);
	list_init(&process->sibling);
	list_init(&process->all_link);
	signals_init(process);
	process->files = files;
	process->start_ns = ktime_get_ns();
	process->umask = 022;
	strlcpy(process->cwd, "/", sizeof(process->cwd));
	return process;
}

void process_get(struct process *process)
{
	atomic_fetch_add(&process->refs, 1);
}

void process_put(struct process *process)
{
	if (!process || atomic_fetch_sub(&process->refs, 1) > 1)
		return;
	files_free(process->files);
	flush_sigqueue_mask(&process->signals.shared, UINT64_MAX);
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

void process_set_mm(struct mm *mm)
{
	struct task *task = current_task();
	struct mm *old = task->mm;

	mutex_lock(&process_lock);
	task->mm = task->process->mm = mm;
	mutex_unlock(&process_lock);
	if (mm)
		arch_user_restart(&task->arch, mm->root);
	else
		arch_user_set_root(&task->arch, UINT64_MAX);
	mm_put(old);
}

void process_born(struct process *process)
{
	struct completion *born;

	mutex_lock(&process_lock);
	born = process->born;
	process->born = NULL;
	mutex_unlock(&process_lock);
	if (born)
		complete_all(born);
}

/* The function of each task's thread. */
static int process_task_begin(void *arg)
{
	struct task *task = arg;
	int err = task->begin(task->arg);

	if (err)
		task->process->exit_code = 127 << 8;
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
	task->mm = process->mm = mm;
	task->arch.root = mm->root;
	task->begin = begin;
	task->arg = arg;
	task_signals_init(task);
	process->signals.task = task;
	process->pid = thread->pid;
	thread->task = task;
	return thread;
}

void task_free(struct task *task)
{
	flush_sigqueue_mask(&task->signals.pending, UINT64_MAX);
	process_put(task->process);
	free_pages(task, 0);
}

TRACE_NOTRACE void task_switch(struct task *prev, struct task *next, uintptr_t stack_top)
{
	arch_user_switch(prev ? &prev->arch : NULL, next ? &next->arch : NULL, stack_top);
}
