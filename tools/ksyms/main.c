/*
 * ksyms -o OUT.o KERNEL      make the symbol table of KERNEL, as an object for its second link
 * ksyms --check KERNEL       is the table inside KERNEL that of KERNEL itself?
 * ksyms --nm OUT KERNEL      list all symbols of KERNEL by address, as nm -n does
 *
 * The check makes the table again and compares it with the one that was linked in: it fails when
 * a function moved between the two links, or when a link was made with an old table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kernel/symbols_format.h>
#include "blob.h"
#include "names.h"
#include "select.h"
#include "table.h"

const char tool_name[] = "ksyms";

static int make_table(const struct linked *image, struct blob *out_table)
{
	struct selection selection;

	if (selection_make(&selection, image) != 0)
		return -1;
	table_make(out_table, &selection);
	selection_free(&selection);
	return 0;
}

static int write_table(const struct linked *image, const char *path)
{
	struct blob table = { 0 };
	int err = make_table(image, &table);

	if (!err)
		err = blob_write_object(&table, path, ".ksyms", "symbols_blob");
	blob_free(&table);
	return err;
}

/* Print what differs: the first address that is another, if that is it. Returns -1. */
static int report_difference(const struct linked *image, const struct blob *want,
			     const uint8_t *have)
{
	struct symbols_header old, new;

	memcpy(&old, have, sizeof(old));
	memcpy(&new, want->bytes, sizeof(new));
	if (old.magic != SYMBOLS_MAGIC)
		return linked_error(image, "the symbol table is empty or of another format");
	if (old.base != new.base)
		return linked_error(image, "text moved from 0x%" PRIx64 " to 0x%" PRIx64, old.base,
				    new.base);
	if (old.nr_symbols != new.nr_symbols)
		return linked_error(image, "%u symbols, its table has %u", new.nr_symbols,
				    old.nr_symbols);
	for (uint32_t i = 0; i <= new.nr_symbols; i++) {
		struct symbols_place was, is;

		memcpy(&was, have + old.place_pos + i * sizeof(was), sizeof(was));
		memcpy(&is, want->bytes + new.place_pos + i * sizeof(is), sizeof(is));
		if (was.offset != is.offset)
			return linked_error(image,
					    "symbol %u moved from 0x%" PRIx64 " to 0x%" PRIx64, i,
					    old.base + was.offset, new.base + is.offset);
	}
	return linked_error(image, "the symbol table is that of another kernel");
}

static int check_table(const struct linked *image)
{
	const Elf64_Sym *sym = linked_find_symbol(image, "symbols_blob");
	struct blob table = { 0 };
	const uint8_t *have;
	int err;

	if (!sym)
		return linked_error(image, "no symbols_blob in it");
	if (make_table(image, &table) != 0)
		return -1;
	have = linked_bytes_at(image, sym->st_value, sizeof(struct symbols_header));
	if (!have)
		err = linked_error(image, "symbols_blob has no contents");
	else if (sym->st_size == table.size && linked_bytes_at(image, sym->st_value, table.size) &&
		 memcmp(have, table.bytes, table.size) == 0)
		err = 0;
	else
		err = report_difference(image, &table, have);
	blob_free(&table);
	return err;
}

struct listed {
	const Elf64_Sym *sym;
	const char *name;
	char type;
};

static int compare_listed(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;

	if (a->sym->st_value != b->sym->st_value)
		return a->sym->st_value < b->sym->st_value ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The letter that nm shows; in lower case for local symbols. */
static char nm_type(const struct linked *image, const Elf64_Sym *sym)
{
	const Elf64_Shdr *sh;
	char type;

	if (ELF64_ST_BIND(sym->st_info) == STB_WEAK)
		return ELF64_ST_TYPE(sym->st_info) == STT_OBJECT ? 'V' : 'W';
	if (sym->st_shndx >= image->nr_sections) {
		type = 'A';
	} else {
		sh = &image->sections[sym->st_shndx];
		if (sh->sh_flags & SHF_EXECINSTR)
			type = 'T';
		else if (sh->sh_type == SHT_NOBITS)
			type = 'B';
		else
			type = sh->sh_flags & SHF_WRITE ? 'D' : 'R';
	}
	return ELF64_ST_BIND(sym->st_info) == STB_LOCAL ? (char)(type | 0x20) : type;
}

static int write_list(const struct linked *image, const char *path)
{
	struct listed *list = xcalloc(image->nr_syms, sizeof(*list));
	size_t nr = 0;
	FILE *file;

	for (size_t i = 1; i < image->nr_syms; i++) {
		const Elf64_Sym *sym = &image->syms[i];
		uint8_t type = ELF64_ST_TYPE(sym->st_info);

		if (sym->st_shndx == SHN_UNDEF || type == STT_FILE || type == STT_SECTION)
			continue;
		list[nr++] = (struct listed){ .sym = sym,
					      .name = linked_symbol_name(image, i),
					      .type = nm_type(image, sym) };
	}
	qsort(list, nr, sizeof(*list), compare_listed);
	file = fopen(path, "w");
	for (size_t i = 0; i < nr && file; i++)
		fprintf(file, "%016" PRIx64 " %c %s\n", list[i].sym->st_value, list[i].type,
			list[i].name);
	free(list);
	if (!file || fclose(file) != 0) {
		fprintf(stderr, "ksyms: %s: cannot write: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct linked image;
	int err;

	if (!(argc == 4 && (strcmp(argv[1], "-o") == 0 || strcmp(argv[1], "--nm") == 0)) &&
	    !(argc == 3 && strcmp(argv[1], "--check") == 0)) {
		fprintf(stderr,
			"usage: ksyms -o OUT.o KERNEL | --check KERNEL | --nm OUT KERNEL\n");
		return 2;
	}
	if (linked_open(&image, argv[argc - 1]) != 0)
		return EXIT_FAILURE;
	if (strcmp(argv[1], "-o") == 0)
		err = write_table(&image, argv[2]);
	else if (strcmp(argv[1], "--nm") == 0)
		err = write_list(&image, argv[2]);
	else
		err = check_table(&image);
	linked_close(&image);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
