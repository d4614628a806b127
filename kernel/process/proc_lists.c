/* The files limits and mountinfo of /proc/PID. See proc_text.h. */
#include <kernel/string.h>
#include "proc_text.h"

static void proc_show_limit(struct text *text, uint64_t limit)
{
	if (limit == RLIM_INFINITY)
		text_add(text, "%-20s ", "unlimited");
	else
		text_add(text, "%-20lu ", limit);
}

void proc_show_limits(struct text *text, struct process *process)
{
	/* By their numbers; the last ones have no unit. */
	static const char *const names[NR_RLIMITS][2] = {
		{ "Max cpu time", "seconds" },	   { "Max file size", "bytes" },
		{ "Max data size", "bytes" },	   { "Max stack size", "bytes" },
		{ "Max core file size", "bytes" }, { "Max resident set", "bytes" },
		{ "Max processes", "processes" },  { "Max open files", "files" },
		{ "Max locked memory", "bytes" },  { "Max address space", "bytes" },
		{ "Max file locks", "locks" },	   { "Max pending signals", "signals" },
		{ "Max msgqueue size", "bytes" },  { "Max nice priority", NULL },
		{ "Max realtime priority", NULL }, { "Max realtime timeout", "us" },
	};
	struct rlimit limits[NR_RLIMITS];

	mutex_lock(&process_lock);
	memcpy(limits, process->limits, sizeof(limits));
	mutex_unlock(&process_lock);
	text_add(text, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (size_t i = 0; i < NR_RLIMITS; i++) {
		text_add(text, "%-25s ", names[i][0]);
		proc_show_limit(text, limits[i].cur);
		proc_show_limit(text, limits[i].max);
		if (names[i][1])
			text_add(text, "%-10s", names[i][1]);
		text_add(text, "\n");
	}
}

#define MOUNT_ID_FIRST 2u /* of the root; its parent is 1, which is not shown */

/* Is `path` below `above`? */
static bool proc_is_path_in(const char *path, const char *above)
{
	size_t len = strlen(above);

	return strcmp(above, "/") == 0 || (strncmp(path, above, len) == 0 && path[len] == '/');
}

/* The id of the mount that has the directory of mount `index`. */
static uint32_t proc_mount_parent(uint32_t index, const char *path)
{
	uint32_t parent = MOUNT_ID_FIRST - 1;
	char above[VFS_PATH_MAX];
	size_t longest = 0;

	for (uint32_t i = 0; vfs_mount_get(i, above, NULL); i++) {
		size_t len = strlen(above);

		if (i == index || len < longest || !proc_is_path_in(path, above))
			continue;
		longest = len;
		parent = MOUNT_ID_FIRST + i;
	}
	return parent;
}

void proc_show_mountinfo(struct text *text)
{
	char path[VFS_PATH_MAX], options[VFS_OPTIONS_MAX];
	const char *type;

	for (uint32_t i = 0; (type = vfs_mount_get(i, path, options)); i++) {
		struct vfs_stat stat = { 0 };

		vfs_stat("/", path, &stat);
		text_add(text, "%u %u 0:%u / %s rw,relatime - %s %s rw%s\n", MOUNT_ID_FIRST + i,
			 proc_mount_parent(i, path), user_dev(&stat), path, type, type, options);
	}
}
