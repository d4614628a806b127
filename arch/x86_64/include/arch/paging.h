/*
 * Address space: tables of 4 levels, in which no page is both writable and executable. The tables
 * of the kernel's half are shared by all CPUs and all roots (a root is the top table, CR3 points
 * at it).
 *
 *   0x0000400000000000  alias: kernel text and the executable area, writable, NX. Only in the root
 *                       for writing text, and between arch_alias_open() and arch_alias_close()
 *   0xffff888000000000  direct map: all RAM, RW NX; pages with kernel text, rodata or
 *                       executable allocations are read-only in it
 *   0xffffc90000000000  vmap area (kernel/), 4 KiB pages through arch_map()
 *   0xffffffff80000000  kernel image: text RX, rodata R NX, data RW NX
 *   0xffffffffa0000000  executable allocations, RX; written through the alias
 *   0xffffffffc0000000  devices and firmware tables
 *   0xffffffffd0000000  trap stacks of each CPU, with guard pages
 *
 * The kernel's pages are global: when a root is loaded they stay in the TLB, and those of the alias
 * are dropped from it.
 *
 * Context:   arch_map(), arch_unmap(): any but NMI. The alias: see below.
 * Locking:   one internal lock, interrupts off, around changes of tables.
 * Ownership: a table is never freed.
 */
#ifndef ARCH_PAGING_H
#define ARCH_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_BASE	0xffffffff80000000ull
#define DIRECT_MAP_BASE 0xffff888000000000ull
#define VMAP_BASE	0xffffc90000000000ull
#define VMAP_END	0xffffc98000000000ull /* one entry of the top level: 512 GiB */
#define EXEC_BASE	0xffffffffa0000000ull
#define EXEC_BYTES	(256ul << 10)
#define DEVICE_BASE	0xffffffffc0000000ull
#define DEVICE_END	0xffffffffd0000000ull
#define CPU_STACK_BASE	0xffffffffd0000000ull
#define ALIAS_BASE	0x0000400000000000ull

/* Flags of arch_map(). Without any: readable, cached, not executable. */
#define PAGE_WRITE   0x1ull
#define PAGE_EXEC    0x2ull /* refused together with PAGE_WRITE */
#define PAGE_NOCACHE 0x4ull

/* Replace the page tables of boot/ by the final ones. Boot CPU, once, interrupts off. */
void paging_init(void);
/* Physical address of the kernel's root, for CR3. */
uint64_t paging_kernel_root(void);

/*
 * Map one page of 4 KiB. Returns -EEXIST when `virt` is mapped, by itself or in a larger page,
 * -EINVAL for PAGE_WRITE with PAGE_EXEC or an address below the direct map, -ENOMEM without a page
 * for a table.
 */
int arch_map(uintptr_t virt, uint64_t phys, uint64_t flags);
/*
 * Remove a page of 4 KiB from the tables and from this CPU's TLB, if it is mapped. Other CPUs may
 * use it until arch_flush_tlb_all_cpus().
 */
void arch_unmap(uintptr_t virt);
/* Drop `nr` pages from `virt` on from the TLBs of all CPUs. Thread context, interrupts on. */
void arch_flush_tlb_all_cpus(uintptr_t virt, size_t nr);

/* The address that RAM at the physical address `phys` has in the direct map. Any context. */
static inline void *arch_phys_to_virt(uint64_t phys)
{
	return (void *)(uintptr_t)(phys + DIRECT_MAP_BASE);
}
/* The physical address of an address in the direct map or in the kernel image. Any context. */
static inline uint64_t arch_virt_to_phys(const void *virt)
{
	uintptr_t addr = (uintptr_t)virt;

	return addr >= KERNEL_BASE ? addr - KERNEL_BASE : addr - DIRECT_MAP_BASE;
}
/*
 * The physical address of any kernel address, by a walk of the tables. False when nothing is mapped
 * there. Any context.
 */
bool arch_lookup(uintptr_t virt, uint64_t *out_phys);

/*
 * Map a device's registers, uncached and for ever. NULL when the area for devices is full or there
 * is no page for a table. Thread context, or boot.
 */
void *arch_map_device(uint64_t phys, size_t bytes);
/*
 * The address at which a table of the firmware can be read: in the direct map if it has all of it,
 * otherwise mapped read-only, for ever. NULL and context as for arch_map_device().
 */
const void *arch_map_firmware(uint64_t phys, size_t bytes);

/*
 * Walk all tables. Log and count the pages that are writable and executable, and those that make
 * text or constants writable at another address. 0 when there are none. Thread context.
 */
size_t arch_check_wx(void);

/* ---- Alias: the one way to write text ---- */

/*
 * open/close: put the alias into the root for writing text, and take it out. One user at a time:
 * the caller holds the text lock (text_mutex of kernel/). Thread context; costs a few
 * instructions.
 * enter/leave: load that root in this CPU, and load again the one that enter() returned. Interrupts
 * are off from before enter() to after leave().
 */
void arch_alias_open(void);
void arch_alias_close(void);
uint64_t arch_alias_enter(void);
void arch_alias_leave(uint64_t old_root);

/*
 * The address at which kernel text or the executable area at `text_addr` can be written, between
 * enter and leave.
 */
static inline void *arch_alias_of(uintptr_t text_addr)
{
	return (void *)(text_addr - KERNEL_BASE + ALIAS_BASE);
}

/* ---- Executable memory that relative calls reach: handed out by <trace/arch_exec.h> ---- */

static inline bool arch_exec_contains(uintptr_t addr)
{
	return addr - EXEC_BASE < EXEC_BYTES;
}

/* ---- Start of other CPUs ---- */

/*
 * A root for CPUs that come out of reset: the kernel half, plus the page at `phys` (below 1 MiB)
 * mapped at its physical address, read-only and executable. Returns the root's physical address,
 * which is below 4 GiB. Boot CPU; one page at a time.
 */
uint64_t arch_ap_root_open(uint64_t phys);
/* Remove that page from the root again. */
void arch_ap_root_close(void);

#endif
