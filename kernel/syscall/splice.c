/*
 * splice(): from a file into a pipe, or out of it, without the program's memory. The bytes go through a buffer
 * of the kernel, a piece that a pipe takes at once after the other, so that none is lost. tee() does the same with bytes that
 * stay in the first pipe, vmsplice() with those of the program.
 */
#include <kernel/pipe.h>
#include <kernel/poll.h>
#include "syscall.h"

#define SPLICE_F_NONBLOCK 2u
#define SPLICE_F_ALL	  15u	/* MOVE, NONBLOCK, MORE, GIFT */
#define SPLICE_PIECE	  4096u /* PIPE_ATOMIC */
#define SPLICE_MAX	  (1u << 20)

struct splice {
	struct file *from, *to;
	uint64_t *from_pos, *to_pos; /* NULL: the file's own */
	bool may_wait;
};

/* Is there something to read, or room, in the end of a pipe? Waits for it if that may be. */
static bool splice_may_go(const struct splice *splice)
{
	if (splice->may_wait)
		return true;
	if (file_is_pipe(splice->from) && !file_is_readable(splice->from))
		return false;
	return !file_is_pipe(splice->to) ||
	       vfs_poll(splice->to, POLLOUT, NULL) & (POLLOUT | POLLERR);
}

static ssize_t splice_piece(const struct splice *splice, char *buf, size_t bytes)
{
	ssize_t got;

	if (!splice_may_go(splice))
		return -EAGAIN;
	got = vfs_read(splice->from, buf, bytes < SPLICE_PIECE ? bytes : SPLICE_PIECE,
		       splice->from_pos);
	return got > 0 ? vfs_write(splice->to, buf, (size_t)got, splice->to_pos) : got;
}

/* The number of bytes that were moved; if that is 0, the end of the input, or -errno. */
static long splice_run(const struct splice *splice, size_t bytes)
{
	char *buf = kmalloc(SPLICE_PIECE);
	ssize_t got = buf ? 1 : -ENOMEM;
	size_t done = 0;

	while (got > 0 && done < bytes) {
		got = splice_piece(splice, buf, bytes - done);
		if (got > 0)
			done += (size_t)got;
		/* A pipe that has nothing more does not hold up what is done. */
		if (file_is_pipe(splice->from) && !file_is_readable(splice->from))
			break;
	}
	kfree(buf);
	if (done)
		return (long)done;
	return got == -EINTR && !splice->from->ops->ends_by_signal ? -ERESTARTSYS : got;
}

/* A position in the program's memory, for a file that has one. */
static int splice_get_pos(const struct file *file, const long *off, uint64_t *pos)
{
	if (!off)
		return 0;
	if (!file->ops->has_position)
		return -ESPIPE;
	if (copy_from_user(pos, off, sizeof(*pos)))
		return -EFAULT;
	return (int64_t)*pos < 0 ? -EINVAL : 0;
}

static long splice_between(struct splice *splice, long *off_in, long *off_out, size_t len)
{
	uint64_t from_pos, to_pos;
	long result;
	int err;

	if (!(splice->from->flags & VFS_READ) || !(splice->to->flags & VFS_WRITE))
		return -EBADF;
	if (!file_is_pipe(splice->from) && !file_is_pipe(splice->to))
		return -EINVAL;
	err = splice_get_pos(splice->from, off_in, &from_pos);
	if (!err)
		err = splice_get_pos(splice->to, off_out, &to_pos);
	if (err)
		return err;
	splice->from_pos = off_in ? &from_pos : NULL;
	splice->to_pos = off_out ? &to_pos : NULL;
	result = splice_run(splice, len < SPLICE_MAX ? len : SPLICE_MAX);
	if ((off_in && copy_to_user(off_in, &from_pos, sizeof(from_pos))) ||
	    (off_out && copy_to_user(off_out, &to_pos, sizeof(to_pos))))
		return -EFAULT;
	return result;
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_splice(int fd_in, long *off_in, int fd_out, long *off_out, size_t len, unsigned int flags)
{
	struct splice splice = {
		.from = files_get_file(current_process()->files, (unsigned int)fd_in),
		.to = files_get_file(current_process()->files, (unsigned int)fd_out),
		.may_wait = !(flags & SPLICE_F_NONBLOCK),
	};
	long result = -EBADF;

	if (splice.from && splice.to && (splice.from->flags | splice.to->flags) & VFS_NONBLOCK)
		splice.may_wait = false;
	if (splice.from && splice.to)
		result = splice_between(&splice, off_in, off_out, len);
	fput(splice.from);
	fput(splice.to);
	if (result == -EPIPE)
		kill_self(SIGPIPE);
	return result;
}

/* Write bytes of the first pipe to the second one, which takes a page of them at once, perhaps after waiting, and more if it can. */
static ssize_t splice_tee_to(const struct splice *splice, const char *buf, size_t bytes)
{
	size_t first = bytes < PIPE_ATOMIC ? bytes : PIPE_ATOMIC;
	ssize_t put, more;

	put = pipe_send(splice->to, buf, first, splice->may_wait ? 0 : PIPE_NOWAIT);
	if (put < (ssize_t)first || first == bytes)
		return put;
	more = pipe_send(splice->to, buf + first, bytes - first, PIPE_NOWAIT);
	return put + (more > 0 ? more : 0);
}

static ssize_t splice_tee(const struct splice *splice, size_t bytes)
{
	unsigned int how = PIPE_PEEK | (splice->may_wait ? 0 : PIPE_NOWAIT);
	size_t most = pipe_size(splice->from);
	char *buf;
	ssize_t got;

	if (!bytes)
		return 0;
	if (bytes > most)
		bytes = most;
	buf = kmalloc(bytes);
	if (!buf)
		return -ENOMEM;
	got = pipe_receive(splice->from, buf, bytes, how);
	if (got > 0)
		got = splice_tee_to(splice, buf, (size_t)got);
	kfree(buf);
	return got == -EINTR ? -ERESTARTSYS : got;
}

/* -EINVAL: they are not two pipes. */
static int splice_check_tee(const struct splice *splice)
{
	if (!splice->from || !splice->to || !(splice->from->flags & VFS_READ) ||
	    !(splice->to->flags & VFS_WRITE))
		return -EBADF;
	if (!file_is_pipe(splice->from) || !file_is_pipe(splice->to))
		return -EINVAL;
	return splice->from->object == splice->to->object ? -EINVAL : 0;
}

long sys_tee(int fdin, int fdout, size_t len, unsigned int flags)
{
	struct splice splice = {
		.from = files_get_file(current_process()->files, (unsigned int)fdin),
		.to = files_get_file(current_process()->files, (unsigned int)fdout),
		.may_wait = !(flags & SPLICE_F_NONBLOCK),
	};
	long result = flags & ~SPLICE_F_ALL ? -EINVAL : splice_check_tee(&splice);

	if (!result)
		result = splice_tee(&splice, len);
	fput(splice.from);
	fput(splice.to);
	if (result == -EPIPE)
		kill_self(SIGPIPE);
	return result;
}

/* The bytes are copied, whoever gives them away. */
long sys_vmsplice(int fd, const struct user_iovec *uiov, unsigned long nr_segs, unsigned int flags)
{
	struct fd held = fdget((unsigned int)fd);
	bool is_pipe = held.file && file_is_pipe(held.file);
	bool is_write = is_pipe && held.file->flags & VFS_WRITE;
	bool waits = !held.file || held.file->flags & VFS_NONBLOCK || !(flags & SPLICE_F_NONBLOCK);

	fdput(held);
	if (flags & ~SPLICE_F_ALL)
		return -EINVAL;
	if (!is_pipe)
		return -EBADF;
	if (!waits)
		return -EINVAL;
	return is_write ? sys_writev((unsigned int)fd, uiov, nr_segs)
			: sys_readv((unsigned int)fd, uiov, nr_segs);
}
