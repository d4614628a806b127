/*
 * Arguments of a line that are written by number, as names: `$arg*` becomes all arguments of the
 * function, and `$argN` without a name of its own the Nth. See probe.h. Error messages have Linux's
 * words.
 *
 *	p kmalloc $arg*        p kmalloc bytes
 *	r kmalloc $arg1:u32    r kmalloc bytes:u32
 */
#include <trace/errno.h>
#include <trace/platform.h>
#include "fetch_private.h"
#include "probe.h"
#include "text/str.h"

#define ALL "$arg*"

/* The arguments as they are written out. The first time nothing is stored, to know the length. */
struct names_text {
	char *at; /* or NULL */
	size_t len;
};

static void probe_names_put(struct names_text *text, const char *from, size_t len)
{
	if (text->at)
		memcpy(text->at + text->len, from, len);
	text->len += len;
}

static bool is_all(const struct expr_word *word)
{
	return trace_expr_is(word, ALL);
}

/* The number of `$argN` or `$argN:TYPE`, and the text behind it; 0 for another word. */
static uint32_t probe_names_number_of(const struct expr_word *word, struct expr_word *out_type)
{
	const char *at = word->at + 4, *end = word->at + word->len;
	struct expr_word number = { at, 0 };
	uint64_t n;

	if (!trace_expr_starts(word, "$arg"))
		return 0;
	while (at < end && *at != ':')
		at++;
	number.len = (size_t)(at - number.at);
	*out_type = (struct expr_word){ at, (size_t)(end - at) };
	return trace_expr_number(&number, 10, false, &n) || n > FETCH_ARGS_MAX ? 0 : (uint32_t)n;
}

static void probe_names_put_number(struct names_text *text, uint32_t n)
{
	char digits[4];
	uint32_t at = sizeof(digits);

	for (; n; n /= 10)
		digits[--at] = (char)('0' + n % 10);
	probe_names_put(text, "$arg", 4);
	probe_names_put(text, digits + at, sizeof(digits) - at);
}

static int put_all(const struct probe_definition *definition, struct names_text *text)
{
	int count = trace_fetch_names->count(&definition->context);

	for (int i = 0; i < count; i++) {
		const char *name = trace_fetch_names->name_of(&definition->context, (uint32_t)i);

		probe_names_put(text, " ", 1);
		if (name && *name)
			probe_names_put(text, name, trace_strlen(name));
		else
			probe_names_put_number(text, (uint32_t)i + 1);
	}
	return count < 0 ? count : 0;
}

/* One word of the line, as it becomes. */
static int probe_names_put_word(const struct probe_definition *definition,
				const struct expr_word *word, struct names_text *text)
{
	struct expr_word type;
	uint32_t n = probe_names_number_of(word, &type);
	const char *name;

	if (is_all(word)) {
		if (!trace_fetch_names || put_all(definition, text))
			return trace_probe_refuse(definition, word->at,
						  "BTF is not available or not supported");
		return 0;
	}
	probe_names_put(text, " ", 1);
	if (!n || !trace_fetch_names || trace_fetch_names->count(&definition->context) < 0) {
		probe_names_put(text, word->at, word->len);
		return 0;
	}
	name = trace_fetch_names->name_of(&definition->context, n - 1);
	if (!name)
		return trace_probe_blame(definition, word->at,
					 "This variable is not found at this probe point", -ENOENT);
	if (*name)
		probe_names_put(text, name, trace_strlen(name));
	else
		probe_names_put(text, word->at, word->len - type.len);
	probe_names_put(text, type.at, type.len);
	return 0;
}

static int probe_names_put_words(const struct probe_definition *definition, struct names_text *text)
{
	const char *rest = definition->written;
	struct expr_word word;
	int err = 0;

	while (!err && (word = trace_expr_next_word(&rest, '\0')).len)
		err = probe_names_put_word(definition, &word, text);
	return err;
}

/* Is there something to write out? -EINVAL after blaming: it may not be there. */
static int check_words(const struct probe_definition *definition, bool *out_any)
{
	enum fetch_place place = definition->context.place;
	const char *rest = definition->written;
	struct expr_word word, type;
	bool has_all = false;

	*out_any = false;
	while ((word = trace_expr_next_word(&rest, '\0')).len) {
		*out_any |= is_all(&word) || probe_names_number_of(&word, &type);
		if (!is_all(&word))
			continue;
		if (place == FETCH_AT_CODE)
			return trace_probe_refuse(
				definition, word.at,
				"$arg* can be used only on function entry or exit");
		if (has_all)
			return trace_probe_refuse(definition, word.at,
						  "$arg* can be used only once in the parameters");
		has_all = true;
	}
	return 0;
}

int trace_probe_names_expand(struct probe_definition *definition)
{
	enum fetch_place place = definition->context.place;
	struct names_text text = { .at = NULL };
	bool any = false;
	int err;

	definition->written = definition->args;
	if (place == FETCH_AT_EVENT)
		return 0; /* these are names of fields there */
	err = check_words(definition, &any);
	if (err || !any || place == FETCH_AT_CODE)
		return err;
	err = probe_names_put_words(definition, &text);
	if (err)
		return err;
	definition->expanded_bytes = text.len + 1;
	definition->expanded = trace_plat_alloc(definition->expanded_bytes);
	if (!definition->expanded)
		return -ENOMEM;
	text = (struct names_text){ .at = definition->expanded };
	(void)probe_names_put_words(definition, &text);
	definition->args = definition->expanded;
	return 0;
}

/* The place in the line that became the expanded text at `at`. */
static const char *probe_names_place_of(const struct probe_definition *definition, const char *at)
{
	const char *from = definition->expanded, *rest = definition->written;
	struct expr_word word = { rest, 0 }, written;
	uint32_t left = 0; /* of the words that the one of the line became */

	while ((written = trace_expr_next_word(&from, '\0')).len) {
		while (!left) {
			word = trace_expr_next_word(&rest, '\0');
			left = is_all(&word)
				       ? (uint32_t)trace_fetch_names->count(&definition->context)
				       : 1;
		}
		left--;
		if (at <= written.at + written.len)
			break;
	}
	return at >= written.at && trace_expr_same(&word, &written) ? word.at + (at - written.at)
								    : word.at;
}

void trace_probe_names_end(struct probe_definition *definition)
{
	struct dyn_event_error *error = definition->error;

	if (!definition->expanded)
		return;
	if (error->why && error->at >= definition->expanded &&
	    error->at < definition->expanded + definition->expanded_bytes)
		error->at = probe_names_place_of(definition, error->at);
	trace_plat_free(definition->expanded, definition->expanded_bytes);
}
