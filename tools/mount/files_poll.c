/*
 * poll(2) on files of the mount. FUSE asks which events there are, has its answer at once, and is
 * told when it should ask again. See files.h.
 *
 *   files_poll --> Tpoll, not to wait --> the answer
 *        '-------> Tpoll, to wait ------> fuse_lowlevel_notify_poll --> files_poll ...
 *
 * FUSE does not say when a program has stopped waiting. So the Tpoll that waits does so for a while
 * only; then a program that still waits asks again, and if there is no one, nothing more happens.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include "files_private.h"

#define WAIT_MS	 5000u
#define READABLE ((unsigned int)(POLLIN | POLLRDNORM))
#define WATCHED	 (READABLE | (unsigned int)POLLPRI)

/* A Tpoll that waits. */
struct watch {
	struct watch *next;
	struct open_file *file;
	unsigned int events;
};

static struct watch *watches;

static void put_poll(const struct open_file *file, unsigned int events, unsigned int wait_ms)
{
	client_begin(TPOLL);
	client_put(file->fid, 4);
	client_put(events, 4);
	client_put(wait_ms, 4);
}

/* Have FUSE ask again. */
static void wake(struct open_file *file)
{
	struct fuse_pollhandle *poll = file->poll;

	file->poll = NULL;
	if (!poll)
		return;
	fuse_lowlevel_notify_poll(poll);
	fuse_pollhandle_destroy(poll);
}

void files_poll_end(struct open_file *file)
{
	if (file->poll)
		fuse_pollhandle_destroy(file->poll);
	file->poll = NULL;
}

void files_wake_polls(void)
{
	for (struct watch *watch = watches; watch; watch = watch->next)
		wake(watch->file);
}

static void watch_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct watch *watch = arg, **link = &watches;
	struct open_file *file = watch->file;

	while (*link != watch)
		link = &(*link)->next;
	*link = watch->next;
	file->watched &= ~watch->events;
	/* The guest says that once, to the one that asks: FUSE will. */
	if (!err && len >= 4)
		file->told |= (unsigned int)client_number(body, 4) & POLLPRI;
	wake(file);
	open_file_put(file);
	free(watch);
}

/* Those of `events` that are not watched yet. */
static void add_watch(struct open_file *file, unsigned int events)
{
	struct watch *watch;

	events &= WATCHED & ~file->watched;
	if (!events)
		return;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		abort();
	*watch = (struct watch){ .next = watches, .file = file, .events = events };
	watches = watch;
	file->watched |= events;
	file->nr_users++;
	put_poll(file, events, WAIT_MS);
	client_send(watch_end, watch);
}

static void poll_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;
	if (!err && len < 4)
		err = EIO;
	/* FUSE takes ENOSYS for: files of this mount are always ready. */
	if (err)
		task_reply_err(task, err == EOPNOTSUPP ? ENOSYS : err);
	else if (task_take_request(task))
		fuse_reply_poll(task->req, (unsigned int)client_number(body, 4) | task->told);
	free(task);
}

void files_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		struct fuse_pollhandle *poll)
{
	struct open_file *file = file_of(fi);
	struct task *task;

	(void)ino;
	if (poll) {
		files_poll_end(file);
		file->poll = poll;
	}
	if (file->kept.bytes) {
		fuse_reply_poll(req, fi->poll_events & READABLE);
		return;
	}
	task = task_begin(req, 2);
	if (!task)
		return;
	task->told = file->told & fi->poll_events;
	file->told &= ~task->told;
	put_poll(file, fi->poll_events, 0);
	client_send(poll_end, task);
	if (poll && !task->told)
		add_watch(file, fi->poll_events);
}
