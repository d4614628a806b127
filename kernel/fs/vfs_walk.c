/* Walking along a path: see vfs_walk.h. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include "vfs_mount.h"
#include "vfs_walk.h"

#define FS_NR_SHIFT    56 /* the bits of an id above those that the file system gives */
#define WALK_LINKS_MAX 40
#define WALK_AGAIN     1 /* the path was rewritten */

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

		while (*path && *path != '/')
			path++;
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

/* Go from a directory to `name` in it. 0, or -errno with `place` as it was. */
static int walk_step(struct place *place, const char *name)
{
	void *next;
	int err = place->fs->lookup(place->node, name, &next);

	if (err)
		return err == -ENOENT && !walk_is_directory(place) ? -ENOTDIR : err;
	place_put(place);
	place->node = next;
	return 0;
}

/*
 * Put `text` in place of the name at `name`, which ends at `rest`; an absolute one replaces all before
 * it, too. WALK_AGAIN or -ENAMETOOLONG.
 */
static int walk_replace(char *path, const char *name, const char *rest, const char *text)
{
	char longer[2 * VFS_PATH_MAX];
	size_t len = *text == '/' ? 0 : (size_t)(name - path);
	int err;

	memcpy(longer, path, len);
	longer[len] = '\0';
	strlcat(longer, text, sizeof(longer));
	if (strlcat(longer, rest, sizeof(longer)) >= sizeof(longer))
		return -ENAMETOOLONG;
	err = walk_resolve("/", longer, true, path);
	return err ? err : WALK_AGAIN;
}

/* A walk: the text of the path, and what is wanted. */
struct walk {
	char *path;
	bool follows;	       /* the last name, if that is a link */
	bool is_parent_wanted; /* the node of all names but the last */
	unsigned int nr_links;
	char *last; /* the last name */
	/* Directories whose names end before this place of the path are not asked whether they may be searched. */
	size_t trusted;
};

/* The walk begins at the directory `cwd`, which the thread has come to before. */
static size_t walk_trusted(const char *cwd, const char *path)
{
	if (cwd == VFS_REAL)
		return VFS_PATH_MAX;
	return *path == '/' || !cwd[1] ? 0 : strlen(cwd);
}

/* May names be looked for in this directory? The next one begins at `name`. */
static int walk_may_search(const struct walk *walk, const struct place *place, const char *name)
{
	struct vfs_stat stat;

	if ((size_t)(name - walk->path) <= walk->trusted || cred_sees_all())
		return 0;
	place->fs->stat(place->node, &stat);
	return stat.type == VFS_DIRECTORY ? inode_permission(&stat, MAY_EXEC) : 0;
}

/* The names before `..` at `name` have no link in them any more: take the last one away. */
static int walk_up(struct walk *walk, char *name)
{
	char *path = walk->path;
	const char *rest = name + 2;

	name -= name > path + 1; /* at the slash; that of the root stays */
	while (name > path + 1 && name[-1] != '/')
		name--;
	walk->trusted = name - path > 1 ? (size_t)(name - path) - 1 : 0;
	return walk_replace(path, name, rest, "./");
}

/* Is the place a link? 0: no; WALK_AGAIN, with the path rewritten; -errno. */
static int walk_follow(struct walk *walk, const struct place *place, const char *name,
		       const char *rest)
{
	char target[VFS_PATH_MAX];
	int err = place->fs->readlink ? place->fs->readlink(place->node, target) : -EINVAL;

	if (!err && place->fs->is_magic_link && place->fs->is_magic_link(place->node))
		return 0;
	if (err)
		return err == -EINVAL ? 0 : err;
	walk->trusted = *target == '/' ? 0 : (size_t)(name - walk->path) - 1;
	if (++walk->nr_links > WALK_LINKS_MAX)
		return -ELOOP;
	return walk_replace(walk->path, name, rest, target);
}

static bool walk_is_up(const char *name, const char *rest)
{
	return rest - name == 2 && name[0] == '.' && name[1] == '.';
}

/* Go to the name at `name`, which ends at `rest`. 0, WALK_AGAIN or -errno. */
static int walk_name(struct walk *walk, struct place *place, char *name, char *rest)
{
	char end = *rest;
	int err;

	if (!end && walk->is_parent_wanted && !walk_is_up(name, rest))
		return 0;
	err = walk_may_search(walk, place, name);
	if (err)
		return err;
	if (walk_is_up(name, rest))
		return walk_is_directory(place) ? walk_up(walk, name) : -ENOTDIR;
	*rest = '\0';
	err = walk_step(place, name);
	*rest = end;
	if (!err && (end || walk->follows))
		err = walk_follow(walk, place, name, rest);
	return err;
}

/* One way from the root. 0 with a place; WALK_AGAIN or -errno without. */
static int walk_once(struct walk *walk, struct place *out_place)
{
	const char *below;
	char *name, *rest;
	int err = 0;

	out_place->fs = vfs_mount_of(walk->path, &below);
	name = walk->path + (below - walk->path);
	if (walk->is_parent_wanted && !*name)
		return -EEXIST;
	out_place->node = out_place->fs->root();
	if (!out_place->node)
		return -ENOENT;
	walk->last = name;
	for (; *name && !err; name = *rest ? rest + 1 : rest) {
		walk->last = name;
		for (rest = name; *rest && *rest != '/'; rest++)
			;
		err = walk_name(walk, out_place, name, rest);
	}
	if (err)
		place_put(out_place);
	out_place->path_len = (uint16_t)(name - walk->path);
	out_place->last_at = (uint16_t)(walk->last - walk->path);
	return err;
}

static int walk_run(struct walk *walk, struct place *out_place)
{
	int err;

	do
		err = walk_once(walk, out_place);
	while (err == WALK_AGAIN);
	return err;
}

int place_find(const char *cwd, const char *path, bool follows, char *full, struct place *out_place)
{
	size_t len = strlen(path);
	bool is_directory = len && path[len - 1] == '/';
	struct walk walk = { .path = full,
			     .follows = follows || is_directory,
			     .trusted = walk_trusted(cwd, path) };
	int err = walk_resolve(cwd, path, true, full);

	return err ? err : walk_run(&walk, out_place);
}

int place_find_parent(const char *cwd, const char *path, char *full, char **out_last,
		      struct place *out_place)
{
	struct walk walk = { .path = full,
			     .is_parent_wanted = true,
			     .trusted = walk_trusted(cwd, path) };
	int err = walk_resolve(cwd, path, true, full);

	if (!err)
		err = walk_run(&walk, out_place);
	*out_last = walk.last;
	return err;
}

int vfs_real_path(const char *cwd, const char *path, bool follows, char *out_path)
{
	struct place place;
	int err = place_find(cwd, path, follows, out_path, &place);

	if (!err)
		place_put(&place);
	return err == -ENOENT && *path ? 0 : err;
}
