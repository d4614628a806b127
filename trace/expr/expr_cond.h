/*
 * Conditions of tests: && || ! and parentheses, as a graph of instructions.
 *
 * The front end tells of its finds in the order of the text: an open parenthesis, a comparison
 * whose instructions it has added, an operator, a closed one. It sees to it that these follow each
 * other as they must: an operand, perhaps an operator and another one, and parentheses in pairs.
 * trace_expr_cond_link() then goes from right to left, and gives each comparison its next
 * instructions. && binds closer than ||. There is no recursion, and no limit of depth but memory.
 *
 * Context: thread.
 */
#ifndef TRACE_EXPR_COND_H
#define TRACE_EXPR_COND_H

#include "expr_build.h"

struct expr_token;

struct expr_cond {
	struct expr_build *build;
	struct expr_token *tokens;
	uint32_t nr, max;
	uint32_t nr_tests;
	uint32_t open; /* the innermost open parenthesis */
};

/* Make room for `max_tokens` parentheses, comparisons, operators. Returns 0 or -ENOMEM. */
int trace_expr_cond_create(struct expr_cond *cond, struct expr_build *build, uint32_t max_tokens);
void trace_expr_cond_free(struct expr_cond *cond);

/* An open parenthesis, perhaps with ! in front. */
void trace_expr_cond_open(struct expr_cond *cond, bool is_negated);
void trace_expr_cond_close(struct expr_cond *cond);
/* The comparison of the instructions from number `first` on, perhaps with ! in front. */
void trace_expr_cond_test(struct expr_cond *cond, uint32_t first, bool is_negated);
void trace_expr_cond_operator(struct expr_cond *cond, bool is_or);
/* Is an operator the last one told? */
bool trace_expr_cond_wants_operand(const struct expr_cond *cond);
/* Link all comparisons; there is one at least. */
void trace_expr_cond_link(struct expr_cond *cond);

#endif
