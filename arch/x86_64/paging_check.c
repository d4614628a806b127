/* The walk that proves W^X: see arch_check_wx() in <arch/paging.h>. */
#include <arch/paging.h>
#include <arch/sections.h>
#include <kernel/base.h>

#include "paging_priv.h"

#define MAX_REPORTS 8

struct check {
	const char *root_name;
	bool is_kernel_root; /* text must not be writable at any address of this one */
	size_t nr_leaves;
	size_t nr_bad;
};

static bool paging_overlaps_image(uint64_t phys, uint64_t bytes, const char *start, const char *end)
{
	return phys < (uintptr_t)end - KERNEL_BASE && phys + bytes > (uintptr_t)start - KERNEL_BASE;
}

static bool paging_holds_code(uint64_t phys, uint64_t bytes)
{
	return paging_overlaps_image(phys, bytes, text_start, rodata_end) ||
	       paging_overlaps_image(phys, bytes, exec_pool_start, exec_pool_end);
}

static void paging_report(struct check *check, uintptr_t virt, const char *what)
{
	if (check->nr_bad++ < MAX_REPORTS)
		pr_err("paging: %s: 0x%016lx %s\n", check->root_name, virt, what);
}

static void check_leaf(struct check *check, uintptr_t virt, uint64_t entry, uint64_t bytes)
{
	uint64_t phys = entry & PTE_ADDR & ~(bytes - 1);

	check->nr_leaves++;
	if (!(entry & PTE_WRITE))
		return;
	if (!(entry & PTE_NX))
		paging_report(check, virt, "is writable and executable");
	else if (check->is_kernel_root && paging_holds_code(phys, bytes))
		paging_report(check, virt, "makes text writable");
}

/* `virt`: the sign-extended address that the table's first entry maps. */
static void check_table(struct check *check, const uint64_t *table, enum paging_level level,
			uintptr_t virt)
{
	uint64_t bytes = 1ull << (12 + 9 * level);

	for (size_t i = 0; i < TABLE_ENTRIES; i++, virt += bytes) {
		if (!(table[i] & PTE_PRESENT))
			continue;
		if (level == LEVEL_4K || (table[i] & PTE_LARGE))
			check_leaf(check, virt, table[i], bytes);
		else
			check_table(check, arch_phys_to_virt(table[i] & PTE_ADDR), level - 1, virt);
	}
}

static void check_half(struct check *check, const uint64_t *root, size_t first)
{
	uintptr_t half = first ? 0xffff800000000000ull : 0;

	for (size_t i = 0; i < TABLE_ENTRIES / 2; i++) {
		uint64_t entry = root[first + i];

		if (entry & PTE_PRESENT)
			check_table(check, arch_phys_to_virt(entry & PTE_ADDR), LEVEL_1G,
				    half + (i << 39));
	}
}

size_t arch_check_wx(void)
{
	struct check kernel = { .root_name = "kernel", .is_kernel_root = true };
	struct check alias = { .root_name = "alias" };
	struct check ap = { .root_name = "ap" };
	size_t nr_bad;

	check_half(&kernel, paging_root, 0);
	check_half(&kernel, paging_root, KERNEL_HALF);
	check_half(&alias, alias_root, 0);
	check_half(&ap, ap_root, 0);
	nr_bad = kernel.nr_bad + alias.nr_bad + ap.nr_bad;
	pr_info("W^X: %zu of %zu pages are writable and executable\n", nr_bad,
		kernel.nr_leaves + alias.nr_leaves + ap.nr_leaves);
	return nr_bad;
}
