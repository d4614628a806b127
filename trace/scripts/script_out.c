/*
 * The output buffer of scripts, and printf(): see script.h.
 *
 *   record: number of the format, 4 bytes | length, 4 bytes | values
 *
 * Probes write records; the reading thread makes texts of them. A record that finds no room is left
 * out and counted. There is one buffer for all CPUs: lines come in the order in which they were
 * written.
 */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "script.h"
#include "script_user.h"
#include "text/str.h"

#define SCRIPT_HEAD_BYTES 8u

/* ---- Writing: probe context ---- */

static void script_out_put(struct script_out *out, uint64_t at, const void *bytes, uint32_t nr)
{
	uint32_t from = (uint32_t)(at % SCRIPT_OUT_BYTES), first = SCRIPT_OUT_BYTES - from;

	if (first > nr)
		first = nr;
	memcpy(out->memory + from, bytes, first);
	memcpy(out->memory, (const uint8_t *)bytes + first, nr - first);
}

bool trace_script_out_write(struct trace_script *script, const struct script_format *format,
			    const void *bytes)
{
	struct script_out *out = &script->out;
	const uint32_t head[2] = { format->number, format->bytes };
	bool has_room;

	script_lock(&out->lock);
	has_room = out->head - out->tail + SCRIPT_HEAD_BYTES + format->bytes <= SCRIPT_OUT_BYTES;
	if (has_room) {
		script_out_put(out, out->head, head, SCRIPT_HEAD_BYTES);
		script_out_put(out, out->head + SCRIPT_HEAD_BYTES, bytes, format->bytes);
		out->head += SCRIPT_HEAD_BYTES + format->bytes;
	}
	script_unlock(&out->lock);
	return has_room;
}

/* ---- Reading: thread ---- */

static void script_out_get(const struct script_out *out, uint64_t at, void *to, uint32_t nr)
{
	uint32_t from = (uint32_t)(at % SCRIPT_OUT_BYTES), first = SCRIPT_OUT_BYTES - from;

	if (first > nr)
		first = nr;
	memcpy(to, out->memory + from, first);
	memcpy((uint8_t *)to + first, out->memory, nr - first);
}

bool trace_script_out_is_empty(struct trace_script *script)
{
	struct script_out *out = &script->out;
	uint64_t flags = trace_script_pause(script);
	bool is_empty;

	script_lock(&out->lock);
	is_empty = out->head == out->tail;
	script_unlock(&out->lock);
	trace_script_resume(script, flags);
	return is_empty;
}

const struct script_format *trace_script_out_take(struct trace_script *script, void *values)
{
	struct script_out *out = &script->out;
	const struct script_format *format = NULL;
	uint64_t flags = trace_script_pause(script);
	uint32_t head[2];

	script_lock(&out->lock);
	if (out->head != out->tail) {
		script_out_get(out, out->tail, head, SCRIPT_HEAD_BYTES);
		script_out_get(out, out->tail + SCRIPT_HEAD_BYTES, values, head[1]);
		out->tail += SCRIPT_HEAD_BYTES + head[1];
		for (format = script->formats; format->number != head[0];)
			format = format->next;
	}
	script_unlock(&out->lock);
	trace_script_resume(script, flags);
	return format;
}

/* ---- printf() ---- */

/* The next conversion, `%-16s`, in *text, which goes on behind it. */
struct script_spec {
	struct expr_word before; /* characters in front of it */
	struct expr_word flags;	 /* flags, width and precision */
	uint32_t bits;		 /* of the number that are shown: fewer with h and hh */
	char conversion;	 /* NUL: the text ends; '%' */
};

static struct script_spec script_out_spec(const char **text)
{
	struct script_spec spec = { .before.at = *text, .bits = 64 };
	const char *at = *text;

	while (*at && *at != '%')
		at++;
	spec.before.len = (size_t)(at - *text);
	if (*at) {
		spec.flags.at = ++at;
		while (*at == '-' || *at == '+' || *at == ' ' || *at == '#' || *at == '.' ||
		       expr_is_digit(*at))
			at++;
		spec.flags.len = (size_t)(at - spec.flags.at);
		for (; *at == 'l' || *at == 'h' || *at == 'z' || *at == 'j'; at++)
			spec.bits =
				*at == 'h' && spec.bits > 8 ? spec.bits == 64 ? 16 : 8 : spec.bits;
		spec.conversion = *at ? *at : '?';
		at += *at != '\0';
	}
	*text = at;
	return spec;
}

static bool script_out_is_word(enum script_kind kind)
{
	return kind == SCRIPT_INT || kind == SCRIPT_POINTER || kind == SCRIPT_STRUCT ||
	       kind == SCRIPT_KSYM || kind == SCRIPT_USYM;
}

static const char *script_out_misfit(char conversion, enum script_kind kind)
{
	switch (conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
	case 'c':
	case 'p':
		return script_out_is_word(kind) ? NULL : "this conversion needs a number";
	case 'r':
		return kind == SCRIPT_BUF ? NULL : "%r needs the bytes of buf()";
	case 's':
		return kind == SCRIPT_BUF ? "%s needs a text: buf() is for %r"
		       : kind == SCRIPT_INT || kind == SCRIPT_POINTER || kind == SCRIPT_STRUCT
			       ? "%s needs a text: str() makes one of a pointer"
			       : NULL;
	default:
		return "there is no such conversion in printf()";
	}
}

const char *trace_script_format_check(const struct script_format *format)
{
	const char *at = format->text, *why = NULL;
	uint32_t nr = 0;

	if (!at)
		return NULL;
	while (*at && !why) {
		struct script_spec spec = script_out_spec(&at);

		if (!spec.conversion || (spec.conversion == '%' && !spec.flags.len))
			continue;
		if (spec.flags.len > 16)
			return "a conversion has more than 16 flags and digits";
		if (nr == format->nr)
			return "printf() has more conversions than values";
		why = script_out_misfit(spec.conversion, format->types[nr++].kind);
	}
	return why ? why : nr < format->nr ? "printf() has fewer conversions than values" : NULL;
}

/* The low bits of a number that a conversion shows, with the sign that it has. */
static uint64_t script_out_bits(const struct script_spec *spec, uint64_t value)
{
	uint32_t unused = 64 - spec->bits;

	value <<= unused;
	return spec->conversion == 'd' || spec->conversion == 'i'
		       ? (uint64_t)((int64_t)value >> unused)
		       : value >> unused;
}

static void script_out_number(struct trace_seq *seq, const struct script_spec *spec, uint64_t value)
{
	char fmt[32];

	value = script_out_bits(spec, value);
	if (spec->conversion == 'c') {
		trace_seq_putc(seq, (char)value);
		return;
	}
	if (spec->conversion == 'p') {
		trace_seq_printf(seq, "0x%lx", (unsigned long)value);
		return;
	}
	trace_snprintf(fmt, sizeof(fmt), "%%%.*sl%c", (int)spec->flags.len, spec->flags.at,
		       spec->conversion);
	trace_seq_bprintf(seq, fmt, &value, sizeof(value));
}

static void script_out_text(struct trace_seq *seq, const struct script_spec *spec,
			    const struct script_type *type, const void *at)
{
	char text[2 * TRACE_SYM_LEN], fmt[32];
	struct trace_seq own;

	if (type->kind == SCRIPT_KSTACK || type->kind == SCRIPT_USTACK ||
	    type->kind == SCRIPT_BUF) {
		trace_script_print_value(seq, type, at); /* lines of its own, or no text */
		return;
	}
	trace_seq_init(&own, text, sizeof(text) - 1);
	trace_script_print_value(&own, type, at);
	text[own.len] = '\0';
	trace_snprintf(fmt, sizeof(fmt), "%%%.*ss", (int)spec->flags.len, spec->flags.at);
	trace_seq_bprintf(seq, fmt, text, own.len + 1);
}

void trace_script_out_format(struct trace_seq *seq, const struct script_format *format,
			     const uint8_t *values)
{
	const char *at = format->text;
	uint32_t nr = 0;

	if (!at) {
		trace_script_print_value(seq, &format->types[0], values);
		trace_seq_putc(seq, '\n');
		return;
	}
	while (*at) {
		struct script_spec spec = script_out_spec(&at);
		const uint8_t *value;
		uint64_t word;

		trace_seq_write(seq, spec.before.at, spec.before.len);
		if (!spec.conversion)
			break;
		if (spec.conversion == '%' && !spec.flags.len) {
			trace_seq_putc(seq, '%');
			continue;
		}
		value = values + format->offsets[nr];
		memcpy(&word, value, sizeof(word));
		if (format->types[nr].kind == SCRIPT_USYM)
			word = script_user_addr(word);
		if (spec.conversion == 's' || spec.conversion == 'r')
			script_out_text(seq, &spec, &format->types[nr], value);
		else
			script_out_number(seq, &spec, word);
		nr++;
	}
}
