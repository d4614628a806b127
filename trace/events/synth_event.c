/*
 * Making, finding and removing synthetic events. See synth_event.h.
 */
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <trace/trace_seq.h>
#include "synth_private.h"
#include "text/str.h"

#define FORM	 "Command must be of the form: <name> field[;field] ..."
#define DYN_FORM "Command must be of the form: s:[synthetic/]<name> field[;field] ..."

#define NAME_MAX_LEN 255u /* length of a directory's name, as on Linux */

static const struct trace_event_class synth_class = { .system = SYNTH_SYSTEM };

/* The memory for a definition, and the layout of its event. */
struct synth_size {
	uint32_t nr_fields, entry_bytes;
	size_t name_bytes, text_bytes, fmt_bytes;
};

static struct synth_event *of_dyn(const struct dyn_event *dyn)
{
	return (struct synth_event *)((char *)(uintptr_t)dyn - offsetof(struct synth_event, dyn));
}

static struct synth_event *synth_event_find(const char *name)
{
	struct dyn_event *dyn = NULL;

	while ((dyn = trace_dyn_event_next(trace_synth_event_kinds, dyn))) {
		if (trace_streq(dyn->call->event.name, name))
			return of_dyn(dyn);
	}
	return NULL;
}

struct synth_event *trace_synth_event_get(const char *name)
{
	struct synth_event *event = synth_event_find(name);

	if (event)
		event->dyn.nr_held++;
	return event;
}

void trace_synth_event_put(struct synth_event *event)
{
	event->dyn.nr_held--;
}

/* ---- Layout: fields in their order; events are aligned to 4, and so are fields of 8 bytes ---- */

static uint32_t synth_event_place_of(const struct synth_parsed *field, uint32_t at)
{
	uint32_t align = field->kind == SYNTH_TEXT ? 1 : field->size;

	if (align > 4)
		align = 4;
	return (at + align - 1) / align * align;
}

static size_t synth_event_type_bytes(const struct synth_parsed *field)
{
	return (field->is_unsigned ? sizeof("unsigned ") : 1) + field->type.len + field->array.len;
}

static int measure_field(const struct synth_parsed *field, struct synth_size *size)
{
	if (size->nr_fields++ == SYNTH_FIELDS_MAX)
		return -E2BIG;
	size->entry_bytes = synth_event_place_of(field, size->entry_bytes) + field->size;
	size->text_bytes += synth_event_type_bytes(field) + field->name.len + 1;
	size->fmt_bytes += SYNTH_FMT_BYTES + SYNTH_FMT_NAMES * field->name.len;
	return size->entry_bytes > RING_MAX_PAYLOAD ? -ENOSPC : 0;
}

/* Measure the fields without keeping them. Returns 0, or -errno after blaming. */
static int synth_event_measure(const char *line, const char *fields, struct synth_size *out,
			       struct dyn_event_error *error)
{
	struct synth_parsed field;
	int result;

	out->entry_bytes = sizeof(struct trace_entry);
	while ((result = trace_synth_parse_field(&fields, error, &field)) == 1) {
		result = measure_field(&field, out);
		if (result == -E2BIG)
			return trace_synth_refuse(error, line, "Too many fields");
		if (result)
			return trace_synth_refuse(error, field.type.at,
						  "The event does not fit in the buffer");
	}
	if (!result && !out->nr_fields)
		return trace_synth_refuse(error, line, FORM);
	return result;
}

/* ---- Making one ---- */

/* Write the type as listed. Returns the place behind its NUL. */
static char *synth_event_put_type(char *to, const struct synth_parsed *field)
{
	static const struct expr_word is_unsigned = { "unsigned ", 9 };

	if (field->is_unsigned)
		to = trace_expr_put(to, &is_unsigned);
	to = trace_expr_put(to, &field->type);
	to = trace_expr_put(to, &field->array);
	return to + 1; /* the memory is zeroed */
}

/* Describe a field for `format`, filters and histograms. */
static void synth_event_describe(const struct synth_field *field, struct trace_event_field *out)
{
	*out = (struct trace_event_field){ .name = field->name,
					   .type = field->type,
					   .offset = field->offset,
					   .size = field->size,
					   .element_size = field->size,
					   .is_signed = field->is_signed };
	if (trace_streq(field->type, "bool"))
		out->is_signed = true; /* as in Linux's `format` */
	if (field->kind == SYNTH_NUMBER)
		return;
	if (field->kind != SYNTH_TEXT)
		out->kind = TRACE_FIELD_DATA_LOC;
	out->type = "char";
	out->element_size = 1;
	if (field->kind == SYNTH_STACK) {
		out->type = field->is_signed ? "long" : "unsigned long";
		out->element_size = sizeof(unsigned long);
		out->filter_type = FILTER_STACKTRACE;
	}
}

/*
 * Fill in both descriptions of the fields, with their texts at `text`. Returns the place behind
 * these.
 */
static char *fill_fields(struct synth_event *event, struct synth_field *fields,
			 struct trace_event_field *described, const char *from, char *text)
{
	struct dyn_event_error none;
	uint32_t at = sizeof(struct trace_entry);
	struct synth_parsed parsed;

	event->is_numbers = true;
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		struct synth_field *field = &fields[i];

		(void)trace_synth_parse_field(&from, &none, &parsed);
		field->kind = parsed.kind;
		field->size = parsed.size;
		field->is_signed = parsed.is_signed;
		field->offset = (uint16_t)synth_event_place_of(&parsed, at);
		at = field->offset + field->size;
		field->type = text;
		text = synth_event_put_type(text, &parsed);
		field->name = text;
		text = trace_expr_put(text, &parsed.name) + 1; /* the memory is zeroed */
		synth_event_describe(field, &described[i]);
		event->is_numbers &= field->kind == SYNTH_NUMBER;
	}
	event->fixed_bytes = (at + 3) / 4 * 4;
	return text;
}

static const struct trace_event_functions synth_functions = { .trace = trace_synth_print };

static struct synth_event *synth_event_make(const char *name, const char *fields,
					    const struct synth_size *size)
{
	size_t fields_bytes = size->nr_fields * sizeof(struct synth_field);
	size_t described_bytes = size->nr_fields * sizeof(struct trace_event_field);
	size_t bytes = sizeof(struct synth_event) + fields_bytes + described_bytes +
		       size->name_bytes + size->text_bytes + size->fmt_bytes;
	struct synth_event *event = trace_plat_alloc(bytes);
	struct trace_event_field *described;
	struct synth_field *own;
	char *text;

	if (!event)
		return NULL;
	own = (struct synth_field *)(event + 1);
	described = (struct trace_event_field *)(own + size->nr_fields);
	text = (char *)(described + size->nr_fields);
	event->bytes = bytes;
	event->nr_fields = size->nr_fields;
	event->fields = own;
	event->call.event_class = &synth_class;
	event->call.event.name = text;
	event->call.event.system = SYNTH_SYSTEM;
	event->call.event.fields = described;
	event->call.event.nr_fields = size->nr_fields;
	event->call.event.funcs = &synth_functions;
	event->dyn.kind = trace_synth_event_kinds;
	event->dyn.call = &event->call;
	memcpy(text, name, size->name_bytes - 1);
	text = fill_fields(event, own, described, fields, text + size->name_bytes);
	event->call.event.print_fmt = text;
	trace_synth_print_fmt(event, text, size->fmt_bytes);
	return event;
}

static void free_event(struct dyn_event *dyn)
{
	struct synth_event *event = of_dyn(dyn);

	trace_plat_free(event, event->bytes);
}

/* Make and add the event. `line` is the place to mark for a mistake that concerns all of it. */
static int synth_event_create(const char *line, const struct expr_word *name, const char *fields,
			      struct dyn_event_error *error)
{
	struct synth_size size = { .name_bytes = name->len + 1, .fmt_bytes = sizeof("\"\"") };
	struct synth_event *event;
	int err;

	if (!trace_expr_is_name(name) || name->len > NAME_MAX_LEN ||
	    trace_dyn_event_is_reserved(name))
		return trace_synth_refuse(error, name->at, "Illegal name");
	err = synth_event_measure(line, fields, &size, error);
	if (err)
		return err;
	event = synth_event_make(name->at, fields, &size);
	if (!event)
		return -ENOMEM;
	err = trace_dyn_event_add(&event->dyn);
	if (err)
		free_event(&event->dyn);
	if (err == -EEXIST)
		(void)trace_synth_refuse(error, name->at, "Event already exists");
	return err;
}

/* ---- Lines ---- */

/* The word that begins there, not behind a blank. */
static struct expr_word synth_event_first_word(const char *text)
{
	return trace_is_space(*text) ? (struct expr_word){ text, 0 }
				     : trace_expr_next_word(&text, ';');
}

/* Make the event at `at`, its name and fields; see synth_event_create(). */
static int create_from(const char *line, const char *at, struct dyn_event_error *error)
{
	struct expr_word name = synth_event_first_word(at);
	const char *rest = at;

	for (int nr_words = 0; nr_words < 3; nr_words++) {
		if (!trace_expr_next_word(&rest, ';').len)
			return trace_synth_refuse(error, line, FORM);
	}
	return synth_event_create(line, &name, at + name.len, error);
}

int trace_synth_event_run(char *line, struct dyn_event_error *out_error)
{
	while (trace_is_space(*line))
		line++;
	if (!*line)
		return 0;
	if (*line != '!')
		return create_from(line, line, out_error);
	line++;
	line[synth_event_first_word(line).len] = '\0';
	return trace_dyn_events_remove(trace_synth_event_kinds, NULL, line, "");
}

/* ---- The kind `s:` ---- */

static bool synth_event_claims(const char *line)
{
	return trace_str_starts(line, "s:");
}

static int create_dyn(const char *line, struct dyn_event_error *error)
{
	const char *name = line + 2;
	struct expr_word word = synth_event_first_word(name), group = expr_take_until(&word, "/");

	if (word.len && !trace_expr_is(&group, SYNTH_SYSTEM))
		return trace_synth_refuse(error, line, DYN_FORM);
	return create_from(line, word.len ? word.at + 1 : name, error);
}

void trace_synth_event_show(const struct dyn_event *dyn, struct trace_seq *seq)
{
	const struct synth_event *event = of_dyn(dyn);

	trace_seq_printf(seq, "%s\t", event->call.event.name);
	for (uint32_t i = 0; i < event->nr_fields; i++)
		trace_seq_printf(seq, "%s%s %s", i ? "; " : "", event->fields[i].type,
				 event->fields[i].name);
	trace_seq_putc(seq, '\n');
}

static void show_dyn(const struct dyn_event *dyn, struct trace_seq *seq)
{
	trace_seq_puts(seq, "s:" SYNTH_SYSTEM "/");
	trace_synth_event_show(dyn, seq);
}

const struct dyn_event_kind trace_synth_event_kinds[] = {
	{ .name = "synth",
	  .claims = synth_event_claims,
	  .create = create_dyn,
	  .show = show_dyn,
	  .free = free_event },
	{ .name = NULL },
};
