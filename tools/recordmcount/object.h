/*
 * An x86-64 relocatable ELF file, read whole and checked before anything relies on it.
 *
 * The bytes stay as they were read; sections are looked at through copies of their headers, so a
 * caller may change headers and hand them to the writer (table.h) without touching the input.
 * Every offset, size and index that these functions use or return has been checked.
 *
 * Context:   host program, one thread.
 * Ownership: object_close() frees all. Pointers into an object are good until then.
 */
#ifndef RECORDMCOUNT_OBJECT_H
#define RECORDMCOUNT_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <libelf.h>

struct object {
	const char *path;
	uint8_t *image;
	size_t image_bytes;
	unsigned int mode; /* permissions of the file */
	Elf *elf;
	Elf64_Shdr *sections;
	size_t nr_sections;
	size_t names;	 /* index of the section name string table */
	size_t symtab;	 /* index of the symbol table; 0 for none */
	size_t xindex;	 /* index of its SHT_SYMTAB_SHNDX; 0 for none */
	Elf64_Sym *syms; /* aligned copies (libelf's) */
	const uint32_t *xindexes;
	size_t nr_syms;
};

/*
 * Read and check the file at `path`. On failure prints what is wrong and returns -1; there is
 * nothing to close then.
 */
int object_open(struct object *obj, const char *path);
void object_close(struct object *obj);

/* Print "recordmcount: FILE: MESSAGE" to stderr; always returns -1. */
int object_error(const struct object *obj, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Name of a section or symbol; NULL when its offset points outside the string table. */
const char *object_section_name(const struct object *obj, size_t section);
const char *object_symbol_name(const struct object *obj, size_t sym);

/*
 * Contents of a section, aligned for its type; NULL after a message when it lies outside the file.
 */
const Elf_Data *object_data(const struct object *obj, size_t section);

/* Section a symbol is defined in; 0 for undefined, absolute and common symbols. */
size_t object_symbol_section(const struct object *obj, size_t sym);

#endif
