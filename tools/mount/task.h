/*
 * Requests of FUSE on their way. Each has one task, from its arrival to the last answer of 9P that
 * was asked for because of it.
 *
 *   task_begin --> requests of 9P --> their answers --> task_reply_* , task_end
 *        |                                 ^
 *        '--> interrupted, or the guest is silent: FUSE has its answer, the task goes on without
 *
 * So a program that waits can always be ended, and what comes late for it is still put in order: a
 * fid that was opened is forgotten again, bytes that were read stay for who reads next.
 *
 * An interrupted task is answered as soon as the guest has answered its Tflush, so that nothing is
 * lost that it has done; but when a probe has had no answer for TASK_GRACE_MS, or the task does not
 * come to an end in TASK_GRACE_MAX_MS, at that moment. A guest is silent when it has answered nothing for the
 * time of tasks_init(), not even a probe. Then all tasks end with EHOSTDOWN, and so do new ones until
 * something is heard of it.
 *
 * All functions belong to one thread.
 */
#ifndef TASK_H
#define TASK_H

#include "files.h"
#include "client.h"
#include <stdbool.h>

#define TASK_GRACE_MS	  1000u
#define TASK_GRACE_MAX_MS 10000u

struct open_file;

struct task {
	struct task *next; /* of those whose FUSE request waits */
	struct task *prev;
	fuse_req_t req;		 /* NULL: it was answered */
	int err;		 /* the first */
	int tag;		 /* of the request that may have to wait; -1: none is on its way */
	uint64_t interrupted_ms; /* when; 0: it was not */
	uint32_t fid;		 /* made for it */
	struct open_file *file;	 /* the same, or what is read */
	size_t size;		 /* of the buffer */
	off_t offset;		 /* of a read */
	unsigned int told;	 /* of a poll: events that were known before */
	bool has_entry;		 /* create: the open file goes with an entry */
	bool is_adopted;	 /* a read that was flushed, and that another one waits for now */
	/* Called when FUSE has its answer before the end; may be NULL. */
	void (*left_alone)(struct task *task);
	struct fuse_file_info fi;
};

/* The guest has become silent after so many ms; or, with 0, has been heard of again. */
typedef void (*tasks_tell_fn)(uint64_t silent_ms);

/* Before anything else; `patience_ms` is how long the guest may be silent. */
void tasks_init(uint64_t patience_ms, tasks_tell_fn tell);
/* End the tasks whose time has come. Called now and then: at the latest after tasks_wait_ms(). */
void tasks_tick(void);
/* -1: nothing is waited for. */
int tasks_wait_ms(void);
bool tasks_guest_is_silent(void);

/*
 * A task for a request of FUSE that needs `nr_requests` of 9P, which then can be sent. NULL: they
 * cannot, or the guest is silent; FUSE has been told.
 */
struct task *task_begin(fuse_req_t req, unsigned int nr_requests);
/* FUSE waits for it, again: another request has come for what the task does. */
void task_adopt(struct task *task, fuse_req_t req);
/* Send what was begun, which may wait for long, and be flushed. */
void task_send(struct task *task, client_done_fn done);
/* Its answer has come. */
void task_has_answer(struct task *task);
/* Does FUSE still wait? If so the caller answers `task->req` now, by some fuse_reply_*(). */
bool task_take_request(struct task *task);
/* Answer with an error, if FUSE still waits. */
void task_reply_err(struct task *task, int err);
/* The first error of its requests is the one that counts. */
void note_error(struct task *task, int err);
/* Answers: of a step before the last one; of the last one, when there is nothing to tell but the error. */
void task_step(void *arg, int err, const uint8_t *body, size_t len);
void task_end(void *arg, int err, const uint8_t *body, size_t len);

#endif
