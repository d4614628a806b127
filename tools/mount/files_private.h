/*
 * Types and functions that the files of the mount share: requests of FUSE on their way, and open
 * files.
 */
#ifndef FILES_PRIVATE_H
#define FILES_PRIVATE_H

#include "files.h"
#include "client.h"
#include "node.h"
#include "task.h"
#include <stdbool.h>

/* Bytes of a stream that the kernel has handed out, and that no reader has taken. */
struct kept_bytes {
	uint8_t *bytes; /* NULL: none */
	size_t len;
	off_t offset; /* of the first */
};

/* An open file: FUSE's handle points to it. */
struct open_file {
	unsigned int nr_users; /* FUSE, tasks, and the Tpoll on its way */
	uint32_t fid;
	int flags;		/* that it was opened with, and O_NONBLOCK as it is now */
	struct task *orphan;	/* a read that its program does not wait for any more */
	struct kept_bytes kept; /* of such a read */
	/* the waiter to tell when it may be readable; NULL: FUSE has not asked */
	struct fuse_pollhandle *poll;
	unsigned int watched; /* events that a Tpoll waits for */
	unsigned int told;    /* events that the guest has told, and FUSE does not know */
};

uint32_t fid_of(fuse_ino_t ino);
/* Begin a request: fid `to` is to be what `name` is in `from`; NULL: what `from` is. */
void put_walk(uint32_t from, uint32_t to, const char *name);
/* Find the file of that name, with so many requests; the task ends with an entry of FUSE. */
#define LOOK_UP_REQUESTS 2u
void look_up(struct task *task, uint32_t parent, const char *name);

/* ---- Open files and directories: files_open.c ---- */

void files_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void files_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		  struct fuse_file_info *fi);
/* The kernel forgets it; users that it has may go on. */
void open_file_end(struct open_file *file);
/* One user less. */
void open_file_put(struct open_file *file);
struct open_file *file_of(const struct fuse_file_info *fi);

/* ---- Polling: files_poll.c ---- */

void files_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		struct fuse_pollhandle *poll);
/* Forget the file's waiter: it is not told any more. */
void files_poll_end(struct open_file *file);

void files_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void files_fsync(fuse_req_t req, fuse_ino_t ino, int is_data_only, struct fuse_file_info *fi);

/* ---- Reading and writing: files_io.c ---- */

/* Begin a request for `size` bytes at `offset`. */
void put_io(enum client_type type, uint32_t fid, off_t offset, size_t size);
void files_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi);
void files_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
		 struct fuse_file_info *fi);
void files_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		   struct fuse_file_info *fi);

#endif
