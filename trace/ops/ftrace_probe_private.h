/*
 * The functions that one probe is set on, each with a word of data: see <trace/ftrace_probe.h>.
 *
 *   map: never changed, only replaced by another --> entries: stay in place while a map has them
 *
 * Locking: probes_lock of ftrace_probe.c for changes. Callbacks look without it, preemption off.
 */
#ifndef FTRACE_PROBE_PRIVATE_H
#define FTRACE_PROBE_PRIVATE_H

#include <stdatomic.h>
#include "ftrace_private.h"

struct probe_entry {
	uint32_t ip; /* of the site: trace_plat_ip_pack() */
	uint32_t unused;
	_Atomic uint64_t data;
	struct probe_entry *next; /* in the list of free entries */
};

struct probe_map {
	uint32_t nr;
	uint32_t mask; /* slots - 1 */
	uint32_t shift;
	uint32_t unused;
	struct probe_entry *slot[]; /* NULL: free */
};

struct probe_pages;
/* The memory of one probe's entries. Its pages are freed all together. */
struct probe_pool {
	struct probe_pages *pages;
	struct probe_entry *free;
};

/* NULL when out of memory. */
struct probe_entry *trace_probe_entry_alloc(struct probe_pool *pool);
void trace_probe_entry_free(struct probe_pool *pool, struct probe_entry *entry);
/* Free all pages of the pool, with whatever entries they hold. */
void trace_probe_pool_release(struct probe_pool *pool);

/* An empty map with room for `nr` entries. NULL when out of memory. */
struct probe_map *trace_probe_map_create(uint32_t nr);
/* Frees the map, which may be NULL, but not its entries. */
void trace_probe_map_free(struct probe_map *map);
/* The map has room for it, and no entry for the same function. */
void trace_probe_map_add(struct probe_map *map, struct probe_entry *entry);

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

/* Is there a command of that name? In ftrace_command.c; thread context. */
bool ftrace_has_command(const char *name);

#endif
