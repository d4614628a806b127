/*
 * Events by words: what set_event and boot parameters take. See event_file.h.
 */
#include "event_file.h"
#include "text/str.h"

/* A part of a word, or NULL when it means all. */
static const char *part(const char *text)
{
	return *text && !trace_streq(text, "*") ? text : NULL;
}

int trace_events_set_word(struct trace_array *tr, char *word)
{
	struct trace_event_choice choice = { 0 };
	bool on = *word != '!';
	char *colon;

	word += !on;
	if (!*word)
		return -EINVAL;
	for (colon = word; *colon && *colon != ':';)
		colon++;
	if (*colon) {
		*colon = '\0';
		choice.system = part(word);
		choice.name = part(colon + 1);
	} else {
		choice.match = part(word);
	}
	return trace_events_switch(tr, &choice, on);
}

int trace_events_clear(struct trace_array *tr)
{
	const struct trace_event_choice all = { 0 };
	int err = trace_events_switch(tr, &all, false);

	return err == -EINVAL ? 0 : err; /* there are no events at all */
}
