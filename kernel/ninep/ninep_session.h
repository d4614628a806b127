/*
 * A session: one client on one channel, and its fids, by which it names files.
 *
 *   channel --> frame --> request --> handler --> reply --> channel
 *                            |                     ^
 *                            '--> job of a fid ----'   reads and writes that may wait
 *
 * A fid remembers a path and the identity of the file that was found there: when another file is
 * there later, the fid leads to nothing. When its own client renames the file, the fid follows it.
 * Requests are served in the order in which they come, by the thread of the channel. Only reads and
 * writes that may wait for something to happen (trace_pipe, the console) go to a thread that the
 * fid has for it, so that Tflush gets through. A Tpoll that waits is left with one thread for all
 * of them.
 *
 * Context:   thread.
 * Locking:   fids belong to the thread of the channel. `send_lock`: one reply at a time.
 * Ownership: a session lives as long as its channel, for ever. Tversion ends the remains of the
 *            client before: its fids, and replies that were not sent yet.
 */
#ifndef NINEP_SESSION_H
#define NINEP_SESSION_H

#include <kernel/lock.h>
#include <kernel/vfs.h>
#include "ninep_frame.h"
#include "ninep_msg.h"

#define NINEP_MSIZE_MAX (128u << 10) /* bytes of a message; also what Linux's client asks for */
#define NINEP_MSIZE_MIN 512u
#define NINEP_FIDS_MAX	4096u
#define NINEP_WAITS_MAX 64u  /* fids that have a thread */
#define NINEP_JOBS_MAX	64u  /* requests that wait for one fid */
#define NINEP_POLLS_MAX 256u /* Tpolls that wait */
#define NINEP_FID_LISTS 256u
/*
 * Limits for the data of all requests that wait: so many bytes, and at most this part of the
 * memory.
 */
#define NINEP_WAIT_BYTES_MAX (8u << 20)
#define NINEP_WAIT_PART	     16u

/* A line that carries bytes. One thread reads, one at a time writes. */
struct ninep_channel {
	const char *name; /* also of the thread */
	/*
	 * Take bytes that have come, up to `len`; waits for the first. -ETIMEDOUT after timeout_ns.
	 */
	ssize_t (*read)(void *buf, size_t len, uint64_t timeout_ns);
	/* Send all of it; waits for room. Between abort and resume it returns at once. */
	void (*write)(const void *buf, size_t len);
	/* Throw away the bytes that were not sent yet. */
	void (*abort)(void);
	void (*resume)(void);
};

struct ninep_fid {
	struct ninep_fid *next; /* in its list of the session */
	uint32_t nr;
	uint64_t id; /* of the file, as vfs_stat() has it */
	bool is_dir;
	bool is_open;
	bool is_used;		   /* something was read or written since it was opened */
	struct file *file;	   /* of an open fid that is no directory */
	struct ninep_dir *dir;	   /* the directory that is being listed */
	struct ninep_waits *waits; /* reads and writes that wait */
	char *path;
};

struct ninep_session {
	const struct ninep_channel *channel;
	struct ninep_frame frame;
	uint8_t *in;	/* NINEP_MSIZE_MAX bytes each */
	uint8_t *out;	/* the reply that the channel's thread makes */
	uint32_t msize; /* the longest message that both sides can take; 0 before Tversion */
	struct mutex send_lock;
	_Atomic bool is_ending; /* the client has gone: no reply is wanted any more */
	uint32_t nr_fids;
	uint32_t nr_waits;
	struct ninep_polls *polls; /* Tpolls that wait */
	size_t wait_bytes_max;
	_Atomic size_t wait_bytes; /* of the requests that wait; their threads take from it */
	struct ninep_fid *fids[NINEP_FID_LISTS];
};

/* Serve the client on `channel`. Returns only when there is no memory to begin: -ENOMEM. */
int ninep_serve(const struct ninep_channel *channel);
/* Send a reply that is complete. Any thread. */
void ninep_send(struct ninep_session *session, const struct ninep_reply *reply);

/* Listen on a port of virtio-serial, if there is one: ninep_virtio.c. Boot. */
void ninep_virtio_init(void);

/* ---- Fids: ninep_fid.c ---- */

/* NULL when there is no such fid. */
struct ninep_fid *ninep_fid_find(struct ninep_session *session, uint32_t nr);
/*
 * Have fid `nr` stand for `path`, where the file of `stat` was found; it ends its old meaning. 0;
 * -EMFILE: too many; -ENOMEM.
 */
int ninep_fid_set(struct ninep_session *session, uint32_t nr, const char *path,
		  const struct vfs_stat *stat);
/* A fid for that path which is in no session yet; NULL when out of memory. */
struct ninep_fid *ninep_fid_make(const char *path, const struct vfs_stat *stat);
/* Have number `nr` stand for `fid` from now on; an old fid of that number is freed. */
void ninep_fid_put(struct ninep_session *session, uint32_t nr, struct ninep_fid *fid);
/* Close the file of a fid that is in no session, and free the fid. 0, or the error of closing. */
int ninep_fid_free(struct ninep_session *session, struct ninep_fid *fid);
/* Close and forget the fid. 0, or the error of closing its file. */
int ninep_fid_drop(struct ninep_session *session, struct ninep_fid *fid);
void ninep_fid_drop_all(struct ninep_session *session);
/* Close the file; the fid stays. 0, or the error of closing. */
int ninep_fid_close(struct ninep_session *session, struct ninep_fid *fid);
/*
 * The file or directory at `path` has `new_path` now: change the fids that stand for it, or for
 * files in it. A fid for which there is no memory, or whose path becomes too long, leads to
 * nothing.
 */
void ninep_fid_rename(struct ninep_session *session, const char *path, const char *new_path);
/* Facts about the file. -ENOENT when it has gone, also when another file is in its place. */
int ninep_fid_stat(const struct ninep_fid *fid, struct vfs_stat *out_stat);
/*
 * The path of `name` in the directory `path`, into VFS_PATH_MAX bytes. 0, or -errno: -ENOTDIR
 * unless `is_dir`, -ENAMETOOLONG, -ENOENT for a name that no file can have.
 */
int ninep_child_path(const char *path, bool is_dir, const struct ninep_text *name, char *out_path);
struct ninep_qid ninep_qid_of(const struct vfs_stat *stat);

/* ---- Reads and writes that may wait: ninep_wait.c ---- */

/* Give an open fid what it needs to wait. 0, -ENOMEM, or -EMFILE: too many. */
int ninep_waits_create(struct ninep_session *session, struct ninep_fid *fid);
/* End all waiting requests with -EINTR, and forget them. */
void ninep_waits_destroy(struct ninep_session *session, struct ninep_fid *fid);
/*
 * Serve a Tread or Twrite; its reply comes later. 0, -ENOMEM, or -EAGAIN: too many wait, or those
 * that do have too many bytes.
 */
int ninep_waits_add(struct ninep_fid *fid, const struct ninep_request *request);
/*
 * If request `tag` waits, end it. When this returns, the request has been answered or never will
 * be.
 */
void ninep_waits_flush(struct ninep_fid *fid, uint16_t tag);

/* ---- Waiting until a file is readable: ninep_poll.c ---- */

/* NULL when out of memory. */
struct ninep_polls *ninep_polls_create(struct ninep_session *session);
/* Forget the Tpoll with that tag, if it waits: it is never answered. */
void ninep_polls_flush(struct ninep_polls *polls, uint16_t tag);
/* Answer the Tpolls of `file`, which is about to be closed, with EBADF. */
void ninep_polls_end(struct ninep_polls *polls, const struct file *file);
int ninep_poll(struct ninep_session *session, const struct ninep_request *request,
	       struct ninep_reply *reply);

/* ---- Directories: ninep_dir.c ---- */

/*
 * Put entries of the directory into a Treaddir's reply, from number `offset` on. The directory is
 * read when `offset` is 0: later calls list the entries of that moment. 0 or -errno.
 */
int ninep_dir_read(struct ninep_fid *fid, const struct ninep_request *request,
		   struct ninep_reply *reply);
void ninep_dir_free(struct ninep_dir *dir);

/*
 * ---- Handlers: ninep_names.c, ninep_open.c, ninep_poll.c ----
 *
 * Put the body into `reply` and return 0, or return -errno. NINEP_LATER: a thread will answer.
 */
#define NINEP_LATER 1
typedef int (*ninep_handler_fn)(struct ninep_session *session, const struct ninep_request *request,
				struct ninep_reply *reply);

int ninep_attach(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply);
int ninep_walk(struct ninep_session *session, const struct ninep_request *request,
	       struct ninep_reply *reply);
int ninep_getattr(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply);
int ninep_statfs(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply);
int ninep_mkdir(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply);
int ninep_unlinkat(struct ninep_session *session, const struct ninep_request *request,
		   struct ninep_reply *reply);
int ninep_rename(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply);
int ninep_renameat(struct ninep_session *session, const struct ninep_request *request,
		   struct ninep_reply *reply);
int ninep_remove(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply);
int ninep_clunk(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply);

int ninep_lopen(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply);
int ninep_lcreate(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply);
int ninep_read(struct ninep_session *session, const struct ninep_request *request,
	       struct ninep_reply *reply);
int ninep_write(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply);
int ninep_readdir(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply);
int ninep_fsync(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply);
int ninep_setattr(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply);
int ninep_setfl(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply);

#endif
