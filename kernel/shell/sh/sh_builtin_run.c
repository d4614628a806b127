/*
 * Commands that run others: sh, `.`, exec, sudo.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include "shell/cmd/command_tables.h"
#include "sh.h"

#define SCRIPT_BYTES_MAX 65536u

/* Read the whole file; the caller frees the text with vfree(). NULL after a message. */
static char *builtin_read_script(struct command_env *env, struct file *file, size_t *out_len)
{
	char *text = vmalloc(SCRIPT_BYTES_MAX);
	size_t len = 0;
	ssize_t got = text ? 1 : -ENOMEM;

	while (got > 0 && len < SCRIPT_BYTES_MAX) {
		got = file_read(file, text + len, SCRIPT_BYTES_MAX - len);
		len += got > 0 ? (size_t)got : 0;
	}
	if (!got) {
		*out_len = len;
		return text;
	}
	command_error(env, "%s", command_strerror(got > 0 ? EFBIG : (int)got));
	vfree(text);
	return NULL;
}

static struct sh_io builtin_io_of(const struct command_env *env)
{
	return (struct sh_io){ .fd = { env->in, env->out, env->err } };
}

/* A copy of the shell for a command that must not change it. NULL after a message. */
static struct shell *builtin_clone_shell(struct command_env *env)
{
	struct shell *sh = sh_clone(env->shell);

	if (!sh)
		command_error(env, "%s", command_strerror(ENOMEM));
	return sh;
}

static int run_in_new_shell(struct command_env *env, const char *text, size_t len)
{
	const struct sh_io io = builtin_io_of(env);
	struct shell *sh = builtin_clone_shell(env);
	int status;

	if (!sh)
		return 1;
	sh->pid = current_thread()->pid;
	status = sh_run_text(sh, text, len, &io);
	sh_destroy(sh);
	return status;
}

/* Open a file, or take a pipe on standard input. Not the console: a shell reads that already. */
static struct file *builtin_open_script(struct command_env *env, const char *path)
{
	struct file *file = command_open(env, path);

	if (!file || !file->ops->is_console)
		return file;
	command_error(env, "the console has a shell already");
	fput(file);
	return NULL;
}

static int run_sh(struct command_env *env, int argc, char **argv)
{
	struct file *file;
	char *text;
	size_t len;
	int status;

	if (argc == 3 && strcmp(argv[1], "-c") == 0)
		return run_in_new_shell(env, argv[2], strlen(argv[2]));
	if (argc > 2)
		return COMMAND_USAGE;
	file = builtin_open_script(env, argc == 2 ? argv[1] : "-");
	if (!file)
		return COMMAND_NOT_FOUND;
	text = builtin_read_script(env, file, &len);
	fput(file);
	if (!text)
		return 1;
	status = run_in_new_shell(env, text, len);
	vfree(text);
	return status;
}

/* `.` runs a file in this shell, so variables and the directory stay as the file leaves them. */
static int run_dot(struct command_env *env, int argc, char **argv)
{
	const struct sh_io io = builtin_io_of(env);
	struct shell *sh = env->shell;
	struct file *file;
	char *text;
	size_t len;
	int status;

	if (argc != 2)
		return COMMAND_USAGE;
	file = command_open(env, argv[1]);
	if (!file)
		return 1;
	text = builtin_read_script(env, file, &len);
	fput(file);
	if (!text)
		return 1;
	sh->status = 0;
	status = sh_run_text(sh, text, len, &io);
	vfree(text);
	return status;
}

/*
 * exec runs the command in the shell's own thread, with its pid, and the shell ends after it. The
 * thread gets the name of the command, or the one behind -a.
 */
static int run_exec(struct command_env *env, int argc, char **argv)
{
	const struct sh_io io = builtin_io_of(env);
	const struct command *command;
	const char *name = NULL;
	int status = COMMAND_NOT_FOUND;

	while (argc > 1 && strcmp(argv[1], "exec") == 0) {
		argc--;
		argv++;
	}
	if (argc > 2 && strcmp(argv[1], "-a") == 0) {
		name = argv[2];
		argc -= 2;
		argv += 2;
	}
	if (argc < 2) {
		command_error(env, "a command must follow: redirections alone cannot stay");
		return 2;
	}
	command = command_find(argv[1]);
	if (command && command->run) {
		thread_set_name(current_thread(), name ? name : argv[1]);
		status = sh_run_command(env->shell, command, argc - 1, argv + 1, &io);
	} else {
		command_error(env, "%s: not found", argv[1]);
	}
	env->shell->flow = SH_FLOW_EXIT;
	return status;
}

/*
 * The only user is root, so sudo just runs the command, in a subshell: it cannot change this one.
 */
static int run_sudo(struct command_env *env, int argc, char **argv)
{
	const struct sh_io io = builtin_io_of(env);
	int skip = argc > 1 && strcmp(argv[1], "-E") == 0 ? 2 : 1;
	struct sh_task task = { .argc = argc - skip, .argv = argv + skip };
	struct shell *sh;
	struct sh_job *job;
	int status;

	if (argc <= skip || argv[skip][0] == '-')
		return COMMAND_USAGE;
	task.name = argv[skip];
	task.command = command_find(task.name);
	if (!task.command || !task.command->run) {
		command_error(env, "%s: command not found", task.name);
		return 1;
	}
	sh = builtin_clone_shell(env);
	job = sh ? sh_start(sh, &task, &io) : NULL;
	status = job ? sh_wait(job) : 1;
	if (sh && !job)
		command_error(env, "%s", command_strerror(ENOMEM));
	if (sh)
		sh_destroy(sh);
	return status;
}

const struct command run_commands[] = {
	{ ".", "FILE", "run the commands of a file in this shell", run_dot, COMMAND_BUILTIN },
	{ "exec", "[-a NAME] COMMAND [ARG]...", "run a command in place of this shell", run_exec,
	  COMMAND_BUILTIN },
	{ "sh", "-c TEXT | [FILE]", "run commands in a new shell", run_sh, 0 },
	{ "source", "FILE", "run the commands of a file in this shell", run_dot, COMMAND_BUILTIN },
	{ "sudo", "[-E] COMMAND [ARG]...", "run a command: everybody is root here", run_sudo, 0 },
	{ 0 },
};
