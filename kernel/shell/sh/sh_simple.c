/*
 * Simple commands: expands words and assignments, redirects files, and runs the command here or in
 * a thread of its own. See sh.h.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include "sh.h"

int sh_fail_status(const struct shell *sh, const struct sh_io *io, int err)
{
	if (err == -EINTR)
		return COMMAND_SIGINT;
	if (err == -EINVAL)
		sh_complain(io, "%s", sh->error);
	else
		sh_complain(io, "%s", command_strerror(err));
	return err == -EINVAL ? 2 : 1;
}

/* The value of a variable before a command with an assignment in front, to be restored after it. */
struct saved_var {
	struct saved_var *next;
	char *name;
	char *value; /* NULL: there was none */
};

static int sh_save_var(struct shell *sh, struct sh_arena *arena, const char *name, size_t name_len,
		       struct saved_var **list)
{
	const char *value = sh_var_get(sh, name, name_len);
	struct saved_var *saved = sh_alloc(arena, sizeof(*saved));

	if (!saved)
		return -ENOMEM;
	saved->name = sh_copy(arena, name, name_len);
	saved->value = value ? sh_copy(arena, value, strlen(value)) : NULL;
	if (!saved->name || (value && !saved->value))
		return -ENOMEM;
	saved->next = *list;
	*list = saved;
	return 0;
}

/*
 * The list begins with the newest, so a variable that was assigned twice gets its first value back.
 */
static void sh_restore_vars(struct shell *sh, const struct saved_var *list)
{
	for (; list; list = list->next) {
		size_t len = strlen(list->name);

		if (!list->value || sh_var_set(sh, list->name, len, list->value))
			sh_var_unset(sh, list->name);
	}
}

static int sh_assign_all(const struct sh_expansion *ex, const struct sh_word *assigns,
			 struct saved_var **saved)
{
	for (; assigns; assigns = assigns->next) {
		const char *text = assigns->text;
		size_t len = strlen(text);
		size_t name_len = sh_name_len(text, text + len);
		char *value;
		int err = sh_expand_text(ex, text + name_len + 1, len - name_len - 1, &value);

		if (!err)
			err = sh_save_var(ex->sh, ex->arena, text, name_len, saved);
		if (!err)
			err = sh_var_set(ex->sh, text, name_len, value);
		if (err)
			return err;
	}
	return 0;
}

int sh_close_status(const struct sh_io *io, int err, int status)
{
	if (!err)
		return status;
	if (err != -EINTR)
		sh_complain(io, "write error: %s", command_strerror(err));
	return status ? status : 1;
}

static int sh_run_in_thread(struct shell *sh, const struct sh_task *task, const struct sh_io *io)
{
	struct sh_job *job;

	if (sh->runs_in_place) {
		thread_set_name(current_thread(), task->name);
		return sh_run_command(sh, task->command, task->argc, task->argv, io);
	}
	job = sh_start(sh, task, io);
	if (!job) {
		sh_complain(io, "can't start %s: %s", task->name, command_strerror(ENOMEM));
		return 1;
	}
	return sh_wait(job);
}

static char **sh_make_argv(struct sh_arena *arena, const struct sh_fields *fields)
{
	char **argv = sh_alloc(arena, (fields->nr + 1) * sizeof(*argv));
	uint32_t i = 0;

	for (struct sh_word *word = fields->first; argv && word; word = word->next)
		argv[i++] = word->text;
	return argv;
}

static TRACE_NOINLINE int sh_run_fields(struct shell *sh, struct sh_arena *arena,
					const struct sh_fields *fields, const struct sh_io *io)
{
	struct sh_task task = { .argc = (int)fields->nr };

	task.argv = sh_make_argv(arena, fields);
	if (!task.argv)
		return sh_fail_status(sh, io, -ENOMEM);
	task.name = task.argv[0];
	task.command = sh_find_command(sh, task.argc, task.argv);
	if (!task.command || !task.command->run) {
		sh_complain(io, "%s: command not found", task.name);
		return COMMAND_NOT_FOUND;
	}
	if (task.command->flags & COMMAND_BUILTIN)
		return sh_run_command(sh, task.command, task.argc, task.argv, io);
	return sh_run_in_thread(sh, &task, io);
}

static int sh_run_redirected(const struct sh_expansion *ex, const struct sh_node *node,
			     const struct sh_fields *fields)
{
	struct shell *sh = ex->sh;
	struct sh_io files;
	int err = sh_redirect(ex, node->redirs, ex->io, &files);
	int status;

	if (err)
		return err == -EINTR ? COMMAND_SIGINT : 1;
	status = fields->nr ? sh_run_fields(sh, ex->arena, fields, &files) : sh->capture_status;
	return sh_close_status(ex->io, sh_io_put(&files), status);
}

/* Assignments in front of a command end with it; those without a command stay. */
static TRACE_NOINLINE int sh_exec_simple_in(struct shell *sh, const struct sh_node *node,
					    const struct sh_io *io, struct sh_arena *arena)
{
	const struct sh_expansion ex = { .sh = sh, .io = io, .arena = arena, .error = sh->error };
	struct saved_var *saved = NULL;
	struct sh_fields fields;
	int status, err;

	sh->capture_status = 0;
	err = sh_expand_words(&ex, node->words, &fields);
	if (!err)
		err = sh_assign_all(&ex, node->assigns, &saved);
	status = err ? sh_fail_status(sh, io, err) : sh_run_redirected(&ex, node, &fields);
	if (err || fields.nr)
		sh_restore_vars(sh, saved);
	return status;
}

int sh_exec_simple(struct shell *sh, const struct sh_node *node, const struct sh_io *io)
{
	struct sh_arena arena = { 0 };
	int status = sh_exec_simple_in(sh, node, io, &arena);

	sh_arena_free(&arena);
	return status;
}
