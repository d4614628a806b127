/*
 * Programs as text, for files that explain what was compiled: a line for each instruction, with its
 * number, the name that docs/how-expressions-work.md gives it, its operands, and its ways on where
 * these are not the next line.
 *
 *	   0 FIELD offset 8 shift 32 mask ffffffff
 *	   1 TEST_VALUE mask ffffffffffffffff lo 5 span 2, true: passes, false: 4
 *
 * Context: thread.
 */
#ifndef TRACE_EXPR_SHOW_H
#define TRACE_EXPR_SHOW_H

#include "expr.h"

struct trace_seq;

/* Print the line of instruction `number`; `own` is the name of a front end's step, or unused. */
void trace_expr_show(const struct expr_program *program, uint32_t number, const char *own,
		     struct trace_seq *seq);

#endif
