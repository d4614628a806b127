/* Places of probes in the table, and memory for data of their calls: see return_probe.h. */
#include "return_probe.h"

#define FIRST_PLACES 16u

/* ---- Data ---- */

struct return_pool {
	/*
	 * The first that is free, counted from 1, in the low half; the high half counts how often
	 * one was taken or given, so that an exchange fails when others came in between.
	 */
	_Atomic uint64_t first;
	uint32_t nr;
	uint32_t bytes; /* of one, with its link */
	size_t total_bytes;
	uint64_t memory[];
};

/* In front of the data. */
struct return_link {
	_Atomic uint32_t next; /* as in `first` */
	uint32_t number;       /* its own, counted from 1 */
};

static struct return_link *link_of(struct return_pool *pool, uint32_t number)
{
	return (struct return_link *)(void *)((char *)pool->memory +
					      (size_t)(number - 1) * pool->bytes);
}

/* All are free, also those of calls that are open. */
static void pool_reset(struct return_pool *pool)
{
	for (uint32_t number = 1; number <= pool->nr; number++) {
		struct return_link *link = link_of(pool, number);

		link->number = number;
		atomic_store_explicit(&link->next, number < pool->nr ? number + 1 : 0,
				      memory_order_relaxed);
	}
	atomic_store(&pool->first, 1);
}

int trace_return_pool_create(struct return_probe *probe, uint32_t nr, size_t bytes)
{
	size_t each = sizeof(struct return_link) + ((bytes + 7) & ~(size_t)7);
	struct return_pool *pool;
	size_t total;

	probe->pool = NULL;
	if (bytes <= RETURN_FRAME_BYTES)
		return 0;
	if (!nr)
		nr = trace_plat_nr_cpus() > 5 ? 2 * trace_plat_nr_cpus() : 10;
	total = sizeof(*pool) + nr * each;
	pool = trace_plat_alloc(total);
	if (!pool)
		return -ENOMEM;
	pool->nr = nr;
	pool->bytes = (uint32_t)each;
	pool->total_bytes = total;
	probe->pool = pool;
	return 0;
}

void trace_return_pool_destroy(struct return_probe *probe)
{
	if (probe->pool)
		trace_plat_free(probe->pool, probe->pool->total_bytes);
	probe->pool = NULL;
}

/* The acquire and the release pair with each other: the last call's writes come first. */
void *trace_return_pool_take(struct return_pool *pool)
{
	uint64_t first = atomic_load_explicit(&pool->first, memory_order_acquire), next;
	struct return_link *link;

	do {
		if (!(uint32_t)first)
			return NULL;
		link = link_of(pool, (uint32_t)first);
		next = (first >> 32) + 1;
		next = next << 32 | atomic_load_explicit(&link->next, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(
		&pool->first, &first, next, memory_order_acquire, memory_order_acquire));
	return link + 1;
}

void trace_return_pool_give(struct return_pool *pool, void *data)
{
	struct return_link *link = (struct return_link *)data - 1;
	uint64_t first = atomic_load_explicit(&pool->first, memory_order_relaxed), next;

	do {
		atomic_store_explicit(&link->next, (uint32_t)first, memory_order_relaxed);
		next = ((first >> 32) + 1) << 32 | link->number;
	} while (!atomic_compare_exchange_weak_explicit(
		&pool->first, &first, next, memory_order_release, memory_order_relaxed));
}

/* ---- Places ---- */

typedef struct return_probe *_Atomic return_place;

/*
 * In places that are free. No call has its handle; not 0 either, which a thread gets that was on
 * its way into a call when the probe went.
 */
static struct return_probe return_probe_nobody = { .handle = UINT64_MAX };

static size_t return_probe_table_bytes(uint32_t nr)
{
	return nr * sizeof(return_place);
}

static int table_grow(struct return_probes *all, uint32_t wanted)
{
	return_place *old = all->table, *bigger;
	uint32_t nr = all->nr_places ? all->nr_places : FIRST_PLACES;

	while (nr < wanted)
		nr *= 2;
	if (nr == all->nr_places)
		return 0;
	bigger = trace_plat_alloc(return_probe_table_bytes(nr));
	if (!bigger)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		atomic_store_explicit(&bigger[i],
				      i < all->nr_places ? atomic_load(&old[i])
							 : &return_probe_nobody,
				      memory_order_relaxed);
	atomic_store_explicit(&all->table, bigger, memory_order_release);
	if (old) {
		trace_plat_synchronize_preempt();
		trace_plat_free(old, return_probe_table_bytes(all->nr_places));
	}
	all->nr_places = nr;
	return 0;
}

static void table_free(struct return_probes *all)
{
	if (all->table)
		trace_plat_free(all->table, return_probe_table_bytes(all->nr_places));
	atomic_store(&all->table, NULL);
	all->nr_places = 0;
	all->maybe_free = 0;
}

int trace_return_get(struct return_probes *all, uint32_t nr)
{
	int err = table_grow(all, all->nr_used + nr);

	if (!err && !all->user.is_added)
		err = fgraph_user_add(&all->user);
	if (err && !all->nr_used && !all->user.is_added)
		table_free(all);
	return err;
}

void trace_return_add(struct return_probes *all, struct return_probe *probe)
{
	static _Atomic uint32_t numbers;
	uint64_t number = atomic_fetch_add(&numbers, 1) % INT32_MAX + 1u;
	uint32_t place = all->maybe_free;

	while (atomic_load(&all->table[place]) != &return_probe_nobody)
		place++;
	all->maybe_free = place + 1;
	all->nr_used++;
	if (probe->pool)
		pool_reset(probe->pool);
	atomic_store(&probe->handle, (probe->pool ? RETURN_POOLED : 0) | number << 32 | place);
	atomic_store_explicit(&all->table[place], probe, memory_order_release);
}

void trace_return_remove(struct return_probes *all, struct return_probe *probe)
{
	uint32_t place = (uint32_t)return_handle(probe);

	if (!return_handle(probe))
		return;
	atomic_store(&all->table[place], &return_probe_nobody);
	atomic_store(&probe->handle, 0);
	all->nr_used--;
	if (place < all->maybe_free)
		all->maybe_free = place;
}

void trace_return_put(struct return_probes *all)
{
	if (all->nr_used || !all->user.is_added) {
		trace_plat_synchronize_preempt();
		return;
	}
	fgraph_user_remove(&all->user); /* waits for exits, too */
	table_free(all);
}

/* A thread ends with preemption on, so the probe might go meanwhile. */
void trace_return_abandon(struct fgraph_frame *frame, struct fgraph_user *user)
{
	struct return_probes *all = (struct return_probes *)(void *)user;
	struct return_probe *probe;

	_Static_assert(offsetof(struct return_probes, user) == 0, "a cast will do");
	trace_plat_preempt_disable();
	probe = return_find(all, frame);
	if (return_handle(probe) == frame->handle && return_is_pooled(frame))
		trace_return_pool_give(probe->pool, (void *)frame->words[0]);
	trace_plat_preempt_enable();
}
