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

static const char *fetch_cast_find(const char *at, const char *end, char what)
{
	while (at < end && *at != what)
		at++;
	return at < end ? at : NULL;
}

/*
 * The end of the value with which `rest` begins: (VALUE), +OFFSET(VALUE), or anything up to the
 * arrow. NULL after blaming.
 */
static const char *find_end(const struct fetch_parse *parse, const struct fetch_word *rest)
{
	const char *end = rest->at + rest->len, *at = rest->at;
	const char *open = fetch_cast_find(at, end, '('),
		   *close = open ? find_close(open, end) : NULL;
	char first = rest->len ? *at : '\0';

	if (first == '(' || first == '+' || first == '-' || trace_fetch_is_per_cpu(rest)) {
		if (!open)
			trace_fetch_blame(parse->build, at, "Dereference needs a brace", -EINVAL);
		else if (!close)
			trace_fetch_blame(parse->build, first == '(' ? at : end,
					  "Dereference brace is not closed", -EINVAL);
		return close ? close + 1 : NULL;
	}
	while (at < end && *at != '-' && !(first == '@' && *at == '+'))
		at++;
	if (first == '@' && end - at > 1 && at[1] >= '0' && at[1] <= '9') {
		trace_fetch_blame(parse->build, rest->at,
				  "@SYM+/-OFFSET with typecast needs parentheses", -EINVAL);
		return NULL;
	}
	return at;
}

/* Take the value off `rest`, of which the members behind the arrow are left. */
static int take_value(const struct fetch_parse *parse, struct fetch_word *rest,
		      struct fetch_word *out_value)
{
	const char *end = rest->at + rest->len, *at = find_end(parse, rest);

	if (!at)
		return -EINVAL;
	if (end - at < 2 || at[0] != '-' || at[1] != '>')
		return trace_fetch_blame(parse->build, at, "Typecast requires a field access",
					 -EINVAL);
	*out_value = (struct fetch_word){ rest->at, (size_t)(at - rest->at) };
	if (*rest->at == '(') { /* these parentheses belong to the cast, not to the value */
		out_value->at++;
		out_value->len -= 2;
	}
	*rest = (struct fetch_word){ at + 2, (size_t)(end - at - 2) };
	return 0;
}

/* A text is no address, and neither are some bits of a number. */
static int check_value(const struct fetch_parse *parse, const struct fetch_word *value)
{
	uint8_t code = parse->last.code;

	if (code == FETCH_STORE_COMM || code == FETCH_STORE_LITERAL)
		return trace_fetch_blame(parse->build, value->at, "$comm can not be dereferenced",
					 -EINVAL);
	if (parse->bits)
		return trace_fetch_blame(parse->build, value->at,
					 "This is not a pointer to union/structure.", -EINVAL);
	return 0;
}

int trace_fetch_cast(struct fetch_parse *parse, const struct fetch_word *word)
{
	const char *end = word->at + word->len, *close = fetch_cast_find(word->at, end, ')');
	struct fetch_word rest, value = { 0 }, type;
	int err;

	if (!trace_fetch_names)
		return trace_fetch_blame(parse->build, word->at + 1,
					 "BTF is not available or not supported", -EINVAL);
	if (++parse->nr_casts > CASTS_MAX)
		return trace_fetch_blame(parse->build, word->at,
					 "Too many nested typecasts/dereferences", -E2BIG);
	if (!close)
		return trace_fetch_blame(parse->build, end, "Dereference brace is not closed",
					 -EINVAL);
	type = (struct fetch_word){ word->at + 1, (size_t)(close - word->at - 1) };
	rest = (struct fetch_word){ close + 1, (size_t)(end - close - 1) };
	err = take_value(parse, &rest, &value);
	if (!err)
		err = trace_fetch_value(parse, &value);
	if (!err)
		err = check_value(parse, &value);
	parse->nr_casts--;
	return err ? err : trace_fetch_names->cast(parse, &type, &rest);
}
