/*
 * Variables of histograms: an entry keeps values that an event has set, and events of other types
 * with the same key read them. See hist.h.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_VARS_H
#define HIST_VARS_H

#include "hist.h"
#include "hist_parse.h"

/* Is this the name of a variable: $NAME, SYSTEM.EVENT.$NAME? */
bool trace_hist_is_variable(const struct expr_word *word);
/* Find this histogram's variable by name. Returns its index, or HIST_VARS_MAX. */
uint32_t trace_hist_find_variable(const struct hist *hist, const struct expr_word *name);
/* Compile a variable's name as a value of an expression. */
int trace_hist_compile_ref(struct hist_parse *parse, const struct expr_word *word,
			   struct hist_value *value);
/*
 * Compile variable number `var` of another histogram as a value of an expression, named at the place
 * `at` of the text.
 */
int trace_hist_compile_var_of(struct hist_parse *parse, struct hist *other, uint32_t var,
			      const char *at, struct hist_value *value);
/* Add the variable of `NAME=EXPRESSION` to the histogram. */
int trace_hist_add_variable(struct hist_parse *parse, const struct expr_word *text);

/* First of the list of all histograms. */
extern struct hist *trace_hist_first;

#endif
