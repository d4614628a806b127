/* See table.h. */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kernel/symbols_format.h>

#include "names.h"

/* All texts of the table: the pool first, then the name of each entry. */
struct texts {
	const char **list;
	size_t nr;
	size_t nr_pool;
};

enum whynot_reason table_reason(const struct record *record)
{
	if (record->has_site)
		return WHYNOT_TRACEABLE;
	if (record->renamed)
		return WHYNOT_RENAMED;
	if (record->is_cold_part)
		return WHYNOT_COLD_PART;
	if (record->is_compiled)
		return record->is_file_traced ? WHYNOT_NOTRACE_FUNC : WHYNOT_NOTRACE_FILE;
	if (record->is_assembly)
		return WHYNOT_ASSEMBLY;
	return record->nr_inlined ? WHYNOT_INLINED : WHYNOT_DISCARDED;
}

/* Has it an entry? A function that can be traced and was never inlined needs none. */
static bool is_listed(const struct record *record)
{
	return table_reason(record) != WHYNOT_TRACEABLE || record->nr_inlined;
}

static int compare_texts(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

static void add_text(struct texts *texts, const char *text)
{
	if (text)
		texts->list[texts->nr++] = text;
}

static struct texts collect_texts(const struct records *records)
{
	struct texts texts = { 0 };

	texts.list = xcalloc(records->nr * (3 + 2 * WHYNOT_MAX_CALLS), sizeof(*texts.list));
	for (size_t i = 0; i < records->nr; i++) {
		const struct record *r = records->list[i];

		if (!is_listed(r))
			continue;
		add_text(&texts, r->file);
		add_text(&texts, r->renamed);
		for (size_t k = 0; k < WHYNOT_MAX_CALLS; k++) {
			add_text(&texts, r->calls[k].caller);
			add_text(&texts, r->calls[k].file);
		}
	}
	qsort(texts.list, texts.nr, sizeof(*texts.list), compare_texts);
	for (size_t i = 0; i < texts.nr; i++)
		if (texts.nr_pool == 0 || strcmp(texts.list[texts.nr_pool - 1], texts.list[i]) != 0)
			texts.list[texts.nr_pool++] = texts.list[i];
	texts.nr = texts.nr_pool;
	for (size_t i = 0; i < records->nr; i++)
		if (is_listed(records->list[i]))
			add_text(&texts, records->list[i]->name);
	return texts;
}

/* Number of a string in the pool, from 1; 0 for none. */
static uint32_t string_number(const struct texts *texts, const char *text)
{
	const char **found;

	if (!text)
		return 0;
	found = bsearch(&text, texts->list, texts->nr_pool, sizeof(*texts->list), compare_texts);
	return found ? (uint32_t)(found - texts->list) + 1 : 0;
}

static void put_number(struct blob *out, uint32_t value)
{
	uint8_t byte;

	for (; value >= 0x80; value >>= 7) {
		byte = (uint8_t)(value | 0x80);
		blob_append(out, &byte, 1, 1);
	}
	byte = (uint8_t)value;
	blob_append(out, &byte, 1, 1);
}

static uint32_t put_text(struct blob *out, const struct names *names, size_t index)
{
	const uint8_t *code = names->codes + names->pos[index];

	return blob_append(out, code, 1u + code[0], 1);
}

static void put_calls(struct blob *out, const struct texts *texts, const struct record *record)
{
	put_number(out, record->nr_inlined);
	for (size_t k = 0; k < WHYNOT_MAX_CALLS; k++) {
		const struct call *call = &record->calls[k];

		if (!call->caller)
			break;
		put_number(out, string_number(texts, call->caller));
		put_number(out, string_number(texts, call->file));
		put_number(out, call->line);
	}
	if (record->nr_inlined && !record->calls[WHYNOT_MAX_CALLS - 1].caller)
		put_number(out, 0);
}

static uint32_t put_entry(struct blob *out, const struct texts *texts, const struct names *names,
			  const struct record *record, size_t name)
{
	uint8_t reason = (uint8_t)table_reason(record);
	uint32_t pos = put_text(out, names, name);

	blob_append(out, &reason, 1, 1);
	put_number(out, string_number(texts, record->file));
	put_number(out, record->line);
	if (reason == WHYNOT_RENAMED)
		put_number(out, string_number(texts, record->renamed));
	put_calls(out, texts, record);
	return pos;
}

static void put_entries(struct blob *out, const struct records *records, const struct texts *texts,
			const struct names *names, uint32_t *positions)
{
	size_t nr = 0;

	for (size_t i = 0; i < records->nr; i++) {
		const struct record *record = records->list[i];

		if (is_listed(record)) {
			positions[nr] = put_entry(out, texts, names, record, texts->nr_pool + nr);
			nr++;
		}
	}
}

/* The kernel expands each text into a buffer of KSYM_NAME_LEN bytes. */
static int check_lengths(const struct texts *texts)
{
	for (size_t i = 0; i < texts->nr; i++) {
		if (strlen(texts->list[i]) <= SYMBOLS_NAME_MAX)
			continue;
		fprintf(stderr, "whynot: name or path longer than %d characters: %s\n",
			SYMBOLS_NAME_MAX, texts->list[i]);
		return -1;
	}
	return 0;
}

static void fill_table(struct blob *out, const struct records *records, const struct texts *texts)
{
	struct whynot_header header = { .magic = WHYNOT_MAGIC };
	size_t nr_entries = texts->nr - texts->nr_pool;
	uint32_t *entries = xcalloc(nr_entries, sizeof(*entries));
	uint32_t *strings = xcalloc(texts->nr_pool, sizeof(*strings));
	struct names names;

	names_encode(&names, texts->list, texts->nr);
	header.nr_entries = (uint32_t)nr_entries;
	header.nr_strings = (uint32_t)texts->nr_pool;
	blob_append(out, &header, sizeof(header), 8);
	header.token_text_pos = blob_append(out, names.token_text, sizeof(names.token_text), 8);
	header.entry_pos = blob_append(out, entries, nr_entries * sizeof(*entries), 8);
	header.string_pos = blob_append(out, strings, texts->nr_pool * sizeof(*strings), 8);
	header.token_len_pos = blob_append(out, names.token_len, sizeof(names.token_len), 8);
	put_entries(out, records, texts, &names, entries);
	for (size_t i = 0; i < texts->nr_pool; i++)
		strings[i] = put_text(out, &names, i);
	header.total_bytes = blob_append(out, NULL, 0, 8);
	memcpy(out->bytes, &header, sizeof(header));
	memcpy(out->bytes + header.entry_pos, entries, nr_entries * sizeof(*entries));
	memcpy(out->bytes + header.string_pos, strings, texts->nr_pool * sizeof(*strings));
	names_free(&names);
	free(entries);
	free(strings);
}

int table_make(struct blob *out, const struct records *records)
{
	struct texts texts = collect_texts(records);
	int err = check_lengths(&texts);

	if (!err)
		fill_table(out, records, &texts);
	free(texts.list);
	return err;
}
