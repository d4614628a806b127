/*
 * Shared declarations of the files that compile the text of a histogram. See hist.h.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_PARSE_H
#define HIST_PARSE_H

#include "events/event_file.h"
#include "expr/expr_build.h"
#include "hist.h"
#include "hist_program.h"

struct hist_parse {
	struct hist *hist;
	struct expr_build build; /* of hist->values */
	uint32_t nr_ended;	 /* values in it */
	struct trace_event_file *file;
	struct expr_cursor cursor; /* about hist->text, for mistakes */
	/* The events of actions onmatch(). */
	const struct trace_event_call *matches[HIST_ACTIONS_MAX];
	uint32_t nr_matches;
	bool may_exist; /* the text may name an existing histogram */
};

/* Places in a histogram's text that allow different expressions. */
enum hist_place {
	HIST_AS_KEY,
	HIST_AS_VALUE,
	HIST_AS_VARIABLE,
};

/* Record a mistake at `at`, which points into hist->text. Returns -EINVAL. */
static inline int hist_blame(const struct hist_parse *parse, const char *at, const char *why)
{
	(void)trace_expr_refuse(&parse->cursor, -EINVAL, why, at);
	return -EINVAL;
}

/* Take the characters before the next `separator` outside of parentheses, or all, off `rest`. */
struct expr_word trace_hist_take_part(struct expr_word *rest, char separator);

/* ---- hist_sort.c ---- */

/* Compile the fields of sort=; without one, sort by hits. Keys and values are known already. */
int trace_hist_add_sorts(struct hist_parse *parse, struct expr_word text);

/* ---- hist_field.c ---- */

/* Add an instruction to hist->values, all other members 0. Never NULL. */
static inline struct expr_insn *hist_add(struct hist_parse *parse, enum expr_op op)
{
	return trace_expr_add(&parse->build, op);
}
/* Add a step of hist_program.h, which is one of HIST_STEP_TIME, REF, VAR, WORDS. */
struct expr_insn *trace_hist_add_own(struct hist_parse *parse, enum hist_step_kind kind);
/* End a value, by EXPR_END. Returns 0, or -EINVAL after a blame when there is too much to compute. */
int trace_hist_end_value(struct hist_parse *parse);
/* The number of the next instruction, for value->insn. */
static inline uint16_t hist_next_insn(const struct hist_parse *parse)
{
	return (uint16_t)parse->build.program->nr;
}
/*
 * Compile the word `text`, FIELD or FIELD.MODIFIER. Fills in *value but for `var`, `insn` and `at`.
 */
int trace_hist_compile_field(struct hist_parse *parse, const struct expr_word *text,
			     struct hist_value *value);
/* Does FIELD or FIELD.MODIFIER name a field of events of this type? */
bool trace_hist_is_field_of(const struct trace_event_call *call, const struct expr_word *text);

/* ---- hist_expr.c ---- */

/* Compile an expression. Fills in *value but for `var` and `at`. */
int trace_hist_compile_value(struct hist_parse *parse, const struct expr_word *text,
			     enum hist_place place, struct hist_value *value);
/* Compile a single field that an action is to keep. */
int trace_hist_compile_plain(struct hist_parse *parse, const struct expr_word *text,
			     struct hist_value *value);
/*
 * A word of hist->text, or the NUL at its end, with a NUL behind; good until one around it is asked
 * for.
 */
char *trace_hist_name_of(const struct hist *hist, const struct expr_word *word);

#endif
