/*
 * Functions whose arguments are not sure to be where the prototype says: several functions have
 * the name, or the compiler changed how it is called: the first parameters that have a register
 * each are compared with the debug information, which says where they are.
 *
 * Ownership: unsure_free().
 */
#ifndef TYPES_UNSURE_H
#define TYPES_UNSURE_H

#include "linked.h"

struct unsure {
	char **names; /* sorted */
	size_t nr;
};

/* Returns -1 after a message if there is no debug information. */
int unsure_collect(struct unsure *unsure, const struct linked *kernel);
bool unsure_has(const struct unsure *unsure, const char *name);
void unsure_free(struct unsure *unsure);

#endif
