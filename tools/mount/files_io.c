/*
 * Reading and writing open files of the mount. See files.h, and task.h for what happens to a read
 * that its program does not wait for any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "files_private.h"

void put_io(enum client_type type, uint32_t fid, off_t offset, size_t size)
{
	client_begin(type);
	client_put(fid, 4);
	client_put((uint64_t)offset, 8);
	client_put(size < CLIENT_IO_MAX ? size : CLIENT_IO_MAX, 4);
}

/* ---- Reading ---- */

static void send_read(struct task *task);

static void keep(struct open_file *file, off_t offset, const uint8_t *bytes, size_t len)
{
	free(file->kept.bytes);
	file->kept = (struct kept_bytes){ .bytes = malloc(len), .len = len, .offset = offset };
	if (!file->kept.bytes)
		abort();
	memcpy(file->kept.bytes, bytes, len);
}

/* The program has its answer, the read has not. Who reads next at that place waits for it. */
static void orphan_read(struct task *task)
{
	if (!task->file->orphan)
		task->file->orphan = task;
}

static void hand_out(struct task *task, const uint8_t *bytes, size_t len)
{
	size_t taken = 0;

	if (task_take_request(task)) {
		taken = len < task->size ? len : task->size;
		fuse_reply_buf(task->req, (const char *)bytes, taken);
	}
	if (taken < len)
		keep(task->file, task->offset + (off_t)taken, bytes + taken, len - taken);
}

static void read_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;

	task_has_answer(task);
	if (err == EINTR && task->is_adopted && !task->interrupted_ms && client_can_send(1)) {
		send_read(task);
		return;
	}
	if (!err && (len < 4 || client_number(body, 4) > len - 4))
		err = EIO;
	if (task->file->orphan == task)
		task->file->orphan = NULL;
	if (err)
		task_reply_err(task, err);
	else
		hand_out(task, body + 4, client_number(body, 4));
	open_file_put(task->file);
	free(task);
}

static void send_read(struct task *task)
{
	task->is_adopted = false;
	put_io(TREAD, task->file->fid, task->offset, task->size);
	task_send(task, read_end);
}

/* Bytes that came behind the end of an interrupted read are for the next read at that place. */
static bool read_kept(fuse_req_t req, struct open_file *file, size_t size, off_t offset)
{
	struct kept_bytes *kept = &file->kept;

	if (!kept->bytes || kept->offset != offset)
		return false;
	if (size > kept->len)
		size = kept->len;
	fuse_reply_buf(req, (const char *)kept->bytes, size);
	kept->len -= size;
	kept->offset += (off_t)size;
	memmove(kept->bytes, kept->bytes + size, kept->len);
	if (!kept->len) {
		free(kept->bytes);
		kept->bytes = NULL;
	}
	return true;
}

static bool read_orphan(fuse_req_t req, struct open_file *file, size_t size, off_t offset)
{
	struct task *task = file->orphan;

	if (!task || task->offset != offset || tasks_guest_is_silent())
		return false;
	file->orphan = NULL;
	task->is_adopted = true;
	task->size = size;
	task_adopt(task, req);
	return true;
}

static void ignore_answer(void *arg, int err, const uint8_t *body, size_t len)
{
	(void)arg;
	(void)err;
	(void)body;
	(void)len;
}

/* A program has changed whether reads of the file wait, by fcntl(F_SETFL). FUSE says so in reads. */
static void set_nonblock(struct open_file *file, int flags)
{
	if (!((file->flags ^ flags) & O_NONBLOCK) || !client_can_send(1))
		return;
	file->flags ^= O_NONBLOCK;
	client_begin(TSETFL);
	client_put(file->fid, 4);
	client_put((unsigned int)file->flags, 4);
	client_send(ignore_answer, NULL);
}

void files_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi)
{
	struct open_file *file = file_of(fi);
	struct task *task;

	(void)ino;
	set_nonblock(file, fi->flags);
	if (read_kept(req, file, size, offset) || read_orphan(req, file, size, offset))
		return;
	task = task_begin(req, 1);
	if (!task)
		return;
	file->nr_users++;
	task->file = file;
	task->size = size;
	task->offset = offset;
	task->left_alone = orphan_read;
	send_read(task);
}

/* ---- Writing ---- */

static void write_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;

	task_has_answer(task);
	if (!err && (len < 4 || client_number(body, 4) > task->size))
		err = EIO;
	if (err)
		task_reply_err(task, err);
	else if (task_take_request(task))
		fuse_reply_write(task->req, client_number(body, 4));
	free(task);
}

void files_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset,
		 struct fuse_file_info *fi)
{
	struct task *task = task_begin(req, 1);

	(void)ino;
	if (!task)
		return;
	task->size = size < CLIENT_IO_MAX ? size : CLIENT_IO_MAX;
	put_io(TWRITE, file_of(fi)->fid, offset, task->size);
	client_put_bytes(bytes, task->size);
	task_send(task, write_end);
}
