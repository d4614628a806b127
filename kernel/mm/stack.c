/*
 * Thread stacks in slots of the vmap area, see <kernel/mm.h>.
 *
 *   slot (32 KiB):  | not mapped, 16 KiB | stack, 16 KiB |
 *
 * A stack that is freed stays mapped for the next thread, because unmapping interrupts every CPU.
 * Up to max_spare such spare stacks are kept.
 */
#include <stdatomic.h>
#include <arch/paging.h>
#include <arch/sections.h>
#include <arch/unwind.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/upcall.h>
#include <trace/fgraph.h>
#include "vmap.h"

#define SLOT_BYTES  (2 * STACK_BYTES)
#define NR_SLOTS    8192u
#define STACK_PAGES (STACK_BYTES / PAGE_SIZE)
#define SPARE_MAX   256u

static struct {
	struct mutex lock;  /* guards the spare stacks, and changes of `mapped` */
	uint32_t next_slot; /* where the search for a free slot starts */
	uint32_t nr_spare;
	uint32_t max_spare;			/* set at boot */
	uint16_t spare[SPARE_MAX];		/* slots of stacks that are mapped and not used */
	_Atomic uint64_t mapped[NR_SLOTS / 64]; /* bit per slot; read without the lock */
	_Atomic uint64_t nr_pages;		/* of all mapped stacks */
	/*
	 * The owner of each stack, for backtraces. Without the lock; the last is that of the boot
	 * stack.
	 */
	const struct trace_thread *_Atomic owner[NR_SLOTS + 1];
} stacks;

/* Lowest address of the stack in a slot. */
static uintptr_t stack_slot(uint32_t slot)
{
	return VMAP_BASE + (uintptr_t)slot * SLOT_BYTES + SLOT_BYTES - STACK_BYTES;
}

static bool stack_slot_is_mapped(uint32_t slot)
{
	return atomic_load_explicit(&stacks.mapped[slot / 64], memory_order_acquire) &
	       1ull << slot % 64;
}

/* A slot without a mapped stack; NR_SLOTS when there is none. Lock held. */
static uint32_t stack_find_slot(void)
{
	for (uint32_t i = 0; i < NR_SLOTS; i++) {
		uint32_t slot = (stacks.next_slot + i) % NR_SLOTS;

		if (!stack_slot_is_mapped(slot))
			return slot;
	}
	return NR_SLOTS;
}

static void *stack_alloc_locked(void)
{
	uint32_t slot;

	if (stacks.nr_spare)
		return (void *)stack_slot(stacks.spare[--stacks.nr_spare]);
	slot = stack_find_slot();
	if (slot == NR_SLOTS || vmap_map(stack_slot(slot), STACK_PAGES))
		return NULL;
	stacks.next_slot = slot + 1;
	atomic_fetch_or(&stacks.mapped[slot / 64], 1ull << slot % 64);
	atomic_fetch_add(&stacks.nr_pages, STACK_PAGES);
	return (void *)stack_slot(slot);
}

void *stack_alloc(void)
{
	void *stack;

	mutex_lock(&stacks.lock);
	stack = stack_alloc_locked();
	mutex_unlock(&stacks.lock);
	return stack;
}

void stack_set_owner(void *stack, const struct trace_thread *owner)
{
	size_t slot = stack ? ((uintptr_t)stack - VMAP_BASE) / SLOT_BYTES : NR_SLOTS;

	atomic_store_explicit(&stacks.owner[slot], owner, memory_order_relaxed);
}

/* Unmap all spare stacks but `keep`, with one flush of the TLBs. */
static void stack_release_spare_locked(uint32_t keep)
{
	struct vmap_batch batch = { 0 };

	while (stacks.nr_spare > keep) {
		uint32_t slot = stacks.spare[--stacks.nr_spare];

		atomic_fetch_and(&stacks.mapped[slot / 64], ~(1ull << slot % 64));
		vmap_unmap(&batch, stack_slot(slot), STACK_PAGES);
		atomic_fetch_sub(&stacks.nr_pages, STACK_PAGES);
		if (slot < stacks.next_slot)
			stacks.next_slot = slot; /* low slots first: that needs fewer page tables */
	}
	vmap_release(&batch);
}

void stack_free(void *stack)
{
	uint32_t slot = (uint32_t)(((uintptr_t)stack - VMAP_BASE) / SLOT_BYTES);

	if (!stack)
		return;
	ASSERT(slot < NR_SLOTS && stack_slot(slot) == (uintptr_t)stack &&
	       stack_slot_is_mapped(slot));
	stack_set_owner(stack, NULL);
	mutex_lock(&stacks.lock);
	if (stacks.nr_spare == stacks.max_spare)
		stack_release_spare_locked(stacks.max_spare / 2);
	stacks.spare[stacks.nr_spare++] = (uint16_t)slot;
	mutex_unlock(&stacks.lock);
}

void stack_shrink(void)
{
	mutex_lock(&stacks.lock);
	stack_release_spare_locked(0);
	mutex_unlock(&stacks.lock);
}

/* Spare stacks may take a sixteenth of memory, but at least 2 and at most SPARE_MAX are kept. */
void stack_init(uint64_t nr_free_pages)
{
	uint64_t nr = nr_free_pages / STACK_PAGES / 16;

	stacks.max_spare = (uint32_t)(nr > SPARE_MAX ? SPARE_MAX : nr < 2 ? 2 : nr);
}

uint64_t stack_nr_pages(void)
{
	return atomic_load(&stacks.nr_pages);
}

_Static_assert(STACK_BYTES == ARCH_STACK_BYTES, "walks count on it");

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

static TRACE_NOTRACE const struct trace_thread *owner_of(uintptr_t addr)
{
	size_t slot = (addr - VMAP_BASE) / SLOT_BYTES;

	if (addr >= (uintptr_t)boot_stack && addr < (uintptr_t)boot_stack_top)
		slot = NR_SLOTS;
	else if (addr < VMAP_BASE || slot >= NR_SLOTS)
		return NULL;
	return atomic_load_explicit(&stacks.owner[slot], memory_order_relaxed);
}

TRACE_NOTRACE uintptr_t upcall_return_address(const struct trace_thread *runs, uintptr_t ret,
					      const uintptr_t *slot)
{
	return ftrace_graph_ret_addr(runs ? runs : owner_of((uintptr_t)slot), ret, slot);
}
