/*
 * Reads and writes that may wait, each fid's in a thread of its own. See ninep_session.h.
 *
 *   ninep_waits_add --> queue --> current --> reply
 *                         ^          ^
 *                         '- flush --'  taken out, or the thread is interrupted
 *
 * The thread drops earlier interrupts when it takes a job, under the lock: so an interrupt only
 * ever ends the job that it was meant for.
 *
 * Locking: `lock` guards the queue, `current` and the flags of jobs.
 */
#include <kernel/list.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include "ninep_session.h"

struct ninep_job {
	struct list link;
	uint8_t type; /* NINEP_TREAD or NINEP_TWRITE */
	uint16_t tag;
	bool is_flushed;
	uint64_t offset;
	uint32_t count;
	/* NINEP_READ_BYTES, then `count` bytes of data: at most a message, which is whole pages. */
	uint8_t *bytes;
};

struct ninep_waits {
	struct ninep_session *session;
	struct file *file;
	struct thread *thread;
	struct spinlock lock;
	struct list queue;
	uint32_t nr_queued;
	struct ninep_job *current;
	bool is_ending;
	struct waitq work;  /* the thread waits for jobs */
	struct waitq ended; /* ninep_waits_flush() waits for the end of `current` */
};

static void wait_free_job(struct ninep_waits *waits, struct ninep_job *job)
{
	atomic_fetch_sub(&waits->session->wait_bytes, NINEP_READ_BYTES + job->count);
	kfree(job->bytes);
	kfree(job);
}

static bool wait_has_job(void *arg)
{
	struct ninep_waits *waits = arg;
	bool answer;

	spin_lock(&waits->lock);
	answer = waits->is_ending || !list_empty(&waits->queue);
	spin_unlock(&waits->lock);
	return answer;
}

/* Make the first job the current one; NULL: there is none, the thread is to end. */
static struct ninep_job *wait_take_job(struct ninep_waits *waits)
{
	struct ninep_job *job = NULL;

	waitq_wait(&waits->work, wait_has_job, waits, false, WAIT_FOREVER);
	spin_lock(&waits->lock);
	if (!list_empty(&waits->queue)) {
		job = list_entry(waits->queue.next, struct ninep_job, link);
		list_remove(&job->link);
		waits->nr_queued--;
		waits->current = job;
		thread_clear_interrupt();
		if (waits->is_ending)
			thread_interrupt(current_thread());
	}
	spin_unlock(&waits->lock);
	return job;
}

static ssize_t wait_do_job(struct ninep_waits *waits, struct ninep_job *job)
{
	uint8_t *data = job->bytes + NINEP_READ_BYTES;

	if (job->type == NINEP_TREAD)
		return file_read_at(waits->file, data, job->count, job->offset);
	return file_write_at(waits->file, data, job->count, job->offset);
}

static void wait_answer(struct ninep_waits *waits, struct ninep_job *job, ssize_t result)
{
	struct ninep_reply reply;

	ninep_reply_begin(&reply, job->bytes, NINEP_READ_BYTES + job->count);
	if (result < 0) {
		ninep_reply_error(&reply, job->tag, (int)result);
	} else {
		ninep_put_number(&reply, (uint64_t)result, 4);
		if (job->type == NINEP_TREAD)
			reply.len += (size_t)result; /* the data is there already */
		ninep_reply_end(&reply, job->type + 1, job->tag);
	}
	ninep_send(waits->session, &reply);
}

/* The current job is over. It is not answered when it was flushed and has done nothing. */
static void wait_end_job(struct ninep_waits *waits, struct ninep_job *job, ssize_t result)
{
	bool is_flushed;

	spin_lock(&waits->lock);
	is_flushed = job->is_flushed;
	spin_unlock(&waits->lock);
	if (!is_flushed || result != -EINTR)
		wait_answer(waits, job, result);
	spin_lock(&waits->lock);
	waits->current = NULL;
	spin_unlock(&waits->lock);
	waitq_wake_all(&waits->ended);
	wait_free_job(waits, job);
}

static int wait_main(void *arg)
{
	struct ninep_waits *waits = arg;
	struct ninep_job *job;

	while ((job = wait_take_job(waits)))
		wait_end_job(waits, job, wait_do_job(waits, job));
	return 0;
}

int ninep_waits_create(struct ninep_session *session, struct ninep_fid *fid)
{
	struct ninep_waits *waits;

	if (session->nr_waits == NINEP_WAITS_MAX)
		return -EMFILE;
	waits = kzalloc(sizeof(*waits));
	if (!waits)
		return -ENOMEM;
	waits->session = session;
	waits->file = fid->file;
	list_init(&waits->queue);
	waits->thread = thread_create("9p-wait", wait_main, waits, THREAD_SERVICE);
	if (!waits->thread) {
		kfree(waits);
		return -ENOMEM;
	}
	fid->waits = waits;
	session->nr_waits++;
	return 0;
}

void ninep_waits_destroy(struct ninep_session *session, struct ninep_fid *fid)
{
	struct ninep_waits *waits = fid->waits;

	spin_lock(&waits->lock);
	waits->is_ending = true;
	thread_interrupt(waits->thread);
	spin_unlock(&waits->lock);
	waitq_wake_all(&waits->work);
	thread_join_wait(waits->thread);
	kfree(waits);
	fid->waits = NULL;
	session->nr_waits--;
}

/* A job with room for its bytes, which are counted; NULL when out of memory. */
static struct ninep_job *wait_create_job(struct ninep_waits *waits,
					 const struct ninep_request *request)
{
	struct ninep_job *job = kmalloc(sizeof(*job));
	uint8_t *bytes = kmalloc(NINEP_READ_BYTES + request->count);

	if (!job || !bytes) {
		kfree(job);
		kfree(bytes);
		return NULL;
	}
	*job = (struct ninep_job){ .type = request->type,
				   .tag = request->tag,
				   .offset = request->offset,
				   .count = request->count,
				   .bytes = bytes };
	atomic_fetch_add(&waits->session->wait_bytes, NINEP_READ_BYTES + job->count);
	return job;
}

int ninep_waits_add(struct ninep_fid *fid, const struct ninep_request *request)
{
	struct ninep_waits *waits = fid->waits;
	const struct ninep_session *session = waits->session;
	size_t bytes = NINEP_READ_BYTES + request->count;
	struct ninep_job *job;

	/* The number can only fall meanwhile: only the calling thread adds jobs. */
	if (waits->nr_queued >= NINEP_JOBS_MAX ||
	    atomic_load(&session->wait_bytes) + bytes > session->wait_bytes_max)
		return -EAGAIN;
	job = wait_create_job(waits, request);
	if (!job)
		return -ENOMEM;
	if (request->type == NINEP_TWRITE)
		memcpy(job->bytes + NINEP_READ_BYTES, request->data, request->count);
	spin_lock(&waits->lock);
	list_add_tail(&waits->queue, &job->link);
	waits->nr_queued++;
	spin_unlock(&waits->lock);
	waitq_wake_all(&waits->work);
	return 0;
}

/* Take a job that has not begun out of the queue. NULL when none has this tag. Lock held. */
static struct ninep_job *wait_unqueue(struct ninep_waits *waits, uint16_t tag)
{
	struct list *link;

	list_for_each(link, &waits->queue) {
		struct ninep_job *job = list_entry(link, struct ninep_job, link);

		if (job->tag == tag) {
			list_remove(&job->link);
			waits->nr_queued--;
			return job;
		}
	}
	return NULL;
}

struct wait_end {
	struct ninep_waits *waits;
	const struct ninep_job *job; /* only compared: no other job is queued meanwhile */
};

static bool wait_has_ended(void *arg)
{
	struct wait_end *end = arg;
	bool answer;

	spin_lock(&end->waits->lock);
	answer = end->waits->current != end->job;
	spin_unlock(&end->waits->lock);
	return answer;
}

void ninep_waits_flush(struct ninep_fid *fid, uint16_t tag)
{
	struct ninep_waits *waits = fid->waits;
	struct wait_end end = { .waits = waits };
	struct ninep_job *job;

	spin_lock(&waits->lock);
	job = wait_unqueue(waits, tag);
	if (!job && waits->current && waits->current->tag == tag) {
		end.job = waits->current;
		waits->current->is_flushed = true;
		thread_interrupt(waits->thread);
	}
	spin_unlock(&waits->lock);
	if (job)
		wait_free_job(waits, job);
	if (end.job)
		waitq_wait(&waits->ended, wait_has_ended, &end, false, WAIT_FOREVER);
}
