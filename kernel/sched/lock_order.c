/* The order in which locks are taken, see lock_order.h. */
#include <stdatomic.h>
#include <arch/cpu.h>
#include <arch/sections.h>
#include "lock_order.h"

#define NR_PAIRS  1024u
#define NR_ON_WAY 128u

/*
 * A hash table of the pairs that have been seen: "first << 32 | second" means that the lock with
 * the number `second` was taken while `first` was held. Pairs are only added.
 */
static _Atomic uint64_t lock_pairs[NR_PAIRS];

/* The number of a lock is its offset in the image; 0 for a lock that is not watched. */
static uint32_t lock_number(const void *lock)
{
	uintptr_t addr = (uintptr_t)lock;

	if (addr < (uintptr_t)data_start || addr >= (uintptr_t)bss_end)
		return 0;
	return (uint32_t)(addr - (uintptr_t)kernel_start);
}

/* The slot of `pair`, or the free one where it belongs; NULL when the table is full. */
static _Atomic uint64_t *lock_pair_slot(uint64_t pair)
{
	uint32_t hash = (uint32_t)(pair * 0x9e3779b97f4a7c15ull >> 40);

	for (uint32_t i = 0; i < NR_PAIRS; i++) {
		_Atomic uint64_t *slot = &lock_pairs[(hash + i) % NR_PAIRS];
		uint64_t seen = atomic_load(slot);

		if (seen == pair || seen == 0)
			return slot;
	}
	return NULL;
}

/* The locks that have been taken, directly or in several steps, while the first one was held. */
struct way {
	uint32_t locks[NR_ON_WAY];
	uint32_t nr;
};

static void lock_way_add(struct way *way, uint32_t lock)
{
	for (uint32_t i = 0; i < way->nr; i++) {
		if (way->locks[i] == lock)
			return;
	}
	if (way->nr < NR_ON_WAY)
		way->locks[way->nr++] = lock;
}

/* Has `to` ever been taken while `from` was held, perhaps with other locks taken in between? */
static bool lock_comes_after(uint32_t from, uint32_t to)
{
	struct way way = { .locks = { from }, .nr = 1 };

	for (uint32_t i = 0; i < way.nr; i++) {
		for (uint32_t p = 0; p < NR_PAIRS; p++) {
			uint64_t pair = atomic_load_explicit(&lock_pairs[p], memory_order_relaxed);

			if (pair >> 32 != way.locks[i])
				continue;
			if ((uint32_t)pair == to)
				return true;
			lock_way_add(&way, (uint32_t)pair);
		}
	}
	return false;
}

static void lock_learn_pair(uint32_t first, uint32_t second)
{
	uint64_t pair = (uint64_t)first << 32 | second, nothing = 0;
	_Atomic uint64_t *slot = lock_pair_slot(pair);

	if (!slot || atomic_load(slot) == pair)
		return;
	if (lock_comes_after(second, first))
		panic("lock order: %p is taken inside %p, before it was the other way round",
		      (void *)(kernel_start + second), (void *)(kernel_start + first));
	/* If another CPU has put its pair into the slot meanwhile, ours is learnt the next time. */
	atomic_compare_exchange_strong(slot, &nothing, pair);
}

void lock_order_check(const struct held_locks *held, const void *lock)
{
	uint32_t number = lock_number(lock);

	for (uint32_t i = 0; number && i < held->nr; i++) {
		if (held->locks[i] != number)
			lock_learn_pair(held->locks[i], number);
	}
}

void lock_order_add(struct held_locks *held, const void *lock)
{
	uint32_t number = lock_number(lock);
	uint64_t flags;

	if (!number)
		return;
	/* An interrupt here would change the same list with its own locks. */
	flags = arch_irq_save();
	ASSERT(held->nr < LOCK_ORDER_DEPTH);
	held->locks[held->nr++] = number;
	arch_irq_restore(flags);
}

void lock_order_remove(struct held_locks *held, const void *lock)
{
	uint32_t number = lock_number(lock), i;
	uint64_t flags;

	if (!number)
		return;
	flags = arch_irq_save();
	for (i = held->nr; i > 0 && held->locks[i - 1] != number; i--)
		;
	ASSERT(i > 0);
	for (; i < held->nr; i++)
		held->locks[i - 1] = held->locks[i];
	held->nr--;
	arch_irq_restore(flags);
}
