/*
 * Commands about names: ls, mkdir, rmdir, rm, touch.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "command_tables.h"
#include "shell/sh/sh.h"
#include "shell/line/terminal.h"

#define COLUMN_GAP 2

struct ls {
	struct command_env *env;
	bool is_long;
	bool shows_hidden;
	bool one_per_line;
	bool only_directory; /* -d */
	bool marks_types;    /* -F */
	int nr_failed;
};

static char cmd_type_letter(enum vfs_type type)
{
	static const char letters[] = {
		[VFS_REGULAR] = '-', [VFS_DIRECTORY] = 'd', [VFS_DEVICE] = 'c', [VFS_PIPE] = 'p',
		[VFS_LINK] = 'l',    [VFS_SOCKET] = 's',    [VFS_BLOCK] = 'b',
	};

	return letters[type];
}

/* Only root has a name. `buf` is room for 11 characters. */
static const char *cmd_owner_name(uint32_t id, char *buf)
{
	trace_snprintf(buf, 11, "%u", id);
	return id ? buf : "root";
}

static void cmd_print_long(const struct ls *ls, const char *name, const struct vfs_stat *stat)
{
	char mode[11] = "----------", uid[11], gid[11];

	mode[0] = cmd_type_letter(stat->type);
	for (int bit = 0; bit < 9; bit++) {
		if (stat->mode & (0400u >> bit))
			mode[1 + bit] = "rwx"[bit % 3];
	}
	command_printf(ls->env, "%s %4d %-8s %-8s %9lu %s\n", mode,
		       stat->type == VFS_DIRECTORY ? 2 : 1, cmd_owner_name(stat->uid, uid),
		       cmd_owner_name(stat->gid, gid), stat->size, name);
}

/* The names are sorted down the columns. A column is as wide as the longest name. */
static void cmd_print_columns(const struct ls *ls, const struct sh_fields *names)
{
	size_t width = 1, nr_columns, nr_rows;

	for (struct sh_word *word = names->first; word; word = word->next) {
		size_t len = strlen(word->text) + COLUMN_GAP;

		width = len > width ? len : width;
	}
	nr_columns = width < terminal_columns() ? terminal_columns() / width : 1;
	nr_rows = (names->nr + nr_columns - 1) / nr_columns;
	for (size_t row = 0; row < nr_rows && !command_stopped(ls->env); row++) {
		size_t i = 0;

		for (struct sh_word *word = names->first; word; word = word->next, i++) {
			if (i % nr_rows != row)
				continue;
			if (i + nr_rows < names->nr)
				command_printf(ls->env, "%-*s", (int)width, word->text);
			else
				command_printf(ls->env, "%s\n", word->text);
		}
	}
}

static void cmd_print_names(const struct ls *ls, const struct sh_fields *names)
{
	if (!ls->one_per_line && ls->env->out->ops->is_console) {
		cmd_print_columns(ls, names);
		return;
	}
	for (struct sh_word *word = names->first; word; word = word->next)
		command_printf(ls->env, "%s\n", word->text);
}

static int cmd_list_entry_of(struct ls *ls, const char *dir, const char *name,
			     struct sh_arena *arena, struct sh_fields *names)
{
	char path[VFS_PATH_MAX];
	struct vfs_stat stat;

	trace_snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (vfs_lstat(command_cwd(ls->env), path, &stat))
		return 0;
	if (ls->is_long) {
		cmd_print_long(ls, name, &stat);
		return 0;
	}
	trace_snprintf(path, sizeof(path), "%s%s", name,
		       ls->marks_types && stat.type == VFS_DIRECTORY ? "/" : "");
	return sh_fields_add(names, arena, path, strlen(path));
}

static void cmd_list_directory(struct ls *ls, const char *dir)
{
	struct sh_arena arena = { 0 };
	struct sh_fields names;
	char name[VFS_NAME_MAX];
	int err = 0;

	sh_fields_init(&names);
	for (uint32_t i = 0; !err && !command_stopped(ls->env); i++) {
		if (vfs_entry(command_cwd(ls->env), dir, i, name))
			break;
		if (name[0] != '.' || ls->shows_hidden)
			err = cmd_list_entry_of(ls, dir, name, &arena, &names);
	}
	if (err) {
		command_perror(ls->env, dir, err);
		ls->nr_failed++;
	}
	cmd_print_names(ls, &names);
	sh_arena_free(&arena);
}

/* List those arguments that are directories, or the others. The caller lists the others first. */
static void cmd_list_arguments(struct ls *ls, int nr, char **paths, bool dirs)
{
	for (int i = 0; i < nr; i++) {
		struct vfs_stat stat;
		int err = vfs_stat(command_cwd(ls->env), paths[i], &stat);
		bool is_dir = !err && stat.type == VFS_DIRECTORY && !ls->only_directory;

		if (err && !dirs) {
			command_perror(ls->env, paths[i], err);
			ls->nr_failed++;
		}
		if (err || is_dir != dirs)
			continue;
		if (!dirs && ls->is_long) {
			cmd_print_long(ls, paths[i], &stat);
		} else if (!dirs) {
			command_printf(ls->env, "%s\n", paths[i]);
		} else {
			if (nr > 1)
				command_printf(ls->env, "%s%s:\n", i ? "\n" : "", paths[i]);
			cmd_list_directory(ls, paths[i]);
		}
	}
}

static bool cmd_set_ls_option(struct ls *ls, char option)
{
	switch (option) {
	case 'l':
		return ls->is_long = true;
	case 'a':
	case 'A':
		return ls->shows_hidden = true;
	case '1':
		return ls->one_per_line = true;
	case 'd':
		return ls->only_directory = true;
	case 'F':
	case 'p':
		return ls->marks_types = true;
	default:
		return false;
	}
}

static int cmd_ls(struct command_env *env, int argc, char **argv)
{
	static char here[] = ".";
	char *only_here[] = { here };
	struct ls ls = { .env = env };
	int first = 1;

	for (; first < argc && argv[first][0] == '-' && argv[first][1]; first++) {
		for (const char *c = argv[first] + 1; *c; c++) {
			if (!cmd_set_ls_option(&ls, *c))
				return COMMAND_USAGE;
		}
	}
	if (first == argc) {
		argv = only_here;
		argc = 1;
		first = 0;
	}
	cmd_list_arguments(&ls, argc - first, argv + first, false);
	cmd_list_arguments(&ls, argc - first, argv + first, true);
	return ls.nr_failed != 0;
}

/* mkdir -p: make each directory of `path` that is not there yet. 0 or -errno. */
static int cmd_make_parents(struct command_env *env, const char *path)
{
	char part[VFS_PATH_MAX];
	int err = 0;

	if (strlen(path) >= VFS_PATH_MAX)
		return -ENAMETOOLONG;
	for (size_t i = 1; i <= strlen(path) && !err; i++) {
		struct vfs_stat stat;

		if (path[i] != '/' && path[i] != '\0')
			continue;
		strlcpy(part, path, i + 1);
		err = vfs_mkdir(command_cwd(env), part);
		if (err && !vfs_stat(command_cwd(env), part, &stat))
			err = stat.type == VFS_DIRECTORY ? 0 : -ENOTDIR;
	}
	return err;
}

static int cmd_make_directory(struct command_env *env, const char *path, bool with_parents)
{
	return with_parents ? cmd_make_parents(env, path) : vfs_mkdir(command_cwd(env), path);
}

static int cmd_mkdir(struct command_env *env, int argc, char **argv)
{
	bool with_parents = argc > 1 && strcmp(argv[1], "-p") == 0;
	int status = 0;

	if (argc < 2 + with_parents)
		return COMMAND_USAGE;
	for (int i = 1 + with_parents; i < argc; i++) {
		int err = cmd_make_directory(env, argv[i], with_parents);

		if (!err)
			continue;
		command_error(env, "can't create directory '%s': %s", argv[i],
			      command_strerror(err));
		status = 1;
	}
	return status;
}

static int cmd_rmdir(struct command_env *env, int argc, char **argv)
{
	int status = 0;

	if (argc < 2)
		return COMMAND_USAGE;
	for (int i = 1; i < argc; i++) {
		int err = vfs_rmdir(command_cwd(env), argv[i]);

		if (!err)
			continue;
		command_error(env, "'%s': %s", argv[i], command_strerror(err));
		status = 1;
	}
	return status;
}

static int cmd_rm(struct command_env *env, int argc, char **argv)
{
	bool is_forced = argc > 1 && strcmp(argv[1], "-f") == 0;
	int status = 0;

	if (argc < 2)
		return COMMAND_USAGE;
	for (int i = 1 + is_forced; i < argc; i++) {
		int err = vfs_unlink(command_cwd(env), argv[i]);

		if (!err || (is_forced && err == -ENOENT))
			continue;
		command_error(env, "can't remove '%s': %s", argv[i], command_strerror(err));
		status = 1;
	}
	return status;
}

static int cmd_touch(struct command_env *env, int argc, char **argv)
{
	int status = 0;

	if (argc < 2)
		return COMMAND_USAGE;
	for (int i = 1; i < argc; i++) {
		struct file *file;
		int err = vfs_open(command_cwd(env), argv[i], VFS_WRITE | VFS_CREATE | VFS_APPEND,
				   &file);

		if (!err) {
			fput(file);
			continue;
		}
		command_perror(env, argv[i], err);
		status = 1;
	}
	return status;
}

const struct command file_commands[] = {
	{ "ls", "[-la1dF] [PATH]...", "list directories", cmd_ls, 0 },
	{ "mkdir", "[-p] DIR...", "make directories", cmd_mkdir, 0 },
	{ "rm", "[-f] FILE...", "remove files", cmd_rm, 0 },
	{ "rmdir", "DIR...", "remove empty directories", cmd_rmdir, 0 },
	{ "touch", "FILE...", "make empty files", cmd_touch, 0 },
	{ 0 },
};
