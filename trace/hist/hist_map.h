/*
 * Counts by key: a table that probes on all CPUs add to at once, without locks. It is what is
 * behind a histogram of events, and fit for anything else that is counted by key.
 *
 *   slots    tag | number ----+     four times as many as entries or more, most of them empty
 *            0                |
 *            tag | number     v
 *   entries  hits | key | sums | extra          all of one size; number 0 is not used
 *
 * The upper bits of a key's hash say in which slot to look first, some others are the tag: nearly
 * always the first slot that is not empty and has the right tag leads to the entry.
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
 * Entries of keys that come one after the other lie in different cache lines, as far as there are
 * lines enough: CPUs that count different keys do not wait for each other's.
 *
 * When all entries are taken, events of new keys are counted as drops. An entry that is about to be
 * given back counts as taken, so the last one may be missed. Nothing is lost without being counted:
 * events = sum of hits + drops.
 *
 * Context:   find, add - any, NMI included. The rest - thread.
 * Locking:   none for find and add. clear: nobody adds; find sees an entry, one of zeros, or none.
 *            destroy: nobody else uses the table. Reading may happen at any time; sums are then
 *            from slightly different moments.
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

#define HIST_MAP_NUMBER_BITS 18u
#define HIST_MAP_NUMBER_MAX  ((1u << HIST_MAP_NUMBER_BITS) - 1)
#define HIST_MAP_LINE	     64u /* bytes of a cache line */

struct hist_map {
	_Atomic uint32_t *slots;
	unsigned char *memory; /* entries */
	uint32_t slot_mask;    /* number of slots - 1 */
	uint32_t slot_shift;   /* a hash, shifted right by this, is the number of a slot */
	uint32_t stride;       /* bytes of an entry */
	_Atomic bool is_full;  /* a key that is not found is a drop */
	struct hist_map_shape shape;
	/* What is written while counting is in lines of its own. */
	char pad_counts[HIST_MAP_LINE];
	/* entries that were ever taken: the first ones, see hist_map_number_of() */
	_Atomic uint32_t nr_taken;
	/* Those of them that were given back: number of the first one, above it a count of changes. */
	_Atomic uint64_t returned;
	char pad_drops[HIST_MAP_LINE];
	_Atomic uint64_t drops;
	char pad_end[HIST_MAP_LINE];
};

/* 0; -EINVAL for no entries, or more than fit; -ENOMEM. Thread. */
int trace_hist_map_init(struct hist_map *map, const struct hist_map_shape *shape);
/* Free its memory. A zeroed one may be destroyed, too. */
void trace_hist_map_destroy(struct hist_map *map);
/* Forget all entries and drops. */
void trace_hist_map_clear(struct hist_map *map);
/* Word `at` of all entries becomes 0. */
void trace_hist_map_clear_word(struct hist_map *map, uint32_t at);

/* How many bytes an entry of this shape takes. */
uint32_t trace_hist_map_entry_bytes(const struct hist_map_shape *shape);

/* Each word of a key changes the hash, which is 0 at first. Its upper bits are the good ones. */
static TRACE_ALWAYS_INLINE uint64_t hist_hash(uint64_t hash, uint64_t word)
{
	return ((hash << 23 | hash >> 41) ^ word) * 0x9e3779b97f4a7c15u;
}

/* The tag of a hash, where a slot has it. The bits are not those that number slots. */
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

/* The entry of a key, or NULL. Any context. */
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
	const uint64_t *extra; /* what an entry that is made begins with behind its sums */
};
/*
 * For a key that was not found: is it known that the table is full? Then a drop is counted. Any
 * context.
 */
static TRACE_ALWAYS_INLINE bool hist_map_drops(struct hist_map *map)
{
	if (!atomic_load_explicit(&map->is_full, memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(&map->drops, 1, memory_order_relaxed);
	return true;
}

/*
 * Make the entry of a key that was not found. Somebody else may have done that meanwhile: then it
 * is that one. NULL, with a drop counted, when all are taken. Any context.
 */
struct hist_entry *trace_hist_map_add(struct hist_map *map, const struct hist_key *key);

/* The hits of all entries: events that were counted. */
uint64_t trace_hist_map_hits(const struct hist_map *map);

/*
 * The next entry that has a key; *at is 0 at first, and belongs to this function. NULL behind the
 * last.
 */
struct hist_entry *trace_hist_map_next(const struct hist_map *map, size_t *at);

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
