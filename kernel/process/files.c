/* Tables of open files: see files.h. */
#include <stdatomic.h>
#include <kernel/file_lock.h>
#include <kernel/mm.h>
#include <kernel/poll.h>
#include "files.h"
#include "process.h"

struct files *files_create(void)
{
	struct files *files = kzalloc(sizeof(*files));

	if (files)
		atomic_store_explicit(&files->uses, 1, memory_order_relaxed);
	return files;
}

struct files *files_share(struct files *files)
{
	atomic_fetch_add(&files->uses, 1);
	return files;
}

struct files *files_copy(struct files *from)
{
	struct files *to = files_create();

	if (!to)
		return NULL;
	mutex_lock(&from->lock);
	for (unsigned int fd = 0; fd < FILES_MAX; fd++) {
		if (from->file[fd])
			to->file[fd] = get_file(from->file[fd]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(to->cloexec); i++)
		to->cloexec[i] = from->cloexec[i];
	mutex_unlock(&from->lock);
	return to;
}

void files_put(struct files *files)
{
	if (!files || atomic_fetch_sub(&files->uses, 1) > 1)
		return;
	for (unsigned int fd = 0; fd < FILES_MAX; fd++)
		fput(files->file[fd]);
	if (files->has_locks)
		file_locks_drop(files, NULL);
	kfree(files);
}

struct file *files_get_file(struct files *files, unsigned int fd)
{
	struct file *file;

	if (fd >= FILES_MAX)
		return NULL;
	mutex_lock(&files->lock);
	file = files->file[fd];
	if (file)
		get_file(file);
	mutex_unlock(&files->lock);
	return file;
}

/* A function of its own, because fdget() needs no registers kept otherwise. */
static TRACE_NOINLINE struct fd files_hold(struct files *files, unsigned int fd)
{
	return (struct fd){ .file = files_get_file(files, fd), .is_held = true };
}

struct fd fdget(unsigned int fd)
{
	struct files *files = current_process()->files;

	if (files_are_shared(files))
		return files_hold(files, fd);
	return (struct fd){ .file = fd < FILES_MAX ? files->file[fd] : NULL };
}

/* Descriptors of the running program are below. */
static unsigned int files_limit(void)
{
	uint64_t limit = rlimit(RLIMIT_NOFILE);

	return limit < FILES_MAX ? (unsigned int)limit : FILES_MAX;
}

/* Lock held. */
static void files_note_cloexec(struct files *files, unsigned int fd, bool cloexec)
{
	uint64_t bit = 1ull << fd % 64;

	files->cloexec[fd / 64] = (files->cloexec[fd / 64] & ~bit) | (cloexec ? bit : 0);
}

int files_install(struct files *files, struct file *file, unsigned int from, bool cloexec)
{
	unsigned int fd = from, limit = files_limit();

	mutex_lock(&files->lock);
	while (fd < limit && files->file[fd])
		fd++;
	if (fd < limit) {
		files->file[fd] = file;
		files_note_cloexec(files, fd, cloexec);
	}
	mutex_unlock(&files->lock);
	if (fd < limit)
		return (int)fd;
	fput(file);
	return -EMFILE;
}

int files_install_two(struct file *first, struct file *second, bool cloexec, int *ufds)
{
	struct files *files = current_process()->files;
	int fds[2], err;

	fds[0] = files_install(files, first, 0, cloexec);
	if (fds[0] < 0) {
		fput(second);
		return fds[0];
	}
	fds[1] = files_install(files, second, 0, cloexec);
	err = fds[1] < 0 ? fds[1] : copy_to_user(ufds, fds, sizeof(fds)) ? -EFAULT : 0;
	if (err)
		files_close(files, (unsigned int)fds[0]);
	if (err && fds[1] >= 0)
		files_close(files, (unsigned int)fds[1]);
	return err;
}

/* A file has lost a descriptor: pollers of that hear of it, and locks of the program are given up. */
static TRACE_NOINLINE void files_left(struct files *files, struct file *file)
{
	if (file->watch_id)
		waitq_wake_all(&poll_closed);
	if (files->has_locks)
		file_locks_drop(files, file);
}

/* Put a file, or NULL, at a descriptor. The file that was there. */
static struct file *files_exchange(struct files *files, struct file *file, unsigned int fd,
				   bool cloexec)
{
	struct file *old;

	mutex_lock(&files->lock);
	old = files->file[fd];
	files->file[fd] = file;
	files_note_cloexec(files, fd, cloexec);
	mutex_unlock(&files->lock);
	if (old && (old->watch_id || files->has_locks))
		files_left(files, old);
	return old;
}

int files_close(struct files *files, unsigned int fd)
{
	struct file *old = fd < FILES_MAX ? files_exchange(files, NULL, fd, false) : NULL;

	return old ? fput(old) : -EBADF;
}

static bool files_is_cloexec(const struct files *files, unsigned int fd)
{
	return files->cloexec[fd / 64] >> fd % 64 & 1;
}

void files_close_on_exec(struct files *files)
{
	for (unsigned int fd = 0; fd < FILES_MAX; fd++) {
		if (files_is_cloexec(files, fd))
			files_close(files, fd);
	}
}

int files_replace(struct files *files, struct file *file, unsigned int fd, bool cloexec)
{
	if (fd >= files_limit()) {
		fput(file);
		return -EBADF;
	}
	fput(files_exchange(files, file, fd, cloexec));
	return 0;
}

int files_get_cloexec(struct files *files, unsigned int fd)
{
	int is_set = -EBADF;

	if (fd >= FILES_MAX)
		return -EBADF;
	mutex_lock(&files->lock);
	if (files->file[fd])
		is_set = files_is_cloexec(files, fd);
	mutex_unlock(&files->lock);
	return is_set;
}

int files_set_cloexec(struct files *files, unsigned int fd, bool cloexec)
{
	int err = -EBADF;

	if (fd >= FILES_MAX)
		return -EBADF;
	mutex_lock(&files->lock);
	if (files->file[fd]) {
		files_note_cloexec(files, fd, cloexec);
		err = 0;
	}
	mutex_unlock(&files->lock);
	return err;
}
