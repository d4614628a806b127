/* Credentials of threads: see <kernel/cred.h> and process.h. */
#include <kernel/cred.h>
#include "process.h"

const struct cred cred_of_root = { .permitted = CAP_ALL, .effective = CAP_ALL };

const struct cred *current_cred(void)
{
	const struct task *task = current_thread()->task;

	return task ? &task->cred : &cred_of_root;
}

bool capable(unsigned int cap)
{
	return current_cred()->effective >> cap & 1;
}

uint32_t current_fsuid(void)
{
	return current_cred()->user.fs;
}

uint32_t current_fsgid(void)
{
	return current_cred()->group.fs;
}

bool in_group_p(uint32_t gid)
{
	const struct cred *cred = current_cred();
	bool is_in = cred->group.fs == gid;

	for (uint32_t i = 0; i < cred->nr_groups; i++)
		is_in |= cred->groups[i] == gid;
	return is_in;
}

void cred_install(const struct cred *cred)
{
	struct task *task = current_task();

	task->cred = *cred;
	task->process->cred = *cred;
}

/* Memory from before may have what the new ids are not to see, and the other way round. */
static bool cred_hides_memory(const struct cred *old, const struct cred *cred)
{
	return old->user.effective != cred->user.effective || old->user.fs != cred->user.fs ||
	       old->group.effective != cred->group.effective || old->group.fs != cred->group.fs ||
	       (cred->permitted & ~old->permitted);
}

void commit_creds(const struct cred *cred)
{
	struct task *task = current_task();

	if (cred_hides_memory(&task->cred, cred))
		task->mm->is_dumpable = false;
	cred_install(cred);
}

bool cred_dumps_exec(const struct cred *cred, const struct vfs_stat *stat)
{
	return cred->user.effective == cred->user.real &&
	       cred->group.effective == cred->group.real && !inode_permission(stat, MAY_READ);
}

bool cred_may_change(const struct process *process, unsigned int cap)
{
	const struct cred_ids *ids = &process->cred.user;
	uint32_t uid = current_cred()->user.effective;

	return uid == ids->effective || uid == ids->real || capable(cap);
}

bool cred_of_exec(const struct vfs_stat *stat, struct cred *out_cred)
{
	const struct cred *old = current_cred();

	*out_cred = *old;
	if (stat->mode & MODE_SETUID && !old->no_new_privs)
		out_cred->user.effective = stat->uid;
	if ((stat->mode & (MODE_SETGID | 010)) == (MODE_SETGID | 010) && !old->no_new_privs)
		out_cred->group.effective = stat->gid;
	out_cred->user.saved = out_cred->user.fs = out_cred->user.effective;
	out_cred->group.saved = out_cred->group.fs = out_cred->group.effective;
	out_cred->keeps_caps = false;
	out_cred->permitted = 0;
	if (!out_cred->user.real || !out_cred->user.effective)
		out_cred->permitted = CAP_ALL;
	out_cred->effective = out_cred->user.effective ? 0 : out_cred->permitted;
	return out_cred->user.effective != old->user.real ||
	       out_cred->group.effective != old->group.real;
}
