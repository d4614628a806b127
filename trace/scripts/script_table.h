/*
 * Types of values of scripts, and their tables: see script.h.
 *
 * Context:   thread, where nothing else is said.
 * Ownership: a table belongs to its script.
 */
#ifndef TRACE_SCRIPT_TABLE_H
#define TRACE_SCRIPT_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/script.h>
#include "expr/expr_cursor.h"

#define SCRIPT_TEXT_BYTES  64u	/* of a text value, its NUL included */
#define SCRIPT_BUF_BYTES   64u	/* of buf(), its length not counted */
#define SCRIPT_JOIN_BYTES  248u /* of join(), its NUL included */
#define SCRIPT_JOIN_TEXTS  16u
#define SCRIPT_STACK_DEPTH 32u	 /* addresses of a stack, a 0 behind */
#define SCRIPT_KEYS_MAX	   4096u /* of a table */
#define SCRIPT_LOG2_SLOTS  66u	 /* of hist(): below 0, 0, and one for each power of 2 */
#define SCRIPT_LINEAR_MAX  1000u

/* ---- Types ---- */

enum script_kind {
	SCRIPT_NONE, /* no value */
	SCRIPT_INT,
	SCRIPT_TEXT,
	SCRIPT_KSTACK,
	SCRIPT_USTACK,
	SCRIPT_KSYM,
	SCRIPT_USYM,
	SCRIPT_POINTER, /* to a type of BTF */
	SCRIPT_STRUCT,	/* its address */
	SCRIPT_TUPLE,
	SCRIPT_DATE, /* nanoseconds, printed by a format */
	SCRIPT_BUF,  /* a length, and so many bytes behind it */
	/* Of tables alone: */
	SCRIPT_COUNT,
	SCRIPT_SUM,
	SCRIPT_AVG,
	SCRIPT_MIN,
	SCRIPT_MAX,
	SCRIPT_STATS,
	SCRIPT_HIST,
	SCRIPT_LHIST,
};

struct script_date {
	trace_script_date_fn *write;
	const char *format;
};

struct script_type {
	enum script_kind kind;
	bool is_signed; /* SCRIPT_INT */
	bool is_user;	/* an address of the program's memory */
	uint32_t bytes; /* in a run's block */
	uint32_t id;	/* BTF: of the struct, or of the target of a pointer */
	uint32_t nr;	/* SCRIPT_TUPLE: parts */
	const struct script_type *parts;
	const struct script_date *date; /* SCRIPT_DATE */
	int64_t min, max, step;		/* SCRIPT_LHIST */
};

/* ---- Tables ---- */

struct script_bucket {
	_Atomic uint32_t lock;
	uint32_t first; /* number of an entry; 0: none */
};

struct script_entry {
	uint32_t next;	  /* number of the next one of its bucket */
	uint64_t words[]; /* key, then value */
};

/* See script_map.c. */
struct script_map {
	struct expr_word name;	/* with its @ */
	struct script_type key; /* SCRIPT_NONE: no key; several keys are a tuple */
	struct script_type value;
	/*
	 * Counts without a key: each CPU adds to counters[counter] of its own, and the table's only entry,
	 * always there, is made of their sum when it is looked at, less that when the table was cleared.
	 */
	bool is_counter;
	uint32_t counter;
	_Atomic uint64_t cleared; /* the sum */
	bool ends_at_zero; /* a key is a stack, which has a 0: words behind that do not count */
	bool has_sign;	   /* value.is_signed is that of the first number whose type is known */
	uint32_t key_words, value_words;
	uint32_t stride, nr_entries;
	struct script_bucket *buckets;
	uint32_t nr_buckets; /* a power of 2 */
	uint8_t *memory;
	_Atomic uint32_t free_lock;
	uint32_t free;	   /* number of an entry that was given back; 0: none */
	uint32_t nr_taken; /* entries ever taken, from number 1 on */
	_Atomic uint32_t nr_keys;
	struct trace_script *script;
	struct script_map *next;
};

/* ---- script_map.c ---- */

/* Sizes of a table, whose types of keys and values are known. */
void trace_script_map_shape(struct script_map *map);
/* Memory for its keys and values. 0 or -ENOMEM. */
int trace_script_map_init(struct script_map *map);
void trace_script_map_destroy(struct script_map *map);
bool trace_script_map_delete(struct script_map *map, const uint64_t *key);
/* Forget all keys; or, with `keeps`, set all values to 0. Thread. */
void trace_script_map_clear(struct script_map *map, bool keeps);
/* A counter: what it has counted; and it begins anew, in any context. */
uint64_t trace_script_counter_get(struct script_map *map);
void trace_script_counter_clear(struct script_map *map);
/*
 * Copy entries, of map->stride bytes each, as many as there is `room` for, 1 or more. Returns how many
 * there are; more than `room`: some were left out. Thread.
 */
uint32_t trace_script_map_copy(struct script_map *map, uint8_t *memory, uint32_t room);
/* Entries that a copy needs room for, if no key is made meanwhile; at least 1. */
static inline uint32_t script_map_nr(const struct script_map *map)
{
	uint32_t nr = atomic_load_explicit(&map->nr_keys, memory_order_relaxed);

	return nr ? nr : 1;
}
/* Make the entry of a key, unless it is there. False: there is no room, which is counted. Probe context. */
bool trace_script_map_make(struct script_map *map, const uint64_t *key);

/*
 * Copy the entry of the next number behind `place` that is in use: its key to `key`, and behind it `bytes` of its value. Each
 * number that is not takes 1 of *left. Returns the number; 0: there is none, or nothing is left. Probe context.
 */
uint32_t trace_script_map_next(struct script_map *map, uint32_t place, uint32_t *left,
			       uint64_t *key, size_t bytes);

static inline uint64_t *script_entry_value(const struct script_map *map, struct script_entry *entry)
{
	return &entry->words[map->key_words];
}

static inline struct script_entry *script_map_entry(const struct script_map *map, uint32_t number)
{
	return (struct script_entry *)(void *)(map->memory + (size_t)number * map->stride);
}

static inline void script_lock(_Atomic uint32_t *lock)
{
	while (atomic_exchange_explicit(lock, 1, memory_order_acquire))
		;
}

static inline void script_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

#define SCRIPT_HASH_FACTOR 0x9e3779b97f4a7c15ull

static inline uint64_t script_hash_add(uint64_t hash, uint64_t word)
{
	return ((hash << 23 | hash >> 41) ^ word) * SCRIPT_HASH_FACTOR;
}

static TRACE_ALWAYS_INLINE uint32_t script_map_hash(const struct script_map *map,
						    const uint64_t *key)
{
	uint64_t hash = 0;

	if (TRACE_LIKELY(map->key_words == 1))
		return (uint32_t)(key[0] * SCRIPT_HASH_FACTOR >> 32);
	if (map->ends_at_zero) {
		for (; *key; key++)
			hash = script_hash_add(hash, *key);
	} else {
		for (uint32_t i = 0; i < map->key_words; i++)
			hash = script_hash_add(hash, key[i]);
	}
	return (uint32_t)(hash >> 32);
}

static inline struct script_bucket *script_map_bucket(const struct script_map *map, uint32_t hash)
{
	return &map->buckets[hash & (map->nr_buckets - 1)];
}

static TRACE_ALWAYS_INLINE bool script_map_has_key(const struct script_map *map,
						   const struct script_entry *entry,
						   const uint64_t *key)
{
	const uint64_t *words = entry->words;

	if (TRACE_LIKELY(map->key_words == 1))
		return words[0] == key[0];
	if (map->ends_at_zero) {
		while (*key && *words == *key) {
			words++;
			key++;
		}
		return *words == *key;
	}
	for (uint32_t i = 0; i < map->key_words; i++) {
		if (words[i] != key[i])
			return false;
	}
	return true;
}

/*
 * The entry of a key, whose bucket is locked; NULL, with nothing locked: there is none. Probe context,
 * preemption off, as all with an entry.
 */
static TRACE_ALWAYS_INLINE struct script_entry *
script_map_find(struct script_map *map, const uint64_t *key, struct script_bucket **out_bucket)
{
	struct script_bucket *bucket = script_map_bucket(map, script_map_hash(map, key));

	*out_bucket = bucket;
	script_lock(&bucket->lock);
	for (uint32_t number = bucket->first; number;) {
		struct script_entry *entry = script_map_entry(map, number);

		if (TRACE_LIKELY(script_map_has_key(map, entry, key)))
			return entry;
		number = entry->next;
	}
	script_unlock(&bucket->lock);
	return NULL;
}

/* A table that is being printed, line by line, from a copy. */
struct script_print {
	struct script_map *map; /* NULL: none */
	uint8_t *memory;
	struct script_entry **sorted;
	uint32_t room; /* entries that there is memory for */
	uint32_t nr, at, line;
	uint32_t divisor; /* of values that are numbers, counts and sums; 0 or 1: none */
};

/* ---- script_print.c ---- */

/* A value of that type at `at`. */
void trace_script_print_value(struct trace_seq *seq, const struct script_type *type,
			      const void *at);
/* Begin to print a table as it is now: its `top` largest values, or all with 0. 0 or -ENOMEM. */
int trace_script_print_begin(struct script_print *print, struct script_map *map, uint32_t top);
/*
 * Write the next line. False: it is all printed, and the memory is freed. Empty lines are where bpftrace 0.17
 * has them: behind each histogram, behind averages, and for a table without entries.
 */
bool trace_script_print_line(struct script_print *print, struct trace_seq *seq);
void trace_script_print_end(struct script_print *print);

#endif
