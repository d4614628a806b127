/*
 * The roots beside the kernel's: what the alias maps and when it is there, which root a CPU has.
 *
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <string.h>
#include <arch/cpu.h>
#include "sim.h"

#include <arch/paging.h>
#include "../../../arch/x86_64/alias.c" /* its roots */

#define TEXT_PAGES 3u
#define NR_MAPPED  128u
#define OLD_ROOT   0x7000u
#define TOP_ENTRY  0x5063u /* of a table */
#define AP_PAGE	   0x9000u

char text_start[TEXT_PAGES * 4096] __attribute__((aligned(4096)));
char exec_pool_start[4096] __attribute__((aligned(4096)));
__asm__(".globl text_end\n.set text_end, text_start + 3 * 4096\n");

uint64_t paging_root[TABLE_ENTRIES];

/* Pages that were asked for. */
static struct mapped {
	uint64_t *root;
	uintptr_t virt;
	uint64_t entry;
} mapped[NR_MAPPED];
static size_t nr_mapped;

uint64_t *paging_entry(uint64_t *root, uintptr_t virt, enum paging_level level, bool make)
{
	assert_true(level == LEVEL_4K && make && nr_mapped < NR_MAPPED);
	root[paging_index(virt, LEVEL_512G)] = TOP_ENTRY;
	mapped[nr_mapped] = (struct mapped){ .root = root, .virt = virt };
	return &mapped[nr_mapped++].entry;
}

static uint64_t *top_entry(void)
{
	return &alias_root[paging_index(ALIAS_BASE, LEVEL_512G)];
}

static void init(void)
{
	memset(alias_root, 0, sizeof(alias_root));
	memset(ap_root, 0, sizeof(ap_root));
	memset(&roots, 0, sizeof(roots));
	nr_mapped = 0;
	for (uint64_t i = 0; i < TABLE_ENTRIES; i++)
		paging_root[i] = 0x100000 + i;
	alias_init();
}

static void check_page(const struct mapped *page, uintptr_t addr, uint64_t phys)
{
	assert_ptr_equal(page->root, alias_root);
	assert_int_equal(page->virt, addr - KERNEL_BASE + ALIAS_BASE);
	assert_int_equal(page->entry, phys | PTE_ALIAS);
}

static void test_pages(void **state)
{
	size_t page = 0;

	(void)state;
	init();
	for (size_t i = 0; i < TEXT_PAGES; i++) {
		uintptr_t addr = (uintptr_t)text_start + i * PAGE_SIZE;

		check_page(&mapped[page++], addr, addr - KERNEL_BASE);
	}
	for (size_t i = 0; i < EXEC_BYTES; i += PAGE_SIZE)
		check_page(&mapped[page++], EXEC_BASE + i,
			   (uintptr_t)exec_pool_start - KERNEL_BASE + i);
	assert_int_equal(page, nr_mapped);
	assert_int_equal(PTE_ALIAS & (PTE_GLOBAL | PTE_NX | PTE_WRITE), PTE_NX | PTE_WRITE);
}

/* The kernel half is the kernel's, in both; the other half is empty. */
static void test_roots(void **state)
{
	(void)state;
	init();
	for (size_t i = 0; i < TABLE_ENTRIES; i++) {
		assert_int_equal(alias_root[i], i < TABLE_ENTRIES / 2 ? 0 : paging_root[i]);
		assert_int_equal(ap_root[i], alias_root[i]);
	}
}

static void open_and_close(void)
{
	init();
	assert_int_equal(*top_entry(), 0);
	for (int i = 0; i < 2; i++) {
		arch_alias_open();
		assert_int_equal(*top_entry(), TOP_ENTRY);
		write_cr3(OLD_ROOT);
		assert_int_equal(arch_alias_enter(), OLD_ROOT);
		assert_int_equal(read_cr3(), arch_virt_to_phys(alias_root));
		arch_alias_leave(OLD_ROOT); /* loading it forgets the alias */
		assert_int_equal(read_cr3(), OLD_ROOT);
		arch_alias_close();
		assert_int_equal(*top_entry(), 0);
	}
}

static void test_open_and_close(void **state)
{
	(void)state;
	sim_alone(open_and_close);
}

static void start_cpus(void)
{
	const struct mapped *page;

	init();
	page = &mapped[nr_mapped];
	assert_int_equal(arch_ap_root_open(AP_PAGE), arch_virt_to_phys(ap_root));
	assert_ptr_equal(page->root, ap_root);
	assert_int_equal(page->virt, AP_PAGE);
	assert_int_equal(page->entry, AP_PAGE | PTE_PRESENT | PTE_ACCESSED);
	arch_ap_root_close();
	assert_int_equal(page->entry, 0);
	arch_ap_root_open(AP_PAGE); /* again */
	arch_ap_root_close();
}

static void start_cpus_twice(void)
{
	init();
	arch_ap_root_open(AP_PAGE);
	arch_ap_root_open(AP_PAGE);
}

static void test_start_of_cpus(void **state)
{
	(void)state;
	sim_alone(start_cpus);
	assert_non_null(strstr(sim_panics(start_cpus_twice), "!roots.ap_page"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_roots),
		cmocka_unit_test(test_open_and_close),
		cmocka_unit_test(test_start_of_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
