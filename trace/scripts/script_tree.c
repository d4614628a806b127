/* Trees of expressions: see script.h. The order of operators is that of C. */
#include "script_tree.h"
#include "text/str.h"

struct script_tree_op {
	const char *text;
	enum script_binary binary;
	uint8_t strength;
};

static const struct script_tree_op script_tree_ops[] = {
	{ "||", SCRIPT_OR, 1 },	    { "&&", SCRIPT_AND, 2 },	{ "|", SCRIPT_BIT_OR, 3 },
	{ "^", SCRIPT_BIT_XOR, 4 }, { "&", SCRIPT_BIT_AND, 5 }, { "==", SCRIPT_EQ, 6 },
	{ "!=", SCRIPT_NE, 6 },	    { "<=", SCRIPT_LE, 7 },	{ ">=", SCRIPT_GE, 7 },
	{ "<", SCRIPT_LT, 7 },	    { ">", SCRIPT_GT, 7 },	{ "<<", SCRIPT_SHL, 8 },
	{ ">>", SCRIPT_SHR, 8 },    { "+", SCRIPT_ADD, 9 },	{ "-", SCRIPT_SUB, 9 },
	{ "*", SCRIPT_MUL, 10 },    { "/", SCRIPT_DIV, 10 },	{ "%", SCRIPT_MOD, 10 },
};

static const struct script_tree_op *script_tree_op_of(const struct expr_word *word)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(script_tree_ops); i++) {
		if (trace_expr_is(word, script_tree_ops[i].text))
			return &script_tree_ops[i];
	}
	return NULL;
}

/* The operator that `word` begins with, `+` for `+=`. */
enum script_binary trace_script_binary(const struct expr_word *word)
{
	const struct script_tree_op *op = script_tree_op_of(word);

	return op ? op->binary : SCRIPT_NO_BINARY;
}

struct script_node *trace_script_node(struct script_lex *lex, enum script_op op,
				      const struct expr_word *word)
{
	struct script_node *node = trace_script_alloc(lex->script, sizeof(*node));

	if (node) {
		node->op = op;
		node->word = *word;
	}
	return node;
}

static struct script_node *script_tree_unary(struct script_lex *lex, uint32_t depth);

/* `child` is in `node`, if it is there. Trees are walked by recursion: they may not be too high. */
static struct script_node *script_tree_hold(struct script_lex *lex, struct script_node *node,
					    struct script_node *child)
{
	if (child && child->height >= node->height)
		node->height = child->height + 1;
	if (node->height > SCRIPT_HEIGHT_MAX)
		trace_script_refuse(lex->script, &node->word, -E2BIG,
				    "an expression of more than %u levels", SCRIPT_HEIGHT_MAX);
	return child;
}

/* ---- Names ---- */

/* The operands of `node`, a list with commas between, up to `end`. */
static void script_tree_list(struct script_lex *lex, struct script_node *node, const char *end,
			     uint32_t depth)
{
	struct script_node **at = &node->a;

	if (trace_script_take(lex, end))
		return;
	do {
		*at = script_tree_hold(lex, node, trace_script_expression(lex, depth));
		if (!*at)
			return;
		at = &(*at)->next;
	} while (trace_script_take(lex, ","));
	trace_script_expect(lex, end);
}

static struct script_node *script_tree_map(struct script_lex *lex, const struct expr_word *word,
					   uint32_t depth)
{
	struct script_node *node = trace_script_node(lex, SCRIPT_MAP, word);

	if (node && trace_script_take(lex, "["))
		script_tree_list(lex, node, "]", depth);
	return node;
}

/* ---- ( ) ---- */

/* `(struct thread *)`, `(uint64)`: the words up to the parenthesis. False: it is no cast. */
static bool script_tree_is_cast(const struct script_lex *at, struct expr_word *out)
{
	struct script_lex lex = *at;
	struct expr_word word;
	uint32_t names = 0, stars = 0;

	trace_script_skip_spaces(&lex);
	out->at = lex.at;
	for (;;) {
		enum script_word_kind kind = trace_script_next(&lex, &word);

		if (kind == SCRIPT_WORD_NAME && !stars)
			names++;
		else if (trace_expr_is(&word, "*") && names)
			stars++;
		else
			break;
	}
	*out = trace_expr_strip(expr_between(out->at, word.at));
	if (!names || !trace_expr_is(&word, ")"))
		return false;
	/* `(pid) + 1`, `(@a)`: one name is a cast if it is a type's, which the other check knows. */
	return stars || names > 1 || trace_expr_starts(out, "int") ||
	       trace_expr_starts(out, "uint");
}

/* self->NAME, as D has it: a table of that name, by thread. */
static struct script_node *script_tree_self(struct script_lex *lex, const struct expr_word *self)
{
	static const char tid[] = "tid";
	struct script_node *node = trace_script_node(lex, SCRIPT_MAP, self);
	struct expr_word name;

	if (!node || !trace_script_expect(lex, "->"))
		return NULL;
	if (trace_script_next(lex, &name) != SCRIPT_WORD_NAME) {
		trace_script_refuse(lex->script, &name, -EINVAL,
				    "a member's name is expected here");
		return NULL;
	}
	node->word = expr_between(self->at, name.at + name.len);
	node->a = trace_script_node(lex, SCRIPT_BUILTIN, &node->word);
	if (node->a)
		node->a->word = trace_expr_whole(tid);
	return node;
}

/* Is the word, which was taken, the `self` of self->NAME? */
static bool script_tree_is_self(const struct script_lex *at, const struct expr_word *word)
{
	struct expr_word next;

	return trace_script_peek(at, &next) == SCRIPT_WORD_OPERATOR &&
	       trace_expr_is(word, "self") && trace_expr_is(&next, "->");
}

static struct script_node *script_tree_name(struct script_lex *lex, const struct expr_word *word,
					    uint32_t depth)
{
	bool is_call = trace_script_take(lex, "(");
	struct script_node *node;
	struct expr_word type;

	if (is_call && trace_expr_is(word, "sizeof") && script_tree_is_cast(lex, &type)) {
		lex->at = type.at + type.len;
		node = trace_script_node(lex, SCRIPT_SIZEOF, &type);
		return trace_script_expect(lex, ")") ? node : NULL;
	}
	node = trace_script_node(lex, is_call ? SCRIPT_CALL : SCRIPT_BUILTIN, word);
	if (node && is_call)
		script_tree_list(lex, node, ")", depth);
	return node;
}

static struct script_node *script_tree_parenthesis(struct script_lex *lex,
						   const struct expr_word *open, uint32_t depth)
{
	struct script_node *node;
	struct expr_word type;

	if (script_tree_is_cast(lex, &type)) {
		node = trace_script_node(lex, SCRIPT_CAST, &type);
		lex->at = type.at + type.len;
		if (!node || !trace_script_expect(lex, ")"))
			return NULL;
		node->a = script_tree_hold(lex, node, script_tree_unary(lex, depth));
		return node;
	}
	node = trace_script_node(lex, SCRIPT_LIST, open);
	if (!node)
		return NULL;
	script_tree_list(lex, node, ")", depth);
	if (!node->a)
		trace_script_refuse(lex->script, open, -EINVAL, "there is nothing in parentheses");
	return node->a && !node->a->next ? node->a : node;
}

static struct script_node *script_tree_primary(struct script_lex *lex, uint32_t depth)
{
	struct expr_word word;

	switch (trace_script_next(lex, &word)) {
	case SCRIPT_WORD_NUMBER:
		return trace_script_constant_number(lex, &word);
	case SCRIPT_WORD_STRING:
		return trace_script_constant_string(lex, &word);
	case SCRIPT_WORD_PARAM:
		return trace_script_constant_param(lex, &word);
	case SCRIPT_WORD_NAME:
		if (script_tree_is_self(lex, &word))
			return script_tree_self(lex, &word);
		return script_tree_name(lex, &word, depth);
	case SCRIPT_WORD_VAR:
		return trace_script_node(lex, SCRIPT_VAR, &word);
	case SCRIPT_WORD_MAP:
		return script_tree_map(lex, &word, depth);
	default:
		break;
	}
	if (trace_expr_is(&word, "("))
		return script_tree_parenthesis(lex, &word, depth);
	trace_script_refuse(lex->script, &word, -EINVAL,
			    word.len ? "a value is expected here" : "the script ends in a value");
	return NULL;
}

/* ---- Behind a value ---- */

static struct script_node *script_tree_member(struct script_lex *lex, struct script_node *of)
{
	struct script_node *node;
	struct expr_word word;
	enum script_word_kind kind = trace_script_next(lex, &word);

	if (kind != SCRIPT_WORD_NAME && kind != SCRIPT_WORD_NUMBER) {
		trace_script_refuse(lex->script, &word, -EINVAL,
				    "a member's name is expected here");
		return NULL;
	}
	node = trace_script_node(lex, kind == SCRIPT_WORD_NAME ? SCRIPT_MEMBER : SCRIPT_PART,
				 &word);
	if (!node)
		return NULL;
	node->a = script_tree_hold(lex, node, of);
	if (kind == SCRIPT_WORD_NUMBER && trace_expr_number(&word, 10, false, &node->number))
		trace_script_refuse(lex->script, &word, -EINVAL, "no number of a part of a tuple");
	return node;
}

/* A primary value with members, indices and parts behind it. */
static struct script_node *script_tree_postfix(struct script_lex *lex, uint32_t depth)
{
	struct script_node *node = script_tree_primary(lex, depth), *index;
	struct expr_word word;

	while (node) {
		(void)trace_script_peek(lex, &word);
		if (trace_script_take(lex, ".") || trace_script_take(lex, "->")) {
			node = script_tree_member(lex, node);
		} else if (trace_script_take(lex, "[")) {
			index = trace_script_node(lex, SCRIPT_INDEX, &word);
			if (!index)
				return NULL;
			index->a = script_tree_hold(lex, index, node);
			index->b =
				script_tree_hold(lex, index, trace_script_expression(lex, depth));
			trace_script_expect(lex, "]");
			node = index;
		} else {
			break;
		}
	}
	return node;
}

struct script_node *trace_script_counted(struct script_lex *lex, const struct expr_word *word,
					 struct script_node *of, bool is_front)
{
	struct script_node *node = of ? trace_script_node(lex, SCRIPT_STEP, word) : NULL;

	if (!node)
		return NULL;
	node->a = script_tree_hold(lex, node, of);
	node->is_down = *word->at == '-';
	node->is_front = is_front;
	return node;
}

/* A value, with ++ or -- behind it. */
static struct script_node *script_tree_counted(struct script_lex *lex, uint32_t depth)
{
	struct script_node *node = script_tree_postfix(lex, depth);
	struct expr_word word;

	(void)trace_script_peek(lex, &word);
	if (!node || !(trace_script_take(lex, "++") || trace_script_take(lex, "--")))
		return node;
	return trace_script_counted(lex, &word, node, false);
}

/* ---- Operators ---- */

/* -1 is a constant. */
static struct script_node *script_tree_fold(struct script_node *node)
{
	if (!node || node->op != SCRIPT_NEGATE || !node->a || node->a->op != SCRIPT_NUMBER)
		return node;
	node->op = SCRIPT_NUMBER;
	node->number = 0 - node->a->number;
	return node;
}

static struct script_node *script_tree_unary(struct script_lex *lex, uint32_t depth)
{
	static const struct {
		const char *text;
		enum script_op op;
	} ops[] = {
		{ "-", SCRIPT_NEGATE },
		{ "!", SCRIPT_NOT },
		{ "~", SCRIPT_INVERT },
		{ "*", SCRIPT_DEREF },
	};
	struct expr_word word;

	(void)trace_script_peek(lex, &word);
	if (depth > SCRIPT_NESTING_MAX) {
		trace_script_refuse(lex->script, &word, -E2BIG, "too deep: more than %u levels",
				    SCRIPT_NESTING_MAX);
		return NULL;
	}
	if (trace_script_take(lex, "++") || trace_script_take(lex, "--"))
		return trace_script_counted(lex, &word, script_tree_postfix(lex, depth + 1), true);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(ops); i++) {
		struct script_node *node;

		if (!trace_script_take(lex, ops[i].text))
			continue;
		node = trace_script_node(lex, ops[i].op, &word);
		if (node)
			node->a = script_tree_hold(lex, node, script_tree_unary(lex, depth + 1));
		return script_tree_fold(node);
	}
	return script_tree_counted(lex, depth + 1);
}

/* Is it the slash behind a predicate, in front of a block? */
static bool script_tree_ends(const struct script_lex *at, const struct expr_word *word)
{
	struct script_lex lex = *at;
	struct expr_word next;

	if (!trace_expr_is(word, "/"))
		return false;
	(void)trace_script_next(&lex, &next);
	(void)trace_script_next(&lex, &next);
	return trace_expr_is(&next, "{");
}

/* Operators that bind more than `strength`. */
static struct script_node *script_tree_binary(struct script_lex *lex, uint32_t strength,
					      uint32_t depth)
{
	struct script_node *left = script_tree_unary(lex, depth);

	while (left && !lex->script->err) {
		const struct script_tree_op *op;
		struct script_node *node;
		struct expr_word word;

		(void)trace_script_peek(lex, &word);
		op = script_tree_op_of(&word);
		if (!op || op->strength <= strength || script_tree_ends(lex, &word))
			break;
		(void)trace_script_next(lex, &word);
		node = trace_script_node(lex, SCRIPT_BINARY, &word);
		if (!node)
			return NULL;
		node->binary = op->binary;
		node->a = script_tree_hold(lex, node, left);
		node->b = script_tree_hold(lex, node,
					   script_tree_binary(lex, op->strength, depth + 1));
		left = node;
	}
	return left;
}

struct script_node *trace_script_expression(struct script_lex *lex, uint32_t depth)
{
	struct script_node *value = script_tree_binary(lex, 0, depth), *node;
	struct expr_word word;

	(void)trace_script_peek(lex, &word);
	if (!value || !trace_script_take(lex, "?"))
		return lex->script->err ? NULL : value;
	node = trace_script_node(lex, SCRIPT_CHOICE, &word);
	if (!node)
		return NULL;
	node->a = script_tree_hold(lex, node, value);
	node->b = script_tree_hold(lex, node, trace_script_expression(lex, depth + 1));
	if (!trace_script_expect(lex, ":"))
		return NULL;
	node->c = script_tree_hold(lex, node, trace_script_expression(lex, depth + 1));
	return lex->script->err ? NULL : node;
}
