/* See symbols.h. */
#include "symbols.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SHT_LLVM_ADDRSIG 0x6fff4c03 /* symbol numbers, packed: cannot be renumbered in place */

int section_symbols_plan(struct section_symbols *symbols, const struct object *obj,
			 const struct site_list *list)
{
	memset(symbols, 0, sizeof(*symbols));
	symbols->of_section = calloc(obj->nr_sections, sizeof(*symbols->of_section));
	if (!symbols->of_section)
		return object_error(obj, "out of memory");
	symbols->first_new = obj->sections[obj->symtab].sh_info;
	for (uint32_t i = 1; i < symbols->first_new; i++)
		if (ELF64_ST_TYPE(obj->syms[i].st_info) == STT_SECTION &&
		    obj->syms[i].st_value == 0)
			symbols->of_section[object_symbol_section(obj, i)] = i;
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t *sym = &symbols->of_section[list->sites[i].section];

		if (*sym == 0)
			*sym = symbols->first_new + symbols->nr_new++;
	}
	return 0;
}

void section_symbols_free(struct section_symbols *symbols)
{
	free(symbols->of_section);
	memset(symbols, 0, sizeof(*symbols));
}

static uint64_t renumber(const struct section_symbols *symbols, uint64_t sym)
{
	return sym >= symbols->first_new ? sym + symbols->nr_new : sym;
}

/* REL and RELA entries both start with r_offset, r_info. */
static int renumber_relocations(const struct section_symbols *symbols, const struct object *obj,
				struct image *image, const Elf64_Shdr *sh)
{
	size_t entry = sh->sh_type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);

	if (sh->sh_size % entry != 0)
		return object_error(obj, "relocations with a partial entry");
	for (size_t pos = sh->sh_offset; pos < sh->sh_offset + sh->sh_size; pos += entry) {
		uint8_t *field = image->bytes + pos + offsetof(Elf64_Rel, r_info);
		uint64_t info, sym;

		memcpy(&info, field, sizeof(info));
		sym = ELF64_R_SYM(info);
		if (sym >= obj->nr_syms)
			return object_error(obj, "relocation against missing symbol %" PRIu64, sym);
		info = ELF64_R_INFO(renumber(symbols, sym), ELF64_R_TYPE(info));
		memcpy(field, &info, sizeof(info));
	}
	return 0;
}

static int renumber_section(const struct section_symbols *symbols, const struct object *obj,
			    struct image *image, Elf64_Shdr *sh)
{
	if (sh->sh_link != obj->symtab)
		return 0;
	switch (sh->sh_type) {
	case SHT_NULL:
	case SHT_PROGBITS:
	case SHT_SYMTAB_SHNDX:
		return 0;
	case SHT_REL:
	case SHT_RELA:
		return renumber_relocations(symbols, obj, image, sh);
	case SHT_GROUP:
		sh->sh_info = (uint32_t)renumber(symbols, sh->sh_info);
		return 0;
	case SHT_LLVM_ADDRSIG: /* a hint for merging equal code; without it nothing is merged */
		sh->sh_type = SHT_PROGBITS;
		sh->sh_flags |= SHF_EXCLUDE;
		sh->sh_link = 0;
		return 0;
	default:
		return object_error(obj, "section type 0x%x refers to symbols in an unknown way",
				    sh->sh_type);
	}
}

/* Fill in the new symbols, in the order of their numbers, and their entries for the index table. */
static void make_symbols(const struct section_symbols *symbols, const struct object *obj,
			 Elf64_Sym *syms, uint32_t *xindexes)
{
	for (size_t i = 0; i < obj->nr_sections; i++) {
		uint32_t sym = symbols->of_section[i];

		if (sym < symbols->first_new)
			continue;
		sym -= symbols->first_new;
		syms[sym].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
		syms[sym].st_shndx = i < SHN_LORESERVE ? (Elf64_Section)i : SHN_XINDEX;
		xindexes[sym] = i < SHN_LORESERVE ? 0 : (uint32_t)i;
	}
}

/* A table with one entry of `entry` bytes per symbol; `added` are those of the new symbols. */
struct symbol_table {
	const void *old;
	const void *added;
	size_t entry;
	Elf64_Shdr *header;
};

/* Append a copy of the table with the new entries inserted. */
static void append_table(const struct section_symbols *symbols, const struct symbol_table *table,
			 struct image *image)
{
	size_t split = symbols->first_new * table->entry;
	size_t added = symbols->nr_new * table->entry;
	Elf64_Shdr *sh = table->header;

	sh->sh_offset = image_append(image, table->old, split, 8);
	image_append(image, table->added, added, 1);
	image_append(image, (const uint8_t *)table->old + split, sh->sh_size - split, 1);
	sh->sh_size += added;
}

int section_symbols_insert(const struct section_symbols *symbols, const struct object *obj,
			   struct image *image, Elf64_Shdr *sections)
{
	Elf64_Sym *syms;
	uint32_t *xindexes;
	int err = 0;

	if (symbols->nr_new == 0)
		return 0;
	for (size_t i = 1; i < obj->nr_sections; i++)
		if (renumber_section(symbols, obj, image, &sections[i]) != 0)
			return -1;
	syms = calloc(symbols->nr_new, sizeof(*syms));
	xindexes = calloc(symbols->nr_new, sizeof(*xindexes));
	if (!syms || !xindexes) {
		err = object_error(obj, "out of memory");
		goto free_symbols;
	}
	make_symbols(symbols, obj, syms, xindexes);
	append_table(symbols,
		     &(struct symbol_table){ .old = obj->syms,
					     .added = syms,
					     .entry = sizeof(*syms),
					     .header = &sections[obj->symtab] },
		     image);
	sections[obj->symtab].sh_info += symbols->nr_new;
	if (obj->xindex)
		append_table(symbols,
			     &(struct symbol_table){ .old = obj->xindexes,
						     .added = xindexes,
						     .entry = sizeof(*xindexes),
						     .header = &sections[obj->xindex] },
			     image);
	for (uint32_t i = 0; i < symbols->nr_new && !obj->xindex; i++)
		if (syms[i].st_shndx == SHN_XINDEX)
			err = object_error(obj, "no section index table for section %u",
					   xindexes[i]);
free_symbols:
	free(syms);
	free(xindexes);
	return err;
}
