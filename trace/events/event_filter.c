/* Filters of events in instances. See event_filter.h. */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "event_filter.h"
#include "event_rejects.h"
#include "instance/event_private.h"
#include "text/str.h"

/* The text of a filter, as written. */
struct trace_event_filter_text {
	size_t bytes;	 /* of this struct and the text */
	const char *why; /* the mistake in it; NULL when the filter is in force */
	size_t pos;	 /* place of the caret */
	char text[];
};

const char trace_event_filter_not_of_all[] =
	"Couldn't find or set field in one of a subsystem's events";

static struct trace_event_filter_text *event_filter_make_text(const char *text,
							      const struct expr_error *error)
{
	size_t len = trace_strlen(text), bytes = sizeof(struct trace_event_filter_text) + len + 1;
	struct trace_event_filter_text *made = trace_plat_alloc(bytes);

	if (!made)
		return NULL;
	made->bytes = bytes;
	made->why = error ? error->why : NULL;
	made->pos = error ? error->pos : 0;
	trace_strcpy(made->text, text, len + 1);
	return made;
}

static void event_filter_free_text(struct trace_event_filter_text *text)
{
	if (text)
		trace_plat_free(text, text->bytes);
}

/* Keep the text of a refused filter; the filter in force stays. */
static int event_filter_refuse(struct trace_event_file *file, const char *text,
			       const struct expr_error *error)
{
	struct trace_event_filter_text *refused = event_filter_make_text(text, error);

	if (!refused)
		return -ENOMEM;
	event_filter_free_text(file->filter_refused);
	file->filter_refused = refused;
	return 0;
}

void trace_event_filter_set_test(struct trace_event_file *file)
{
	uint32_t flags = file->front.flags &
			 (TRACE_EVENT_FILTERS | TRACE_EVENT_TRIGGERS | TRACE_EVENT_WATCHED);
	bool has_first = flags == TRACE_EVENT_FILTERS && !file->rejects->since_ns;

	atomic_store(&file->front.test, has_first ? &file->filter->first : &trace_event_any);
}

/* Even if the filter changes meanwhile, letting all events come to it is correct, only slower. */
void trace_event_filter_count(struct trace_event_file *file, uint64_t now_ns)
{
	trace_event_rejects_begin(file->rejects, now_ns);
	atomic_store(&file->front.test, &trace_event_any);
}

/* The parts of a filter in force; all NULL for none. */
struct filter_parts {
	struct expr_program *filter;
	struct trace_event_rejects *rejects;
	struct trace_event_filter_text *text;
};

static void free_parts(const struct filter_parts *parts)
{
	trace_expr_free(parts->filter);
	trace_event_rejects_free(parts->rejects);
	event_filter_free_text(parts->text);
}

static void replace(struct trace_event_file *file, const struct filter_parts *with)
{
	const struct filter_parts old = { file->filter, file->rejects, file->filter_text };
	struct expr_program *filter = with->filter;

	/* A probe that sees the flags also sees a filter and its head. */
	if (filter) {
		if (filter->needs_head) {
			trace_event_flag(file, TRACE_EVENT_HEAD, true);
			if (old.filter)
				tracepoint_synchronize_unregister();
		}
		atomic_store(&file->rejects, with->rejects);
		atomic_store(&file->filter, filter);
		trace_event_flag(file, TRACE_EVENT_FILTERS, true);
	} else {
		trace_event_flag(file, TRACE_EVENT_FILTERS, false);
	}
	trace_event_filter_set_test(file);
	atomic_store(&file->filter_text, with->text);
	file->filter_since_ns = trace_plat_clock_ns();
	/* A probe that sees no flag, or the new parts, can no longer use the old ones. */
	if (old.filter)
		tracepoint_synchronize_unregister();
	if (!filter) {
		atomic_store(&file->filter, NULL);
		atomic_store(&file->rejects, NULL);
	}
	if (!filter || !filter->needs_head)
		trace_event_flag(file, TRACE_EVENT_HEAD, false);
	free_parts(&old);
	event_filter_free_text(file->filter_refused);
	file->filter_refused = NULL;
}

int trace_event_filter_set(struct trace_event_file *file, const char *text,
			   struct expr_error *error)
{
	struct filter_parts with = { .filter = NULL };
	int err;

	if (trace_streq(text, "0")) {
		replace(file, &with);
		return 0;
	}
	err = trace_filter_compile(&file->call->event, text, &with.filter, error);
	if (err) {
		if (err != -ENOMEM && event_filter_refuse(file, text, error))
			return -ENOMEM;
		return err;
	}
	with.text = event_filter_make_text(text, NULL);
	with.rejects = with.text ? trace_event_rejects_create() : NULL;
	if (!with.rejects) {
		free_parts(&with);
		return -ENOMEM;
	}
	replace(file, &with);
	return 0;
}

int trace_event_filter_set_system(struct trace_array *tr, const char *system, const char *text,
				  size_t *out_nr_refused)
{
	const struct expr_error refusal = { trace_event_filter_not_of_all, 0 };
	const struct trace_event_choice choice = { .system = system };
	bool is_clear = trace_streq(text, "0");
	struct expr_error error;
	struct trace_event_call *call;
	size_t at = 0, nr_taken = 0;
	int err = 0;

	*out_nr_refused = 0;
	trace_events_lock();
	while (!err && (call = trace_event_next_chosen(&choice, &at))) {
		struct trace_event_file *file =
			is_clear ? trace_event_file_find(tr, call) : trace_event_file_get(tr, call);

		if (!file && is_clear) {
			nr_taken++; /* it has no filter */
			continue;
		}
		err = file ? trace_event_filter_set(file, text, &error) : -ENOMEM;
		nr_taken += !err;
		if (!err || err == -ENOMEM)
			continue;
		err = event_filter_refuse(file, text, &refusal);
		++*out_nr_refused;
	}
	trace_events_unlock();
	return err || nr_taken ? err : -EINVAL;
}

static void show_refused(const struct trace_event_filter_text *refused, struct trace_seq *seq)
{
	size_t len = trace_strlen(refused->text), pos = refused->pos < len ? refused->pos : len;

	if (refused->why == trace_filter_syntax) {
		trace_seq_printf(seq, "%s\nError: (0)\n", refused->text);
		return;
	}
	trace_seq_printf(seq, "%s\n%*s\nparse_error: %s\n\n", refused->text, (int)pos + 1, "^",
			 refused->why);
}

void trace_event_filter_show(const struct trace_event_file *file, struct trace_seq *seq)
{
	const struct trace_event_filter_text *text = file ? file->filter_text : NULL;

	if (file && file->filter_refused)
		show_refused(file->filter_refused, seq);
	if (file && file->filter_refused && text)
		trace_seq_puts(seq, "# still in force:\n");
	if (text)
		trace_seq_printf(seq, "%s\n", text->text);
	else if (!file || !file->filter_refused)
		trace_seq_puts(seq, "none\n");
}

const char *trace_event_filter_in_force(const struct trace_event_file *file)
{
	return file->filter ? file->filter_text->text : NULL;
}

void trace_event_filter_free(struct trace_event_file *file)
{
	trace_expr_free(file->filter);
	trace_event_rejects_free(file->rejects);
	event_filter_free_text(file->filter_text);
	event_filter_free_text(file->filter_refused);
}
