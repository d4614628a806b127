/* See <kernel/symbols.h>; the layout of the table is in <kernel/symbols_format.h>. */
#include <kernel/symbols.h>

#include "symbols_expand.h"

extern const uint8_t data_start[]; /* by the linker; <arch/sections.h> */

static const void *at(uint32_t pos)
{
	return (const uint8_t *)&symbols_blob + pos;
}

/* The place of symbol `index`. Behind the addressed ones the array has an entry for no symbol. */
static const struct symbols_place *place_of(uint32_t index)
{
	const struct symbols_place *places = at(symbols_blob.place_pos);

	return &places[index + (index >= symbols_blob.nr_addressed)];
}

static inline size_t expand(const uint8_t *tokens, char *out_name)
{
	return symbols_expand(tokens, at(symbols_blob.token_text_pos),
			      at(symbols_blob.token_len_pos), out_name);
}

static const uint8_t *tokens_of(uint32_t index)
{
	const uint32_t *mark = at(symbols_blob.mark_pos);
	const uint8_t *tokens = at(symbols_blob.names_pos + mark[index / SYMBOLS_MARK]);

	for (uint32_t i = index / SYMBOLS_MARK * SYMBOLS_MARK; i < index; i++)
		tokens = symbols_skip(tokens);
	return tokens;
}

/* Offset of `addr` from the table's base; SYMBOLS_NO_OFFSET when that does not fit. */
static uint32_t to_offset(uintptr_t addr)
{
	uintptr_t offset = addr - symbols_blob.base;

	return offset < SYMBOLS_NO_OFFSET ? (uint32_t)offset : SYMBOLS_NO_OFFSET;
}

/* Last addressed symbol at or below `offset`; nr_addressed when there is none. */
static uint32_t search_offset(uint32_t offset)
{
	uint32_t low = 0, high = symbols_blob.nr_addressed;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (place_of(middle)->offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : symbols_blob.nr_addressed;
}

bool symbols_lookup(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	uint32_t offset = to_offset(addr);
	uint32_t index = search_offset(offset);
	const struct symbols_place *place = place_of(index);

	if (index == symbols_blob.nr_addressed || offset - place->offset >= place->size)
		return false;
	expand(tokens_of(index), out_name);
	if (out_start)
		*out_start = symbols_blob.base + place->offset;
	if (out_size)
		*out_size = place->size;
	return true;
}

static int compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (uint8_t)*a - (uint8_t)*b;
}

/*
 * The position of the first symbol of that name in an order of names, or the one where it would be.
 */
static uint32_t search_name(const uint32_t *by_name, uint32_t nr, const char *name)
{
	uint32_t low = 0, high = nr;
	char text[KSYM_NAME_LEN];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		expand(tokens_of(by_name[middle]), text);
		if (compare(text, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_named(uint32_t index, const char *name)
{
	char text[KSYM_NAME_LEN];

	expand(tokens_of(index), text);
	return compare(text, name) == 0;
}

/*
 * The number of symbols of an order of `nr_all` names that have that name; *out_first: the first.
 */
static uint32_t count_named(const uint32_t *by_name, uint32_t nr_all, const char *name,
			    uint32_t *out_first)
{
	uint32_t found = search_name(by_name, nr_all, name), nr = 0;

	while (found + nr < nr_all && is_named(by_name[found + nr], name))
		nr++;
	*out_first = found;
	return nr;
}

size_t symbols_find_all(const char *name, uintptr_t *out_addrs, size_t max)
{
	const uint32_t *by_name = at(symbols_blob.by_name_pos);
	uint32_t first, nr = count_named(by_name, symbols_blob.nr_symbols, name, &first);

	for (uint32_t i = 0; i < nr && i < max; i++)
		out_addrs[i] = symbols_blob.base + place_of(by_name[first + i])->offset;
	return nr;
}

uintptr_t symbols_find(const char *name)
{
	uintptr_t addr;

	return symbols_find_all(name, &addr, 1) ? addr : 0;
}

/* ---- Variables ---- */

static void place_variable(uint32_t index, struct symbols_variable *out)
{
	const struct symbols_place *place = place_of(index);
	bool is_constant = index - symbols_blob.nr_symbols < symbols_blob.nr_constants;
	uintptr_t base = is_constant ? symbols_blob.base : (uintptr_t)data_start;

	*out = (struct symbols_variable){ base + place->offset, place->size, is_constant };
}

size_t symbols_get_variable(uint32_t index, char *out_name, struct symbols_variable *out)
{
	if (index >= symbols_blob.nr_variables)
		return 0;
	place_variable(symbols_blob.nr_symbols + index, out);
	return expand(tokens_of(symbols_blob.nr_symbols + index), out_name);
}

uint32_t symbols_find_variable(const char *name, struct symbols_variable *out)
{
	const uint32_t *by_name = at(symbols_blob.variable_by_name_pos);
	uint32_t first, nr = count_named(by_name, symbols_blob.nr_variables, name, &first);

	if (nr)
		place_variable(by_name[first], out);
	return nr;
}

bool symbols_variable_at(uintptr_t addr, char *out_name, struct symbols_variable *out)
{
	uint32_t first = symbols_blob.nr_symbols, low = 0, high = symbols_blob.nr_variables;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		place_variable(first + middle, out);
		if (out->addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	place_variable(first + low - 1, out);
	if (addr - out->addr >= out->bytes)
		return false;
	expand(tokens_of(first + low - 1), out_name);
	return true;
}

size_t symbols_next_at(struct symbols_cursor *cursor, uintptr_t addr, char *out_name)
{
	const struct symbols_place *place = cursor->place;
	const uint8_t *tokens = cursor->name;
	uint32_t offset = to_offset(addr);

	if (!place) {
		if (symbols_blob.nr_addressed == 0)
			return 0;
		place = at(symbols_blob.place_pos);
		tokens = at(symbols_blob.names_pos);
	}
	if (offset == SYMBOLS_NO_OFFSET)
		return 0;
	for (; place[1].offset <= offset; place++) /* ends before SYMBOLS_NO_OFFSET at the latest */
		tokens = symbols_skip(tokens);
	cursor->place = place;
	cursor->name = tokens;
	/* Unsigned: an address below the cursor's symbol fails as well. */
	if (offset - place->offset >= place->size)
		return 0;
	return expand(tokens, out_name);
}

uint32_t symbols_count(void)
{
	return symbols_blob.nr_symbols;
}

size_t symbols_get(uint32_t index, char *out_name, uintptr_t *out_addr)
{
	*out_addr = symbols_blob.base + place_of(index)->offset;
	return expand(tokens_of(index), out_name);
}
