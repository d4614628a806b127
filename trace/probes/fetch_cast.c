/*
 * Casts: a value taken for the address of a struct, whose members are fetched. See fetch.h. Error
 * messages have Linux's words.
 *
 * 	(thread)$current->name       $current is a struct thread *
 * 	(thread,node)%di->name       %di points to the member `node` of a struct thread
 * 	(thread)(mutex->owner)->pid  any value in parentheses, another cast included
 */
#include <trace/platform.h>
#include "fetch_private.h"

#define CASTS_MAX 3u /* in each other */

/* The parenthesis that closes the one at `at`; NULL: there is none. */
static const char *find_close(const char *at, const char *end)
{
	uint32_t depth = 0;

	for (; at < end; at++) {
		depth += *at == '(';
		if (*at == ')' && !--depth)
			return at;
	}
	return NULL;
}

/*
 * The end of the value with which `word` begins: (VALUE), +OFFSET(VALUE), or anything up to the
 * arrow. NULL after blaming.
 */
static const char *find_end(const struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word rest = *word;
	const char *end = word->at + word->len, *close = NULL;
	char first = expr_first(word);

	if (first == '(' || first == '+' || first == '-' || trace_fetch_is_per_cpu(word)) {
		(void)expr_take_until(&rest, "(");
		if (rest.len)
			close = find_close(rest.at, end);
		if (!rest.len)
			trace_fetch_refuse(parse, word->at, "Dereference needs a brace");
		else if (!close)
			trace_fetch_refuse(parse, first == '(' ? word->at : end,
					   "Dereference brace is not closed");
		return close ? close + 1 : NULL;
	}
	(void)expr_take_until(&rest, first == '@' ? "-+" : "-");
	if (first == '@' && rest.len > 1 && expr_is_digit(rest.at[1])) {
		trace_fetch_refuse(parse, word->at,
				   "@SYM+/-OFFSET with typecast needs parentheses");
		return NULL;
	}
	return rest.at;
}

/* Take the value off `rest`, of which the members behind the arrow are left. */
static int take_value(const struct fetch_parse *parse, struct expr_word *rest,
		      struct expr_word *out_value)
{
	const char *end = find_end(parse, rest);

	if (!end)
		return -EINVAL;
	*out_value = expr_between(rest->at, end);
	*rest = expr_behind(rest, out_value->len);
	if (!trace_expr_starts(rest, "->"))
		return trace_fetch_refuse(parse, end, "Typecast requires a field access");
	*rest = expr_behind(rest, 2);
	if (*out_value->at == '(') /* these parentheses belong to the cast, not to the value */
		*out_value = expr_between(out_value->at + 1, end - 1);
	return 0;
}

/* A text is no address, and neither are some bits of a number. */
static int check_value(const struct fetch_parse *parse, const struct expr_word *value)
{
	if (fetch_is_own_text(parse->origin))
		return trace_fetch_refuse(parse, value->at, "$comm can not be dereferenced");
	if (parse->origin->bits)
		return trace_fetch_refuse(parse, value->at,
					  "This is not a pointer to union/structure.");
	return 0;
}

int trace_fetch_cast(struct fetch_parse *parse, const struct expr_word *word)
{
	struct expr_word rest = expr_behind(word, 1), value = { 0 }, type;
	int err;

	if (!trace_fetch_names)
		return trace_fetch_refuse(parse, word->at + 1,
					  "BTF is not available or not supported");
	if (++parse->nr_casts > CASTS_MAX)
		return trace_fetch_blame(parse, word->at, "Too many nested typecasts/dereferences",
					 -E2BIG);
	type = expr_take_until(&rest, ")");
	if (!expr_take(&rest, ')'))
		return trace_fetch_refuse(parse, rest.at, "Dereference brace is not closed");
	err = take_value(parse, &rest, &value);
	if (!err)
		err = trace_fetch_value(parse, &value);
	if (!err)
		err = check_value(parse, &value);
	parse->nr_casts--;
	return err ? err : trace_fetch_names->cast(parse, &type, &rest);
}
