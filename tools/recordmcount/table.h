/*
 * The object with its table: the input's bytes, then what was added or had to grow.
 *
 *   | input | symbols | tables | groups | names | headers |
 *
 * `symbols` is there only if some had to be inserted; then relocations in the input are changed.
 *
 * Each code section with sites gets a __mcount_loc section of its own, 8 bytes per site, filled by
 * R_X86_64_64 relocations against the code's section symbol. The table is linked to the code
 * (SHF_LINK_ORDER) and shares its group, so a linker that drops the code (COMDAT, /DISCARD/,
 * --gc-sections) drops the table with it, and the table never keeps dead code alive.
 *
 * A section symbol is the only safe base: a weak or global symbol may be resolved to another
 * object. Where the compiler left it out one is inserted, which renumbers all global symbols.
 *
 * Context:   host program, one thread.
 * Ownership: the caller frees `out_image`.
 */
#ifndef RECORDMCOUNT_TABLE_H
#define RECORDMCOUNT_TABLE_H

#include "image.h"
#include "sites.h"

/* On failure prints the reason and returns -1; `out_image` is empty then. */
int table_build(const struct object *obj, const struct site_list *list, struct image *out_image);

#endif
