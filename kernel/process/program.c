/* Programs for the kernel's shell: see <kernel/process.h>. */
#include <kernel/console.h>
#include <kernel/string.h>
#include "exec.h"
#include "process.h"
#include "tty.h"

#define STATUS_SIGNAL 128

static const char *const program_dirs[] = { "/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/" };

static int program_check(const char *path, const char *cwd, char *out_path)
{
	struct vfs_stat stat;
	int err = vfs_stat(cwd, path, &stat);

	if (!err && (stat.type != VFS_REGULAR || !(stat.mode & 0111)))
		err = -EACCES;
	return err ? err : vfs_resolve(cwd, path, out_path);
}

int program_find(const char *name, const char *cwd, char *out_path)
{
	char path[VFS_PATH_MAX];

	if (strchr(name, '/'))
		return program_check(name, cwd, out_path);
	for (size_t i = 0; i < ARRAY_SIZE(program_dirs); i++) {
		strlcpy(path, program_dirs[i], sizeof(path));
		if (strlcat(path, name, sizeof(path)) < sizeof(path) &&
		    program_check(path, "/", out_path) == 0)
			return 0;
	}
	return -ENOENT;
}

/* Of a program that is being started: on the stack of the thread that waits for its end. */
struct start {
	const struct program *program;
	struct exec_args args;
	int err;
};

static int program_begin(void *arg)
{
	struct start *start = arg;

	const struct vfs_at at = { .path = start->program->path, .cwd = "/" };

	start->err = do_execve(&at, &start->args);
	return start->err;
}

static int program_add_args(struct exec_args *args, const struct program *program)
{
	int err = 0;

	for (char *const *arg = program->argv; *arg && !err; arg++)
		err = exec_args_add(args, *arg, false);
	for (char *const *env = program->envp; *env && !err; env++)
		err = exec_args_add(args, *env, true);
	return err;
}

static struct process *program_create_process(const struct program *program)
{
	struct files *files = files_create();
	struct process *process = process_create((struct process_tables){
		.files = files, .fs = fs_create(), .sighand = sighand_create() });
	struct file *cwd;

	if (!process)
		return NULL;
	for (unsigned int fd = 0; fd < 3; fd++)
		files_install(files, get_file(program->files[fd]), fd, false);
	if (!vfs_open("/", program->cwd, VFS_PLACE | VFS_ONLY_DIR, &cwd))
		fs_set_cwd(process->fs, cwd); /* otherwise it has been removed */
	return process;
}

/* Its first thread, which is joined, may end long before the others. 0, or -EINTR. */
static int program_wait_once(struct thread **thread, struct process *process)
{
	int err = *thread ? thread_join(*thread, NULL) : 0;

	if (err)
		return err;
	*thread = NULL;
	return wait_for_completion_interruptible(&process->ended, WAIT_FOREVER);
}

/* Ctrl-C is for the program, which may do with it as it likes. Only if it dies is the waiter told. */
static void program_wait(struct thread *thread, struct process *process)
{
	const struct user_siginfo info = siginfo_from_kernel(SIGINT);
	bool was_interrupted = false;

	while (program_wait_once(&thread, process)) {
		was_interrupted = true;
		thread_clear_interrupt();
		kill_pgrp(process->pgid, SIGINT, &info);
	}
	if (was_interrupted && process->exit_code & 0x7f)
		thread_interrupt(current_thread());
}

/* A program that has the console, and is not started for the background, gets the terminal. */
static bool program_get_tty(const struct program *program, struct process *process)
{
	bool has_console = false;

	for (unsigned int fd = 0; fd < 3; fd++)
		has_console |= program->files[fd]->ops->is_console;
	return has_console && console_is_foreground() &&
	       tty_begin_program(process, current_thread()->group);
}

static void program_make_init(struct process *process)
{
	process->is_init = true;
	mutex_lock(&process_lock);
	process_init_program = process;
	mutex_unlock(&process_lock);
}

/* The process is held by the caller, and its thread by this. */
static int program_start(struct start *start, struct process *process)
{
	const char *name = strrchr(start->program->path, '/') + 1;
	struct mm *mm = mm_create();
	struct thread *thread;
	bool has_tty;

	if (!mm)
		return -ENOMEM;
	process_get(process);
	thread = task_create(name, process, mm, program_begin, start);
	if (!thread)
		return -ENOMEM;
	task_link(thread->task);
	process->pgid = process->sid = process->pid;
	has_tty = program_get_tty(start->program, process);
	if (start->program->is_init)
		program_make_init(process);
	process_list_add(process);
	wake_up_new_thread(thread);
	program_wait(thread, process);
	if (has_tty)
		tty_end_program();
	return start->err;
}

int program_run(const struct program *program, int *out_status)
{
	struct start start = { .program = program, .args.name = program->path };
	struct process *process = program_create_process(program);
	int err = process ? program_add_args(&start.args, program) : -ENOMEM;
	int code;

	if (!err)
		err = program_start(&start, process);
	if (!err) {
		code = process->exit_code;
		*out_status = code & 0x7f ? STATUS_SIGNAL + (code & 0x7f) : code >> 8 & 0xff;
	}
	exec_args_free(&start.args);
	process_put(process);
	return err;
}
