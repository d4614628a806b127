/*
 * From a pattern to a program, by recursive descent. See regex.h and regex_code.h.
 *
 *   alternatives: branch | branch     SPLIT a b; a: branch JUMP end; b: branch; end:
 *   repetition:   atom*               l: SPLIT a end; a: atom JUMP l; end:
 *
 * An operator such as * stands behind its operand in the pattern, but its instruction goes in front
 * of the operand's: these are moved up.
 */
#include <kernel/mm.h>
#include <kernel/string.h>
#include "regex.h"
#include "regex_code.h"

struct compiler {
	struct regex *regex;
	const char *pos;
	uint32_t flags;
	uint32_t depth;
	int err;
};

static void compile_alternatives(struct compiler *c);

static void regex_fail(struct compiler *c, int err)
{
	if (!c->err)
		c->err = err;
}

static uint32_t regex_emit(struct compiler *c, enum regex_op op, uint32_t x, uint32_t y)
{
	struct regex *regex = c->regex;

	if (regex->nr_code == REGEX_CODE_MAX) {
		regex_fail(c, -E2BIG);
		return 0;
	}
	regex->code[regex->nr_code] =
		(struct regex_insn){ .op = op, .x = (uint16_t)x, .y = (uint16_t)y };
	return regex->nr_code++;
}

/*
 * Insert an instruction at `at` and move up those from there on. Targets are corrected: a jump from
 * before `at` to `at` goes to the new instruction, one from behind goes to the one that was there.
 */
static void regex_insert(struct compiler *c, uint32_t at, enum regex_op op)
{
	struct regex *regex = c->regex;

	regex_emit(c, op, 0, 0);
	if (c->err)
		return;
	memmove(&regex->code[at + 1], &regex->code[at],
		(regex->nr_code - 1 - at) * sizeof(regex->code[0]));
	for (uint32_t i = 0; i < regex->nr_code; i++) {
		regex->code[i].x += regex->code[i].x >= at + (i <= at);
		regex->code[i].y += regex->code[i].y >= at + (i <= at);
	}
	regex->code[at] = (struct regex_insn){ .op = op };
}

static void regex_set_bit(uint8_t *bits, uint8_t ch)
{
	bits[ch / 8] |= (uint8_t)(1u << (ch % 8));
}

static bool regex_is_letter(uint8_t ch)
{
	return (ch | 0x20) >= 'a' && (ch | 0x20) <= 'z';
}

static void regex_add_char(struct compiler *c, uint8_t *bits, uint8_t ch)
{
	regex_set_bit(bits, ch);
	if ((c->flags & REGEX_IGNORE_CASE) && regex_is_letter(ch))
		regex_set_bit(bits, ch ^ 0x20);
}

/* Add an instruction with a new, empty class. Returns the bits of the class; NULL on failure. */
static uint8_t *regex_emit_class(struct compiler *c)
{
	struct regex *regex = c->regex;
	uint32_t at = regex_emit(c, REGEX_CLASS, 0, 0);

	if (regex->nr_classes == REGEX_CLASSES_MAX)
		regex_fail(c, -E2BIG);
	if (c->err)
		return NULL;
	regex->code[at].class = (uint8_t)regex->nr_classes;
	return regex->classes[regex->nr_classes++];
}

static void regex_emit_char(struct compiler *c, char ch)
{
	uint8_t *bits = regex_emit_class(c);

	if (bits)
		regex_add_char(c, bits, (uint8_t)ch);
}

static void regex_emit_any(struct compiler *c)
{
	uint8_t *bits = regex_emit_class(c);

	if (bits)
		memset(bits, 0xff, 32);
}

static void regex_add_range(struct compiler *c, uint8_t *bits, uint8_t low, uint8_t high)
{
	for (uint32_t ch = low; ch <= high; ch++)
		regex_add_char(c, bits, (uint8_t)ch);
}

struct named_class {
	const char *name;
	const char *ranges; /* pairs of first and last character */
};

static const struct named_class named_classes[] = {
	{ "[:alnum:]", "azAZ09" },  { "[:alpha:]", "azAZ" },	 { "[:digit:]", "09" },
	{ "[:lower:]", "az" },	    { "[:space:]", "  \t\r" },	 { "[:upper:]", "AZ" },
	{ "[:xdigit:]", "09afAF" }, { "[:punct:]", "!/:@[`{~" },
};

/* Add a class such as `[:digit:]` at `pos` to `bits`. Returns its length, 0 when there is none. */
static size_t regex_add_named(struct compiler *c, uint8_t *bits, const char *pos)
{
	for (size_t i = 0; i < ARRAY_SIZE(named_classes); i++) {
		const struct named_class *named = &named_classes[i];

		if (!str_has_prefix(pos, named->name))
			continue;
		for (const char *r = named->ranges; *r; r += 2)
			regex_add_range(c, bits, (uint8_t)r[0], (uint8_t)r[1]);
		return strlen(named->name);
	}
	return 0;
}

/* Compile a bracket expression; c->pos is behind the opening bracket. */
static void compile_bracket(struct compiler *c)
{
	uint8_t *bits = regex_emit_class(c);
	bool is_negated = *c->pos == '^';
	const char *start;

	c->pos += is_negated;
	start = c->pos;
	while (bits && *c->pos && (*c->pos != ']' || c->pos == start)) {
		size_t named = regex_add_named(c, bits, c->pos);

		if (named) {
			c->pos += named;
		} else if (c->pos[1] == '-' && c->pos[2] && c->pos[2] != ']') {
			regex_add_range(c, bits, (uint8_t)c->pos[0], (uint8_t)c->pos[2]);
			c->pos += 3;
		} else {
			regex_add_char(c, bits, (uint8_t)*c->pos++);
		}
	}
	if (*c->pos != ']') {
		regex_fail(c, -EINVAL);
		return;
	}
	c->pos++;
	for (int i = 0; bits && is_negated && i < 32; i++)
		bits[i] = (uint8_t)~bits[i];
}

/* Is the operator `op` at c->pos? It has a backslash in front unless the syntax is extended. */
static bool regex_at_operator(const struct compiler *c, char op)
{
	if (c->flags & REGEX_EXTENDED)
		return *c->pos == op;
	return c->pos[0] == '\\' && c->pos[1] == op;
}

static bool regex_take_operator(struct compiler *c, char op)
{
	if (!regex_at_operator(c, op))
		return false;
	c->pos += c->flags & REGEX_EXTENDED ? 1 : 2;
	return true;
}

static void compile_group(struct compiler *c)
{
	if (++c->depth > REGEX_DEPTH_MAX) {
		regex_fail(c, -E2BIG);
		return;
	}
	compile_alternatives(c);
	if (!regex_take_operator(c, ')'))
		regex_fail(c, -EINVAL);
	c->depth--;
}

static void compile_escape(struct compiler *c)
{
	char ch = *++c->pos;

	if (!ch) {
		regex_fail(c, -EINVAL);
		return;
	}
	c->pos++;
	if (ch == 'w' || ch == 'd' || ch == 's') {
		uint8_t *bits = regex_emit_class(c);

		if (!bits)
			return;
		regex_add_named(c, bits,
				ch == 'w'   ? "[:alnum:]"
				: ch == 'd' ? "[:digit:]"
					    : "[:space:]");
		if (ch == 'w')
			regex_set_bit(bits, '_');
		return;
	}
	regex_emit_char(c, ch);
}

static void compile_atom(struct compiler *c)
{
	if (regex_take_operator(c, '(')) {
		compile_group(c);
	} else if (*c->pos == '[') {
		c->pos++;
		compile_bracket(c);
	} else if (*c->pos == '.') {
		c->pos++;
		regex_emit_any(c);
	} else if (*c->pos == '^') {
		uint32_t at = regex_emit(c, REGEX_BEGIN, 0, 0);

		c->regex->code[at].x = (uint16_t)(at + 1);
		c->pos++;
	} else if (*c->pos == '$') {
		uint32_t at = regex_emit(c, REGEX_END, 0, 0);

		c->regex->code[at].x = (uint16_t)(at + 1);
		c->pos++;
	} else if (*c->pos == '\\') {
		compile_escape(c);
	} else {
		regex_emit_char(c, *c->pos++);
	}
}

static void regex_repeat(struct compiler *c, uint32_t start, bool may_skip, bool may_repeat)
{
	struct regex *regex = c->regex;

	if (may_skip)
		regex_insert(c, start, REGEX_SPLIT);
	if (may_repeat && may_skip)
		regex_emit(c, REGEX_JUMP, start, 0);
	else if (may_repeat)
		regex_emit(c, REGEX_SPLIT, start, regex->nr_code + 1);
	if (c->err || !may_skip)
		return;
	regex->code[start].x = (uint16_t)(start + 1);
	regex->code[start].y = (uint16_t)regex->nr_code;
}

static void compile_piece(struct compiler *c)
{
	uint32_t start = c->regex->nr_code;

	compile_atom(c);
	while (!c->err) {
		if (*c->pos == '*') {
			c->pos++;
			regex_repeat(c, start, true, true);
		} else if (regex_take_operator(c, '+')) {
			regex_repeat(c, start, false, true);
		} else if (regex_take_operator(c, '?')) {
			regex_repeat(c, start, true, false);
		} else {
			break;
		}
	}
}

static void compile_branch(struct compiler *c)
{
	/* A star at the start of a branch has nothing to repeat: it means itself. */
	if (*c->pos == '*')
		regex_emit_char(c, *c->pos++);
	while (*c->pos && !c->err && !regex_at_operator(c, '|') && !regex_at_operator(c, ')'))
		compile_piece(c);
}

/*
 * Let the jumps at the ends of the branches lead here. They are a list: `last` is the index of the
 * newest plus one, and y of each is that of the one before; 0 ends the list.
 */
static void regex_lead_to_end(struct compiler *c, uint32_t last)
{
	while (last) {
		struct regex_insn *jump = &c->regex->code[last - 1];

		jump->x = (uint16_t)c->regex->nr_code;
		last = jump->y;
	}
}

static void compile_alternatives(struct compiler *c)
{
	uint32_t start = c->regex->nr_code;
	uint32_t last = 0;

	compile_branch(c);
	while (!c->err && regex_take_operator(c, '|')) {
		regex_insert(c, start, REGEX_SPLIT);
		last = regex_emit(c, REGEX_JUMP, 0, last) + 1;
		if (c->err)
			return;
		c->regex->code[start].x = (uint16_t)(start + 1);
		c->regex->code[start].y = (uint16_t)c->regex->nr_code;
		start = c->regex->nr_code;
		compile_branch(c);
	}
	if (!c->err)
		regex_lead_to_end(c, last);
}

static void compile_literal(struct compiler *c)
{
	while (*c->pos && !c->err)
		regex_emit_char(c, *c->pos++);
}

/* If every match begins with a character of one class, let a search skip other characters. */
static void regex_find_first(struct regex *regex)
{
	if (regex->code[0].op != REGEX_CLASS)
		return;
	regex->has_first = true;
	memcpy(regex->first, regex->classes[regex->code[0].class], sizeof(regex->first));
}

int regex_create(const char *pattern, uint32_t flags, struct regex **out_regex)
{
	struct compiler c = { .pos = pattern, .flags = flags };

	c.regex = kzalloc(sizeof(*c.regex));
	if (!c.regex)
		return -ENOMEM;
	if (flags & REGEX_LITERAL)
		compile_literal(&c);
	else
		compile_alternatives(&c);
	if (!c.err && *c.pos)
		regex_fail(&c, -EINVAL); /* a closing bracket without an opening one */
	regex_emit(&c, REGEX_MATCH, 0, 0);
	if (c.err) {
		regex_destroy(c.regex);
		return c.err;
	}
	regex_find_first(c.regex);
	*out_regex = c.regex;
	return 0;
}

void regex_destroy(struct regex *regex)
{
	kfree(regex);
}
