/*
 * /dev/shell: commands for programs on another machine. Each open file is a shell of its own.
 *
 *   first write --> text --> thread with a shell --> pipe --> read
 *
 * The text that the first write brings is run in /sys/kernel/tracing, with /dev/null as input;
 * output and errors are read as they come, and the end of the file once the commands have ended.
 * Closing is the end of a session: it interrupts the threads of the commands that still run, jobs
 * in the background too, as the hang-up of a terminal does. It does not wait: the shell belongs to
 * its thread.
 *
 * Locking: `lock` lets one write start the shell. `output` is set once, by that.
 */
#include <stdatomic.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/vfs.h>
#include "shell/sh/sh.h"
#include "vfs_mount.h"

#define SHELL_HOME     "/sys/kernel/tracing"
#define SHELL_TEXT_MAX 65536u

static _Atomic uint64_t nr_sessions; /* sessions so far; the number of the newest */

/* An open /dev/shell. */
struct shell_file {
	struct mutex lock;
	struct thread *thread; /* NULL before the first write */
	struct file *_Atomic output;
};

/* The work of the thread, which frees it at its end. */
struct shell_run {
	struct shell *sh;
	struct sh_io io;
	size_t len;
	char text[];
};

static void shell_free_run(struct shell_run *run)
{
	sh_io_put(&run->io);
	if (run->sh)
		sh_destroy(run->sh);
	kfree(run);
}

static int shell_run_main(void *arg)
{
	struct shell_run *run = arg;
	int status = sh_run_text(run->sh, run->text, run->len, &run->io);

	shell_free_run(run);
	return status;
}

/* Open the three files of the shell; *out_output is where its output is read. 0 or -errno. */
static int shell_open_io(struct sh_io *io, struct file **out_output)
{
	int err = vfs_open("/", "/dev/null", VFS_READ, &io->fd[0]);

	if (!err)
		err = pipe_create(out_output, &io->fd[1]);
	if (!err)
		io->fd[2] = get_file(io->fd[1]);
	return err;
}

static int shell_create_run(const char *text, size_t len, struct shell_run **out_run,
			    struct file **out_output)
{
	struct shell_run *run = kzalloc(sizeof(*run) + len);
	int err;

	if (!run)
		return -ENOMEM;
	memcpy(run->text, text, len);
	run->len = len;
	run->sh = sh_create();
	err = run->sh ? shell_open_io(&run->io, out_output) : -ENOMEM;
	if (err) {
		shell_free_run(run);
		return err;
	}
	strlcpy(run->sh->cwd, SHELL_HOME, sizeof(run->sh->cwd));
	*out_run = run;
	return 0;
}

/* The first write. 0 or -errno; lock held. */
static int shell_start(struct shell_file *shell, const char *text, size_t len)
{
	struct file *output = NULL;
	struct shell_run *run;
	int err = shell_create_run(text, len, &run, &output);

	if (err)
		return err;
	shell->thread = kernel_clone("sh", shell_run_main, run, 0);
	if (!shell->thread) {
		shell_free_run(run);
		fput(output);
		return -ENOMEM;
	}
	run->sh->pid = shell->thread->pid;
	shell->thread->group = shell->thread->pid; /* Ctrl-C on the console is not for it */
	shell->thread->session = atomic_fetch_add(&nr_sessions, 1) + 1;
	atomic_store(&shell->output, output);
	wake_up_new_thread(shell->thread);
	return 0;
}

static int shell_file_open(struct file *file)
{
	struct shell_file *shell;

	if (!(file->flags & VFS_READ) || !(file->flags & VFS_WRITE))
		return -EINVAL;
	shell = kzalloc(sizeof(*shell));
	if (!shell)
		return -ENOMEM;
	file->object = shell;
	return 0;
}

static ssize_t shell_file_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	struct shell_file *shell = file->object;
	int err;

	(void)pos;
	if (len > SHELL_TEXT_MAX)
		return -E2BIG;
	mutex_lock(&shell->lock);
	err = shell->thread ? -EBUSY : shell_start(shell, buf, len);
	mutex_unlock(&shell->lock);
	return err ? err : (ssize_t)len;
}

static ssize_t shell_file_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct shell_file *shell = file->object;
	struct file *output = atomic_load(&shell->output);

	(void)pos;
	return output ? file_read(output, buf, len) : -EINVAL;
}

static bool shell_file_is_readable(struct file *file)
{
	struct shell_file *shell = file->object;
	struct file *output = atomic_load(&shell->output);

	return !output || file_is_readable(output);
}

static int shell_file_close(struct file *file)
{
	struct shell_file *shell = file->object;

	if (shell->thread) {
		thread_interrupt_session(shell->thread->session);
		thread_put(shell->thread);
	}
	fput(shell->output);
	kfree(shell);
	return 0;
}

const struct file_ops shell_file_ops = {
	.open = shell_file_open,
	.read = shell_file_read,
	.write = shell_file_write,
	.is_readable = shell_file_is_readable,
	.close = shell_file_close,
};
