/* See records.h. */
#include "records.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	return hash;
}

static uint32_t *find_slot(const struct records *records, const char *name)
{
	size_t i = hash_name(name) & (records->nr_slots - 1);

	while (records->slots[i] && strcmp(records->list[records->slots[i] - 1]->name, name) != 0)
		i = (i + 1) & (records->nr_slots - 1);
	return &records->slots[i];
}

static void grow(struct records *records)
{
	records->capacity = records->capacity ? records->capacity * 2 : 1024;
	records->list = xrealloc(records->list, records->capacity * sizeof(*records->list));
	records->nr_slots = records->capacity * 2;
	free(records->slots);
	records->slots = xcalloc(records->nr_slots, sizeof(*records->slots));
	for (size_t i = 0; i < records->nr; i++)
		*find_slot(records, records->list[i]->name) = (uint32_t)i + 1;
}

const char *records_string(struct records *records, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = xcalloc(size, 1);

	memcpy(copy, text, size);
	records->strings = xgrow(records->strings, records->nr_strings, sizeof(*records->strings));
	records->strings[records->nr_strings++] = copy;
	return copy;
}

const char *records_path(struct records *records, const char *path)
{
	char cwd[4096];
	size_t len;

	if (!path)
		return NULL;
	len = getcwd(cwd, sizeof(cwd)) ? strlen(cwd) : 0;
	if (len && strncmp(path, cwd, len) == 0 && path[len] == '/')
		path += len + 1;
	for (const char *twice; (twice = strstr(path, "//")) != NULL;)
		path = twice +
		       2; /* nasm puts the folder in front, even if the path has it already */
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	return records_string(records, path);
}

struct record *records_get(struct records *records, const char *name)
{
	uint32_t *slot;

	if (records->nr == records->capacity)
		grow(records);
	slot = find_slot(records, name);
	if (*slot == 0) {
		struct record *record = xcalloc(1, sizeof(*record));

		record->name = records_string(records, name);
		records->list[records->nr++] = record;
		*slot = (uint32_t)records->nr;
	}
	return records->list[*slot - 1];
}

/* Is `a` more useful to a reader than `b`? */
static bool is_better(const struct call *a, const struct call *b)
{
	return a->is_caller_traced && !b->is_caller_traced;
}

void record_add_call(struct record *record, const struct call *call)
{
	record->nr_inlined++;
	for (size_t i = 0; i < WHYNOT_MAX_CALLS; i++)
		if (record->calls[i].caller && strcmp(record->calls[i].caller, call->caller) == 0)
			return;
	for (size_t i = 0; i < WHYNOT_MAX_CALLS; i++) {
		if (!record->calls[i].caller || is_better(call, &record->calls[i])) {
			record->calls[i] = *call;
			return;
		}
	}
}

static int compare_records(const void *left, const void *right)
{
	const struct record *const *a = left, *const *b = right;

	return strcmp((*a)->name, (*b)->name);
}

void records_sort(struct records *records)
{
	qsort(records->list, records->nr, sizeof(*records->list), compare_records);
}

void records_free(struct records *records)
{
	for (size_t i = 0; i < records->nr; i++)
		free(records->list[i]);
	for (size_t i = 0; i < records->nr_strings; i++)
		free(records->strings[i]);
	free(records->list);
	free(records->slots);
	free(records->strings);
	memset(records, 0, sizeof(*records));
}
