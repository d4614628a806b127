/*
 * Names of functions in the files of programs: the table of symbols, or that of the dynamic linker in a
 * stripped file. Nothing of a damaged file is believed: what cannot be read has no name.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "elf.h"

#define SHT_SYMTAB	  2
#define SHT_DYNSYM	  11
#define STT_FUNC	  2
#define ELF_SECTIONS_MAX  1024 /* more headers than that are not looked at */
#define SYMBOLS_AT_A_TIME 128

struct symbols_entry {
	uint32_t name;
	uint8_t info, other;
	uint16_t section;
	uint64_t value, size;
};

_Static_assert(sizeof(struct elf_section) == 64 && sizeof(struct symbols_entry) == 24,
	       "as in the file");

static bool symbols_read_section(const struct elf_file *elf, uint32_t index,
				 struct elf_section *out)
{
	const struct elf_header *h = &elf->header;

	return index < h->shnum && index < ELF_SECTIONS_MAX && h->shentsize == sizeof(*out) &&
	       h->shoff <= INT64_MAX &&
	       elf_read(elf->file, out, sizeof(*out), h->shoff + index * sizeof(*out)) == 0;
}

bool elf_find_section(const struct elf_file *elf, const char *name, struct elf_section *out)
{
	struct elf_section names;
	char found[16];
	size_t bytes = strlen(name) + 1;

	if (bytes > sizeof(found) || !symbols_read_section(elf, elf->header.shstrndx, &names) ||
	    names.offset > INT64_MAX)
		return false;
	for (uint32_t i = 0; symbols_read_section(elf, i, out); i++) {
		if (out->name < names.size &&
		    elf_read(elf->file, found, bytes, names.offset + out->name) == 0 &&
		    memcmp(found, name, bytes) == 0)
			return true;
	}
	return false;
}

/* A search for the function at an address. */
struct symbols_search {
	struct elf_file elf;
	uint64_t vaddr;
	struct symbols_entry chunk[SYMBOLS_AT_A_TIME];
};

/* The address at which code at a place of the file is linked. */
static bool symbols_find_address(struct symbols_search *search, uint64_t pos)
{
	for (uint16_t i = 0; i < search->elf.header.phnum; i++) {
		const struct elf_phdr *ph = &search->elf.phdrs[i];

		if (ph->type == PT_LOAD && pos >= ph->offset && pos - ph->offset < ph->filesz) {
			search->vaddr = ph->vaddr + (pos - ph->offset);
			return true;
		}
	}
	return false;
}

static const struct symbols_entry *symbols_match(const struct symbols_search *search, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct symbols_entry *entry = &search->chunk[i];

		if ((entry->info & 15) == STT_FUNC && entry->section &&
		    search->vaddr >= entry->value && search->vaddr - entry->value < entry->size)
			return entry;
	}
	return NULL;
}

/* The symbol of the function, in the chunk of the search; NULL: the table has none. */
static const struct symbols_entry *symbols_search_table(struct symbols_search *search,
							const struct elf_section *table)
{
	uint64_t left = table->size / sizeof(struct symbols_entry), pos = table->offset;
	const struct symbols_entry *found = NULL;

	while (left && !found && pos <= INT64_MAX) {
		size_t nr = left < SYMBOLS_AT_A_TIME ? left : SYMBOLS_AT_A_TIME;
		size_t bytes = nr * sizeof(struct symbols_entry);

		if (elf_read(search->elf.file, search->chunk, bytes, pos))
			return NULL;
		found = symbols_match(search, nr);
		left -= nr;
		pos += bytes;
	}
	return found;
}

static bool symbols_read_name(struct symbols_search *search, const struct elf_section *table,
			      uint32_t at, char *name, size_t size)
{
	struct elf_section strings;
	ssize_t got = 0;

	if (symbols_read_section(&search->elf, table->link, &strings) && at < strings.size &&
	    strings.offset <= INT64_MAX)
		got = file_read_at(search->elf.file, name, size - 1, strings.offset + at);
	name[got > 0 ? got : 0] = '\0';
	return name[0];
}

/* Look through all tables of a type. */
static bool symbols_search_type(struct symbols_search *search, uint32_t type, uint64_t *out_offset,
				char *name, size_t size)
{
	struct elf_section table;

	for (uint32_t i = 0; symbols_read_section(&search->elf, i, &table); i++) {
		const struct symbols_entry *found =
			table.type == type ? symbols_search_table(search, &table) : NULL;

		if (found) {
			*out_offset = search->vaddr - found->value;
			return symbols_read_name(search, &table, found->name, name, size);
		}
	}
	return false;
}

uint64_t elf_find_function(struct file *file, uint64_t pos, char *name, size_t size)
{
	struct symbols_search *search = kmalloc(sizeof(*search));
	uint64_t offset = 0;

	name[0] = '\0';
	if (!search)
		return 0;
	search->elf.file = file;
	if (!elf_read_headers(&search->elf) && symbols_find_address(search, pos) &&
	    !symbols_search_type(search, SHT_SYMTAB, &offset, name, size))
		symbols_search_type(search, SHT_DYNSYM, &offset, name, size);
	kfree(search);
	return offset;
}
