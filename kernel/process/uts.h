/*
 * The names of system and machine that uname() and /proc/sys/kernel tell. Those of the machine and of its domain may be set.
 *
 * Context:   thread.
 * Locking:   inside.
 * Ownership: the caller's memory.
 */
#ifndef KERNEL_PROCESS_UTS_H
#define KERNEL_PROCESS_UTS_H

#include <kernel/base.h>

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
