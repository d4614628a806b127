/*
 * Events by words, as in set_event and in boot parameters. See event_file.h.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "text/str.h"

/* A part of a word, or NULL when it stands for all. */
static const char *part(const char *text)
{
	return *text && !trace_streq(text, "*") ? text : NULL;
}

int trace_events_set_word(struct trace_array *tr, char *word)
{
	struct trace_event_choice choice = { 0 };
	bool on = *word != '!', is_pair;
	char *colon;
	int err;

	word += !on;
	if (!*word)
		return -EINVAL;
	for (colon = word; *colon && *colon != ':';)
		colon++;
	is_pair = *colon;
	if (is_pair) {
		*colon = '\0';
		choice.system = part(word);
		choice.name = part(colon + 1);
	} else {
		choice.match = part(word);
	}
	err = trace_events_switch(tr, &choice, on);
	if (is_pair)
		*colon = ':';
	return err;
}

void trace_events_boot(struct trace_array *tr, char *list, const char *param)
{
	char *word, *end;
	int err;

	for (word = list; *word; word = end) {
		end = word;
		while (*end && *end != ',')
			end++;
		if (*end)
			*end++ = '\0';
		if (!*word)
			continue;
		err = trace_events_set_word(tr, word);
		if (err == -EINVAL)
			trace_plat_log("trace: %s: no such event: %s", param, word);
		else if (err)
			trace_plat_log("trace: %s: error %d at %s", param, -err, word);
	}
}

int trace_events_clear(struct trace_array *tr)
{
	const struct trace_event_choice all = { 0 };

	return trace_events_switch(tr, &all, false);
}
