/*
 * Comparisons of text: see filter_private.h.
 */
#include "filter_private.h"
#include "ops/ftrace_private.h"
#include "text/str.h"

/* Is the value in an array, and compared as a whole or at its beginning? */
static bool is_compared_in_place(const struct filter_value *value,
				 const struct ftrace_pattern *pattern)
{
	return value->place == FILTER_PLACE_FIELD &&
	       (pattern->type == FTRACE_MATCH_FULL || pattern->type == FTRACE_MATCH_FRONT);
}

/*
 * Compare in place. A full array may have no NUL; Linux then takes it for equal to a longer text
 * with the same beginning.
 */
static void add_in_place(struct filter_compiler *compiler, const struct filter_value *value,
			 const struct ftrace_pattern *pattern, bool is_negated)
{
	bool is_full = pattern->type == FTRACE_MATCH_FULL;
	uint32_t len = (uint32_t)pattern->len + is_full; /* with the NUL */

	if (is_full && len > value->size)
		len = value->size;
	if (len > value->size)
		trace_filter_add_constant(compiler, is_negated);
	else
		trace_filter_add_chars(compiler, value->offset, pattern->search, len, !is_negated);
}

static void add_pattern(struct filter_compiler *compiler, const struct filter_value *value,
			const struct ftrace_pattern *pattern, bool is_negated)
{
	struct filter_insn *insn = trace_filter_add_place(compiler, FILTER_OP_TEXT, value);

	insn->match = (uint8_t)pattern->type;
	insn->is_negated = is_negated;
	insn->data = pattern->search;
	insn->data_len = (uint32_t)pattern->len;
}

void trace_filter_add_text(struct filter_compiler *compiler, const struct filter_value *value,
			   enum filter_cmp cmp, const char *text, size_t len)
{
	char *copy = trace_filter_add_data(compiler, len + 1);
	struct ftrace_pattern pattern = { .search = copy, .len = len, .type = FTRACE_MATCH_FULL };
	bool is_negated;

	memcpy(copy, text, len);
	if (cmp == FILTER_CMP_GLOB)
		ftrace_pattern_parse(&pattern, copy);
	if (pattern.type == FTRACE_MATCH_INDEX) /* a digit at its beginning makes it no pattern */
		pattern.type = FTRACE_MATCH_FULL;
	is_negated = cmp == FILTER_CMP_NE || pattern.invert;
	if (is_compared_in_place(value, &pattern))
		add_in_place(compiler, value, &pattern, is_negated);
	else
		add_pattern(compiler, value, &pattern, is_negated);
}
