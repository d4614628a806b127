/*
 * Facts about the machine that files of /proc and system calls share.
 *
 * Context: thread. Locking: inside. Ownership: the caller's structures.
 */
#ifndef KERNEL_PROCESS_PROC_MACHINE_H
#define KERNEL_PROCESS_PROC_MACHINE_H

#include <kernel/base.h>

struct proc_threads {
	uint32_t nr;	  /* all that there are, but the idle ones */
	int32_t last_pid; /* of the youngest */
};

void proc_count_threads(struct proc_threads *out);

/* proc_cpuinfo.c. Write the text of /proc/cpuinfo, cut to fit `size` bytes with a NUL; its length. */
size_t proc_show_cpuinfo(char *buf, size_t size);

#endif
