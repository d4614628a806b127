/*
 * sysctl: shows and changes the settings in /proc/sys, by names such as `kernel.ftrace_enabled`.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "command_tables.h"
#include "tree.h"

#define SYSCTL_DIR   "/proc/sys/"
#define SYSCTL_BYTES 256

struct sysctl {
	struct command_env *env;
	bool only_values; /* -n */
	bool only_names;  /* -N */
	bool is_quiet;	  /* -q: nothing is printed after a change */
	bool all;	  /* -a */
	bool writes;	  /* -w: every argument must be NAME=VALUE */
};

/* Turn a name, which has dots, into a path, which has slashes, or the reverse. */
static void sysctl_swap(char *text, char from, char to)
{
	for (; *text; text++) {
		if (*text == from)
			*text = to;
	}
}

static void sysctl_print(const struct sysctl *sysctl, const char *name, const char *value)
{
	if (sysctl->only_names)
		command_printf(sysctl->env, "%s\n", name);
	else if (sysctl->only_values)
		command_printf(sysctl->env, "%s\n", value);
	else
		command_printf(sysctl->env, "%s = %s\n", name, value);
}

/* Read a setting into `out_value`, SYSCTL_BYTES large, without the newline. 0 or -errno. */
static int sysctl_read(const char *path, char *out_value)
{
	struct file *file;
	ssize_t got;
	int err = vfs_open("/", path, VFS_READ, &file);

	if (err)
		return err;
	got = file_read(file, out_value, SYSCTL_BYTES - 1);
	fput(file);
	if (got < 0)
		return (int)got;
	if (got && out_value[got - 1] == '\n')
		got--;
	out_value[got] = '\0';
	return 0;
}

static int sysctl_write(const char *path, const char *value)
{
	struct file *file;
	ssize_t put;
	int err = vfs_open("/", path, VFS_WRITE | VFS_TRUNCATE, &file);

	if (err)
		return err;
	put = file_write(file, value, strlen(value));
	err = fput(file);
	return put < 0 ? (int)put : err;
}

/*
 * Show the setting `name`, or change it to `value` unless that is NULL. The name may have slashes
 * instead of dots. Returns the exit status.
 */
static int sysctl_one(const struct sysctl *sysctl, char *name, const char *value)
{
	char path[VFS_PATH_MAX], old[SYSCTL_BYTES];
	int err;

	sysctl_swap(name, '.', '/');
	trace_scnprintf(path, sizeof(path), SYSCTL_DIR "%s", name);
	sysctl_swap(name, '/', '.');
	err = value ? sysctl_write(path, value) : sysctl_read(path, old);
	if (err == -ENOENT || err == -ENOTDIR) {
		command_error(sysctl->env, "cannot stat %s: %s", path, command_strerror(ENOENT));
		return 1;
	}
	if (err) {
		command_error(sysctl->env, "%s key '%s': %s", value ? "setting" : "reading", name,
			      command_strerror(err));
		return 1;
	}
	if (!value || !sysctl->is_quiet)
		sysctl_print(sysctl, name, value ? value : old);
	return 0;
}

static int sysctl_all(const struct sysctl *sysctl)
{
	struct tree *tree = kmalloc(sizeof(*tree));
	char value[SYSCTL_BYTES];
	int err = tree ? tree_start(tree, "/", "/proc/sys") : -ENOMEM;

	while (!err && !command_stopped(sysctl->env) && tree_next(tree)) {
		if (tree->stat.type == VFS_DIRECTORY || sysctl_read(tree->path, value))
			continue;
		sysctl_swap(tree->path, '/', '.');
		sysctl_print(sysctl, tree->path + strlen(SYSCTL_DIR), value);
		sysctl_swap(tree->path, '.', '/');
	}
	if (err)
		command_perror(sysctl->env, "/proc/sys", err);
	kfree(tree);
	return err != 0;
}

static bool sysctl_option(struct sysctl *sysctl, char letter)
{
	switch (letter) {
	case 'a':
		return sysctl->all = true;
	case 'n':
		return sysctl->only_values = true;
	case 'N':
		return sysctl->only_names = true;
	case 'q':
		return sysctl->is_quiet = true;
	case 'w':
		return sysctl->writes = true;
	default:
		return false;
	}
}

static int cmd_sysctl(struct command_env *env, int argc, char **argv)
{
	struct sysctl sysctl = { .env = env };
	int status = 0, first = 1;

	for (; first < argc && argv[first][0] == '-'; first++) {
		for (const char *c = argv[first] + 1; *c; c++) {
			if (!sysctl_option(&sysctl, *c))
				return COMMAND_USAGE;
		}
	}
	if (sysctl.all ? first < argc : first == argc)
		return COMMAND_USAGE;
	if (sysctl.all)
		return sysctl_all(&sysctl);
	for (int i = first; i < argc; i++) {
		char *equals = strchr(argv[i], '=');

		if (sysctl.writes && !equals) {
			command_error(env, "\"%s\" must be of the form name=value", argv[i]);
			status = 1;
			continue;
		}
		if (equals)
			*equals++ = '\0';
		status |= sysctl_one(&sysctl, argv[i], equals);
	}
	return status;
}

const struct command sysctl_commands[] = {
	{ "sysctl", "[-nNqw] NAME[=VALUE]... | -a", "show or set what is in /proc/sys", cmd_sysctl,
	  0 },
	{ 0 },
};
