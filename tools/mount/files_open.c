/*
 * Open files and directories of the mount: each has a fid of its own. See files.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "files_private.h"

#define QID_BYTES 13u

/* ---- Files ---- */

struct open_file *file_of(const struct fuse_file_info *fi)
{
	return (struct open_file *)(uintptr_t)fi->fh;
}

void open_file_put(struct open_file *file)
{
	if (--file->nr_users)
		return;
	free(file->kept.bytes);
	free(file);
}

void open_file_end(struct open_file *file)
{
	files_poll_end(file);
	fid_clunk(file->fid);
	open_file_put(file);
}

static void open_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;

	(void)body;
	(void)len;
	note_error(task, err);
	if (task->err)
		task_reply_err(task, task->err);
	if (task->err || !task_take_request(task) || fuse_reply_open(task->req, &task->fi))
		open_file_end(task->file);
	free(task);
}

/* The task gets a fid of its own for the open file. Its bytes pass the page cache by. */
static void walk_to_file(struct task *task, uint32_t fid, const struct fuse_file_info *fi)
{
	struct open_file *file = calloc(1, sizeof(*file));

	if (!file)
		abort();
	*file = (struct open_file){ .nr_users = 1, .fid = fid_new(), .flags = fi->flags };
	task->file = file;
	task->fi = *fi;
	task->fi.fh = (uintptr_t)file;
	task->fi.direct_io = 1;
	put_walk(fid, file->fid, NULL);
	client_send(task_step, task);
}

void files_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct task *task = task_begin(req, 2);

	if (!task)
		return;
	walk_to_file(task, fid_of(ino), fi);
	client_begin(TLOPEN);
	client_put(task->file->fid, 4);
	client_put((unsigned int)fi->flags, 4);
	client_send(open_end, task);
}

void files_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		  struct fuse_file_info *fi)
{
	struct task *task = task_begin(req, 2 + LOOK_UP_REQUESTS);

	if (!task)
		return;
	task->has_entry = true;
	walk_to_file(task, fid_of(parent), fi);
	client_begin(TLCREATE);
	client_put(task->file->fid, 4);
	client_put_text(name);
	client_put((unsigned int)fi->flags, 4);
	client_put(mode, 4);
	client_put(0, 4);
	client_send(task_step, task);
	look_up(task, fid_of(parent), name);
}

/* A change that takes effect at a close does so before any request that comes later. */
void files_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	open_file_end(file_of(fi));
	fuse_reply_err(req, 0);
}

void files_fsync(fuse_req_t req, fuse_ino_t ino, int is_data_only, struct fuse_file_info *fi)
{
	struct task *task = task_begin(req, 1);

	(void)ino;
	if (!task)
		return;
	client_begin(TFSYNC);
	client_put(file_of(fi)->fid, 4);
	client_put(is_data_only != 0, 4);
	client_send(task_end, task);
}

/* ---- Directories ---- */

/* An entry of Rreaddir at `at`: qid[13] offset[8] type[1] name[s]. Its length, 0 at the end. */
static size_t read_entry(const uint8_t *at, size_t len, struct stat *out_attr, char *out_name)
{
	size_t name_len;

	if (len < QID_BYTES + 11)
		return 0;
	name_len = client_number(at + QID_BYTES + 9, 2);
	if (name_len > len - QID_BYTES - 11 || name_len > NAME_MAX)
		return 0;
	memset(out_attr, 0, sizeof(*out_attr));
	out_attr->st_ino = client_number(at + 5, 8);
	out_attr->st_mode = (mode_t)(at[QID_BYTES + 8] == DT_DIR ? S_IFDIR : S_IFREG);
	memcpy(out_name, at + QID_BYTES + 11, name_len);
	out_name[name_len] = '\0';
	return QID_BYTES + 11 + name_len;
}

/* Entries that FUSE has no room for are asked for again. */
static void readdir_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;
	char *entries = calloc(1, task->size), name[NAME_MAX + 1];
	size_t at = 4, done = 0, step;
	struct stat attr;

	if (!entries)
		abort();
	while (!err && at < len && (step = read_entry(body + at, len - at, &attr, name))) {
		off_t next = (off_t)client_number(body + at + QID_BYTES, 8);
		size_t size = fuse_add_direntry(task->req, entries + done, task->size - done, name,
						&attr, next);

		if (size > task->size - done)
			break;
		done += size;
		at += step;
	}
	if (err)
		task_reply_err(task, err);
	else if (task_take_request(task))
		fuse_reply_buf(task->req, entries, done);
	free(entries);
	free(task);
}

void files_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		   struct fuse_file_info *fi)
{
	struct task *task = task_begin(req, 1);

	(void)ino;
	if (!task)
		return;
	task->size = size;
	put_io(TREADDIR, file_of(fi)->fid, offset, size);
	client_send(readdir_end, task);
}
