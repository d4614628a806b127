/* The words of a script: see script.h. */
#include <stdarg.h>
#include <trace/fmt.h>
#include "script_tree.h"
#include "text/str.h"

#define SCRIPT_CHUNK_BYTES 4096u

/* ---- Memory and mistakes ---- */

/* Memory that is given out piece by piece, and freed as a whole. */
struct script_chunk {
	struct script_chunk *next;
	size_t bytes, used;
	uint64_t memory[];
};

void *trace_script_alloc(struct trace_script *script, size_t bytes)
{
	struct script_chunk *chunk = script->chunks;
	void *memory;

	bytes = (bytes + 7) / 8 * 8;
	if (!chunk || chunk->bytes - chunk->used < bytes) {
		size_t room = bytes > SCRIPT_CHUNK_BYTES ? bytes : SCRIPT_CHUNK_BYTES;

		chunk = trace_plat_alloc(sizeof(*chunk) + room);
		if (!chunk) {
			script->err = -ENOMEM;
			return NULL;
		}
		chunk->next = script->chunks;
		chunk->bytes = room;
		script->chunks = chunk;
	}
	memory = (uint8_t *)chunk->memory + chunk->used;
	chunk->used += bytes;
	return memory;
}

void trace_script_free_memory(struct trace_script *script)
{
	while (script->chunks) {
		struct script_chunk *chunk = script->chunks;

		script->chunks = chunk->next;
		trace_plat_free(chunk, sizeof(*chunk) + chunk->bytes);
	}
}

int trace_script_refuse(struct trace_script *script, const struct expr_word *word, int err,
			const char *fmt, ...)
{
	va_list args;

	if (script->err)
		return script->err;
	script->err = err;
	va_start(args, fmt);
	trace_vsnprintf(script->error->why, sizeof(script->error->why), fmt, args);
	va_end(args);
	script->error->pos = (size_t)(word->at - script->text);
	script->error->len = word->len ? word->len : 1;
	return err;
}

/* ---- Characters ---- */

/*
 * A line for a C preprocessor: files of bpftrace include headers of Linux where it knows no types. Here
 * they are known without.
 */
static bool script_lex_is_directive(const struct script_lex *lex)
{
	static const char *const words[] = { "#include", "#ifndef", "#ifdef", "#else", "#endif" };
	bool is_first = lex->at == lex->script->text;

	if (*lex->at != '#' || (!is_first && lex->at[-1] != '\n'))
		return false;
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(words); i++) {
		if (trace_str_starts(lex->at, words[i]))
			return true;
	}
	return is_first && lex->at[1] == '!';
}

/* Lines for a machine without BTF, up to #else or #endif. */
static bool script_lex_pass_over(struct script_lex *lex)
{
	if (!script_lex_is_directive(lex) ||
	    !trace_str_starts(lex->at, "#ifndef BPFTRACE_HAVE_BTF"))
		return false;
	while (*lex->at &&
	       !(lex->at[-(lex->at > lex->script->text)] == '\n' &&
		 (trace_str_starts(lex->at, "#endif") || trace_str_starts(lex->at, "#else"))))
		lex->at++;
	return true;
}

static bool script_lex_comment(struct script_lex *lex)
{
	if (script_lex_pass_over(lex))
		return true;
	if (script_lex_is_directive(lex) || trace_str_starts(lex->at, "//")) {
		while (*lex->at && *lex->at != '\n')
			lex->at++;
		return true;
	}
	if (!trace_str_starts(lex->at, "/*"))
		return false;
	for (lex->at += 2; *lex->at && !trace_str_starts(lex->at, "*/");)
		lex->at++;
	lex->at += *lex->at ? 2 : 0;
	return true;
}

void trace_script_skip_spaces(struct script_lex *lex)
{
	do {
		while (trace_is_space(*lex->at))
			lex->at++;
	} while (script_lex_comment(lex));
}

static void script_lex_name(struct script_lex *lex)
{
	while (expr_is_of_name(*lex->at))
		lex->at++;
}

/* From one quotation mark to the other. */
static void script_lex_string(struct script_lex *lex)
{
	for (lex->at++; *lex->at && *lex->at != '"'; lex->at++)
		lex->at += *lex->at == '\\' && lex->at[1];
	lex->at += *lex->at == '"';
}

static const char *const script_lex_operators[] = {
	"<<=", ">>=", "++", "--", "->", "&&", "||", "==", "!=", "<=", ">=",
	"<<",  ">>",  "..", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
};

static void script_lex_operator(struct script_lex *lex)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(script_lex_operators); i++) {
		if (trace_str_starts(lex->at, script_lex_operators[i])) {
			lex->at += trace_strlen(script_lex_operators[i]);
			return;
		}
	}
	lex->at++;
}

static enum script_word_kind script_lex_dollar(struct script_lex *lex)
{
	bool is_param = expr_is_digit(lex->at[1]) || lex->at[1] == '#';

	lex->at += lex->at[1] == '#' ? 2 : 1;
	if (lex->at[-1] == '$')
		script_lex_name(lex);
	return is_param ? SCRIPT_WORD_PARAM : SCRIPT_WORD_VAR;
}

static enum script_word_kind script_lex_any(struct script_lex *lex)
{
	char c = *lex->at;

	if (!c)
		return SCRIPT_WORD_END;
	if (c == '"') {
		script_lex_string(lex);
		return SCRIPT_WORD_STRING;
	}
	if (c == '$')
		return script_lex_dollar(lex);
	if (c == '@') {
		lex->at++;
		script_lex_name(lex);
		return SCRIPT_WORD_MAP;
	}
	if (expr_is_of_name(c)) {
		script_lex_name(lex);
		return expr_is_digit(c) ? SCRIPT_WORD_NUMBER : SCRIPT_WORD_NAME;
	}
	script_lex_operator(lex);
	return SCRIPT_WORD_OPERATOR;
}

/* ---- Words ---- */

enum script_word_kind trace_script_next(struct script_lex *lex, struct expr_word *out)
{
	enum script_word_kind kind;

	trace_script_skip_spaces(lex);
	out->at = lex->at;
	kind = script_lex_any(lex);
	out->len = (size_t)(lex->at - out->at);
	return kind;
}

enum script_word_kind trace_script_peek(const struct script_lex *lex, struct expr_word *out)
{
	struct script_lex copy = *lex;

	return trace_script_next(&copy, out);
}

bool trace_script_take(struct script_lex *lex, const char *text)
{
	struct script_lex copy = *lex;
	struct expr_word word;

	(void)trace_script_next(&copy, &word);
	if (!trace_expr_is(&word, text))
		return false;
	*lex = copy;
	return true;
}

bool trace_script_expect(struct script_lex *lex, const char *text)
{
	struct expr_word word;

	if (trace_script_take(lex, text))
		return true;
	if (trace_script_peek(lex, &word) == SCRIPT_WORD_END)
		trace_script_refuse(lex->script, &word, -EINVAL,
				    "the script ends where '%s' is expected", text);
	else
		trace_script_refuse(lex->script, &word, -EINVAL, "'%s' is expected here", text);
	return false;
}
