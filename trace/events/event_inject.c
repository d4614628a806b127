/*
 * Invented events: the file `inject` of a trace event. See event_inject.h.
 */
#include <trace/platform.h>
#include "event_inject.h"
#include "filter.h"
#include "fs/fs_file.h"
#include "print/output_fields.h"
#include "text/str.h"

#define LOC_BYTES 4u

/* An event under construction, and the text that describes it. */
struct making {
	const struct trace_event *event;
	uint8_t *entry;
	uint32_t room;	/* bytes at `entry` */
	uint32_t bytes; /* the used part of them */
	const char *at; /* the rest of the text */
	struct expr_error *error;
};

static int inject_blame(const struct making *making, const char *text, const char *at,
			const char *why, int err)
{
	*making->error = (struct expr_error){ why, (size_t)(at - text) };
	return err;
}

static bool inject_is_text(const struct trace_event_field *field)
{
	return trace_field_is_char(field) && (field->kind != TRACE_FIELD_PLAIN || field->size > 1);
}

/* Point the field to the next free byte behind the data, with a length of `len`. */
static void put_loc(struct making *making, const struct trace_event_field *field, uint32_t len)
{
	uint32_t base = field->kind == TRACE_FIELD_REL_LOC ? field->offset + LOC_BYTES : 0;
	uint32_t loc = (making->bytes - base) | len << 16;

	memcpy(making->entry + field->offset, &loc, sizeof(loc));
}

/* Make the empty event, the starting point: numbers are 0, texts empty. */
static void make_empty(struct making *making)
{
	static const char *const nothing = "";

	for (size_t i = 0; i < making->event->nr_fields; i++) {
		const struct trace_event_field *field = &making->event->fields[i];

		if (field->kind != TRACE_FIELD_PLAIN)
			put_loc(making, field, inject_is_text(field));
		else if (trace_field_is_text_pointer(field))
			memcpy(making->entry + field->offset, (const void *)&nothing,
			       sizeof(uintptr_t));
	}
	making->bytes++; /* the NUL that ends empty texts */
}

static void inject_put_text(struct making *making, const struct trace_event_field *field,
			    const char *text, uint32_t len)
{
	if (field->kind == TRACE_FIELD_PLAIN) {
		memset(making->entry + field->offset, 0, field->size);
		memcpy(making->entry + field->offset, text,
		       len < field->size ? len : field->size - 1);
		return;
	}
	put_loc(making, field, len + 1);
	memcpy(making->entry + making->bytes, text, len);
	making->bytes += len;
	making->entry[making->bytes++] = '\0';
}

static bool inject_is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

static void inject_skip_blanks(struct making *making)
{
	while (trace_is_space(*making->at))
		making->at++;
}

static const struct trace_event_field *inject_find_field(const struct trace_event *event,
							 const char *name, size_t len)
{
	for (size_t i = 0; i < event->nr_fields; i++) {
		const char *own = event->fields[i].name;

		if (trace_strlen(own) == len && memcmp(own, name, len) == 0)
			return &event->fields[i];
	}
	return NULL;
}

/* Parse NAME =, with blanks around it. */
static int inject_take_name(struct making *making, const char *text,
			    const struct trace_event_field **out_field)
{
	const char *name = making->at;

	while (inject_is_word(*making->at))
		making->at++;
	if (making->at == name)
		return inject_blame(making, text, name, "no name of a field", -EINVAL);
	*out_field = inject_find_field(making->event, name, (size_t)(making->at - name));
	if (!*out_field)
		return inject_blame(making, text, name, "the event has no such field", -ENOENT);
	inject_skip_blanks(making);
	if (*making->at != '=')
		return inject_blame(making, text, making->at, "= is missing", -EINVAL);
	making->at++;
	inject_skip_blanks(making);
	return 0;
}

/* Parse "TEXT" or 'TEXT'; a backslash keeps the next character from ending it. */
static int inject_take_text(struct making *making, const char *text,
			    const struct trace_event_field *field)
{
	const char *begin = making->at + 1, *end = begin;

	if (!inject_is_text(field))
		return inject_blame(making, text, making->at, "the field takes no text", -EINVAL);
	while (*end && *end != *making->at)
		end += *end == '\\' && end[1] ? 2 : 1;
	if (!*end)
		return inject_blame(making, text, making->at, "the text does not end", -EINVAL);
	inject_put_text(making, field, begin, (uint32_t)(end - begin));
	making->at = end + 1;
	return 0;
}

/* Does a number of 64 bits fit into that many bytes, with a sign or without? */
static bool inject_fits(uint64_t value, bool is_negative, uint32_t bytes)
{
	uint32_t bits = bytes * 8;

	if (is_negative)
		return ~value < 1ull << (bits - 1);
	return bits == 64 || value < 1ull << bits;
}

static int inject_parse_number(const char *word, size_t len, uint64_t *out_value,
			       bool *out_is_negative)
{
	char digits[32];
	int err;

	*out_is_negative = *word == '-';
	word += *out_is_negative;
	len -= *out_is_negative;
	if (len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, word, len);
	digits[len] = '\0';
	err = trace_parse_u64(digits, 0, out_value);
	if (!err && *out_is_negative)
		*out_value = 0 - *out_value;
	*out_is_negative &= *out_value != 0;
	return err;
}

static bool takes_numbers(const struct trace_event_field *field)
{
	return field->kind == TRACE_FIELD_PLAIN && !trace_field_is_array(field) &&
	       !trace_field_is_text_pointer(field) && !field->is_address &&
	       field->filter_type != FILTER_TRACE_FN && field->size <= sizeof(uint64_t) &&
	       !(field->size & (field->size - 1));
}

static int inject_take_number(struct making *making, const char *text,
			      const struct trace_event_field *field)
{
	const char *word = making->at;
	bool is_negative;
	uint64_t value;
	int err;

	if (!takes_numbers(field))
		return inject_blame(making, text, word, "the field takes no number", -EINVAL);
	making->at += *word == '-';
	while (inject_is_word(*making->at))
		making->at++;
	err = inject_parse_number(word, (size_t)(making->at - word), &value, &is_negative);
	if (!err && !inject_fits(value, is_negative, field->size))
		err = -ERANGE;
	if (err)
		return inject_blame(making, text, word,
				    err == -ERANGE ? "the number is too large" : "no number", err);
	memcpy(making->entry + field->offset, &value, field->size);
	return 0;
}

/* Parse one NAME=VALUE, and the blanks behind it. */
static int inject_take_field(struct making *making, const char *text)
{
	const struct trace_event_field *field;
	int err = inject_take_name(making, text, &field);

	if (err)
		return err;
	if (*making->at == '"' || *making->at == '\'')
		err = inject_take_text(making, text, field);
	else if (*making->at == '-' || (*making->at >= '0' && *making->at <= '9'))
		err = inject_take_number(making, text, field);
	else
		err = inject_blame(making, text, making->at,
				   "neither a number nor a text in quotes", -EINVAL);
	if (!err && *making->at && !trace_is_space(*making->at))
		err = inject_blame(making, text, making->at, "a blank is missing", -EINVAL);
	inject_skip_blanks(making);
	return err;
}

/* Bytes of the fixed part: up to the end of the last field. */
static uint32_t fixed_bytes(const struct trace_event *event)
{
	uint32_t bytes = sizeof(struct trace_entry);

	for (size_t i = 0; i < event->nr_fields; i++) {
		uint32_t end = event->fields[i].offset + event->fields[i].size;

		bytes = end > bytes ? end : bytes;
	}
	return bytes;
}

static int inject_make(struct making *making, const char *text)
{
	int err = 0;

	making->bytes = fixed_bytes(making->event);
	make_empty(making);
	inject_skip_blanks(making);
	while (!err && *making->at)
		err = inject_take_field(making, text);
	making->bytes = (making->bytes + 3) & ~3u;
	return err;
}

/*
 * Record an event in the instance of `file`. `text` has NAME=VALUE for each field that is not 0 or
 * empty, with blanks between; texts in quotes. Returns 0; or with *error filled in -EINVAL, -ENOENT
 * (no such field), -ERANGE; -ENOMEM. Config lock.
 */
static int inject_event(struct trace_event_file *file, const char *text, struct expr_error *error)
{
	struct making making = { .event = &file->call->event, .at = text, .error = error };
	int err = trace_array_expand(file->tr);

	*error = (struct expr_error){ NULL, 0 };
	if (err)
		return err;
	/* Each text of the event takes at most its room in `text`, and there is one NUL. */
	making.room = fixed_bytes(making.event) + (uint32_t)trace_strlen(text) + 8;
	making.entry = trace_plat_alloc(making.room);
	if (!making.entry)
		return -ENOMEM;
	err = inject_make(&making, text);
	if (!err) {
		trace_plat_preempt_disable();
		trace_event_write_injected(file, making.entry, TRACE_EVENT_STEP(making.bytes));
		trace_plat_preempt_enable();
	}
	trace_plat_free(making.entry, making.room);
	return err;
}

/* ---- The file ---- */

#define INJECT_MAX 1023u

static int inject_store(struct trace_handle *handle, char *text)
{
	const struct trace_event *event = (const struct trace_event *)(uintptr_t)handle->node->arg;
	struct expr_error error = { NULL, 0 };
	struct trace_event_file *file;
	int err = -ENOMEM;

	trace_plat_lock(&trace_config_lock);
	file = trace_event_file_get(handle->tr, event->call);
	if (file)
		err = inject_event(file, text, &error);
	trace_plat_unlock(&trace_config_lock);
	if (error.why)
		trace_handle_blame(handle, text + error.pos, error.why);
	return err;
}

const struct trace_file trace_event_inject_file = {
	.name = "inject",
	.mode = 0220,
	.store = inject_store,
	.store_max = INJECT_MAX,
};
