/*
 * What the files that make programs share. See fetch.h.
 */
#ifndef FETCH_PRIVATE_H
#define FETCH_PRIVATE_H

#include <trace/errno.h>
#include "fetch.h"

/* An argument that is being read. */
struct fetch_parse {
	struct fetch_build *build;
	/* The last step, which is not added yet: a type may make another one of it. */
	struct fetch_op last;
	bool is_begun; /* `last` is one */
	/* What begins it has a type of its own, when none is written; or NULL. */
	const struct fetch_type *own_type;
	uint32_t nr_steps;
};

/* Returns `err`. */
int fetch_blame(const struct fetch_build *build, const char *at, const char *why, int err);
/* One more step; the one before it is added. */
void fetch_step(struct fetch_parse *parse, const struct fetch_op *op);

/* All of `word` as a number with a sign in front. */
int fetch_signed(const struct fetch_word *word, int64_t *out_value);

/* fetch_value.c: the steps that set the value which `word` names. 0 or -errno after blaming. */
int fetch_value(struct fetch_parse *parse, const struct fetch_word *word);

#endif
