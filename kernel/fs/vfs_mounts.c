/*
 * The table of mounts. See <kernel/vfs.h> and vfs_mount.h.
 *
 * Locking: mount_lock guards the table; changes of others than options are made under mount_change_lock. A mount may be removed while nodes of it are held, because
 * they belong to the file system, which stays.
 */
#include <kernel/lock.h>
#include <kernel/string.h>
#include <kernel/vfs.h>
#include <trace/fmt.h>
#include "vfs_mount.h"
#include "vfs_ram.h"

#define MOUNTS_MAX 16u

struct mount {
	const char *type;
	const struct vfs_fs *fs; /* NULL: a directory of the ram tree, listed under its own type */
	bool is_fixed;		 /* umount refuses it */
	bool has_mode;		 /* by an option */
	uint32_t uid, gid, mode; /* of its options */
	size_t len;		 /* of the path */
	char path[VFS_PATH_MAX];
};

#define MOUNT_FIXED(type, fs, path)                                                                \
	{                                                                                          \
		type, fs, true, false, 0, 0, 0, sizeof(path) - 1, path                             \
	}

/* In the order they were made. No two have the same path; that of the first, the root's, is empty. */
static struct mount mounts[MOUNTS_MAX] = {
	MOUNT_FIXED("ramfs", &vfs_ram_fs, ""),
	MOUNT_FIXED("proc", NULL, "/proc"),
	MOUNT_FIXED("sysfs", NULL, "/sys"),
	MOUNT_FIXED("debugfs", NULL, "/sys/kernel/debug"),
	MOUNT_FIXED("tracefs", &vfs_trace_fs, "/sys/kernel/tracing"),
	MOUNT_FIXED("tracefs", &vfs_trace_fs, "/sys/kernel/debug/tracing"),
	MOUNT_FIXED("livepatch", &vfs_livepatch_fs, "/sys/kernel/livepatch"),
	MOUNT_FIXED("tmpfs", NULL, "/tmp"),
};
static uint32_t nr_mounts = 8;
static struct spinlock mount_lock;
/* Taken first, by changes of the table and of the tree in memory. */
static struct mutex mount_change_lock;

/* Is `path` the mount's directory, or in it? */
static bool mount_covers(const struct mount *mount, const char *path)
{
	return strncmp(path, mount->path, mount->len) == 0 &&
	       (!path[mount->len] || path[mount->len] == '/');
}

const struct vfs_fs *vfs_mount_of(const char *path, const char **out_rest)
{
	const struct vfs_fs *fs = &vfs_ram_fs;
	size_t longest = 0;

	if (path[0] == '/' && path[1] == 'p' && strncmp(path, "/proc/", strlen("/proc/")) == 0 &&
	    vfs_names_process(path + strlen("/proc/"))) {
		*out_rest = path + strlen("/proc/");
		return &vfs_proc_fs;
	}
	spin_lock(&mount_lock);
	for (uint32_t i = 1; i < nr_mounts; i++) {
		if (mounts[i].path[1] != path[1]) /* most differ here */
			continue;
		if (mounts[i].fs && mounts[i].len >= longest && mount_covers(&mounts[i], path)) {
			fs = mounts[i].fs;
			longest = mounts[i].len;
		}
	}
	spin_unlock(&mount_lock);
	path += longest;
	*out_rest = *path == '/' ? path + 1 : path;
	return fs == vfs_proc_place() && vfs_names_process(*out_rest) ? &vfs_proc_fs : fs;
}

const char *vfs_mount_type(const char *path)
{
	const char *type = mounts[0].type;
	size_t longest = 0;

	spin_lock(&mount_lock);
	for (uint32_t i = 0; i < nr_mounts; i++) {
		if (mounts[i].len >= longest && mount_covers(&mounts[i], path)) {
			type = mounts[i].type;
			longest = mounts[i].len;
		}
	}
	spin_unlock(&mount_lock);
	return type;
}

bool vfs_mount_is_in(const char *path)
{
	size_t len = strlen(path);
	bool is_in = false;

	spin_lock(&mount_lock);
	for (uint32_t i = 0; i < nr_mounts && !is_in; i++)
		is_in = strncmp(mounts[i].path, path, len) == 0 &&
			(!mounts[i].path[len] || mounts[i].path[len] == '/');
	spin_unlock(&mount_lock);
	return is_in;
}

/* The mount on exactly this directory; NULL for none. Lock held. */
static struct mount *mount_at(const char *path)
{
	for (uint32_t i = nr_mounts; i-- > 0;) {
		if (strcmp(mounts[i].path, strcmp(path, "/") == 0 ? "" : path) == 0)
			return &mounts[i];
	}
	return NULL;
}

static const struct mount *mount_of_type(const char *type)
{
	for (uint32_t i = 0; i < nr_mounts; i++) {
		if (strcmp(mounts[i].type, type) == 0)
			return &mounts[i];
	}
	return NULL;
}

static bool mount_is_tmpfs(const char *type)
{
	return strcmp(type, "tmpfs") == 0;
}

#define MOUNT_IS_THERE 1

bool vfs_mount_is_proc(const char *path)
{
	const struct mount *mount;
	bool is_proc;

	spin_lock(&mount_lock);
	mount = mount_at(path);
	is_proc = mount && strcmp(mount->type, "proc") == 0;
	spin_unlock(&mount_lock);
	return is_proc;
}

/* See vfs_mount() for the errors. Only tracefs, tmpfs and proc can have more than one place. Lock held. */
static int mount_add_mount(const char *path, const char *type)
{
	const struct mount *known = mount_of_type(type), *there = mount_at(path);
	bool is_proc = vfs_proc_place() && strcmp(type, "proc") == 0;

	if (!known)
		return -ENODEV;
	if (there)
		return strcmp(there->type, type) == 0 ? MOUNT_IS_THERE : -EBUSY;
	if (known->fs != &vfs_trace_fs && !mount_is_tmpfs(type) && !is_proc)
		return -EPERM;
	if (nr_mounts == MOUNTS_MAX)
		return -ENOSPC;
	if (known->fs) /* the same tree once more, with its options */
		mounts[nr_mounts] = *known;
	else
		mounts[nr_mounts] = (struct mount){ .type = known->type };
	if (is_proc)
		mounts[nr_mounts].fs = vfs_proc_place();
	mounts[nr_mounts].is_fixed = false;
	mounts[nr_mounts].len = strlcpy(mounts[nr_mounts].path, path, VFS_PATH_MAX);
	nr_mounts++;
	return 0;
}

/* Lock held. */
static void mount_remove_mount(const char *path)
{
	struct mount *mount = mount_at(path);

	nr_mounts--;
	memmove(mount, mount + 1, (size_t)(mounts + nr_mounts - mount) * sizeof(*mount));
}

static void mount_remove_locked(const char *path)
{
	spin_lock(&mount_lock);
	mount_remove_mount(path);
	spin_unlock(&mount_lock);
}

/* mount_change_lock is held. */
static int mount_locked(const char *path, const char *type)
{
	int err;

	spin_lock(&mount_lock);
	err = mount_add_mount(path, type);
	spin_unlock(&mount_lock);
	if (err == MOUNT_IS_THERE)
		return 0;
	if (!err && mount_is_tmpfs(type)) {
		err = ram_mount(path);
		if (err)
			mount_remove_locked(path);
	}
	return err;
}

int vfs_mount(const char *cwd, const char *path, const char *type)
{
	char full[VFS_PATH_MAX];
	struct vfs_stat stat;
	int err = vfs_stat(cwd, path, &stat);

	if (!err && stat.type != VFS_DIRECTORY)
		err = -ENOTDIR;
	if (!err)
		err = vfs_real_path(cwd, path, true, full);
	if (err)
		return err;
	mutex_lock(&mount_change_lock);
	err = mount_locked(full, type);
	mutex_unlock(&mount_change_lock);
	return err;
}

static void mount_note(struct mount *mount, unsigned int which, const struct vfs_stat *to)
{
	if (which & VFS_SET_UID)
		mount->uid = to->uid;
	if (which & VFS_SET_GID)
		mount->gid = to->gid;
	if (which & VFS_SET_MODE) {
		mount->has_mode = true;
		mount->mode = to->mode;
	}
}

/* Keep the options of the mount at `path`, and of all others that show the same tree. */
static void mount_note_options(const char *path, unsigned int which, const struct vfs_stat *to)
{
	struct mount *mount;

	spin_lock(&mount_lock);
	mount = mount_at(path);
	for (uint32_t i = 0; i < nr_mounts && mount; i++) {
		if (&mounts[i] == mount || (mount->fs && mounts[i].fs == mount->fs))
			mount_note(&mounts[i], which, to);
	}
	spin_unlock(&mount_lock);
}

/* Find the mount at `path`: can it take options, and the function that gives its files owners. 0 or -EINVAL. */
static int mount_find(const char *path, bool *out_takes, const struct vfs_fs **out_fs)
{
	const struct mount *mount;

	spin_lock(&mount_lock);
	mount = mount_at(path);
	if (mount) {
		*out_fs = mount->fs;
		*out_takes = (mount->fs && mount->fs->set_owner) ||
			     (mount_is_tmpfs(mount->type) && !mount->is_fixed);
	}
	spin_unlock(&mount_lock);
	return mount ? 0 : -EINVAL;
}

int vfs_remount(const char *cwd, const char *path, unsigned int which, const struct vfs_stat *to)
{
	unsigned int of_dir = which, of_all = which & (VFS_SET_UID | VFS_SET_GID);
	const struct vfs_fs *fs = NULL;
	char full[VFS_PATH_MAX];
	bool takes = false;
	int err = vfs_real_path(cwd, path, true, full);

	if (!err)
		err = mount_find(full, &takes, &fs);
	if (err || !takes || !which)
		return err;
	if (fs) {
		of_dir &= VFS_SET_MODE;
		fs->set_owner(of_all, to);
	}
	if (of_dir)
		err = vfs_set_attr(VFS_REAL, full, of_dir, to);
	if (!err)
		mount_note_options(full, which, to);
	return err;
}

/* The type of the mount at a path, when it can be removed. 0, -EINVAL or -EBUSY. Lock held. */
static int mount_may_remove(const char *path, const char **out_type)
{
	const struct mount *mount = mount_at(path);

	if (!mount)
		return -EINVAL;
	*out_type = mount->type;
	for (uint32_t i = 0; i < nr_mounts; i++) {
		if (&mounts[i] != mount && mounts[i].len > mount->len &&
		    mount_covers(mount, mounts[i].path))
			return -EBUSY;
	}
	return mount->is_fixed ? -EBUSY : 0;
}

/* mount_change_lock is held. */
static int mount_end_locked(const char *path)
{
	const char *type;
	int err;

	spin_lock(&mount_lock);
	err = mount_may_remove(path, &type);
	spin_unlock(&mount_lock);
	if (!err && mount_is_tmpfs(type))
		err = ram_umount(path);
	if (!err)
		mount_remove_locked(path);
	return err;
}

int vfs_umount(const char *cwd, const char *path)
{
	char full[VFS_PATH_MAX];
	int err = vfs_real_path(cwd, path, true, full);

	if (err)
		return err;
	mutex_lock(&mount_change_lock);
	err = mount_end_locked(full);
	mutex_unlock(&mount_change_lock);
	return err;
}

static bool mount_take_number(const char *option, const char *name, unsigned int base,
			      uint32_t *out)
{
	const char *digit = option + strlen(name);
	uint64_t value = 0;

	if (strncmp(option, name, strlen(name)) != 0 || !*digit)
		return false;
	for (; (unsigned int)(*digit - '0') < base && value < UINT32_MAX; digit++)
		value = value * base + (unsigned int)(*digit - '0');
	*out = (uint32_t)value;
	return !*digit && value < UINT32_MAX;
}

void vfs_mount_option(const char *option, unsigned int *which, struct vfs_stat *to)
{
	if (mount_take_number(option, "uid=", 10, &to->uid))
		*which |= VFS_SET_UID;
	else if (mount_take_number(option, "gid=", 10, &to->gid))
		*which |= VFS_SET_GID;
	else if (mount_take_number(option, "mode=", 8, &to->mode))
		*which |= VFS_SET_MODE;
	to->mode &= 07777;
}

/* Options as Linux shows them, which leaves out what is so without them. Lock held. */
static void mount_show(const struct mount *mount, char *out)
{
	bool is_tmpfs = mount_is_tmpfs(mount->type);
	bool has_mode = mount->has_mode && mount->mode != (is_tmpfs ? 01777u : 0700u);
	size_t len = 0;

	*out = '\0';
	if (has_mode && is_tmpfs)
		len += trace_scnprintf(out, VFS_OPTIONS_MAX, ",mode=%03o", mount->mode);
	if (mount->uid)
		len += trace_scnprintf(out + len, VFS_OPTIONS_MAX - len, ",uid=%u", mount->uid);
	if (mount->gid)
		len += trace_scnprintf(out + len, VFS_OPTIONS_MAX - len, ",gid=%u", mount->gid);
	if (has_mode && !is_tmpfs)
		trace_scnprintf(out + len, VFS_OPTIONS_MAX - len, ",mode=%o", mount->mode);
}

const char *vfs_mount_get(uint32_t index, char *out_path, char *out_options)
{
	const char *type = NULL;

	spin_lock(&mount_lock);
	if (index < nr_mounts) {
		type = mounts[index].type;
		strlcpy(out_path, index ? mounts[index].path : "/", VFS_PATH_MAX);
		if (out_options)
			mount_show(&mounts[index], out_options);
	}
	spin_unlock(&mount_lock);
	return type;
}
