/*
 * poll(2) on files of the mount. FUSE asks which events there are, has its answer at once, and is
 * told when it should ask again. See files.h.
 *
 *   files_poll --> Tpoll, not to wait --> the answer
 *        '-------> Tpoll, to wait ------> fuse_lowlevel_notify_poll --> files_poll ...
 *
 * FUSE does not say when a program has stopped waiting. So the Tpoll that waits does so for a while
 * only; then whoever still waits asks again, and if there is no one, nothing more happens.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include "files_private.h"

#define WAIT_MS	 5000u
#define READABLE ((unsigned int)(POLLIN | POLLRDNORM))

static struct open_file *watched;

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
	for (struct open_file *file = watched; file; file = file->next)
		wake(file);
}

static void watch_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct open_file *file = arg, **link = &watched;

	(void)err;
	(void)body;
	(void)len;
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	file->is_watched = false;
	wake(file);
	open_file_put(file);
}

static void watch(struct open_file *file)
{
	if (file->is_watched)
		return;
	file->is_watched = true;
	file->nr_users++;
	file->next = watched;
	watched = file;
	put_poll(file, READABLE, WAIT_MS);
	client_send(watch_end, file);
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
		fuse_reply_poll(task->req, (unsigned int)client_number(body, 4));
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
	put_poll(file, fi->poll_events, 0);
	client_send(poll_end, task);
	if (poll && fi->poll_events & READABLE)
		watch(file);
}
