/*
 * A line of dynamic_events taken apart: LETTER[:[GROUP/][NAME]] PLACE [ARGUMENT]... See probe.h.
 * Error messages have Linux's words.
 */
#include <trace/errno.h>
#include "probe.h"
#include "text/str.h"

#define NAME_MAX_LEN 63u

int trace_probe_blame(const struct probe_definition *definition, const char *at, const char *why,
		      int err)
{
	return trace_dyn_event_blame(definition->error, at, why, err);
}

int trace_probe_refuse(const struct probe_definition *definition, const char *at, const char *why)
{
	return trace_probe_blame(definition, at, why, -EINVAL);
}

bool trace_probe_line_is(const char *line, char letter)
{
	return *line == letter &&
	       (!line[1] || line[1] == ':' || trace_is_space(line[1]) || expr_is_digit(line[1]));
}

/* Is it a name in C, but with `-` allowed in it, too? */
static bool is_group_name(const struct expr_word *word)
{
	for (size_t i = 0; i < word->len; i++) {
		if (!expr_is_of_name(word->at[i]) && !(i && word->at[i] == '-'))
			return false;
	}
	return !expr_is_digit(expr_first(word));
}

static int check_group(const struct probe_definition *definition)
{
	const struct expr_word *group = &definition->group;

	if (!group->len)
		return trace_probe_refuse(definition, group->at, "Group name is not specified");
	if (group->len > NAME_MAX_LEN)
		return trace_probe_refuse(definition, group->at, "Group name is too long");
	if (!is_group_name(group))
		return trace_probe_refuse(definition, group->at,
					  "Group name must follow the same rules as C identifiers");
	return 0;
}

static int probe_line_check_name(const struct probe_definition *definition)
{
	const struct expr_word *name = &definition->name;

	if (name->len > NAME_MAX_LEN)
		return trace_probe_refuse(definition, name->at, "Event name is too long");
	if (!trace_expr_is_name(name))
		return trace_probe_refuse(definition, name->at,
					  "Event name must follow the same rules as C identifiers");
	if (trace_dyn_event_is_reserved(name))
		return trace_probe_blame(definition, name->at,
					 "Given group/event name is already used by another event",
					 -EEXIST);
	return 0;
}

/* Parse the names; `word` is the text behind the colon: [GROUP/][NAME], also with a dot between. */
static int parse_names(struct probe_definition *definition, const struct expr_word *word)
{
	struct expr_word rest = *word, group = expr_take_until(&rest, "/");
	int err = 0;

	if (!rest.len) {
		rest = *word;
		group = expr_take_until(&rest, ".");
	}
	definition->name = *word;
	if (rest.len) {
		definition->group = group;
		definition->name = expr_behind(&rest, 1);
		err = check_group(definition);
	}
	if (err || (rest.len && !definition->name.len))
		return err; /* GROUP/ alone: the name is made up */
	if (!definition->name.len)
		return trace_probe_refuse(definition, word->at, "Event name is not specified");
	return probe_line_check_name(definition);
}

bool trace_probe_line_is_return(const char *line)
{
	struct expr_word place;

	(void)trace_expr_next_word(&line, '\0');
	place = trace_expr_next_word(&line, '\0');
	return trace_expr_ends(&place, PROBE_RETURN_SUFFIX);
}

int trace_probe_line_parse(struct probe_definition *definition)
{
	const struct probe_kind *kind = definition->kind;
	const char *rest = definition->line;
	struct expr_word first = trace_expr_next_word(&rest, '\0');
	int err = 0;

	first = expr_behind(&first, 1);
	definition->number = expr_take_until(&first, ":");
	if (definition->number.len && !kind->takes_number)
		return trace_probe_refuse(definition, definition->line + 1,
					  "Maxactive is only for function exit");
	if (expr_take(&first, ':'))
		err = parse_names(definition, &first);
	if (err)
		return err;
	definition->place = trace_expr_next_word(&rest, '\0');
	definition->args = rest;
	if (kind->suffix && trace_expr_ends(&definition->place, kind->suffix)) {
		definition->has_suffix = true;
		definition->place.len -= trace_strlen(kind->suffix);
	}
	if (!definition->place.len)
		return trace_probe_refuse(
			definition, definition->place.at,
			"Command must be of the form: LETTER[:[GROUP/]NAME] PLACE "
			"[ARGUMENT]...");
	definition->listed = definition->place;
	return 0;
}
