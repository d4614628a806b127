/*
 * Facts about the machine that files of /proc and system calls share: threads, load averages, names.
 *
 * Context:   thread; loadavg_get() in any but NMI.
 * Locking:   inside; load averages need none: the CPU that moves the time of the next sample takes this one.
 * Ownership: the caller's memory.
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

/* ---- loadavg.c: <kernel/process.h> has the part that the tick calls ---- */

#define LOADAVG_ONE 2048u /* one thread that runs all the time */

enum {
	LOADAVG_1_MINUTE,
	LOADAVG_5_MINUTES,
	LOADAVG_15_MINUTES,
	NR_LOADAVGS
};

/* In units of 1 / LOADAVG_ONE. */
void loadavg_get(uint64_t out[NR_LOADAVGS]);

/* ---- uts.c: names that uname() and /proc/sys/kernel tell; those of the machine and of its domain may be set ---- */

#define UTS_LEN 65 /* bytes of each, NUL included */

enum uts_name { /* in the order of struct utsname */
	UTS_SYSNAME,
	UTS_NODENAME,
	UTS_RELEASE,
	UTS_VERSION,
	UTS_MACHINE,
	UTS_DOMAINNAME,
	NR_UTS_NAMES
};

/* One name, or all. */
void uts_get(enum uts_name which, char out[UTS_LEN]);
void uts_get_all(char out[NR_UTS_NAMES][UTS_LEN]);
/* Set the name of machine or domain to `len` bytes; those from UTS_LEN - 1 on are left out. */
void uts_set(enum uts_name which, const char *name, size_t len);

#endif
