/*
 * Physical memory before the page allocator: the free ranges, and pages for the first page tables.
 *
 * Context:   boot CPU. memory_early_page() is not called any more once kernel_main() runs.
 * Locking:   none.
 * Ownership: the ranges of memory_free_ranges() belong to kernel/; all other memory stays with its
 *            owner (firmware, kernel image, early page tables).
 */
#ifndef ARCH_MEMORY_H
#define ARCH_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <arch/handover.h>
#include <arch/boot_info.h>

/* memory_init() refuses a machine with less usable memory. */
#define MEMORY_MIN_BYTES (12ull << 20)

/*
 * Find the usable ranges and set some pages below 4 GiB aside for memory_early_page(). Where that
 * fails the machine is refused with a message, and halts.
 */
void memory_init(const struct handover *handover);

/* A zeroed page for a page table, as a physical address below 4 GiB. Panics when all are used. */
uint64_t memory_early_page(void);

/*
 * Usable memory that is free: ranges in ascending order, page aligned, not touching each other,
 * from 1 MiB up, all in the direct map. Their contents are undefined. The first call ends
 * memory_early_page(): the pages left over from it are in the ranges.
 */
const struct memory_range *memory_free_ranges(size_t *out_nr);

/*
 * Take `bytes`, whole pages, out of the free memory for good: for contents that are to survive a
 * warm reset. The lowest free place from MEMORY_RESERVE_FROM on, at a multiple of `align`, a power of
 * two of a page at least. So the same calls in the same order get the same places, whatever kernel
 * is booted and however much memory there is; firmware and boot loaders leave these places alone
 * (docs/black-box.md). The contents stay as they are. 0, or -ENOMEM with nothing taken. Before the
 * first memory_free_ranges().
 */
#define MEMORY_RESERVE_FROM (64ull << 20)
int memory_reserve(uint64_t bytes, uint64_t align, struct memory_range *out);

/* All usable memory, the kernel's included, in bytes. */
uint64_t memory_total_bytes(void);
/* First byte behind the highest usable address. */
uint64_t memory_top(void);
/*
 * Physical address of a usable page below 640 KiB (for the start of other CPUs), never handed out
 * by memory_free_ranges(). 0 when there is none.
 */
uint64_t memory_low_page(void);

#endif
