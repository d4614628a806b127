/*
 * Tables of scripts: see script.h.
 *
 *   buckets   lock | number of the first entry      as many as entries or more
 *   entries   number of the next | key | value
 *
 * Each bucket has a lock, held for a few instructions. A script runs on a CPU once at a time, so a lock
 * is never waited for by the CPU that holds it; a thread takes it while the script pauses on its CPU.
 * Entries that were given back are in a list. A table without keys has one entry; counts without keys are
 * numbers of each CPU.
 *
 * Context: probe, where script.h does not say thread.
 */
#include <trace/platform.h>
#include "script.h"
#include "text/str.h"

#define WORD	       sizeof(uint64_t)
#define SCRIPT_MAP_MAX (4u << 20) /* bytes of a table */

/* Words of a value. */
static uint32_t script_map_value_words(const struct script_type *type)
{
	switch (type->kind) {
	case SCRIPT_AVG:
	case SCRIPT_MIN:
	case SCRIPT_MAX:
	case SCRIPT_STATS:
		return 2;
	case SCRIPT_HIST:
		return SCRIPT_LOG2_SLOTS;
	case SCRIPT_LHIST:
		return (uint32_t)((type->max - type->min) / type->step) + 2;
	default:
		return (uint32_t)((type->bytes + WORD - 1) / WORD);
	}
}

static size_t script_map_bytes(const struct script_map *map)
{
	return ((size_t)map->nr_entries + 1) * map->stride;
}

void trace_script_map_shape(struct script_map *map)
{
	map->key_words = (uint32_t)(map->key.bytes / WORD);
	map->value_words = script_map_value_words(&map->value);
	map->stride = (uint32_t)(sizeof(struct script_entry) +
				 WORD * (map->key_words + map->value_words));
	map->nr_buckets = map->key_words ? SCRIPT_KEYS_MAX : 1;
	map->nr_entries = map->nr_buckets;
	if (map->nr_entries > SCRIPT_MAP_MAX / map->stride)
		map->nr_entries = SCRIPT_MAP_MAX / map->stride;
	map->ends_at_zero = map->key.kind == SCRIPT_KSTACK || map->key.kind == SCRIPT_USTACK;
}

int trace_script_map_init(struct script_map *map)
{
	map->buckets = trace_plat_alloc(map->nr_buckets * sizeof(*map->buckets));
	map->memory = trace_plat_alloc(script_map_bytes(map));
	if (!map->buckets || !map->memory) {
		trace_script_map_destroy(map);
		return -ENOMEM;
	}
	return 0;
}

void trace_script_map_destroy(struct script_map *map)
{
	if (map->buckets)
		trace_plat_free(map->buckets, map->nr_buckets * sizeof(*map->buckets));
	if (map->memory)
		trace_plat_free(map->memory, script_map_bytes(map));
	map->buckets = NULL;
	map->memory = NULL;
}

/* ---- Entries ---- */

static uint32_t script_map_take_free(struct script_map *map)
{
	uint32_t number;

	script_lock(&map->free_lock);
	number = map->free;
	if (number)
		map->free = script_map_entry(map, number)->next;
	else if (map->nr_taken < map->nr_entries)
		number = ++map->nr_taken;
	script_unlock(&map->free_lock);
	return number;
}

static void script_map_give_back(struct script_map *map, uint32_t number)
{
	atomic_fetch_sub_explicit(&map->nr_keys, 1, memory_order_relaxed);
	script_lock(&map->free_lock);
	script_map_entry(map, number)->next = map->free;
	map->free = number;
	script_unlock(&map->free_lock);
}

/* The key, with zeros behind its end. */
static void script_map_put_key(const struct script_map *map, struct script_entry *entry,
			       const uint64_t *key)
{
	uint32_t nr = map->key_words;

	for (uint32_t i = 0; map->ends_at_zero && i < nr; i++) {
		if (!key[i])
			nr = i;
	}
	memcpy(entry->words, key, WORD * nr);
	memset(entry->words + nr, 0, WORD * (map->key_words - nr));
}

/* A new entry in front of the others of the bucket, which is locked. */
static bool script_map_put(struct script_map *map, struct script_bucket *bucket,
			   const uint64_t *key)
{
	uint32_t number = script_map_take_free(map);
	struct script_entry *entry;

	if (!number)
		return false;
	entry = script_map_entry(map, number);
	script_map_put_key(map, entry, key);
	memset(script_entry_value(map, entry), 0, WORD * map->value_words);
	entry->next = bucket->first;
	bucket->first = number;
	atomic_fetch_add_explicit(&map->nr_keys, 1, memory_order_relaxed);
	return true;
}

static bool script_map_is_there(const struct script_map *map, const struct script_bucket *bucket,
				const uint64_t *key)
{
	for (uint32_t number = bucket->first; number;) {
		const struct script_entry *entry = script_map_entry(map, number);

		if (script_map_has_key(map, entry, key))
			return true;
		number = entry->next;
	}
	return false;
}

bool trace_script_map_make(struct script_map *map, const uint64_t *key)
{
	struct script_bucket *bucket = script_map_bucket(map, script_map_hash(map, key));
	bool is_there;

	script_lock(&bucket->lock);
	is_there = script_map_is_there(map, bucket, key) || script_map_put(map, bucket, key);
	script_unlock(&bucket->lock);
	if (!is_there)
		map->script->cpus[trace_plat_cpu_id()].full++;
	return is_there;
}

bool trace_script_map_delete(struct script_map *map, const uint64_t *key)
{
	struct script_bucket *bucket = script_map_bucket(map, script_map_hash(map, key));
	uint32_t number;
	uint32_t *at = &bucket->first;

	script_lock(&bucket->lock);
	while ((number = *at)) {
		struct script_entry *entry = script_map_entry(map, number);

		if (script_map_has_key(map, entry, key)) {
			*at = entry->next;
			script_map_give_back(map, number);
			break;
		}
		at = &entry->next;
	}
	script_unlock(&bucket->lock);
	return number;
}

/* ---- One after the other ---- */

/*
 * The key tells the bucket in whose list the entry is. It is read without the lock at first: of an entry that is being given
 * back or made, the list does not have the number then.
 */
static bool script_map_copy_entry(struct script_map *map, uint32_t number, uint64_t *key,
				  size_t bytes)
{
	struct script_entry *entry = script_map_entry(map, number);
	struct script_bucket *bucket;
	uint32_t at;

	memcpy(key, entry->words, WORD * map->key_words);
	bucket = script_map_bucket(map, script_map_hash(map, key));
	script_lock(&bucket->lock);
	for (at = bucket->first; at && at != number;)
		at = script_map_entry(map, at)->next;
	if (at) {
		memcpy(key, entry->words, WORD * map->key_words);
		memcpy(key + map->key_words, script_entry_value(map, entry), bytes);
	}
	script_unlock(&bucket->lock);
	return at;
}

uint32_t trace_script_map_next(struct script_map *map, uint32_t place, uint32_t *left,
			       uint64_t *key, size_t bytes)
{
	uint32_t nr;

	script_lock(&map->free_lock);
	nr = map->nr_taken;
	script_unlock(&map->free_lock);
	for (; place < nr && *left; --*left) {
		if (script_map_copy_entry(map, ++place, key, bytes))
			return place;
	}
	return 0;
}

/* ---- Counters ---- */

static uint64_t script_map_sum(const struct script_map *map)
{
	const struct trace_script *script = map->script;
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < script->nr_cpus; cpu++)
		sum += script->cpus[cpu].counters[map->counter];
	return sum;
}

uint64_t trace_script_counter_get(struct script_map *map)
{
	return script_map_sum(map) - atomic_load_explicit(&map->cleared, memory_order_relaxed);
}

void trace_script_counter_clear(struct script_map *map)
{
	atomic_store_explicit(&map->cleared, script_map_sum(map), memory_order_relaxed);
}

/* Make the only entry of a counter's table. */
static void script_map_copy_counter(struct script_map *map, uint8_t *memory)
{
	*script_entry_value(map, (struct script_entry *)(void *)memory) =
		trace_script_counter_get(map);
}

/* ---- All entries: thread ---- */

/* A look without the lock: keys of hits that came before this call are seen. */
static bool script_map_is_empty(struct script_bucket *bucket)
{
	return !atomic_load_explicit((_Atomic uint32_t *)&bucket->first, memory_order_relaxed);
}

void trace_script_map_clear(struct script_map *map, bool keeps)
{
	if (map->is_counter)
		trace_script_counter_clear(map);
	for (uint32_t i = 0; i < map->nr_buckets; i++) {
		struct script_bucket *bucket = &map->buckets[i];
		uint32_t number, next;
		uint64_t flags;

		if (script_map_is_empty(bucket))
			continue;
		flags = trace_script_pause(map->script);
		script_lock(&bucket->lock);
		for (number = bucket->first; number; number = next) {
			struct script_entry *entry = script_map_entry(map, number);

			next = entry->next;
			if (keeps)
				memset(script_entry_value(map, entry), 0, WORD * map->value_words);
			else
				script_map_give_back(map, number);
		}
		if (!keeps)
			bucket->first = 0;
		script_unlock(&bucket->lock);
		trace_script_resume(map->script, flags);
	}
}

/* Copy the entries of a bucket behind the `nr` copies of others, as many as there is room for. */
static uint32_t script_map_copy_bucket(struct script_map *map, struct script_bucket *bucket,
				       uint8_t *memory, uint32_t nr, uint32_t room)
{
	uint64_t flags = trace_script_pause(map->script);

	script_lock(&bucket->lock);
	for (uint32_t number = bucket->first; number; nr++) {
		const struct script_entry *entry = script_map_entry(map, number);

		if (nr < room)
			memcpy(memory + (size_t)nr * map->stride, entry, map->stride);
		number = entry->next;
	}
	script_unlock(&bucket->lock);
	trace_script_resume(map->script, flags);
	return nr;
}

uint32_t trace_script_map_copy(struct script_map *map, uint8_t *memory, uint32_t room)
{
	uint32_t nr = 0;

	if (map->is_counter) {
		script_map_copy_counter(map, memory);
		return 1;
	}
	for (uint32_t i = 0; i < map->nr_buckets; i++) {
		struct script_bucket *bucket = &map->buckets[i];

		if (!script_map_is_empty(bucket))
			nr = script_map_copy_bucket(map, bucket, memory, nr, room);
	}
	return nr;
}
