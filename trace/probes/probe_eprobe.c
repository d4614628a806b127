/*
 * Probes of events, `e:`: an event that is made of another one, with fewer fields or with the data
 * behind their pointers; only of those that pass a filter, if there is an `if FILTER` at the end of
 * the line. See probe.h.
 */
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "events/event_file.h"
#include "events/filter.h"
#include "instance/event_private.h"
#include "probe_hit.h"
#include "probe_shell.h"
#include "probe_switch.h"
#include "text/str.h"

/* GROUP.EVENT or GROUP/EVENT. NULL: there is no such event. */
static struct trace_event_call *find_source(const struct expr_word *place)
{
	struct expr_word event = *place, group = expr_take_until(&event, "./");
	struct trace_event_call *call;

	event = expr_behind(&event, event.len != 0);
	call = trace_event_call_named(&group, &event);
	return call && trace_event_is_switched(&call->event) ? call : NULL;
}

static int probe_eprobe_find_event(struct probe_definition *definition)
{
	const struct expr_word *place = &definition->place;
	struct trace_event_call *call;
	bool has_name = false;

	for (size_t i = 1; i + 1 < place->len; i++)
		has_name |= place->at[i] == '.' || place->at[i] == '/';
	if (!has_name)
		return trace_probe_refuse(definition, place->at,
					  "This requires both group and event name to attach");
	call = find_source(place);
	if (!call)
		return trace_probe_blame(definition, place->at, "Attached event does not exist",
					 -ENODEV);
	definition->target.source.call = call;
	definition->context.place = FETCH_AT_EVENT;
	definition->context.event = &call->event;
	trace_strcpy(definition->default_name, call->event.name, sizeof(definition->default_name));
	return 0;
}

/* As GROUP/EVENT if the line has a slash there, otherwise with a dot. */
static void offer_sources(const struct dyn_event_completion *completion, const char *at)
{
	char name[2 * TRACE_SYM_LEN], between = '.';
	const struct trace_dyn_event_word word = { .text = name, .hint = "" };

	for (const char *c = at; *c; c++)
		between = *c == '/' ? '/' : between;
	trace_events_lock();
	for (size_t i = 0; i < trace_nr_events(); i++) {
		const struct trace_event *event = trace_event_at(i);

		if (!trace_event_is_switched(event))
			continue;
		trace_snprintf(name, sizeof(name), "%s%c%s", event->system, between, event->name);
		trace_dyn_event_offer(completion, at, &word);
	}
	trace_events_unlock();
}

/* ---- if FILTER ---- */

/* The filter on events of the source. */
struct probe_condition {
	struct expr_program *filter;
	size_t bytes; /* of this */
	char text[];
};

/* The blank in front of ` if ` in a line, or NULL. */
static const char *find_if(const char *line)
{
	struct expr_word word;

	while ((word = trace_expr_next_word(&line, '\0')).len) {
		if (trace_expr_is(&word, "if"))
			return word.at - 1;
	}
	return NULL;
}

/* A mistake is in `text`, or behind its end. */
static int blame_filter(const struct probe_definition *definition, const struct expr_error *error,
			int err)
{
	const char *text = definition->condition;
	size_t len = trace_strlen(text);

	return trace_probe_blame(
		definition, text + (error->pos < len ? error->pos : len),
		error->why == trace_filter_syntax ? "Invalid filter behind 'if'" : error->why, err);
}

static int attach_event(struct probe *probe, const struct probe_definition *definition)
{
	const char *text = definition->condition;
	struct expr_error error = { 0 };
	struct probe_condition *condition;
	size_t bytes;
	int err;

	if (!text)
		return 0;
	if (!*text)
		return trace_probe_refuse(definition, text, "No filter rule after 'if'");
	bytes = sizeof(*condition) + trace_strlen(text) + 1;
	condition = trace_plat_alloc(bytes);
	if (!condition)
		return -ENOMEM;
	err = trace_filter_compile(&probe->target.source.call->event, text, &condition->filter,
				   &error);
	if (err) {
		trace_plat_free(condition, bytes);
		return err == -ENOMEM ? err : blame_filter(definition, &error, err);
	}
	condition->bytes = bytes;
	trace_strcpy(condition->text, text, bytes - sizeof(*condition));
	probe->target.source.condition = condition;
	return 0;
}

static void detach_event(struct probe *probe)
{
	struct probe_condition *condition = probe->target.source.condition;

	if (!condition)
		return;
	trace_expr_free(condition->filter);
	trace_plat_free(condition, condition->bytes);
}

static const char *probe_eprobe_condition_of(const struct probe *probe)
{
	const struct probe_condition *condition = probe->target.source.condition;

	return condition ? condition->text : NULL;
}

/* ---- The source ---- */

static struct probe *probe_of_watch(struct trace_event_watch *watch)
{
	return (struct probe *)((char *)watch - offsetof(struct probe, target.source.watch));
}

static void event_hit(struct trace_event_watch *watch, const struct trace_event_hit *hit)
{
	const struct probe_head none = { 0, 0 };

	(void)probe_hit(probe_of_watch(watch), hit->entry, none);
}

/* With a condition. */
static void event_hit_if(struct trace_event_watch *watch, const struct trace_event_hit *hit)
{
	const struct probe_condition *condition = probe_of_watch(watch)->target.source.condition;

	if (trace_expr_match(condition->filter, hit->entry, hit->bytes))
		event_hit(watch, hit);
}

static int begin_event(struct probe *probe)
{
	struct trace_event_file *file =
		trace_event_file_get(&trace_global, probe->target.source.call);
	const bool is_conditional = probe->target.source.condition;
	int err;

	if (!file)
		return -ENOMEM;
	probe->target.source.watch.func = is_conditional ? event_hit_if : event_hit;
	/* A condition may look at the head; arguments cannot. */
	probe->target.source.watch.ignores_head = !is_conditional;
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

static const struct trace_event_call *probe_eprobe_source_of(const struct trace_event_call *call)
{
	return trace_probe_event_of(call)->first->target.source.call;
}

static const struct trace_event_class event_class = {
	.system = "eprobes",
	.change = trace_probes_change,
	.source = probe_eprobe_source_of,
};

static const struct probe_kind event_kind = {
	.log_name = "event_probe",
	.group = "eprobes",
	.letter = 'e',
	.head_bytes = sizeof(struct trace_entry),
	.event_class = &event_class,
	.target_bytes = PROBE_TARGET_BYTES(source),
	.dyn_kind = &trace_probe_dyn_kinds[PROBE_DYN_EVENT],
	.offer_places = offer_sources,
	.find = probe_eprobe_find_event,
	.attach = attach_event,
	.detach = detach_event,
	.condition = probe_eprobe_condition_of,
	.print_head = print_source,
	.begin = begin_event,
	.end = end_event,
};

bool trace_probe_event_claims(const char *line)
{
	return trace_probe_line_is(line, event_kind.letter);
}

/* Its line without the condition is as that of the other kinds. */
int trace_probe_event_create(const char *line, struct dyn_event_error *error)
{
	const char *at = find_if(line), *condition = at;
	size_t bytes = at ? (size_t)(at - line) + 1 : 0;
	char *copy;
	int err;

	if (!at)
		return trace_probe_define(&event_kind, line, error);
	(void)trace_expr_next_word(&condition, '\0');
	while (trace_is_space(*condition))
		condition++;
	copy = trace_plat_alloc(bytes);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, line, bytes - 1);
	err = trace_probe_define_if(&event_kind, copy, condition, error);
	if (error->at >= copy && error->at < copy + bytes)
		error->at = line + (error->at - copy);
	trace_plat_free(copy, bytes);
	return err;
}

void trace_probe_event_complete(struct dyn_event_completion *completion)
{
	trace_probe_complete(&event_kind, completion);
}

/* ---- Events that are probed ---- */

bool trace_probe_event_goes(struct trace_event_call *call)
{
	const struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(&trace_probe_dyn_kinds[PROBE_DYN_EVENT], dyn))) {
		if (trace_probe_of(dyn)->target.source.call == call && !dyn->is_chosen)
			return false;
	}
	return true;
}
