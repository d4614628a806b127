/* Events that programs write, and their lines in `trace`, which are those of Linux. See user_event.h. */
#include <trace/errno.h>
#include <trace/event_probe.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include <trace/trace_seq.h>
#include "print/iter.h"
#include "print/output_fields.h"
#include "user_event.h"

#define USER_HEAD_BYTES	 (uint32_t)sizeof(struct trace_entry)
#define USER_SMALL_BYTES 256u

/* Bytes of an event. */
struct user_value {
	const uint8_t *at;
	uint32_t bytes;
};

/* ---- Values ---- */

/* The value of a field. False: the event, of `bytes` bytes, has not all of it; then it is what there is. */
static bool user_event_value(const struct trace_event_field *field, const void *entry,
			     uint32_t bytes, struct user_value *out)
{
	uint32_t at = field->offset, size = field->size, word;

	if (field->kind != TRACE_FIELD_PLAIN && at + size <= bytes) {
		__builtin_memcpy(&word, (const uint8_t *)entry + at, sizeof(word));
		at = (word & 0xffff) + (field->kind == TRACE_FIELD_REL_LOC ? at + size : 0);
		size = word >> 16;
	}
	out->at = (const uint8_t *)entry + (at < bytes ? at : bytes);
	out->bytes = at >= bytes ? 0 : size < bytes - at ? size : bytes - at;
	return out->bytes == size && at <= bytes;
}

/* Do the words describe bytes of the event, and those of characters a text with an end? */
static bool user_event_is_whole(const struct trace_event *event, const void *entry, uint32_t bytes)
{
	struct user_value value;

	for (uint32_t i = 0; i < event->nr_fields; i++) {
		const struct trace_event_field *field = &event->fields[i];

		if (field->kind == TRACE_FIELD_PLAIN)
			continue;
		if (!user_event_value(field, entry, bytes, &value))
			return false;
		if (field->element_size == 1 && value.bytes && value.at[value.bytes - 1])
			return false;
	}
	return true;
}

/* ---- Writing ---- */

static int64_t user_event_commit(struct trace_user_event *event, void *entry, uint32_t bytes)
{
	if (event->has_data && !user_event_is_whole(&event->call.event, entry, bytes))
		return -EFAULT;
	trace_plat_preempt_disable();
	trace_event_write(&event->call, entry, (bytes + 3) & ~3u, NULL);
	trace_plat_preempt_enable();
	return bytes - USER_HEAD_BYTES;
}

int64_t trace_user_event_write(struct trace_user_event *event, const void *values, size_t bytes)
{
	uint64_t few[USER_SMALL_BYTES / sizeof(uint64_t)] = { 0 }, *entry = few;
	size_t whole = USER_HEAD_BYTES + bytes, room = whole + sizeof(uint64_t);
	int64_t written;

	if (bytes < event->min_bytes)
		return -EINVAL;
	if (!trace_user_event_is_on(event))
		return -EBADF;
	if (whole > RING_MAX_PAYLOAD)
		return -E2BIG;
	if (room > sizeof(few))
		entry = trace_plat_alloc(room);
	if (!entry)
		return -ENOMEM;
	__builtin_memcpy((uint8_t *)entry + USER_HEAD_BYTES, values, bytes);
	written = user_event_commit(event, entry, (uint32_t)whole);
	if (entry != few)
		trace_plat_free(entry, room);
	return written;
}

/* ---- Lines ---- */

static void user_event_print_number(const struct user_value *value, struct trace_seq *seq)
{
	uint64_t number = 0;

	__builtin_memcpy(&number, value->at, value->bytes);
	switch (value->bytes) {
	case 1:
		if (number >= ' ' && number <= '~')
			trace_seq_printf(seq, "'%c'", (int)number);
		trace_seq_printf(seq, "(%d)", (int)number);
		break;
	case sizeof(uint64_t):
		trace_seq_printf(seq, "0x%llx (%lld)", (unsigned long long)number,
				 (long long)number);
		break;
	default:
		trace_seq_printf(seq, "0x%x (%d)", (unsigned int)number, (int)number);
	}
}

static void user_event_print_bytes(const struct user_value *value, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < value->bytes; i++)
		trace_seq_printf(seq, "%s0x%x", i ? "," : "{", value->at[i]);
	trace_seq_puts(seq, value->bytes ? "}" : "{}");
}

static void user_event_print_value(const struct trace_event_field *field,
				   const struct user_value *value, struct trace_seq *seq)
{
	bool is_many = trace_field_is_array(field) || field->kind != TRACE_FIELD_PLAIN;
	const char *text = (const char *)value->at;

	if (is_many && field->element_size == 1)
		trace_seq_write(seq, text, trace_strnlen(text, value->bytes));
	else if (is_many || field->size > sizeof(uint64_t) ||
		 trace_str_starts(field->type, "struct "))
		user_event_print_bytes(value, seq);
	else
		user_event_print_number(value, seq);
}

static void user_event_print(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_event *event = iter->type;
	struct user_value value;

	trace_seq_printf(seq, "%s:", event->name);
	for (uint32_t i = 0; i < event->nr_fields; i++) {
		trace_seq_printf(seq, " %s=", event->fields[i].name);
		if (user_event_value(&event->fields[i], iter->event.data, iter->event.len, &value))
			user_event_print_value(&event->fields[i], &value, seq);
		else
			trace_seq_puts(seq, "<OVERFLOW>");
	}
	trace_seq_putc(seq, '\n');
}

const struct trace_event_functions trace_user_event_functions = { .trace = user_event_print };
