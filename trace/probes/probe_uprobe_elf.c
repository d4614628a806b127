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
#include "probe_uprobe.h"
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

/* A file, and the search in it: of a name, or of the last function in front of an address. */
struct elf_search {
	struct uprobe_file *file;
	struct elf_header header;
	/* Called for each symbol; its name is at the offset `name`. */
	void (*visit)(struct elf_search *search, const struct elf_symbol *symbol, uint64_t name);
	bool has_symbols;
	/* Of a name. */
	const char *name;
	size_t len;
	struct probe_elf_symbol *out;
	/* Of all functions. */
	void (*fn)(const char *name, void *arg);
	void *arg;
	/* Of an address. */
	uint64_t addr;
	struct elf_symbol last; /* of value 0: there is none */
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

static bool elf_segment_at(const struct elf_search *search, uint32_t i, struct elf_segment *out)
{
	return i < search->header.nr_segments &&
	       elf_read(search,
			search->header.segments + (uint64_t)i * search->header.segment_bytes, out,
			sizeof(*out));
}

/* The offset in the file of the byte at that address; false: the file does not have it. */
static bool elf_offset_of(const struct elf_search *search, uint64_t addr, uint64_t *out_offset)
{
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment_at(search, i, &segment); i++) {
		if (segment.type == SEGMENT_LOAD && addr - segment.addr < segment.file_bytes) {
			*out_offset = segment.offset + addr - segment.addr;
			return true;
		}
	}
	return false;
}

/* The address of the byte at that offset; false: no segment has it. */
static bool elf_addr_of(const struct elf_search *search, uint64_t offset, uint64_t *out_addr)
{
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment_at(search, i, &segment); i++) {
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

	return elf_read(search, at, name, search->len + 1) && !name[search->len] &&
	       !memcmp(name, search->name, search->len);
}

/* Is it one of the wanted name, and its place a new one? */
static void elf_visit_name(struct elf_search *search, const struct elf_symbol *symbol,
			   uint64_t name)
{
	uint64_t offset;

	if ((symbol->info & SYMBOL_TYPE) > SYMBOL_TYPE_MAX || !elf_is_name(search, name) ||
	    !elf_offset_of(search, symbol->value, &offset) ||
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
		if (symbols[i].section != SYMBOL_UNDEFINED)
			search->visit(search, &symbols[i], names + symbols[i].name);
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

/* False: the file is no ELF file of 64 bits. */
static bool elf_read_header(struct elf_search *search)
{
	const struct elf_header *header = &search->header;

	return elf_read(search, 0, &search->header, sizeof(search->header)) &&
	       !memcmp(header->magic, "\177ELF", sizeof(header->magic)) &&
	       header->class == ELF_CLASS_64 && header->order == ELF_LITTLE;
}

static void elf_search_tables(struct elf_search *search)
{
	struct elf_section section;

	for (uint32_t i = 0; elf_section_at(search, i, &section); i++) {
		if (section.type == SECTION_SYMTAB || section.type == SECTION_DYNSYM)
			elf_search_table(search, &section);
	}
}

int trace_probe_elf_find(struct uprobe_file *file, const char *name, size_t len,
			 struct probe_elf_symbol *out)
{
	struct elf_search search = {
		.file = file, .visit = elf_visit_name, .name = name, .len = len, .out = out
	};

	*out = (struct probe_elf_symbol){ .nr = 0 };
	if (!elf_read_header(&search))
		return -ENOEXEC;
	if (!len || len >= TRACE_SYM_LEN)
		return -ENOENT;
	elf_search_tables(&search);
	if (out->nr)
		return 0;
	return search.has_symbols ? -ENOENT : -ENODATA;
}

/* ---- All functions ---- */

static TRACE_NOINLINE void elf_visit_each(struct elf_search *search,
					  const struct elf_symbol *symbol, uint64_t at)
{
	char name[TRACE_SYM_LEN];
	size_t got;

	if ((symbol->info & SYMBOL_TYPE) != SYMBOL_FUNCTION)
		return;
	got = uprobe_file_read(search->file, at, name, sizeof(name) - 1);
	name[got] = '\0';
	search->fn(name, search->arg);
}

int trace_probe_elf_each(struct uprobe_file *file, void (*fn)(const char *name, void *arg),
			 void *arg)
{
	struct elf_search search = { .file = file, .visit = elf_visit_each, .fn = fn, .arg = arg };

	if (!elf_read_header(&search))
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
	struct elf_search search = { .file = file, .visit = elf_visit_function };

	if (!elf_read_header(&search) || !elf_addr_of(&search, offset, &search.addr))
		return false;
	elf_search_tables(&search);
	return search.last.value && elf_has(&search.last, search.addr) &&
	       elf_offset_of(&search, search.last.value, out_begin) &&
	       offset - *out_begin == search.addr - search.last.value;
}
