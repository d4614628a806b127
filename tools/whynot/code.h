/*
 * The machine code as the linker left it: call sites, and the symbols of code.
 *
 * Context:   host program, one thread.
 * Ownership: code_close(); names point into the image.
 */
#ifndef WHYNOT_CODE_H
#define WHYNOT_CODE_H

#include "../ksyms/select.h"
#include "linked.h"

struct code {
	struct linked image;
	struct selection selection;
	uint64_t *sites; /* ascending */
	size_t nr_sites;
};

/* On failure prints the reason and returns -1; nothing is to be closed then. */
int code_open(struct code *code, const char *path);
void code_close(struct code *code);

/* Is a call site at an address from `start` to below `end`? */
bool code_has_site(const struct code *code, uint64_t start, uint64_t end);

/*
 * Is `addr` in a section of code? The address of a function that the linker dropped is not: it is 0
 * in debug information, or some other number.
 */
bool code_contains(const struct code *code, uint64_t addr);

/* The addressed symbol that starts at `addr`; NULL for none. */
const struct selected *code_symbol_at(const struct code *code, uint64_t addr);

#endif
