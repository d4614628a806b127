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

static struct open_file *file_of(const struct fuse_file_info *fi)
{
	return (struct open_file *)fi->fh;
}

void open_file_end(struct open_file *file)
{
	fid_clunk(file->fid);
	free(file);
}

static void open_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;

	(void)body;
	(void)len;
	note_error(task, err);
	if (task->err)
		fuse_reply_err(task->req, task->err);
	if (task->err || fuse_reply_open(task->req, &task->fi))
		open_file_end(task->file);
	free(task);
}

/* The task gets a fid of its own for the open file. Its bytes pass the page cache by. */
static void walk_to_file(struct task *task, uint32_t fid, const struct fuse_file_info *fi)
{
	struct open_file *file = calloc(1, sizeof(*file));

	if (!file)
		abort();
	*file = (struct open_file){ .fid = fid_new(), .flags = fi->flags };
	task->file = file;
	task->fi = *fi;
	task->fi.fh = (uintptr_t)file;
	task->fi.direct_io = 1;
	put_walk(fid, file->fid, NULL);
	client_send(task_step, task);
}

static void put_open(const struct open_file *file)
{
	client_begin(TLOPEN);
	client_put(file->fid, 4);
	client_put((unsigned int)file->flags, 4);
}

void files_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct task *task = task_of(req);

	walk_to_file(task, fid_of(ino), fi);
	put_open(task->file);
	send_or_end(open_end, task);
}

void files_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		  struct fuse_file_info *fi)
{
	struct task *task = task_of(req);

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

/* What takes effect at a close does so before any request that comes later. */
void files_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	open_file_end(file_of(fi));
	fuse_reply_err(req, 0);
}

void files_fsync(fuse_req_t req, fuse_ino_t ino, int is_data_only, struct fuse_file_info *fi)
{
	(void)ino;
	client_begin(TFSYNC);
	client_put(file_of(fi)->fid, 4);
	client_put(is_data_only != 0, 4);
	send_or_end(task_end, task_of(req));
}

/* The program that waits got a signal. */
static void task_interrupt(fuse_req_t req, void *arg)
{
	struct task *task = arg;

	(void)req;
	if (task->tag >= 0)
		client_flush(task->tag);
}

static void write_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;

	fuse_req_interrupt_func(task->req, NULL, NULL);
	if (!err && len < 4)
		err = EIO;
	if (err)
		fuse_reply_err(task->req, err);
	else
		fuse_reply_write(task->req, client_number(body, 4));
	free(task);
}

/* Send a read or a write, which may wait for long. */
static void send_waiting(client_done_fn done, struct task *task)
{
	fuse_req_t req = task->req;

	task->tag = client_send(done, task);
	if (task->tag < 0)
		done(task, EAGAIN, NULL, 0);
	else
		fuse_req_interrupt_func(req, task_interrupt, task);
}

static void put_io(enum client_type type, uint32_t fid, off_t offset, size_t size)
{
	client_begin(type);
	client_put(fid, 4);
	client_put((uint64_t)offset, 8);
	client_put(size < CLIENT_IO_MAX ? size : CLIENT_IO_MAX, 4);
}

static void send_read(struct task *task);

/* A stream that was opened again counts its positions from there. */
static void read_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;

	fuse_req_interrupt_func(task->req, NULL, NULL);
	if (err == ESPIPE && task->file->is_again && task->offset != task->file->start) {
		task->file->start = task->offset;
		send_read(task);
		return;
	}
	if (!err && (len < 4 || client_number(body, 4) > len - 4))
		err = EIO;
	if (err)
		fuse_reply_err(task->req, err);
	else
		fuse_reply_buf(task->req, (const char *)body + 4, client_number(body, 4));
	free(task);
}

static void send_read(struct task *task)
{
	put_io(TREAD, task->file->fid, task->offset - task->file->start, task->size);
	send_waiting(read_end, task);
}

static void reopened(void *arg, int err, const uint8_t *body, size_t len)
{
	(void)arg;
	(void)err; /* the read behind it fails, too */
	(void)body;
	(void)len;
}

/*
 * A program has changed whether reads of the file wait, fcntl(F_SETFL). 9P says that in an open
 * only: the file is opened again, under its number.
 */
static void reopen(struct open_file *file, fuse_ino_t ino, int flags)
{
	file->flags = flags & ~(O_TRUNC | O_CREAT | O_EXCL);
	file->is_again = true;
	file->start = 0;
	client_begin(TCLUNK);
	client_put(file->fid, 4);
	client_send(reopened, NULL);
	put_walk(fid_of(ino), file->fid, NULL);
	client_send(reopened, NULL);
	put_open(file);
	client_send(reopened, NULL);
}

void files_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi)
{
	struct task *task = task_of(req);

	task->file = file_of(fi);
	task->size = size;
	task->offset = offset;
	if ((task->file->flags ^ fi->flags) & O_NONBLOCK)
		reopen(task->file, ino, fi->flags);
	send_read(task);
}

void files_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
		 struct fuse_file_info *fi)
{
	(void)ino;
	put_io(TWRITE, file_of(fi)->fid, offset, size);
	client_put_bytes(bytes, size < CLIENT_IO_MAX ? size : CLIENT_IO_MAX);
	send_waiting(write_end, task_of(req));
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
		fuse_reply_err(task->req, err);
	else
		fuse_reply_buf(task->req, entries, done);
	free(entries);
	free(task);
}

void files_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		   struct fuse_file_info *fi)
{
	struct task *task = task_of(req);

	(void)ino;
	task->size = size;
	put_io(TREADDIR, file_of(fi)->fid, offset, size);
	send_or_end(readdir_end, task);
}
