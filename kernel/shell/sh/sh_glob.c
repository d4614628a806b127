/*
 * File names for patterns, one path component after the other.
 *
 *   per_cpu / cpu* / stats      round 1: { per_cpu }   round 2: { per_cpu/cpu0, per_cpu/cpu1 }
 *                               round 3: { per_cpu/cpu0/stats, per_cpu/cpu1/stats }
 *
 * See sh.h.
 */
#include <kernel/string.h>
#include <kernel/thread.h>
#include <trace/fmt.h>
#include "sh.h"

struct glob {
	const struct sh_expansion *ex;
	struct sh_arena arena; /* for the paths of all rounds */
	char name[VFS_NAME_MAX];
	char path[VFS_PATH_MAX];
};

/*
 * Add base + name, with a slash behind when more components follow. A name that is too long for a
 * path cannot exist, and is left out. 0 or -ENOMEM.
 */
static int glob_add_path(struct glob *glob, struct sh_fields *next, const char *base,
			 const char *name, bool more)
{
	size_t len = strlen(base) + strlen(name) + more;

	if (len >= VFS_PATH_MAX)
		return 0;
	trace_snprintf(glob->path, VFS_PATH_MAX, "%s%s%s", base, name, more ? "/" : "");
	return sh_fields_add(next, &glob->arena, glob->path, len);
}

static int glob_match_directory(struct glob *glob, struct sh_fields *next, const char *base,
				const char *pattern, bool more)
{
	const char *cwd = glob->ex->sh->cwd;
	int err = 0;

	for (uint32_t i = 0; !err; i++) {
		if (vfs_entry(cwd, *base ? base : ".", i, glob->name))
			break;
		if (thread_interrupted())
			return -EINTR;
		if (glob->name[0] == '.' && pattern[0] != '.')
			continue;
		if (sh_match(pattern, glob->name))
			err = glob_add_path(glob, next, base, glob->name, more);
	}
	return err;
}

/*
 * Append the names that match one component to every path so far, which gives `next`. 0 or -errno.
 */
static int glob_round(struct glob *glob, const struct sh_fields *paths, char *component, bool more,
		      struct sh_fields *next)
{
	bool is_pattern = sh_is_pattern(component);
	int err = 0;

	if (!is_pattern)
		sh_unquote(component);
	for (struct sh_word *base = paths->first; base && !err; base = base->next) {
		if (is_pattern)
			err = glob_match_directory(glob, next, base->text, component, more);
		else
			err = glob_add_path(glob, next, base->text, component, more);
	}
	return err;
}

/* Insert a path into the sorted list, unless it does not exist. 0 or -ENOMEM. */
static int glob_add_sorted(struct glob *glob, const char *path, struct sh_word **list)
{
	struct vfs_stat stat;
	struct sh_word *word;

	if (vfs_stat(glob->ex->sh->cwd, path, &stat))
		return 0;
	word = sh_alloc(glob->ex->arena, sizeof(*word));
	if (!word)
		return -ENOMEM;
	word->text = sh_copy(glob->ex->arena, path, strlen(path));
	if (!word->text)
		return -ENOMEM;
	while (*list && strcmp((*list)->text, word->text) < 0)
		list = &(*list)->next;
	word->next = *list;
	*list = word;
	return 0;
}

static int glob_collect(struct glob *glob, const struct sh_fields *paths, struct sh_fields *fields)
{
	struct sh_word *sorted = NULL;
	int err = 0;

	for (struct sh_word *path = paths->first; path && !err; path = path->next)
		err = glob_add_sorted(glob, path->text, &sorted);
	if (err || !sorted)
		return err;
	*fields->tail = sorted;
	for (; sorted; sorted = sorted->next) {
		fields->tail = &sorted->next;
		fields->nr++;
	}
	return 0;
}

static int glob_rounds(struct glob *glob, char *pattern, struct sh_fields *paths)
{
	int err = sh_fields_add(paths, &glob->arena, "/", pattern[0] == '/');

	while (!err && pattern) {
		struct sh_fields next;
		char *slash;

		while (*pattern == '/')
			pattern++;
		slash = strchr(pattern, '/');
		if (slash)
			*slash = '\0';
		sh_fields_init(&next);
		err = glob_round(glob, paths, pattern, slash != NULL, &next);
		*paths = next;
		pattern = slash ? slash + 1 : NULL;
	}
	return err;
}

int sh_glob(const struct sh_expansion *ex, const char *pattern, struct sh_fields *fields)
{
	struct glob glob = { .ex = ex };
	struct sh_fields paths;
	char *copy = sh_copy(&glob.arena, pattern, strlen(pattern));
	int err = -ENOMEM;

	sh_fields_init(&paths);
	if (copy)
		err = glob_rounds(&glob, copy, &paths);
	if (!err)
		err = glob_collect(&glob, &paths, fields);
	sh_arena_free(&glob.arena);
	return err;
}
