/*
 * mount and umount. See vfs_mount().
 */
#include <kernel/string.h>
#include "command_tables.h"

#define MOUNT_FAILED 32 /* the status of mount(8) when the kernel refuses */

static int cmd_list_mounts(struct command_env *env, const char *type)
{
	char path[VFS_PATH_MAX], options[VFS_OPTIONS_MAX];
	const char *name;

	for (uint32_t i = 0; (name = vfs_mount_get(i, path, options)) != NULL; i++) {
		if (!type || strcmp(type, name) == 0)
			command_printf(env, "%s on %s type %s (rw,relatime%s)\n", name, path, name,
				       options);
	}
	return 0;
}

static void cmd_complain(struct command_env *env, const char *path, const char *type, int err)
{
	switch (err) {
	case -ENODEV:
		command_error(env, "%s: unknown filesystem type '%s'.", path, type);
		break;
	case -EPERM:
		command_error(env, "%s: %s has its place already, see `mount`", path, type);
		break;
	case -EBUSY:
		command_error(env, "%s: something else is mounted there", path);
		break;
	case -ENOENT:
		command_error(env, "%s: mount point does not exist.", path);
		break;
	case -ENOTDIR:
		command_error(env, "%s: mount point is not a directory.", path);
		break;
	case -ENOSPC:
		command_error(env, "%s: too many mounts", path);
		break;
	default:
		command_perror(env, path, err);
		break;
	}
}

/* The options of -o: see vfs_mount_option(). */
struct mount_options {
	bool is_remount;
	unsigned int which; /* VFS_SET_* */
	struct vfs_stat owner;
};

static void cmd_take_options(char *text, struct mount_options *options)
{
	for (char *option = text, *end; option; option = end) {
		end = strchr(option, ',');
		if (end)
			*end++ = '\0';
		if (strcmp(option, "remount") == 0)
			options->is_remount = true;
		else
			vfs_mount_option(option, &options->which, &options->owner);
	}
}

/* Mount, if it is not there yet; then give its files the owners of the options. */
static int cmd_mount_at(struct command_env *env, const char *path, const char *type,
			const struct mount_options *options)
{
	const char *cwd = command_cwd(env);
	int err = options->is_remount ? 0 : vfs_mount(cwd, path, type);

	if (!err && (options->is_remount || options->which))
		err = vfs_remount(cwd, path, options->which, &options->owner);
	if (err == -EINVAL)
		command_error(env, "%s: not mounted.", path);
	else if (err)
		cmd_complain(env, path, type, err);
	return err ? MOUNT_FAILED : 0;
}

/* The NAME of the device is ignored. A mount that is made anew may be named by its directory alone. */
static int cmd_mount(struct command_env *env, int argc, char **argv)
{
	const char *type = NULL, *words[2] = { NULL, NULL };
	struct mount_options options = { 0 };
	int nr_words = 0;

	for (int i = 1; i < argc; i++) {
		bool has_value =
			argv[i][0] == '-' && argv[i][1] && !argv[i][2] && strchr("to", argv[i][1]);

		if (has_value && i + 1 < argc) {
			i++;
			if (argv[i - 1][1] == 't')
				type = argv[i];
			else
				cmd_take_options(argv[i], &options);
		} else if (argv[i][0] == '-' || nr_words == 2) {
			return COMMAND_USAGE;
		} else {
			words[nr_words++] = argv[i];
		}
	}
	if (!nr_words)
		return cmd_list_mounts(env, type);
	if (!options.is_remount && (!type || nr_words < 2))
		return COMMAND_USAGE;
	return cmd_mount_at(env, words[nr_words - 1], type, &options);
}

static int cmd_umount(struct command_env *env, int argc, char **argv)
{
	int status = 0;

	if (argc < 2)
		return COMMAND_USAGE;
	for (int i = 1; i < argc; i++) {
		int err = vfs_umount(command_cwd(env), argv[i]);

		if (!err)
			continue;
		if (err == -EBUSY)
			command_error(env, "%s: target is busy.", argv[i]);
		else if (err == -EINVAL)
			command_error(env, "%s: not mounted.", argv[i]);
		else
			command_perror(env, argv[i], err);
		status = MOUNT_FAILED;
	}
	return status;
}

const struct command mount_commands[] = {
	{ "mount", "[-t TYPE [-o OPTIONS] NAME DIR] | -o remount[,uid=N][,gid=N] DIR",
	  "list the mounts; put tracefs or tmpfs into a directory", cmd_mount, 0 },
	{ "umount", "DIR...", "take away what mount has put there", cmd_umount, 0 },
	{ 0 },
};
