/*
 * Maps and entries of probes: see ftrace_probe_private.h. Entries are small and many, so they come
 * from pages, which a probe keeps until it is freed.
 */
#include "ftrace_probe_private.h"

#define PAGE_BYTES 4096u

struct probe_pages {
	struct probe_pages *next;
	struct probe_entry entries[];
};

#define ENTRIES_PER_PAGE ((PAGE_BYTES - sizeof(struct probe_pages)) / sizeof(struct probe_entry))

void trace_probe_entry_free(struct probe_pool *pool, struct probe_entry *entry)
{
	entry->next = pool->free;
	pool->free = entry;
}

static bool add_page(struct probe_pool *pool)
{
	struct probe_pages *pages = trace_plat_alloc(PAGE_BYTES);

	if (!pages)
		return false;
	pages->next = pool->pages;
	pool->pages = pages;
	for (size_t i = 0; i < ENTRIES_PER_PAGE; i++)
		trace_probe_entry_free(pool, &pages->entries[i]);
	return true;
}

struct probe_entry *trace_probe_entry_alloc(struct probe_pool *pool)
{
	struct probe_entry *entry;

	if (!pool->free && !add_page(pool))
		return NULL;
	entry = pool->free;
	pool->free = entry->next;
	return entry;
}

void trace_probe_pool_release(struct probe_pool *pool)
{
	while (pool->pages) {
		struct probe_pages *next = pool->pages->next;

		trace_plat_free(pool->pages, PAGE_BYTES);
		pool->pages = next;
	}
	pool->free = NULL;
}

static size_t map_bytes(uint32_t slots)
{
	return sizeof(struct probe_map) + slots * sizeof(struct probe_entry *);
}

struct probe_map *trace_probe_map_create(uint32_t nr)
{
	uint32_t bits = 4;
	struct probe_map *map;

	while (1u << bits < 2 * nr)
		bits++;
	map = trace_plat_alloc(map_bytes(1u << bits));
	if (!map)
		return NULL;
	map->mask = (1u << bits) - 1;
	map->shift = 32 - bits;
	return map;
}

void trace_probe_map_free(struct probe_map *map)
{
	if (map)
		trace_plat_free(map, map_bytes(map->mask + 1));
}

void trace_probe_map_add(struct probe_map *map, struct probe_entry *entry)
{
	uint32_t at = (entry->ip * 0x9e3779b1u) >> map->shift;

	while (map->slot[at])
		at = (at + 1) & map->mask;
	map->slot[at] = entry;
	map->nr++;
}
