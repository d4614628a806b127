/* cp, for files, and mv, which copies only files that go to another file system. */
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/fmt.h>
#include "command_tables.h"

#define COPY_BYTES 4096u

struct copy {
	struct command_env *env;
	char *buf;		   /* COPY_BYTES */
	bool moves;		   /* mv: the source is removed */
	char target[VFS_PATH_MAX]; /* the path that the present source is copied to */
};

/* Write the first `nr` bytes of copy->buf. 0, or an error that was reported. */
static int copy_write(struct copy *copy, struct file *to, ssize_t nr)
{
	ssize_t put;

	for (ssize_t done = 0; done < nr; done += put) {
		put = file_write(to, copy->buf + done, (size_t)(nr - done));
		if (put <= 0) {
			command_error(copy->env, "error writing '%s': %s", copy->target,
				      command_strerror(put ? (int)put : EIO));
			return -EIO;
		}
	}
	return 0;
}

/* Copy all of a file; `path` is for messages. 0, -EINTR, or an error that was reported. */
static int copy_bytes(struct copy *copy, const char *path, struct file *from, struct file *to)
{
	ssize_t got;

	do {
		got = command_stopped(copy->env) ? -EINTR : file_read(from, copy->buf, COPY_BYTES);
		if (got < 0 && got != -EINTR)
			command_perror(copy->env, path, (int)got);
		if (got > 0 && copy_write(copy, to, got) != 0)
			return -EIO;
	} while (got > 0);
	return (int)got;
}

static bool cmd_is_same_file(const struct copy *copy, const char *path)
{
	char from[VFS_PATH_MAX], to[VFS_PATH_MAX];
	const char *cwd = command_cwd(copy->env);

	return !vfs_resolve(cwd, path, from) && !vfs_resolve(cwd, copy->target, to) &&
	       strcmp(from, to) == 0;
}

static int copy_into(struct copy *copy, const char *path, struct file *from)
{
	struct file *to;
	int close_err, err = vfs_open(command_cwd(copy->env), copy->target,
				      VFS_WRITE | VFS_CREATE | VFS_TRUNCATE, &to);

	if (err) {
		command_error(copy->env, "can't create '%s': %s", copy->target,
			      command_strerror(err));
		return err;
	}
	err = copy_bytes(copy, path, from, to);
	close_err = fput(to);
	if (close_err && !err) {
		command_error(copy->env, "error writing '%s': %s", copy->target,
			      command_strerror(close_err));
		err = close_err;
	}
	return err;
}

/*
 * Copy one file to copy->target; mv removes it when the target is complete. 0, -EINTR, or an error
 * that was reported.
 */
static int copy_contents(struct copy *copy, const char *path)
{
	const char *verb = copy->moves ? "move" : "copy";
	struct file *from;
	int err = vfs_open(command_cwd(copy->env), path, VFS_READ, &from);

	if (err) {
		command_error(copy->env, "can't %s '%s': %s", verb, path, command_strerror(err));
		return err;
	}
	err = copy_into(copy, path, from);
	fput(from);
	if (err || !copy->moves)
		return err;
	err = vfs_unlink(command_cwd(copy->env), path);
	if (err)
		command_error(copy->env, "can't remove '%s': %s", path, command_strerror(err));
	return err;
}

/* 0, -EINTR, or an error that was reported. */
static int copy_one(struct copy *copy, const char *path)
{
	int err;

	if (cmd_is_same_file(copy, path)) {
		command_error(copy->env, "'%s' and '%s' are the same file", path, copy->target);
		return -EINVAL;
	}
	if (!copy->moves)
		return copy_contents(copy, path);
	err = vfs_rename(command_cwd(copy->env), path, copy->target);
	if (err == -EXDEV)
		return copy_contents(copy, path);
	if (err)
		command_error(copy->env, "can't rename '%s': %s", path, command_strerror(err));
	return err;
}

/*
 * Set copy->target: `last`, or the name of `path` in `last` when that is a directory. False, after
 * a message, when this is too long.
 */
static bool cmd_set_target(struct copy *copy, const char *path, const char *last, bool is_dir)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int len = is_dir ? trace_snprintf(copy->target, VFS_PATH_MAX, "%s/%s", last, name)
			 : trace_snprintf(copy->target, VFS_PATH_MAX, "%s", last);

	if (len < VFS_PATH_MAX)
		return true;
	command_perror(copy->env, path, -ENAMETOOLONG);
	return false;
}

static int copy_all(struct copy *copy, int nr, char **paths)
{
	const char *last = paths[nr - 1];
	struct vfs_stat stat;
	bool is_dir = !vfs_stat(command_cwd(copy->env), last, &stat) && stat.type == VFS_DIRECTORY;
	int status = 0;

	if (nr > 2 && !is_dir) {
		command_error(copy->env, "target '%s' is not a directory", last);
		return 1;
	}
	for (int i = 0; i + 1 < nr && !command_stopped(copy->env); i++) {
		if (!cmd_set_target(copy, paths[i], last, is_dir) || copy_one(copy, paths[i]))
			status = 1;
	}
	return status;
}

static int cmd_copy(struct command_env *env, int argc, char **argv, bool moves)
{
	bool is_forced = argc > 1 && strcmp(argv[1], "-f") == 0;
	struct copy *copy;
	int status = 1;

	if (argc - is_forced < 3)
		return COMMAND_USAGE;
	copy = kzalloc(sizeof(*copy));
	if (copy) {
		copy->env = env;
		copy->moves = moves;
		copy->buf = kmalloc(COPY_BYTES);
	}
	if (copy && copy->buf)
		status = copy_all(copy, argc - 1 - is_forced, argv + 1 + is_forced);
	else
		command_error(env, "%s", command_strerror(ENOMEM));
	if (copy)
		kfree(copy->buf);
	kfree(copy);
	return status;
}

static int cmd_cp(struct command_env *env, int argc, char **argv)
{
	return cmd_copy(env, argc, argv, false);
}

static int cmd_mv(struct command_env *env, int argc, char **argv)
{
	return cmd_copy(env, argc, argv, true);
}

const struct command copy_commands[] = {
	{ "cp", "[-f] FILE... FILE | DIR", "copy files", cmd_cp, 0 },
	{ "mv", "[-f] FILE... FILE | DIR", "rename files, or move them into a directory", cmd_mv,
	  0 },
	{ 0 },
};
