/*
 * The text of a `format` file, which tells tools how to read events of a type in raw pages. See
 * <trace/event.h>.
 */
#include <trace/errno.h>
#include <trace/event.h>
#include <trace/trace_seq.h>
#include "instance/event_private.h"
#include "output_fields.h"
#include "text/str.h"

/* struct trace_entry, which every event begins with. */
static const struct trace_event_field common_fields[] = {
	TRACE_FIELD("common_type", unsigned short, trace_entry, type),
	TRACE_FIELD("common_flags", unsigned char, trace_entry, flags),
	TRACE_FIELD("common_preempt_count", unsigned char, trace_entry, preempt_count),
	TRACE_FIELD("common_pid", int, trace_entry, pid),
};

static void write_field(const struct trace_event_field *field, struct trace_seq *seq)
{
	if (field->kind != TRACE_FIELD_PLAIN) {
		/* As on Linux, where a mask of CPUs is one thing and no array. */
		const char *brackets = field->filter_type == FILTER_CPUMASK ? "" : "[]";

		trace_seq_printf(
			seq, "\tfield:__%s_loc %s%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			field->kind == TRACE_FIELD_REL_LOC ? "rel" : "data", field->type, brackets,
			field->name, field->offset, field->size, field->is_signed);
		return;
	}
	trace_seq_printf(seq, "\tfield:%s %s", field->type, field->name);
	if (!field->size)
		trace_seq_puts(seq, "[]");
	else if (field->size != field->element_size)
		trace_seq_printf(seq, "[%u]", field->size / field->element_size);
	trace_seq_printf(seq, ";\toffset:%u;\tsize:%u;\tsigned:%d;\n", field->offset, field->size,
			 field->is_signed);
}

static void write_fields(const struct trace_event_field *fields, size_t nr, struct trace_seq *seq)
{
	for (size_t i = 0; i < nr; i++)
		write_field(&fields[i], seq);
	trace_seq_putc(seq, '\n');
}

/*
 * ---- print fmt for a type without one of its own ----
 *
 * With it tools print what trace_fields_text() prints behind the name; except that libtraceevent
 * knows no %c, so a single character is printed as a number.
 */

/* An array of numbers up to the end of the event cannot be described by a print fmt. */
static bool has_no_form(const struct trace_event_field *field)
{
	return !field->size && !trace_field_is_text(field);
}

/* libtraceevent finds the sign of a number by the size of the conversion, not by its field. */
static const char *signed_conversion(uint32_t bytes)
{
	switch (bytes) {
	case 1:
		return "%hhd";
	case 2:
		return "%hd";
	case 4:
		return "%d";
	default:
		return "%lld";
	}
}

static const char *event_format_conversion(const struct trace_event_field *field)
{
	if (trace_field_is_array(field))
		return "%s";
	if (field->is_address)
		return "%ps";
	if (trace_field_is_pointer(field))
		return "%lx";
	if (field->is_signed)
		return signed_conversion(field->element_size);
	return field->element_size == sizeof(uint64_t) ? "%llu" : "%u";
}

static void write_argument(const struct trace_event_field *field, struct trace_seq *seq)
{
	if (trace_field_is_array(field) && !trace_field_is_text(field))
		trace_seq_printf(seq, "__print_array(REC->%s, %u, %u)", field->name,
				 field->size / field->element_size, field->element_size);
	else if (field->is_address)
		trace_seq_printf(seq, TRACE_REC_ADDRESS("%s"), field->name);
	else if (trace_field_is_pointer(field))
		trace_seq_printf(seq, "(unsigned long)REC->%s", field->name);
	else
		trace_seq_printf(seq, "REC->%s", field->name);
}

static void write_own_fmt(const struct trace_event *event, struct trace_seq *seq)
{
	const char *before = "";

	trace_seq_putc(seq, '"');
	for (size_t i = 0; i < event->nr_fields; i++) {
		if (has_no_form(&event->fields[i]))
			continue;
		trace_seq_printf(seq, "%s%s=%s", before, event->fields[i].name,
				 event_format_conversion(&event->fields[i]));
		before = " ";
	}
	trace_seq_putc(seq, '"');
	for (size_t i = 0; i < event->nr_fields; i++) {
		if (has_no_form(&event->fields[i]))
			continue;
		trace_seq_puts(seq, ", ");
		write_argument(&event->fields[i], seq);
	}
}

/* ---- print fmt of a TRACE_EVENT(): enumerators and sizes become numbers ---- */

static bool event_format_is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* The length of the word at `text`, or of a sizeof() with what is in its parentheses. */
static size_t word_len(const char *text)
{
	size_t len = 0;

	while (event_format_is_word(text[len]))
		len++;
	if (len == 6 && memcmp(text, "sizeof", 6) == 0 && text[len] == '(') {
		while (text[len] && text[len] != ')')
			len++;
		len += text[len] == ')';
	}
	return len;
}

/* The text in quotes at `text`, quotes included. */
static size_t quoted_len(const char *text)
{
	size_t len = 1;

	while (text[len] && text[len] != '"')
		len += text[len] == '\\' && text[len + 1] ? 2 : 1;
	return len + (text[len] == '"');
}

/* A member, REC->name, is no enumerator. */
static bool is_member(const char *fmt, const char *at)
{
	return at - fmt >= 2 && at[-2] == '-' && at[-1] == '>';
}

static void write_print_fmt(const struct trace_event *event, struct trace_seq *seq)
{
	const char *at = event->print_fmt;

	while (*at) {
		size_t len = *at == '"' ? quoted_len(at) : word_len(at);
		unsigned long value;

		if (len && *at != '"' && !is_member(event->print_fmt, at) &&
		    trace_eval_find(event->system, at, len, &value))
			trace_seq_printf(seq, "%ld", (long)value);
		else
			trace_seq_write(seq, at, len ? len : 1);
		at += len ? len : 1;
	}
}

void trace_event_format_seq(const struct trace_event *event, struct trace_seq *seq)
{
	trace_seq_printf(seq, "name: %s\nID: %u\nformat:\n", event->name, event->type);
	write_fields(common_fields, TRACE_ARRAY_SIZE(common_fields), seq);
	write_fields(event->fields, event->nr_fields, seq);
	trace_seq_puts(seq, "print fmt: ");
	if (event->call && event->print_fmt)
		write_print_fmt(event, seq);
	else if (event->print_fmt)
		trace_seq_puts(seq, event->print_fmt);
	else if (event->funcs && event->funcs->print_fmt)
		event->funcs->print_fmt(event, seq);
	else
		write_own_fmt(event, seq);
	trace_seq_putc(seq, '\n');
}

int trace_event_format(const struct trace_event *event, char *buf, size_t size)
{
	struct trace_seq seq;

	if (!size)
		return -ENOSPC;
	trace_seq_init(&seq, buf, size - 1);
	trace_event_format_seq(event, &seq);
	buf[seq.len] = '\0';
	return seq.overflowed ? -ENOSPC : (int)seq.len;
}
