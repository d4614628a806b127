/* See <kernel/symbols.h>; the layout of the table is in <kernel/symbols_format.h>. */
#include <kernel/symbols.h>

#include "symbols_expand.h"

static const void *at(uint32_t pos)
{
	return (const uint8_t *)&symbols_blob + pos;
}

static const uint32_t *offsets(void)
{
	return at(symbols_blob.offset_pos);
}

static const uint32_t *sizes(void)
{
	return at(symbols_blob.size_pos);
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

/* Offset of `addr` in the table's terms; false for addresses it cannot express. */
static bool to_offset(uintptr_t addr, uint32_t *out_offset)
{
	*out_offset = (uint32_t)(addr - symbols_blob.base);
	return addr - symbols_blob.base <= UINT32_MAX;
}

/* Last addressed symbol at or below `offset`; nr_addressed when there is none. */
static uint32_t search_offset(uint32_t offset)
{
	const uint32_t *offset_of = offsets();
	uint32_t low = 0, high = symbols_blob.nr_addressed;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (offset_of[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : symbols_blob.nr_addressed;
}

bool symbols_lookup(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	uint32_t offset, index;

	if (!to_offset(addr, &offset))
		return false;
	index = search_offset(offset);
	if (index == symbols_blob.nr_addressed || offset - offsets()[index] >= sizes()[index])
		return false;
	expand(tokens_of(index), out_name);
	if (out_start)
		*out_start = symbols_blob.base + offsets()[index];
	if (out_size)
		*out_size = sizes()[index];
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

uintptr_t symbols_find(const char *name)
{
	const uint32_t *by_name = at(symbols_blob.by_name_pos);
	uint32_t low = 0, high = symbols_blob.nr_symbols;
	char text[KSYM_NAME_LEN];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		expand(tokens_of(by_name[middle]), text);
		if (compare(text, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == symbols_blob.nr_symbols)
		return 0;
	expand(tokens_of(by_name[low]), text);
	return compare(text, name) == 0 ? symbols_blob.base + offsets()[by_name[low]] : 0;
}

size_t symbols_next_at(struct symbols_cursor *cursor, uintptr_t addr, char *out_name)
{
	const uint32_t *offset_of = offsets();
	const uint8_t *tokens = cursor->name;
	uint32_t index = cursor->index, last = symbols_blob.nr_addressed, offset;

	if (last == 0 || !to_offset(addr, &offset))
		return 0;
	if (!tokens)
		tokens = at(symbols_blob.names_pos);
	for (last--; index < last && offset_of[index + 1] <= offset; index++)
		tokens = symbols_skip(tokens);
	cursor->index = index;
	cursor->name = tokens;
	/* Unsigned: an address below the cursor's symbol fails as well. */
	if (offset - offset_of[index] >= sizes()[index])
		return 0;
	return expand(tokens, out_name);
}

uint32_t symbols_count(void)
{
	return symbols_blob.nr_symbols;
}

size_t symbols_get(uint32_t index, char *out_name, uintptr_t *out_addr)
{
	*out_addr = symbols_blob.base + offsets()[index];
	return expand(tokens_of(index), out_name);
}
