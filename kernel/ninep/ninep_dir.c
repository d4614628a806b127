/*
 * Directories, listed. See ninep_session.h.
 *
 * The entries are kept as Rreaddir has them: qid[13] offset[8] type[1] name[s], where `offset` is
 * the number of the next entry. So a client that removes the files that it has seen misses none.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "ninep_session.h"

#define DIR_FIRST_BYTES 4096u
#define DIR_NAME_OFFSET (NINEP_QID_BYTES + 8u + 1u) /* of the name's length, in an entry */

#define DIR_TYPE_DIR  4u /* as readdir(3) has them */
#define DIR_TYPE_FILE 8u

struct ninep_dir {
	uint8_t *bytes;
	size_t len;
	size_t size;
	uint64_t nr; /* entries */
};

void ninep_dir_free(struct ninep_dir *dir)
{
	if (!dir)
		return;
	kfree(dir->bytes);
	kfree(dir);
}

/* Make room for an entry with the longest name. */
static int dir_make_room(struct ninep_dir *dir)
{
	size_t size = dir->size ? 2 * dir->size : DIR_FIRST_BYTES;
	uint8_t *bytes;

	if (dir->size - dir->len >= DIR_NAME_OFFSET + 2 + VFS_NAME_MAX)
		return 0;
	bytes = kmalloc(size);
	if (!bytes)
		return -ENOMEM;
	if (dir->len)
		memcpy(bytes, dir->bytes, dir->len);
	kfree(dir->bytes);
	dir->bytes = bytes;
	dir->size = size;
	return 0;
}

static int dir_add(struct ninep_dir *dir, const char *name, const struct vfs_stat *stat)
{
	struct ninep_qid qid = ninep_qid_of(stat);
	struct ninep_reply entry;
	int err = dir_make_room(dir);

	if (err)
		return err;
	entry = (struct ninep_reply){ dir->bytes, dir->size, dir->len, false };
	ninep_put_qid(&entry, &qid);
	ninep_put_number(&entry, ++dir->nr, 8);
	ninep_put_number(&entry, stat->type == VFS_DIRECTORY ? DIR_TYPE_DIR : DIR_TYPE_FILE, 1);
	ninep_put_text(&entry, name, strlen(name));
	dir->len = entry.len;
	return 0;
}

static int dir_add_path(struct ninep_dir *dir, const char *cwd, const char *name)
{
	struct vfs_stat stat;
	int err = vfs_stat(cwd, name, &stat);

	if (err)
		return err == -ENOENT ? 0 : err; /* it has just been removed */
	return dir_add(dir, name, &stat);
}

static int dir_fill(struct ninep_dir *dir, const char *path)
{
	char name[VFS_NAME_MAX];
	int err = dir_add_path(dir, path, ".");

	if (!err)
		err = dir_add_path(dir, path, "..");
	for (uint32_t i = 0; !err; i++) {
		err = vfs_entry("/", path, i, name);
		if (err)
			return err == -ENOENT ? 0 : err;
		err = dir_add_path(dir, path, name);
	}
	return err;
}

/* List the directory anew. */
static int dir_begin(struct ninep_fid *fid)
{
	struct ninep_dir *dir = kzalloc(sizeof(*dir));
	struct vfs_stat stat;
	int err = dir ? ninep_fid_stat(fid, &stat) : -ENOMEM;

	if (!err)
		err = dir_fill(dir, fid->path);
	if (err) {
		ninep_dir_free(dir);
		return err;
	}
	ninep_dir_free(fid->dir);
	fid->dir = dir;
	return 0;
}

static size_t dir_entry_len(const uint8_t *entry)
{
	return DIR_NAME_OFFSET + 2 + ninep_number(entry + DIR_NAME_OFFSET, 2);
}

/* Entries from number `offset` on that fit into `count` bytes; *out_len is their length. */
static const uint8_t *dir_part(const struct ninep_dir *dir, uint64_t offset, size_t count,
			       size_t *out_len)
{
	const uint8_t *from = dir->bytes, *end = dir->bytes + dir->len;
	const uint8_t *to;

	while (offset-- && from < end)
		from += dir_entry_len(from);
	to = from;
	while (to < end && dir_entry_len(to) <= count - (size_t)(to - from))
		to += dir_entry_len(to);
	*out_len = (size_t)(to - from);
	return from;
}

int ninep_dir_read(struct ninep_fid *fid, const struct ninep_request *request,
		   struct ninep_reply *reply)
{
	size_t room = reply->size - reply->len - 4, len;
	const uint8_t *part;
	int err = request->offset && fid->dir ? 0 : dir_begin(fid);

	if (err)
		return err;
	if (room > request->count)
		room = request->count;
	part = dir_part(fid->dir, request->offset, room, &len);
	if (!len && part < fid->dir->bytes + fid->dir->len)
		return -EINVAL; /* not even one fits */
	ninep_put_number(reply, len, 4);
	memcpy(reply->bytes + reply->len, part, len);
	reply->len += len;
	return 0;
}
