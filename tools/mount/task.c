/* Requests of FUSE on their way. See task.h. */
#include "task.h"
#include <errno.h>
#include <stdlib.h>
#include "node.h"

/* Requests that are left for ending what there is: fids, reads that wait. */
#define SPARE	      64u
#define TICK_MS	      1000u
#define GRACE_TICK_MS 100u

static struct task waiting = { .next = &waiting, .prev = &waiting };
static uint64_t patience_ms;
static tasks_tell_fn tell;
static bool is_silent;

void tasks_init(uint64_t patience, tasks_tell_fn tell_fn)
{
	patience_ms = patience;
	tell = tell_fn;
}

bool tasks_guest_is_silent(void)
{
	return is_silent;
}

/* ---- Answers for FUSE ---- */

static void unlink_task(struct task *task)
{
	task->prev->next = task->next;
	task->next->prev = task->prev;
}

bool task_take_request(struct task *task)
{
	if (!task->req)
		return false;
	unlink_task(task);
	return true;
}

void task_reply_err(struct task *task, int err)
{
	if (task_take_request(task))
		fuse_reply_err(task->req, err);
	task->req = NULL;
}

/* FUSE does not wait any longer; the guest may still do what it was asked for. */
static void leave_alone(struct task *task, int err)
{
	task_reply_err(task, err);
	if (task->left_alone)
		task->left_alone(task);
}

/* The program that waits got a signal. FUSE may call this within fuse_req_interrupt_func(). */
static void interrupt(fuse_req_t req, void *arg)
{
	struct task *task = arg;

	(void)req;
	task->interrupted_ms = client_now_ms();
	if (task->tag >= 0)
		client_flush(task->tag);
	client_probe();
}

void task_adopt(struct task *task, fuse_req_t req)
{
	task->req = req;
	task->interrupted_ms = 0;
	task->next = &waiting;
	task->prev = waiting.prev;
	task->prev->next = waiting.prev = task;
	fuse_req_interrupt_func(req, interrupt, task);
}

struct task *task_begin(fuse_req_t req, unsigned int nr_requests)
{
	struct task *task;

	if (is_silent || !client_can_send(nr_requests + SPARE)) {
		fuse_reply_err(req, is_silent ? EHOSTDOWN : EAGAIN);
		return NULL;
	}
	task = calloc(1, sizeof(*task));
	if (!task)
		abort();
	task->tag = -1;
	task_adopt(task, req);
	return task;
}

void task_send(struct task *task, client_done_fn done)
{
	task->tag = client_send(done, task);
	if (task->interrupted_ms)
		client_flush(task->tag);
}

void task_has_answer(struct task *task)
{
	task->tag = -1;
}

void note_error(struct task *task, int err)
{
	if (!task->err)
		task->err = err;
}

void task_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;

	(void)body;
	(void)len;
	note_error(task, err);
	task_reply_err(task, task->err);
	free(task);
}

void task_step(void *arg, int err, const uint8_t *body, size_t len)
{
	(void)body;
	(void)len;
	note_error(arg, err);
}

/* ---- Time ---- */

static bool is_past_grace(const struct task *task)
{
	if (!task->interrupted_ms)
		return false;
	/* A guest that waits may have been silent for long; one that has a probe to answer may not. */
	if (client_probed_ms() >= TASK_GRACE_MS && client_silent_ms() >= TASK_GRACE_MS)
		return true;
	return client_now_ms() - task->interrupted_ms >= TASK_GRACE_MAX_MS;
}

static void notice_silence(void)
{
	uint64_t silent_ms = client_silent_ms();
	bool was_silent = is_silent;

	if (silent_ms >= patience_ms / 4)
		client_probe();
	/* A program that was stopped itself sees much time pass at once: the probe needs its time. */
	if (silent_ms >= patience_ms && client_probed_ms() >= patience_ms / 2)
		is_silent = true;
	else if (silent_ms < patience_ms)
		is_silent = false;
	if (is_silent != was_silent)
		tell(is_silent ? silent_ms : 0);
}

void tasks_tick(void)
{
	struct task *task, *next;

	notice_silence();
	for (task = waiting.next; task != &waiting; task = next) {
		next = task->next;
		if (is_past_grace(task))
			leave_alone(task, EINTR);
		else if (is_silent)
			leave_alone(task, EHOSTDOWN);
	}
}

int tasks_wait_ms(void)
{
	if (!client_is_waiting())
		return -1;
	for (struct task *task = waiting.next; task != &waiting; task = task->next) {
		if (task->interrupted_ms)
			return GRACE_TICK_MS;
	}
	return (int)(patience_ms / 8 < TICK_MS ? patience_ms / 8 + 1 : TICK_MS);
}
