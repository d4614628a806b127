/*
 * Printing events by the description of their fields, for types without functions of their own. See
 * output.h, <trace/event.h>.
 */
#include <trace/platform.h>
#include "output.h"
#include "output_fields.h"

/* One field of an event. A damaged event may be too short for it. */
struct value {
	const struct trace_event_field *field;
	const uint8_t *at;
	uint32_t nr; /* elements that are inside the event */
};

static struct value output_fields_value_of(const struct trace_event_field *field, const void *data,
					   uint32_t len)
{
	struct value value = { .field = field, .at = (const uint8_t *)data + field->offset };
	uint32_t room = field->offset < len ? len - field->offset : 0;
	uint32_t size = field->size && field->size < room ? field->size : room;

	value.nr = size / field->element_size;
	return value;
}

/* Element `i`, extended by its sign if it has one; an address unpacked. 0 when it is not there. */
static uint64_t element(const struct value *value, uint32_t i)
{
	const struct trace_event_field *field = value->field;
	uint32_t bits = field->element_size * 8;
	uint64_t number = 0;

	if (i >= value->nr || field->element_size > sizeof(number))
		return 0;
	memcpy(&number, value->at + (size_t)i * field->element_size, field->element_size);
	if (field->is_address)
		return trace_plat_ip_unpack((uint32_t)number);
	if (field->is_signed && bits < 64 && number >> (bits - 1))
		number |= ~0ull << bits;
	return number;
}

/* The bytes of an element shown by hex and bin. Addresses are shown unpacked. */
static uint32_t shown_bytes(const struct trace_event_field *field)
{
	return field->is_address ? sizeof(uintptr_t) : field->element_size;
}

/* The low `bytes` bytes of `number`: undoes the extension by a sign. */
static uint64_t output_fields_low_bytes(uint64_t number, uint32_t bytes)
{
	return bytes < sizeof(number) ? number & ((1ull << bytes * 8) - 1) : number;
}

static void output_fields_print_number(const struct value *value, uint32_t i, struct trace_seq *seq)
{
	const struct trace_event_field *field = value->field;
	uint64_t number = element(value, i);

	if (trace_field_is_char(field))
		trace_seq_putc(seq, (char)number);
	else if (trace_field_is_pointer(field) || field->is_address)
		trace_seq_printf(seq, "%llx", (unsigned long long)number);
	else if (field->is_signed)
		trace_seq_printf(seq, "%lld", (long long)number);
	else
		trace_seq_dec(seq, number, 0, ' ');
}

typedef void (*print_element_fn)(const struct trace_iter *iter, const struct value *value,
				 uint32_t i, struct trace_seq *seq);

/* Arrays of characters are printed as text, other arrays as `{0x1,0x2}`, as trace-cmd does. */
static void output_fields_print_value(const struct trace_iter *iter, const struct value *value,
				      print_element_fn print, struct trace_seq *seq)
{
	const char *text = (const char *)value->at;

	if (!trace_field_is_array(value->field)) {
		print(iter, value, 0, seq);
		return;
	}
	if (trace_field_is_char(value->field)) {
		trace_seq_write(seq, text, trace_strnlen(text, value->nr));
		return;
	}
	trace_seq_putc(seq, '{');
	for (uint32_t i = 0; i < value->nr; i++) {
		if (i)
			trace_seq_putc(seq, ',');
		if (value->field->is_address)
			print(iter, value, i, seq);
		else
			trace_seq_printf(seq, "0x%llx",
					 (unsigned long long)output_fields_low_bytes(
						 element(value, i), value->field->element_size));
	}
	trace_seq_putc(seq, '}');
}

/* ---- text ---- */

static void print_named(const struct trace_iter *iter, const struct value *value, uint32_t i,
			struct trace_seq *seq)
{
	uint32_t packed = 0;

	if (!value->field->is_address) {
		output_fields_print_number(value, i, seq);
		return;
	}
	if (i < value->nr)
		memcpy(&packed, value->at + i * sizeof(packed), sizeof(packed));
	trace_print_ip(iter, seq, packed);
}

void trace_fields_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_event *event = iter->type;
	struct value value;

	trace_seq_puts(seq, event->name);
	trace_seq_putc(seq, ':');
	for (size_t i = 0; i < event->nr_fields; i++) {
		value = output_fields_value_of(&event->fields[i], iter->event.data,
					       iter->event.len);
		trace_seq_putc(seq, ' ');
		trace_seq_puts(seq, value.field->name);
		trace_seq_putc(seq, '=');
		output_fields_print_value(iter, &value, print_named, seq);
	}
	trace_seq_putc(seq, '\n');
}

/* ---- raw ---- */

static void output_fields_print_plain(const struct trace_iter *iter, const struct value *value,
				      uint32_t i, struct trace_seq *seq)
{
	(void)iter;
	output_fields_print_number(value, i, seq);
}

void trace_fields_raw(const struct trace_event *event, const void *data, uint32_t len,
		      struct trace_seq *seq)
{
	struct value value;

	for (size_t i = 0; i < event->nr_fields; i++) {
		value = output_fields_value_of(&event->fields[i], data, len);
		if (i)
			trace_seq_putc(seq, ' ');
		output_fields_print_value(NULL, &value, output_fields_print_plain, seq);
	}
	trace_seq_putc(seq, '\n');
}

/* ---- hex and bin ---- */

static uint32_t nr_shown(const struct value *value)
{
	return trace_field_is_array(value->field) ? value->nr : 1;
}

void trace_fields_hex(const struct trace_event *event, const void *data, uint32_t len,
		      struct trace_seq *seq)
{
	struct value value;
	uint32_t bytes;

	for (size_t i = 0; i < event->nr_fields; i++) {
		value = output_fields_value_of(&event->fields[i], data, len);
		bytes = shown_bytes(value.field);
		for (uint32_t k = 0; k < nr_shown(&value); k++)
			trace_seq_hex(seq, output_fields_low_bytes(element(&value, k), bytes),
				      bytes);
	}
}

void trace_fields_binary(const struct trace_event *event, const void *data, uint32_t len,
			 struct trace_seq *seq)
{
	struct value value;
	uint64_t number;

	for (size_t i = 0; i < event->nr_fields; i++) {
		value = output_fields_value_of(&event->fields[i], data, len);
		for (uint32_t k = 0; k < nr_shown(&value); k++) {
			number = element(&value, k);
			trace_seq_write(seq, &number, shown_bytes(value.field));
		}
	}
}
