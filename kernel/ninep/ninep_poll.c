/*
 * Waiting until an open file is readable: Tpoll. See ninep_session.h.
 *
 *   Tpoll --> an event is there, or it is not to wait --> Rpoll
 *     |
 *     '-----> list --thread looks each 10 ms--> Rpoll with the events, or without when time is over
 *
 * The list is not the queue of the fid's reads: so a read that waits holds no Tpoll up, and none of
 * them holds a read up. The thread is made by the first Tpoll that waits, and sleeps while none does.
 *
 * Locking:   `lock` guards the list, and is held while the thread answers. So a Tpoll that another
 *            thread has taken from the list is never answered afterwards.
 * Ownership: a struct ninep_poll belongs to the list. Its file stays, because ninep_fid_close()
 *            calls ninep_polls_end().
 */
#include <kernel/list.h>
#include <kernel/mm.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "ninep_session.h"

#define LOOK_NS	    (10 * NSEC_PER_MSEC)
#define REPLY_BYTES (NINEP_HEADER_BYTES + 4u)

struct ninep_poll {
	struct list link;
	struct file *file;
	uint32_t wanted;
	uint64_t end_ns;
	uint16_t tag;
};

struct ninep_polls {
	struct ninep_session *session;
	struct mutex lock;
	struct list list;
	_Atomic uint32_t nr;
	struct waitq work; /* the thread waits for the first one */
	bool has_thread;
};

struct ninep_polls *ninep_polls_create(struct ninep_session *session)
{
	struct ninep_polls *polls = kzalloc(sizeof(*polls));

	if (!polls)
		return NULL;
	polls->session = session;
	list_init(&polls->list);
	return polls;
}

/*
 * The events out of `wanted` that are there. A write is always possible: it waits for nothing that
 * is known before.
 */
static uint32_t poll_events(struct file *file, uint32_t wanted)
{
	uint32_t asked = FILE_IN | (wanted & NINEP_POLLPRI ? FILE_PRI : 0), found = 0, events = 0;

	if (file->flags & VFS_READ)
		found = file_events(file, asked);
	if (found & FILE_IN)
		events |= NINEP_POLLIN | NINEP_POLLRDNORM;
	if (found & FILE_PRI)
		events |= NINEP_POLLPRI;
	if (file->flags & VFS_WRITE)
		events |= NINEP_POLLOUT | NINEP_POLLWRNORM;
	return events & wanted;
}

/* Lock held. */
static void poll_free(struct ninep_polls *polls, struct ninep_poll *poll)
{
	list_remove(&poll->link);
	atomic_fetch_sub(&polls->nr, 1);
	kfree(poll);
}

/* Answer with events, or with -errno, and forget it. Lock held. */
static void poll_answer(struct ninep_polls *polls, struct ninep_poll *poll, uint32_t events,
			int err)
{
	uint8_t bytes[REPLY_BYTES];
	struct ninep_reply reply;

	ninep_reply_begin(&reply, bytes, sizeof(bytes));
	if (err) {
		ninep_reply_error(&reply, poll->tag, err);
	} else {
		ninep_put_number(&reply, events, 4);
		ninep_reply_end(&reply, NINEP_TPOLL + 1, poll->tag);
	}
	ninep_send(polls->session, &reply);
	poll_free(polls, poll);
}

static void poll_look(struct ninep_polls *polls)
{
	struct list *link, *following;

	mutex_lock(&polls->lock);
	list_for_each_safe(link, following, &polls->list) {
		struct ninep_poll *poll = list_entry(link, struct ninep_poll, link);
		uint32_t events = poll_events(poll->file, poll->wanted);

		if (events || ktime_get_ns() >= poll->end_ns)
			poll_answer(polls, poll, events, 0);
	}
	mutex_unlock(&polls->lock);
}

static bool poll_is_there(void *arg)
{
	struct ninep_polls *polls = arg;

	return atomic_load(&polls->nr);
}

static int poll_main(void *arg)
{
	struct ninep_polls *polls = arg;

	while (!waitq_wait(&polls->work, poll_is_there, polls, false, WAIT_FOREVER)) {
		poll_look(polls);
		thread_sleep_ns(LOOK_NS);
	}
	return 0;
}

/* The thread of the channel. 0 or -ENOMEM. */
static int poll_start(struct ninep_polls *polls)
{
	if (!polls->has_thread)
		polls->has_thread = thread_create("9p-poll", poll_main, polls,
						  THREAD_SERVICE | THREAD_DETACHED);
	return polls->has_thread ? 0 : -ENOMEM;
}

static int poll_later(struct ninep_polls *polls, struct file *file,
		      const struct ninep_request *request)
{
	struct ninep_poll *poll;

	if (atomic_load(&polls->nr) >= NINEP_POLLS_MAX)
		return -EAGAIN;
	if (poll_start(polls))
		return -ENOMEM;
	poll = kmalloc(sizeof(*poll));
	if (!poll)
		return -ENOMEM;
	poll->file = file;
	poll->wanted = request->flags;
	poll->end_ns = ktime_after(request->count * NSEC_PER_MSEC);
	poll->tag = request->tag;
	mutex_lock(&polls->lock);
	list_add_tail(&polls->list, &poll->link);
	atomic_fetch_add(&polls->nr, 1);
	mutex_unlock(&polls->lock);
	waitq_wake_all(&polls->work);
	return NINEP_LATER;
}

int ninep_poll(struct ninep_session *session, const struct ninep_request *request,
	       struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	uint32_t events = NINEP_POLLIN | NINEP_POLLRDNORM; /* of a directory */

	if (!fid || !fid->is_open)
		return -EBADF;
	if (fid->file)
		events = poll_events(fid->file, request->flags);
	if (!(events & request->flags) && request->count && fid->file)
		return poll_later(session->polls, fid->file, request);
	ninep_put_number(reply, events & request->flags, 4);
	return 0;
}

void ninep_polls_flush(struct ninep_polls *polls, uint16_t tag)
{
	struct list *link, *following;

	mutex_lock(&polls->lock);
	list_for_each_safe(link, following, &polls->list) {
		struct ninep_poll *poll = list_entry(link, struct ninep_poll, link);

		if (poll->tag == tag)
			poll_free(polls, poll);
	}
	mutex_unlock(&polls->lock);
}

void ninep_polls_end(struct ninep_polls *polls, const struct file *file)
{
	struct list *link, *following;

	mutex_lock(&polls->lock);
	list_for_each_safe(link, following, &polls->list) {
		struct ninep_poll *poll = list_entry(link, struct ninep_poll, link);

		if (poll->file == file)
			poll_answer(polls, poll, 0, -EBADF);
	}
	mutex_unlock(&polls->lock);
}
