/*
 * The files of /proc/PID, of processes that run programs.
 *
 * Context:   thread.
 * Locking:   those of what is shown.
 * Ownership: the caller of proc_text() frees the text.
 */
#ifndef KERNEL_PROCESS_PROC_H
#define KERNEL_PROCESS_PROC_H

#include "process.h"

enum proc_kind {
	PROC_ROOT, /* its entries are the pids */
	PROC_SELF, /* links to the directory of the process that asks, and to that of its thread */
	PROC_THREAD_SELF,
	PROC_PROCESS,
	PROC_TASKS, /* its entries are the tids */
	PROC_THREAD,
	PROC_FD, /* its entries are descriptors */
	PROC_FD_LINK,
	PROC_LINK_CWD,
	PROC_LINK_EXE,
	PROC_LINK_ROOT,
	PROC_AUXV,
	PROC_CMDLINE,
	PROC_COMM,
	PROC_ENVIRON,
	PROC_LIMITS,
	PROC_LINK_MOUNTS, /* to /proc/mounts, which is one for all */
	PROC_MAPS,
	PROC_MEM,
	PROC_MOUNTINFO,
	PROC_SMAPS,
	PROC_STAT,
	PROC_STATM,
	PROC_STATUS,
};

/*
 * The contents of a file, and its length; `tid`: as that thread has it, 0: of the whole process. NULL with *out_err
 * set: -ENOMEM. Files about memory are empty for a process that has ended.
 */
char *proc_text(struct process *process, int32_t tid, enum proc_kind kind, size_t *out_len,
		int *out_err);
/* The text of a link, into VFS_PATH_MAX bytes. 0 or -ENOENT. */
int proc_link(struct process *process, enum proc_kind kind, unsigned int fd, char *out);
/* proc_fd.c. Let `file`, which is new, be another way to that descriptor's file. 0 or -ENOENT. */
int proc_open_fd(struct process *process, unsigned int fd, struct file *file);
/* proc_mem.c. Let it be the memory that the process has now. 0; -ESRCH: it has ended; -EACCES. */
int proc_open_mem(struct process *process, struct file *file);
/* An open file of the process, with a reference; NULL: none. */
struct file *proc_get_file(struct process *process, unsigned int fd);

#endif
