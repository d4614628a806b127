/* Making, finding and removing user events; lines `u:NAME FIELDS` of dynamic_events. See user_event.h. */
#include <trace/errno.h>
#include <trace/fmt.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <trace/trace_seq.h>
#include "events/event_call.h"
#include "instance/array.h"
#include "text/str.h"
#include "user_event.h"

#define USER_SYSTEM	  "user_events"
#define USER_SYSTEM_MULTI "user_events_multi"
#define USER_FORM	  "Command must be of the form: u:NAME [TYPE FIELD[; TYPE FIELD]...]"
#define USER_NUMBER_BYTES 20u /* `.` and the number of an event of several formats */

/* The memory for a definition, and the layout of its event. */
struct user_event_size {
	uint32_t nr_fields, entry_bytes;
	size_t text_bytes, fmt_bytes;
};

static struct trace_user_event *user_event_of_dyn(const struct dyn_event *dyn)
{
	return user_event_of_call(dyn->call);
}

/* ---- In use, or not ---- */

#define USER_SWEEP_NS 100000000u

static struct trace_plat_later user_event_later;

static bool user_event_is_left(const struct trace_user_event *event)
{
	return !atomic_load(&event->nr_refs) && !(event->flags & TRACE_USER_EVENT_PERSIST) &&
	       !event->is_kept;
}

static struct trace_user_event *user_event_next_left(void)
{
	struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(trace_user_event_kinds, dyn))) {
		if (user_event_is_left(user_event_of_dyn(dyn)))
			return user_event_of_dyn(dyn);
	}
	return NULL;
}

/*
 * Remove events that have no references any more. One that is on is looked at again when that ends, one of
 * which a file is open a little later.
 */
static void user_event_sweep(void)
{
	struct trace_user_event *event;
	struct dyn_event *dyn = NULL;
	bool is_open = false;

	trace_plat_lock(&trace_config_lock);
	while ((event = user_event_next_left())) {
		event->is_kept = true;
		if (trace_dyn_events_remove(trace_user_event_kinds, event->call.event.system,
					    event->call.event.name, ""))
			is_open |= !event->is_on;
	}
	while ((dyn = trace_dyn_event_next(trace_user_event_kinds, dyn)))
		user_event_of_dyn(dyn)->is_kept = false;
	trace_plat_unlock(&trace_config_lock);
	if (is_open)
		trace_plat_call_later(&user_event_later, user_event_sweep, USER_SWEEP_NS);
}

void trace_user_event_get(struct trace_user_event *event)
{
	atomic_fetch_add(&event->nr_refs, 1);
}

void trace_user_event_put(struct trace_user_event *event)
{
	if (atomic_fetch_sub(&event->nr_refs, 1) == 1)
		trace_plat_call_later(&user_event_later, user_event_sweep, 0);
}

bool trace_user_event_is_on(const struct trace_user_event *event)
{
	return atomic_load(&event->is_on);
}

static void user_event_change(struct trace_event_change *changes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct trace_user_event *event = user_event_of_call(changes[i].call);

		atomic_store(&event->is_on, changes[i].is_begin);
		trace_plat_user_events()->changed(event);
		if (!changes[i].is_begin)
			trace_plat_call_later(&user_event_later, user_event_sweep, 0);
	}
}

static const struct trace_event_class user_event_class = { .system = USER_SYSTEM,
							   .change = user_event_change };
static const struct trace_event_class user_event_multi_class = { .system = USER_SYSTEM_MULTI,
								 .change = user_event_change };

static bool user_event_goes(struct trace_event_call *call)
{
	if (call->event_class != &user_event_class && call->event_class != &user_event_multi_class)
		return true;
	return !atomic_load(&user_event_of_call(call)->nr_refs);
}

struct trace_event_guard trace_user_event_guard = { .goes = user_event_goes };

/* ---- Making one ---- */

static int user_event_measure(const char *fields, struct user_event_size *out,
			      struct dyn_event_error *error)
{
	struct user_field field;
	int result;

	out->entry_bytes = sizeof(struct trace_entry);
	while ((result = trace_user_field_next(&fields, &field, error)) == 1) {
		out->nr_fields++;
		out->entry_bytes += field.size;
		out->text_bytes += trace_user_field_bytes(&field);
		out->fmt_bytes += USER_FIELD_FMT_BYTES + USER_FIELD_FMT_NAMES * field.name.len;
		if (out->entry_bytes > RING_MAX_PAYLOAD)
			return trace_dyn_event_blame(error, field.name.at,
						     "The event does not fit in the buffer",
						     -ENOSPC);
	}
	return result;
}

static char *user_event_fill_fields(struct trace_user_event *event, struct trace_event_field *out,
				    const char *fields, char *text)
{
	uint32_t at = sizeof(struct trace_entry);
	struct dyn_event_error none;
	struct user_field field;

	for (; trace_user_field_next(&fields, &field, &none) == 1; out++) {
		text = trace_user_field_fill(&field, at, out, text);
		event->has_data |= field.kind != TRACE_FIELD_PLAIN;
		at += field.size;
	}
	event->min_bytes = at - (uint32_t)sizeof(struct trace_entry);
	return text;
}

/* The name of the event, and that with a number. Returns the place behind both. */
static char *user_event_fill_name(struct trace_user_event *event, const struct expr_word *name,
				  char *text)
{
	static uint64_t nr_multi;

	event->name = event->call.event.name = text;
	text = trace_expr_put(text, name) + 1;
	if (!(event->flags & TRACE_USER_EVENT_MULTI_FORMAT))
		return text;
	event->call.event.name = text;
	return text + 1 +
	       trace_snprintf(text, name->len + USER_NUMBER_BYTES, "%s.%llx", event->name,
			      (unsigned long long)nr_multi++);
}

static struct trace_user_event *user_event_alloc(const struct expr_word *name, const char *fields,
						 uint32_t flags, const struct user_event_size *size)
{
	size_t fields_bytes = size->nr_fields * sizeof(struct trace_event_field);
	size_t bytes = sizeof(struct trace_user_event) + fields_bytes + 2 * (name->len + 1) +
		       USER_NUMBER_BYTES + size->text_bytes + size->fmt_bytes;
	struct trace_user_event *event = trace_plat_alloc(bytes);
	struct trace_event_field *own;
	struct trace_seq seq;
	char *text;

	if (!event)
		return NULL;
	own = (struct trace_event_field *)(event + 1);
	event->bytes = bytes;
	event->flags = flags;
	text = user_event_fill_name(event, name, (char *)(own + size->nr_fields));
	text = user_event_fill_fields(event, own, fields, text);
	event->call.event_class =
		flags & TRACE_USER_EVENT_MULTI_FORMAT ? &user_event_multi_class : &user_event_class;
	event->call.event.system = event->call.event_class->system;
	event->call.event.fields = own;
	event->call.event.nr_fields = size->nr_fields;
	event->call.event.funcs = &trace_user_event_functions;
	event->call.event.print_fmt = text;
	event->dyn.kind = trace_user_event_kinds;
	event->dyn.call = &event->call;
	trace_seq_init(&seq, text, size->fmt_bytes - 1);
	trace_user_fields_fmt(&event->call.event, &seq);
	return event;
}

static void user_event_free(struct dyn_event *dyn)
{
	struct trace_user_event *event = user_event_of_dyn(dyn);

	trace_plat_free(event, event->bytes);
}

static int user_event_create(const struct expr_word *name, const char *fields, uint32_t flags,
			     struct trace_user_event **out_event, struct dyn_event_error *error)
{
	struct user_event_size size = { .fmt_bytes = sizeof("\"\"") };
	struct trace_user_event *event;
	int err;

	if (!trace_expr_is_name(name) || trace_dyn_event_is_reserved(name))
		return trace_dyn_event_blame(error, name->at, "Illegal name", -EINVAL);
	err = user_event_measure(fields, &size, error);
	if (err)
		return err;
	event = user_event_alloc(name, fields, flags, &size);
	if (!event)
		return -ENOMEM;
	err = trace_dyn_event_add(&event->dyn);
	if (err)
		user_event_free(&event->dyn);
	else
		*out_event = event;
	return err;
}

/* ---- Finding one ---- */

static bool user_event_has_fields(const struct trace_event *event, const char *fields)
{
	struct dyn_event_error none;
	struct user_field field;
	uint32_t nr = 0;

	for (; trace_user_field_next(&fields, &field, &none) == 1; nr++) {
		if (nr == event->nr_fields || !trace_user_field_is(&field, &event->fields[nr]))
			return false;
	}
	return nr == event->nr_fields && !*fields;
}

/* The event of a name; of several formats, the one with these fields. */
static struct trace_user_event *user_event_find(const struct expr_word *name, const char *fields,
						uint32_t flags)
{
	struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(trace_user_event_kinds, dyn))) {
		struct trace_user_event *event = user_event_of_dyn(dyn);
		uint32_t differs = (event->flags ^ flags) & TRACE_USER_EVENT_MULTI_FORMAT;

		if (trace_expr_is(name, event->name) && !differs &&
		    (!(flags & TRACE_USER_EVENT_MULTI_FORMAT) ||
		     user_event_has_fields(&dyn->call->event, fields)))
			return event;
	}
	return NULL;
}

int trace_user_event_make(const char *definition, uint32_t flags,
			  struct trace_user_event **out_event, struct dyn_event_error *error)
{
	struct expr_word name = trace_expr_next_word(&definition, ' ');
	int err = 0;

	*out_event = user_event_find(&name, definition, flags);
	if (!*out_event)
		err = user_event_create(&name, definition, flags, out_event, error);
	else if (!user_event_has_fields(&(*out_event)->call.event, definition))
		err = trace_dyn_event_blame(error, name.at,
					    "Event already exists with other fields", -EADDRINUSE);
	if (!err)
		trace_user_event_get(*out_event);
	return err;
}

int trace_user_event_delete(const char *name, bool may_persistent)
{
	const struct expr_word word = trace_expr_whole(name);
	struct trace_user_event *event;
	int err = -ENOENT;

	trace_plat_lock(&trace_config_lock);
	event = user_event_find(&word, "", 0);
	if (event && event->flags & TRACE_USER_EVENT_PERSIST && !may_persistent)
		err = atomic_load(&event->nr_refs) ? -EBUSY : -EPERM;
	else if (event)
		err = trace_dyn_events_remove(trace_user_event_kinds, USER_SYSTEM, name, "");
	trace_plat_unlock(&trace_config_lock);
	return err;
}

/* ---- The kind `u:` ---- */

static bool user_event_claims(const char *line)
{
	return trace_str_starts(line, "u:") && trace_plat_user_events();
}

static int user_event_define(const char *line, struct dyn_event_error *error)
{
	struct trace_user_event *event;
	const char *name = line + 2;
	int err;

	error->where = "user_events";
	while (trace_is_space(*name))
		name++;
	if (!*name)
		return trace_dyn_event_blame(error, line, USER_FORM, -EINVAL);
	err = trace_user_event_make(name, TRACE_USER_EVENT_PERSIST, &event, error);
	if (!err)
		trace_user_event_put(event);
	return err;
}

static void user_event_show(const struct dyn_event *dyn, struct trace_seq *seq)
{
	const struct trace_event *event = &dyn->call->event;

	trace_seq_printf(seq, "u:%s", user_event_of_dyn(dyn)->name);
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		trace_seq_puts(seq, i ? "; " : " ");
		trace_user_field_show(&event->fields[i], seq);
	}
	trace_seq_putc(seq, '\n');
}

static bool user_event_matches(const struct dyn_event *dyn, const char *rest)
{
	return !*rest || user_event_has_fields(&dyn->call->event, rest);
}

const struct dyn_event_kind trace_user_event_kinds[] = {
	{ .name = "user",
	  .claims = user_event_claims,
	  .create = user_event_define,
	  .show = user_event_show,
	  .matches = user_event_matches,
	  .free = user_event_free },
	{ .name = NULL },
};
