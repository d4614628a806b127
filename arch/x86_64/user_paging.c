/* Page tables of programs: see <arch/user.h>. */
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/smp.h>
#include <arch/user.h>
#include <kernel/base.h>
#include <kernel/upcall.h>

#include "paging_priv.h"

#define PTE_USER_TABLE (PTE_TABLE | PTE_USER)
#define PTE_USER_PAGE  (PTE_PRESENT | PTE_USER | PTE_ACCESSED | PTE_DIRTY)

static uint64_t *paging_table_of(uint64_t entry)
{
	return arch_phys_to_virt(entry & PTE_ADDR);
}

uint64_t arch_user_root_create(void)
{
	uint64_t *root = upcall_page_table_alloc();

	if (!root)
		return 0;
	for (size_t i = KERNEL_HALF; i < TABLE_ENTRIES; i++)
		root[i] = paging_root[i];
	return arch_virt_to_phys(root);
}

static void paging_free_tables(uint64_t *table, enum paging_level level, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(table[i] & PTE_PRESENT))
			continue;
		if (level > LEVEL_2M)
			paging_free_tables(paging_table_of(table[i]), level - 1, TABLE_ENTRIES);
		upcall_page_table_free(paging_table_of(table[i]));
	}
}

void arch_user_root_free(uint64_t root)
{
	paging_free_tables(paging_table_of(root), LEVEL_512G, KERNEL_HALF);
	upcall_page_table_free(paging_table_of(root));
}

/* The entry of the page at `virt`; NULL when there is no table for it, and none can be made. */
static uint64_t *user_entry(uint64_t root, uintptr_t virt, bool make)
{
	uint64_t *table = paging_table_of(root);

	for (enum paging_level at = LEVEL_512G; at > LEVEL_4K; at--) {
		uint64_t *entry = &table[paging_index(virt, at)];

		if (!(*entry & PTE_PRESENT)) {
			void *next = make ? upcall_page_table_alloc() : NULL;

			if (!next)
				return NULL;
			*entry = arch_virt_to_phys(next) | PTE_USER_TABLE;
		}
		table = paging_table_of(*entry);
	}
	return &table[paging_index(virt, LEVEL_4K)];
}

static uint64_t user_pte(uint64_t phys, uint32_t flags)
{
	if (flags & USER_PAGE_NONE)
		return phys | PTE_NX; /* not present, but remembered */
	return phys | PTE_USER_PAGE | (flags & USER_PAGE_WRITE ? PTE_WRITE : 0) |
	       (flags & USER_PAGE_EXEC ? 0 : PTE_NX);
}

int arch_user_map(uint64_t root, uintptr_t virt, uint64_t phys, uint32_t flags)
{
	uint64_t *entry;
	bool was_there;

	ASSERT(virt < TASK_SIZE_MAX);
	entry = user_entry(root, virt, true);
	if (!entry)
		return -ENOMEM;
	was_there = *entry;
	*entry = user_pte(phys, flags);
	if (was_there)
		__asm__ volatile("invlpg (%0)" : : "r"(virt) : "memory");
	return 0;
}

bool arch_user_lookup(uint64_t root, uintptr_t virt, uint64_t *out_phys, bool *out_is_writable)
{
	const uint64_t *entry = user_entry(root, virt, false);

	if (!entry || !*entry)
		return false;
	*out_phys = *entry & PTE_ADDR;
	*out_is_writable = *entry & PTE_WRITE;
	return true;
}

struct page_visit {
	arch_user_page_fn fn;
	void *arg;
};

static int paging_each_in(uint64_t *table, enum paging_level level, uintptr_t start, uintptr_t end,
			  const struct page_visit *visit)
{
	uintptr_t bytes = 1ull << (12 + 9 * level);
	int err = 0;

	while (start < end && !err) {
		uintptr_t next = (start & ~(bytes - 1)) + bytes;
		uint64_t *entry = &table[paging_index(start, level)];

		if (next > end)
			next = end;
		if (*entry)
			err = level == LEVEL_4K ? visit->fn(start, entry, visit->arg)
						: paging_each_in(paging_table_of(*entry), level - 1,
								 start, next, visit);
		start = next;
	}
	return err;
}

int arch_user_each(uint64_t root, uintptr_t start, uintptr_t end, arch_user_page_fn fn, void *arg)
{
	const struct page_visit visit = { fn, arg };

	return paging_each_in(paging_table_of(root), LEVEL_512G, start, end, &visit);
}

uint64_t arch_user_entry_phys(const uint64_t *entry)
{
	return *entry & PTE_ADDR;
}

bool arch_user_entry_is_writable(const uint64_t *entry)
{
	return *entry & PTE_WRITE;
}

void arch_user_entry_set(uint64_t *entry, uint32_t flags)
{
	*entry = user_pte(*entry & PTE_ADDR, flags);
}

void arch_user_entry_clear(uint64_t *entry)
{
	*entry = 0;
}

static void user_flush_here(void *arg)
{
	(void)arg;
	write_cr3(read_cr3()); /* their pages are not global */
}

void arch_user_flush_tlb(uint64_t cpus)
{
	uint64_t irqs = arch_irq_save();
	bool has_others = cpus & ~(1ull << cpu_local_read(id));

	user_flush_here(NULL);
	arch_irq_restore(irqs);
	/* If this thread has come to another CPU since, that one has loaded its root anew. */
	if (has_others)
		smp_call_function_many(cpus, user_flush_here, NULL, true);
}
