/*
 * Filters of trace events: an expression over the fields of an event, such as
 *
 * 	prev_state != 0 && (comm == "sh" || next_comm ~ "kworker*")
 *
 * compiled into a program of expr/. docs/event-filters.md has the language.
 *
 * Context: thread.
 */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include "expr/expr.h"
#include "expr/expr_cursor.h"

struct trace_event;

/* The reason of a mistake that has no further one. */
extern const char trace_filter_syntax[];

/*
 * Compile `text` for events of the type `event` into a program of the caller, for
 * trace_expr_match(). Returns 0; -ENOMEM; or with *error filled in -EINVAL, or Linux's error in its
 * place. Positions are Linux's: for a mistake within a comparison, the compiler's plus 1.
 */
int trace_filter_compile(const struct trace_event *event, const char *text,
			 struct expr_program **out_filter, struct expr_error *error);

#endif
