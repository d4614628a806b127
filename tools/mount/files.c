/*
 * The kernel's files as FUSE sees them. See files.h.
 *
 * Where several requests of 9P make one of FUSE, they are sent together: the server takes them in
 * order, and each that needs one that failed fails, too. The first error is the one that counts.
 */
#include "files.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "client.h"
#include "files_private.h"

#define GETATTR_BASIC 0x7ffu
#define GETATTR_BYTES 153u
#define SET_SIZE      0x8u
#define REMOVEDIR     0x200u
#define NOFID	      0xffffffffu

#define STATUS_NAME  "user.fathom.guest"
#define STATUS_BYTES 256u

static int attach_err = -1;
static const char *guest_name;

uint32_t fid_of(fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? ROOT_FID : ((struct node *)ino)->fid;
}

void put_walk(uint32_t from, uint32_t to, const char *name)
{
	client_begin(TWALK);
	client_put(from, 4);
	client_put(to, 4);
	client_put(name ? 1 : 0, 2);
	if (name)
		client_put_text(name);
}

static void put_getattr(uint32_t fid)
{
	client_begin(TGETATTR);
	client_put(fid, 4);
	client_put(GETATTR_BASIC, 8);
}

/* Files of the kernel's root belong to the user here; other owners keep their numbers. */
static bool read_attr(const uint8_t *body, size_t len, struct stat *out)
{
	memset(out, 0, sizeof(*out));
	if (len < GETATTR_BYTES)
		return false;
	out->st_ino = client_number(body + 13, 8);
	out->st_mode = (mode_t)client_number(body + 21, 4);
	out->st_uid = (uid_t)client_number(body + 25, 4);
	out->st_gid = (gid_t)client_number(body + 29, 4);
	if (!out->st_uid)
		out->st_uid = getuid();
	if (!out->st_gid)
		out->st_gid = getgid();
	out->st_nlink = (nlink_t)client_number(body + 33, 8);
	out->st_size = (off_t)client_number(body + 49, 8);
	out->st_blksize = (blksize_t)client_number(body + 57, 8);
	out->st_blocks = (blkcnt_t)client_number(body + 65, 8);
	return true;
}

/* ---- Names ---- */

/* The attributes of a file that was looked for, the last answer of several. */
static void entry_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct fuse_entry_param entry = { 0 };
	struct task *task = arg;
	struct node *node;

	note_error(task, err);
	if (!task->err && !read_attr(body, len, &entry.attr))
		task->err = EIO;
	if (task->err || !task_take_request(task)) {
		fid_clunk(task->fid);
		if (task->has_entry)
			open_file_end(task->file);
		task_reply_err(task, task->err);
		free(task);
		return;
	}
	node = node_get(entry.attr.st_ino, task->fid);
	entry.ino = (fuse_ino_t)node;
	err = task->has_entry ? fuse_reply_create(task->req, &entry, &task->fi)
			      : fuse_reply_entry(task->req, &entry);
	if (err) {
		node_forget(node, 1);
		if (task->has_entry)
			open_file_end(task->file);
	}
	free(task);
}

void look_up(struct task *task, uint32_t parent, const char *name)
{
	task->fid = fid_new();
	put_walk(parent, task->fid, name);
	client_send(task_step, task);
	put_getattr(task->fid);
	client_send(entry_end, task);
}

static void files_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct task *task = task_begin(req, LOOK_UP_REQUESTS);

	if (task)
		look_up(task, fid_of(parent), name);
}

static void files_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nr_lookups)
{
	if (ino != FUSE_ROOT_ID)
		node_forget((struct node *)ino, nr_lookups);
	fuse_reply_none(req);
}

static void files_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct task *task = task_begin(req, 1 + LOOK_UP_REQUESTS);

	if (!task)
		return;
	client_begin(TMKDIR);
	client_put(fid_of(parent), 4);
	client_put_text(name);
	client_put(mode, 4);
	client_put(0, 4);
	client_send(task_step, task);
	look_up(task, fid_of(parent), name);
}

static void unlink_at(fuse_req_t req, fuse_ino_t parent, const char *name, uint32_t flags)
{
	struct task *task = task_begin(req, 1);

	if (!task)
		return;
	client_begin(TUNLINKAT);
	client_put(fid_of(parent), 4);
	client_put_text(name);
	client_put(flags, 4);
	client_send(task_end, task);
}

static void files_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	unlink_at(req, parent, name, 0);
}

static void files_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	unlink_at(req, parent, name, REMOVEDIR);
}

/* With the answer EXDEV, of two file systems of the kernel, mv(1) copies. */
static void files_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
			 const char *new_name, unsigned int flags)
{
	struct task *task = task_begin(req, 1);

	if (!task)
		return;
	if (flags) {
		task_end(task, EINVAL, NULL, 0); /* the protocol has none */
		return;
	}
	client_begin(TRENAMEAT);
	client_put(fid_of(parent), 4);
	client_put_text(name);
	client_put(fid_of(new_parent), 4);
	client_put_text(new_name);
	client_send(task_end, task);
}

/* ---- Attributes ---- */

static void attr_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;
	struct stat attr;

	note_error(task, err);
	if (!task->err && !read_attr(body, len, &attr))
		task->err = EIO;
	if (task->err)
		task_reply_err(task, task->err);
	else if (task_take_request(task))
		fuse_reply_attr(task->req, &attr, 0);
	free(task);
}

static void files_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct task *task = task_begin(req, 1);

	(void)fi;
	if (!task)
		return;
	put_getattr(fid_of(ino));
	client_send(attr_end, task);
}

/* Which attributes are set has the same bits in both protocols: mode 1, owners 2 and 4, size 8. */
static void files_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
			  struct fuse_file_info *fi)
{
	struct task *task = task_begin(req, 2);

	(void)fi;
	if (!task)
		return;
	client_begin(TSETATTR);
	client_put(fid_of(ino), 4);
	client_put((unsigned int)to_set & 0xfu, 4);
	client_put(attr->st_mode, 4);
	client_put(attr->st_uid == getuid() ? 0 : attr->st_uid, 4);
	client_put(attr->st_gid == getgid() ? 0 : attr->st_gid, 4);
	client_put(to_set & SET_SIZE ? (uint64_t)attr->st_size : 0, 8);
	for (int i = 0; i < 4; i++)
		client_put(0, 8);
	client_send(task_step, task);
	put_getattr(fid_of(ino));
	client_send(attr_end, task);
}

static void statfs_end(void *arg, int err, const uint8_t *body, size_t len)
{
	struct task *task = arg;
	struct statvfs facts = { 0 };

	if (err || len < 60) {
		task_reply_err(task, err ? err : EIO);
	} else if (task_take_request(task)) {
		facts.f_bsize = facts.f_frsize = client_number(body + 4, 4);
		facts.f_blocks = client_number(body + 8, 8);
		facts.f_bfree = client_number(body + 16, 8);
		facts.f_bavail = client_number(body + 24, 8);
		facts.f_namemax = client_number(body + 56, 4);
		fuse_reply_statfs(task->req, &facts);
	}
	free(task);
}

static void files_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct task *task = task_begin(req, 1);

	if (!task)
		return;
	client_begin(TSTATFS);
	client_put(fid_of(ino), 4);
	client_send(statfs_end, task);
}

/*
 * Which guest is that, and does it answer? Said without asking it: the attribute STATUS_NAME of the
 * mounted directory. The kernel's own files have no attributes.
 */
static void files_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	char text[STATUS_BYTES];
	size_t len;

	if (ino != FUSE_ROOT_ID || strcmp(name, STATUS_NAME) != 0) {
		fuse_reply_err(req, ENODATA);
		return;
	}
	len = (size_t)snprintf(text, sizeof(text), "%s: ", guest_name);
	if (tasks_guest_is_silent())
		len += (size_t)snprintf(text + len, sizeof(text) - len, "no answer for %u s",
					(unsigned int)(client_silent_ms() / 1000));
	else
		len += (size_t)snprintf(text + len, sizeof(text) - len, "answers");
	if (!size)
		fuse_reply_xattr(req, len);
	else if (size < len)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, text, len);
}

/* ---- Start ---- */

static void files_init(void *unused, struct fuse_conn_info *conn)
{
	(void)unused;
	conn->max_read = conn->max_write = CLIENT_IO_MAX;
	conn->want |= conn->capable & FUSE_CAP_ATOMIC_O_TRUNC;
}

static void attach_end(void *arg, int err, const uint8_t *body, size_t len)
{
	(void)arg;
	(void)body;
	(void)len;
	attach_err = err;
}

void files_attach(const char *tree, const char *guest)
{
	guest_name = guest;
	client_begin(TATTACH);
	client_put(ROOT_FID, 4);
	client_put(NOFID, 4);
	client_put_text("root");
	client_put_text(tree);
	client_put(0, 4);
	client_send(attach_end, NULL);
}

int files_attached(void)
{
	return attach_err;
}

const struct fuse_lowlevel_ops files_ops = {
	.init = files_init,
	.lookup = files_lookup,
	.forget = files_forget,
	.getattr = files_getattr,
	.setattr = files_setattr,
	.mkdir = files_mkdir,
	.unlink = files_unlink,
	.rmdir = files_rmdir,
	.rename = files_rename,
	.open = files_open,
	.create = files_create,
	.read = files_read,
	.write = files_write,
	.release = files_release,
	.fsync = files_fsync,
	.opendir = files_open,
	.readdir = files_readdir,
	.releasedir = files_release,
	.statfs = files_statfs,
	.getxattr = files_getxattr,
	.poll = files_poll,
};
