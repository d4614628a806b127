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
		size_t got;

		if (part > size - done)
			part = size - done;
		got = part - copy_from_user(to + done, from + done, part);
		if (memchr(to + done, '\0', got))
			return (long)strlen(to);
		if (got < part)
			return -EFAULT;
		done += part;
	}
	return -ENAMETOOLONG;
}

int user_path(const char *path, char *out_path)
{
	char text[VFS_PATH_MAX];
	long len = strncpy_from_user(text, path, sizeof(text));
	int err = len < 0 ? (int)len : vfs_resolve(current_process()->cwd, text, out_path);

	if (!err && strcmp(out_path, "/proc/self/exe") == 0)
		strlcpy(out_path, current_task()->mm->exe, VFS_PATH_MAX);
	return err;
}
