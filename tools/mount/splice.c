/*
 * splice(2) from the kernel's files, for programs of `tools/fathom shell`, which preloads this.
 *
 * Since 6.5 Linux splices from files of FUSE through the page cache, and so finds nothing in files
 * that have no size: trace-cmd would read a buffer at its end only. Here it is a read and a write.
 *
 * As in tracefs, splice waits for buffer_percent, which poll() does, too; read() would wait for the
 * first event. No more is read than the pipe has room for: who splices into a pipe empties it
 * himself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 4096u /* bytes: pipes and sub-buffers consist of such blocks */

typedef ssize_t (*splice_fn)(int, off64_t *, int, off64_t *, size_t, unsigned int);

/* The file system that a file is of; 0: none. The kernel is not asked. */
static uint64_t device_of(int fd, const char *path, int flags)
{
	struct statx facts;

	if (statx(fd, path, flags | AT_STATX_DONT_SYNC, STATX_TYPE, &facts))
		return 0;
	return (uint64_t)facts.stx_dev_major << 32 | facts.stx_dev_minor;
}

static bool is_of_the_kernel(int fd)
{
	uint64_t tree = device_of(AT_FDCWD, "/sys/kernel/tracing", 0);

	return tree && device_of(fd, "", AT_EMPTY_PATH) == tree;
}

static bool is_ready(int fd, short event, int timeout_ms)
{
	struct pollfd one = { .fd = fd, .events = event };

	return poll(&one, 1, timeout_ms) > 0;
}

/* Bytes that the pipe takes without waiting, in whole blocks; -1 with errno: none, or no pipe. */
static ssize_t room_in(int pipe)
{
	int size = fcntl(pipe, F_GETPIPE_SZ), used;

	if (size < 0 || ioctl(pipe, FIONREAD, &used)) {
		errno = EINVAL;
		return -1;
	}
	used = (used + (int)BLOCK - 1) / (int)BLOCK * (int)BLOCK;
	errno = EAGAIN;
	return size > used ? size - used : -1;
}

/* As in tracefs: a file that does not wait gives what there is, others wait for buffer_percent. */
static bool wait_for(int in, unsigned int flags)
{
	bool waits = !(flags & SPLICE_F_NONBLOCK);

	if (fcntl(in, F_GETFL) & O_NONBLOCK || is_ready(in, POLLIN, waits ? -1 : 0))
		return true;
	if (!waits)
		errno = EAGAIN;
	return false;
}

static ssize_t move(int in, int out, size_t len, unsigned int flags)
{
	char bytes[8 * BLOCK];
	ssize_t got, room, done = 0;

	if (!(flags & SPLICE_F_NONBLOCK) && !is_ready(out, POLLOUT, -1))
		return -1;
	room = room_in(out);
	if (room < 0 || !wait_for(in, flags))
		return -1;
	if (len > (size_t)room)
		len = (size_t)room;
	do {
		size_t rest = len - (size_t)done;

		got = read(in, bytes, rest < sizeof(bytes) ? rest : sizeof(bytes));
		if (got > 0 && write(out, bytes, (size_t)got) != got)
			return -1;
		done += got > 0 ? got : 0;
	} while (got > 0 && len - (size_t)done >= BLOCK && is_ready(in, POLLIN, 0));
	return done ? done : got;
}

ssize_t splice(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t len,
	       unsigned int flags)
{
	static splice_fn next;

	if (!in_offset && !out_offset && is_of_the_kernel(in))
		return move(in, out, len, flags);
	if (!next)
		next = (splice_fn)dlsym(RTLD_NEXT, "splice");
	return next(in, in_offset, out, out_offset, len, flags);
}
