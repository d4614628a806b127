/*
 * Shared declarations of the files of filters: see filter.h.
 *
 *   filter_parse.c   from the text to conditions of comparisons
 *   filter_pred.c    one comparison
 */
#ifndef TRACE_FILTER_PRIVATE_H
#define TRACE_FILTER_PRIVATE_H

#include "events/filter.h"
#include "expr/expr_cond.h"

struct filter_compiler {
	const struct trace_event *event;
	const char *text;
	struct expr_error *error;
	struct expr_build build;
};

/*
 * Compile the comparison at index `start` of the text, and set *out_end behind it. Returns 0;
 * -EPERM without *error when there is none; -EINVAL.
 */
int trace_filter_pred_compile(struct filter_compiler *compiler, size_t start, size_t *out_end);

#endif
