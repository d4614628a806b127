/*
 * Section symbols for the relocations of the table; see table.h for why.
 *
 * Context:   host program, one thread.
 * Ownership: section_symbols_free().
 */
#ifndef RECORDMCOUNT_SYMBOLS_H
#define RECORDMCOUNT_SYMBOLS_H

#include "image.h"
#include "sites.h"

struct section_symbols {
	uint32_t *of_section; /* symbol of each section; 0 for none */
	uint32_t first_new;   /* number of the first new symbol: they go before the global ones */
	uint32_t nr_new;
};

/*
 * Find or plan a section symbol for every section with sites. On failure prints the reason and
 * returns -1.
 */
int section_symbols_plan(struct section_symbols *symbols, const struct object *obj,
			 const struct site_list *list);
void section_symbols_free(struct section_symbols *symbols);

/*
 * Add the planned symbols to `image`, which starts with the input's bytes, and renumber what
 * refers to symbols; `sections` are the headers being written. Nothing happens when none is new.
 */
int section_symbols_insert(const struct section_symbols *symbols, const struct object *obj,
			   struct image *image, Elf64_Shdr *sections);

#endif
