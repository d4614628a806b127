/*
 * Shared declarations of the files that compile the text of a histogram. See hist.h.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_PARSE_H
#define HIST_PARSE_H

#include "events/event_file.h"
#include "hist.h"

/* The event of an action onmatch(). */
struct hist_match {
	const char *system, *event;
};

struct hist_parse {
	struct hist *hist;
	struct trace_event_file *file;
	struct hist_error *error;
	const char *text; /* the caller's text; hist->text is a copy */
	struct hist_match matches[HIST_ACTIONS_MAX];
	uint32_t nr_matches;
	bool may_exist; /* the text may name an existing histogram */
};

/* Places in a histogram's text that allow different expressions. */
enum hist_place {
	HIST_AS_KEY,
	HIST_AS_VALUE,
	HIST_AS_VARIABLE,
};

/* Record a mistake at `at`, which points into hist->text. */
void trace_hist_set_error(struct hist_parse *parse, const char *at, const char *why);
/* Record a mistake, and return -EINVAL. */
static inline int hist_blame(struct hist_parse *parse, const char *at, const char *why)
{
	trace_hist_set_error(parse, at, why);
	return -EINVAL;
}

/* Cut the text at the next `separator` outside of parentheses. Returns the rest, or NULL. */
char *trace_hist_cut(char *text, char separator);

/* ---- hist_sort.c ---- */

/* Compile the fields of sort=, or NULL for sorting by hits. Keys and values are known already. */
int trace_hist_add_sorts(struct hist_parse *parse, char *text);

/* ---- hist_field.c ---- */

/* Add an operation. Returns -EINVAL after a blame when there are too many. */
int trace_hist_add_op(struct hist_parse *parse, const struct hist_op *op);
static inline int hist_add_code(struct hist_parse *parse, enum hist_code code)
{
	return trace_hist_add_op(parse, &(struct hist_op){ .code = (uint8_t)code });
}
/* Add a division by a constant, or a rounding down to its multiples. */
int trace_hist_add_division(struct hist_parse *parse, enum hist_code code, uint64_t divisor);
/*
 * Compile the word `text`, FIELD or FIELD.MODIFIER, which is cut at the point. Fills in *value but
 * for `var`, `op` and `at`.
 */
int trace_hist_compile_field(struct hist_parse *parse, char *text, struct hist_value *value);
/* Does FIELD or FIELD.MODIFIER name a field of events of this type? */
bool trace_hist_is_field_of(const struct trace_event_call *call, const char *text);

/* ---- hist_expr.c ---- */

/* Compile an expression. Fills in *value but for `var` and `at`. */
int trace_hist_compile_value(struct hist_parse *parse, char *text, enum hist_place place,
			     struct hist_value *value);
/* Compile a single field that an action is to keep. */
int trace_hist_compile_plain(struct hist_parse *parse, char *text, struct hist_value *value);
/* The text from `start` to `end` of hist->text, in the copy of it that is never cut. */
const char *trace_hist_name_of(struct hist_parse *parse, const char *start, const char *end);

#endif
