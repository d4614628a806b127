/*
 * epoll: a file that is a set of descriptors, and waiting for events of any of them.
 *
 *   struct epoll --> item: descriptor 5, of the file with watch_id 17, events, data of the program
 *
 * The set holds no reference to a file, so that closing a pipe's end has its effect. A descriptor that was closed since
 * has no file, or one with another watch_id; its item goes when it is looked at.
 */
#include <kernel/list.h>
#include <kernel/mm.h>
#include <kernel/pipe.h>
#include <kernel/poll.h>
#include <kernel/time.h>
#include "sleep.h"
#include "syscall.h"

enum {
	EPOLL_CTL_ADD = 1,
	EPOLL_CTL_DEL = 2,
	EPOLL_CTL_MOD = 3
};
#define EPOLLONESHOT   (1u << 30) /* told once, until EPOLL_CTL_MOD */
#define EPOLLET	       (1u << 31)
#define EPOLL_SETTINGS 0xf0000000u
#define EPOLL_MAX      (INT32_MAX / 12)

struct epoll_event {
	uint32_t events;
	uint64_t data;
} __attribute__((packed));

struct epoll_item {
	struct list link; /* in the set; those that were told go to its end */
	int fd;
	uint64_t watch_id; /* of the file that it was then */
	struct epoll_event event;
	uint32_t
		told; /* events that were there at the last look: EPOLLET tells some only when they come */
};

struct epoll {
	struct mutex lock;
	struct list items;    /* guarded by lock */
	struct waitq changed; /* those who wait: woken when an item comes or is changed */
};

static _Atomic uint64_t epoll_last_watch_id;

static void epoll_remove(struct epoll_item *item)
{
	list_remove(&item->link);
	kfree(item);
}

/* The set itself changes, or a file of one that is waited for is closed. */
static void epoll_wait_for_changes(struct epoll *epoll, struct poll_table *table)
{
	poll_wait(table, &epoll->changed);
	poll_wait(table, &poll_closed);
}

/* The events of the item that are there now; its file is gone: 0, with *out_is_stale. */
static uint32_t epoll_look(const struct epoll_item *item, bool *out_is_stale,
			   struct poll_table *table)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)item->fd);
	uint32_t found = 0;

	*out_is_stale = !file || file->watch_id != item->watch_id;
	if (!*out_is_stale)
		found = vfs_poll(file, item->event.events, table);
	fput(file);
	return found;
}

/* Those of them that are to be told. To write was told before is no news for EPOLLET; to read is, each time. */
static uint32_t epoll_news(struct epoll_item *item, uint32_t found)
{
	uint32_t news = found & item->event.events;

	if (item->event.events & EPOLLET)
		news &= ~(item->told & POLLOUT);
	item->told = found;
	return news;
}

/* The first item with events, which goes to the end; NULL: none of the first *left has any. Lock held. */
static struct epoll_item *epoll_next(struct epoll *epoll, uint32_t *left, uint32_t *out_events,
				     struct poll_table *table)
{
	while (*left && !list_empty(&epoll->items)) {
		struct epoll_item *item = list_entry(epoll->items.next, struct epoll_item, link);
		bool is_stale;
		uint32_t found = epoll_look(item, &is_stale, table);

		--*left;
		if (is_stale) {
			epoll_remove(item);
			continue;
		}
		list_remove(&item->link);
		list_add_tail(&epoll->items, &item->link);
		*out_events = epoll_news(item, found);
		if (*out_events)
			return item;
	}
	return NULL;
}

static uint32_t epoll_nr_items(const struct epoll *epoll)
{
	const struct list *pos;
	uint32_t nr = 0;

	for (pos = epoll->items.next; pos != &epoll->items; pos = pos->next)
		nr++;
	return nr;
}

struct epoll_wait {
	struct epoll *epoll;
	struct epoll_event *to;
	int max;
};

/* How many events were told, or -EFAULT. */
static long epoll_tell(struct poll_table *table, void *arg)
{
	const struct epoll_wait *wait = arg;
	struct epoll *epoll = wait->epoll;
	uint32_t events, left;
	struct epoll_item *item;
	long nr = 0;

	epoll_wait_for_changes(epoll, table);
	mutex_lock(&epoll->lock);
	left = epoll_nr_items(epoll);
	while (nr >= 0 && nr < wait->max && (item = epoll_next(epoll, &left, &events, table))) {
		const struct epoll_event event = { .events = events, .data = item->event.data };

		if (item->event.events & EPOLLONESHOT)
			item->event.events &= EPOLL_SETTINGS;
		mutex_unlock(&epoll->lock); /* a fault may take long */
		nr = copy_to_user(&wait->to[nr], &event, sizeof(event)) ? -EFAULT : nr + 1;
		mutex_lock(&epoll->lock);
	}
	mutex_unlock(&epoll->lock);
	return nr;
}

/* ---- The file ---- */

static uint32_t epoll_poll(struct file *file, struct poll_table *table)
{
	struct epoll *epoll = file->object;
	struct list *pos;
	bool is_stale, found = false;

	epoll_wait_for_changes(epoll, table);
	mutex_lock(&epoll->lock);
	list_for_each(pos, &epoll->items) {
		const struct epoll_item *item = list_entry(pos, struct epoll_item, link);

		found |= epoll_look(item, &is_stale, table) & item->event.events;
	}
	mutex_unlock(&epoll->lock);
	return found ? POLLIN : 0;
}

static bool epoll_is_readable(struct file *file)
{
	return epoll_poll(file, NULL);
}

static int epoll_close(struct file *file)
{
	struct epoll *epoll = file->object;
	struct list *pos, *next;

	list_for_each_safe(pos, next, &epoll->items)
		epoll_remove(list_entry(pos, struct epoll_item, link));
	kfree(epoll);
	return 0;
}

static const struct file_ops epoll_ops = {
	.is_readable = epoll_is_readable,
	.poll = epoll_poll,
	.close = epoll_close,
};

/* With a reference; NULL with *out_err set: -EBADF, -EINVAL: it is no set. */
static struct file *epoll_get(int epfd, int *out_err)
{
	struct file *file = files_get_file(current_process()->files, (unsigned int)epfd);

	*out_err = file ? 0 : -EBADF;
	if (file && file->ops != &epoll_ops) {
		fput(file);
		*out_err = -EINVAL;
		return NULL;
	}
	return file;
}

long sys_epoll_create1(int flags)
{
	struct epoll *epoll;
	struct file *file;

	if (flags & ~O_CLOEXEC)
		return -EINVAL;
	epoll = kzalloc(sizeof(*epoll));
	file = epoll ? file_create(&epoll_ops, epoll, VFS_READ) : NULL;
	if (!file) {
		kfree(epoll);
		return -ENOMEM;
	}
	list_init(&epoll->items);
	return files_install(current_process()->files, file, 0, flags & O_CLOEXEC);
}

long sys_epoll_create(int size)
{
	return size > 0 ? sys_epoll_create1(0) : -EINVAL;
}

/* ---- Changes ---- */

/* Lock held. */
static struct epoll_item *epoll_find(const struct epoll *epoll, int fd, uint64_t watch_id)
{
	struct list *pos;

	for (pos = epoll->items.next; pos != &epoll->items; pos = pos->next) {
		struct epoll_item *item = list_entry(pos, struct epoll_item, link);

		if (item->fd == fd && item->watch_id == watch_id)
			return item;
	}
	return NULL;
}

static int epoll_add(struct epoll *epoll, int fd, struct file *file,
		     const struct epoll_event *event)
{
	uint64_t none = 0, id = atomic_fetch_add(&epoll_last_watch_id, 1) + 1;
	struct epoll_item *item = kzalloc(sizeof(*item));

	if (!item)
		return -ENOMEM;
	atomic_compare_exchange_strong(&file->watch_id, &none, id);
	item->fd = fd;
	item->watch_id = file->watch_id;
	item->event = *event;
	list_add_tail(&epoll->items, &item->link);
	return 0;
}

/* Lock held. */
static int epoll_change(struct epoll *epoll, int op, int fd, struct file *file,
			const struct epoll_event *event)
{
	struct epoll_item *item = file->watch_id ? epoll_find(epoll, fd, file->watch_id) : NULL;

	if (op == EPOLL_CTL_ADD)
		return item ? -EEXIST : epoll_add(epoll, fd, file, event);
	if (!item)
		return -ENOENT;
	if (op == EPOLL_CTL_DEL) {
		epoll_remove(item);
		return 0;
	}
	item->event = *event;
	item->told = 0;
	return 0;
}

/* May a set have this file? One that is always ready may not; nor may another set, here. */
static int epoll_check(const struct file *file)
{
	if (file->ops == &epoll_ops)
		return -EINVAL;
	return file_may_wait(file) || file_is_pipe(file) ? 0 : -EPERM;
}

long sys_epoll_ctl(int epfd, int op, int fd, const struct epoll_event *uevent)
{
	struct epoll_event event = { 0 };
	struct file *set, *file;
	int err;

	if (op != EPOLL_CTL_DEL && copy_from_user(&event, uevent, sizeof(event)))
		return -EFAULT;
	event.events |= POLLERR | POLLHUP; /* as on Linux, always */
	set = epoll_get(epfd, &err);
	if (!set)
		return err;
	file = files_get_file(current_process()->files, (unsigned int)fd);
	err = file ? epoll_check(file) : -EBADF;
	if (!err && (op < EPOLL_CTL_ADD || op > EPOLL_CTL_MOD))
		err = -EINVAL;
	if (!err) {
		struct epoll *epoll = set->object;

		mutex_lock(&epoll->lock);
		err = epoll_change(epoll, op, fd, file, &event);
		mutex_unlock(&epoll->lock);
		waitq_wake_all(&epoll->changed);
	}
	fput(file);
	fput(set);
	return err;
}

/* ---- Waiting ---- */

static long epoll_wait(int epfd, struct epoll_event *events, int max, uint64_t deadline_ns)
{
	struct epoll_wait wait = { .to = events, .max = max };
	struct file *set;
	long result;
	int err;

	if (max <= 0 || max > EPOLL_MAX)
		return -EINVAL;
	set = epoll_get(epfd, &err);
	if (!set)
		return err;
	wait.epoll = set->object;
	result = poll_until(deadline_ns, epoll_tell, &wait);
	fput(set);
	return result;
}

static uint64_t epoll_deadline(int timeout_msecs)
{
	return timeout_msecs < 0 ? UINT64_MAX
				 : ktime_after((uint64_t)timeout_msecs * NSEC_PER_MSEC);
}

long sys_epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
	return epoll_wait(epfd, events, maxevents, epoll_deadline(timeout));
}

/* With another mask of signals meanwhile, which stays until a handler has returned. */
static long epoll_wait_masked(int epfd, struct epoll_event *events, int max, uint64_t deadline_ns,
			      const uint64_t *sigmask)
{
	long result = epoll_wait(epfd, events, max, deadline_ns);

	return sigmask_end(sigmask, sigmask && result == -EINTR ? -ERESTARTNOHAND : result);
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_epoll_pwait(int epfd, struct epoll_event *events, int maxevents, int timeout,
		     const uint64_t *sigmask, size_t sigsetsize)
{
	int err = sigmask_begin(sigmask, sigsetsize);

	return err ? err
		   : epoll_wait_masked(epfd, events, maxevents, epoll_deadline(timeout), sigmask);
}

// NOLINTNEXTLINE(readability-function-size): the six arguments of the call
long sys_epoll_pwait2(int epfd, struct epoll_event *events, int maxevents,
		      const struct user_timespec *timeout, const uint64_t *sigmask,
		      size_t sigsetsize)
{
	uint64_t ns, deadline_ns = UINT64_MAX;
	int err = timeout ? user_timespec_ns(timeout, &ns) : 0;

	if (!err && timeout)
		deadline_ns = ktime_after(ns);
	if (!err)
		err = sigmask_begin(sigmask, sigsetsize);
	return err ? err : epoll_wait_masked(epfd, events, maxevents, deadline_ns, sigmask);
}
