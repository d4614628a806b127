/*
 * What the files that compile the text of a histogram share. See hist.h.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_PARSE_H
#define HIST_PARSE_H

#include "events/event_file.h"
#include "hist.h"

/* An event that an action onmatch() is about. */
struct hist_match {
	const char *system, *event;
};

struct hist_parse {
	struct hist *hist;
	struct trace_event_file *file;
	struct hist_error *error;
	const char *text; /* the caller's, which hist->text is a copy of */
	struct hist_match matches[HIST_ACTIONS_MAX];
	uint32_t nr_matches;
	bool may_exist; /* the text names a histogram that may be there already */
};

/* What may be written at a place. */
enum hist_place {
	HIST_AS_KEY,
	HIST_AS_VALUE,
	HIST_AS_VARIABLE,
};

/* `at` points into hist->text. */
void trace_hist_set_error(struct hist_parse *parse, const char *at, const char *why);
/* The same; returns -EINVAL. */
static inline int hist_blame(struct hist_parse *parse, const char *at, const char *why)
{
	trace_hist_set_error(parse, at, why);
	return -EINVAL;
}

/* Cut the text at the next `separator`, outside of parentheses. Returns what is behind, or NULL. */
char *trace_hist_cut(char *text, char separator);

/* ---- hist_sort.c ---- */

/* The fields behind sort=; NULL: by hits. Keys and values are known already. */
int trace_hist_add_sorts(struct hist_parse *parse, char *text);

/* ---- hist_field.c ---- */

/* Add an operation; -EINVAL after a blame when there are too many. */
int trace_hist_add_op(struct hist_parse *parse, const struct hist_op *op);
static inline int hist_add_code(struct hist_parse *parse, enum hist_code code)
{
	return trace_hist_add_op(parse, &(struct hist_op){ .code = (uint8_t)code });
}
/* Divide by a constant, or round down to multiples of it. */
int trace_hist_add_division(struct hist_parse *parse, enum hist_code code, uint64_t divisor);
/*
 * Compile the word `text`, FIELD or FIELD.MODIFIER, which is cut at the point: fills in *value but
 * for `var`, `op` and `at`.
 */
int trace_hist_compile_field(struct hist_parse *parse, char *text, struct hist_value *value);
/* Does FIELD or FIELD.MODIFIER name something that such events have? */
bool trace_hist_is_field_of(const struct trace_event_call *call, const char *text);

/* ---- hist_expr.c ---- */

/* The same for an expression; also fills in `op`. */
int trace_hist_compile_value(struct hist_parse *parse, char *text, enum hist_place place,
			     struct hist_value *value);
/* The same for a field alone, that is to be kept. */
int trace_hist_compile_plain(struct hist_parse *parse, char *text, struct hist_value *value);
/* What stands from `start` to `end` in hist->text, in the copy of it that nobody cuts there. */
const char *trace_hist_name_of(struct hist_parse *parse, const char *start, const char *end);

#endif
