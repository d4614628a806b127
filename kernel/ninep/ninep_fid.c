/*
 * The fids of a session. See ninep_session.h.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "ninep_session.h"

static struct ninep_fid **fid_link(struct ninep_session *session, uint32_t nr)
{
	struct ninep_fid **link = &session->fids[nr % NINEP_FID_LISTS];

	while (*link && (*link)->nr != nr)
		link = &(*link)->next;
	return link;
}

struct ninep_fid *ninep_fid_find(struct ninep_session *session, uint32_t nr)
{
	return *fid_link(session, nr);
}

struct ninep_fid *ninep_fid_make(const char *path, const struct vfs_stat *stat)
{
	struct ninep_fid *fid = kzalloc(sizeof(*fid));

	if (!fid)
		return NULL;
	fid->path = kstrdup(path);
	if (!fid->path) {
		kfree(fid);
		return NULL;
	}
	fid->id = stat->id;
	fid->is_dir = stat->type == VFS_DIRECTORY;
	return fid;
}

void ninep_fid_put(struct ninep_session *session, uint32_t nr, struct ninep_fid *fid)
{
	struct ninep_fid *old = ninep_fid_find(session, nr);

	if (old)
		ninep_fid_drop(session, old);
	fid->nr = nr;
	*fid_link(session, nr) = fid;
	session->nr_fids++;
}

int ninep_fid_set(struct ninep_session *session, uint32_t nr, const char *path,
		  const struct vfs_stat *stat)
{
	struct ninep_fid *fid;

	if (!ninep_fid_find(session, nr) && session->nr_fids == NINEP_FIDS_MAX)
		return -EMFILE;
	fid = ninep_fid_make(path, stat);
	if (!fid)
		return -ENOMEM;
	ninep_fid_put(session, nr, fid);
	return 0;
}

int ninep_fid_close(struct ninep_session *session, struct ninep_fid *fid)
{
	struct file *file = fid->file;

	if (file)
		ninep_polls_end(session->polls, file);
	if (fid->waits)
		ninep_waits_destroy(session, fid);
	ninep_dir_free(fid->dir);
	fid->dir = NULL;
	fid->file = NULL;
	fid->is_open = fid->is_used = false;
	return fput(file);
}

int ninep_fid_free(struct ninep_session *session, struct ninep_fid *fid)
{
	int err = ninep_fid_close(session, fid);

	kfree(fid->path);
	kfree(fid);
	return err;
}

int ninep_fid_drop(struct ninep_session *session, struct ninep_fid *fid)
{
	*fid_link(session, fid->nr) = fid->next;
	session->nr_fids--;
	return ninep_fid_free(session, fid);
}

void ninep_fid_drop_all(struct ninep_session *session)
{
	for (uint32_t i = 0; i < NINEP_FID_LISTS; i++) {
		struct ninep_fid *fid = session->fids[i], *next;

		session->fids[i] = NULL;
		for (; fid; fid = next) {
			next = fid->next;
			session->nr_fids--;
			ninep_fid_free(session, fid);
		}
	}
}

/* `rest`: the part of its path behind the name that has changed. */
static void fid_set_path(struct ninep_fid *fid, const char *new_path, const char *rest)
{
	char path[VFS_PATH_MAX], *copy;

	strlcpy(path, new_path, sizeof(path));
	if (strlen(path) + strlen(rest) >= sizeof(path))
		return;
	strlcpy(path + strlen(path), rest, sizeof(path) - strlen(path));
	copy = kstrdup(path);
	if (!copy)
		return;
	kfree(fid->path);
	fid->path = copy;
}

void ninep_fid_rename(struct ninep_session *session, const char *path, const char *new_path)
{
	size_t len = strlen(path);

	for (uint32_t i = 0; i < NINEP_FID_LISTS; i++) {
		for (struct ninep_fid *fid = session->fids[i]; fid; fid = fid->next) {
			const char *rest = fid->path + len;

			if (strncmp(fid->path, path, len) == 0 && (!*rest || *rest == '/'))
				fid_set_path(fid, new_path, rest);
		}
	}
}

int ninep_fid_stat(const struct ninep_fid *fid, struct vfs_stat *out_stat)
{
	int err = vfs_stat("/", fid->path, out_stat);

	if (!err && out_stat->id != fid->id)
		err = -ENOENT;
	return err;
}

int ninep_child_path(const char *path, bool is_dir, const struct ninep_text *name, char *out_path)
{
	char text[VFS_NAME_MAX];

	if (!is_dir)
		return -ENOTDIR;
	if (name->len >= sizeof(text))
		return -ENAMETOOLONG;
	if (!name->len || memchr(name->bytes, '/', name->len) ||
	    memchr(name->bytes, '\0', name->len))
		return -ENOENT;
	memcpy(text, name->bytes, name->len);
	text[name->len] = '\0';
	return vfs_resolve(path, text, out_path);
}

struct ninep_qid ninep_qid_of(const struct vfs_stat *stat)
{
	return (struct ninep_qid){
		.type = stat->type == VFS_DIRECTORY ? NINEP_QID_DIR : NINEP_QID_FILE,
		.path = stat->id,
	};
}
