/* The final page tables, made from the sections' borders: see <arch/paging.h>. */
#include <arch/cpu.h>
#include <arch/memory.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <kernel/base.h>

#include "paging_priv.h"

static void map_page(uintptr_t virt, uint64_t phys, uint64_t flags)
{
	*paging_entry(paging_root, virt, LEVEL_4K, true) = phys | flags;
}

/* Map a part of the image at the address that it is linked for. */
static void map_image(const char *start, const char *end, uint64_t flags)
{
	for (uintptr_t at = (uintptr_t)start; at < (uintptr_t)end; at += PAGE_SIZE)
		map_page(at, at - KERNEL_BASE, flags);
}

static void map_kernel(void)
{
	map_image(text_start, text_end, PTE_KERNEL_RX);
	map_image(rodata_start, rodata_end, PTE_KERNEL_RO);
	map_image(data_start, exec_pool_start, PTE_KERNEL_RW);
	*paging_entry(paging_root, (uintptr_t)boot_stack_guard, LEVEL_4K, false) = 0;

	for (uintptr_t at = 0; at < EXEC_BYTES; at += PAGE_SIZE)
		map_page(EXEC_BASE + at, (uintptr_t)exec_pool_start - KERNEL_BASE + at,
			 PTE_KERNEL_RX);
}

/* Has [phys, phys + bytes) a byte of the image from `start` to `end`? */
static bool overlaps(uint64_t phys, uint64_t bytes, const char *start, const char *end)
{
	return phys < (uintptr_t)end - KERNEL_BASE && phys + bytes > (uintptr_t)start - KERNEL_BASE;
}

/* Text, constants and executable memory must not be written through the direct map. */
static bool has_read_only(uint64_t phys, uint64_t bytes)
{
	return overlaps(phys, bytes, text_start, rodata_end) ||
	       overlaps(phys, bytes, exec_pool_start, exec_pool_end);
}

static void map_direct_large(uint64_t phys)
{
	uintptr_t virt = DIRECT_MAP_BASE + phys;

	if (!has_read_only(phys, LARGE_PAGE)) {
		*paging_entry(paging_root, virt, LEVEL_2M, true) = phys | PTE_KERNEL_RW | PTE_LARGE;
		return;
	}
	for (uint64_t at = 0; at < LARGE_PAGE; at += PAGE_SIZE)
		map_page(virt + at, phys + at,
			 has_read_only(phys + at, PAGE_SIZE) ? PTE_KERNEL_RO : PTE_KERNEL_RW);
}

static bool is_memory(enum memory_kind kind)
{
	return kind == MEMORY_USABLE || kind == MEMORY_ACPI || kind == MEMORY_NVS;
}

/*
 * Memory is mapped in large pages. Addresses beside it in these pages are mapped, too, and not
 * used.
 */
static void map_direct(void)
{
	size_t nr;
	const struct memory_map_entry *map = boot_info_memory_map(&nr);

	map_direct_large(0);
	for (size_t i = 0; i < nr; i++) {
		uint64_t at = ALIGN_DOWN(map[i].range.start, LARGE_PAGE);

		if (!is_memory(map[i].kind))
			continue;
		for (; at < map[i].range.end; at += LARGE_PAGE) {
			if (!arch_lookup(DIRECT_MAP_BASE + at, &(uint64_t){ 0 }))
				map_direct_large(at);
		}
	}
}

/*
 * Other roots have copies of the top-level entries of the kernel half. So all entries that will be
 * used are filled now, with the tables of the level below, and never change.
 */
static void make_second_levels(void)
{
	static const uintptr_t areas[] = { DIRECT_MAP_BASE, VMAP_BASE, KERNEL_BASE };

	for (size_t i = 0; i < ARRAY_SIZE(areas); i++)
		paging_entry(paging_root, areas[i], LEVEL_1G, true);
	for (uint64_t at = 0; at < memory_top(); at += 512ull << 30)
		paging_entry(paging_root, DIRECT_MAP_BASE + at, LEVEL_1G, true);
}

/* A CPU that runs into executable memory that holds no code yet hits an int3. */
static void fill_exec_pool(void)
{
	uint64_t *word = (uint64_t *)(void *)exec_pool_start;

	for (; word < (uint64_t *)(void *)exec_pool_end; word++)
		*word = 0xccccccccccccccccull; /* int3 */
}

void paging_init(void)
{
	fill_exec_pool();
	make_second_levels();
	map_kernel();
	map_direct();
	alias_init();
	write_cr4(read_cr4() & ~CR4_PGE);
	write_cr3(paging_kernel_root());
	write_cr4(read_cr4() | CR4_PGE);
}
