/*
 * Tables of the function profiler: see profile.h.
 *
 * A record is claimed by one compare-exchange of its `ip`. If an interrupt has claimed the slot
 * first the exchange fails, and the search goes on behind it.
 */
#include "profile.h"
#include "text/str.h"

#define MIN_SLOTS 512u
#define MAX_SLOTS (1u << 24)

static size_t profile_table_bytes(uint32_t slots)
{
	return sizeof(struct profile_table) + (size_t)slots * sizeof(struct profile_rec);
}

struct profile_table *trace_profile_table_create(uint32_t cpu, uint32_t functions)
{
	struct profile_table *table = NULL;
	uint32_t slots = MIN_SLOTS;

	while (slots / 4 * 3 < functions && slots < MAX_SLOTS)
		slots *= 2;
	for (; slots >= MIN_SLOTS; slots /= 2) {
		table = trace_plat_alloc(profile_table_bytes(slots));
		if (table)
			break;
	}
	if (!table)
		return NULL;
	table->mask = slots - 1;
	table->offset_mask = (uint32_t)((slots - 1) * sizeof(struct profile_rec));
	table->cpu = cpu;
	table->max = slots / 8 * 7;
	table->bytes = profile_table_bytes(slots);
	return table;
}

void trace_profile_table_reset(struct profile_table *table)
{
	memset(table->rec, 0, table->bytes - sizeof(*table));
	table->nr = 0;
	table->dropped = 0;
}

/* The loop ends, because only 7 of 8 slots are claimed, and a few more by nested interrupts. */
static struct profile_rec *search(struct profile_table *table, uint32_t ip, uint32_t *out_found)
{
	uint32_t at = (uint32_t)(profile_table_slot(table, ip) - table->rec);

	for (;; at = (at + 1) & table->mask) {
		*out_found = atomic_load_explicit(&table->rec[at].ip, memory_order_relaxed);
		if (*out_found == ip || !*out_found)
			return &table->rec[at];
	}
}

struct profile_rec *trace_profile_table_find(struct profile_table *table, uint32_t ip)
{
	uint32_t found;
	struct profile_rec *rec = search(table, ip, &found);

	return found ? rec : NULL;
}

struct profile_rec *trace_profile_table_claim(struct profile_table *table, uint32_t ip)
{
	struct profile_rec *rec;
	uint32_t found;

	for (;;) {
		rec = search(table, ip, &found);
		if (found)
			return rec;
		if (table->nr >= table->max) {
			trace_plat_local_add(&table->dropped, 1);
			return NULL;
		}
		rec->cpu = table->cpu;
		if (atomic_compare_exchange_strong(&rec->ip, &found, ip)) {
			atomic_fetch_add_explicit(&table->nr, 1, memory_order_relaxed);
			return rec;
		}
	}
}
