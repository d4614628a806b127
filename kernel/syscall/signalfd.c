/*
 * signalfd(): a file from which signals are read that the reader blocks. Each reader gets its own: those for its thread and
 * for its process.
 */
#include <kernel/mm.h>
#include <kernel/poll.h>
#include <kernel/string.h>
#include "syscall.h"

struct signalfd {
	_Atomic uint64_t mask; /* the signals that are read */
};

struct user_signalfd_siginfo {
	uint32_t signo;
	int32_t error, code;
	uint32_t pid, uid;
	int32_t fd;
	uint32_t tid, band, overrun, trapno;
	int32_t status, value_int;
	uint64_t value_ptr, utime, stime, addr;
	uint8_t pad[48];
};

_Static_assert(sizeof(struct user_signalfd_siginfo) == 128, "as programs have it");

static struct user_signalfd_siginfo signalfd_info(const struct user_siginfo *info)
{
	struct user_signalfd_siginfo out = { .signo = (uint32_t)info->signo,
					     .error = info->error,
					     .code = info->code };

	out.pid = (uint32_t)info->from.pid;
	out.uid = info->from.uid;
	if (info->signo == SIGCHLD && info->code > 0) {
		out.status = info->child.status;
	} else {
		out.value_ptr = info->from.value;
		out.value_int = (int32_t)info->from.value;
	}
	return out;
}

/* The next signal that is pending; 0: there is none. */
static int signalfd_take(const struct signalfd *from, struct user_siginfo *out_info)
{
	struct process_signals *signals = &current_process()->signals;
	uint64_t flags = spin_lock_irqsave(&signals->lock);
	int sig = dequeue_signal(current_task(), ~from->mask, out_info);

	spin_unlock_irqrestore(&signals->lock, flags);
	return sig;
}

static bool signalfd_has_signal(void *arg)
{
	const struct signalfd *from = arg;
	const struct task *task = current_thread()->task;

	return task &&
	       from->mask & (task->signals.pending.signals | task->process->signals.shared.signals);
}

static bool signalfd_is_readable(struct file *file)
{
	return signalfd_has_signal(file->object);
}

static uint32_t signalfd_poll(struct file *file, struct poll_table *table)
{
	poll_wait(table, &current_process()->signals.readers);
	return signalfd_has_signal(file->object) ? POLLIN : 0;
}

/* 0 or -EINTR. */
static int signalfd_sleep(struct signalfd *from)
{
	return waitq_wait(&current_process()->signals.readers, signalfd_has_signal, from, true,
			  WAIT_FOREVER);
}

/* As many as fit; only for the first one the reader waits. */
static ssize_t signalfd_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct user_signalfd_siginfo *to = buf;
	size_t most = len / sizeof(*to), nr = 0;
	struct user_siginfo info;
	int err = most ? 0 : -EINVAL;

	(void)pos;
	while (!err && nr < most) {
		if (signalfd_take(file->object, &info))
			to[nr++] = signalfd_info(&info);
		else if (nr)
			break;
		else
			err = file->flags & VFS_NONBLOCK ? -EAGAIN : signalfd_sleep(file->object);
	}
	return nr ? (ssize_t)(nr * sizeof(*to)) : err;
}

static int signalfd_close(struct file *file)
{
	kfree(file->object);
	return 0;
}

static const struct file_ops signalfd_ops = {
	.read = signalfd_read,
	.is_readable = signalfd_is_readable,
	.poll = signalfd_poll,
	.close = signalfd_close,
};

static long signalfd_create(uint64_t mask, int flags)
{
	uint32_t nonblock = flags & O_NONBLOCK ? VFS_NONBLOCK : 0;
	struct signalfd *from = kzalloc(sizeof(*from));
	struct file *file = from ? file_create(&signalfd_ops, from, VFS_READ | nonblock) : NULL;

	if (!file) {
		kfree(from);
		return -ENOMEM;
	}
	from->mask = mask;
	return files_install(current_process()->files, file, 0, flags & O_CLOEXEC);
}

/* Other signals for one that is there. Its descriptor, -EBADF; -EINVAL: it is another kind of file. */
static long signalfd_change(int ufd, uint64_t mask)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)ufd);
	long result = ufd;

	if (!file)
		return -EBADF;
	if (file->ops == &signalfd_ops)
		((struct signalfd *)file->object)->mask = mask;
	else
		result = -EINVAL;
	fput(file);
	return result;
}

long sys_signalfd4(int ufd, const uint64_t *user_mask, size_t sizemask, int flags)
{
	uint64_t mask;

	if (sizemask != sizeof(mask))
		return -EINVAL;
	if (copy_from_user(&mask, user_mask, sizeof(mask)))
		return -EFAULT;
	if (flags & ~(O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	mask &= ~SIGMASK_UNBLOCKABLE;
	return ufd == -1 ? signalfd_create(mask, flags) : signalfd_change(ufd, mask);
}

long sys_signalfd(int ufd, const uint64_t *user_mask, size_t sizemask)
{
	return sys_signalfd4(ufd, user_mask, sizemask, 0);
}
