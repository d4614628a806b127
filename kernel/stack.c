/*
 * Thread stacks in slots of the vmap area, see <kernel/mm.h>.
 *
 *   slot (32 KiB):  | not mapped, 16 KiB | stack, 16 KiB |
 *
 * A free stack stays mapped for the next thread, up to SPARE_MAX of them: unmapping one interrupts
 * every CPU.
 */
#include <stdatomic.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/upcall.h>
#include "vmap.h"

#define SLOT_BYTES  (2 * STACK_BYTES)
#define NR_SLOTS    8192u
#define STACK_PAGES (STACK_BYTES / PAGE_SIZE)
#define SPARE_MAX   32u

static struct {
	struct mutex lock;
	uint32_t next_slot; /* where the search for a free slot starts */
	uint32_t nr_spare;
	uint16_t spare[SPARE_MAX];
	_Atomic uint64_t mapped[NR_SLOTS / 64]; /* read without the lock */
	_Atomic uint64_t nr_pages;
} stacks;

static uintptr_t slot_stack(uint32_t slot)
{
	return VMAP_BASE + (uintptr_t)slot * SLOT_BYTES + SLOT_BYTES - STACK_BYTES;
}

static bool slot_is_mapped(uint32_t slot)
{
	return atomic_load_explicit(&stacks.mapped[slot / 64], memory_order_acquire) &
	       1ull << slot % 64;
}

/* Take the first `nr` pages of a stack out of the tables and free them. */
static void unmap_stack(uintptr_t stack, size_t nr)
{
	uint64_t phys[STACK_PAGES];

	for (size_t i = 0; i < nr; i++) {
		if (!arch_lookup(stack + i * PAGE_SIZE, &phys[i]))
			panic("stack %#lx: page %zu is not mapped", stack, i);
		arch_unmap(stack + i * PAGE_SIZE);
	}
	/* Before anyone else can own the pages. */
	arch_flush_tlb_all_cpus(stack, nr);
	for (size_t i = 0; i < nr; i++)
		page_free(arch_phys_to_virt(ALIGN_DOWN(phys[i], PAGE_SIZE)), 0);
}

/* 0 or -ENOMEM, then nothing is mapped. */
static int map_stack(uintptr_t stack)
{
	for (size_t i = 0; i < STACK_PAGES; i++) {
		void *page = page_alloc_zeroed(0);

		if (!page || arch_map(stack + i * PAGE_SIZE, arch_virt_to_phys(page), PAGE_WRITE)) {
			page_free(page, 0);
			if (i)
				unmap_stack(stack, i);
			return -ENOMEM;
		}
	}
	return 0;
}

static uint32_t find_slot(void)
{
	for (uint32_t i = 0; i < NR_SLOTS; i++) {
		uint32_t slot = (stacks.next_slot + i) % NR_SLOTS;

		if (!slot_is_mapped(slot))
			return slot;
	}
	return NR_SLOTS;
}

static void *stack_alloc_locked(void)
{
	uint32_t slot;

	if (stacks.nr_spare)
		return (void *)slot_stack(stacks.spare[--stacks.nr_spare]);
	slot = find_slot();
	if (slot == NR_SLOTS || map_stack(slot_stack(slot)))
		return NULL;
	stacks.next_slot = slot + 1;
	atomic_fetch_or(&stacks.mapped[slot / 64], 1ull << slot % 64);
	atomic_fetch_add(&stacks.nr_pages, STACK_PAGES);
	return (void *)slot_stack(slot);
}

void *stack_alloc(void)
{
	void *stack;

	mutex_lock(&stacks.lock);
	stack = stack_alloc_locked();
	mutex_unlock(&stacks.lock);
	return stack;
}

static void release_slot_locked(uint32_t slot)
{
	atomic_fetch_and(&stacks.mapped[slot / 64], ~(1ull << slot % 64));
	unmap_stack(slot_stack(slot), STACK_PAGES);
	atomic_fetch_sub(&stacks.nr_pages, STACK_PAGES);
	if (slot < stacks.next_slot)
		stacks.next_slot = slot; /* keep low slots in use: page tables stay few */
}

void stack_free(void *stack)
{
	uint32_t slot = (uint32_t)(((uintptr_t)stack - VMAP_BASE) / SLOT_BYTES);

	if (!stack)
		return;
	ASSERT(slot < NR_SLOTS && slot_stack(slot) == (uintptr_t)stack && slot_is_mapped(slot));
	mutex_lock(&stacks.lock);
	if (stacks.nr_spare < SPARE_MAX)
		stacks.spare[stacks.nr_spare++] = (uint16_t)slot;
	else
		release_slot_locked(slot);
	mutex_unlock(&stacks.lock);
}

void stack_shrink(void)
{
	mutex_lock(&stacks.lock);
	while (stacks.nr_spare)
		release_slot_locked(stacks.spare[--stacks.nr_spare]);
	mutex_unlock(&stacks.lock);
}

uint64_t stack_nr_pages(void)
{
	return atomic_load(&stacks.nr_pages);
}

TRACE_NOTRACE bool upcall_stack_range(uintptr_t addr, uintptr_t *out_lo, uintptr_t *out_hi)
{
	uintptr_t offset = addr - VMAP_BASE;
	uint32_t slot = (uint32_t)(offset / SLOT_BYTES);

	if (addr >= (uintptr_t)boot_stack && addr < (uintptr_t)boot_stack_top) {
		*out_lo = (uintptr_t)boot_stack;
		*out_hi = (uintptr_t)boot_stack_top;
		return true;
	}
	if (addr < VMAP_BASE || offset >= (uintptr_t)NR_SLOTS * SLOT_BYTES)
		return false;
	if (offset % SLOT_BYTES < SLOT_BYTES - STACK_BYTES ||
	    !(atomic_load_explicit(&stacks.mapped[slot / 64], memory_order_acquire) &
	      1ull << slot % 64))
		return false;
	*out_lo = VMAP_BASE + (uintptr_t)slot * SLOT_BYTES + SLOT_BYTES - STACK_BYTES;
	*out_hi = *out_lo + STACK_BYTES;
	return true;
}
