/*
 * Page tables, for arch/ alone: entries and the walk.
 *
 * Context: as <arch/paging.h>.
 * Locking: the lock of paging.c, where tables of the kernel half are changed, except at boot.
 */
#ifndef PAGING_PRIV_H
#define PAGING_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define PTE_PRESENT  0x001ull
#define PTE_WRITE    0x002ull
#define PTE_USER     0x004ull
#define PTE_PWT	     0x008ull
#define PTE_PCD	     0x010ull
#define PTE_ACCESSED 0x020ull
#define PTE_DIRTY    0x040ull
#define PTE_LARGE    0x080ull
#define PTE_GLOBAL   0x100ull
#define PTE_NX	     (1ull << 63)
#define PTE_ADDR     0x000ffffffffff000ull

/*
 * Entries that point to a table, and those of pages in the kernel half and in the alias. Accessed
 * and dirty are set from the start, so that the CPU never writes to a table.
 */
#define PTE_TABLE     (PTE_PRESENT | PTE_WRITE | PTE_ACCESSED)
#define PTE_KERNEL    (PTE_PRESENT | PTE_ACCESSED | PTE_DIRTY | PTE_GLOBAL)
#define PTE_KERNEL_RO (PTE_KERNEL | PTE_NX)
#define PTE_KERNEL_RW (PTE_KERNEL | PTE_WRITE | PTE_NX)
#define PTE_KERNEL_RX PTE_KERNEL
#define PTE_ALIAS     (PTE_PRESENT | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY | PTE_NX)

#define TABLE_ENTRIES 512
#define LARGE_PAGE    (2ull << 20)
#define KERNEL_HALF   256 /* first top-level entry of the kernel half */

/* The level of a table, named by the size that each of its entries maps. */
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

/*
 * Roots: the kernel's, and two with the same upper half, see alias.c. Page aligned, in the image.
 */
extern uint64_t paging_root[TABLE_ENTRIES];
extern uint64_t alias_root[TABLE_ENTRIES];
extern uint64_t ap_root[TABLE_ENTRIES];

/* The physical address of a zeroed page; 0 when there is none. */
uint64_t paging_new_page(void);
/* From now on paging_new_page() takes pages of kernel/, not those that memory.c set aside. */
void paging_early_done(void);

/*
 * The entry for `virt` in its table of `level`. Tables that are missing on the way there are made
 * if `make`. NULL when one is missing still, or a larger page is mapped there.
 */
uint64_t *paging_entry(uint64_t *root, uintptr_t virt, enum paging_level level, bool make);

/* Set up the roots of alias.c. The top-level entries of the kernel half are final by now. */
void alias_init(void);

#endif
