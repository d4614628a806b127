/* Users, groups and capabilities: getuid(), setresuid(), setgroups(), capset() and theirs. */
#include <kernel/cred.h>
#include <kernel/string.h>
#include "syscall.h"

#define ID_SAME		UINT32_MAX /* leave it as it is */
#define IDS_GROUPS_MOST 65536	   /* that Linux takes */

/* ---- Asking ---- */

long sys_getuid(void)
{
	return current_cred()->user.real;
}

long sys_getgid(void)
{
	return current_cred()->group.real;
}

long sys_geteuid(void)
{
	return current_cred()->user.effective;
}

long sys_getegid(void)
{
	return current_cred()->group.effective;
}

static long ids_get(const struct cred_ids *ids, unsigned int *real, unsigned int *effective,
		    unsigned int *saved)
{
	if (copy_to_user(real, &ids->real, sizeof(ids->real)) ||
	    copy_to_user(effective, &ids->effective, sizeof(ids->effective)) ||
	    copy_to_user(saved, &ids->saved, sizeof(ids->saved)))
		return -EFAULT;
	return 0;
}

long sys_getresuid(unsigned int *ruidp, unsigned int *euidp, unsigned int *suidp)
{
	return ids_get(&current_cred()->user, ruidp, euidp, suidp);
}

long sys_getresgid(unsigned int *rgidp, unsigned int *egidp, unsigned int *sgidp)
{
	return ids_get(&current_cred()->group, rgidp, egidp, sgidp);
}

/* ---- Changing: of users and of groups alike ---- */

static bool ids_are_own(const struct cred_ids *ids, uint32_t id)
{
	return id == ID_SAME || id == ids->real || id == ids->effective || id == ids->saved;
}

/* setuid(): with the capability all of them, without it only the effective one. */
static int ids_set(struct cred_ids *ids, uint32_t id, bool may)
{
	if (id == ID_SAME)
		return -EINVAL;
	if (may)
		ids->real = ids->saved = id;
	else if (id != ids->real && id != ids->saved)
		return -EPERM;
	ids->effective = ids->fs = id;
	return 0;
}

static int ids_set_two(struct cred_ids *ids, uint32_t real, uint32_t effective, bool may)
{
	const struct cred_ids old = *ids;

	if (!may && real != ID_SAME && real != old.real && real != old.effective)
		return -EPERM;
	if (!may && !ids_are_own(ids, effective))
		return -EPERM;
	if (real != ID_SAME)
		ids->real = real;
	if (effective != ID_SAME)
		ids->effective = effective;
	if (real != ID_SAME || (effective != ID_SAME && effective != old.real))
		ids->saved = ids->effective;
	ids->fs = ids->effective;
	return 0;
}

static int ids_set_three(struct cred_ids *ids, uint32_t real, uint32_t effective, uint32_t saved,
			 bool may)
{
	if (!may &&
	    !(ids_are_own(ids, real) && ids_are_own(ids, effective) && ids_are_own(ids, saved)))
		return -EPERM;
	if (real != ID_SAME)
		ids->real = real;
	if (effective != ID_SAME)
		ids->effective = effective;
	if (saved != ID_SAME)
		ids->saved = saved;
	ids->fs = ids->effective;
	return 0;
}

/* The one of files: the old one is the result, whether or not it has changed. */
static uint32_t ids_set_fs(struct cred_ids *ids, uint32_t id, bool may)
{
	uint32_t old = ids->fs;

	if (id != ID_SAME && (may || id == old || ids_are_own(ids, id)))
		ids->fs = id;
	return old;
}

static bool ids_have_root(const struct cred_ids *ids)
{
	return !ids->real || !ids->effective || !ids->saved;
}

/* Root's capabilities go and come with the user's ids. */
static long ids_commit_user(struct cred *cred, int err)
{
	const struct cred *old = current_cred();

	if (err)
		return err;
	if (ids_have_root(&old->user) && !ids_have_root(&cred->user) && !old->keeps_caps)
		cred->permitted = cred->effective = 0;
	if (!old->user.effective && cred->user.effective)
		cred->effective = 0;
	else if (old->user.effective && !cred->user.effective)
		cred->effective = cred->permitted;
	commit_creds(cred);
	return 0;
}

static long ids_commit_group(const struct cred *cred, int err)
{
	if (!err)
		commit_creds(cred);
	return err;
}

long sys_setuid(unsigned int uid)
{
	struct cred cred = *current_cred();

	return ids_commit_user(&cred, ids_set(&cred.user, uid, capable(CAP_SETUID)));
}

long sys_setreuid(unsigned int ruid, unsigned int euid)
{
	struct cred cred = *current_cred();

	return ids_commit_user(&cred, ids_set_two(&cred.user, ruid, euid, capable(CAP_SETUID)));
}

long sys_setresuid(unsigned int ruid, unsigned int euid, unsigned int suid)
{
	struct cred cred = *current_cred();

	return ids_commit_user(&cred,
			       ids_set_three(&cred.user, ruid, euid, suid, capable(CAP_SETUID)));
}

long sys_setgid(unsigned int gid)
{
	struct cred cred = *current_cred();

	return ids_commit_group(&cred, ids_set(&cred.group, gid, capable(CAP_SETGID)));
}

long sys_setregid(unsigned int rgid, unsigned int egid)
{
	struct cred cred = *current_cred();

	return ids_commit_group(&cred, ids_set_two(&cred.group, rgid, egid, capable(CAP_SETGID)));
}

long sys_setresgid(unsigned int rgid, unsigned int egid, unsigned int sgid)
{
	struct cred cred = *current_cred();

	return ids_commit_group(&cred,
				ids_set_three(&cred.group, rgid, egid, sgid, capable(CAP_SETGID)));
}

/* Capabilities about files. */
#define IDS_CAPS_OF_FILES 0x10800021full

long sys_setfsuid(unsigned int uid)
{
	struct cred cred = *current_cred();
	uint32_t old = ids_set_fs(&cred.user, uid, capable(CAP_SETUID));

	if (!old && cred.user.fs)
		cred.effective &= ~IDS_CAPS_OF_FILES;
	else if (old && !cred.user.fs)
		cred.effective |= cred.permitted & IDS_CAPS_OF_FILES;
	commit_creds(&cred);
	return old;
}

long sys_setfsgid(unsigned int gid)
{
	struct cred cred = *current_cred();
	uint32_t old = ids_set_fs(&cred.group, gid, capable(CAP_SETGID));

	commit_creds(&cred);
	return old;
}

/* ---- Groups ---- */

long sys_getgroups(int gidsetsize, unsigned int *grouplist)
{
	const struct cred *cred = current_cred();
	int nr = (int)cred->nr_groups;

	if (gidsetsize < 0 || (gidsetsize && gidsetsize < nr))
		return -EINVAL;
	if (gidsetsize && copy_to_user(grouplist, cred->groups, (size_t)nr * sizeof(uint32_t)))
		return -EFAULT;
	return nr;
}

long sys_setgroups(int gidsetsize, const unsigned int *grouplist)
{
	struct cred cred = *current_cred();

	if (!capable(CAP_SETGID))
		return -EPERM;
	if (gidsetsize < 0 || gidsetsize > (int)CRED_GROUPS_MAX)
		return gidsetsize < 0 || gidsetsize > IDS_GROUPS_MOST ? -EINVAL : -ENOMEM;
	cred.nr_groups = (uint32_t)gidsetsize;
	if (copy_from_user(cred.groups, grouplist, cred.nr_groups * sizeof(uint32_t)))
		return -EFAULT;
	commit_creds(&cred);
	return 0;
}

/* ---- Capabilities ---- */

#define CAP_VERSION_1 0x19980330u /* 32 bits of each kind; the others have 64 */
#define CAP_VERSION_2 0x20071026u
#define CAP_VERSION_3 0x20080522u

struct user_cap_header {
	uint32_t version;
	int32_t pid;
};

struct user_cap_data {
	uint32_t effective, permitted, inheritable;
};

/* The number of 32-bit parts; 0: a version that is not known, and the program has been told of one that is. -EFAULT. */
static int ids_cap_parts(struct user_cap_header *user, struct user_cap_header *out)
{
	const uint32_t newest = CAP_VERSION_3;

	if (copy_from_user(out, user, sizeof(*out)))
		return -EFAULT;
	if (out->version == CAP_VERSION_1)
		return 1;
	if (out->version == CAP_VERSION_2 || out->version == CAP_VERSION_3)
		return 2;
	return copy_to_user(&user->version, &newest, sizeof(newest)) ? -EFAULT : 0;
}

static int ids_find_cred(int32_t pid, struct cred *out)
{
	struct process *process;

	if (pid < 0)
		return -EINVAL;
	*out = *current_cred();
	if (!pid || pid == current_thread()->pid)
		return 0;
	process = process_of_thread(pid);
	if (!process)
		return -ESRCH;
	*out = process->cred;
	process_put(process);
	return 0;
}

long sys_capget(struct user_cap_header *header, struct user_cap_data *dataptr)
{
	struct user_cap_data data[2];
	struct user_cap_header from;
	struct cred cred;
	int parts = ids_cap_parts(header, &from), err;

	if (parts <= 0)
		return parts < 0 || !dataptr ? parts : -EINVAL;
	err = ids_find_cred(from.pid, &cred);
	if (err || !dataptr)
		return err;
	for (int i = 0; i < parts; i++)
		data[i] = (struct user_cap_data){ (uint32_t)(cred.effective >> 32 * i),
						  (uint32_t)(cred.permitted >> 32 * i),
						  (uint32_t)(cred.inheritable >> 32 * i) };
	return copy_to_user(dataptr, data, (size_t)parts * sizeof(*data)) ? -EFAULT : 0;
}

/* Capabilities can be given up, and permitted ones made effective. */
long sys_capset(struct user_cap_header *header, const struct user_cap_data *data)
{
	struct user_cap_data from[2] = { 0 };
	struct cred cred = *current_cred();
	struct user_cap_header head;
	int parts = ids_cap_parts(header, &head);
	uint64_t permitted;

	if (parts <= 0)
		return parts < 0 ? parts : -EINVAL;
	if (head.pid && head.pid != current_thread()->pid)
		return -EPERM;
	if (copy_from_user(from, data, (size_t)parts * sizeof(*from)))
		return -EFAULT;
	permitted = cred.permitted;
	cred.effective = ((uint64_t)from[1].effective << 32 | from[0].effective) & CAP_ALL;
	cred.permitted = ((uint64_t)from[1].permitted << 32 | from[0].permitted) & CAP_ALL;
	if (cred.permitted & ~permitted || cred.effective & ~cred.permitted)
		return -EPERM;
	permitted |= cred.inheritable;
	cred.inheritable = ((uint64_t)from[1].inheritable << 32 | from[0].inheritable) & CAP_ALL;
	if (cred.inheritable & ~permitted)
		return -EPERM;
	commit_creds(&cred);
	return 0;
}
