/*
 * From words as written to the fields that a command gets. See sh.h.
 *
 * While a field is built it is a pattern: quoted characters that would mean something to sh_match()
 * have a backslash in front. A field ends at a blank that an expansion gave, or at the end of the
 * word; then it is replaced by the file names that match, or the backslashes are taken off.
 */
#include <kernel/string.h>
#include <trace/fmt.h>
#include "sh.h"

struct expander {
	const struct sh_expansion *ex;
	/* NULL for sh_expand_text(): no splitting, no backslashes added */
	struct sh_fields *fields;
	char *buf; /* the field so far, in the arena */
	size_t len;
	size_t size;
	bool has_field; /* quotes were seen: the field counts even if it is empty */
	bool in_quotes;
	uint32_t depth; /* the ${ } that we are inside of */
	int err;
};

static void expand_range(struct expander *x, const char *pos, const char *end);

static void expand_put(struct expander *x, char c)
{
	if (x->err)
		return;
	if (x->len + 1 >= x->size) {
		size_t size = x->size ? 2 * x->size : 64;
		char *bigger = sh_alloc(x->ex->arena, size);

		if (!bigger) {
			x->err = -ENOMEM;
			return;
		}
		if (x->len)
			memcpy(bigger, x->buf, x->len);
		x->buf = bigger;
		x->size = size;
	}
	x->buf[x->len++] = c;
	x->buf[x->len] = '\0';
}

/* Add a character that is to mean only itself in a pattern. */
static void expand_put_quoted(struct expander *x, char c)
{
	if (x->fields && strchr("*?[]\\-!^", c))
		expand_put(x, '\\');
	expand_put(x, c);
}

static void expand_end_field(struct expander *x)
{
	uint32_t before = x->fields->nr;

	if (x->err || (!x->len && !x->has_field))
		return;
	if (x->len && sh_is_pattern(x->buf))
		x->err = sh_glob(x->ex, x->buf, x->fields);
	if (x->len)
		sh_unquote(x->buf);
	if (!x->err && x->fields->nr == before)
		x->err = sh_fields_add(x->fields, x->ex->arena, x->len ? x->buf : "",
				       x->len ? strlen(x->buf) : 0);
	x->buf = NULL;
	x->len = 0;
	x->size = 0;
	x->has_field = false;
}

/*
 * Add the value of a variable or the output of a command; outside of quotes it is split at blanks.
 */
static void expand_put_value(struct expander *x, const char *value)
{
	for (; *value; value++) {
		if (x->in_quotes || *value == '\\')
			expand_put_quoted(x, *value);
		else if (x->fields && strchr(" \t\n", *value))
			expand_end_field(x);
		else
			expand_put(x, *value);
	}
}

static void expand_put_number(struct expander *x, long long value)
{
	char text[24];

	trace_snprintf(text, sizeof(text), "%lld", value);
	expand_put_value(x, text);
}

static void expand_fail(struct expander *x, const char *what)
{
	if (x->err)
		return;
	x->err = -EINVAL;
	strlcpy(x->ex->error, what, SH_ERROR_LEN);
}

static void expand_arith(struct expander *x, const char *text, size_t len)
{
	int64_t value = 0;
	char *plain;

	x->err = sh_expand_text(x->ex, text, len, &plain);
	if (!x->err)
		x->err = sh_arith(x->ex->sh, plain, strlen(plain), &value, x->ex->error);
	if (!x->err)
		expand_put_number(x, value);
}

/*
 * Expand $( ) or $(( )): `pos` is behind the first opening bracket, `end` behind the last closing
 * one.
 */
static void expand_command(struct expander *x, const char *pos, const char *end)
{
	size_t len = (size_t)(end - pos) - 1;
	char *output;

	if (len >= 2 && pos[0] == '(' && pos[len - 1] == ')') {
		expand_arith(x, pos + 1, len - 2);
		return;
	}
	x->err = sh_capture(x->ex, pos, len, &output);
	if (!x->err)
		expand_put_value(x, output);
}

static void expand_back_quotes(struct expander *x, const char *pos, const char *end)
{
	char *text = sh_alloc(x->ex->arena, (size_t)(end - pos));
	size_t len = 0;
	char *output;

	if (!text) {
		x->err = -ENOMEM;
		return;
	}
	for (; pos < end - 1; pos++) {
		if (*pos == '\\' && strchr("$`\\", pos[1]))
			pos++;
		text[len++] = *pos;
	}
	x->err = sh_capture(x->ex, text, len, &output);
	if (!x->err)
		expand_put_value(x, output);
}

/* Expand `$c` if it is a special parameter, such as $?. False when it is not. */
static bool expand_special(struct expander *x, char c)
{
	const struct shell *sh = x->ex->sh;

	if (c == '?')
		expand_put_number(x, sh->status);
	else if (c == '$')
		expand_put_number(x, sh->pid);
	else if (c == '!' && sh->last_background)
		expand_put_number(x, sh->last_background);
	else if (c == '#')
		expand_put_number(x, 0);
	else if (c == '0')
		expand_put_value(x, "sh");
	else
		return strchr("!@*123456789", c) != NULL; /* these are always empty here */
	return true;
}

/* Expand ${name-word} and the like: `pos` is behind the name, `end` is the closing bracket. */
static void expand_modifier(struct expander *x, const char *name, size_t name_len, const char *pos,
			    const char *end)
{
	const char *value = sh_var_get(x->ex->sh, name, name_len);
	bool is_set = value != NULL;
	char *word;

	if (*pos == ':') {
		is_set = value && *value;
		pos++;
	}
	if (pos == end || !strchr("-+=", *pos) || x->depth >= SH_DEPTH_MAX) {
		expand_fail(x, "bad substitution");
		return;
	}
	if (*pos == '=' && !is_set) {
		x->err = sh_expand_text(x->ex, pos + 1, (size_t)(end - pos) - 1, &word);
		if (!x->err)
			x->err = sh_var_set(x->ex->sh, name, name_len, word);
		if (!x->err)
			expand_put_value(x, word);
	} else if (is_set == (*pos == '+')) {
		x->depth++;
		expand_range(x, pos + 1, end);
		x->depth--;
	} else if (is_set && *pos != '+') {
		expand_put_value(x, value);
	}
}

/* Expand ${ }: `pos` is behind the opening bracket, `end` behind the closing one. */
static void expand_braces(struct expander *x, const char *pos, const char *end)
{
	bool wants_length = *pos == '#' && sh_name_len(pos + 1, end - 1);
	const char *name = pos + wants_length;
	size_t len = sh_name_len(name, end - 1);
	const char *value = sh_var_get(x->ex->sh, name, len);

	end--;
	if (!len) {
		if (end - pos != 1 || !expand_special(x, *pos))
			expand_fail(x, "bad substitution");
	} else if (wants_length) {
		expand_put_number(x, value ? (long long)strlen(value) : 0);
	} else if (name + len == end) {
		expand_put_value(x, value ? value : "");
	} else {
		expand_modifier(x, name, len, name + len, end);
	}
}

/*
 * Expand the variable or command that begins at `pos` with $ or a back quote. Returns the position
 * behind it.
 */
static const char *expand_dollar(struct expander *x, const char *pos, const char *end)
{
	const char *after = sh_lex_dollar(pos, end, 0);
	size_t len;

	if (!after) {
		expand_fail(x, "syntax error: unterminated quoted string");
		return end;
	}
	if (*pos == '`') {
		expand_back_quotes(x, pos + 1, after);
		return after;
	}
	if (after > pos + 1) {
		if (pos[1] == '(')
			expand_command(x, pos + 2, after);
		else
			expand_braces(x, pos + 2, after);
		return after;
	}
	len = sh_name_len(pos + 1, end);
	if (len) {
		const char *value = sh_var_get(x->ex->sh, pos + 1, len);

		expand_put_value(x, value ? value : "");
		return pos + 1 + len;
	}
	if (pos + 1 < end && expand_special(x, pos[1]))
		return pos + 2;
	expand_put(x, '$');
	return pos + 1;
}

/* Add the character behind the backslash at `pos`. Returns the position behind it. */
static const char *expand_backslash(struct expander *x, const char *pos, const char *end)
{
	if (pos + 1 == end) {
		expand_put_quoted(x, '\\');
		return end;
	}
	if (pos[1] == '\n')
		return pos + 2;
	if (x->in_quotes && !strchr("$`\"\\", pos[1])) {
		expand_put_quoted(x, '\\');
		return pos + 1;
	}
	expand_put_quoted(x, pos[1]);
	return pos + 2;
}

static const char *expand_single_quotes(struct expander *x, const char *pos, const char *end)
{
	x->has_field = true;
	for (pos++; pos < end && *pos != '\''; pos++)
		expand_put_quoted(x, *pos);
	return pos < end ? pos + 1 : end;
}

static void expand_range(struct expander *x, const char *pos, const char *end)
{
	while (pos < end && !x->err) {
		if (*pos == '\\') {
			pos = expand_backslash(x, pos, end);
		} else if (*pos == '"') {
			x->in_quotes = !x->in_quotes;
			x->has_field = true;
			pos++;
		} else if (*pos == '\'' && !x->in_quotes) {
			pos = expand_single_quotes(x, pos, end);
		} else if (*pos == '$' || *pos == '`') {
			pos = expand_dollar(x, pos, end);
		} else if (x->in_quotes) {
			expand_put_quoted(x, *pos++);
		} else {
			expand_put(x, *pos++);
		}
	}
}

int sh_expand_words(const struct sh_expansion *ex, const struct sh_word *words,
		    struct sh_fields *out_fields)
{
	struct expander x = { .ex = ex, .fields = out_fields };

	sh_fields_init(out_fields);
	for (; words && !x.err; words = words->next) {
		expand_range(&x, words->text, words->text + strlen(words->text));
		expand_end_field(&x);
		x.in_quotes = false;
	}
	return x.err;
}

int sh_expand_text(const struct sh_expansion *ex, const char *text, size_t len, char **out_text)
{
	struct expander x = { .ex = ex };

	expand_range(&x, text, text + len);
	if (!x.err && !x.buf)
		x.buf = sh_copy(ex->arena, "", 0);
	*out_text = x.buf;
	if (!x.err && !x.buf)
		x.err = -ENOMEM;
	return x.err;
}
