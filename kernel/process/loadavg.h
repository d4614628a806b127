/*
 * Load averages, as /proc/loadavg and sysinfo() tell them. <kernel/process.h> has the part that the tick calls.
 *
 * Context:   any but NMI.
 * Locking:   none: the CPU that moves the time of the next sample takes this one.
 * Ownership: the caller's memory.
 */
#ifndef KERNEL_PROCESS_LOADAVG_H
#define KERNEL_PROCESS_LOADAVG_H

#include <kernel/base.h>

#define LOADAVG_ONE 2048u /* one thread that runs all the time */

enum {
	LOADAVG_1_MINUTE,
	LOADAVG_5_MINUTES,
	LOADAVG_15_MINUTES,
	NR_LOADAVGS
};

/* In units of 1 / LOADAVG_ONE. */
void loadavg_get(uint64_t out[NR_LOADAVGS]);

#endif
