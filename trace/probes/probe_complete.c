/*
 * Completion of a probe's line: a place, or the end of its last argument. See probe_shell.h,
 * <trace/dyn_events.h>.
 *
 * 	p:my/open vfs_open dir=fi          the value begins with an argument, a variable, a field
 * 	p:my/open vfs_open file->pa        a member of the value in front of the last `->` or `.`
 * 	p:my/open vfs_open (fil            a struct
 * 	p:my/open vfs_open +8(fi           open parentheses contain a value of their own
 * 	p:my/open vfs_open flags:u         a type
 */
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "fetch_private.h"
#include "probe_shell.h"
#include "text/str.h"

/* The line being completed. */
struct completing {
	struct dyn_event_completion *completion;
	const struct fetch_context *context;
	const char *end; /* of the line */
};

static void offer(const struct completing *to, const char *at, const char *text, const char *hint)
{
	const struct trace_dyn_event_word word = { .text = text, .hint = hint };

	trace_dyn_event_offer(to->completion, at, &word);
}

/* ---- Fields ---- */

/* With `$` in front of them, or not. */
static TRACE_NOINLINE void offer_fields(const struct completing *to, const char *at,
					const char *dollar)
{
	const struct trace_event *event = to->context->event;
	char name[TRACE_SYM_LEN], hint[2 * TRACE_SYM_LEN];
	struct trace_seq seq;

	for (size_t i = 0; i < event->nr_fields; i++) {
		trace_snprintf(name, sizeof(name), "%s%s", dollar, event->fields[i].name);
		trace_seq_init(&seq, hint, sizeof(hint) - 1);
		trace_fetch_declare_field(&event->fields[i], &seq);
		hint[seq.len] = '\0';
		offer(to, at, name, hint);
	}
}

/* ---- Variables ---- */

static void offer_variables(const struct completing *to, const char *at)
{
	const struct trace_dyn_event_word thread = { .text = "$current",
						     .hint = "",
						     .goes_on = trace_fetch_names };
	enum fetch_place place = to->context->place;

	offer(to, at, "$comm", "");
	if (!to->context->is_user)
		trace_dyn_event_offer(to->completion, at, &thread);
	if (place == FETCH_AT_RETURN || to->context->is_user_return)
		offer(to, at, "$retval", "");
	if (place == FETCH_AT_DATA) {
		offer(to, at, "$addr", "");
		offer(to, at, "$old", "");
		offer(to, at, "$value", "");
	}
	if (place != FETCH_AT_EVENT)
		offer(to, at, "$stack", "");
}

/* ---- Values ---- */

/* The last parenthesis that is open at the end; NULL: none is. */
static const char *probe_complete_find_open(const struct completing *to, const char *start)
{
	uint32_t closed = 0;

	for (const char *at = to->end; at-- > start;) {
		if (*at == ')')
			closed++;
		else if (*at == '(' && !closed--)
			return at;
	}
	return NULL;
}

/* A part of a value: the text in front of the last `->` or `.`, and its kind. */
struct split {
	const char *at; /* NULL: there is none outside of parentheses */
	bool is_arrow;
};

static struct split find_separator(const char *start, const char *end)
{
	struct split split = { .at = NULL };
	uint32_t depth = 0;

	for (const char *at = start; at < end; at++) {
		depth += *at == '(';
		depth -= *at == ')' && depth;
		if (!depth && (*at == '.' || (*at == '-' && end - at > 1 && at[1] == '>')))
			split = (struct split){ .at = at, .is_arrow = *at == '-' };
	}
	return split;
}

static const char *probe_complete_find_char(const char *at, const char *end, char what)
{
	while (at < end && *at != what)
		at++;
	return at < end ? at : NULL;
}

/* The same up to the end of the line. */
static const char *find_behind(const char *at, char what)
{
	while (*at && *at != what)
		at++;
	return *at ? at : NULL;
}

/* A cast: (STRUCT)VALUE or (STRUCT,MEMBER)VALUE, without members behind it. */
static bool is_bare_cast(const char *start, const char *end)
{
	const char *close = *start == '(' ? probe_complete_find_char(start, end, ')') : NULL;

	return close && !find_separator(close + 1, end).at;
}

/* The struct that is named from `at` on, up to a comma or a parenthesis. */
static uint32_t struct_at(const char *at, const char *end)
{
	struct expr_word name = { at, 0 };

	while (at + name.len < end && at[name.len] != ',' && at[name.len] != ')')
		name.len++;
	return trace_fetch_names->find_struct(&name);
}

static uint32_t thread_struct(void)
{
	size_t offset;
	const char *name = trace_plat_thread_type(&offset);
	const struct expr_word word = { name, trace_strlen(name) };

	return trace_fetch_names->find_struct(&word);
}

/* Members of the value from `start` to the separator. */
static TRACE_NOINLINE void complete_member(const struct completing *to, const char *start,
					   const struct split *split)
{
	const char *name = split->at + 1 + split->is_arrow;
	const struct expr_word value = { start, (size_t)(split->at - start) };
	struct dyn_event_error error;
	struct fetch_build build = { .context = to->context, .error = &error };
	struct fetch_origin origin = { .nr_reads = 0 };
	struct fetch_parse parse = { .build = &build, .origin = &origin };

	if (split->is_arrow && is_bare_cast(start, split->at))
		trace_fetch_names->offer_members(to->completion, name,
						 struct_at(start + 1, split->at), false);
	else if (split->is_arrow && trace_expr_is(&value, "$current"))
		trace_fetch_names->offer_members(to->completion, name, thread_struct(), false);
	else if (!trace_fetch_value(&parse, &value))
		trace_fetch_names->offer_members(to->completion, name, parse.btf, split->is_arrow);
}

/* Complete the beginning of a value; behind a cast, at its close. */
static void complete_start(const struct completing *to, const char *at)
{
	const char *close = *at == '(' ? find_behind(at, ')') : NULL;
	enum fetch_place place = to->context->place;
	bool is_cast = close;

	if (is_cast) {
		at = close + 1;
		to->completion->goes_on = true;
	}
	if (*at == '$')
		offer_variables(to, at);
	if (place == FETCH_AT_EVENT && (*at == '$' || is_cast))
		offer_fields(to, at, *at == '$' ? "$" : "");
	else if (trace_fetch_names && place != FETCH_AT_EVENT && place != FETCH_AT_CODE)
		trace_fetch_names->offer_arguments(to->completion, at, to->context);
}

/* The struct of a cast, or the member behind the comma. */
static void complete_cast(const struct completing *to, const char *at)
{
	const char *comma = find_behind(at, ',');

	to->completion->goes_on = true;
	if (comma)
		trace_fetch_names->offer_members(to->completion, comma + 1, struct_at(at, comma),
						 false);
	else
		trace_fetch_names->offer_structs(to->completion, at);
}

static void complete_value(const struct completing *to, const char *at)
{
	const char *open = probe_complete_find_open(to, at);
	bool is_cast = open && (open == at || open[-1] == '(');
	struct split split;

	if (is_cast && trace_fetch_names)
		complete_cast(to, open + 1);
	if (is_cast)
		return;
	if (open) {
		to->completion->goes_on = true;
		at = open + 1;
	}
	split = find_separator(at, to->end);
	if (!split.at)
		complete_start(to, at);
	else if (trace_fetch_names)
		complete_member(to, at, &split);
}

/* ---- Arguments ---- */

static void complete_argument(const struct completing *to, const char *at)
{
	const char *equals = find_behind(at, '='), *colon;
	const struct fetch_type *type;

	if (equals)
		at = equals + 1;
	colon = find_behind(at, ':');
	if (!colon) {
		complete_value(to, at);
		return;
	}
	for (size_t i = 0; (type = trace_fetch_type_at(i)); i++) {
		if (!to->context->is_user || !fetch_is_of_kernel(type))
			offer(to, colon + 1, type->name, "");
	}
}

/* A field in a filter, where it stands without `$`. */
static void complete_condition(const struct completing *to)
{
	const char *at = to->end;

	while (expr_is_of_name(at[-1]))
		at--;
	offer_fields(to, at, "");
}

static void complete_last(const struct completing *to, const char *args)
{
	struct expr_word word, last = { to->end, 0 };
	bool is_condition = false;

	while ((word = trace_expr_next_word(&args, '\0')).len) {
		is_condition |= last.len && trace_expr_is(&last, "if");
		last = word;
	}
	if (trace_is_space(to->end[-1])) {
		is_condition |= trace_expr_is(&last, "if");
		last.at = to->end;
	}
	if (is_condition && to->context->place == FETCH_AT_EVENT)
		complete_condition(to);
	else
		complete_argument(to, last.at);
}

/* Find the text behind the place; NULL when no blank is behind it yet. */
static const char *find_args(const char *line, const char **out_place)
{
	struct expr_word place;

	(void)trace_expr_next_word(&line, '\0');
	place = trace_expr_next_word(&line, '\0');
	*out_place = place.at;
	return place.len && *line ? line : NULL;
}

void trace_probe_complete(const struct probe_kind *kind, struct dyn_event_completion *completion)
{
	struct dyn_event_error error = { 0 };
	struct probe_definition definition = { .kind = kind,
					       .error = &error,
					       .line = completion->line };
	struct completing to = { .completion = completion,
				 .context = &definition.context,
				 .end = completion->line + trace_strlen(completion->line) };
	const char *place, *args = find_args(completion->line, &place);

	if (!args && kind->offer_places && trace_is_space(place[-1]))
		kind->offer_places(completion, place);
	if (!args || trace_probe_line_parse(&definition) || kind->find(&definition))
		return;
	complete_last(&to, args);
}
