/*
 * The table of places, by address: see kprobe_private.h. It grows by a second table: each place has
 * a link for either, so walks of the first one go on while the second one is made.
 */
#include "kprobe_private.h"

#define NR_FIRST 2u

/* The one that needs no memory. */
static struct kprobe_table first_table = { .mask = NR_FIRST - 1,
					   .chain = { [NR_FIRST - 1] = NULL } };

struct kprobe_table *_Atomic kprobe_table = &first_table;
static size_t nr_places;

static size_t nr_chains(const struct kprobe_table *table)
{
	return (size_t)table->mask + 1;
}

static size_t kprobe_table_bytes_of(size_t nr)
{
	return sizeof(struct kprobe_table) + nr * sizeof(struct kprobe_place *);
}

static struct kprobe_table *table_now(void)
{
	return atomic_load_explicit(&kprobe_table, memory_order_relaxed);
}

static struct kprobe_place *_Atomic *chain_of(struct kprobe_table *table, uintptr_t addr)
{
	return &table->chain[kprobe_chain_of(table, addr)];
}

static void insert_into(struct kprobe_table *table, struct kprobe_place *place)
{
	struct kprobe_place *_Atomic *head = chain_of(table, place->addr);

	atomic_store_explicit(&place->link[table->which],
			      atomic_load_explicit(head, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(head, place, memory_order_release);
}

static void switch_to(struct kprobe_table *larger)
{
	struct kprobe_table *old = table_now();

	larger->which = !old->which;
	for (size_t i = 0; i < nr_chains(old); i++) {
		struct kprobe_place *place = old->chain[i];

		for (; place; place = place->link[old->which])
			insert_into(larger, place);
	}
	atomic_store_explicit(&kprobe_table, larger, memory_order_release);
	trace_plat_synchronize_preempt(); /* for walks of the old one */
	if (old != &first_table)
		trace_plat_free(old, kprobe_table_bytes_of(nr_chains(old)));
}

int kprobe_table_reserve(size_t nr)
{
	size_t nr_wanted = nr_chains(table_now());
	struct kprobe_table *larger;

	if (nr_places + nr <= nr_wanted)
		return 0;
	while (nr_wanted < 2 * (nr_places + nr))
		nr_wanted *= 2;
	larger = trace_plat_alloc(kprobe_table_bytes_of(nr_wanted));
	if (!larger)
		return -ENOMEM;
	larger->mask = (uint32_t)nr_wanted - 1;
	switch_to(larger);
	return 0;
}

void kprobe_table_insert(struct kprobe_place *place)
{
	insert_into(table_now(), place);
	nr_places++;
}

void kprobe_table_remove(struct kprobe_place *place)
{
	struct kprobe_table *table = table_now();
	struct kprobe_place *_Atomic *link = chain_of(table, place->addr);

	while (*link != place)
		link = &(*link)->link[table->which];
	atomic_store_explicit(link, atomic_load(&place->link[table->which]), memory_order_release);
	nr_places--;
	if (nr_places || table == &first_table)
		return;
	first_table.which = !table->which;
	for (size_t i = 0; i < NR_FIRST; i++)
		atomic_store(&first_table.chain[i], NULL);
	atomic_store_explicit(&kprobe_table, &first_table, memory_order_release);
	trace_plat_synchronize_preempt();
	trace_plat_free(table, kprobe_table_bytes_of(nr_chains(table)));
}

size_t kprobe_table_nr(void)
{
	return nr_places;
}

void kprobe_table_each(void (*fn)(struct kprobe_place *place, void *arg), void *arg)
{
	struct kprobe_table *table = table_now();

	for (size_t i = 0; i < nr_chains(table); i++) {
		struct kprobe_place *place = table->chain[i];

		for (; place; place = place->link[table->which])
			fn(place, arg);
	}
}
