/*
 * Symbols of a file in ELF, of 64 bits: from a name to an offset in the file, and from an offset to that of the
 * function around it. See probe_uprobe.h.
 *
 *   sections --> tables of symbols --> name --> address --> the segment that it is in --> offset
 *   offset --> the segment --> address --> tables of symbols --> the last function in front of it
 *
 * The file is what a user names, so that nothing in it is believed: each read may fail, each table
 * ends where the file does.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "probe_uprobe_elf.h"
#include "text/str.h"

#define ELF_CLASS_64	 2u
#define ELF_LITTLE	 1u
#define SEGMENT_LOAD	 1u
#define SECTION_SYMTAB	 2u
#define SECTION_DYNSYM	 11u
#define SYMBOL_TYPE	 0xfu
#define SYMBOL_TYPE_MAX	 2u /* nothing, variable, function */
#define SYMBOL_FUNCTION	 2u
#define SYMBOLS_AT_ONCE	 16u
#define SYMBOLS_MAX	 1000000u /* of a table */
#define SYMBOL_UNDEFINED 0u

struct elf_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, bytes;
};

/* A file, and the search in it: of a name, or of the last function in front of an address. */
struct elf_search {
	struct probe_elf elf;
	/* Called for each symbol; its name is at the offset `name`. */
	void (*visit)(struct elf_search *search, const struct elf_symbol *symbol, uint64_t name);
	bool has_symbols;
	/* Of a name. */
	const char *name;
	size_t len;
	struct probe_elf_symbol *out;
	bool takes_all; /* one that the file does not have, a variable of zeros, too */
	/* Of all functions. */
	void (*fn)(const char *name, void *arg);
	void *arg;
	/* Of an address. */
	uint64_t addr;
	struct elf_symbol last; /* of value 0: there is none */
};

/* ---- Parts of a file ---- */

bool trace_probe_elf_read(const struct probe_elf *elf, uint64_t offset, void *to, size_t bytes)
{
	return uprobe_file_read(elf->file, offset, to, bytes) == bytes;
}

bool trace_probe_elf_section(const struct probe_elf *elf, uint32_t i, struct elf_section *out)
{
	return i < elf->header.nr_sections &&
	       trace_probe_elf_read(elf,
				    elf->header.sections + (uint64_t)i * elf->header.section_bytes,
				    out, sizeof(*out));
}

static bool elf_segment_at(const struct probe_elf *elf, uint32_t i, struct elf_segment *out)
{
	return i < elf->header.nr_segments &&
	       trace_probe_elf_read(elf,
				    elf->header.segments + (uint64_t)i * elf->header.segment_bytes,
				    out, sizeof(*out));
}

bool trace_probe_elf_offset(const struct probe_elf *elf, uint64_t addr, uint64_t *out_offset)
{
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment_at(elf, i, &segment); i++) {
		if (segment.type == SEGMENT_LOAD && addr - segment.addr < segment.file_bytes) {
			*out_offset = segment.offset + addr - segment.addr;
			return true;
		}
	}
	return false;
}

bool trace_probe_elf_open(struct probe_elf *elf, struct uprobe_file *file)
{
	const struct elf_header *header = &elf->header;

	elf->file = file;
	return trace_probe_elf_read(elf, 0, &elf->header, sizeof(elf->header)) &&
	       !memcmp(header->magic, "\177ELF", sizeof(header->magic)) &&
	       header->class == ELF_CLASS_64 && header->order == ELF_LITTLE;
}

/* ---- Symbols ---- */

/* The address of the byte at that offset; false: no segment has it. */
static bool elf_addr_of(const struct probe_elf *elf, uint64_t offset, uint64_t *out_addr)
{
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment_at(elf, i, &segment); i++) {
		if (segment.type == SEGMENT_LOAD && offset - segment.offset < segment.file_bytes) {
			*out_addr = segment.addr + offset - segment.offset;
			return true;
		}
	}
	return false;
}

static TRACE_NOINLINE bool elf_is_name(const struct elf_search *search, uint64_t at)
{
	char name[TRACE_SYM_LEN];

	return trace_probe_elf_read(&search->elf, at, name, search->len + 1) &&
	       !name[search->len] && !memcmp(name, search->name, search->len);
}

/* Is it one of the wanted name, and its place a new one? */
static void elf_visit_name(struct elf_search *search, const struct elf_symbol *symbol,
			   uint64_t name)
{
	struct probe_elf_symbol *out = search->out;

	if ((symbol->info & SYMBOL_TYPE) > SYMBOL_TYPE_MAX || !elf_is_name(search, name) ||
	    (out->nr && out->addr == symbol->value) ||
	    (!trace_probe_elf_offset(&search->elf, symbol->value, &out->offset) &&
	     !search->takes_all))
		return;
	out->addr = symbol->value;
	out->nr++;
}

static TRACE_NOINLINE void elf_search_some(struct elf_search *search, uint64_t at, size_t nr,
					   uint64_t names)
{
	struct elf_symbol symbols[SYMBOLS_AT_ONCE];

	if (!trace_probe_elf_read(&search->elf, at, symbols, nr * sizeof(symbols[0])))
		return;
	for (size_t i = 0; i < nr; i++) {
		if (symbols[i].section != SYMBOL_UNDEFINED)
			search->visit(search, &symbols[i], names + symbols[i].name);
	}
}

static void elf_search_table(struct elf_search *search, const struct elf_section *table)
{
	const uint64_t bytes = sizeof(struct elf_symbol);
	uint64_t nr = table->bytes / bytes;
	struct elf_section names;

	if (table->entry_bytes != bytes ||
	    !trace_probe_elf_section(&search->elf, table->link, &names))
		return;
	search->has_symbols = true;
	if (nr > SYMBOLS_MAX)
		nr = SYMBOLS_MAX;
	for (uint64_t i = 0; i < nr; i += SYMBOLS_AT_ONCE)
		elf_search_some(search, table->offset + i * bytes,
				nr - i < SYMBOLS_AT_ONCE ? (size_t)(nr - i) : SYMBOLS_AT_ONCE,
				names.offset);
}

static void elf_search_tables(struct elf_search *search)
{
	struct elf_section section;

	for (uint32_t i = 0; trace_probe_elf_section(&search->elf, i, &section); i++) {
		if (section.type == SECTION_SYMTAB || section.type == SECTION_DYNSYM)
			elf_search_table(search, &section);
	}
}

static int elf_find(struct uprobe_file *file, struct elf_search *search)
{
	if (!trace_probe_elf_open(&search->elf, file))
		return -ENOEXEC;
	if (!search->len || search->len >= TRACE_SYM_LEN)
		return -ENOENT;
	elf_search_tables(search);
	if (search->out->nr)
		return 0;
	return search->has_symbols ? -ENOENT : -ENODATA;
}

int trace_probe_elf_find(struct uprobe_file *file, const char *name, size_t len,
			 struct probe_elf_symbol *out)
{
	struct elf_search search = {
		.visit = elf_visit_name, .name = name, .len = len, .out = out
	};

	*out = (struct probe_elf_symbol){ .nr = 0 };
	return elf_find(file, &search);
}

bool trace_probe_elf_addr(struct uprobe_file *file, const char *name, size_t len,
			  uint64_t *out_addr)
{
	struct probe_elf_symbol symbol = { .nr = 0 };
	struct elf_search search = {
		.visit = elf_visit_name, .name = name, .len = len, .out = &symbol, .takes_all = true
	};

	if (elf_find(file, &search) || symbol.nr != 1)
		return false;
	*out_addr = symbol.addr;
	return true;
}

/* ---- All functions ---- */

static TRACE_NOINLINE void elf_visit_each(struct elf_search *search,
					  const struct elf_symbol *symbol, uint64_t at)
{
	char name[TRACE_SYM_LEN];
	size_t got;

	if ((symbol->info & SYMBOL_TYPE) != SYMBOL_FUNCTION)
		return;
	got = uprobe_file_read(search->elf.file, at, name, sizeof(name) - 1);
	name[got] = '\0';
	search->fn(name, search->arg);
}

int trace_probe_elf_each(struct uprobe_file *file, void (*fn)(const char *name, void *arg),
			 void *arg)
{
	struct elf_search search = { .visit = elf_visit_each, .fn = fn, .arg = arg };

	if (!trace_probe_elf_open(&search.elf, file))
		return -ENOEXEC;
	elf_search_tables(&search);
	return 0;
}

/* ---- The function around an offset ---- */

static bool elf_has(const struct elf_symbol *function, uint64_t addr)
{
	return !function->bytes || addr - function->value < function->bytes;
}

static void elf_visit_function(struct elf_search *search, const struct elf_symbol *symbol,
			       uint64_t name)
{
	(void)name;
	if ((symbol->info & SYMBOL_TYPE) != SYMBOL_FUNCTION || symbol->value > search->addr ||
	    symbol->value < search->last.value)
		return;
	if (symbol->value > search->last.value || elf_has(symbol, search->addr))
		search->last = *symbol;
}

bool trace_probe_elf_function(struct uprobe_file *file, uint64_t offset, uint64_t *out_begin)
{
	struct elf_search search = { .visit = elf_visit_function };

	if (!trace_probe_elf_open(&search.elf, file) ||
	    !elf_addr_of(&search.elf, offset, &search.addr))
		return false;
	elf_search_tables(&search);
	return search.last.value && elf_has(&search.last, search.addr) &&
	       trace_probe_elf_offset(&search.elf, search.last.value, out_begin) &&
	       offset - *out_begin == search.addr - search.last.value;
}
