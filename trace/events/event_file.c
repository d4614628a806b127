/*
 * See event_file.h.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "instance/event_private.h"
#include "text/str.h"

struct trace_event_file *trace_event_file_find(const struct trace_array *tr,
					       const struct trace_event_call *call)
{
	struct trace_event_file *file = call->files;

	while (file && file->tr != tr)
		file = file->next_of_call;
	return file;
}

/* As trace_event_file_find(), but made when there is none; NULL when out of memory. */
static struct trace_event_file *trace_event_file_get(struct trace_array *tr,
						     struct trace_event_call *call)
{
	struct trace_event_file *file = trace_event_file_find(tr, call);
	struct trace_array_events *events = trace_events_of(tr);

	if (file)
		return file;
	file = trace_plat_alloc(sizeof(*file));
	if (!file)
		return NULL;
	file->call = call;
	file->tr = tr;
	file->own_depth = call->is_atomic ? 0 : 1;
	file->next_of_call = call->files;
	call->files = file;
	file->next_of_array = events->files;
	events->files = file;
	return file;
}

static bool is_chosen(const struct trace_event_choice *choice, const struct trace_event *event)
{
	if (choice->call)
		return choice->call == event->call;
	if (choice->match)
		return trace_glob_match(choice->match, event->name) ||
		       trace_glob_match(choice->match, event->system);
	return (!choice->system || trace_glob_match(choice->system, event->system)) &&
	       (!choice->name || trace_glob_match(choice->name, event->name));
}

/*
 * The next trace event that is meant; *at is 0 at first, and belongs to this function. NULL behind
 * the last. trace_events_lock() is held.
 */
static struct trace_event_call *trace_event_next_chosen(const struct trace_event_choice *choice,
							size_t *at)
{
	while (*at < trace_nr_events()) {
		const struct trace_event *event = trace_event_at((*at)++);

		if (event->call && is_chosen(choice, event))
			return event->call;
	}
	return NULL;
}

static bool wants_probe(const struct trace_event_file *file)
{
	return trace_event_is_on(file) || file->nr_soft;
}

static struct tracepoint_change change_of(const struct trace_event_file *file)
{
	return (struct tracepoint_change){ .tp = file->call->tp,
					   .func = file->call->event_class->probe,
					   .data = (void *)(uintptr_t)file,
					   .prio = TRACEPOINT_DEFAULT_PRIO,
					   .is_add = !file->is_registered };
}

/* A probe of the call is about to be registered; the first one tells the call. */
static int begin_probe(struct trace_event_call *call)
{
	int err = !call->nr_probes && call->reg ? call->reg() : 0;

	if (!err)
		call->nr_probes++;
	return err;
}

/* A probe is gone, or was not registered after all. */
static void end_probe(struct trace_event_call *call)
{
	if (!--call->nr_probes && call->unreg)
		call->unreg();
}

/* The change was made, or cannot be made: an event without a probe is off. */
static void settle(struct trace_event_file *file)
{
	file->has_changed = false;
	if (!file->is_registered)
		trace_event_flag(file, TRACE_EVENT_RECORDS, false);
}

/* Mark the files whose probes have to be registered or unregistered, and count them. */
static size_t mark_changes(struct trace_array *tr, int *out_err)
{
	struct trace_event_file *file;
	size_t nr = 0;
	int err;

	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (wants_probe(file) == file->is_registered)
			continue;
		err = file->is_registered ? 0 : begin_probe(file->call);
		if (err) {
			*out_err = err;
			settle(file);
			continue;
		}
		file->has_changed = true;
		nr++;
	}
	return nr;
}

/* Make the marked changes in one go. Returns the first error. */
static int make_changes(struct trace_array *tr, struct tracepoint_change *changes, size_t nr)
{
	struct trace_event_file *file;
	size_t at = 0;
	int err;

	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (file->has_changed)
			changes[at++] = change_of(file);
	}
	err = tracepoint_change_probes(changes, nr);
	for (size_t i = 0; i < nr; i++) {
		file = changes[i].data;
		if (!changes[i].err)
			file->is_registered = changes[i].is_add;
		if (!file->is_registered)
			end_probe(file->call);
	}
	return err;
}

/* Have the probes of the instance's events registered as they are wanted. 0, or the first error. */
static int update_probes(struct trace_array *tr)
{
	struct tracepoint_change *changes;
	struct trace_event_file *file;
	int err = 0, change_err = 0;
	size_t nr = mark_changes(tr, &err);

	if (!nr)
		return err;
	changes = trace_plat_alloc(nr * sizeof(*changes));
	if (changes) {
		change_err = make_changes(tr, changes, nr);
		trace_plat_free(changes, nr * sizeof(*changes));
	} else {
		change_err = -ENOMEM;
	}
	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (!file->has_changed)
			continue;
		if (!changes && !file->is_registered)
			end_probe(file->call);
		settle(file);
	}
	return err ? err : change_err;
}

static int switch_one(struct trace_array *tr, struct trace_event_call *call, bool on)
{
	struct trace_event_file *file;

	file = on ? trace_event_file_get(tr, call) : trace_event_file_find(tr, call);
	if (!file)
		return on ? -ENOMEM : 0;
	trace_event_flag(file, TRACE_EVENT_RECORDS, on);
	return 0;
}

int trace_events_switch(struct trace_array *tr, const struct trace_event_choice *choice, bool on)
{
	struct trace_event_call *call;
	size_t at = 0;
	bool is_any = false;
	int err = on ? trace_array_expand(tr) : 0;
	int update_err;

	trace_events_lock();
	while (!err && (call = trace_event_next_chosen(choice, &at))) {
		is_any = true;
		err = switch_one(tr, call, on);
	}
	trace_events_unlock();
	update_err = update_probes(tr);
	if (!err && !is_any)
		err = -EINVAL;
	return err ? err : update_err;
}

int trace_event_soft_get(struct trace_event_file *file)
{
	int err = file->nr_soft++ ? 0 : trace_array_expand(file->tr);

	if (!err)
		err = update_probes(file->tr);
	if (err)
		file->nr_soft--;
	return err;
}

void trace_event_soft_put(struct trace_event_file *file)
{
	file->nr_soft--;
	(void)update_probes(file->tr);
}

static const char *state_of_one(const struct trace_event_file *file)
{
	if (!file || !file->nr_soft)
		return file && trace_event_is_on(file) ? "1" : "0";
	return trace_event_is_on(file) ? "1*" : "0*";
}

const char *trace_events_state(const struct trace_array *tr,
			       const struct trace_event_choice *choice)
{
	bool is_any_on = false, is_any_off = false;
	const struct trace_event_file *file;
	struct trace_event_call *call;
	size_t at = 0;

	if (choice->call)
		return state_of_one(trace_event_file_find(tr, choice->call));
	trace_events_lock();
	while ((call = trace_event_next_chosen(choice, &at))) {
		file = trace_event_file_find(tr, call);
		if (file && file->is_registered)
			is_any_on = true;
		else
			is_any_off = true;
	}
	trace_events_unlock();
	if (is_any_on && is_any_off)
		return "X";
	if (!is_any_on && !is_any_off)
		return "?";
	return is_any_on ? "1" : "0";
}

void trace_events_array_gone(struct trace_array *tr)
{
	struct trace_event_file *file;

	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		struct trace_event_file **at = &file->call->files;

		file->nr_soft = 0;
		trace_event_flag(file, TRACE_EVENT_RECORDS, false);
		while (*at != file)
			at = &(*at)->next_of_call;
		*at = file->next_of_call;
	}
	(void)update_probes(tr);
}

void trace_events_array_free(struct trace_array *tr)
{
	struct trace_event_file *file, *next;

	for (file = trace_events_of(tr)->files; file; file = next) {
		next = file->next_of_array;
		trace_plat_free(file, sizeof(*file));
	}
	trace_events_of(tr)->files = NULL;
}
