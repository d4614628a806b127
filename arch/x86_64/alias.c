/* Two more roots beside the kernel's: one with the alias for writing text, one to start CPUs on. */
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <kernel/base.h>

#include "paging_priv.h"

uint64_t alias_root[TABLE_ENTRIES] __attribute__((aligned(4096)));
uint64_t ap_root[TABLE_ENTRIES] __attribute__((aligned(4096)));

static struct {
	uint64_t alias_entry; /* the entry of alias_root for the alias, while that is open */
	uint64_t *ap_page;    /* ap_root's entry of the page that CPUs start on; NULL: not open */
} roots;

static void map_alias(uintptr_t text_addr, uint64_t phys)
{
	*paging_entry(alias_root, (uintptr_t)arch_alias_of(text_addr), LEVEL_4K, true) =
		phys | PTE_ALIAS;
}

void alias_init(void)
{
	uint64_t *top = &alias_root[paging_index(ALIAS_BASE, LEVEL_512G)];

	for (size_t i = KERNEL_HALF; i < TABLE_ENTRIES; i++)
		alias_root[i] = ap_root[i] = paging_root[i];
	for (uintptr_t at = (uintptr_t)text_start; at < (uintptr_t)text_end; at += PAGE_SIZE)
		map_alias(at, at - KERNEL_BASE);
	for (uintptr_t at = 0; at < EXEC_BYTES; at += PAGE_SIZE)
		map_alias(EXEC_BASE + at, (uintptr_t)exec_pool_start - KERNEL_BASE + at);
	roots.alias_entry = *top;
	*top = 0;
}

void arch_alias_open(void)
{
	alias_root[paging_index(ALIAS_BASE, LEVEL_512G)] = roots.alias_entry;
}

void arch_alias_close(void)
{
	alias_root[paging_index(ALIAS_BASE, LEVEL_512G)] = 0;
}

uint64_t arch_alias_enter(void)
{
	uint64_t old_root = read_cr3();

	write_cr3(arch_virt_to_phys(alias_root));
	return old_root;
}

/* Loading CR3 drops the pages of the alias from the TLB, because they are not global. */
void arch_alias_leave(uint64_t old_root)
{
	write_cr3(old_root);
}

uint64_t arch_ap_root_open(uint64_t phys)
{
	ASSERT(!roots.ap_page);
	roots.ap_page = paging_entry(ap_root, phys, LEVEL_4K, true);
	ASSERT(roots.ap_page);
	*roots.ap_page = phys | PTE_PRESENT | PTE_ACCESSED;
	return arch_virt_to_phys(ap_root);
}

void arch_ap_root_close(void)
{
	*roots.ap_page = 0;
	roots.ap_page = NULL;
}
