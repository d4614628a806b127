/*
 * Variables of histograms: an entry keeps the value that an event gave one, and events of other
 * types, which have the same key, read it. See hist.h.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_VARS_H
#define HIST_VARS_H

#include "hist.h"
#include "hist_parse.h"

/* Is this the name of a variable: $NAME, SYSTEM.EVENT.$NAME? */
bool trace_hist_is_variable(const char *word);
/* The variable of that name of this histogram, or HIST_VARS_MAX. */
uint32_t trace_hist_find_variable(const struct hist *hist, const char *name);
/* Compile it as a value of an expression. `word` is put together again if it was cut. */
int trace_hist_compile_ref(struct hist_parse *parse, char *word, struct hist_value *value);
/* The same for variable `name` of `other`, which has it. */
int trace_hist_compile_var_of(struct hist_parse *parse, struct hist *other, const char *name,
			      struct hist_value *value);
/* `NAME=EXPRESSION`: add a variable to the histogram. */
int trace_hist_add_variable(struct hist_parse *parse, char *text);

/* All histograms that there are. */
extern struct hist *trace_hist_first;

#endif
