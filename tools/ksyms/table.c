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

/* The indexes of symbols, which begin with `first`, in the order of their names, then addresses. */
static uint32_t append_order(struct blob *out, const struct selected *symbols, size_t nr,
			     size_t first, uint64_t base)
{
	struct name_order *order = xcalloc(nr, sizeof(*order));
	uint32_t pos = blob_append(out, NULL, 0, 8);

	for (size_t i = 0; i < nr; i++)
		order[i] = (struct name_order){
			.name = symbols[i].name,
			.offset = (uint32_t)(symbols[i].addr - base),
			.index = (uint32_t)(first + i),
		};
	qsort(order, nr, sizeof(*order), compare_names);
	for (size_t i = 0; i < nr; i++)
		blob_append(out, &order[i].index, sizeof(order[i].index), 1);
	free(order);
	return pos;
}

static void append_place(struct blob *out, const struct selected *symbol, uint64_t base)
{
	const struct symbols_place place = { .offset = (uint32_t)(symbol->addr - base),
					     .size = (uint32_t)symbol->size };

	blob_append(out, &place, sizeof(place), 1);
}

static void append_places(struct blob *out, const struct selection *selection,
			  struct symbols_header *header)
{
	const struct symbols_place nowhere = { .offset = SYMBOLS_NO_OFFSET };

	header->place_pos = blob_append(out, NULL, 0, 8);
	for (size_t i = 0; i < selection->nr; i++) {
		if (i == selection->nr_addressed)
			blob_append(out, &nowhere, sizeof(nowhere), 1);
		append_place(out, &selection->symbols[i], selection->base);
	}
	if (selection->nr == selection->nr_addressed)
		blob_append(out, &nowhere, sizeof(nowhere), 1);
	for (size_t i = 0; i < selection->nr_variables; i++)
		append_place(out, &selection->variables[i],
			     i < selection->nr_constants ? selection->base : selection->data_base);
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
	size_t nr = selection->nr + selection->nr_variables;
	const char **texts = xcalloc(nr, sizeof(*texts));
	struct names names;

	for (size_t i = 0; i < selection->nr; i++)
		texts[i] = selection->symbols[i].name;
	for (size_t i = 0; i < selection->nr_variables; i++)
		texts[selection->nr + i] = selection->variables[i].name;
	names_encode(&names, texts, nr);
	header.nr_symbols = (uint32_t)selection->nr;
	header.nr_addressed = (uint32_t)selection->nr_addressed;
	header.nr_variables = (uint32_t)selection->nr_variables;
	header.nr_constants = (uint32_t)selection->nr_constants;
	blob_append(out, &header, sizeof(header), 8);
	header.token_text_pos = blob_append(out, names.token_text, sizeof(names.token_text), 8);
	append_places(out, selection, &header);
	header.by_name_pos =
		append_order(out, selection->symbols, selection->nr, 0, selection->base);
	header.variable_by_name_pos =
		append_order(out, selection->variables, selection->nr_variables, selection->nr,
			     selection->data_base);
	append_names(out, &names, nr, &header);
	header.total_bytes = blob_append(out, NULL, 0, 8);
	memcpy(out->bytes, &header, sizeof(header));
	names_free(&names);
	free(texts);
}
