/*
 * Counts by key: a table that probes on all CPUs add to at once, without locks. Histograms of
 * events use it; it can count anything else by key.
 *
 *   slots    tag | number ----+     four times as many as entries or more, most of them empty
 *            0                |
 *            tag | number     v
 *   entries  hits | key | sums | extra          all of one size; number 0 is not used
 *
 * The upper bits of a key's hash give the first slot to look in, some others are the tag: nearly
 * always the first slot that is not empty and has the right tag leads to the entry.
 *
 * A key consists of words. It may be shorter than the entry has room for, if no key begins with all
 * of another one: numbers are one word each, texts end with a NUL, lists with a 0.
 *
 * A probe that finds no entry of its key takes a free one, writes the key into it, and only then
 * shows it to others, by one compare-exchange of the empty slot. If another CPU or an NMI has used
 * that slot meanwhile, the probe looks on from there; if the other entry has the same key, the
 * probe uses it and gives its own back. So a key has one entry, no entry is seen half made, and no
 * probe ever waits: an NMI in the middle of an insertion just inserts, too.
 *
 * Entries of keys that come one after the other lie in different cache lines, as far as there are
 * lines enough: CPUs that count different keys do not wait for each other's.
 *
 * When all entries are taken, events of new keys are counted as drops. An entry that is about to be
 * given back counts as taken, so the last one may be missed. Nothing is lost without being counted:
 * events = sum of hits + drops.
 *
 * Context:   find, add - any, NMI included. The rest - thread.
 * Locking:   none for find and add. clear: without adds at that time; find sees an entry, one of
 *            zeros, or none. destroy: without any other user. Reading may happen at any time; sums
 *            are then from slightly different moments.
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
	uint32_t key_words; /* words of the longest key */
	uint32_t sum_words;
	uint32_t extra_words; /* more words for the user, 0 at first */
};

#define HIST_MAP_NUMBER_BITS 18u
#define HIST_MAP_NUMBER_MAX  ((1u << HIST_MAP_NUMBER_BITS) - 1)
#define HIST_MAP_LINE	     64u /* bytes */

struct hist_map {
	_Atomic uint32_t *slots;
	unsigned char *memory; /* entries */
	uint32_t slot_mask;    /* number of slots - 1 */
	uint32_t slot_shift;   /* a hash, shifted right by this, is the number of a slot */
	uint32_t stride;       /* bytes of an entry */
	_Atomic bool is_full;  /* every new key is counted as a drop */
	struct hist_map_shape shape;
	/* Members written while counting have cache lines of their own. */
	char pad_counts[HIST_MAP_LINE];
	/* Entries ever taken, from the first; hist_map_number_of() gives their order. */
	_Atomic uint32_t nr_taken;
	/* Entries given back, as a list: number of the first one, above it a count of changes. */
	_Atomic uint64_t returned;
	char pad_drops[HIST_MAP_LINE];
	_Atomic uint64_t drops;
	char pad_end[HIST_MAP_LINE];
};

/* Make a table. Returns 0; -EINVAL for no entries, or too many; -ENOMEM. Context: thread. */
int trace_hist_map_init(struct hist_map *map, const struct hist_map_shape *shape);
/* Free the memory of a table, which may also be a zeroed one. */
void trace_hist_map_destroy(struct hist_map *map);
/* Forget all entries and drops. */
void trace_hist_map_clear(struct hist_map *map);
/* Set word `at` of all entries to 0. */
void trace_hist_map_clear_word(struct hist_map *map, uint32_t at);

/* Bytes of an entry of this shape. */
uint32_t trace_hist_map_entry_bytes(const struct hist_map_shape *shape);

/*
 * Add a word of a key to the hash, which is 0 at first. The upper bits of the result are the well
 * mixed ones.
 */
static TRACE_ALWAYS_INLINE uint64_t hist_hash(uint64_t hash, uint64_t word)
{
	return ((hash << 23 | hash >> 41) ^ word) * 0x9e3779b97f4a7c15u;
}

/* The tag of a hash, at the tag's place in a slot. Its bits are not those that number slots. */
static TRACE_ALWAYS_INLINE uint32_t hist_map_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 14) & ~HIST_MAP_NUMBER_MAX;
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

/* Find the entry of a key, or NULL. Called in any context. */
static TRACE_ALWAYS_INLINE struct hist_entry *
hist_map_find(const struct hist_map *map, const uint64_t *key, uint32_t nr_words, uint64_t hash)
{
	uint32_t tag = hist_map_tag(hash);

	for (uint64_t at = hash >> map->slot_shift;; at = (at + 1) & map->slot_mask) {
		/* The acquire pairs with the release of hist_map_publish(). */
		uint32_t slot = atomic_load_explicit(&map->slots[at], memory_order_acquire);
		uint32_t number = slot - tag;
		struct hist_entry *entry;

		if (!slot)
			return NULL;
		if (TRACE_UNLIKELY(number > HIST_MAP_NUMBER_MAX))
			continue; /* another tag */
		entry = hist_map_entry(map, number);
		if (!entry)
			__builtin_unreachable();
		if (TRACE_LIKELY(hist_entry_has_key(entry, key, nr_words)))
			return entry;
	}
}

struct hist_key {
	const uint64_t *words;
	uint32_t nr_words;
	uint32_t nr_extra;
	uint64_t hash;
	const uint64_t *extra; /* first content of the extra words of a new entry */
};
/*
 * Is the table known to be full? Then this counts a drop, for a key that was not found. Called in
 * any context.
 */
static TRACE_ALWAYS_INLINE bool hist_map_drops(struct hist_map *map)
{
	if (!atomic_load_explicit(&map->is_full, memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(&map->drops, 1, memory_order_relaxed);
	return true;
}

/*
 * Make the entry of a key that was not found, or find it if another context has made it meanwhile.
 * Returns NULL, with a drop counted, when all entries are taken. Called in any context.
 */
struct hist_entry *trace_hist_map_add(struct hist_map *map, const struct hist_key *key);

/* The number of counted events: the hits of all entries. */
uint64_t trace_hist_map_hits(const struct hist_map *map);

/*
 * The next entry that has a key, or NULL at the end. The caller sets *at to 0 before the first call
 * and leaves it alone.
 */
struct hist_entry *trace_hist_map_next(const struct hist_map *map, size_t *at);

/* Add a value to the sum in word `at` of an entry. Called in any context. */
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
