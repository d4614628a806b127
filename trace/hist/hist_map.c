/* Counts by key. See hist_map.h. */
#include <trace/platform.h>
#include "hist_map.h"
#include "text/str.h"

#define WORDS_MAX      1024u
#define SLOTS_OF_ENTRY 4u

uint32_t trace_hist_map_entry_bytes(const struct hist_map_shape *shape)
{
	uint32_t bytes = 8 * (1 + shape->key_words + shape->sum_words + shape->extra_words);

	/* Short entries do not lie across two cache lines. */
	for (uint32_t size = 16; size <= 64; size *= 2) {
		if (bytes <= size)
			return size;
	}
	return bytes;
}

static size_t slots_bytes(const struct hist_map *map)
{
	return ((size_t)map->slot_mask + 1) * sizeof(*map->slots);
}

static size_t entries_bytes(const struct hist_map *map)
{
	return ((size_t)map->shape.nr_entries + 1) * map->stride;
}

static uint32_t hist_map_nr_slots(uint32_t nr_entries)
{
	uint32_t nr = SLOTS_OF_ENTRY;

	while (nr < SLOTS_OF_ENTRY * nr_entries)
		nr *= 2;
	return nr;
}

int trace_hist_map_init(struct hist_map *map, const struct hist_map_shape *shape)
{
	*map = (struct hist_map){ .shape = *shape };
	if (!shape->nr_entries || shape->nr_entries > HIST_MAP_NUMBER_MAX || !shape->key_words ||
	    shape->key_words + shape->sum_words + shape->extra_words > WORDS_MAX)
		return -EINVAL;
	map->stride = trace_hist_map_entry_bytes(shape);
	map->slot_mask = hist_map_nr_slots(shape->nr_entries) - 1;
	map->slot_shift = 32 + (uint32_t)__builtin_clz(map->slot_mask);
	map->slots = trace_plat_alloc(slots_bytes(map));
	map->memory = trace_plat_alloc(entries_bytes(map));
	if (map->slots && map->memory)
		return 0;
	trace_hist_map_destroy(map);
	return -ENOMEM;
}

void trace_hist_map_destroy(struct hist_map *map)
{
	if (map->slots)
		trace_plat_free(map->slots, slots_bytes(map));
	if (map->memory)
		trace_plat_free(map->memory, entries_bytes(map));
	*map = (struct hist_map){ 0 };
}

void trace_hist_map_clear_word(struct hist_map *map, uint32_t at)
{
	struct hist_entry *entry;
	size_t slot = 0;

	while ((entry = trace_hist_map_next(map, &slot)))
		atomic_store_explicit(&entry->words[at], 0, memory_order_relaxed);
}

/* Clear the table word by word, since another CPU may look for an entry meanwhile. */
void trace_hist_map_clear(struct hist_map *map)
{
	_Atomic uint64_t *words = (_Atomic uint64_t *)(void *)map->memory;

	for (size_t i = 0; i <= map->slot_mask; i++)
		atomic_store_explicit(&map->slots[i], 0, memory_order_relaxed);
	for (size_t i = 0; i < entries_bytes(map) / sizeof(*words); i++)
		atomic_store_explicit(&words[i], 0, memory_order_relaxed);
	map->nr_taken = 0;
	map->returned = 0;
	map->is_full = false;
	map->drops = 0;
}

/* ---- Free entries ---- */

/*
 * Take an entry off the list of those given back. Returns its number, or 0. Its first word has the
 * number of the next one.
 */
static uint32_t take_returned(struct hist_map *map)
{
	uint64_t head = atomic_load_explicit(&map->returned, memory_order_acquire);

	while ((uint32_t)head) {
		/*
		 * When another context takes it at this moment, the word read here may be anything,
		 * but then the count of changes is another one, too.
		 */
		uint64_t next = hist_entry_word(hist_map_entry(map, (uint32_t)head), 0);
		uint64_t changed = ((head >> 32) + 1) << 32 | (uint32_t)next;

		if (atomic_compare_exchange_weak_explicit(&map->returned, &head, changed,
							  memory_order_acquire,
							  memory_order_acquire))
			return (uint32_t)head;
	}
	return 0;
}

/*
 * The number of the `nr`th entry that is taken, from 0. With several entries in a cache line, one
 * of each line comes first, then the second ones.
 */
static uint32_t hist_map_number_of(const struct hist_map *map, uint32_t nr)
{
	uint32_t nr_entries = map->shape.nr_entries, in_line = HIST_MAP_LINE / map->stride;

	if (in_line < 2 || nr_entries % in_line)
		return nr + 1;
	return nr % (nr_entries / in_line) * in_line + nr / (nr_entries / in_line) + 1;
}

/* Take a free entry. Returns its number, or 0. */
static uint32_t hist_map_take(struct hist_map *map)
{
	uint32_t nr = atomic_load_explicit(&map->nr_taken, memory_order_relaxed);
	uint32_t number = take_returned(map);

	while (!number && nr < map->shape.nr_entries) {
		if (atomic_compare_exchange_weak_explicit(&map->nr_taken, &nr, nr + 1,
							  memory_order_relaxed,
							  memory_order_relaxed))
			return hist_map_number_of(map, nr);
	}
	return number;
}

static void hist_map_give_back(struct hist_map *map, uint32_t number)
{
	struct hist_entry *entry = hist_map_entry(map, number);
	uint64_t head = atomic_load_explicit(&map->returned, memory_order_relaxed);
	uint64_t changed;

	do {
		atomic_store_explicit(&entry->words[0], (uint32_t)head, memory_order_relaxed);
		changed = ((head >> 32) + 1) << 32 | number;
		/* With the acquire of take_returned(), and in one order with note_full(). */
	} while (!atomic_compare_exchange_weak(&map->returned, &head, changed));
	if (atomic_load(&map->is_full))
		atomic_store(&map->is_full, false);
}

/*
 * Mark the table as full. An entry given back at this moment is seen here, or
 * hist_map_give_back() sees the mark: it does not stay when there is an entry again.
 */
static void note_full(struct hist_map *map)
{
	atomic_store(&map->is_full, true);
	if ((uint32_t)atomic_load(&map->returned))
		atomic_store(&map->is_full, false);
}

/* ---- Adding ---- */

/* Write the new entry. It may have been given back, with a longer key in it. */
static void hist_map_fill(const struct hist_map *map, struct hist_entry *entry,
			  const struct hist_key *key)
{
	uint32_t at = map->shape.key_words + map->shape.sum_words;

	for (uint32_t i = 0; i < map->shape.key_words; i++)
		atomic_store_explicit(&entry->words[i], i < key->nr_words ? key->words[i] : 0,
				      memory_order_relaxed);
	for (uint32_t i = 0; i < key->nr_extra; i++)
		atomic_store_explicit(&entry->words[at + i], key->extra[i], memory_order_relaxed);
}

/*
 * Make the entry visible in the first empty slot. Returns it, or an entry of the same key that
 * another context has made meanwhile.
 */
static struct hist_entry *hist_map_publish(struct hist_map *map, uint32_t number,
					   const struct hist_key *key)
{
	uint32_t tag = hist_map_tag(key->hash), wanted = tag | number;

	for (uint64_t at = key->hash >> map->slot_shift;; at = (at + 1) & map->slot_mask) {
		_Atomic uint32_t *place = &map->slots[at];
		uint32_t slot = atomic_load_explicit(place, memory_order_acquire);
		struct hist_entry *entry;

		/* The release pairs with the acquires here and in hist_map_find(). */
		if (!slot && atomic_compare_exchange_strong_explicit(place, &slot, wanted,
								     memory_order_release,
								     memory_order_acquire))
			return hist_map_entry(map, number);
		if (slot - tag > HIST_MAP_NUMBER_MAX)
			continue;
		entry = hist_map_entry(map, slot - tag);
		if (hist_entry_has_key(entry, key->words, key->nr_words))
			return entry;
	}
}

struct hist_entry *trace_hist_map_add(struct hist_map *map, const struct hist_key *key)
{
	uint32_t number = hist_map_take(map);
	struct hist_entry *own, *entry;

	if (!number) {
		note_full(map);
		atomic_fetch_add_explicit(&map->drops, 1, memory_order_relaxed);
		return NULL;
	}
	own = hist_map_entry(map, number);
	hist_map_fill(map, own, key);
	entry = hist_map_publish(map, number, key);
	if (entry != own)
		hist_map_give_back(map, number);
	return entry;
}

struct hist_entry *trace_hist_map_next(const struct hist_map *map, size_t *at)
{
	while (*at <= map->slot_mask) {
		uint32_t slot = atomic_load_explicit(&map->slots[(*at)++], memory_order_acquire);

		if (slot)
			return hist_map_entry(map, slot & HIST_MAP_NUMBER_MAX);
	}
	return NULL;
}

uint64_t trace_hist_map_hits(const struct hist_map *map)
{
	const struct hist_entry *entry;
	uint64_t hits = 0;
	size_t at = 0;

	while ((entry = trace_hist_map_next(map, &at)))
		hits += atomic_load_explicit(&entry->hits, memory_order_relaxed);
	return hits;
}
