/*
 * The boot loader's information, copied out of its memory: command line, memory map, RSDP.
 *
 * Context:   boot_info_from_...(): boot CPU, one of them, once. The rest: any, constant afterwards.
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

/*
 * Copy everything from multiboot2 information (Multiboot2 Specification, 3.6). -EINVAL when a length
 * in it is wrong, its end or a memory map is missing.
 */
int boot_info_from_multiboot(const void *mbi);
/*
 * The same from struct hvm_start_info of the PVH boot protocol (Xen, docs/misc/pvh.pandoc), at a
 * physical address; `at` says where memory can be read. -EINVAL when its magic or a memory map is
 * missing.
 */
int boot_info_from_pvh(uint64_t start_phys, const void *(*at)(uint64_t phys));

/*
 * Bytes of the command line, NUL included. GRUB has no limit of its own. One that is so long, or
 * longer, is cut to this.
 */
#define BOOT_CMDLINE_MAX 65536

/* The command line, "" when there is none. GRUB does not put the kernel's path in front of it. */
const char *boot_info_cmdline(void);
/* The memory map as the firmware gave it. */
const struct memory_map_entry *boot_info_memory_map(size_t *out_nr);
/*
 * The memory of the first module that the loader has brought beside the kernel, an archive of files; empty
 * without one. It is not copied: memory.c keeps it out of the free memory.
 */
struct memory_range boot_info_module(void);
/* A copy of the RSDP, *out_bytes long, in the newest version that there is; NULL without one. */
const void *boot_info_rsdp(size_t *out_bytes);

#endif
