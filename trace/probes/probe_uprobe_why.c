/* Answers of `why` about probes of programs: places where none can be, and probes that no program has come to. See probe_uprobe.h. */
#include <trace/errno.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/event_file.h"
#include "instance/array.h"
#include "probe_uprobe.h"
#include "text/str.h"

/* ---- Places ---- */

/* The refusal of a place that was found, as listed; 0 if there is none. */
static int uprobe_why_refused(const struct probe_definition *definition, char *out_why, size_t len)
{
	const char *listed = definition->listed.at;
	struct uprobe_file *file;
	char path[PROBE_PATH_MAX];
	size_t path_len = definition->listed.len;
	int err;

	while (listed[path_len - 1] != ':')
		path_len--;
	trace_strcpy(path, listed, path_len);
	err = uprobe_file_get(path, &file);
	if (err)
		return err;
	err = uprobe_refusal(file, definition->target.uprobe.offset, out_why, len);
	uprobe_file_put(file);
	return err;
}

int trace_probe_uprobe_locate(const char *line, struct trace_seq *seq)
{
	struct dyn_event_error error = { .why = "it is no place" };
	struct probe_definition definition = { .kind = &trace_probe_uprobe_kind,
					       .error = &error,
					       .line = line };
	char why[100] = "";
	int err = trace_probe_line_parse(&definition);

	if (!err)
		err = trace_probe_uprobe_find(&definition);
	if (!err) {
		trace_seq_write(seq, definition.listed.at, definition.listed.len);
		error.why = why;
		err = uprobe_why_refused(&definition, why, sizeof(why));
	}
	if (err)
		trace_seq_printf(seq, "%sno probe can be there: %s\n", seq->len ? ", " : "",
				 error.why);
	else
		trace_seq_puts(seq, ", where a probe can be\n");
	return err;
}

/* ---- Probes that are not hit ---- */

struct uprobe_unhit {
	char event[TRACE_SYM_LEN];
	char place[PROBE_PATH_MAX];
};

static bool uprobe_why_has_unhit(const struct trace_event_file *file, struct uprobe_unhit *out)
{
	const struct probe *probe;

	if (!trace_event_is_on(file) || !trace_probe_is_of_program(file->call))
		return false;
	for (probe = trace_probe_event_of(file->call)->first; probe; probe = probe->next) {
		if (probe->nr_hits)
			continue;
		trace_strcpy(out->event, file->call->event.name, sizeof(out->event));
		trace_strcpy(out->place, trace_probe_place_text(probe), sizeof(out->place));
		return true;
	}
	return false;
}

/* Unhit event number `nth` of the instance, from 0. Removed events are freed after a grace period. */
static bool uprobe_why_find(const struct trace_why *why, uint32_t nth, struct uprobe_unhit *out)
{
	const struct trace_event_file *file;
	bool found = false;

	trace_plat_preempt_disable();
	for (file = trace_events_of(why->tr)->files; file && !found; file = file->next_of_array)
		found = uprobe_why_has_unhit(file, out) && !nth--;
	trace_plat_preempt_enable();
	return found;
}

static void uprobe_why_say(struct trace_why *why)
{
	struct uprobe_unhit unhit;

	for (uint32_t i = 0; i < TRACE_WHY_MAX_NAMED && uprobe_why_find(why, i, &unhit); i++)
		trace_why_say(why, "The probe %s is not hit: no program has come to %s so far.",
			      unhit.event, unhit.place);
}

const struct trace_why_check trace_probe_uprobe_whys[] = {
	{ TRACE_WHY_EVENTS, uprobe_why_say },
	{ .say = NULL },
};
