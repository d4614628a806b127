/*
 * Users of an instance's events, and the probes that come and go with them: of tracepoints, or of
 * event classes that have no tracepoint. See event_file.h.
 */
#include <trace/platform.h>
#include "event_file.h"
#include "text/str.h"

static bool wants_probe(const struct trace_event_file *file)
{
	return trace_event_is_on(file) || file->nr_soft;
}

/* Note the change of a tracepoint for an event's first user, or for the last. */
static void note_change(const struct trace_event_file *file, struct tracepoint_change *out)
{
	out->tp = file->call->tp;
	out->func = file->call->event_class->probe;
	out->data = file->call;
	out->prio = TRACEPOINT_DEFAULT_PRIO;
	out->is_add = !file->is_registered;
	out->err = 0;
}

/* Switch off an event whose probe cannot be called for the instance. */
static void give_up(struct trace_event_file *file)
{
	trace_event_flag(file, TRACE_EVENT_RECORDS, false);
}

/* Tell an event that asks for it of a user that has come or gone. */
static void event_use_tell(struct trace_event_call *call)
{
	if (call->event_class && call->event_class->used)
		call->event_class->used(call);
}

static void end_use(struct trace_event_file *file)
{
	struct trace_event_call *call = file->call;

	file->is_registered = false;
	if (!--call->nr_users && call->unreg)
		call->unreg();
	event_use_tell(call);
}

static int begin_use(struct trace_event_file *file)
{
	struct trace_event_call *call = file->call;
	int err = !call->nr_users && call->reg ? call->reg() : 0;

	if (!err) {
		call->nr_users++;
		file->is_registered = true;
		event_use_tell(call);
	}
	return err;
}

/* Does the event have a probe that is switched for many events at once? */
static bool has_probe(const struct trace_event_call *call)
{
	return call->tp || (call->event_class && call->event_class->change);
}

/*
 * Note the files that begin or end to use their event, and mark those that register or unregister
 * its probe. Returns the number of marked ones with a tracepoint, and sets *out_nr_others to the
 * number without; *out_err is set when one cannot begin.
 */
static size_t mark_changes(struct trace_array *tr, size_t *out_nr_others, int *out_err)
{
	struct trace_event_file *file;
	size_t nr = 0;
	int err;

	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (wants_probe(file) == file->is_registered)
			continue;
		if (has_probe(file->call) && file->call->nr_users == file->is_registered) {
			file->has_changed = true;
			++*(file->call->tp ? &nr : out_nr_others);
			continue;
		}
		err = 0;
		if (file->is_registered)
			end_use(file);
		else
			err = begin_use(file);
		if (err)
			*out_err = err;
	}
	return nr;
}

/* Make the marked changes of tracepoints at once. Returns the first error. */
static int event_use_make_changes(struct trace_array *tr, struct tracepoint_change *changes)
{
	struct trace_event_file *file;
	size_t nr = 0;
	int err = 0, reg_err;

	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (!file->has_changed)
			continue;
		note_change(file, &changes[nr]);
		reg_err = file->is_registered ? 0 : begin_use(file);
		if (!reg_err)
			nr++;
		err = err ? err : reg_err;
	}
	reg_err = tracepoint_change_probes(changes, nr);
	nr = 0;
	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (!file->has_changed)
			continue;
		file->has_changed = false;
		/* A file that could not begin has no change. */
		if (changes[nr].data == file->call) {
			if (!changes[nr].is_add || changes[nr].err)
				end_use(file);
			nr++;
		}
		if (!file->is_registered)
			give_up(file);
	}
	return err ? err : reg_err;
}

/* Give up the marked changes of tracepoints, for lack of memory. */
static void drop_changes(struct trace_array *tr)
{
	struct trace_event_file *file;

	for (file = trace_events_of(tr)->files; file; file = file->next_of_array) {
		if (file->has_changed && !file->is_registered)
			give_up(file);
		file->has_changed = false;
	}
}

/* ---- Events without a tracepoint ---- */

/*
 * The next file from `file` on with a marked change for the function `change`; NULL for any
 * function.
 */
static struct trace_event_file *next_other(struct trace_event_file *file,
					   void (*change)(struct trace_event_change *, size_t))
{
	while (file && (!file->has_changed || file->call->tp ||
			(change && file->call->event_class->change != change)))
		file = file->next_of_array;
	return file;
}

/*
 * Make the changes of `file` and of later files with the same function, up to `max`. All of these
 * are settled before the function is called, as it may begin to use other events. The list has the
 * newest event first; the function gets the oldest first. Returns the first error.
 */
static int make_others_of(struct trace_event_file *file, struct trace_event_change *changes,
			  size_t max)
{
	void (*change)(struct trace_event_change *, size_t) = file->call->event_class->change;
	struct trace_array *tr = file->tr;
	size_t nr = 0;
	int err = 0;

	changes += max;
	for (; file && nr < max; file = next_other(file, change), nr++) {
		file->has_changed = false;
		*--changes = (struct trace_event_change){ .call = file->call,
							  .is_begin = !file->is_registered };
		if (file->is_registered)
			end_use(file);
		else
			(void)begin_use(file); /* here without a change of its own */
	}
	change(changes, nr);
	for (size_t i = 0; i < nr; i++) {
		if (!changes[i].is_begin || !changes[i].err)
			continue;
		file = trace_event_file_find(tr, changes[i].call);
		end_use(file);
		give_up(file);
		err = err ? err : changes[i].err;
	}
	return err;
}

/*
 * Make the marked changes of events without a tracepoint, one by one if there is no memory for all
 * at once. Returns the first error.
 */
static TRACE_NOINLINE int make_others(struct trace_array *tr, size_t nr)
{
	struct trace_event_change one, *changes = NULL;
	struct trace_event_file *file;
	int err = 0, one_err;

	if (nr > 1)
		changes = trace_plat_alloc(nr * sizeof(*changes));
	while ((file = next_other(trace_events_of(tr)->files, NULL))) {
		one_err = make_others_of(file, changes ? changes : &one, changes ? nr : 1);
		err = err ? err : one_err;
	}
	if (changes)
		trace_plat_free(changes, nr * sizeof(*changes));
	return err;
}

/*
 * Register and unregister probes of the instance's events as their users demand. Returns 0, or the
 * first error. A single change needs no memory, so that ending the use of one event never fails.
 */
int trace_event_update_probes(struct trace_array *tr)
{
	struct tracepoint_change few[2] = { 0 }, *changes = few;
	int err = 0, change_err;
	size_t nr_others = 0, nr = mark_changes(tr, &nr_others, &err);

	if (nr_others) {
		change_err = make_others(tr, nr_others);
		err = err ? err : change_err;
	}
	if (!nr)
		return err;
	/* One more entry ends the list. */
	if (nr + 1 > TRACE_ARRAY_SIZE(few))
		changes = trace_plat_alloc((nr + 1) * sizeof(*changes));
	if (!changes) {
		drop_changes(tr);
		return err ? err : -ENOMEM;
	}
	change_err = event_use_make_changes(tr, changes);
	if (changes != few)
		trace_plat_free(changes, (nr + 1) * sizeof(*changes));
	return err ? err : change_err;
}
