/* eventfd(): a file that is a counter. A write adds to it; a read takes it all, or 1 of it, and waits while it is 0. */
#include <kernel/mm.h>
#include <kernel/poll.h>
#include <kernel/string.h>
#include "syscall.h"

#define EFD_SEMAPHORE 1 /* a read takes 1 */
#define EVENTFD_MAX   (UINT64_MAX - 1)

struct eventfd {
	_Atomic uint64_t count;
	struct waitq waitq; /* readers that wait for a count, writers that wait for room */
	bool is_semaphore;
};

/* A read or write that waits: `value` is to be added, or has been taken. */
struct eventfd_try {
	struct eventfd *event;
	uint64_t value;
};

static bool eventfd_try_take(void *arg)
{
	struct eventfd_try *attempt = arg;
	struct eventfd *event = attempt->event;
	uint64_t seen = atomic_load(&event->count);

	do {
		if (!seen)
			return false;
		attempt->value = event->is_semaphore ? 1 : seen;
	} while (!atomic_compare_exchange_weak(&event->count, &seen, seen - attempt->value));
	return true;
}

static bool eventfd_try_add(void *arg)
{
	struct eventfd_try *attempt = arg;
	struct eventfd *event = attempt->event;
	uint64_t seen = atomic_load(&event->count);

	do {
		if (EVENTFD_MAX - seen < attempt->value)
			return false;
	} while (!atomic_compare_exchange_weak(&event->count, &seen, seen + attempt->value));
	return true;
}

static int eventfd_wait(struct file *file, bool (*done)(void *arg), struct eventfd_try *attempt)
{
	struct eventfd *event = file->object;
	int err = 0;

	if (!done(attempt)) {
		if (file->flags & VFS_NONBLOCK)
			return -EAGAIN;
		err = waitq_wait(&event->waitq, done, attempt, true, WAIT_FOREVER);
	}
	waitq_wake_all(&event->waitq);
	return err;
}

static ssize_t eventfd_read(struct file *file, void *buf, size_t len, uint64_t *pos)
{
	struct eventfd_try attempt = { .event = file->object };
	int err = len < sizeof(attempt.value) ? -EINVAL : 0;

	(void)pos;
	if (!err)
		err = eventfd_wait(file, eventfd_try_take, &attempt);
	if (err)
		return err;
	memcpy(buf, &attempt.value, sizeof(attempt.value));
	return sizeof(attempt.value);
}

static ssize_t eventfd_write(struct file *file, const void *buf, size_t len, uint64_t *pos)
{
	struct eventfd_try attempt = { .event = file->object };
	int err;

	(void)pos;
	if (len < sizeof(attempt.value))
		return -EINVAL;
	memcpy(&attempt.value, buf, sizeof(attempt.value));
	if (attempt.value > EVENTFD_MAX)
		return -EINVAL;
	err = eventfd_wait(file, eventfd_try_add, &attempt);
	return err ? err : (ssize_t)sizeof(attempt.value);
}

static bool eventfd_is_readable(struct file *file)
{
	const struct eventfd *event = file->object;

	return atomic_load(&event->count);
}

static uint32_t eventfd_poll(struct file *file, struct poll_table *table)
{
	struct eventfd *event = file->object;
	uint64_t count;

	poll_wait(table, &event->waitq);
	count = atomic_load(&event->count);
	return (count ? POLLIN : 0) | (count < EVENTFD_MAX ? POLLOUT : 0);
}

static int eventfd_close(struct file *file)
{
	kfree(file->object);
	return 0;
}

static const struct file_ops eventfd_ops = {
	.read = eventfd_read,
	.write = eventfd_write,
	.is_readable = eventfd_is_readable,
	.poll = eventfd_poll,
	.close = eventfd_close,
};

long sys_eventfd2(unsigned int count, int flags)
{
	uint32_t nonblock = flags & O_NONBLOCK ? VFS_NONBLOCK : 0;
	struct eventfd *event;
	struct file *file;

	if (flags & ~(EFD_SEMAPHORE | O_CLOEXEC | O_NONBLOCK))
		return -EINVAL;
	event = kzalloc(sizeof(*event));
	file = event ? file_create(&eventfd_ops, event, VFS_READ | VFS_WRITE | nonblock) : NULL;
	if (!file) {
		kfree(event);
		return -ENOMEM;
	}
	event->count = count;
	event->is_semaphore = flags & EFD_SEMAPHORE;
	return files_install(current_process()->files, file, 0, flags & O_CLOEXEC);
}

long sys_eventfd(unsigned int count)
{
	return sys_eventfd2(count, 0);
}
