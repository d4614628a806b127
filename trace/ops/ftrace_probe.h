/*
 * The functions of one probe, and their words: see ftrace_probe_map.c.
 *
 *   map (immutable, replaced) --> entries (stay where they are as long as they are in a map)
 *
 * Locking: the probes' lock; probes look without it, preemption off.
 */
#ifndef FTRACE_PROBE_PRIVATE_H
#define FTRACE_PROBE_PRIVATE_H

#include <stdatomic.h>
#include "ftrace_private.h"

struct probe_entry {
	uint32_t ip; /* packed */
	uint32_t unused;
	_Atomic uint64_t data;
	struct probe_entry *next; /* free, or removed and still seen */
};

struct probe_map {
	uint32_t nr;
	uint32_t mask; /* slots - 1 */
	uint32_t shift;
	uint32_t unused;
	struct probe_entry *slot[]; /* NULL: free */
};

struct probe_pages;
/* Where entries come from. */
struct probe_pool {
	struct probe_pages *pages;
	struct probe_entry *free;
};

/* NULL when out of memory. */
struct probe_entry *probe_entry_alloc(struct probe_pool *pool);
void probe_entry_free(struct probe_pool *pool, struct probe_entry *entry);
void probe_pool_release(struct probe_pool *pool);

/* With room for `nr` entries. NULL when out of memory. */
struct probe_map *probe_map_create(uint32_t nr);
void probe_map_free(struct probe_map *map);
/* There is room, and it is not there. */
void probe_map_add(struct probe_map *map, struct probe_entry *entry);

/* The entry of a function, or NULL. Probe context. */
static TRACE_ALWAYS_INLINE struct probe_entry *probe_map_find(const struct probe_map *map,
							      uint32_t ip)
{
	uint32_t at = (ip * 0x9e3779b1u) >> map->shift;
	struct probe_entry *entry;

	while ((entry = map->slot[at]) && entry->ip != ip)
		at = (at + 1) & map->mask;
	return entry;
}

/* ftrace_command.c: is there a command of that name? Thread. */
bool ftrace_has_command(const char *name);

#endif
