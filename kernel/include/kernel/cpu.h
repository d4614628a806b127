/*
 * Taking CPUs away and bringing them back (hot-plug), while everything else runs.
 *
 *   active --cpu_down()--> emptied: threads, timers, softirqs move --> offline, halted
 *      ^                                                                   |
 *      +-------------- online <--- start as at boot ------- cpu_up() ------+
 *
 * An active CPU is online, and is given threads. Threads of the kernel that belong to a CPU (ksoftirqd,
 * kworker) run on others while it is away. Any other thread that may use no active CPU any more may use
 * all from then on, as on Linux, and the log names it.
 *
 * Context:   thread, may sleep, for cpu_up() and cpu_down(); cpu_active() - any.
 * Locking:   inside; one CPU comes or goes at a time.
 */
#ifndef KERNEL_CPU_H
#define KERNEL_CPU_H

#include <stdatomic.h>
#include <arch/cpu_local.h>
#include <kernel/base.h>

/* 0, also when it is offline already; -EINVAL: no such CPU; -EPERM: the boot CPU stays; -ENOMEM. */
int cpu_down(uint32_t cpu);
/*
 * 0, also when it is online already; -EINVAL: no such CPU; -ENOMEM; -EIO: it does not start, and the log
 * says why.
 */
int cpu_up(uint32_t cpu);

/* A bit for each active CPU. Changed by cpu.c only, and at the start. */
extern _Atomic uint64_t cpu_active_mask;

static TRACE_ALWAYS_INLINE bool cpu_active(uint32_t cpu)
{
	return cpu < MAX_CPUS && atomic_load(&cpu_active_mask) & 1ull << cpu;
}

#endif
