/*
 * Credentials: the user and groups that a thread acts for, what is allowed to them, and the checks of files
 * by owner, group and mode. The checks have Linux's names and results.
 *
 * Threads that run no program, and kernels without programs, act for root.
 *
 * Context:   thread.
 * Locking:   none: only a thread itself changes its credentials. Those of a process are read by others while
 *            they change, id by id.
 */
#ifndef KERNEL_CRED_H
#define KERNEL_CRED_H

#include <kernel/vfs.h>

#define CRED_GROUPS_MAX 32u

/* Capabilities, by Linux's numbers. Root has all, up to the last one. */
enum {
	CAP_CHOWN,
	CAP_DAC_OVERRIDE,
	CAP_DAC_READ_SEARCH,
	CAP_FOWNER,
	CAP_FSETID,
	CAP_KILL,
	CAP_SETGID,
	CAP_SETUID,
	CAP_SETPCAP,
	CAP_IPC_LOCK = 14,
	CAP_SYS_CHROOT = 18,
	CAP_SYS_PTRACE,
	CAP_SYS_ADMIN = 21,
	CAP_SYS_BOOT,
	CAP_SYS_NICE,
	CAP_SYS_RESOURCE,
	CAP_MKNOD = 27,
	CAP_SYSLOG = 34,
	CAP_PERFMON = 38,
	CAP_LAST = 40
};
#define CAP_ALL ((2ull << CAP_LAST) - 1)

struct cred_ids {
	uint32_t real, effective, saved;
	uint32_t fs; /* the one that counts for files */
};

struct cred {
	struct cred_ids user, group;
	uint64_t inheritable, permitted, effective; /* a bit for each capability */
	bool keeps_caps;   /* permitted ones stay when no id is 0 any more */
	bool no_new_privs; /* set-user-ID of files does nothing */
	uint32_t nr_groups;
	uint32_t groups[CRED_GROUPS_MAX];
};

/* Bits of a mode. */
#define MODE_SETUID 04000u
#define MODE_SETGID 02000u
#define MODE_STICKY 01000u

/* To be done with a file. */
#define MAY_EXEC  1u /* of a directory: to look for names in it */
#define MAY_WRITE 2u
#define MAY_READ  4u

#ifdef WITH_PROCESSES

bool capable(unsigned int cap);
/* Is all that is there allowed to be read and searched? Then there is no need to ask for attributes. */
bool cred_sees_all(void);
/* May a file with these attributes be used so (MAY_*)? 0 or -EACCES. */
int inode_permission(const struct vfs_stat *stat, unsigned int mask);
/* May a file be removed from its directory, or renamed there? 0, -EACCES; -EPERM: the directory is sticky. */
int may_delete(const struct vfs_stat *dir, const struct vfs_stat *stat);
/*
 * May the attributes `which` (VFS_SET_*) of a file be changed to these? 0, -EPERM, -EACCES. `to` and `which` are
 * changed: an owner who is not in the group loses MODE_SETGID, and a change of owner takes both such bits.
 */
int setattr_prepare(const struct vfs_stat *stat, unsigned int *which, struct vfs_stat *to);
/* The owner of a file that is made. */
uint32_t current_fsuid(void);
uint32_t current_fsgid(void);
/* The mode of a file after a write: set-user-ID goes, unless root has written. */
uint32_t mode_after_write(uint32_t mode);
/* The mode of a new file of that group: without set-group-ID, if the thread is not in the group. */
uint32_t mode_of_new(uint32_t mode, uint32_t gid);

#else

static inline bool capable(unsigned int cap)
{
	(void)cap;
	return true;
}
static inline bool cred_sees_all(void)
{
	return true;
}
static inline int inode_permission(const struct vfs_stat *stat, unsigned int mask)
{
	(void)stat;
	(void)mask;
	return 0;
}
static inline int may_delete(const struct vfs_stat *dir, const struct vfs_stat *stat)
{
	(void)dir;
	(void)stat;
	return 0;
}
static inline int setattr_prepare(const struct vfs_stat *stat, unsigned int *which,
				  struct vfs_stat *to)
{
	(void)stat;
	(void)which;
	(void)to;
	return 0;
}
static inline uint32_t current_fsuid(void)
{
	return 0;
}
static inline uint32_t current_fsgid(void)
{
	return 0;
}
static inline uint32_t mode_after_write(uint32_t mode)
{
	return mode;
}
static inline uint32_t mode_of_new(uint32_t mode, uint32_t gid)
{
	(void)gid;
	return mode;
}

#endif

#endif
