/*
 * Address space: 4-level tables, W^X. One set of kernel tables, shared by every CPU and root.
 *
 *   0x0000400000000000  alias: kernel text and the executable area, writable, NX. Only in the
 *                       poking root, only between arch_alias_open() and arch_alias_close()
 *   0xffff888000000000  direct map: all RAM, RW NX; pages with kernel text, rodata or
 *                       executable allocations are read-only in it
 *   0xffffc90000000000  vmap area (kernel/), 4 KiB pages through arch_map()
 *   0xffffffff80000000  kernel image: text RX, rodata R NX, data RW NX
 *   0xffffffffa0000000  executable allocations, RX; written through the alias
 *   0xffffffffc0000000  devices and firmware tables
 *   0xffffffffd0000000  trap stacks of each CPU, with guard pages
 *
 * All kernel pages are global: a change of root leaves them in the TLB and drops the alias.
 *
 * Context:   arch_map(), arch_unmap(): any but NMI. The alias: see below.
 * Locking:   one internal lock, interrupts off, around changes of tables.
 * Ownership: tables, once made, stay.
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

/* Replace the boot tables by the final ones. Boot CPU, once, interrupts off. */
void paging_init(void);
/* Physical address of the kernel's root, for CR3. */
uint64_t paging_kernel_root(void);

/*
 * Map one page. Returns -EEXIST when `virt` is mapped, -EINVAL for PAGE_WRITE with PAGE_EXEC or an
 * address outside the kernel half, -ENOMEM without a page for a table.
 */
int arch_map(uintptr_t virt, uint64_t phys, uint64_t flags);
/* Remove a page from the tables and from this CPU's TLB; no effect when nothing is there. */
void arch_unmap(uintptr_t virt);
/* Forget [virt, virt + nr pages) in the TLBs of all CPUs. Thread context, interrupts on. */
void arch_flush_tlb_all_cpus(uintptr_t virt, size_t nr);
void arch_flush_tlb_local(uintptr_t virt, size_t nr);

/* The address RAM at `phys` has in the direct map. */
static inline void *arch_phys_to_virt(uint64_t phys)
{
	return (void *)(uintptr_t)(phys + DIRECT_MAP_BASE);
}
/* Of an address in the direct map or in the kernel image. Any context. */
static inline uint64_t arch_virt_to_phys(const void *virt)
{
	uintptr_t addr = (uintptr_t)virt;

	return addr >= KERNEL_BASE ? addr - KERNEL_BASE : addr - DIRECT_MAP_BASE;
}
/* Of any kernel address, through the tables. False when nothing is mapped there. Any context. */
bool arch_lookup(uintptr_t virt, uint64_t *out_phys);

/* Registers of a device, uncached. NULL when the area is full. Stays mapped. Thread, boot. */
void *arch_map_device(uint64_t phys, size_t bytes);
/* Firmware tables, read-only where they are not RAM. NULL when the area is full. Stays mapped. */
const void *arch_map_firmware(uint64_t phys, size_t bytes);

/*
 * Walk all tables; log and count the pages that are writable and executable, and the pages of text
 * that are writable through another mapping. 0 is right. Thread context.
 */
size_t arch_check_wx(void);

/* ---- Alias: the one way to write text ---- */

/*
 * open/close: make the poking root have, and not have, the alias. One user at a time: the caller
 * holds text_mutex. Thread context; costs a few instructions.
 * enter/leave: load the poking root in this CPU, and restore the one enter() returned. Interrupts
 * are off from before enter() to after leave().
 */
void arch_alias_open(void);
void arch_alias_close(void);
uint64_t arch_alias_enter(void);
void arch_alias_leave(uint64_t old_root);

/*
 * Where kernel text or the executable area at `text_addr` can be written, between enter and leave.
 */
static inline void *arch_alias_of(uintptr_t text_addr)
{
	return (void *)(text_addr - KERNEL_BASE + ALIAS_BASE);
}

/* ---- Executable memory in reach of rel32: handed out by <trace/arch_exec.h> ---- */

static inline bool arch_exec_contains(uintptr_t addr)
{
	return addr - EXEC_BASE < EXEC_BYTES;
}

/* ---- Start of other CPUs ---- */

/*
 * A root for a CPU that comes out of reset: the kernel half, plus the page at `phys` (below 1 MiB)
 * mapped at its physical address, read-only and executable. Returns the root, below 4 GiB.
 */
uint64_t arch_ap_root_open(uint64_t phys);
/* Remove that page again. */
void arch_ap_root_close(void);

#endif
