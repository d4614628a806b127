/*
 * What the files of the mount share: requests of FUSE on their way, and open files.
 */
#ifndef FILES_PRIVATE_H
#define FILES_PRIVATE_H

#include "files.h"
#include "client.h"
#include "node.h"
#include <stdbool.h>

/* What FUSE has as the handle of an open file. */
struct open_file {
	uint32_t fid;
	int flags;     /* that it was opened with */
	bool is_again; /* not for the first time */
	off_t start;   /* of a stream: where its positions begin for the kernel */
};

/* A request of FUSE on its way. */
struct task {
	fuse_req_t req;
	int err;		/* the first */
	int tag;		/* of the one that may have to wait */
	uint32_t fid;		/* made for it */
	struct open_file *file; /* the same */
	size_t size;		/* of the buffer */
	off_t offset;		/* of a read */
	bool has_entry;		/* create: the open file goes with an entry */
	struct fuse_file_info fi;
};

struct task *task_of(fuse_req_t req);
/* The first error of its requests is the one that counts. */
void note_error(struct task *task, int err);
/* Answers: of a step before the last one; of the last one, when there is nothing to tell but the error. */
void task_step(void *arg, int err, const uint8_t *body, size_t len);
void task_end(void *arg, int err, const uint8_t *body, size_t len);
/* Send what was begun; when that cannot be, done() is called at once. Returns its tag, or -1. */
int send_or_end(client_done_fn done, struct task *task);

uint32_t fid_of(fuse_ino_t ino);
/* Begin a request: fid `to` is to be what `name` is in `from`; NULL: what `from` is. */
void put_walk(uint32_t from, uint32_t to, const char *name);
/* Find the file of that name; the task ends with an entry of FUSE. */
void look_up(struct task *task, uint32_t parent, const char *name);

/* ---- Open files and directories: files_open.c ---- */

void files_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void files_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		  struct fuse_file_info *fi);
/* The kernel forgets it. */
void open_file_end(struct open_file *file);
void files_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void files_fsync(fuse_req_t req, fuse_ino_t ino, int is_data_only, struct fuse_file_info *fi);
void files_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi);
void files_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
		 struct fuse_file_info *fi);
void files_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		   struct fuse_file_info *fi);

#endif
