/*
 * Commands in threads of their own: stages of a pipe, subshells, background jobs. See sh.h.
 *
 * A job with a waiter is freed by the waiter. A background job may go on when its shell has ended:
 * it is freed by its thread or by the shell, whichever ends later. Both change job->state by
 * compare and exchange, and the second to come frees the job.
 */
#include <stdatomic.h>
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include "sh.h"

enum job_state {
	JOB_RUNS,
	JOB_DONE,  /* its thread has nothing more to do with it */
	JOB_ORPHAN /* its shell has ended: the thread frees it */
};

struct sh_job {
	struct list link; /* of a background job: in the shell's `jobs` */
	struct thread *thread;
	struct shell *parent; /* it waits while a plain command uses its directory */
	struct shell *own;    /* the copy that runs a tree or a text; NULL for a plain command */
	struct sh_io io;
	struct sh_task task;
	uint32_t number;	/* of a background job, as in %1 */
	_Atomic uint32_t state; /* enum job_state */
	char text[];		/* of a background job: its command line */
};

static void job_free(struct sh_job *job)
{
	if (job->own)
		sh_destroy(job->own);
	kfree(job);
}

static int job_run_task(struct sh_job *job)
{
	const struct sh_task *task = &job->task;

	if (task->command)
		return sh_run_command(job->parent, task->command, task->argc, task->argv, &job->io);
	if (task->node) {
		job->own->runs_in_place = task->node->type == SH_SIMPLE;
		return sh_exec(job->own, task->node, &job->io);
	}
	return sh_run_text(job->own, task->text, task->text_len, &job->io);
}

static int job_main(void *arg)
{
	struct sh_job *job = arg;
	uint32_t state = JOB_RUNS;
	int status = job_run_task(job);

	sh_io_put(&job->io);
	if (thread_interrupted())
		status = COMMAND_SIGINT;
	else if (job->own && job->own->flow == SH_FLOW_EXIT)
		status = job->own->status;
	if (!atomic_compare_exchange_strong(&job->state, &state, JOB_DONE))
		job_free(job);
	return status;
}

/* Make a job whose thread does not run yet. NULL when out of memory. */
static struct sh_job *job_create(struct shell *sh, const struct sh_task *task,
				 const struct sh_io *io, size_t text_room)
{
	struct sh_job *job = kzalloc(sizeof(*job) + text_room);

	if (!job)
		return NULL;
	list_init(&job->link);
	job->parent = sh;
	job->task = *task;
	if (!task->command) {
		job->own = sh_clone(sh);
		if (!job->own)
			goto free;
	}
	job->thread = kernel_clone(task->name, job_main, job, 0);
	if (!job->thread)
		goto free;
	sh_io_get(&job->io, io);
	return job;
free:
	job_free(job);
	return NULL;
}

struct sh_job *sh_start(struct shell *sh, const struct sh_task *task, const struct sh_io *io)
{
	struct sh_job *job = job_create(sh, task, io, 0);

	if (job)
		wake_up_new_thread(job->thread);
	return job;
}

bool sh_has_ended(const struct sh_job *job)
{
	return atomic_load(&job->state) == JOB_DONE;
}

int sh_wait(struct sh_job *job)
{
	int status;

	if (thread_join(job->thread, &status)) {
		thread_interrupt(job->thread);
		status = thread_join_wait(job->thread);
	}
	job_free(job);
	return status;
}

/* Background jobs do not read typed lines: they get /dev/null as input. 0 or -errno. */
static int job_replace_console_input(struct sh_io *io)
{
	struct file *null;
	int err;

	if (!io->fd[0]->ops->is_console)
		return 0;
	err = vfs_open("/", "/dev/null", VFS_READ, &null);
	if (err)
		return err;
	fput(io->fd[0]);
	io->fd[0] = null;
	return 0;
}

int sh_start_background(struct shell *sh, const char *text, size_t len, const struct sh_io *io)
{
	struct sh_task task = { .name = "sh" };
	struct sh_io files;
	struct sh_job *job = NULL;
	int err;

	sh_io_get(&files, io);
	err = job_replace_console_input(&files);
	if (!err)
		job = job_create(sh, &task, &files, len + 1);
	sh_io_put(&files);
	if (!job)
		return err ? err : -ENOMEM;
	memcpy(job->text, text, len);
	job->task.text = job->text;
	job->task.text_len = len;
	job->number = list_empty(&sh->jobs) ? 1 : sh->job_count + 1;
	sh->job_count = job->number;
	sh->last_background = job->thread->pid;
	job->thread->group = job->thread->pid; /* so that Ctrl-C does not interrupt it */
	list_add_tail(&sh->jobs, &job->link);
	wake_up_new_thread(job->thread);
	/* The session may have ended before the thread was there to be interrupted. */
	if (thread_interrupted())
		thread_interrupt(job->thread);
	return 0;
}

static bool job_is_done(const struct sh_job *job)
{
	return atomic_load(&job->state) == JOB_DONE;
}

/* Wait for the end of a background job and free it. 0, or -EINTR with the job as it was. */
static int job_join_background(struct sh_job *job, int *out_status)
{
	int err = thread_join(job->thread, out_status);

	if (err)
		return err;
	list_remove(&job->link);
	job_free(job);
	return 0;
}

int sh_wait_background(struct shell *sh, int32_t pid)
{
	struct list *pos, *next;
	int status = pid ? COMMAND_NOT_FOUND : 0;

	list_for_each_safe(pos, next, &sh->jobs) {
		struct sh_job *job = list_entry(pos, struct sh_job, link);
		int result;

		if (pid && job->thread->pid != pid)
			continue;
		if (job_join_background(job, &result))
			return COMMAND_SIGINT;
		if (pid)
			status = result;
	}
	return status;
}

void sh_reap(struct shell *sh)
{
	struct list *pos, *next;
	int status;

	list_for_each_safe(pos, next, &sh->jobs) {
		struct sh_job *job = list_entry(pos, struct sh_job, link);

		if (job_is_done(job))
			job_join_background(job, &status);
	}
}

void sh_each_job(struct shell *sh,
		 void (*fn)(uint32_t number, int32_t pid, bool is_done, const char *text,
			    void *arg),
		 void *arg)
{
	struct list *pos;

	list_for_each(pos, &sh->jobs) {
		struct sh_job *job = list_entry(pos, struct sh_job, link);

		fn(job->number, job->thread->pid, job_is_done(job), job->text, arg);
	}
}

/* For a shell that ends: free the jobs that have ended; the others free themselves at their end. */
static void job_orphan_jobs(struct shell *sh)
{
	struct list *pos, *next;

	list_for_each_safe(pos, next, &sh->jobs) {
		struct sh_job *job = list_entry(pos, struct sh_job, link);
		uint32_t state = JOB_RUNS;

		list_remove(&job->link);
		thread_put(job->thread);
		if (!atomic_compare_exchange_strong(&job->state, &state, JOB_ORPHAN))
			job_free(job);
	}
}

struct shell *sh_create(void)
{
	struct shell *sh = kzalloc(sizeof(*sh));

	if (!sh)
		return NULL;
	list_init(&sh->vars);
	list_init(&sh->jobs);
	sh->pid = current_thread()->pid;
	strlcpy(sh->cwd, "/", sizeof(sh->cwd));
	return sh;
}

struct shell *sh_clone(const struct shell *sh)
{
	struct shell *copy = sh_create();

	if (!copy)
		return NULL;
	copy->pid = sh->pid;
	copy->status = sh->status;
	copy->last_background = sh->last_background;
	strlcpy(copy->cwd, sh->cwd, sizeof(copy->cwd));
	if (sh_var_copy_all(copy, sh)) {
		sh_destroy(copy);
		return NULL;
	}
	return copy;
}

void sh_destroy(struct shell *sh)
{
	job_orphan_jobs(sh);
	sh_var_free_all(sh);
	kfree(sh);
}
