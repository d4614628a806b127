/* Walking along a path: see vfs_walk.h. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include "vfs_mount.h"
#include "vfs_walk.h"

#define FS_NR_SHIFT    56 /* the bits of an id above those that the file system gives */
#define WALK_LINKS_MAX 40
#define WALK_AGAIN     1 /* the path was rewritten */
#define WALK_IS_PARENT PLACE_IS_PARENT

/* Append a name. `..` takes the last one away, or is one like others (`keeps_up`). */
static int walk_append_name(char *path, size_t *len, const char *name, size_t name_len,
			    bool keeps_up)
{
	if (name_len == 1 && name[0] == '.')
		return 0;
	if (!keeps_up && name_len == 2 && name[0] == '.' && name[1] == '.') {
		while (*len && path[--*len] != '/')
			;
		return 0;
	}
	if (name_len >= VFS_NAME_MAX || *len + name_len + 2 > VFS_PATH_MAX)
		return -ENAMETOOLONG;
	path[(*len)++] = '/';
	memcpy(path + *len, name, name_len);
	*len += name_len;
	return 0;
}

static int walk_append(char *out_path, size_t *len, const char *path, bool keeps_up)
{
	int err = 0;

	while (*path && !err) {
		const char *name = path;

		path = strchrnul(path, '/');
		if (path > name)
			err = walk_append_name(out_path, len, name, (size_t)(path - name),
					       keeps_up);
		while (*path == '/')
			path++;
	}
	return err;
}

static int walk_resolve(const char *cwd, const char *path, bool keeps_up, char *out_path)
{
	size_t len = 0;
	int err = 0;

	if (!*path)
		return -ENOENT;
	if (*path != '/')
		err = walk_append(out_path, &len, cwd, keeps_up);
	if (!err)
		err = walk_append(out_path, &len, path, keeps_up);
	if (err)
		return err;
	if (!len)
		out_path[len++] = '/';
	out_path[len] = '\0';
	return 0;
}

int vfs_resolve(const char *cwd, const char *path, char *out_path)
{
	return walk_resolve(cwd, path, false, out_path);
}

void place_put(struct place *place)
{
	if (place->fs->put)
		place->fs->put(place->node);
}

void place_stat(const struct place *place, struct vfs_stat *out_stat)
{
	*out_stat = (struct vfs_stat){ 0 };
	place->fs->stat(place->node, out_stat);
	out_stat->id = (uint64_t)place->fs->nr << FS_NR_SHIFT |
		       (out_stat->id & ((1ull << FS_NR_SHIFT) - 1));
}

static bool walk_is_directory(const struct place *place)
{
	struct vfs_stat stat;

	place->fs->stat(place->node, &stat);
	return stat.type == VFS_DIRECTORY;
}

enum walk_end {
	WALK_TO_NODE,
	WALK_TO_PARENT,		/* the node of all names but the last */
	WALK_TO_NODE_OR_PARENT, /* that of the last name, if it is there */
};

struct walk {
	char *path; /* the own path of `at`, and the names that are left */
	enum walk_end end;
	bool follows; /* the last name, if that is a link */
	unsigned int nr_links;
	struct place at;	 /* held; without a node: the walk begins at the root */
	const struct file *root; /* of struct vfs_at */
	size_t pos;		 /* where the next name begins in the path */
	size_t name_at,
		name_end; /* the place of the last name that was looked up, and the pos behind it */
	/* Directories whose names end before this place of the path are not asked whether they may be searched. */
	size_t trusted;
};

/* The path is its first `len` characters, which end a name, and `text` from there on. WALK_AGAIN or -ENAMETOOLONG. */
static int walk_replace(char *path, size_t len, const char *text)
{
	int err = walk_append(path, &len, text, true);

	if (!len)
		path[len++] = '/';
	path[len] = '\0';
	return err ? err : WALK_AGAIN;
}

/* The directory is left: the walk begins once more at the root, with the text that there is. */
static void walk_restart(struct walk *walk, size_t trusted)
{
	place_put(&walk->at);
	walk->at.node = NULL;
	walk->pos = 0;
	walk->trusted = trusted;
}

/* May names be looked for in this directory? */
static int walk_may_search(const struct walk *walk)
{
	struct vfs_stat stat;

	if (walk->pos <= walk->trusted || cred_sees_all())
		return 0;
	walk->at.fs->stat(walk->at.node, &stat);
	return stat.type == VFS_DIRECTORY ? inode_permission(&stat, MAY_EXEC) : 0;
}

/* Take `..`, which begins at `name`, out of the text; with the name before it, unless that `stays`. */
static void walk_cut_up(struct walk *walk, char *name, bool stays)
{
	const char *tail = name[2] ? name + 3 : name + 2;
	char *path = walk->path;

	name -= !stays && name > path + 1; /* at the slash; that of the root stays */
	while (!stays && name > path + 1 && name[-1] != '/')
		name--;
	memmove(name, tail, strlen(tail) + 1);
	if (!*name && name > path + 1)
		*--name = '\0';
	walk->pos = (size_t)(name - path);
}

/* Is the walk, whose next name begins at `name`, at the root that it may not leave? */
static bool walk_is_at_root(const struct walk *walk, const char *name)
{
	const struct file *root = walk->root;
	size_t len;

	if (!root)
		return false;
	if (root->fs)
		return walk->at.fs == root->fs && walk->at.node == root->node;
	len = strlen(root->path);
	return (size_t)(name - walk->path) == len + 1 && memcmp(walk->path, root->path, len) == 0;
}

static int walk_up(struct walk *walk, char *name)
{
	struct place *at = &walk->at;
	void *parent;

	if (!walk_is_directory(at))
		return -ENOTDIR;
	if (walk_is_at_root(walk, name)) {
		walk_cut_up(walk, name, true);
		return WALK_AGAIN;
	}
	walk_cut_up(walk, name, false);
	if (!at->fs->parent) {
		walk_restart(walk, walk->pos - (walk->pos > 0 && walk->path[walk->pos]));
		return WALK_AGAIN;
	}
	parent = at->fs->parent(at->node);
	if (!parent)
		return -ENOENT;
	place_put(at);
	at->node = parent;
	return WALK_AGAIN;
}

/* Begin at a directory that is held open. Its own path, into `out_dir`. */
static int walk_begin_at(struct walk *walk, const struct file *dir, char *out_dir)
{
	int err = file_dir_path(dir, out_dir);
	size_t len = strlen(out_dir);

	if (err || !dir->fs) {
		walk->trusted = err ? 0 : len;
		return err;
	}
	dir->fs->get(dir->node);
	walk->at = (struct place){ .fs = dir->fs, .node = dir->node };
	walk->pos = len > 1 ? len + 1 : len;
	return 0;
}

/* Go on from the root, with `text` as the path. */
static int walk_jump(struct walk *walk, const char *text)
{
	size_t len = 0;
	int err = 0;

	walk_restart(walk, 0);
	if (walk->root) {
		err = walk_begin_at(walk, walk->root, walk->path);
		len = strlen(walk->path);
	}
	return err ? err : walk_replace(walk->path, len > 1 ? len : 0, text);
}

/* Is `node`, to which the name leads, a link? 0: no; WALK_AGAIN, with the path rewritten; -errno. */
static int walk_follow(struct walk *walk, void *node, const char *name, const char *rest)
{
	const struct vfs_fs *fs = walk->at.fs;
	char target[2 * VFS_PATH_MAX];
	int err = fs->readlink ? fs->readlink(node, target) : -EINVAL;

	if (!err && fs->is_magic_link && fs->is_magic_link(node))
		return 0;
	if (err)
		return err == -EINVAL ? 0 : err;
	if (++walk->nr_links > WALK_LINKS_MAX)
		return -ELOOP;
	strlcat(target, rest, sizeof(target));
	if (*target == '/')
		return walk_jump(walk, target);
	return walk_replace(walk->path, (size_t)(name - walk->path) - 1, target);
}

/* Go to the name at `name`, which ends at `rest`. 0, WALK_AGAIN, WALK_IS_PARENT or -errno. */
static int walk_step(struct walk *walk, char *name, char *rest)
{
	struct place *at = &walk->at, next = { .fs = at->fs };
	char end = *rest;
	int err;

	*rest = '\0';
	err = at->fs->lookup(at->node, name, &next.node);
	*rest = end;
	if (err == -ENOENT && !walk_is_directory(at))
		return -ENOTDIR;
	if (err == -ENOENT && !end && walk->end == WALK_TO_NODE_OR_PARENT)
		return WALK_IS_PARENT;
	if (err)
		return err;
	if (end || walk->follows)
		err = walk_follow(walk, next.node, name, rest);
	if (err) {
		place_put(&next);
		return err;
	}
	place_put(at);
	at->node = next.node;
	walk->pos = (size_t)((end ? rest + 1 : rest) - walk->path);
	walk->name_at = (size_t)(name - walk->path);
	walk->name_end = end ? 0 : walk->pos;
	return 0;
}

static int walk_name(struct walk *walk)
{
	char *name = walk->path + walk->pos, *rest = strchrnul(name, '/');
	bool is_up;
	int err;

	is_up = rest - name == 2 && name[0] == '.' && name[1] == '.';
	if (!*rest && walk->end == WALK_TO_PARENT && !is_up)
		return WALK_IS_PARENT;
	err = walk_may_search(walk);
	if (err)
		return err;
	return is_up ? walk_up(walk, name) : walk_step(walk, name, rest);
}

/* Go to the root of the last mount that the path leads through, unless the walk is beyond it. */
static int walk_enter_mount(struct walk *walk)
{
	struct place *at = &walk->at;
	const char *below;
	const struct vfs_fs *fs = vfs_mount_of(walk->path, &below);
	size_t pos = (size_t)(below - walk->path), len = strlen(walk->path);

	if (walk->pos > len)
		walk->pos = len;
	if (at->node && (pos < walk->pos || (pos == walk->pos && fs == at->fs)))
		return 0;
	if (at->node)
		place_put(at);
	*at = (struct place){ .fs = fs, .node = fs->root() };
	walk->pos = pos;
	return at->node ? 0 : -ENOENT;
}

/* A path seen from the directory that it begins at. */
static const char *walk_text_from(const char *path)
{
	while (*path == '/')
		path++;
	return *path ? path : ".";
}

/* The text of the walk, and where it begins. */
static int walk_begin(struct walk *walk, const struct vfs_at *at)
{
	const struct file *begin = *at->path == '/' ? at->root : at->dir;
	const char *cwd = at->cwd, *path = at->path;
	char dir[VFS_PATH_MAX];
	int err = *path ? 0 : -ENOENT;

	walk->root = at->root;
	if (cwd == VFS_REAL && !at->dir)
		walk->trusted = VFS_PATH_MAX;
	else if (*path != '/' && !at->dir)
		walk->trusted = cwd[1] ? strlen(cwd) : 0;
	if (cwd == VFS_REAL)
		cwd = "/";
	if (!err && begin) {
		err = walk_begin_at(walk, begin, dir);
		cwd = dir;
		path = walk_text_from(path);
	}
	return err ? err : walk_resolve(cwd, path, true, walk->path);
}

/* Where the last name begins of those that were passed. */
static size_t walk_last_at(const struct walk *walk)
{
	size_t at = walk->pos;

	if (at && at == walk->name_end)
		return walk->name_at;
	while (at && walk->path[at - 1] != '/')
		at--;
	return at;
}

/* 0, WALK_IS_PARENT, or -errno and the walk has no place. */
static int walk_run(struct walk *walk, const struct vfs_at *at)
{
	int err = walk_begin(walk, at);

	if (!err)
		err = walk_enter_mount(walk);
	while (!err && walk->path[walk->pos]) {
		err = walk_name(walk);
		if (err == WALK_AGAIN)
			err = walk_enter_mount(walk);
	}
	if (err < 0 && walk->at.node)
		place_put(&walk->at);
	walk->at.path_len = (uint16_t)walk->pos;
	walk->at.last_at = (uint16_t)walk_last_at(walk);
	return err;
}

/* Is something behind the last name, a slash or `/.`? Then it means the directory that a link leads to. */
static bool walk_is_slash_behind(const char *path)
{
	size_t len = strlen(path);

	if (len > 1 && path[len - 1] == '.')
		len--;
	return len && path[len - 1] == '/';
}

int place_find_or_parent(const struct vfs_at *at, bool follows, char *full, char **out_last,
			 struct place *out_place)
{
	struct walk walk = { .path = full,
			     .follows = follows || walk_is_slash_behind(at->path),
			     .end = WALK_TO_NODE_OR_PARENT };
	int err = walk_run(&walk, at);

	*out_place = walk.at;
	*out_last = full + walk.pos;
	return err;
}

int place_find(const struct vfs_at *at, bool follows, char *full, struct place *out_place)
{
	struct walk walk = { .path = full, .follows = follows || walk_is_slash_behind(at->path) };
	int err = walk_run(&walk, at);

	*out_place = walk.at;
	return err;
}

int place_find_parent(const struct vfs_at *at, char *full, char **out_last, struct place *out_place)
{
	struct walk walk = { .path = full, .end = WALK_TO_PARENT };
	int err = walk_run(&walk, at);

	*out_place = walk.at;
	*out_last = full + walk.pos;
	if (err == WALK_IS_PARENT)
		return 0;
	if (!err)
		place_put(out_place);
	return err ? err : -EEXIST;
}

int vfs_real_path_at(const struct vfs_at *at, bool follows, char *out_path)
{
	struct place place;
	int err = place_find(at, follows, out_path, &place);

	if (!err)
		place_put(&place);
	return err == -ENOENT && *at->path ? 0 : err;
}

int vfs_real_path(const char *cwd, const char *path, bool follows, char *out_path)
{
	const struct vfs_at at = { .path = path, .cwd = cwd };

	return vfs_real_path_at(&at, follows, out_path);
}
