/* See table.h. */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include <kernel/symbols_format.h>
#include "names.h"

struct name_order {
	const char *name;
	uint32_t offset;
	uint32_t index;
};

static int compare_names(const void *left, const void *right)
{
	const struct name_order *a = left, *b = right;
	int diff = strcmp(a->name, b->name);

	return diff ? diff : (a->offset > b->offset) - (a->offset < b->offset);
}

static uint32_t append_order(struct blob *out, const struct selection *selection)
{
	struct name_order *order = xcalloc(selection->nr, sizeof(*order));
	uint32_t pos = blob_append(out, NULL, 0, 8);

	for (size_t i = 0; i < selection->nr; i++)
		order[i] = (struct name_order){
			.name = selection->symbols[i].name,
			.offset = (uint32_t)(selection->symbols[i].addr - selection->base),
			.index = (uint32_t)i,
		};
	qsort(order, selection->nr, sizeof(*order), compare_names);
	for (size_t i = 0; i < selection->nr; i++)
		blob_append(out, &order[i].index, sizeof(order[i].index), 1);
	free(order);
	return pos;
}

static void append_places(struct blob *out, const struct selection *selection,
			  struct symbols_header *header)
{
	const struct symbols_place nowhere = { .offset = SYMBOLS_NO_OFFSET };

	header->place_pos = blob_append(out, NULL, 0, 8);
	for (size_t i = 0; i < selection->nr; i++) {
		const struct selected *s = &selection->symbols[i];
		const struct symbols_place place = { .offset =
							     (uint32_t)(s->addr - selection->base),
						     .size = (uint32_t)s->size };

		if (i == selection->nr_addressed)
			blob_append(out, &nowhere, sizeof(nowhere), 1);
		blob_append(out, &place, sizeof(place), 1);
	}
	if (selection->nr == selection->nr_addressed)
		blob_append(out, &nowhere, sizeof(nowhere), 1);
}

static void append_names(struct blob *out, const struct names *names, size_t nr,
			 struct symbols_header *header)
{
	header->mark_pos = blob_append(out, NULL, 0, 8);
	for (size_t i = 0; i < nr; i += SYMBOLS_MARK)
		blob_append(out, &names->pos[i], sizeof(names->pos[i]), 1);
	header->token_len_pos = blob_append(out, names->token_len, sizeof(names->token_len), 8);
	header->names_pos = blob_append(out, names->codes, names->codes_size, 8);
}

void table_make(struct blob *out, const struct selection *selection)
{
	struct symbols_header header = { .magic = SYMBOLS_MAGIC, .base = selection->base };
	const char **texts = xcalloc(selection->nr, sizeof(*texts));
	struct names names;

	for (size_t i = 0; i < selection->nr; i++)
		texts[i] = selection->symbols[i].name;
	names_encode(&names, texts, selection->nr);
	header.nr_symbols = (uint32_t)selection->nr;
	header.nr_addressed = (uint32_t)selection->nr_addressed;
	blob_append(out, &header, sizeof(header), 8);
	header.token_text_pos = blob_append(out, names.token_text, sizeof(names.token_text), 8);
	append_places(out, selection, &header);
	header.by_name_pos = append_order(out, selection);
	append_names(out, &names, selection->nr, &header);
	header.total_bytes = blob_append(out, NULL, 0, 8);
	memcpy(out->bytes, &header, sizeof(header));
	names_free(&names);
	free(texts);
}
