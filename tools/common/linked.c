/* See linked.h. */
#include "linked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int linked_error(const struct linked *image, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "%s: %s: ", tool_name, image->path);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return -1;
}

/* Read the whole file, to memory that is aligned for its structures. */
static int read_file(struct linked *image)
{
	FILE *file = fopen(image->path, "rb");
	long size;
	int err = -1;

	if (!file)
		return linked_error(image, "cannot open: %s", strerror(errno));
	if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 ||
	    fseek(file, 0, SEEK_SET) != 0) {
		linked_error(image, "cannot read: %s", strerror(errno));
		goto close_file;
	}
	image->size = (size_t)size;
	image->bytes = malloc(image->size + 1);
	if (!image->bytes || fread(image->bytes, 1, image->size, file) != image->size) {
		linked_error(image, "cannot read");
		goto close_file;
	}
	err = 0;
close_file:
	fclose(file);
	return err;
}

static bool is_inside(const struct linked *image, uint64_t pos, uint64_t size)
{
	return pos <= image->size && size <= image->size - pos;
}

static int load_sections(struct linked *image)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)image->bytes;
	uint64_t names;

	if (image->size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_machine != EM_X86_64)
		return linked_error(image, "not an x86-64 ELF file");
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return linked_error(image, "not a linked file");
	if (eh->e_shoff == 0 || eh->e_shoff % 8 || eh->e_shentsize != sizeof(Elf64_Shdr) ||
	    !is_inside(image, eh->e_shoff, sizeof(Elf64_Shdr)))
		return linked_error(image, "no section headers");
	image->sections = (const Elf64_Shdr *)(image->bytes + eh->e_shoff);
	image->nr_sections = eh->e_shnum ? eh->e_shnum : image->sections[0].sh_size;
	names = eh->e_shstrndx == SHN_XINDEX ? image->sections[0].sh_link : eh->e_shstrndx;
	if (image->nr_sections > (image->size - eh->e_shoff) / sizeof(Elf64_Shdr) ||
	    names >= image->nr_sections)
		return linked_error(image, "truncated section headers");
	for (size_t i = 0; i < image->nr_sections; i++)
		if (image->sections[i].sh_type != SHT_NOBITS &&
		    image->sections[i].sh_type != SHT_NULL &&
		    !is_inside(image, image->sections[i].sh_offset, image->sections[i].sh_size))
			return linked_error(image, "truncated: section %zu", i);
	image->section_names = (const char *)image->bytes + image->sections[names].sh_offset;
	image->section_names_size = image->sections[names].sh_size;
	return 0;
}

static int load_symbols(struct linked *image)
{
	for (size_t i = 0; i < image->nr_sections; i++) {
		const Elf64_Shdr *sh = &image->sections[i];
		const Elf64_Shdr *names;

		if (sh->sh_type != SHT_SYMTAB)
			continue;
		if (sh->sh_offset % 8 || sh->sh_link >= image->nr_sections)
			return linked_error(image, "damaged symbol table");
		names = &image->sections[sh->sh_link];
		image->syms = (const Elf64_Sym *)(image->bytes + sh->sh_offset);
		image->nr_syms = sh->sh_size / sizeof(Elf64_Sym);
		image->symbol_names = (const char *)image->bytes + names->sh_offset;
		image->symbol_names_size = names->sh_size;
		return 0;
	}
	return linked_error(image, "no symbol table");
}

int linked_open(struct linked *image, const char *path)
{
	memset(image, 0, sizeof(*image));
	image->path = path;
	if (read_file(image) == 0 && load_sections(image) == 0 && load_symbols(image) == 0)
		return 0;
	linked_close(image);
	return -1;
}

void linked_close(struct linked *image)
{
	free(image->bytes);
	memset(image, 0, sizeof(*image));
}

/* Names outside their table read as empty. */
static const char *string_at(const char *table, size_t size, size_t pos)
{
	return pos < size && memchr(table + pos, '\0', size - pos) ? table + pos : "";
}

const char *linked_section_name(const struct linked *image, size_t section)
{
	return string_at(image->section_names, image->section_names_size,
			 image->sections[section].sh_name);
}

const char *linked_symbol_name(const struct linked *image, size_t sym)
{
	return string_at(image->symbol_names, image->symbol_names_size, image->syms[sym].st_name);
}

size_t linked_find_section(const struct linked *image, const char *name)
{
	for (size_t i = 1; i < image->nr_sections; i++)
		if (strcmp(linked_section_name(image, i), name) == 0)
			return i;
	return 0;
}

const Elf64_Sym *linked_find_symbol(const struct linked *image, const char *name)
{
	const Elf64_Sym *found = NULL;

	for (size_t i = 1; i < image->nr_syms; i++) {
		if (image->syms[i].st_shndx == SHN_UNDEF ||
		    strcmp(linked_symbol_name(image, i), name) != 0)
			continue;
		if (ELF64_ST_BIND(image->syms[i].st_info) != STB_LOCAL)
			return &image->syms[i];
		if (!found)
			found = &image->syms[i];
	}
	return found;
}

bool linked_is_code(const struct linked *image, size_t section)
{
	const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;

	return section > 0 && section < image->nr_sections &&
	       image->sections[section].sh_type == SHT_PROGBITS &&
	       (image->sections[section].sh_flags & flags) == flags;
}

uint8_t *linked_bytes_at(const struct linked *image, uint64_t addr, uint64_t size)
{
	for (size_t i = 1; i < image->nr_sections; i++) {
		const Elf64_Shdr *sh = &image->sections[i];

		if ((sh->sh_flags & SHF_ALLOC) && sh->sh_type != SHT_NOBITS &&
		    addr >= sh->sh_addr && addr - sh->sh_addr < sh->sh_size &&
		    size <= sh->sh_size - (addr - sh->sh_addr))
			return image->bytes + sh->sh_offset + (addr - sh->sh_addr);
	}
	return NULL;
}
