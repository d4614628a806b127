/*
 * Default: symbols from a table of the host. See <trace/defaults.h>.
 */
#include <trace/defaults.h>
#include <trace/platform.h>
#include "text/str.h"

static const struct trace_symbol *table;
static size_t nr_symbols;
static uintptr_t table_end;

void trace_symbols_set(const struct trace_symbol *symbols, size_t nr, uintptr_t end)
{
	table = symbols;
	nr_symbols = nr;
	table_end = end;
}

/*
 * The last symbol at or before `addr`; NULL if there is none, or `addr` is behind the table's end.
 */
static const struct trace_symbol *symbol_of(uintptr_t addr)
{
	size_t low = 0, high = nr_symbols;

	if (addr >= table_end)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &table[low - 1] : NULL;
}

static uintptr_t end_of(const struct trace_symbol *symbol)
{
	return symbol + 1 < table + nr_symbols ? symbol[1].addr : table_end;
}

TRACE_DEFAULT bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start,
				     size_t *out_size)
{
	const struct trace_symbol *symbol = symbol_of(addr);

	if (!symbol)
		return false;
	trace_strcpy(out_name, symbol->name, TRACE_SYM_LEN);
	*out_start = symbol->addr;
	*out_size = end_of(symbol) - symbol->addr;
	return true;
}

TRACE_DEFAULT uintptr_t trace_plat_symbol_find(const char *name)
{
	for (size_t i = 0; i < nr_symbols; i++) {
		if (trace_streq(table[i].name, name))
			return table[i].addr;
	}
	return 0;
}
