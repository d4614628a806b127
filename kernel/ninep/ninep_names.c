/*
 * Requests about names: finding, making, renaming and removing files, and facts about them. See
 * ninep_session.h.
 */
#include <kernel/string.h>
#include "mm/page.h"
#include "ninep_session.h"

#define NAMES_MAGIC	   0x01021997u /* of 9P, for statfs */
#define NAMES_BASIC	   0x7ffull    /* the fields mode to blocks, which Rgetattr always has */
#define NAMES_DIR	   0040000u
#define NAMES_FILE	   0100000u
#define NAMES_AT_REMOVEDIR 0x200u
#define NAMES_BLOCK	   512u

int ninep_attach(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply)
{
	char tree[VFS_PATH_MAX], path[VFS_PATH_MAX];
	struct ninep_qid qid;
	struct vfs_stat stat;
	int err;

	if (ninep_fid_find(session, request->fid))
		return -EBADF;
	if (request->new_name.len >= sizeof(tree))
		return -ENAMETOOLONG;
	memcpy(tree, request->new_name.bytes, request->new_name.len);
	tree[request->new_name.len] = '\0';
	err = vfs_resolve("/", *tree ? tree : "/", path);
	if (!err)
		err = vfs_stat("/", path, &stat);
	if (!err && stat.type != VFS_DIRECTORY)
		err = -ENOTDIR;
	if (!err)
		err = ninep_fid_set(session, request->fid, path, &stat);
	if (err)
		return err;
	qid = ninep_qid_of(&stat);
	ninep_put_qid(reply, &qid);
	return 0;
}

/* A walk, and the place that it has come to. */
struct names_walk {
	struct vfs_stat stat;
	char path[VFS_PATH_MAX];
};

static int names_step(struct names_walk *walk, const struct ninep_text *name)
{
	char next[VFS_PATH_MAX];
	struct vfs_stat stat;
	int err = ninep_child_path(walk->path, walk->stat.type == VFS_DIRECTORY, name, next);

	if (!err)
		err = vfs_stat("/", next, &stat);
	if (err)
		return err;
	walk->stat = stat;
	strlcpy(walk->path, next, sizeof(walk->path));
	return 0;
}

/* The names as far as they lead. The new fid is made only if that is to the end. */
int ninep_walk(struct ninep_session *session, const struct ninep_request *request,
	       struct ninep_reply *reply)
{
	const struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	struct names_walk walk;
	uint16_t nr = 0;
	int err;

	if (!fid)
		return -EBADF;
	if (request->new_fid != request->fid && ninep_fid_find(session, request->new_fid))
		return -EBADF;
	err = ninep_fid_stat(fid, &walk.stat);
	if (err)
		return err;
	strlcpy(walk.path, fid->path, sizeof(walk.path));
	ninep_put_number(reply, 0, 2);
	while (nr < request->nr_names) {
		struct ninep_qid qid;

		err = names_step(&walk, &request->names[nr]);
		if (err)
			break;
		qid = ninep_qid_of(&walk.stat);
		ninep_put_qid(reply, &qid);
		nr++;
	}
	if (err && !nr)
		return err;
	reply->bytes[NINEP_HEADER_BYTES] = (uint8_t)nr;
	if (nr < request->nr_names)
		return 0;
	return ninep_fid_set(session, request->new_fid, walk.path, &walk.stat);
}

/* Devices show as files: the client's machine would take their numbers for devices of its own. */
int ninep_getattr(struct ninep_session *session, const struct ninep_request *request,
		  struct ninep_reply *reply)
{
	const struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	struct ninep_qid qid;
	struct vfs_stat stat;
	int err = fid ? ninep_fid_stat(fid, &stat) : -EBADF;

	if (err)
		return err;
	qid = ninep_qid_of(&stat);
	ninep_put_number(reply, NAMES_BASIC, 8);
	ninep_put_qid(reply, &qid);
	ninep_put_number(reply, stat.mode | (fid->is_dir ? NAMES_DIR : NAMES_FILE), 4);
	ninep_put_number(reply, stat.uid, 4);
	ninep_put_number(reply, stat.gid, 4);
	ninep_put_number(reply, 1, 8); /* links; of a directory: not known */
	ninep_put_number(reply, 0, 8); /* device */
	ninep_put_number(reply, stat.size, 8);
	ninep_put_number(reply, PAGE_SIZE, 8);
	ninep_put_number(reply, (stat.size + NAMES_BLOCK - 1) / NAMES_BLOCK, 8);
	for (int i = 0; i < 10; i++)
		ninep_put_number(reply, 0, 8); /* times, generation, version: there are none */
	return 0;
}

int ninep_statfs(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply)
{
	uint64_t total, nr_free, failures;

	if (!ninep_fid_find(session, request->fid))
		return -EBADF;
	page_get_counts(&total, &nr_free, &failures);
	ninep_put_number(reply, NAMES_MAGIC, 4);
	ninep_put_number(reply, PAGE_SIZE, 4);
	ninep_put_number(reply, total, 8);
	ninep_put_number(reply, nr_free, 8);
	ninep_put_number(reply, nr_free, 8);
	ninep_put_number(reply, 0, 8); /* files: not counted */
	ninep_put_number(reply, 0, 8);
	ninep_put_number(reply, 0, 8); /* identity of the file system */
	ninep_put_number(reply, VFS_NAME_MAX - 1, 4);
	return 0;
}

/* The path of `name` in the directory of fid `nr`. 0 or -errno. */
static int names_child_of(struct ninep_session *session, uint32_t nr, const struct ninep_text *name,
			  char *out_path)
{
	const struct ninep_fid *fid = ninep_fid_find(session, nr);
	struct vfs_stat stat;
	int err = fid ? ninep_fid_stat(fid, &stat) : -EBADF;

	return err ? err : ninep_child_path(fid->path, fid->is_dir, name, out_path);
}

/* The same for the request's first fid and name. */
static int names_child(struct ninep_session *session, const struct ninep_request *request,
		       char *out_path)
{
	return names_child_of(session, request->fid, &request->name, out_path);
}

int ninep_mkdir(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply)
{
	char path[VFS_PATH_MAX];
	struct ninep_qid qid;
	struct vfs_stat stat;
	int err = names_child(session, request, path);

	if (!err)
		err = vfs_mkdir("/", path);
	if (!err)
		err = vfs_stat("/", path, &stat);
	if (err)
		return err;
	qid = ninep_qid_of(&stat);
	ninep_put_qid(reply, &qid);
	return 0;
}

int ninep_unlinkat(struct ninep_session *session, const struct ninep_request *request,
		   struct ninep_reply *reply)
{
	char path[VFS_PATH_MAX];
	int err = names_child(session, request, path);

	(void)reply;
	if (err)
		return err;
	return request->flags & NAMES_AT_REMOVEDIR ? vfs_rmdir("/", path) : vfs_unlink("/", path);
}

static int names_rename(struct ninep_session *session, const char *path, const char *new_path)
{
	int err = strcmp(path, new_path) != 0 ? vfs_rename("/", path, new_path) : 0;

	if (!err)
		ninep_fid_rename(session, path, new_path);
	return err;
}

int ninep_renameat(struct ninep_session *session, const struct ninep_request *request,
		   struct ninep_reply *reply)
{
	char path[VFS_PATH_MAX], new_path[VFS_PATH_MAX];
	int err = names_child(session, request, path);

	(void)reply;
	if (!err)
		err = names_child_of(session, request->new_fid, &request->new_name, new_path);
	return err ? err : names_rename(session, path, new_path);
}

/* As before Trenameat: the file has a fid of its own. */
int ninep_rename(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply)
{
	const struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	char path[VFS_PATH_MAX], new_path[VFS_PATH_MAX];
	struct vfs_stat stat;
	int err = fid ? ninep_fid_stat(fid, &stat) : -EBADF;

	(void)reply;
	if (!err)
		err = names_child_of(session, request->new_fid, &request->name, new_path);
	if (err)
		return err;
	strlcpy(path, fid->path, sizeof(path));
	return names_rename(session, path, new_path);
}

/* The fid is forgotten, whether its file can be removed or not. */
int ninep_remove(struct ninep_session *session, const struct ninep_request *request,
		 struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);
	struct vfs_stat stat;
	int err;

	(void)reply;
	if (!fid)
		return -EBADF;
	ninep_fid_close(session, fid);
	err = ninep_fid_stat(fid, &stat);
	if (!err)
		err = fid->is_dir ? vfs_rmdir("/", fid->path) : vfs_unlink("/", fid->path);
	ninep_fid_drop(session, fid);
	return err;
}

int ninep_clunk(struct ninep_session *session, const struct ninep_request *request,
		struct ninep_reply *reply)
{
	struct ninep_fid *fid = ninep_fid_find(session, request->fid);

	(void)reply;
	return fid ? ninep_fid_drop(session, fid) : -EBADF;
}
