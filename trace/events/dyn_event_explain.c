/* Explanations in words of events that were defined by lines. See <trace/dyn_events.h>. */
#include <trace/dyn_events.h>
#include <trace/errno.h>
#include <trace/trace_events.h>
#include <trace/trace_seq.h>
#include "dyn_event.h"
#include "event_file.h"
#include "instance/array.h"
#include "text/str.h"

#define INDENT	    "    "
#define INDENT_MORE INDENT INDENT

/* An event's name taken apart. */
struct dyn_event_wanted {
	char group[TRACE_SYM_LEN]; /* "" for any */
	const char *name;
};

static int dyn_explain_split_name(const char *text, struct dyn_event_wanted *out)
{
	size_t len = 0;

	while (text[len] && text[len] != '/' && text[len] != ':' && text[len] != '.')
		len++;
	*out = (struct dyn_event_wanted){ .name = text };
	if (!text[len])
		return 0;
	if (!len || len >= sizeof(out->group))
		return -ENOENT;
	trace_strcpy(out->group, text, len + 1);
	out->name = text + len + 1;
	return 0;
}

static bool dyn_explain_is_wanted(const struct dyn_event_wanted *wanted,
				  const struct trace_event *event)
{
	return trace_streq(event->name, wanted->name) &&
	       (!wanted->group[0] || trace_streq(event->system, wanted->group));
}

/* Write the use of an event by one instance. */
static void put_use(const struct trace_event_file *file, struct trace_seq *seq)
{
	trace_seq_puts(seq, trace_event_is_on(file) ? "on" : "off");
	if (file->triggers)
		trace_seq_puts(seq, " with triggers");
	else if (file->nr_soft)
		trace_seq_puts(seq, " and in use");
	if (file->tr->name[0])
		trace_seq_printf(seq, " in instance %s", file->tr->name);
}

/*
 * Write the use of an event by each instance that has one; with any use the event cannot be
 * removed.
 */
static void put_uses(const struct trace_event_call *call, struct trace_seq *seq)
{
	const char *before = "";

	for (struct trace_event_file *file = call->files; file; file = file->next_of_call) {
		if (!trace_event_is_on(file) && !file->nr_soft)
			continue;
		trace_seq_puts(seq, before);
		put_use(file, seq);
		before = ", ";
	}
	if (!*before)
		trace_seq_puts(seq, "off");
}

static void explain_head(const struct trace_event_call *call, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%s/%s: a dynamic event, ", call->event.system, call->event.name);
	put_uses(call, seq);
	trace_seq_putc(seq, '\n');
}

static void explain_one(const struct dyn_event *dyn, struct trace_seq *seq)
{
	trace_seq_puts(seq, INDENT);
	dyn->kind->show(dyn, seq);
	if (dyn->kind->explain)
		dyn->kind->explain(dyn, INDENT_MORE, seq);
}

/*
 * Explain all lines that define the event, which have its call. Returns false when there are none.
 */
static bool explain_all(const struct dyn_event_wanted *wanted, struct trace_seq *seq)
{
	const struct trace_event_call *call = NULL;
	const struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(NULL, dyn))) {
		if (call ? dyn->call != call : !dyn_explain_is_wanted(wanted, &dyn->call->event))
			continue;
		if (!call)
			explain_head(dyn->call, seq);
		call = dyn->call;
		explain_one(dyn, seq);
	}
	return call;
}

int trace_dyn_event_explain(const char *name, struct trace_seq *seq)
{
	struct dyn_event_wanted wanted;
	int err = dyn_explain_split_name(name, &wanted);

	if (err)
		return err;
	trace_plat_lock(&trace_config_lock);
	if (!explain_all(&wanted, seq))
		err = wanted.group[0] && trace_event_call_find(wanted.group, wanted.name) ? -EINVAL
											  : -ENOENT;
	trace_plat_unlock(&trace_config_lock);
	return err;
}

int trace_dyn_event_explain_place(const char *line, struct trace_seq *seq)
{
	const struct dyn_event_kind *kind;
	int err = -ENOENT;

	trace_plat_lock(&trace_config_lock);
	kind = trace_dyn_event_kind_of(line);
	if (kind && kind->locate)
		err = kind->locate(line, seq);
	trace_plat_unlock(&trace_config_lock);
	return err;
}
