/*
 * The functions of a linked file by address: every symbol in code, with its size if it has one.
 *
 * Context:   host program, one thread.
 * Ownership: functions_free(); names point into the image.
 */
#ifndef SITES_FUNCTIONS_H
#define SITES_FUNCTIONS_H

#include "linked.h"

struct function {
	uint64_t addr;
	uint64_t size; /* 0 for labels */
	const char *name;
};

struct functions {
	struct function *list; /* by address; at one address the largest first */
	size_t nr;
};

/* Out of memory ends the program. */
void functions_collect(struct functions *functions, const struct linked *image);
void functions_free(struct functions *functions);

/* Is there a symbol at exactly `addr`? */
bool functions_has_start(const struct functions *functions, uint64_t addr);

/* The function with a size that `addr` lies in; NULL for none. */
const struct function *functions_around(const struct functions *functions, uint64_t addr);

#endif
