/*
 * The struct that boot/ leaves behind for C: filled in 32-bit mode, read once.
 *
 * Context:   boot CPU, before anything else runs.
 * Locking:   none.
 * Ownership: the struct lies in the kernel's image; the information of the boot loader it
 *            points to is copied by boot_info_from_...() and free after that.
 */
#ifndef ARCH_HANDOVER_H
#define ARCH_HANDOVER_H

#include <stdint.h>

#define PVH_MAGIC 0x336ec578u

/* boot/boot.inc has this layout, too (struc handover). */
struct handover {
	uint64_t info_phys; /* of the boot loader, below 4 GiB */
	uint64_t magic;	    /* the kind of the information: PVH_MAGIC, or the magic of multiboot2 */
	uint64_t boot_tsc;  /* time-stamp counter at the first instructions */
	uint64_t kernel_phys_start;
	uint64_t kernel_phys_end; /* behind .bss */
};

#endif
