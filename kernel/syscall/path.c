/* Strings and paths that programs give: see path.h. */
#include <kernel/string.h>
#include "path.h"
#include "process/process.h"

/* Up to the end of a page, so that a string at the end of memory can be read. */
long strncpy_from_user(char *to, const char *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t part = PAGE_SIZE - ((uintptr_t)from + done) % PAGE_SIZE;
		const char *end;
		size_t got;

		if (part > size - done)
			part = size - done;
		got = part - copy_from_user(to + done, from + done, part);
		end = memchr(to + done, '\0', got);
		if (end)
			return end - to;
		if (got < part)
			return -EFAULT;
		done += part;
	}
	return -ENAMETOOLONG;
}

/* The directory that names without a slash in front begin at, into VFS_PATH_MAX bytes. */
static int path_of_directory(int dfd, char *out_path)
{
	struct file *file;
	int err = 0;

	if (dfd == AT_FDCWD) {
		process_get_cwd(current_process(), out_path);
		return 0;
	}
	file = files_get_file(current_process()->files, (unsigned int)dfd);
	if (!file)
		return -EBADF;
	if (file->path)
		strlcpy(out_path, file->path, VFS_PATH_MAX);
	else
		err = -ENOTDIR;
	fput(file);
	return err;
}

int user_path_read(int dfd, const char *path, struct user_path *out_path)
{
	long len = strncpy_from_user(out_path->text, path, sizeof(out_path->text));

	if (len < 0)
		return (int)len;
	out_path->dir[0] = '\0';
	return out_path->text[0] == '/' ? 0 : path_of_directory(dfd, out_path->dir);
}

int user_path_at(int dfd, const char *path, bool follows, char *out_path)
{
	struct user_path user;
	int err = user_path_read(dfd, path, &user);

	return err ? err : vfs_real_path(user.dir, user.text, follows, out_path);
}

int user_path(const char *path, char *out_path)
{
	return user_path_at(AT_FDCWD, path, true, out_path);
}
