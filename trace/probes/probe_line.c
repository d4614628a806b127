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
	return *line == letter && (!line[1] || line[1] == ':' || trace_is_space(line[1]) ||
				   (line[1] >= '0' && line[1] <= '9'));
}

/* Is it a name in C; with `-` in it, too, if that is allowed? */
static bool probe_line_is_name(const struct expr_word *word, bool has_hyphens)
{
	for (size_t i = 0; i < word->len; i++) {
		char c = word->at[i];

		if (c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
			continue;
		if (i && ((c >= '0' && c <= '9') || (has_hyphens && c == '-')))
			continue;
		return false;
	}
	return word->len;
}

static int check_group(const struct probe_definition *definition)
{
	const struct expr_word *group = &definition->group;

	if (!group->len)
		return trace_probe_refuse(definition, group->at, "Group name is not specified");
	if (group->len > NAME_MAX_LEN)
		return trace_probe_refuse(definition, group->at, "Group name is too long");
	if (!probe_line_is_name(group, true))
		return trace_probe_refuse(definition, group->at,
					  "Group name must follow the same rules as C identifiers");
	return 0;
}

/* The directory of an event has a file of that name beside it. */
static bool probe_line_is_reserved(const struct expr_word *name)
{
	return name->len == 6 &&
	       (memcmp(name->at, "enable", 6) == 0 || memcmp(name->at, "filter", 6) == 0);
}

static int probe_line_check_name(const struct probe_definition *definition)
{
	const struct expr_word *name = &definition->name;

	if (name->len > NAME_MAX_LEN)
		return trace_probe_refuse(definition, name->at, "Event name is too long");
	if (!probe_line_is_name(name, false))
		return trace_probe_refuse(definition, name->at,
					  "Event name must follow the same rules as C identifiers");
	if (probe_line_is_reserved(name))
		return trace_probe_blame(definition, name->at,
					 "Given group/event name is already used by another event",
					 -EEXIST);
	return 0;
}

/* Parse the names; `word` is the text behind the colon: [GROUP/][NAME], also with a dot between. */
static int parse_names(struct probe_definition *definition, const struct expr_word *word)
{
	const char *end = word->at + word->len, *slash = word->at;
	int err = 0;

	while (slash < end && *slash != '/')
		slash++;
	if (slash == end) {
		for (slash = word->at; slash < end && *slash != '.';)
			slash++;
	}
	definition->name = *word;
	if (slash < end) {
		definition->group = (struct expr_word){ word->at, (size_t)(slash - word->at) };
		definition->name = (struct expr_word){ slash + 1, (size_t)(end - slash - 1) };
		err = check_group(definition);
	}
	if (err || (slash < end && !definition->name.len))
		return err; /* GROUP/ alone: the name is made up */
	if (!definition->name.len)
		return trace_probe_refuse(definition, word->at, "Event name is not specified");
	return probe_line_check_name(definition);
}

static bool ends_with(const struct expr_word *word, const char *suffix)
{
	size_t len = trace_strlen(suffix);

	return word->len >= len && memcmp(word->at + word->len - len, suffix, len) == 0;
}

bool trace_probe_line_is_return(const char *line)
{
	struct expr_word place;

	(void)trace_expr_next_word(&line, '\0');
	place = trace_expr_next_word(&line, '\0');
	return ends_with(&place, PROBE_RETURN_SUFFIX);
}

int trace_probe_line_parse(struct probe_definition *definition)
{
	const char *rest = definition->line;
	struct expr_word first = trace_expr_next_word(&rest, '\0'), names;
	size_t colon = 1;
	int err = 0;

	while (colon < first.len && first.at[colon] != ':')
		colon++;
	definition->number = (struct expr_word){ first.at + 1, colon - 1 };
	if (colon > 1 && !definition->kind->takes_number)
		return trace_probe_refuse(definition, definition->line + 1,
					  "Maxactive is only for function exit");
	names = (struct expr_word){ first.at + colon + 1, first.len - colon - 1 };
	if (colon < first.len)
		err = parse_names(definition, &names);
	if (err)
		return err;
	definition->place = trace_expr_next_word(&rest, '\0');
	definition->args = rest;
	if (definition->kind->suffix && ends_with(&definition->place, definition->kind->suffix)) {
		definition->has_suffix = true;
		definition->place.len -= trace_strlen(definition->kind->suffix);
	}
	if (!definition->place.len)
		return trace_probe_refuse(
			definition, definition->place.at,
			"Command must be of the form: LETTER[:[GROUP/]NAME] PLACE "
			"[ARGUMENT]...");
	definition->listed = definition->place;
	return 0;
}
