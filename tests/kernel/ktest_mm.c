/* Pages, slabs, vmalloc, stacks. */
#include <arch/paging.h>
#include <arch/smp.h>
#include "ktest.h"
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>

#define NR_BLOCKS  64
#define NR_OBJECTS 100

static uint64_t ktest_nr_free(void)
{
	struct mm_stats stats;

	mm_stats_get(&stats);
	return stats.free_pages;
}

/* Blocks of all orders, each filled with its own pattern: none may overlap another. */
static void test_pages_do_not_overlap(void)
{
	uint64_t *blocks[NR_BLOCKS];

	for (uint64_t i = 0; i < NR_BLOCKS; i++) {
		unsigned int order = i % 5;

		blocks[i] = alloc_pages(order);
		if (!KTEST_NEED(blocks[i] != NULL))
			continue;
		KTEST_CHECK((uintptr_t)blocks[i] % (PAGE_SIZE << order) == 0);
		for (size_t w = 0; w < (PAGE_SIZE << order) / 8; w += 64)
			blocks[i][w] = i << 32 | w;
	}
	for (uint64_t i = 0; i < NR_BLOCKS; i++) {
		unsigned int order = i % 5;

		if (!blocks[i])
			continue;
		for (size_t w = 0; w < (PAGE_SIZE << order) / 8; w += 64)
			KTEST_CHECK(blocks[i][w] == (i << 32 | w));
		free_pages(blocks[i], order);
	}
}

/* A large block must come back when its parts are freed in an odd order. */
static void test_pages_join(void)
{
	uint64_t before = ktest_nr_free();
	char *block = alloc_pages(PAGE_MAX_ORDER);
	void *parts[16];

	free_pages(block, PAGE_MAX_ORDER);
	if (!KTEST_NEED(block != NULL))
		return;
	for (int i = 0; i < 16; i++)
		parts[i] = alloc_pages(3);
	for (int i = 0; i < 16; i++)
		free_pages(parts[(i * 7) % 16], 3);
	KTEST_CHECK(ktest_nr_free() == before);
	block = alloc_pages(PAGE_MAX_ORDER);
	KTEST_CHECK(block != NULL);
	free_pages(block, PAGE_MAX_ORDER);
}

/* Take everything there is, as a list through the blocks themselves, and give it back. */
static void test_pages_run_out(void)
{
	uint64_t before = ktest_nr_free(), nr = 0;
	void **list = NULL, **block;
	unsigned int order = before > 65536 ? 9 : 4;

	while ((block = alloc_pages(order))) {
		*block = list;
		list = block;
		nr++;
	}
	KTEST_CHECK(nr > 0 && nr << order <= before);
	KTEST_CHECK(alloc_pages(order) == NULL);
	while (list) {
		block = list;
		list = *block;
		free_pages(block, order);
	}
	KTEST_CHECK(ktest_nr_free() == before);
}

static void test_kmalloc_sizes(void)
{
	for (size_t bytes = 1; bytes < 20000; bytes = bytes * 5 / 4 + 1) {
		uint8_t *a = kmalloc(bytes), *b = kzalloc(bytes);

		if (KTEST_NEED(a && b)) {
			KTEST_CHECK((uintptr_t)a % 16 == 0);
			memset(a, 0xff, bytes);
			KTEST_CHECK(b[0] == 0 && b[bytes - 1] == 0 && b[bytes / 2] == 0);
		}
		kfree(a);
		kfree(b);
	}
	/* Data that a CPU writes often have cache lines of their own. */
	for (size_t bytes = 64; bytes <= 2048; bytes += 64) {
		void *a = kmalloc(bytes), *b = kmalloc(bytes);

		KTEST_CHECK((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
		kfree(a);
		kfree(b);
	}
	KTEST_CHECK(kcalloc(SIZE_MAX / 2, 3) == NULL);
	KTEST_CHECK(kmalloc((PAGE_SIZE << PAGE_MAX_ORDER) + 1) == NULL);
	kfree(NULL);
}

static int churn(void *arg)
{
	uint64_t *objects[NR_OBJECTS] = { NULL };
	uint32_t seed = (uint32_t)(uintptr_t)current_thread() ^ (uint32_t)(uintptr_t)arg;
	uint64_t mark = (uint64_t)current_thread()->pid;
	int bad = 0;

	for (int round = 0; round < 3000; round++) {
		uint32_t i = (seed = seed * 1103515245u + 12345u) >> 10;
		uint64_t **object = &objects[i % NR_OBJECTS];

		if (*object) {
			bad += **object != mark;
			kfree(*object);
			*object = NULL;
		} else {
			*object = kmalloc(8u << i % 9);
			if (*object)
				**object = mark;
		}
	}
	for (int i = 0; i < NR_OBJECTS; i++)
		kfree(objects[i]);
	return bad;
}

static void test_kmalloc_concurrent(void)
{
	KTEST_CHECK(ktest_threads(2 * smp_nr_online(), churn, NULL) == 0);
}

static struct slab_cache *test_cache;

/* A cache stays for good, so all runs use the same one. */
void ktest_mm_prepare(void)
{
	if (!test_cache)
		test_cache = kmem_cache_create("ktest", 72);
}

static void test_slab_cache(void)
{
	uint64_t *objects[NR_OBJECTS];

	if (!KTEST_NEED(test_cache != NULL))
		return;
	for (uint64_t i = 0; i < NR_OBJECTS; i++) {
		objects[i] = kmem_cache_alloc(test_cache);
		for (int w = 0; w < 9; w++)
			objects[i][w] = i;
	}
	for (uint64_t i = 0; i < NR_OBJECTS; i++) {
		for (int w = 0; w < 9; w++)
			KTEST_CHECK(objects[i][w] == i);
		kmem_cache_free(test_cache, objects[i]);
	}
}

static void test_vmalloc(void)
{
	size_t bytes = 37 * PAGE_SIZE + 5;
	uint64_t phys;
	char *a = vmalloc(bytes), *b = vmalloc(1);

	if (!KTEST_NEED(a && b))
		return;
	for (size_t i = 0; i < bytes; i += 512)
		KTEST_CHECK(a[i] == 0);
	memset(a, 0x5a, bytes);
	KTEST_CHECK(b[0] == 0);
	/* A guard page behind each area. */
	KTEST_CHECK(arch_lookup((uintptr_t)a + 37 * PAGE_SIZE, &phys));
	KTEST_CHECK(!arch_lookup((uintptr_t)a + 38 * PAGE_SIZE, &phys));
	KTEST_CHECK(!arch_lookup((uintptr_t)b + PAGE_SIZE, &phys));
	vfree(a);
	KTEST_CHECK(!arch_lookup((uintptr_t)a, &phys));
	vfree(b);
	KTEST_CHECK(vmalloc(1ul << 40) == NULL && vmalloc(0) == NULL);
}

static int churn_vmalloc(void *arg)
{
	int bad = 0;

	(void)arg;
	for (size_t i = 0; i < 15; i++) {
		uint64_t *area = vmalloc((i % 7 + 1) * PAGE_SIZE);

		if (!area)
			return 1;
		bad += area[0] != 0 || area[511] != 0;
		area[0] = area[511] = (uint64_t)current_thread()->pid;
		yield();
		bad += area[0] != (uint64_t)current_thread()->pid;
		vfree(area);
	}
	return bad;
}

static void test_vmalloc_concurrent(void)
{
	KTEST_CHECK(ktest_threads(smp_nr_online() + 1, churn_vmalloc, NULL) == 0);
}

static void test_stack_guard(void)
{
	char *stack = stack_alloc();
	uint64_t phys;

	if (!KTEST_NEED(stack != NULL))
		return;
	KTEST_CHECK(!arch_lookup((uintptr_t)stack - 1, &phys));
	KTEST_CHECK(arch_lookup((uintptr_t)stack, &phys));
	KTEST_CHECK(arch_lookup((uintptr_t)stack + STACK_BYTES - 1, &phys));
	stack_free(stack);
}

static void test_no_writable_code(void)
{
	KTEST_CHECK(arch_check_wx() == 0);
}

const struct ktest ktest_mm[] = {
	{ "mm_pages_do_not_overlap", test_pages_do_not_overlap },
	{ "mm_pages_join", test_pages_join },
	{ "mm_pages_run_out", test_pages_run_out },
	{ "mm_kmalloc_sizes", test_kmalloc_sizes },
	{ "mm_kmalloc_concurrent", test_kmalloc_concurrent },
	{ "mm_slab_cache", test_slab_cache },
	{ "mm_vmalloc", test_vmalloc },
	{ "mm_vmalloc_concurrent", test_vmalloc_concurrent },
	{ "mm_stack_guard", test_stack_guard },
	{ "mm_no_writable_code", test_no_writable_code },
	{ 0 },
};
