/*
 * Page tables, seen from inside arch/: entries and the walk.
 *
 * Context: as <arch/paging.h>.
 */
#ifndef PAGING_PRIV_H
#define PAGING_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define PTE_PRESENT  0x001ull
#define PTE_WRITE    0x002ull
#define PTE_PWT	     0x008ull
#define PTE_PCD	     0x010ull
#define PTE_ACCESSED 0x020ull
#define PTE_DIRTY    0x040ull
#define PTE_LARGE    0x080ull
#define PTE_GLOBAL   0x100ull
#define PTE_NX	     (1ull << 63)
#define PTE_ADDR     0x000ffffffffff000ull

/* A table, and pages of the kernel half, of the alias, and of code. A and D set: no write-backs. */
#define PTE_TABLE     (PTE_PRESENT | PTE_WRITE | PTE_ACCESSED)
#define PTE_KERNEL    (PTE_PRESENT | PTE_ACCESSED | PTE_DIRTY | PTE_GLOBAL)
#define PTE_KERNEL_RO (PTE_KERNEL | PTE_NX)
#define PTE_KERNEL_RW (PTE_KERNEL | PTE_WRITE | PTE_NX)
#define PTE_KERNEL_RX PTE_KERNEL
#define PTE_ALIAS     (PTE_PRESENT | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY | PTE_NX)

#define TABLE_ENTRIES 512
#define LARGE_PAGE    (2ull << 20)
#define KERNEL_HALF   256 /* first top-level entry of the kernel half */

/* Levels of the walk: the entry that maps 512 GiB, 1 GiB, 2 MiB, 4 KiB. */
enum paging_level {
	LEVEL_4K,
	LEVEL_2M,
	LEVEL_1G,
	LEVEL_512G
};

static inline unsigned int paging_index(uintptr_t virt, enum paging_level level)
{
	return (virt >> (12 + 9 * level)) & (TABLE_ENTRIES - 1);
}

/* Roots: the kernel's, and the two that share its upper half. Page aligned, in the image. */
extern uint64_t paging_root[TABLE_ENTRIES];
extern uint64_t alias_root[TABLE_ENTRIES];
extern uint64_t ap_root[TABLE_ENTRIES];

/* A zeroed page for arch/, physical address; 0 when there is none. */
uint64_t paging_new_page(void);
/* From now on paging_new_page() asks kernel/. */
void paging_early_done(void);

/*
 * The entry of `level` for `virt`. With `make`, tables on the way are made; NULL when one is
 * missing or cannot be made, or when a larger page lies in the way.
 */
uint64_t *paging_entry(uint64_t *root, uintptr_t virt, enum paging_level level, bool make);

/* Set up the roots of alias.c: the kernel half is final. */
void alias_init(void);

#endif
