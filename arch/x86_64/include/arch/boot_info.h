/*
 * What the boot loader told us, copied out of its memory: command line, memory map, RSDP.
 *
 * Context:   boot_info_from_multiboot(): boot CPU, once. The rest: any, constant afterwards.
 * Locking:   none.
 * Ownership: all results point into static storage.
 */
#ifndef ARCH_BOOT_INFO_H
#define ARCH_BOOT_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_range {
	uint64_t start;
	uint64_t end; /* first byte behind it */
};

enum memory_kind {
	MEMORY_USABLE = 1,
	MEMORY_RESERVED = 2,
	MEMORY_ACPI = 3, /* ACPI tables; free once they have been read */
	MEMORY_NVS = 4,	 /* the firmware's own; never free */
	MEMORY_BAD = 5,
};

struct memory_map_entry {
	struct memory_range range;
	enum memory_kind kind;
};

/* Copy everything. -EINVAL when a length in it is wrong, its end or a memory map is missing. */
int boot_info_from_multiboot(const void *mbi);

/* The command line, "" when there is none. GRUB does not put the kernel's path in front of it. */
const char *boot_info_cmdline(void);
/* The memory map as the firmware gave it. */
const struct memory_map_entry *boot_info_memory_map(size_t *out_nr);
/* A copy of the RSDP, *out_bytes long, in the newest version that there is; NULL without one. */
const void *boot_info_rsdp(size_t *out_bytes);

#endif
