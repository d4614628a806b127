/*
 * Requests for open files: opening, reading, writing, listing. See ninep_session.h.
 */
#include "ninep_session.h"

/* Flags of an open, as Linux has them on x86. */
#define OPEN_ACCESS    03u
#define OPEN_EXCL      0200u
#define OPEN_TRUNC     01000u
#define OPEN_APPEND    02000u
#define OPEN_NONBLOCK  04000u
#define OPEN_DIRECTORY 0200000u

/* Which values a Tsetattr sets. */
#define SET_MODE  0x1u
#define SET_USER  0x2u
#define SET_GROUP 0x4u
#define SET_SIZE  0x8u

/* 0, or -EINVAL when `flags` ask for no access that there is. */
static int open_flags(uint32_t flags, uint32_t *out_flags)
{
	static const uint32_t access[] = { VFS_READ, VFS_WRITE, VFS_READ | VFS_WRITE };

	if ((flags & OPEN_ACCESS) >= ARRAY_SIZE(access))
		return -EINVAL;
	*out_flags = access[flags & OPEN_ACCESS];
	if (flags & OPEN_TRUNC)
		*out_flags |= VFS_TRUNCATE;
	if (flags & OPEN_APPEND)
		*out_flags |= VFS_APPEND;
	if (flags & OPEN_NONBLOCK)
		*out_flags |= VFS_NONBLOCK;
	return 0;
}

/* Open the file of a fid that is not open. 0 or -errno, with the fid as it was. */
static int open_file(struct ninep_session *session, struct ninep_fid *fid, uint32_t flags)
{
	int err = vfs_open("/", fid->path, flags, &fid->file);

	if (err)
		return err;
	if (file_may_wait(fid->file))
		err = ninep_waits_create(session, fid);
	if (err) {
		ninep_fid_close(session, fid);
		return err;
	}
	fid->is_open = true;
	return 0;
}

/* The reply to both kinds of open; the iounit 0 says: as much as fits into a message. */
static void open_put(struct ninep_reply *reply, const struct vfs_stat *stat)
{
	struct ninep_qid qid = ninep_qid_of(stat);

	ninep_put_qid(reply, &qid);
	ninep_put_number(reply, 0, 4);
}

int ninep_lopen(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	struct vfs_stat stat;
	uint32_t flags = 0;
	int err;

	if (!fid || fid->is_open)
		return -EBADF;
	err = open_flags(request->flags, &flags);
	if (!err)
		err = ninep_fid_stat(fid, &stat);
	if (err)
		return err;
	if (!fid->is_dir && request->flags & OPEN_DIRECTORY)
		return -ENOTDIR;
	if (fid->is_dir && flags & (VFS_WRITE | VFS_TRUNCATE))
		return -EISDIR;
	if (fid->is_dir)
		fid->is_open = true;
	else
		err = open_file(session, fid, flags);
	if (err)
		return err;
	open_put(reply, &stat);
	return 0;
}

/* Make the file at `path` unless it is there. 0 or -errno. */
static int open_create(const char *path, bool is_exclusive, struct vfs_stat *out_stat)
{
	struct file *file;
	int err = 0;

	if (is_exclusive && !vfs_stat("/", path, out_stat))
		return -EEXIST;
	/*
	 * The caller opens the file again, with its own flags: after this open it is sure to be
	 * there.
	 */
	err = vfs_open("/", path, VFS_READ | VFS_CREATE, &file);
	if (!err)
		err = fput(file);
	return err ? err : vfs_stat("/", path, out_stat);
}

/* The fid, which stood for a directory, stands for the open file afterwards; on failure it does not. */
int ninep_lcreate(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	char path[VFS_PATH_MAX];
	struct vfs_stat stat;
	uint32_t flags = 0;
	int err;

	if (!fid || fid->is_open)
		return -EBADF;
	err = open_flags(request->flags, &flags);
	if (!err)
		err = ninep_fid_stat(fid, &stat);
	if (!err)
		err = ninep_child_path(fid->path, fid->is_dir, &request->name, path);
	if (!err)
		err = open_create(path, request->flags & OPEN_EXCL, &stat);
	if (err)
		return err;
	fid = ninep_fid_make(path, &stat);
	if (!fid)
		return -ENOMEM;
	err = open_file(session, fid, flags);
	if (err) {
		ninep_fid_free(session, fid);
		return err;
	}
	ninep_fid_put(session, request->fid, fid);
	open_put(reply, &stat);
	return 0;
}

/* The open fid of a Tread or Twrite. 0 or -errno. */
static int open_find(struct ninep_session *session, const struct ninep_request *request,
		     struct ninep_fid **out_fid)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);

	if (!fid || !fid->is_open)
		return -EBADF;
	if (fid->is_dir)
		return -EISDIR;
	fid->is_used = true;
	*out_fid = fid;
	return 0;
}

static int open_later(struct ninep_fid *fid, const struct ninep_request *request)
{
	int err = ninep_waits_add(fid, request);

	return err ? err : NINEP_LATER;
}

int ninep_read(struct ninep_session *session, const struct ninep_request *request,
	       struct ninep_reply *reply)
{
	struct ninep_request part = *request;
	struct ninep_fid *fid;
	ssize_t got;
	int err = open_find(session, request, &fid);

	if (err)
		return err;
	if (part.count > session->msize - NINEP_READ_BYTES)
		part.count = session->msize - NINEP_READ_BYTES;
	if (fid->waits)
		return open_later(fid, &part);
	got = file_read_at(fid->file, reply->bytes + NINEP_READ_BYTES, part.count, part.offset);
	if (got < 0)
		return (int)got;
	ninep_put_number(reply, (uint64_t)got, 4);
	reply->len += (size_t)got;
	return 0;
}

int ninep_write(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply)
{
	struct ninep_fid *fid;
	ssize_t put;
	int err = open_find(session, request, &fid);

	if (err)
		return err;
	if (fid->waits)
		return open_later(fid, request);
	put = file_write_at(fid->file, request->data, request->count, request->offset);
	if (put < 0)
		return (int)put;
	ninep_put_number(reply, (uint64_t)put, 4);
	return 0;
}

int ninep_readdir(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);

	if (!fid || !fid->is_open)
		return -EBADF;
	return fid->is_dir ? ninep_dir_read(fid, request, reply) : -ENOTDIR;
}

/* Every write has taken effect when it is answered. */
int ninep_fsync(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply)
{
	const struct ninep_fid *fid = ninep_fid_find(session, request->fid);

	(void)reply;
	return fid && fid->is_open ? 0 : -EBADF;
}

/* A fid that is open for writing the file `id`, and was not used yet; NULL when there is none. */
static struct ninep_fid *open_find_fresh(struct ninep_session *session, uint64_t id)
{
	for (uint32_t i = 0; i < NINEP_FID_LISTS; i++) {
		for (struct ninep_fid *fid = session->fids[i]; fid; fid = fid->next) {
			if (fid->id == id && fid->file && fid->file->flags & VFS_WRITE &&
			    !fid->is_used)
				return fid;
		}
	}
	return NULL;
}

/*
 * Cut a file to nothing; a file of the trace tree is opened with O_TRUNC for this. Linux's client
 * sends the request just behind the Tlopen when a program opens with O_TRUNC. The file that is open
 * is then opened again: otherwise it would keep the old contents, and store them.
 */
static int open_truncate(struct ninep_session *session, struct ninep_fid *fid)
{
	struct ninep_fid *fresh = open_find_fresh(session, fid->id);
	struct file *file;
	uint32_t flags;
	int err;

	if (!fresh) {
		err = vfs_open("/", fid->path, VFS_WRITE | VFS_TRUNCATE, &file);
		return err ? err : fput(file);
	}
	flags = fresh->file->flags | VFS_TRUNCATE;
	ninep_fid_close(session, fresh);
	return open_file(session, fresh, flags);
}

_Static_assert(SET_MODE == VFS_SET_MODE && SET_USER == VFS_SET_UID && SET_GROUP == VFS_SET_GID,
	       "they are the same");

static int open_set_owner(const struct ninep_fid *fid, const struct ninep_request *request)
{
	const struct vfs_stat to = { .mode = request->mode & 07777,
				     .uid = request->user,
				     .gid = request->group };
	unsigned int which = request->flags & (SET_MODE | SET_USER | SET_GROUP);

	return which ? vfs_set_attr("/", fid->path, which, &to) : 0;
}

/* Times are taken and forgotten. */
int ninep_setattr(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	struct vfs_stat stat;
	int err = fid ? ninep_fid_stat(fid, &stat) : -EBADF;

	(void)reply;
	if (!err)
		err = open_set_owner(fid, request);
	if (err)
		return err;
	if (!(request->flags & SET_SIZE) || (request->size && request->size == stat.size))
		return 0;
	if (fid->is_dir)
		return -EISDIR;
	return request->size ? -EOPNOTSUPP : open_truncate(session, fid);
}

/*
 * Set the flags of an open file that fcntl(F_SETFL) can change: of O_NONBLOCK reads that come behind
 * it take notice, the others stay as they are.
 */
int ninep_setfl(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);

	(void)reply;
	if (!fid || !fid->is_open)
		return -EBADF;
	if (!fid->file)
		return 0;
	file_set_nonblock(fid->file, request->flags & OPEN_NONBLOCK);
	if (fid->waits || !file_may_wait(fid->file))
		return 0;
	return ninep_waits_create(session, fid);
}
