/* See <kernel/whynot.h>; the layout of the table is in <kernel/whynot_format.h>. */
#include <kernel/whynot.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <kernel/string.h>
#include <kernel/symbols.h>
#include <trace/fmt.h>

#include "near_names.h"
#include "symbols_expand.h"

/* The sentence being written; `pos` stays below `len`. */
struct sentence {
	char *buf;
	size_t len;
	size_t pos;
};

static void TRACE_PRINTF(2, 3) whynot_say(struct sentence *s, const char *fmt, ...)
{
	va_list args;
	int wanted;

	if (s->pos + 1 >= s->len)
		return;
	va_start(args, fmt);
	wanted = trace_vsnprintf(s->buf + s->pos, s->len - s->pos, fmt, args);
	va_end(args);
	if (wanted > 0)
		s->pos += (size_t)wanted;
	if (s->pos >= s->len)
		s->pos = s->len - 1;
}

/* The bytes at `pos` in the table. */
static const void *whynot_at(uint32_t pos)
{
	return (const uint8_t *)&whynot_blob + pos;
}

static size_t whynot_expand(const uint8_t *tokens, char *out_name)
{
	return symbols_expand(tokens, whynot_at(whynot_blob.token_text_pos),
			      whynot_at(whynot_blob.token_len_pos), out_name);
}

static const uint8_t *whynot_entry_at(uint32_t index)
{
	const uint32_t *pos = whynot_at(whynot_blob.entry_pos);

	return whynot_at(pos[index]);
}

/* The entry of `name`; NULL when it has none. */
static const uint8_t *whynot_find_entry(const char *name)
{
	uint32_t low = 0, high = whynot_blob.nr_entries;
	char text[KSYM_NAME_LEN];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int diff;

		whynot_expand(whynot_entry_at(middle), text);
		diff = strcmp(text, name);
		if (diff == 0)
			return whynot_entry_at(middle);
		if (diff < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static uint32_t whynot_read_number(const uint8_t **pos)
{
	uint32_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = *(*pos)++;
		value |= (uint32_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

/* The text of string `number` of the pool, which counts from 1; "?" when there is none. */
static void whynot_string_text(uint32_t number, char *out_text)
{
	const uint32_t *pos = whynot_at(whynot_blob.string_pos);

	if (number == 0 || number > whynot_blob.nr_strings)
		strlcpy(out_text, "?", 2);
	else
		whynot_expand(whynot_at(pos[number - 1]), out_text);
}

/* " (kernel/foo.c:12)", or nothing when the file is unknown. */
static void whynot_say_place(struct sentence *s, uint32_t file, uint32_t line)
{
	char text[KSYM_NAME_LEN];

	if (file == 0)
		return;
	whynot_string_text(file, text);
	whynot_say(s, " (%s:%u)", text, line);
}

/* "into foo (kernel/foo.c:12), bar (kernel/bar.c:7) and 3 more" */
static void whynot_say_calls(struct sentence *s, uint32_t nr, const uint8_t *pos)
{
	char text[KSYM_NAME_LEN];
	uint32_t shown = 0;

	whynot_say(s, "into ");
	for (; shown < WHYNOT_MAX_CALLS; shown++) {
		uint32_t caller = whynot_read_number(&pos), file;

		if (caller == 0)
			break;
		file = whynot_read_number(&pos);
		whynot_string_text(caller, text);
		whynot_say(s, "%s%s", shown ? ", " : "", text);
		whynot_say_place(s, file, whynot_read_number(&pos));
	}
	if (nr > shown)
		whynot_say(s, " and %u more", nr - shown);
}

/* `pos` is behind the name of an entry: say the sentence about it, and return the reason. */
static int whynot_say_entry(struct sentence *s, const char *name, const uint8_t *pos)
{
	int reason = *pos++;
	uint32_t file = whynot_read_number(&pos), line = whynot_read_number(&pos);
	uint32_t clone = reason == WHYNOT_RENAMED ? whynot_read_number(&pos) : 0;
	uint32_t nr = whynot_read_number(&pos);
	const char *dot = strchr(name, '.');
	char text[KSYM_NAME_LEN];

	switch (reason) {
	case WHYNOT_TRACEABLE:
		whynot_say(s, "can be traced, but %u call%s inlined: ", nr,
			   nr == 1 ? " is" : "s are");
		whynot_say_calls(s, nr, pos);
		break;
	case WHYNOT_INLINED:
		whynot_say(s, "inlined ");
		whynot_say_calls(s, nr, pos);
		break;
	case WHYNOT_NOTRACE_FUNC:
		whynot_say(s, "notrace: marked so in the source");
		whynot_say_place(s, file, line);
		break;
	case WHYNOT_NOTRACE_FILE:
		whynot_say(s, "notrace: its file is built without call sites");
		whynot_say_place(s, file, line);
		break;
	case WHYNOT_ASSEMBLY:
		whynot_say(s,
			   file ? "assembly routine without a call site" : "label, not a function");
		whynot_say_place(s, file, line);
		break;
	case WHYNOT_DISCARDED:
		whynot_say(s, "not in the kernel: unused, or optimised away by the compiler");
		whynot_say_place(s, file, line);
		break;
	case WHYNOT_COLD_PART:
		whynot_say(s, "cold part of %.*s, entered by a jump", dot ? (int)(dot - name) : 0,
			   name);
		break;
	case WHYNOT_RENAMED:
		whynot_string_text(clone, text);
		whynot_say(s, "compiled as %s, which can be traced", text);
		break;
	default:
		whynot_say(s, "no reason known");
		break;
	}
	return reason;
}

/* Names with a dot are not proposed: compilers make them, and no user means them. */
static void whynot_offer(struct near_names *near, const char *name, size_t len)
{
	if (!strchr(name, '.'))
		near_offer(near, name, len);
}

static void whynot_say_near_names(struct sentence *s, const char *name)
{
	char text[KSYM_NAME_LEN];
	struct near_names near;
	uintptr_t addr;

	near_init(&near, name);
	for (uint32_t i = 0; i < symbols_count(); i++) {
		size_t len = symbols_get(i, text, &addr);

		whynot_offer(&near, text, len);
	}
	for (uint32_t i = 0; i < whynot_blob.nr_entries; i++) {
		size_t len = whynot_expand(whynot_entry_at(i), text);

		whynot_offer(&near, text, len);
	}
	whynot_say(s, "no such function");
	for (uint32_t i = 0; i < near.nr; i++)
		whynot_say(s, "%s%s", i ? ", " : "; did you mean: ", near.name[i]);
}

int whynot_lookup(const char *name, char *buf, size_t len)
{
	struct sentence sentence = { .buf = buf, .len = len };
	const uint8_t *entry = whynot_find_entry(name);

	if (len)
		buf[0] = '\0';
	if (entry)
		return whynot_say_entry(&sentence, name, symbols_skip(entry));
	if (symbols_find(name)) {
		whynot_say(&sentence, "can be traced");
		return WHYNOT_TRACEABLE;
	}
	whynot_say_near_names(&sentence, name);
	return WHYNOT_UNKNOWN;
}
