/*
 * mount and umount. See vfs_mount().
 */
#include <kernel/string.h>
#include "command_tables.h"

#define MOUNT_FAILED 32 /* what mount(8) ends with when the kernel refuses */

static int cmd_list_mounts(struct command_env *env, const char *type)
{
	char path[VFS_PATH_MAX];
	const char *name;

	for (uint32_t i = 0; (name = vfs_mount_get(i, path)) != NULL; i++) {
		if (!type || strcmp(type, name) == 0)
			command_printf(env, "%s on %s type %s (rw)\n", name, path, name);
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

/* What -o says is ignored: there are no options. The NAME of the device is ignored, too. */
static int cmd_mount(struct command_env *env, int argc, char **argv)
{
	const char *type = NULL, *words[2] = { NULL, NULL };
	int nr_words = 0, err;

	for (int i = 1; i < argc; i++) {
		bool has_value =
			argv[i][0] == '-' && argv[i][1] && !argv[i][2] && strchr("to", argv[i][1]);

		if (has_value && i + 1 < argc) {
			type = argv[i][1] == 't' ? argv[i + 1] : type;
			i++;
		} else if (argv[i][0] == '-' || nr_words == 2) {
			return COMMAND_USAGE;
		} else {
			words[nr_words++] = argv[i];
		}
	}
	if (!nr_words)
		return cmd_list_mounts(env, type);
	if (!type || nr_words < 2)
		return COMMAND_USAGE;
	err = vfs_mount(command_cwd(env), words[1], type);
	if (err)
		cmd_complain(env, words[1], type, err);
	return err ? MOUNT_FAILED : 0;
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
	{ "mount", "[-t TYPE [-o OPTIONS] NAME DIR]",
	  "list the mounts; put tracefs into a directory", cmd_mount, 0 },
	{ "umount", "DIR...", "take away what mount has put there", cmd_umount, 0 },
	{ 0 },
};
