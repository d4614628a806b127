/* Walking and changing the kernel's page tables: see <arch/paging.h>. */
#include <stdatomic.h>

#include <arch/cpu.h>
#include <arch/memory.h>
#include <arch/paging.h>
#include <arch/smp.h>
#include <kernel/base.h>
#include <kernel/upcall.h>

#include "paging_priv.h"
#include "raw_lock.h"

uint64_t paging_root[TABLE_ENTRIES] __attribute__((aligned(4096)));

/* Guards every change of a table. Taken with interrupts off. */
static struct raw_lock tables_lock;
static bool has_kernel_pages; /* pages for tables come from kernel/, no longer from memory.c */
static struct {
	uintptr_t next; /* first free address of the device area; guarded by tables_lock */
} devices = { .next = DEVICE_BASE };

uint64_t paging_new_page(void)
{
	void *page;

	if (!has_kernel_pages)
		return memory_early_page();
	page = upcall_page_table_alloc();
	return page ? arch_virt_to_phys(page) : 0;
}

void paging_early_done(void)
{
	has_kernel_pages = true;
}

uint64_t paging_kernel_root(void)
{
	return arch_virt_to_phys(paging_root);
}

uint64_t *paging_entry(uint64_t *root, uintptr_t virt, enum paging_level level, bool make)
{
	uint64_t *table = root;

	for (enum paging_level at = LEVEL_512G; at > level; at--) {
		uint64_t *entry = &table[paging_index(virt, at)];

		if (!(*entry & PTE_PRESENT)) {
			uint64_t phys = make ? paging_new_page() : 0;

			if (!phys)
				return NULL;
			*entry = phys | PTE_TABLE;
		}
		if (*entry & PTE_LARGE)
			return NULL;
		table = arch_phys_to_virt(*entry & PTE_ADDR);
	}
	return &table[paging_index(virt, level)];
}

/* ---- TLB ---- */

#define FLUSH_MAX_PAGES 64 /* for more pages the whole TLB is flushed */

static void flush_everything(void)
{
	uint64_t cr4 = read_cr4();

	/* Global pages, too (Intel SDM volume 3, "Operations that Invalidate TLBs"). */
	write_cr4(cr4 & ~CR4_PGE);
	write_cr4(cr4);
}

/* Drop pages from the TLB of the running CPU. */
static void flush_local(uintptr_t virt, size_t nr)
{
	if (nr > FLUSH_MAX_PAGES) {
		uint64_t irqs = arch_irq_save();

		flush_everything();
		arch_irq_restore(irqs);
		return;
	}
	for (size_t i = 0; i < nr; i++)
		__asm__ volatile("invlpg (%0)" : : "r"(virt + i * PAGE_SIZE) : "memory");
}

struct flush {
	uintptr_t virt;
	size_t nr;
};

static void flush_on_cpu(void *arg)
{
	const struct flush *flush = arg;

	flush_local(flush->virt, flush->nr);
}

void arch_flush_tlb_all_cpus(uintptr_t virt, size_t nr)
{
	struct flush flush = { .virt = virt, .nr = nr };

	if (smp_nr_online() <= 1)
		flush_local(virt, nr);
	else
		on_each_cpu(flush_on_cpu, &flush, true);
}

/* ---- Single pages ---- */

static int map_locked(uintptr_t virt, uint64_t phys, uint64_t flags)
{
	uint64_t pte = PTE_KERNEL | (phys & PTE_ADDR);
	uint64_t *entry = paging_entry(paging_root, virt, LEVEL_4K, true);
	uint64_t unused;

	if (!entry)
		return arch_lookup(virt, &unused) ? -EEXIST : -ENOMEM;
	if (*entry & PTE_PRESENT)
		return -EEXIST;
	if (flags & PAGE_WRITE)
		pte |= PTE_WRITE;
	if (!(flags & PAGE_EXEC))
		pte |= PTE_NX;
	if (flags & PAGE_NOCACHE)
		pte |= PTE_PCD | PTE_PWT;
	*entry = pte;
	return 0;
}

int arch_map(uintptr_t virt, uint64_t phys, uint64_t flags)
{
	uint64_t irqs;
	int err;

	if (((flags & PAGE_WRITE) && (flags & PAGE_EXEC)) || virt < DIRECT_MAP_BASE)
		return -EINVAL;
	irqs = raw_lock(&tables_lock);
	err = map_locked(virt, phys, flags);
	raw_unlock(&tables_lock, irqs);
	return err;
}

void arch_unmap(uintptr_t virt)
{
	uint64_t irqs = raw_lock(&tables_lock);
	uint64_t *entry = paging_entry(paging_root, virt, LEVEL_4K, false);

	if (entry)
		*entry = 0;
	raw_unlock(&tables_lock, irqs);
	flush_local(virt, 1);
}

bool arch_lookup(uintptr_t virt, uint64_t *out_phys)
{
	uint64_t *large = paging_entry(paging_root, virt, LEVEL_2M, false);
	uint64_t *entry;

	if (!large || !(*large & PTE_PRESENT))
		return false;
	if (*large & PTE_LARGE) {
		*out_phys = (*large & PTE_ADDR & ~(LARGE_PAGE - 1)) | (virt & (LARGE_PAGE - 1));
		return true;
	}
	entry = paging_entry(paging_root, virt, LEVEL_4K, false);
	if (!entry || !(*entry & PTE_PRESENT))
		return false;
	*out_phys = (*entry & PTE_ADDR) | (virt & (PAGE_SIZE - 1));
	return true;
}

/* ---- Devices and firmware tables ---- */

/* Map all of it, or nothing and return an error. Holds tables_lock. */
static int map_range_locked(uintptr_t virt, uint64_t phys, size_t bytes, uint64_t flags)
{
	for (size_t at = 0; at < bytes; at += PAGE_SIZE) {
		int err = map_locked(virt + at, phys + at, flags);

		if (!err)
			continue;
		while (at > 0) {
			at -= PAGE_SIZE;
			*paging_entry(paging_root, virt + at, LEVEL_4K, false) = 0;
		}
		return err;
	}
	return 0;
}

static void *map_area(uint64_t phys, size_t bytes, uint64_t flags)
{
	uint64_t first = ALIGN_DOWN(phys, PAGE_SIZE), end = ALIGN_UP(phys + bytes, PAGE_SIZE);
	uint64_t irqs = raw_lock(&tables_lock);
	uintptr_t base = devices.next;
	bool is_mapped = end > first && end - first < DEVICE_END - base &&
			 map_range_locked(base, first, end - first, flags) == 0;

	if (is_mapped)
		devices.next = base + (end - first) + PAGE_SIZE; /* one page is left unmapped */
	raw_unlock(&tables_lock, irqs);
	return is_mapped ? (void *)(base + (phys - first)) : NULL;
}

void *arch_map_device(uint64_t phys, size_t bytes)
{
	return map_area(phys, bytes, PAGE_WRITE | PAGE_NOCACHE);
}

/* Does the direct map have all of these bytes? */
static bool is_direct_mapped(uint64_t phys, size_t bytes)
{
	uint64_t end = ALIGN_UP(phys + bytes, PAGE_SIZE), unused;

	for (uint64_t at = ALIGN_DOWN(phys, PAGE_SIZE); at < end; at += PAGE_SIZE) {
		if (!arch_lookup(DIRECT_MAP_BASE + at, &unused))
			return false;
	}
	return true;
}

const void *arch_map_firmware(uint64_t phys, size_t bytes)
{
	if (is_direct_mapped(phys, bytes))
		return arch_phys_to_virt(phys);
	return map_area(phys, bytes, 0);
}
