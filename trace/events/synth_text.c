/*
 * Synthetic events as text: the line of `trace`, and the print fmt of `format`. See
 * synth_private.h.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "print/output.h"
#include "synth_private.h"
#include "text/str.h"

/* ---- Lines of `trace` ---- */

/* The value of a field in an event being printed. A damaged event may be too short for it. */
struct synth_value {
	const uint8_t *at;
	uint32_t bytes;
};

static struct synth_value synth_text_value_of(const struct synth_field *field, const uint8_t *entry,
					      uint32_t len)
{
	uint32_t at = field->offset, bytes = field->size, place = 0;

	if (at > len || bytes > len - at)
		return (struct synth_value){ entry, 0 };
	if (field->kind == SYNTH_DYNAMIC_TEXT || field->kind == SYNTH_STACK) {
		memcpy(&place, entry + at, sizeof(place));
		at = place & 0xffff;
		bytes = place >> 16;
		if (at > len)
			at = len;
		if (bytes > len - at)
			bytes = len - at;
	}
	return (struct synth_value){ entry + at, bytes };
}

static void synth_text_print_number(const struct synth_field *field,
				    const struct synth_value *value, struct trace_seq *seq)
{
	uint32_t bits = field->size * 8u;
	uint64_t number = 0;

	memcpy(&number, value->at, value->bytes);
	if (field->is_signed && bits < 64 && number >> (bits - 1))
		number |= ~0ull << bits;
	if (trace_streq(field->type, "gfp_t"))
		trace_seq_printf(seq, "%llx", (unsigned long long)number);
	else if (field->is_signed)
		trace_seq_printf(seq, "%lld", (long long)number);
	else
		trace_seq_dec(seq, number, 0, ' ');
}

/*
 * Print a stack, each address on a line of its own with its offset, whatever the options, as on
 * Linux.
 */
static void synth_text_print_stack(const struct trace_iter *iter, const struct synth_value *value,
				   struct trace_seq *seq)
{
	unsigned long ip;

	trace_seq_puts(seq, "STACK:\n");
	for (uint32_t i = 0; i + sizeof(ip) <= value->bytes; i += sizeof(ip)) {
		memcpy(&ip, value->at + i, sizeof(ip));
		trace_seq_puts(seq, "=> ");
		trace_print_symbol(iter, seq, trace_plat_ip_pack(ip),
				   TRACE_IP_OFFSET | (i ? TRACE_IP_RETURN : 0));
		trace_seq_putc(seq, '\n');
	}
}

static void synth_text_print_field(const struct trace_iter *iter, const struct synth_field *field,
				   const struct synth_value *value, struct trace_seq *seq)
{
	const char *text = (const char *)value->at;

	if (field->kind == SYNTH_NUMBER)
		synth_text_print_number(field, value, seq);
	else if (field->kind == SYNTH_STACK)
		synth_text_print_stack(iter, value, seq);
	else
		trace_seq_write(seq, text, trace_strnlen(text, value->bytes));
}

void trace_synth_print(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct synth_event *event = synth_event_of(iter->type);
	bool ends_line = false;
	struct synth_value value;

	trace_seq_printf(seq, "%s:", event->call.event.name);
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		const struct synth_field *field = &event->fields[i];

		value = synth_text_value_of(field, iter->event.data, iter->event.len);
		trace_seq_printf(seq, "%s%s=", ends_line ? "" : " ", field->name);
		synth_text_print_field(iter, field, &value, seq);
		ends_line = field->kind == SYNTH_STACK;
	}
	if (!ends_line)
		trace_seq_putc(seq, '\n');
}

/* ---- print fmt ---- */

/*
 * The conversion of a field. libtraceevent finds the sign of a number by the size of the
 * conversion, not by its field: with the %d that Linux has for an s8, it prints -1 as 255.
 */
static const char *synth_text_conversion(const struct synth_field *field)
{
	static const char *const by_size[2][9] = {
		{ [1] = "%u", [2] = "%u", [4] = "%u", [8] = "%llu" },
		{ [1] = "%hhd", [2] = "%hd", [4] = "%d", [8] = "%lld" },
	};

	if (field->kind != SYNTH_NUMBER)
		return "%s";
	if (trace_streq(field->type, "gfp_t"))
		return "%x";
	if (trace_streq(field->type, "bool"))
		return "%d";
	if (trace_streq(field->type, "long"))
		return "%ld";
	if (trace_streq(field->type, "unsigned long"))
		return "%lu";
	return by_size[field->is_signed][field->size];
}

/*
 * libtraceevent knows no __get_stacktrace(), so the addresses of a stack are shown as numbers.
 */
/* libtraceevent knows no __get_stacktrace(), so it shows the addresses of a stack as numbers. */
static void print_argument(const struct synth_field *field, struct trace_seq *seq)
{
	if (field->kind == SYNTH_DYNAMIC_TEXT)
		trace_seq_printf(seq, ", __get_str(%s)", field->name);
	else if (field->kind == SYNTH_STACK)
		trace_seq_printf(seq,
				 ", __print_array(__get_dynamic_array(%s), "
				 "__get_dynamic_array_len(%s) / 8, 8)",
				 field->name, field->name);
	else
		trace_seq_printf(seq, ", REC->%s", field->name);
}

void trace_synth_print_fmt(const struct synth_event *event, char *to, size_t size)
{
	struct trace_seq seq;

	trace_seq_init(&seq, to, size - 1);
	trace_seq_putc(&seq, '"');
	for (uint32_t i = 0; i < event->nr_fields; i++)
		trace_seq_printf(&seq, "%s%s=%s", i ? ", " : "", event->fields[i].name,
				 synth_text_conversion(&event->fields[i]));
	trace_seq_putc(&seq, '"');
	for (uint32_t i = 0; i < event->nr_fields; i++)
		print_argument(&event->fields[i], &seq);
	to[seq.len] = '\0';
}
