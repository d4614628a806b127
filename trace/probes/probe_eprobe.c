/*
 * Probes of events, `e:`: an event that is made of another one, with fewer fields or with what their
 * pointers lead to. See probe.h.
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "events/event_file.h"
#include "probe.h"
#include "text/str.h"

/* GROUP.EVENT or GROUP/EVENT. NULL: there is no such event. */
static struct trace_event_call *find_source(const struct fetch_word *place)
{
	char text[2 * TRACE_SYM_LEN];
	char *name = text;

	if (place->len >= sizeof(text))
		return NULL;
	memcpy(text, place->at, place->len);
	text[place->len] = '\0';
	while (*name && *name != '.' && *name != '/')
		name++;
	if (!*name)
		return NULL;
	*name++ = '\0';
	return trace_event_call_find(text, name);
}

static int find_event(struct probe_definition *definition)
{
	const struct fetch_word *place = &definition->place;
	struct trace_event_call *call;
	bool has_name = false;

	for (size_t i = 1; i + 1 < place->len; i++)
		has_name |= place->at[i] == '.' || place->at[i] == '/';
	if (!has_name)
		return probe_blame(definition, place->at,
				   "This requires both group and event name to attach", -EINVAL);
	call = find_source(place);
	if (!call)
		return probe_blame(definition, place->at, "Attached event does not exist", -ENOENT);
	definition->target.source.call = call;
	definition->context.place = FETCH_AT_EVENT;
	definition->context.event = &call->event;
	trace_strcpy(definition->default_name, call->event.name, sizeof(definition->default_name));
	return 0;
}

static struct probe *probe_of_watch(struct trace_event_watch *watch)
{
	return (struct probe *)((char *)watch - offsetof(struct probe, target.source.watch));
}

static void event_hit(struct trace_event_watch *watch, const struct trace_event_hit *hit)
{
	probe_hit(probe_of_watch(watch), hit->entry, NULL, 0);
}

static int begin_event(struct probe *probe)
{
	struct trace_event_file *file =
		trace_event_file_get(&trace_global, probe->target.source.call);
	int err;

	if (!file)
		return -ENOMEM;
	probe->target.source.watch.func = event_hit;
	err = trace_event_watch_add(file, &probe->target.source.watch);
	if (!err)
		probe->target.source.file = file;
	return err;
}

static void end_event(struct probe *probe)
{
	trace_event_watch_remove(probe->target.source.file, &probe->target.source.watch);
	probe->target.source.file = NULL;
}

/* ---- The kind ---- */

static void print_source(const struct trace_iter *iter, const struct probe_event *event,
			 struct trace_seq *seq)
{
	const struct trace_event *source = &event->first->target.source.call->event;

	(void)iter;
	trace_seq_printf(seq, "%s.%s", source->system, source->name);
}

static const struct trace_event_call *source_of(const struct trace_event_call *call)
{
	return probe_event_of(call)->first->target.source.call;
}

static const struct trace_event_class event_class = {
	.system = "eprobes",
	.change = probes_change,
	.source = source_of,
};

static const struct probe_kind event_kind = {
	.log_name = "event_probe",
	.group = "eprobes",
	.letter = 'e',
	.head_bytes = sizeof(struct trace_entry),
	.event_class = &event_class,
	.dyn_kind = &probe_dyn_kinds[PROBE_DYN_EVENT],
	.find = find_event,
	.print_head = print_source,
	.begin = begin_event,
	.end = end_event,
};

bool probe_event_claims(const char *line)
{
	return probe_line_is(line, event_kind.letter);
}

int probe_event_create(const char *line, struct dyn_event_error *error)
{
	return probe_define(&event_kind, line, error);
}

/* ---- Events that are probed ---- */

bool probe_event_goes(struct trace_event_call *call)
{
	const struct dyn_event *dyn = NULL;

	while ((dyn = dyn_event_next(&probe_dyn_kinds[PROBE_DYN_EVENT], dyn))) {
		if (probe_of(dyn)->target.source.call == call && !dyn->is_chosen)
			return false;
	}
	return true;
}
