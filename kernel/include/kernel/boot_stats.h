/*
 * The lengths of the steps of the boot, in cycles of the time stamp counter. These are instructions
 * when the emulator counts them (qemu -icount). The command `bench` of the test kernel reads them.
 *
 * Context: each field is written once during the boot, prompt_cycles by the shell's thread.
 */
#ifndef KERNEL_BOOT_STATS_H
#define KERNEL_BOOT_STATS_H

#include <stdint.h>

struct boot_stats {
	uint64_t entry_cycles;	/* the counter when kernel_main() was entered */
	uint64_t ftrace_cycles; /* spent in ftrace_init() */
	uint64_t prompt_cycles; /* the counter when the first prompt was printed */
};

extern struct boot_stats boot_stats;

#endif
