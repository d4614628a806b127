/*
 * The call sites of an object: calls to __fentry__ (the first instruction of a function, or the
 * second behind endbr64) or to mcount (behind the frame set-up).
 *
 * They are found by the relocations of executable sections, so nothing has to be disassembled: a
 * call is the byte E8 in front of a 4-byte PC-relative field that refers to one of the two names.
 *
 * Context:   host program, one thread.
 * Ownership: sites_free().
 */
#ifndef RECORDMCOUNT_SITES_H
#define RECORDMCOUNT_SITES_H

#include "object.h"

struct site {
	size_t section;	 /* of the code */
	uint64_t offset; /* of the call instruction in it */
};

struct site_list {
	struct site *sites; /* by section, then offset; no two alike */
	size_t nr;
	size_t capacity;
};

/* Collect the sites of `obj`. On failure prints the reason, leaves an empty list, returns -1. */
int sites_find(const struct object *obj, struct site_list *out_list);
void sites_free(struct site_list *list);

#endif
