/*
 * Which symbols of the linked kernel go into its own symbol table, in which order.
 *
 * First come the addressed symbols: at most one per address, ascending, none reaching into the
 * next, all with a size. Assembly routines without a size reach to the next symbol or to the end
 * of their section. Then come all other names: aliases, boundaries set by the linker script, labels
 * inside a function and labels that end in _end, which mark the end of something.
 *
 * Variables are a list of their own: objects with a size, by address; first constants.
 *
 * Left out: other symbols that are not in code, start-up code more than 4 GiB below the rest, section and
 * file symbols, and local labels of assembly (no type, a dot in the name).
 *
 * Context:   host program, one thread.
 * Ownership: selection_free(); names point into the image.
 */
#ifndef KSYMS_SELECT_H
#define KSYMS_SELECT_H

#include "linked.h"

struct selected {
	uint64_t addr;
	uint64_t size;
	uint64_t limit; /* end of its section */
	const char *name;
	uint8_t type; /* STT_* */
	uint8_t bind; /* STB_* */
};

struct selection {
	struct selected *symbols;
	size_t nr;
	size_t nr_addressed;
	uint64_t base; /* address of the lowest code section within 4 GiB of the highest */
	struct selected *variables;
	size_t nr_variables;
	size_t nr_constants; /* the first of them: they cannot be written */
	/* address of the symbol data_start; without it there are no variables */
	uint64_t data_base;
};

/* Prints the reason and returns -1 when a name is too long for the kernel's buffers. */
int selection_make(struct selection *selection, const struct linked *image);
void selection_free(struct selection *selection);

#endif
