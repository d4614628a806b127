/* Events of probes as text: the line of `trace`, and the print fmt of `format`. See probe.h. */
#include <trace/trace_seq.h>
#include "print/iter.h"
#include "probe.h"
#include "text/str.h"

/* ---- Lines of `trace` ---- */

const struct trace_event_field *trace_probe_field_of(const struct probe_event *event, uint32_t i)
{
	return &event->call.event.fields[event->kind->nr_fields + i];
}

static void probe_text_print_array(const struct trace_iter *iter, const struct fetch_arg *arg,
				   uint32_t at, struct trace_seq *seq)
{
	trace_seq_putc(seq, '{');
	for (uint32_t i = 0; i < arg->count; i++) {
		if (i)
			trace_seq_putc(seq, ',');
		trace_fetch_print(arg->type, iter->event.data, iter->event.len,
				  at + i * arg->type->size, seq);
	}
	trace_seq_putc(seq, '}');
}

static void probe_print(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct probe_event *event = trace_probe_event_of(iter->type->call);

	trace_seq_printf(seq, "%s: (", event->call.event.name);
	event->kind->print_head(iter, event, seq);
	trace_seq_putc(seq, ')');
	for (uint32_t i = 0; i < event->nr_args; i++) {
		const struct trace_event_field *field = trace_probe_field_of(event, i);
		const struct fetch_arg *arg = &event->args[i];

		if (field->offset + field->size > iter->event.len)
			break; /* a damaged event */
		trace_seq_printf(seq, " %s=", field->name);
		if (arg->count)
			probe_text_print_array(iter, arg, field->offset, seq);
		else
			trace_fetch_print(arg->type, iter->event.data, iter->event.len,
					  field->offset, seq);
	}
	trace_seq_putc(seq, '\n');
}

/* ---- print fmt ---- */

static void write_conversions(const struct fetch_arg *arg, const char *name, struct trace_seq *seq)
{
	if (!arg->count) {
		trace_seq_printf(seq, " %s=%s", name, arg->type->conversion);
		return;
	}
	trace_seq_printf(seq, " %s={", name);
	for (uint32_t i = 0; i < arg->count; i++)
		trace_seq_printf(seq, "%s%s", i ? "," : "", arg->type->conversion);
	trace_seq_putc(seq, '}');
}

static void write_value(const struct fetch_arg *arg, const char *name, uint32_t index,
			struct trace_seq *seq)
{
	bool is_text = arg->type->kind == FETCH_TEXT || arg->type->kind == FETCH_SYMBOL_TEXT;

	trace_seq_puts(seq, is_text			      ? ", __get_str("
			    : arg->type->kind == FETCH_SYMBOL ? ", (void *)REC->"
							      : ", REC->");
	trace_seq_puts(seq, name);
	if (arg->count)
		trace_seq_printf(seq, "[%u]", index);
	if (is_text)
		trace_seq_putc(seq, ')');
}

/* The place, with a dot between its names. */
static void write_place(const char *place, struct trace_seq *seq)
{
	for (; *place; place++)
		trace_seq_putc(seq, *place == '/' ? '.' : *place);
}

static void probe_print_fmt(const struct trace_event *type, struct trace_seq *seq)
{
	const struct probe_event *event = trace_probe_event_of(type->call);
	const struct probe_kind *kind = event->kind;

	trace_seq_puts(seq, "\"(");
	if (kind->head_fmt)
		trace_seq_puts(seq, kind->head_fmt);
	else
		write_place(trace_probe_place_text(event->first), seq);
	trace_seq_putc(seq, ')');
	for (uint32_t i = 0; i < event->nr_args; i++)
		write_conversions(&event->args[i], trace_probe_field_of(event, i)->name, seq);
	trace_seq_putc(seq, '"');
	if (kind->head_args)
		trace_seq_puts(seq, kind->head_args);
	if (kind->write_head_args)
		kind->write_head_args(event, seq);
	for (uint32_t i = 0; i < event->nr_args; i++) {
		const struct fetch_arg *arg = &event->args[i];

		for (uint32_t k = 0; k < (arg->count ? arg->count : 1); k++)
			write_value(arg, trace_probe_field_of(event, i)->name, k, seq);
	}
}

const struct trace_event_functions trace_probe_functions = {
	.trace = probe_print,
	.print_fmt = probe_print_fmt,
};
