/* Checks of files by owner, group and mode: see <kernel/cred.h>. */
#include <kernel/cred.h>
#include "process.h"

bool cred_sees_all(void)
{
	return capable(CAP_DAC_OVERRIDE);
}

/* The three bits of the mode that are for the running thread. */
static unsigned int permission_bits(const struct vfs_stat *stat)
{
	if (stat->uid == current_fsuid())
		return stat->mode >> 6 & 7;
	return in_group_p(stat->gid) ? stat->mode >> 3 & 7 : stat->mode & 7;
}

/* Root reads and writes all, and executes files with the right in any of the three places. */
int inode_permission(const struct vfs_stat *stat, unsigned int mask)
{
	bool is_dir = stat->type == VFS_DIRECTORY;

	if (!(mask & ~permission_bits(stat)))
		return 0;
	if (!(mask & MAY_WRITE) && (is_dir || mask == MAY_READ) && capable(CAP_DAC_READ_SEARCH))
		return 0;
	if (!is_dir && mask & MAY_EXEC && !(stat->mode & 0111))
		return -EACCES;
	return capable(CAP_DAC_OVERRIDE) ? 0 : -EACCES;
}

static bool permission_is_owner(const struct vfs_stat *stat)
{
	return stat->uid == current_fsuid() || capable(CAP_FOWNER);
}

int may_delete(const struct vfs_stat *dir, const struct vfs_stat *stat)
{
	int err = inode_permission(dir, MAY_WRITE | MAY_EXEC);

	if (!err && dir->mode & MODE_STICKY && dir->uid != current_fsuid() &&
	    !permission_is_owner(stat))
		err = -EPERM;
	return err;
}

/* An owner may give a file to a group that he is in, and no file to another owner. */
static bool permission_to_chown(const struct vfs_stat *stat, unsigned int which,
				const struct vfs_stat *to)
{
	bool is_own = stat->uid == current_fsuid();

	if (capable(CAP_CHOWN))
		return true;
	if (which & VFS_SET_UID && (!is_own || to->uid != stat->uid))
		return false;
	return !(which & VFS_SET_GID) || (is_own && (to->gid == stat->gid || in_group_p(to->gid)));
}

static int permission_to_set_times(const struct vfs_stat *stat, unsigned int which)
{
	if (!(which & (VFS_SET_ATIME | VFS_SET_MTIME)) || permission_is_owner(stat))
		return 0;
	return which & VFS_SET_TO_NOW ? inode_permission(stat, MAY_WRITE) : -EPERM;
}

int setattr_prepare(const struct vfs_stat *stat, unsigned int *which, struct vfs_stat *to)
{
	const unsigned int owners = VFS_SET_UID | VFS_SET_GID;
	uint32_t gid = *which & VFS_SET_GID ? to->gid : stat->gid;

	if (!permission_to_chown(stat, *which, to) ||
	    (*which & VFS_SET_MODE && !permission_is_owner(stat)))
		return -EPERM;
	if (*which & VFS_SET_MODE && !in_group_p(gid) && !capable(CAP_FSETID))
		to->mode &= ~MODE_SETGID;
	if (*which & owners && !(*which & VFS_SET_MODE) && stat->type == VFS_REGULAR) {
		*which |= stat->mode & (MODE_SETUID | MODE_SETGID) ? VFS_SET_MODE : 0;
		to->mode = stat->mode & ~MODE_SETUID;
		if (stat->mode & 010)
			to->mode &= ~MODE_SETGID;
	}
	return permission_to_set_times(stat, *which);
}

uint32_t mode_after_write(uint32_t mode)
{
	if (capable(CAP_FSETID))
		return mode;
	return mode & ~(MODE_SETUID | (mode & 010 ? MODE_SETGID : 0));
}

uint32_t mode_of_new(uint32_t mode, uint32_t gid)
{
	bool is_for_group = (mode & (MODE_SETGID | 010)) == (MODE_SETGID | 010);

	return is_for_group && !in_group_p(gid) && !capable(CAP_FSETID) ? mode & ~MODE_SETGID
									: mode;
}
