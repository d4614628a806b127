/* Events defined by lines: the list, removal, lines. See dyn_event.h. */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "dyn_event.h"
#include "expr/expr_cursor.h"
#include "event_call.h"
#include "feature/list.h"
#include "text/str.h"

static struct dyn_event *first_event; /* the list, in order of definition */
static struct dyn_event *last_event;

struct dyn_event *trace_dyn_event_next(const struct dyn_event_kind *kind,
				       const struct dyn_event *event)
{
	struct dyn_event *next = event ? event->next : first_event;

	while (next && kind && next->kind != kind)
		next = next->next;
	return next;
}

static void dyn_event_append(struct dyn_event *event)
{
	event->next = NULL;
	if (last_event)
		last_event->next = event;
	else
		first_event = event;
	last_event = event;
}

int trace_dyn_event_add(struct dyn_event *event)
{
	int err = trace_event_call_add(event->call);

	if (!err)
		dyn_event_append(event);
	return err;
}

void trace_dyn_event_join(struct dyn_event *event, struct dyn_event *first)
{
	event->call = first->call;
	event->is_shared = true;
	first->is_shared = true;
	dyn_event_append(event);
}

/* ---- Removal ---- */

static char in_use[200];

const char *trace_dyn_events_in_use(void)
{
	return in_use;
}

static int dyn_event_begin_one(const struct dyn_event *event)
{
	const struct trace_event *type = &event->call->event;
	int err;

	if (!event->is_chosen)
		return 0;
	err = event->nr_held ? -EBUSY : trace_event_call_begin_removal(event->call);
	if (err == -EBUSY)
		trace_snprintf(in_use, sizeof(in_use),
			       "%s/%s is in use: it is on or has triggers in some instance, or "
			       "another event needs it, or something of it is open",
			       type->system, type->name);
	return err;
}

/* Begin the removal of all chosen events, or of none. */
static int begin_removal(void)
{
	struct dyn_event *event = NULL, *begun = NULL;
	int err = 0;

	while (!err && (event = trace_dyn_event_next(NULL, event)))
		err = dyn_event_begin_one(event);
	while (err && (begun = trace_dyn_event_next(NULL, begun)) != event) {
		if (begun->is_chosen)
			trace_event_call_cancel_removal(begun->call);
	}
	return err;
}

/* Does another event in the list have the same call? */
static bool has_sibling(const struct dyn_event *event)
{
	const struct dyn_event *other = NULL;

	while (event->is_shared && (other = trace_dyn_event_next(NULL, other))) {
		if (other != event && other->call == event->call)
			return true;
	}
	return false;
}

static struct dyn_event_kinds *all_kinds;

void trace_dyn_event_kinds_register(struct dyn_event_kinds *kinds)
{
	TRACE_LIST_ADD(all_kinds, kinds);
}

static void prepare_removal(void)
{
	const struct dyn_event_kind *kind;

	for (const struct dyn_event_kinds *at = all_kinds; at; at = at->next) {
		for (kind = at->kinds; kind->name; kind++) {
			if (kind->prepare_free)
				kind->prepare_free(kind);
		}
	}
}

/* End the event's use of its call, after it has left the list. */
static void leave(struct dyn_event *event)
{
	event->has_left = !has_sibling(event);
	if (event->has_left)
		trace_event_call_leave(event->call);
	else
		trace_event_call_cancel_removal(event->call);
}

/* Take the chosen events out of the list. Returns them, in order. */
static struct dyn_event *take_chosen(void)
{
	struct dyn_event **at = &first_event, *event, *taken = NULL, **end = &taken;

	last_event = NULL;
	while ((event = *at)) {
		if (!event->is_chosen) {
			last_event = event;
			at = &event->next;
			continue;
		}
		*at = event->next;
		leave(event);
		event->next = NULL;
		*end = event;
		end = &event->next;
	}
	return taken;
}

static void remove_chosen(void)
{
	struct dyn_event *event = take_chosen(), *next;

	tracepoint_synchronize_unregister();
	for (; event; event = next) {
		next = event->next;
		if (event->has_left)
			trace_event_call_left(event->call);
		event->kind->free(event);
	}
}

/* Remove the chosen events, if possible. Afterwards none is chosen. */
static int remove_or_keep(void)
{
	struct dyn_event *event = NULL;
	int err = begin_removal();

	if (!err) {
		prepare_removal();
		remove_chosen();
	}
	while ((event = trace_dyn_event_next(NULL, event)))
		event->is_chosen = false;
	return err;
}

/*
 * Does a removal of [SYSTEM/]NAME mean this event? SYSTEM/ alone means all probes of that system,
 * never synthetic events, which all have one system.
 */
static bool dyn_event_is_meant(const struct dyn_event *event, const char *system, const char *name,
			       const char *rest)
{
	const struct trace_event *type = &event->call->event;
	bool is_all = system && !*name && event->kind->matches;

	return (is_all || trace_streq(type->name, name)) &&
	       (!system || trace_streq(type->system, system)) &&
	       (!event->kind->matches || event->kind->matches(event, rest));
}

int trace_dyn_events_remove(const struct dyn_event_kind *kind, const char *system, const char *name,
			    const char *rest)
{
	struct dyn_event *event = NULL;
	bool is_any = false;

	while ((event = trace_dyn_event_next(kind, event))) {
		event->is_chosen = dyn_event_is_meant(event, system, name, rest);
		is_any |= event->is_chosen;
	}
	return is_any ? remove_or_keep() : -ENOENT;
}

int trace_dyn_events_remove_all(const struct dyn_event_kind *kind)
{
	struct dyn_event *event = NULL;

	while ((event = trace_dyn_event_next(kind, event)))
		event->is_chosen = true;
	return remove_or_keep();
}

/* ---- Lines ---- */

bool trace_dyn_event_is_reserved(const struct expr_word *name)
{
	return trace_expr_is(name, "enable") || trace_expr_is(name, "filter");
}

int trace_dyn_event_blame(struct dyn_event_error *error, const char *at, const char *why, int err)
{
	error->at = at;
	error->why = why;
	return err;
}

static char *dyn_event_find(char *text, char what)
{
	while (*text && *text != what)
		text++;
	return *text ? text : NULL;
}

static int run_removal(const struct dyn_event_kind *kind, char *line, struct dyn_event_error *error)
{
	char *rest = line, *name, *slash, *system = NULL;
	int err;

	while (*rest && !trace_is_space(*rest))
		rest++;
	if (*rest)
		*rest++ = '\0';
	while (trace_is_space(*rest))
		rest++;
	name = *line == '-' ? line + 1 : dyn_event_find(line, ':');
	if (!name || *name != ':' || !name[1])
		return trace_dyn_event_blame(
			error, line, "Removal must be of the form: -:[system/]name", -EINVAL);
	name++;
	slash = dyn_event_find(name, '/');
	if (slash) {
		*slash = '\0';
		system = name;
		name = slash + 1;
	}
	err = trace_dyn_events_remove(kind, system, name, rest);
	if (err == -ENOENT)
		(void)trace_dyn_event_blame(
			error, system ? system : name,
			*rest ? "There is no such event at that place, with these arguments"
			      : "There is no such event",
			-EINVAL);
	else if (err == -EBUSY)
		(void)trace_dyn_event_blame(error, system ? system : name, in_use, -EINVAL);
	return err;
}

const struct dyn_event_kind *trace_dyn_event_kind_of(const char *line)
{
	const struct dyn_event_kind *kind;

	for (const struct dyn_event_kinds *at = all_kinds; at; at = at->next) {
		for (kind = at->kinds; kind->name; kind++) {
			if (kind->claims(line))
				return kind;
		}
	}
	return NULL;
}

int trace_dyn_event_run_of(const struct dyn_event_kind *kind, char *line,
			   struct dyn_event_error *out_error)
{
	const struct dyn_event_kind *own;

	while (trace_is_space(*line))
		line++;
	if (!*line)
		return 0;
	if (*line == '-' || *line == '!')
		return run_removal(kind, line, out_error);
	own = trace_dyn_event_kind_of(line);
	if (!own)
		return trace_dyn_event_blame(out_error, line, "There are no events of this kind",
					     -EINVAL);
	if (kind && own != kind)
		return trace_dyn_event_blame(out_error, line,
					     "Events of this kind are for dynamic_events", -EINVAL);
	return own->create(line, out_error);
}

int trace_dyn_event_run(char *line, struct dyn_event_error *out_error)
{
	return trace_dyn_event_run_of(NULL, line, out_error);
}
