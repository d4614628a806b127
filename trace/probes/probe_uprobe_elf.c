/*
 * Symbols of a file in ELF, of 64 bits: from a name to an offset in the file. See probe_uprobe.h.
 *
 *   sections --> tables of symbols --> name --> address --> the segment that it is in --> offset
 *
 * The file is what a user names, so that nothing in it is believed: each read may fail, each table
 * ends where the file does.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "probe_uprobe.h"
#include "text/str.h"

#define ELF_CLASS_64	 2u
#define ELF_LITTLE	 1u
#define SEGMENT_LOAD	 1u
#define SECTION_SYMTAB	 2u
#define SECTION_DYNSYM	 11u
#define SYMBOL_TYPE	 0xfu
#define SYMBOL_TYPE_MAX	 2u /* nothing, variable, function */
#define SYMBOLS_AT_ONCE	 16u
#define SYMBOLS_MAX	 1000000u /* of a table */
#define SYMBOL_UNDEFINED 0u

struct elf_header {
	uint8_t magic[4], class, order, rest[10];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, segments, sections;
	uint32_t flags;
	uint16_t bytes, segment_bytes, nr_segments, section_bytes, nr_sections, names;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, addr, unused, file_bytes, bytes, align;
};

struct elf_section {
	uint32_t name, type;
	uint64_t flags, addr, offset, bytes;
	uint32_t link, info;
	uint64_t align, entry_bytes;
};

struct elf_symbol {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, bytes;
};

/* A file, and the search in it. */
struct elf_search {
	struct uprobe_file *file;
	struct elf_header header;
	const char *name;
	size_t len;
	bool has_symbols;
	struct probe_elf_symbol *out;
};

static bool elf_read(const struct elf_search *search, uint64_t offset, void *to, size_t bytes)
{
	return uprobe_file_read(search->file, offset, to, bytes) == bytes;
}

static bool elf_section_at(const struct elf_search *search, uint32_t i, struct elf_section *out)
{
	return i < search->header.nr_sections &&
	       elf_read(search,
			search->header.sections + (uint64_t)i * search->header.section_bytes, out,
			sizeof(*out));
}

/* The offset in the file of the byte at that address; false: the file does not have it. */
static bool elf_offset_of(const struct elf_search *search, uint64_t addr, uint64_t *out_offset)
{
	struct elf_segment segment;

	for (uint32_t i = 0; i < search->header.nr_segments; i++) {
		if (!elf_read(search,
			      search->header.segments + (uint64_t)i * search->header.segment_bytes,
			      &segment, sizeof(segment)))
			return false;
		if (segment.type == SEGMENT_LOAD && addr - segment.addr < segment.file_bytes) {
			*out_offset = segment.offset + addr - segment.addr;
			return true;
		}
	}
	return false;
}

static TRACE_NOINLINE bool elf_is_name(const struct elf_search *search, uint64_t at)
{
	char name[TRACE_SYM_LEN];

	return elf_read(search, at, name, search->len + 1) && !name[search->len] &&
	       !memcmp(name, search->name, search->len);
}

/* One of the wanted name: is its place a new one? */
static void elf_found(struct elf_search *search, const struct elf_symbol *symbol)
{
	uint64_t offset;

	if (!elf_offset_of(search, symbol->value, &offset) ||
	    (search->out->nr && search->out->offset == offset))
		return;
	search->out->offset = offset;
	search->out->nr++;
}

static TRACE_NOINLINE void elf_search_some(struct elf_search *search, uint64_t at, size_t nr,
					   uint64_t names)
{
	struct elf_symbol symbols[SYMBOLS_AT_ONCE];

	if (!elf_read(search, at, symbols, nr * sizeof(symbols[0])))
		return;
	for (size_t i = 0; i < nr; i++) {
		const struct elf_symbol *symbol = &symbols[i];

		if (symbol->section != SYMBOL_UNDEFINED &&
		    (symbol->info & SYMBOL_TYPE) <= SYMBOL_TYPE_MAX &&
		    elf_is_name(search, names + symbol->name))
			elf_found(search, symbol);
	}
}

static void elf_search_table(struct elf_search *search, const struct elf_section *table)
{
	const uint64_t bytes = sizeof(struct elf_symbol);
	uint64_t nr = table->bytes / bytes;
	struct elf_section names;

	if (table->entry_bytes != bytes || !elf_section_at(search, table->link, &names))
		return;
	search->has_symbols = true;
	if (nr > SYMBOLS_MAX)
		nr = SYMBOLS_MAX;
	for (uint64_t i = 0; i < nr; i += SYMBOLS_AT_ONCE)
		elf_search_some(search, table->offset + i * bytes,
				nr - i < SYMBOLS_AT_ONCE ? (size_t)(nr - i) : SYMBOLS_AT_ONCE,
				names.offset);
}

static bool elf_is_right(const struct elf_search *search)
{
	const struct elf_header *header = &search->header;

	return !memcmp(header->magic, "\177ELF", sizeof(header->magic)) &&
	       header->class == ELF_CLASS_64 && header->order == ELF_LITTLE;
}

int trace_probe_elf_find(struct uprobe_file *file, const char *name, size_t len,
			 struct probe_elf_symbol *out)
{
	struct elf_search search = { .file = file, .name = name, .len = len, .out = out };
	struct elf_section section;

	*out = (struct probe_elf_symbol){ .nr = 0 };
	if (!elf_read(&search, 0, &search.header, sizeof(search.header)) || !elf_is_right(&search))
		return -ENOEXEC;
	if (!len || len >= TRACE_SYM_LEN)
		return -ENOENT;
	for (uint32_t i = 0; elf_section_at(&search, i, &section); i++) {
		if (section.type == SECTION_SYMTAB || section.type == SECTION_DYNSYM)
			elf_search_table(&search, &section);
	}
	if (out->nr)
		return 0;
	return search.has_symbols ? -ENOENT : -ENODATA;
}
