/*
 * Counts by key: a table that probes on all CPUs add to at once, without locks. It is what is
 * behind a histogram of events, and fit for anything else that is counted by key.
 *
 *   slots    hash | number ----+     twice as many as entries, most of them empty
 *            0                 |
 *            hash | number     v
 *   entries  hits | key | sums | extra          all of one size; number 0 is not used
 *
 * A key consists of words. It may be shorter than the entry has room for, if no key begins with all
 * of another one: numbers are one word each, texts end with a NUL, lists with a 0.
 *
 * Who finds no entry of his key takes a free one, writes the key into it, and only then shows it to
 * others, by one compare-exchange of the empty slot. If somebody else has used that slot meanwhile,
 * another CPU or an NMI, he looks on from there; if that was for the same key, he takes the other
 * entry and gives his own back. So a key has one entry, no entry is seen half made, and nobody ever
 * waits: an NMI in the middle of an insertion just inserts, too.
 *
 * When all entries are taken, events of new keys are counted as drops. An entry that is about to be
 * given back counts as taken, so the last one may be missed. Nothing is lost without being counted:
 * events = sum of hits + drops.
 *
 * Context:   find, add - any, NMI included. The rest - thread.
 * Locking:   none for find and add. clear and destroy: nobody else uses the table. Reading may
 *            happen at any time; sums are then from slightly different moments.
 * Ownership: entries belong to the table, and stay where they are until it is cleared.
 */
#ifndef HIST_MAP_H
#define HIST_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

struct hist_entry {
	_Atomic uint64_t hits;
	_Atomic uint64_t words[]; /* key, sums, extra */
};

struct hist_map_shape {
	uint32_t nr_entries;
	uint32_t key_words; /* the longest key */
	uint32_t sum_words;
	uint32_t extra_words; /* for the user, to begin with 0 */
};

struct hist_map {
	_Atomic uint64_t *slots;
	uint32_t slot_mask;    /* their number - 1 */
	uint32_t stride;       /* bytes of an entry */
	unsigned char *memory; /* entries */
	struct hist_map_shape shape;
	_Atomic uint32_t nr_taken; /* entries that were ever taken: the first ones */
	/* Those of them that were given back: number of the first one, above it a count of changes. */
	_Atomic uint64_t returned;
	_Atomic uint64_t drops;
};

/* 0; -EINVAL for no entries, or more than fit; -ENOMEM. Thread. */
int hist_map_init(struct hist_map *map, const struct hist_map_shape *shape);
/* Free its memory. A zeroed one may be destroyed, too. */
void hist_map_destroy(struct hist_map *map);
/* Forget all entries and drops. */
void hist_map_clear(struct hist_map *map);

/* How many bytes an entry of this shape takes. */
uint32_t hist_map_entry_bytes(const struct hist_map_shape *shape);

/* Each word of a key changes the hash, which is 0 at first. */
static TRACE_ALWAYS_INLINE uint64_t hist_hash(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static TRACE_ALWAYS_INLINE struct hist_entry *hist_map_entry(const struct hist_map *map,
							     uint32_t number)
{
	return (struct hist_entry *)(void *)(map->memory + (size_t)number * map->stride);
}

static TRACE_ALWAYS_INLINE bool hist_entry_has_key(const struct hist_entry *entry,
						   const uint64_t *key, uint32_t nr_words)
{
	for (uint32_t i = 0; i < nr_words; i++) {
		if (atomic_load_explicit(&entry->words[i], memory_order_relaxed) != key[i])
			return false;
	}
	return true;
}

/* The entry of a key, or NULL. Any context. */
static TRACE_ALWAYS_INLINE struct hist_entry *
hist_map_find(const struct hist_map *map, const uint64_t *key, uint32_t nr_words, uint64_t hash)
{
	for (uint32_t at = (uint32_t)hash;; at++) {
		struct hist_entry *entry;
		uint64_t slot;

		/* The acquire pairs with the release of publish() in hist_map.c. */
		slot = atomic_load_explicit(&map->slots[at & map->slot_mask], memory_order_acquire);
		if (!slot)
			return NULL;
		if (slot >> 32 != hash >> 32)
			continue;
		entry = hist_map_entry(map, (uint32_t)slot);
		if (TRACE_LIKELY(hist_entry_has_key(entry, key, nr_words)))
			return entry;
	}
}

struct hist_key {
	const uint64_t *words;
	uint32_t nr_words;
	uint32_t nr_extra;
	uint64_t hash;
	const uint64_t *extra; /* what an entry that is made begins with behind its sums */
};
/*
 * The entry of a key, made when there is none; NULL, with a drop counted, when all are taken. Any
 * context.
 */
struct hist_entry *hist_map_add(struct hist_map *map, const struct hist_key *key);

/*
 * The next entry that has a key; *at is 0 at first, and belongs to this function. NULL behind the
 * last.
 */
struct hist_entry *hist_map_next(const struct hist_map *map, size_t *at);

/* Add to word `at` of the entry, a sum. Any context. */
static TRACE_ALWAYS_INLINE void hist_entry_sum(struct hist_entry *entry, uint32_t at,
					       uint64_t value)
{
	atomic_fetch_add_explicit(&entry->words[at], value, memory_order_relaxed);
}

static TRACE_ALWAYS_INLINE void hist_entry_hit(struct hist_entry *entry)
{
	atomic_fetch_add_explicit(&entry->hits, 1, memory_order_relaxed);
}

static inline uint64_t hist_entry_word(const struct hist_entry *entry, uint32_t at)
{
	return atomic_load_explicit(&entry->words[at], memory_order_relaxed);
}

#endif
