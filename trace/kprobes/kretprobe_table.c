/* See kretprobe_table.h. */
#include "kretprobe_table.h"

#define FIRST_SLOTS 32u
#define PART	    4u /* of the slots are in use, at most */

/* The table while no probe is armed: a free slot. */
static struct kretprobe_table kretprobe_table_empty = { .slot = { { 0 } } };

struct kretprobe_table *_Atomic kretprobe_table = &kretprobe_table_empty;

/* The slot of `ip`, or the free one where it would be. */
static struct kretprobe_slot *kretprobe_table_find_slot(struct kretprobe_table *in, uint32_t ip)
{
	uint32_t at = kretprobe_hash(ip);
	struct kretprobe_slot *slot;
	uint64_t key;

	for (;; at += (uint32_t)sizeof(*slot)) {
		slot = kretprobe_slot_at(in, at);
		key = atomic_load_explicit(&slot->key, memory_order_acquire);
		if (!key || (uint32_t)key == ip)
			return slot;
	}
}

struct kretprobe *kretprobe_first(uintptr_t ip)
{
	struct kretprobe_table *in = atomic_load_explicit(&kretprobe_table, memory_order_acquire);

	return atomic_load_explicit(&kretprobe_table_find_slot(in, trace_plat_ip_pack(ip))->first,
				    memory_order_acquire);
}

static size_t kretprobe_table_bytes(uint32_t slots)
{
	return sizeof(struct kretprobe_table) + (size_t)slots * sizeof(struct kretprobe_slot);
}

static uint32_t kretprobe_table_nr_slots(const struct kretprobe_table *in)
{
	return in->mask / (uint32_t)sizeof(struct kretprobe_slot) + 1;
}

static void free_slots(struct kretprobe_table *old)
{
	if (old != &kretprobe_table_empty)
		trace_plat_free(old, kretprobe_table_bytes(kretprobe_table_nr_slots(old)));
}

static uint32_t nr_sites(const struct kretprobe_table *in)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < kretprobe_table_nr_slots(in); i++)
		nr += in->slot[i].first != NULL;
	return nr;
}

int kretprobe_table_filter(struct ftrace_hash **out_filter)
{
	const struct kretprobe_table *in = kretprobe_table;
	struct ftrace_hash *filter;
	int err = 0;

	*out_filter = NULL;
	if (!nr_sites(in))
		return 0;
	filter = ftrace_hash_create();
	if (!filter)
		return -ENOMEM;
	for (uint32_t i = 0; i < kretprobe_table_nr_slots(in) && !err; i++) {
		if (in->slot[i].first)
			err = ftrace_hash_add(&filter, (uint32_t)in->slot[i].key);
	}
	if (err)
		ftrace_hash_free(filter);
	else
		*out_filter = filter;
	return err;
}

static void copy_slots(struct kretprobe_table *to, const struct kretprobe_table *from)
{
	for (uint32_t i = 0; i < kretprobe_table_nr_slots(from); i++) {
		struct kretprobe *first = from->slot[i].first;
		uint64_t key = from->slot[i].key;
		struct kretprobe_slot *slot;

		if (!first)
			continue;
		slot = kretprobe_table_find_slot(to, (uint32_t)key);
		slot->first = first;
		slot->key = key;
		to->nr++;
	}
}

int kretprobe_table_room(uint32_t more)
{
	struct kretprobe_table *old = kretprobe_table, *bigger;
	uint32_t slots = FIRST_SLOTS;

	if ((old->nr + more) * PART <= kretprobe_table_nr_slots(old))
		return 0;
	while (slots < (nr_sites(old) + more) * PART)
		slots *= 2;
	bigger = trace_plat_alloc(kretprobe_table_bytes(slots));
	if (!bigger)
		return -ENOMEM;
	bigger->mask = (slots - 1) * (uint32_t)sizeof(struct kretprobe_slot);
	copy_slots(bigger, old);
	atomic_store_explicit(&kretprobe_table, bigger, memory_order_release);
	trace_plat_synchronize_preempt();
	free_slots(old);
	return 0;
}

static bool is_simple(const struct kretprobe *first)
{
	return first && !first->next && !first->entry_handler && !first->ret.pool;
}

static void set_key(struct kretprobe_slot *slot, uint32_t ip, bool is_simple_now)
{
	atomic_store_explicit(&slot->key, ip | (is_simple_now ? KRETPROBE_SIMPLE : 0),
			      memory_order_release);
}

void kretprobe_table_insert(struct kretprobe *rp)
{
	uint32_t ip = trace_plat_ip_pack(rp->kp.addr);
	struct kretprobe_slot *slot = kretprobe_table_find_slot(kretprobe_table, ip);
	struct kretprobe *_Atomic *link = &slot->first;

	if (!slot->key)
		kretprobe_table->nr++;
	rp->next = NULL;
	if (*link)
		set_key(slot, ip, false);
	while (*link)
		link = &(*link)->next;
	atomic_store_explicit(link, rp, memory_order_release);
	set_key(slot, ip, is_simple(slot->first));
}

/*
 * rp->next keeps its value: an entry may stand on this probe. One that has seen that the site is
 * simple may still take the probe that is first now for the only one, or find none.
 */
void kretprobe_table_remove(struct kretprobe *rp)
{
	uint32_t ip = trace_plat_ip_pack(rp->kp.addr);
	struct kretprobe_slot *slot = kretprobe_table_find_slot(kretprobe_table, ip);
	struct kretprobe *_Atomic *link = &slot->first;

	while (*link != rp)
		link = &(*link)->next;
	atomic_store_explicit(link, atomic_load(&rp->next), memory_order_release);
	set_key(slot, ip, is_simple(slot->first));
}

/* rp->next is still what it was in front of. */
void kretprobe_table_put_back(struct kretprobe *rp)
{
	uint32_t ip = trace_plat_ip_pack(rp->kp.addr);
	struct kretprobe_slot *slot = kretprobe_table_find_slot(kretprobe_table, ip);
	struct kretprobe *_Atomic *link = &slot->first;

	set_key(slot, ip, false);
	while (*link != rp->next)
		link = &(*link)->next;
	atomic_store_explicit(link, rp, memory_order_release);
	set_key(slot, ip, is_simple(slot->first));
}

void kretprobe_table_free(void)
{
	struct kretprobe_table *old = kretprobe_table;

	atomic_store(&kretprobe_table, &kretprobe_table_empty);
	trace_plat_synchronize_preempt();
	free_slots(old);
}
