/*
 * For the option `fields`: an event as the values of its fields, NAME=VALUE, as they lie in it. The
 * forms are Linux's; arrays of numbers and stacks, for which Linux has none, are ours. See
 * output.h.
 */
#include <trace/platform.h>
#include "output.h"
#include "output_fields.h"

#define LOC_BYTES 4u
#define TEXT_MAX  256u /* of what a pointer points to */

/* One field of an event, inside which all of it is. */
struct place {
	const struct trace_event_field *field;
	const uint8_t *at;
	uint32_t bytes;
};

/*
 * Find the value, behind the fixed part if the field says so. Returns false when it is not inside
 * the event.
 */
static bool output_values_find_place(const struct trace_iter *iter,
				     const struct trace_event_field *field, struct place *out_place)
{
	uint32_t offset = field->offset, bytes = field->size, loc, len = iter->event.len;
	const uint8_t *data = iter->event.data;

	if (offset > len || bytes > len - offset)
		return false;
	if (field->kind != TRACE_FIELD_PLAIN) {
		memcpy(&loc, data + offset, sizeof(loc));
		offset = (loc & 0xffffu) +
			 (field->kind == TRACE_FIELD_REL_LOC ? field->offset + LOC_BYTES : 0);
		bytes = loc >> 16;
	} else if (!bytes) {
		bytes = len - offset;
	}
	*out_place = (struct place){ field, data + offset, bytes };
	return offset <= len && bytes <= len - offset;
}

/* Up to 8 bytes, extended by the sign of the field. */
static uint64_t output_values_number_at(const struct trace_event_field *field, const uint8_t *at)
{
	uint32_t bits = field->element_size * 8;
	uint64_t number = 0;

	if (field->element_size > sizeof(number))
		return 0;
	memcpy(&number, at, field->element_size);
	if (field->is_signed && bits && bits < 64 && number >> (bits - 1))
		number |= ~0ull << bits;
	return number;
}

/* Undoes the extension by a sign. */
static uint64_t output_values_low_bytes(uint64_t number, uint32_t bytes)
{
	return bytes < sizeof(number) ? number & ((1ull << bytes * 8) - 1) : number;
}

/* Print a character, or a dot for one that is not printable, so that a line stays one. */
static void output_values_print_char(char c, struct trace_seq *seq)
{
	trace_seq_putc(seq, (uint8_t)c < ' ' || c == 0x7f ? '.' : c);
}

static void output_values_print_text(const struct place *place, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < place->bytes && place->at[i]; i++)
		output_values_print_char((char)place->at[i], seq);
}

static void output_values_print_number(const uint8_t *at, uint32_t bytes, struct trace_seq *seq)
{
	uint64_t number = 0;

	if (bytes <= sizeof(number))
		memcpy(&number, at, bytes);
	switch (bytes) {
	case 1:
		if (number >= ' ' && number <= '~')
			trace_seq_printf(seq, "'%c'", (char)number);
		trace_seq_printf(seq, "(%u)", (unsigned int)number);
		break;
	case 2:
		trace_seq_printf(seq, "0x%x (%u)", (unsigned int)number, (unsigned int)number);
		break;
	case 4:
		trace_seq_printf(seq, "0x%x (%d)", (unsigned int)number, (int)number);
		break;
	case 8:
		trace_seq_printf(seq, "%pS (%lld)", (void *)(uintptr_t)number, (long long)number);
		break;
	default:
		trace_seq_puts(seq, "<INVALID-SIZE>");
	}
}

/* A pointer to text, and the text, as far as it can be read. */
static void print_pointer_to_text(uint64_t pointer, struct trace_seq *seq)
{
	const char *text = (const char *)(uintptr_t)pointer;
	char c;

	trace_seq_printf(seq, "(0x%llx", (unsigned long long)pointer);
	for (size_t i = 0; i < TEXT_MAX && trace_plat_read(&c, text + i, sizeof(c)); i++) {
		if (!i)
			trace_seq_putc(seq, ':');
		if (!c)
			break;
		output_values_print_char(c, seq);
	}
	trace_seq_putc(seq, ')');
}

static void output_values_print_address(const struct trace_iter *iter, const struct place *place,
					const uint8_t *at, struct trace_seq *seq)
{
	uint64_t number = output_values_number_at(place->field, at);

	if (place->field->is_address)
		trace_print_symbol(iter, seq, (uint32_t)number, TRACE_IP_OFFSET);
	else
		trace_seq_printf(seq, "%pS", (void *)(uintptr_t)number);
}

static bool output_values_is_code(const struct trace_event_field *field)
{
	return field->is_address || field->filter_type == FILTER_TRACE_FN ||
	       field->filter_type == FILTER_STACKTRACE;
}

/* Each element: code by its name, numbers in hexadecimal. */
static void print_elements(const struct trace_iter *iter, const struct place *place,
			   struct trace_seq *seq)
{
	uint32_t step = place->field->element_size;

	trace_seq_putc(seq, '{');
	for (uint32_t at = 0; step && at + step <= place->bytes; at += step) {
		if (at)
			trace_seq_putc(seq, ',');
		if (output_values_is_code(place->field))
			output_values_print_address(iter, place, place->at + at, seq);
		else
			trace_seq_printf(
				seq, "0x%llx",
				(unsigned long long)output_values_low_bytes(
					output_values_number_at(place->field, place->at + at),
					step));
	}
	trace_seq_putc(seq, '}');
}

static void print_bytes(const struct place *place, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < place->bytes; i++)
		trace_seq_printf(seq, "%s%02x", i ? "," : "", place->at[i]);
}

static void output_values_print_value(const struct trace_iter *iter, const struct place *place,
				      struct trace_seq *seq)
{
	const struct trace_event_field *field = place->field;
	bool is_dynamic = field->kind != TRACE_FIELD_PLAIN;

	if (trace_field_is_char(field) && (is_dynamic || trace_field_is_array(field)))
		output_values_print_text(place, seq);
	else if (is_dynamic && !output_values_is_code(field))
		print_bytes(place, seq);
	else if (is_dynamic || trace_field_is_array(field))
		print_elements(iter, place, seq);
	else if (trace_field_is_text_pointer(field))
		print_pointer_to_text(output_values_number_at(field, place->at), seq);
	else if (output_values_is_code(field))
		output_values_print_address(iter, place, place->at, seq);
	else
		output_values_print_number(place->at, field->size, seq);
}

void trace_fields_values(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_event *event = iter->type;
	struct place place;

	trace_seq_printf(seq, "%s:", event->name);
	for (size_t i = 0; i < event->nr_fields; i++) {
		trace_seq_printf(seq, " %s=", event->fields[i].name);
		if (output_values_find_place(iter, &event->fields[i], &place))
			output_values_print_value(iter, &place, seq);
		else
			trace_seq_puts(seq, "<OVERFLOW>");
	}
	trace_seq_puts(seq, event->nr_fields ? "\n" : "No fields found\n");
}
