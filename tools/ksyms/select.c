/* See select.h. */
#include "select.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <kernel/symbols_format.h>
#include "names.h"

/*
 * The section of code that a symbol belongs to: its own; for an absolute symbol the one that its
 * value is in. 0 for none.
 */
static size_t code_section(const struct linked *image, const Elf64_Sym *sym)
{
	if (linked_is_code(image, sym->st_shndx))
		return sym->st_shndx;
	if (sym->st_shndx != SHN_ABS)
		return 0;
	for (size_t i = 1; i < image->nr_sections; i++)
		if (linked_is_code(image, i) && sym->st_value >= image->sections[i].sh_addr &&
		    sym->st_value - image->sections[i].sh_addr <= image->sections[i].sh_size)
			return i;
	return 0;
}

static bool is_wanted(const Elf64_Sym *sym, const char *name)
{
	uint8_t type = ELF64_ST_TYPE(sym->st_info);

	if (name[0] == '\0' || (type != STT_FUNC && type != STT_NOTYPE))
		return false;
	return type == STT_FUNC || ELF64_ST_BIND(sym->st_info) != STB_LOCAL || !strchr(name, '.');
}

/*
 * Lowest code from which all code above it can be reached by an offset: start-up code at low
 * addresses, gigabytes away from the kernel's, is left out.
 */
static uint64_t find_base(const struct linked *image)
{
	uint64_t top = 0, base = UINT64_MAX;

	for (size_t i = 1; i < image->nr_sections; i++)
		if (linked_is_code(image, i) && image->sections[i].sh_addr >= top)
			top = image->sections[i].sh_addr + image->sections[i].sh_size;
	for (size_t i = 1; i < image->nr_sections; i++)
		if (linked_is_code(image, i) && image->sections[i].sh_addr < base &&
		    top - image->sections[i].sh_addr < SYMBOLS_NO_OFFSET)
			base = image->sections[i].sh_addr;
	return base;
}

static int collect(struct selection *selection, const struct linked *image)
{
	selection->symbols = xcalloc(image->nr_syms, sizeof(*selection->symbols));
	for (size_t i = 1; i < image->nr_syms; i++) {
		const Elf64_Sym *sym = &image->syms[i];
		const char *name = linked_symbol_name(image, i);
		size_t section = code_section(image, sym);

		if (!section || !is_wanted(sym, name) || sym->st_value < selection->base ||
		    sym->st_value - selection->base >= SYMBOLS_NO_OFFSET)
			continue;
		if (strlen(name) > SYMBOLS_NAME_MAX)
			return linked_error(image, "name longer than %d characters: %s",
					    SYMBOLS_NAME_MAX, name);
		selection->symbols[selection->nr++] = (struct selected){
			.addr = sym->st_value,
			.size = sym->st_size,
			.limit =
				image->sections[section].sh_addr + image->sections[section].sh_size,
			.name = name,
			.type = ELF64_ST_TYPE(sym->st_info),
			.bind = ELF64_ST_BIND(sym->st_info),
		};
	}
	return 0;
}

/*
 * Objects of data: those that can be written, at or above data_start; and constants in front of the
 * tables, which the second link does not move. Weak ones stand for tables in the first link.
 */
static bool is_variable(const struct selection *selection, const struct linked *image,
			const Elf64_Sym *sym)
{
	uint64_t addr = sym->st_value;

	if (ELF64_ST_TYPE(sym->st_info) != STT_OBJECT || !sym->st_size ||
	    sym->st_shndx >= image->nr_sections)
		return false;
	if (image->sections[sym->st_shndx].sh_flags & SHF_WRITE)
		return addr >= selection->data_base &&
		       addr - selection->data_base < SYMBOLS_NO_OFFSET;
	return strcmp(linked_section_name(image, sym->st_shndx), ".rodata") == 0 &&
	       ELF64_ST_BIND(sym->st_info) != STB_WEAK && addr >= selection->base &&
	       addr - selection->base < SYMBOLS_NO_OFFSET;
}

static int collect_variables(struct selection *selection, const struct linked *image)
{
	const Elf64_Sym *start = linked_find_symbol(image, "data_start");

	selection->variables = xcalloc(image->nr_syms, sizeof(*selection->variables));
	if (!start)
		return 0;
	selection->data_base = start->st_value;
	for (size_t i = 1; i < image->nr_syms; i++) {
		const Elf64_Sym *sym = &image->syms[i];
		const char *name = linked_symbol_name(image, i);

		if (!is_variable(selection, image, sym) || name[0] == '\0')
			continue;
		if (strlen(name) > SYMBOLS_NAME_MAX)
			return linked_error(image, "name longer than %d characters: %s",
					    SYMBOLS_NAME_MAX, name);
		selection->nr_constants += sym->st_value < selection->data_base;
		selection->variables[selection->nr_variables++] = (struct selected){
			.addr = sym->st_value,
			.size = sym->st_size,
			.name = name,
			.type = ELF64_ST_TYPE(sym->st_info),
			.bind = ELF64_ST_BIND(sym->st_info),
		};
	}
	return 0;
}

/*
 * Lower is the better name of two for one address: functions before labels, then names without
 * underscores in front, then global before local before weak.
 */
static int rank(const struct selected *s)
{
	int by_bind = s->bind == STB_GLOBAL ? 0 : s->bind == STB_LOCAL ? 1 : 2;

	return (s->type == STT_FUNC ? 0 : 1000) + 3 * (int)strspn(s->name, "_") + by_bind;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct selected *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	return strcmp(a->name, b->name);
}

static void remove_duplicates(struct selection *selection)
{
	size_t kept = 0;

	for (size_t i = 0; i < selection->nr; i++) {
		const struct selected *s = &selection->symbols[i];
		bool is_known = false;

		for (size_t k = kept; k-- > 0 && selection->symbols[k].addr == s->addr;)
			is_known |= strcmp(selection->symbols[k].name, s->name) == 0;
		if (!is_known)
			selection->symbols[kept++] = *s;
	}
	selection->nr = kept;
}

/* Is it a label that only says where something ends? */
static bool is_end_label(const struct selected *s)
{
	size_t len = strlen(s->name);

	return s->type == STT_NOTYPE && len > 4 && strcmp(s->name + len - 4, "_end") == 0;
}

/*
 * Move the addressed symbols to the front, both parts staying in order: the first at each address,
 * unless it lies behind all code, is a bare label inside a function, or an end.
 */
static void split(struct selection *selection)
{
	struct selected *rest = xcalloc(selection->nr, sizeof(*rest));
	uint64_t func_end = 0;
	size_t nr_rest = 0, nr = 0;

	for (size_t i = 0; i < selection->nr; i++) {
		struct selected s = selection->symbols[i];
		bool is_alias = nr > 0 && selection->symbols[nr - 1].addr == s.addr;
		bool is_label = s.type == STT_NOTYPE && s.addr < func_end;

		if (s.type == STT_FUNC && s.addr + s.size > func_end)
			func_end = s.addr + s.size;
		if (is_alias || is_label || is_end_label(&s) || s.addr >= s.limit)
			rest[nr_rest++] = s;
		else
			selection->symbols[nr++] = s;
	}
	selection->nr_addressed = nr;
	if (nr_rest)
		memcpy(selection->symbols + nr, rest, nr_rest * sizeof(*rest));
	free(rest);
}

static void fit_sizes(struct selection *selection)
{
	for (size_t i = 0; i < selection->nr_addressed; i++) {
		struct selected *s = &selection->symbols[i];
		uint64_t end = s->limit;

		if (i + 1 < selection->nr_addressed && s[1].addr < end)
			end = s[1].addr;
		if (s->size == 0 || s->addr + s->size > end)
			s->size = end - s->addr;
	}
}

int selection_make(struct selection *selection, const struct linked *image)
{
	memset(selection, 0, sizeof(*selection));
	selection->base = find_base(image);
	if (collect(selection, image) != 0 || collect_variables(selection, image) != 0) {
		selection_free(selection);
		return -1;
	}
	qsort(selection->symbols, selection->nr, sizeof(*selection->symbols), compare_symbols);
	qsort(selection->variables, selection->nr_variables, sizeof(*selection->variables),
	      compare_symbols);
	remove_duplicates(selection);
	split(selection);
	fit_sizes(selection);
	return 0;
}

void selection_free(struct selection *selection)
{
	free(selection->symbols);
	free(selection->variables);
	memset(selection, 0, sizeof(*selection));
}
