/*
 * Random places for the parts of a program, as Linux has them: the stack, the mappings, a position independent program
 * and the heap. See mm.h for the order in memory; docs/processes.md has how it is switched off.
 */
#include <stdatomic.h>
#include <kernel/params.h>
#include <kernel/random.h>
#include "process.h"

#define ASLR_UNKNOWN (-1)

/* Random bits of a place, in pages, and bytes. */
#define ASLR_STACK_PAGES (1ul << 22)
#define ASLR_STACK_BYTES 8192ul /* more, of the stack pointer */
#define ASLR_MAP_PAGES	 (1ul << 28)
#define ASLR_HEAP_PAGES	 (1ul << 13)

static _Atomic int aslr_mode = ASLR_UNKNOWN;

int aslr_get_mode(void)
{
	int mode = atomic_load_explicit(&aslr_mode, memory_order_relaxed);

	if (mode == ASLR_UNKNOWN) {
		mode = boot_param_is_set("norandmaps") ? 0 : ASLR_WITH_HEAP;
		atomic_compare_exchange_strong(&aslr_mode, &(int){ ASLR_UNKNOWN }, mode);
	}
	return mode;
}

int aslr_set_mode(int mode)
{
	if (mode < 0 || mode > ASLR_WITH_HEAP)
		return -EINVAL;
	atomic_store(&aslr_mode, mode);
	return 0;
}

void aslr_place_mappings(struct mm *mm, bool is_secure)
{
	bool is_fixed = current_process()->personality & ADDR_NO_RANDOMIZE && !is_secure;

	mm->aslr_mode = is_fixed ? 0 : aslr_get_mode();
	mm->stack_top = STACK_TOP;
	mm->mmap_base = STACK_TOP - STACK_BYTES_MAX - STACK_GAP;
	if (!mm->aslr_mode)
		return;
	mm->stack_top -= random_u64() % ASLR_STACK_PAGES * PAGE_SIZE;
	mm->mmap_base -= (ASLR_STACK_PAGES + random_u64() % ASLR_MAP_PAGES) * PAGE_SIZE;
}

uintptr_t aslr_program_bias(const struct mm *mm)
{
	return MM_PIE_BASE + (mm->aslr_mode ? random_u64() % ASLR_MAP_PAGES * PAGE_SIZE : 0);
}

uintptr_t aslr_heap_gap(const struct mm *mm)
{
	return mm->aslr_mode == ASLR_WITH_HEAP ? random_u64() % ASLR_HEAP_PAGES * PAGE_SIZE : 0;
}

uintptr_t aslr_stack_gap(const struct mm *mm)
{
	return mm->aslr_mode ? random_u64() % ASLR_STACK_BYTES : 0;
}
