/*
 * Credentials of the running thread, as the files of kernel/process change them; the checks are in <kernel/cred.h>.
 *
 * Context:   thread of a program.
 * Locking:   none: a thread changes its own.
 * Ownership: none.
 */
#ifndef KERNEL_PROCESS_CREDS_H
#define KERNEL_PROCESS_CREDS_H

#include <kernel/cred.h>

struct process;

extern const struct cred cred_of_root;
const struct cred *current_cred(void);
bool in_group_p(uint32_t gid);
/* The running thread has others from now on. */
void commit_creds(const struct cred *cred);
/* The same for an execve(), whose new memory is not that of the old ids: see cred_dumps_exec(). */
void cred_install(const struct cred *cred);
/* Is the memory of a program with this file, which runs with these ids, open to others of its user? */
bool cred_dumps_exec(const struct cred *cred, const struct vfs_stat *stat);
/* May the running thread change how another process runs? `cap`: who has this may do it with each. */
bool cred_may_change(const struct process *process, unsigned int cap);
/* The credentials for a program with these attributes. True: it gets rights that its caller does not have. */
bool cred_of_exec(const struct vfs_stat *stat, struct cred *out_cred);

#endif
