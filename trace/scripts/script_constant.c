/* Numbers, texts in quotes and parameters of scripts, as trees of one node: see script_tree.h. */
#include "script_tree.h"
#include "text/str.h"

struct script_constant_unit {
	const char *name;
	uint64_t ns;
};

static const struct script_constant_unit script_constant_units[] = {
	{ "ns", 1 },	     { "us", 1000 },	   { "ms", 1000000 },
	{ "s", 1000000000 }, { "m", 60000000000 }, { "h", 3600000000000 },
};

/* 0x1f, 017, 12, 1e6, 1_000, 5ms. False: it is none of these. */
static bool script_constant_parse_number(const struct expr_word *word, uint64_t *out)
{
	struct expr_word rest = *word;
	uint64_t factor = 1, value = 0;

	if (trace_expr_number(word, 0, false, out) == 0)
		return true;
	for (; expr_is_digit(expr_first(&rest)) || expr_first(&rest) == '_';
	     rest = expr_behind(&rest, 1)) {
		if (*rest.at != '_' && (__builtin_mul_overflow(value, 10, &value) ||
					__builtin_add_overflow(value, *rest.at - '0', &value)))
			return false;
	}
	if (expr_take(&rest, 'e')) {
		uint64_t zeros;

		if (trace_expr_number(&rest, 10, false, &zeros) || zeros > 19)
			return false;
		while (zeros--)
			factor *= 10;
		rest.len = 0;
	}
	for (size_t i = 0; rest.len && i < TRACE_ARRAY_SIZE(script_constant_units); i++) {
		if (trace_expr_is(&rest, script_constant_units[i].name)) {
			factor = script_constant_units[i].ns;
			rest.len = 0;
		}
	}
	return !rest.len && !__builtin_mul_overflow(value, factor, out);
}

struct script_node *trace_script_constant_number(struct script_lex *lex,
						 const struct expr_word *word)
{
	struct script_node *node = trace_script_node(lex, SCRIPT_NUMBER, word);

	if (node && !script_constant_parse_number(word, &node->number))
		trace_script_refuse(lex->script, word, -EINVAL, "'%.*s' is no number of 64 bits",
				    (int)word->len, word->at);
	return node;
}

static char script_constant_escape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	default:
		return c;
	}
}

struct script_node *trace_script_constant_string(struct script_lex *lex,
						 const struct expr_word *word)
{
	struct script_node *node = trace_script_node(lex, SCRIPT_STRING, word);
	char *text = trace_script_alloc(lex->script, word->len), *to = text;
	const char *end = word->at + word->len - 1;

	if (!node || !text)
		return NULL;
	if (word->len < 2 || *end != '"') {
		trace_script_refuse(lex->script, word, -EINVAL,
				    "the text has no end: '\"' is missing");
		return NULL;
	}
	for (const char *from = word->at + 1; from < end; from++) {
		bool is_escape = *from == '\\' && from + 1 < end;

		from += is_escape;
		*to++ = is_escape ? script_constant_escape(*from) : *from;
	}
	node->text = text;
	return node;
}

struct script_node *trace_script_constant_param(struct script_lex *lex,
						const struct expr_word *word)
{
	const struct trace_script_params *params = lex->script->params;
	struct expr_word digits = expr_behind(word, 1), whole;
	struct script_node *node = trace_script_node(lex, SCRIPT_NUMBER, word);
	uint64_t nr = 0;
	char *text;

	if (node && trace_expr_is(word, "$#")) {
		node->number = params ? params->nr : 0;
		return node;
	}
	if (trace_expr_number(&digits, 10, false, &nr) || !nr || nr > TRACE_SCRIPT_PARAMS) {
		trace_script_refuse(lex->script, word, -EINVAL,
				    "parameters of a script are $1 to $9");
		return NULL;
	}
	/* As in bpftrace, a parameter that was not given is 0; and an empty text, for str(). */
	whole = trace_expr_whole(params && nr <= params->nr ? params->texts[nr - 1] : "");
	text = trace_script_alloc(lex->script, whole.len + 1);
	if (!node || !text)
		return NULL;
	(void)trace_expr_copy(text, whole.len + 1, &whole);
	node->text = text;
	if (whole.len && !script_constant_parse_number(&whole, &node->number))
		node->op = SCRIPT_STRING;
	return node;
}
