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

int user_path_read(int dfd, const char *path, struct user_path *out_path)
{
	long len = strncpy_from_user(out_path->text, path, sizeof(out_path->text));

	if (len < 0)
		return (int)len;
	out_path->dir = NULL;
	if (out_path->text[0] != '/' && dfd == AT_FDCWD) {
		out_path->dir = fs_get_cwd(current_process()->fs);
	} else if (out_path->text[0] != '/') {
		out_path->dir = files_get_file(current_process()->files, (unsigned int)dfd);
		if (!out_path->dir)
			return -EBADF;
	}
	if (out_path->dir && !out_path->dir->path) {
		fput(out_path->dir);
		return -ENOTDIR;
	}
	out_path->root = fs_get_root(current_process()->fs);
	out_path->at = (struct vfs_at){
		.path = out_path->text, .cwd = "/", .dir = out_path->dir, .root = out_path->root
	};
	return 0;
}

void user_path_put(struct user_path *path)
{
	fput(path->dir);
	fput(path->root);
}

int user_path(const char *path, char *out_path)
{
	struct user_path user;
	int err = user_path_read(AT_FDCWD, path, &user);

	if (err)
		return err;
	err = vfs_real_path_at(&user.at, true, out_path);
	user_path_put(&user);
	return err;
}
