/*
 * Programs as commands of the shell. All variables of the shell are the program's environment, with some
 * that programs expect.
 */
#include <kernel/command.h>
#include <kernel/mm.h>
#include <kernel/process.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "sh.h"

#define CANNOT_RUN 126

/* An environment that is made in two passes: the first counts, the second fills. */
struct env_maker {
	char **envp;
	char *text;
	size_t nr, bytes;
};

static void program_env_add(const char *name, const char *value, void *arg)
{
	struct env_maker *maker = arg;
	size_t name_len = strlen(name), len = strlen(value);

	if (maker->envp) {
		char *to = maker->text + maker->bytes;

		maker->envp[maker->nr] = to;
		trace_scnprintf(to, name_len + len + 2, "%s=%s", name, value);
	}
	maker->nr++;
	maker->bytes += name_len + len + 2;
}

static void program_env_add_all(const struct shell *sh, struct env_maker *maker)
{
	static const char *const defaults[][2] = {
		{ "PATH", "/bin:/sbin:/usr/bin:/usr/sbin" },
		{ "HOME", "/" },
		{ "TERM", "vt100" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		if (!sh_var_get(sh, defaults[i][0], strlen(defaults[i][0])))
			program_env_add(defaults[i][0], defaults[i][1], maker);
	}
	sh_var_each(sh, program_env_add, maker);
}

/* For kfree(); NULL when out of memory. */
static char **program_env_create(const struct shell *sh)
{
	struct env_maker maker = { 0 };
	size_t pointers;

	program_env_add_all(sh, &maker);
	pointers = (maker.nr + 1) * sizeof(char *);
	maker.envp = kmalloc(pointers + maker.bytes);
	if (!maker.envp)
		return NULL;
	maker.text = (char *)maker.envp + pointers;
	maker.nr = maker.bytes = 0;
	program_env_add_all(sh, &maker);
	maker.envp[maker.nr] = NULL;
	return maker.envp;
}

/* A missing program of a kernel that was booted without any. */
static bool program_is_none(void)
{
	struct vfs_stat stat;

	return vfs_stat("/", "/bin", &stat) == -ENOENT;
}

static int program_fail(const struct command_env *env, int err)
{
	struct sh_io io = { .fd = { env->in, env->out, env->err } };

	if (err == -ENOSYS)
		sh_complain(&io, "%s: this kernel is built without programs", env->name);
	else if (err == -ENOENT && program_is_none())
		sh_complain(&io, "%s: no programs: this kernel was booted without a file tree",
			    env->name);
	else
		sh_complain(&io, "%s: %s", env->name, command_strerror(err));
	return err == -ENOENT ? COMMAND_NOT_FOUND : CANNOT_RUN;
}

static int program_run_command(struct command_env *env, int argc, char **argv)
{
	struct file *const files[] = { env->in, env->out, env->err };
	char path[VFS_PATH_MAX];
	struct program program = {
		.path = path, .argv = argv, .cwd = env->shell->cwd, .files = files
	};
	char **envp = program_env_create(env->shell);
	int status, err = envp ? program_find(argv[0], env->shell->cwd, path) : -ENOMEM;

	(void)argc;
	program.envp = envp;
	if (!err)
		err = program_run(&program, &status);
	kfree(envp);
	return err ? program_fail(env, err) : status;
}

/* A name that is no file is one of busybox, which runs the program by the name that it is called by. */
static int program_find_init(const char *path, char *out_path)
{
	int err = program_find(path, "/", out_path);

	return err == -ENOENT ? program_find("busybox", "/", out_path) : err;
}

int sh_run_init(const struct shell *sh, const char *path, const struct sh_io *io)
{
	char *const argv[] = { (char *)(uintptr_t)path, NULL };
	char full[VFS_PATH_MAX], **envp = program_env_create(sh);
	struct program program = { .path = full,
				   .argv = argv,
				   .envp = envp,
				   .cwd = "/",
				   .files = io->fd,
				   .is_init = true };
	int status = 0, err = envp ? program_find_init(path, full) : -ENOMEM;

	if (!err)
		err = program_run(&program, &status);
	kfree(envp);
	return err ? err : status;
}

static const struct command program_command = { .name = "program", .run = program_run_command };

const struct command *sh_find_program(const struct shell *sh, const char *name)
{
	char path[VFS_PATH_MAX];

	if (strchr(name, '/') || strcmp(name, "busybox") == 0)
		return &program_command;
	return program_find(name, sh->cwd, path) == 0 ? &program_command : NULL;
}

/* Is the first argument not the one with which the usage begins? */
static bool program_takes_word(const struct command *command, int argc, char **argv)
{
	size_t len;

	if (!(command->flags & COMMAND_ONE_WORD) || argc < 2)
		return false;
	len = strlen(argv[1]);
	return strncmp(command->usage, argv[1], len) != 0 || command->usage[len] != ' ';
}

const struct command *sh_find_command(const struct shell *sh, int argc, char **argv)
{
	const struct command *command = command_find(argv[0]), *program;

	if (command && !program_takes_word(command, argc, argv))
		return command;
	program = sh_find_program(sh, argv[0]);
	return program ? program : command;
}
