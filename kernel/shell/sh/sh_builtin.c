/*
 * Commands that change the shell they run in.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "shell/cmd/command_tables.h"
#include "sh.h"

#define HOME "/sys/kernel/tracing"

/* Is `path` a directory? 0 or -errno. */
static int builtin_check_directory(const struct shell *sh, const char *path)
{
	struct vfs_stat stat;
	int err = vfs_stat(sh->cwd, path, &stat);

	if (err)
		return err;
	return stat.type == VFS_DIRECTORY ? 0 : -ENOTDIR;
}

static int builtin_cd(struct command_env *env, int argc, char **argv)
{
	struct shell *sh = env->shell;
	const char *path = argc > 1 ? argv[1] : HOME;
	char full[VFS_PATH_MAX];
	int err;

	if (argc > 2)
		return COMMAND_USAGE;
	if (strcmp(path, "-") == 0) {
		path = sh_var_get(sh, "OLDPWD", 6);
		path = path ? path : sh->cwd;
		command_printf(env, "%s\n", path);
	}
	err = builtin_check_directory(sh, path);
	if (!err)
		err = vfs_resolve(sh->cwd, path, full);
	if (err) {
		command_error(env, "can't cd to %s: %s", path, command_strerror(err));
		return 1;
	}
	sh_var_set(sh, "OLDPWD", 6, sh->cwd);
	strlcpy(sh->cwd, full, sizeof(sh->cwd));
	return 0;
}

static int builtin_pwd(struct command_env *env, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	command_printf(env, "%s\n", env->shell->cwd);
	return 0;
}

static int builtin_exit(struct command_env *env, int argc, char **argv)
{
	uint64_t status = (uint64_t)env->shell->status;

	if (argc > 2 || (argc == 2 && !command_parse_u64(argv[1], &status)))
		return COMMAND_USAGE;
	env->shell->flow = SH_FLOW_EXIT;
	return (int)(status & 0xff);
}

static int builtin_leave_loops(struct command_env *env, int argc, char **argv, enum sh_flow flow)
{
	struct shell *sh = env->shell;
	uint64_t loops = 1;

	if (argc > 2 || (argc == 2 && (!command_parse_u64(argv[1], &loops) || !loops)))
		return COMMAND_USAGE;
	if (!sh->loop_depth)
		return 0;
	sh->flow = flow;
	sh->flow_loops = loops < sh->loop_depth ? (uint32_t)loops : sh->loop_depth;
	return 0;
}

static int builtin_break(struct command_env *env, int argc, char **argv)
{
	return builtin_leave_loops(env, argc, argv, SH_FLOW_BREAK);
}

static int builtin_continue(struct command_env *env, int argc, char **argv)
{
	return builtin_leave_loops(env, argc, argv, SH_FLOW_CONTINUE);
}

static void builtin_print_var(const char *name, const char *value, void *arg)
{
	command_printf(arg, "%s='%s'\n", name, value);
}

static int builtin_set(struct command_env *env, int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return COMMAND_USAGE;
	sh_var_each(env->shell, builtin_print_var, env);
	return 0;
}

static int builtin_export(struct command_env *env, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *end = argv[i] + strlen(argv[i]);
		size_t len = sh_name_len(argv[i], end);

		if (!len || (argv[i][len] != '=' && argv[i][len] != '\0')) {
			command_error(env, "%s: bad variable name", argv[i]);
			return 2;
		}
		if (argv[i][len] == '=' && sh_var_set(env->shell, argv[i], len, argv[i] + len + 1))
			return 1;
	}
	return 0;
}

static int builtin_unset(struct command_env *env, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		sh_var_unset(env->shell, argv[i]);
	return 0;
}

#define READ_START_BYTES 256u
#define READ_BYTES_MAX	 65536u

struct line_buf {
	char *text;
	size_t len;
	size_t size;
};

static int builtin_add_byte(struct line_buf *line, char c)
{
	if (line->len == line->size) {
		size_t size = line->size ? 2 * line->size : READ_START_BYTES;
		char *bigger;

		if (size > READ_BYTES_MAX)
			return -EMSGSIZE;
		bigger = kmalloc(size);
		if (!bigger)
			return -ENOMEM;
		memcpy(bigger, line->text, line->len);
		kfree(line->text);
		line->text = bigger;
		line->size = size;
	}
	line->text[line->len++] = c;
	return 0;
}

/*
 * Read one line, byte by byte, because the bytes behind it are for the next reader. 1; 0 when the
 * input ended first; -errno. A line for which there is no memory is read to its end, too.
 */
static int builtin_read_line(struct command_env *env, struct line_buf *line, bool is_raw)
{
	int err = 0, keep_err = 0;
	char c = '\0';

	while ((err = (int)file_read(env->in, &c, 1)) == 1 && (c != '\n')) {
		if (c == '\\' && !is_raw) {
			err = (int)file_read(env->in, &c, 1);
			if (err != 1)
				break;
			if (c == '\n')
				continue;
		}
		if (!keep_err)
			keep_err = builtin_add_byte(line, c);
	}
	if (!keep_err)
		keep_err = builtin_add_byte(line, '\0');
	return keep_err ? keep_err : err;
}

static char *builtin_skip_blanks(char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

/*
 * Set a variable to each word of the line; the last one gets the rest of the line. Cuts up `line`.
 */
static void builtin_assign_words(struct shell *sh, char *line, int nr_names, char **names)
{
	for (int i = 0; i < nr_names; i++) {
		char *word = builtin_skip_blanks(line);
		char *end = word;

		if (i + 1 < nr_names) {
			while (*end && *end != ' ' && *end != '\t')
				end++;
			line = *end ? end + 1 : end;
		} else {
			end += strlen(end);
			while (end > word && (end[-1] == ' ' || end[-1] == '\t'))
				end--;
		}
		*end = '\0';
		sh_var_set(sh, names[i], strlen(names[i]), word);
	}
}

static int builtin_read(struct command_env *env, int argc, char **argv)
{
	static char default_name[] = "REPLY";
	char *only_default[] = { default_name };
	bool is_raw = argc > 1 && strcmp(argv[1], "-r") == 0;
	int nr_names = argc - 1 - is_raw;
	char **names = nr_names ? argv + 1 + is_raw : only_default;
	struct line_buf line = { 0 };
	int got = builtin_read_line(env, &line, is_raw);

	if (got >= 0)
		builtin_assign_words(env->shell, line.text, nr_names ? nr_names : 1, names);
	else if (got != -EINTR)
		command_error(env, "%s", command_strerror(got));
	kfree(line.text);
	return got != 1;
}

static int builtin_colon(struct command_env *env, int argc, char **argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	return 0;
}

static int builtin_false(struct command_env *env, int argc, char **argv)
{
	(void)env;
	(void)argc;
	(void)argv;
	return 1;
}

const struct command state_commands[] = {
	{ ":", "", "do nothing, successfully", builtin_colon, COMMAND_BUILTIN },
	{ "break", "[N]", "leave N loops", builtin_break, COMMAND_BUILTIN },
	{ "cd", "[DIR | -]", "change the current directory", builtin_cd, COMMAND_BUILTIN },
	{ "continue", "[N]", "begin the next round of a loop", builtin_continue, COMMAND_BUILTIN },
	{ "exit", "[STATUS]", "end the shell", builtin_exit, COMMAND_BUILTIN },
	{ "export", "[NAME[=VALUE]]...", "set variables", builtin_export, COMMAND_BUILTIN },
	{ "false", "", "do nothing, unsuccessfully", builtin_false, COMMAND_BUILTIN },
	{ "pwd", "", "print the current directory", builtin_pwd, COMMAND_BUILTIN },
	{ "read", "[-r] [NAME]...", "read a line into variables", builtin_read, COMMAND_BUILTIN },
	{ "set", "", "list the variables", builtin_set, COMMAND_BUILTIN },
	{ "true", "", "do nothing, successfully", builtin_colon, COMMAND_BUILTIN },
	{ "unset", "NAME...", "forget variables", builtin_unset, COMMAND_BUILTIN },
	{ 0 },
};
