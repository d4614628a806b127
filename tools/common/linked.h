/*
 * A linked x86-64 ELF file, read whole, for the tools that look at the kernel.
 *
 * Context:   host program, one thread. `tool_name` is put in front of every message.
 * Ownership: linked_close() frees all. Pointers into an image are good until then.
 */
#ifndef TOOLS_LINKED_H
#define TOOLS_LINKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>

extern const char tool_name[]; /* each tool defines its own */

struct linked {
	const char *path;
	uint8_t *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	size_t nr_sections;
	const char *section_names;
	size_t section_names_size;
	const Elf64_Sym *syms;
	size_t nr_syms;
	const char *symbol_names;
	size_t symbol_names_size;
};

/* Print "TOOL: PATH: MESSAGE"; always returns -1. */
int linked_error(const struct linked *image, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Read and check `path`. On failure prints the reason and returns -1; nothing is to be closed. */
int linked_open(struct linked *image, const char *path);
void linked_close(struct linked *image);

/* Names of sections and symbols; empty for one that is outside of the table of names. */
const char *linked_section_name(const struct linked *image, size_t section);
const char *linked_symbol_name(const struct linked *image, size_t sym);

/* Index of the section of that name; 0 for none. */
size_t linked_find_section(const struct linked *image, const char *name);
/* Symbol of that name, global before local; NULL for none. */
const Elf64_Sym *linked_find_symbol(const struct linked *image, const char *name);

/* Is the section code: allocated, with contents, executable? */
bool linked_is_code(const struct linked *image, size_t section);

/*
 * The `size` bytes that are loaded at `addr`; NULL when they are not all in one section's contents.
 */
uint8_t *linked_bytes_at(const struct linked *image, uint64_t addr, uint64_t size);

#endif
