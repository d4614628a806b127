/*
 * How events of probes are printed: the line of `trace`, and the print fmt of `format`. See probe.h.
 */
#include <trace/trace_seq.h>
#include "print/iter.h"
#include "probe.h"
#include "text/str.h"

/* ---- Lines of `trace` ---- */

static void print_array(const struct trace_iter *iter, const struct fetch_arg *arg,
			struct trace_seq *seq)
{
	trace_seq_putc(seq, '{');
	for (uint32_t i = 0; i < arg->count; i++) {
		if (i)
			trace_seq_putc(seq, ',');
		fetch_print(arg->type, iter->event.data, iter->event.len,
			    arg->at + i * arg->type->size, seq);
	}
	trace_seq_putc(seq, '}');
}

/* A damaged event may be too short for the argument. */
static bool has_arg(const struct trace_iter *iter, const struct fetch_arg *arg)
{
	uint32_t bytes = (uint32_t)arg->type->size * (arg->count ? arg->count : 1);

	return arg->at + bytes <= iter->event.len;
}

void probe_print(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct probe_event *event = probe_event_of(iter->type->call);

	trace_seq_printf(seq, "%s: (", event->call.event.name);
	event->kind->print_head(iter, event, seq);
	trace_seq_putc(seq, ')');
	for (uint32_t i = 0; i < event->nr_args; i++) {
		const struct fetch_arg *arg = &event->args[i];

		if (!has_arg(iter, arg))
			break;
		trace_seq_printf(seq, " %s=", arg->name);
		if (arg->count)
			print_array(iter, arg, seq);
		else
			fetch_print(arg->type, iter->event.data, iter->event.len, arg->at, seq);
	}
	trace_seq_putc(seq, '\n');
}

/* ---- print fmt ---- */

#define FMT_BYTES 48ul /* of a value, without its name */

size_t probe_fmt_bytes(const struct fetch_parsed *arg)
{
	return (FMT_BYTES + arg->name.len) * (arg->count + 1) + arg->name.len;
}

static void write_conversions(const struct fetch_arg *arg, struct trace_seq *seq)
{
	if (!arg->count) {
		trace_seq_printf(seq, " %s=%s", arg->name, arg->type->conversion);
		return;
	}
	trace_seq_printf(seq, " %s={", arg->name);
	for (uint32_t i = 0; i < arg->count; i++)
		trace_seq_printf(seq, "%s%s", i ? "," : "", arg->type->conversion);
	trace_seq_putc(seq, '}');
}

static void write_value(const struct fetch_arg *arg, uint32_t index, struct trace_seq *seq)
{
	bool is_text = arg->type->kind == FETCH_TEXT || arg->type->kind == FETCH_SYMBOL_TEXT;

	trace_seq_puts(seq, is_text			      ? ", __get_str("
			    : arg->type->kind == FETCH_SYMBOL ? ", (void *)REC->"
							      : ", REC->");
	trace_seq_puts(seq, arg->name);
	if (arg->count)
		trace_seq_printf(seq, "[%u]", index);
	if (is_text)
		trace_seq_putc(seq, ')');
}

/* The place, with a dot between its names. */
static void write_place(const struct fetch_word *place, struct trace_seq *seq)
{
	for (size_t i = 0; i < place->len; i++)
		trace_seq_putc(seq, place->at[i] == '/' ? '.' : place->at[i]);
}

void probe_print_fmt(const struct probe_event *event, const struct fetch_word *place, char *to,
		     size_t size)
{
	struct trace_seq seq;

	trace_seq_init(&seq, to, size - 1);
	trace_seq_puts(&seq, "\"(");
	if (event->kind->head_fmt)
		trace_seq_puts(&seq, event->kind->head_fmt);
	else
		write_place(place, &seq);
	trace_seq_putc(&seq, ')');
	for (uint32_t i = 0; i < event->nr_args; i++)
		write_conversions(&event->args[i], &seq);
	trace_seq_putc(&seq, '"');
	if (event->kind->head_args)
		trace_seq_puts(&seq, event->kind->head_args);
	for (uint32_t i = 0; i < event->nr_args; i++) {
		const struct fetch_arg *arg = &event->args[i];

		for (uint32_t k = 0; k < (arg->count ? arg->count : 1); k++)
			write_value(arg, k, &seq);
	}
	to[seq.len] = '\0';
}
