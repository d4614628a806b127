/*
 * Running one command, one text, one $( ). See sh.h.
 */
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include <kernel/shell.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fmt.h>
#include "sh.h"

#define CAPTURE_START_BYTES 256u
#define TEXT_STACK_BYTES    (10 * 1024ul)

/*
 * Write the rest of the output of a command with `status`. Returns the exit status, which is
 * another one when the output could not be written.
 */
static int sh_finish_output(struct command_env *env, const struct sh_io *io, int status)
{
	int err = command_flush(env);

	if (!err)
		return status;
	if (err == -EINTR || thread_interrupted())
		return COMMAND_SIGINT;
	if (err == -EPIPE)
		return COMMAND_SIGPIPE;
	if (env->is_builtin)
		sh_complain(io, "write error: %s", command_strerror(err));
	else
		command_perror(env, "write error", err);
	return 1;
}

static void sh_print_usage(const struct command *command, const struct sh_io *io)
{
	char text[160];
	size_t len = trace_scnprintf(text, sizeof(text), "usage: %s %s\n", command->name,
				     command->usage);

	file_write(io->fd[2], text, len);
}

const char *shell_thread_cwd(void)
{
	const struct shell *sh = current_thread()->shell;

	return sh ? sh->cwd : "/";
}

int sh_run_command(struct shell *sh, const struct command *command, int argc, char **argv,
		   const struct sh_io *io)
{
	const struct shell *outer = current_thread()->shell;
	struct command_env *env = kzalloc(sizeof(*env));
	int status;

	if (!env) {
		sh_complain(io, "%s: Out of memory", argv[0]);
		return 1;
	}
	env->in = io->fd[0];
	env->out = io->fd[1];
	env->err = io->fd[2];
	env->shell = sh;
	env->name = argv[0];
	env->is_builtin = command->flags & COMMAND_BUILTIN;
	current_thread()->shell = sh;
	status = sh_finish_output(env, io, command->run(env, argc, argv));
	current_thread()->shell = outer;
	if (status == COMMAND_USAGE) {
		sh_print_usage(command, io);
		status = 2;
	}
	if (thread_interrupted())
		status = COMMAND_SIGINT;
	kfree(env);
	return status;
}

/* Is there enough stack to run a text whose commands are nested as deeply as they may be? */
static bool sh_has_stack(void)
{
	uintptr_t lowest = (uintptr_t)current_thread()->stack;

	return (uintptr_t)__builtin_frame_address(0) - lowest >= TEXT_STACK_BYTES;
}

int sh_run_text(struct shell *sh, const char *text, size_t len, const struct sh_io *io)
{
	struct sh_arena arena = { 0 };
	struct sh_node *tree;
	int err;

	if (!sh_has_stack()) {
		sh_complain(io, "files and shells nested too deeply");
		return sh->status = 2;
	}
	err = sh_parse(&arena, text, len, &tree, sh->error);
	if (err) {
		sh_complain(io, "%s", sh->error);
		sh->status = err == -ENOMEM ? 1 : 2;
	} else if (tree) {
		sh_exec(sh, tree, io);
	}
	sh_arena_free(&arena);
	return sh->status;
}

/* Read all that comes from the pipe into the arena, with room for a NUL. 0 or -errno. */
static int sh_read_all(struct file *file, struct sh_arena *arena, char **out_text, size_t *out_len)
{
	size_t size = CAPTURE_START_BYTES, len = 0;
	char *text = sh_alloc(arena, size);
	ssize_t got = 1;

	while (text && got > 0) {
		if (len + 1 == size) {
			char *bigger = sh_alloc(arena, 2 * size);

			if (!bigger)
				return -ENOMEM;
			memcpy(bigger, text, len);
			text = bigger;
			size *= 2;
		}
		got = file_read(file, text + len, size - len - 1);
		if (got > 0)
			len += (size_t)got;
	}
	*out_text = text;
	*out_len = len;
	return text ? (int)got : -ENOMEM;
}

int sh_capture(const struct sh_expansion *ex, const char *text, size_t len, char **out_text)
{
	const struct sh_task task = { .name = "sh", .text = text, .text_len = len };
	struct sh_io io = *ex->io;
	struct file *read_end;
	struct sh_job *job;
	size_t out_len = 0;
	int err = pipe_create(&read_end, &io.fd[1]);

	if (err)
		return err;
	job = sh_start(ex->sh, &task, &io);
	fput(io.fd[1]);
	err = job ? sh_read_all(read_end, ex->arena, out_text, &out_len) : -ENOMEM;
	fput(read_end);
	if (job)
		ex->sh->capture_status = sh_wait(job);
	if (err)
		return err;
	if (thread_interrupted())
		return -EINTR;
	while (out_len && (*out_text)[out_len - 1] == '\n')
		out_len--;
	(*out_text)[out_len] = '\0';
	return 0;
}
