/*
 * Clauses and statements: see script.h.
 *
 *   PROBE[, PROBE...] [/ PREDICATE /] { STATEMENT; ... }
 */
#include "script_tree.h"
#include "text/str.h"

#define SCRIPT_UNROLL_MAX 100u

static struct script_node *script_parse_block(struct script_lex *lex, uint32_t depth);

/* ---- Statements ---- */

/* A node with `( EXPRESSION )`, which is its `a`. NULL: refused. */
static struct script_node *script_parse_head(struct script_lex *lex, enum script_op op,
					     const struct expr_word *word, uint32_t depth)
{
	struct script_node *node = trace_script_node(lex, op, word);

	if (!node || !trace_script_expect(lex, "("))
		return NULL;
	node->a = trace_script_expression(lex, depth);
	return node->a && trace_script_expect(lex, ")") ? node : NULL;
}

static struct script_node *script_parse_if(struct script_lex *lex, const struct expr_word *word,
					   uint32_t depth)
{
	struct script_node *node = script_parse_head(lex, SCRIPT_IF, word, depth);
	struct expr_word next;

	if (!node)
		return NULL;
	node->b = script_parse_block(lex, depth + 1);
	if (!trace_script_take(lex, "else"))
		return node;
	(void)trace_script_peek(lex, &next);
	if (trace_script_take(lex, "if"))
		node->c = script_parse_if(lex, &next, depth + 1);
	else
		node->c = script_parse_block(lex, depth + 1);
	return node;
}

static struct script_node *script_parse_unroll(struct script_lex *lex, const struct expr_word *word,
					       uint32_t depth)
{
	struct script_node *node = script_parse_head(lex, SCRIPT_UNROLL, word, depth);

	if (!node)
		return NULL;
	node->number = node->a->number;
	if (node->a->op != SCRIPT_NUMBER || !node->number || node->number > SCRIPT_UNROLL_MAX)
		trace_script_refuse(lex->script, &node->a->word, -EINVAL,
				    "unroll() takes a number of 1 to %u", SCRIPT_UNROLL_MAX);
	node->b = script_parse_block(lex, depth + 1);
	return node;
}

static struct script_node *script_parse_while(struct script_lex *lex, const struct expr_word *word,
					      uint32_t depth)
{
	struct script_node *node = script_parse_head(lex, SCRIPT_WHILE, word, depth);

	if (!node)
		return NULL;
	node->b = script_parse_block(lex, depth + 1);
	return node;
}

/* ---- for ($x : FIRST..END), for ($kv : @map) ---- */

static struct script_node *script_parse_set(struct script_lex *lex, const struct expr_word *word,
					    const struct expr_word *to, struct script_node *value)
{
	struct script_node *node = trace_script_node(lex, SCRIPT_ASSIGN, word);

	if (node) {
		node->a = trace_script_node(lex, SCRIPT_VAR, to);
		node->b = value;
	}
	return node;
}

/* Does all of a table stand in front of the parenthesis? */
static bool script_parse_is_table(const struct script_lex *lex, const struct script_node *first)
{
	struct expr_word word;

	(void)trace_script_peek(lex, &word);
	return first->op == SCRIPT_MAP && !first->a && trace_expr_is(&word, ")");
}

/* `($x : FIRST..` or `($kv : @map`: returns the variable's assignment. NULL: refused. */
static struct script_node *script_parse_range(struct script_lex *lex, uint32_t depth)
{
	struct script_node *first;
	struct expr_word var;

	if (!trace_script_expect(lex, "("))
		return NULL;
	if (trace_script_next(lex, &var) != SCRIPT_WORD_VAR) {
		trace_script_refuse(lex->script, &var, -EINVAL, "a variable is expected here");
		return NULL;
	}
	if (!trace_script_expect(lex, ":"))
		return NULL;
	first = trace_script_expression(lex, depth);
	if (!first || (!script_parse_is_table(lex, first) && !trace_script_expect(lex, "..")))
		return NULL;
	return script_parse_set(lex, &var, &var, first);
}

/*
 * The loop in terms of other statements. Its place and its end are variables that a script cannot name: their
 * names are the loop's text, which is longer than that of any loop in its block.
 *
 *   place = FIRST; end = END; while (place < end) { $x = place; place++; BLOCK }
 *
 * An end that is a constant needs no variable.
 */
static void script_parse_rounds(struct script_lex *lex, struct script_node *node,
				struct script_node *set, struct script_node *end)
{
	struct expr_word place = node->word, last = expr_behind(&node->word, 1);
	struct script_node *loop = trace_script_node(lex, SCRIPT_WHILE, &set->word);
	struct script_node *test = trace_script_node(lex, SCRIPT_BINARY, &end->word);
	struct script_node *first = script_parse_set(lex, &set->word, &place, set->b);
	bool is_constant = end->op == SCRIPT_NUMBER;
	struct script_node *bound =
		is_constant ? NULL : script_parse_set(lex, &end->word, &last, end);

	set->b = trace_script_node(lex, SCRIPT_VAR, &place);
	set->next = trace_script_counted(lex, &set->word,
					 trace_script_node(lex, SCRIPT_VAR, &place), true);
	if (lex->script->err)
		return;
	set->next->next = node->b;
	test->binary = SCRIPT_LT;
	test->a = trace_script_node(lex, SCRIPT_VAR, &place);
	test->b = is_constant ? end : trace_script_node(lex, SCRIPT_VAR, &last);
	loop->a = test;
	loop->b = set;
	first->next = is_constant ? loop : bound;
	if (bound)
		bound->next = loop;
	node->b = first;
}

/* for ($kv : @map): place = 0; while (the next entry behind place, to $kv) { BLOCK } */
static void script_parse_each(struct script_lex *lex, struct script_node *node,
			      struct script_node *set)
{
	struct script_node *loop = trace_script_node(lex, SCRIPT_WHILE, &set->word);
	struct script_node *next = trace_script_node(lex, SCRIPT_NEXT, &set->word);
	struct script_node *zero = trace_script_node(lex, SCRIPT_NUMBER, &set->word);
	struct script_node *first = script_parse_set(lex, &set->word, &node->word, zero);

	if (lex->script->err)
		return;
	next->a = trace_script_node(lex, SCRIPT_VAR, &node->word);
	next->b = set->a;
	next->c = set->b;
	loop->a = next;
	loop->b = node->b;
	first->next = loop;
	node->b = first;
}

static struct script_node *script_parse_for(struct script_lex *lex, const struct expr_word *word,
					    uint32_t depth)
{
	struct script_node *node = trace_script_node(lex, SCRIPT_FOR, word);
	struct script_node *set = script_parse_range(lex, depth), *end;
	bool is_table;

	if (!node || !set)
		return NULL;
	is_table = script_parse_is_table(lex, set->b);
	end = is_table ? set->b : trace_script_expression(lex, depth);
	if (!end || !trace_script_expect(lex, ")"))
		return NULL;
	node->b = script_parse_block(lex, depth + 1);
	if (lex->script->err)
		return NULL;
	node->word.len = (size_t)(lex->at - word->at);
	if (is_table)
		script_parse_each(lex, node, set);
	else
		script_parse_rounds(lex, node, set, end);
	return lex->script->err ? NULL : node;
}

/* ---- Other statements ---- */

/* Is the word an assignment: =, += and so on? */
static bool script_parse_is_assignment(const struct expr_word *word)
{
	return trace_expr_ends(word, "=") && !trace_expr_is(word, "==");
}

/* Behind @NAME[...] or $NAME: the assignment `word`, which was taken, and its value. */
static struct script_node *script_parse_assign(struct script_lex *lex, const struct expr_word *word,
					       struct script_node *to, uint32_t depth)
{
	struct expr_word op = expr_between(word->at, word->at + word->len - 1);
	struct script_node *node = trace_script_node(lex, SCRIPT_ASSIGN, word);

	if (!node)
		return NULL;
	node->binary = op.len ? trace_script_binary(&op) : SCRIPT_NO_BINARY;
	node->a = to;
	node->b = trace_script_expression(lex, depth);
	return node;
}

/* An assignment, a++, a call, or another value that is worked out for its own sake. */
static struct script_node *script_parse_simple(struct script_lex *lex, uint32_t depth)
{
	struct script_node *value = trace_script_expression(lex, depth), *node;
	struct expr_word word;

	if (!value)
		return NULL;
	(void)trace_script_peek(lex, &word);
	if (script_parse_is_assignment(&word)) {
		(void)trace_script_next(lex, &word);
		return script_parse_assign(lex, &word, value, depth);
	}
	if (value->op == SCRIPT_STEP) { /* the value before it is not needed */
		value->is_front = true;
		return value;
	}
	node = trace_script_node(lex, SCRIPT_VALUE, &value->word);
	if (node)
		node->a = value;
	return node;
}

/* break, continue, return. NULL: it is none of these. */
static struct script_node *script_parse_leave(struct script_lex *lex, const struct expr_word *word)
{
	static const char *const words[] = {
		[SCRIPT_BREAK] = "break",
		[SCRIPT_CONTINUE] = "continue",
		[SCRIPT_LEAVE_CLAUSE] = "return",
	};
	struct script_node *node;

	for (uint32_t i = 0; i < TRACE_ARRAY_SIZE(words); i++) {
		if (!trace_script_take(lex, words[i]))
			continue;
		node = trace_script_node(lex, SCRIPT_LEAVE, word);
		if (node)
			node->leave = (enum script_leave)i;
		return node;
	}
	return NULL;
}

static struct script_node *script_parse_statement(struct script_lex *lex, uint32_t depth)
{
	struct expr_word word;
	struct script_node *node;

	(void)trace_script_peek(lex, &word);
	if (trace_script_take(lex, "if"))
		return script_parse_if(lex, &word, depth);
	if (trace_script_take(lex, "unroll"))
		return script_parse_unroll(lex, &word, depth);
	if (trace_script_take(lex, "while"))
		return script_parse_while(lex, &word, depth);
	if (trace_script_take(lex, "for"))
		return script_parse_for(lex, &word, depth);
	node = script_parse_leave(lex, &word);
	return node ? node : script_parse_simple(lex, depth);
}

/* Statements end at a semicolon or the brace; those with blocks need neither. */
static bool script_parse_end(struct script_lex *lex, const struct script_node *node)
{
	struct expr_word word;

	if (trace_script_take(lex, ";")) {
		while (trace_script_take(lex, ";"))
			;
		return true;
	}
	if (node->op == SCRIPT_IF || node->op == SCRIPT_UNROLL || node->op == SCRIPT_WHILE ||
	    node->op == SCRIPT_FOR)
		return true;
	(void)trace_script_peek(lex, &word);
	if (trace_expr_is(&word, "}"))
		return true;
	return trace_script_expect(lex, ";");
}

/* NULL for an empty block, too. */
static struct script_node *script_parse_block(struct script_lex *lex, uint32_t depth)
{
	struct script_node *first = NULL, **at = &first;
	struct expr_word word;

	if (!trace_script_expect(lex, "{"))
		return NULL;
	(void)trace_script_peek(lex, &word);
	if (depth > SCRIPT_NESTING_MAX)
		trace_script_refuse(lex->script, &word, -E2BIG, "too deep: more than %u levels",
				    SCRIPT_NESTING_MAX);
	while (!lex->script->err && !trace_script_take(lex, "}")) {
		*at = script_parse_statement(lex, depth);
		if (!*at || !script_parse_end(lex, *at))
			break;
		at = &(*at)->next;
	}
	return first;
}

/* ---- Clauses ---- */

/* Is the slash at `at` in the path of a word that begins at `begin`: behind its first colon, `uprobe:/bin/sh:main`? */
static bool script_parse_is_path(const char *begin, const char *at)
{
	struct expr_word path = expr_between(begin, at), rest;

	(void)expr_take_until(&path, ":");
	if (!expr_take(&path, ':'))
		return false;
	rest = path;
	(void)expr_take_until(&rest, ":");
	return !rest.len && (!path.len || *path.at == '/');
}

/* Does the character at `at` end a word that begins at `begin`: a blank, a comma, a brace, or the slash of a predicate? */
static bool script_parse_ends(const char *begin, const char *at)
{
	return trace_is_space(*at) || *at == ',' || *at == '{' ||
	       (*at == '/' && !script_parse_is_path(begin, at));
}

/* Characters up to one that ends the word, those in quotes passed over. */
static struct script_probe *script_parse_probe(struct script_lex *lex)
{
	struct script_probe *probe = trace_script_alloc(lex->script, sizeof(*probe));
	bool is_quoted = false;
	const char *end;

	if (!probe)
		return NULL;
	trace_script_skip_spaces(lex);
	for (end = lex->at; *end && (is_quoted || !script_parse_ends(lex->at, end)); end++)
		is_quoted ^= *end == '"';
	probe->word = expr_between(lex->at, end);
	lex->at = end;
	return probe;
}

/* The words in front of a clause, as a list. False: refused. */
static bool script_parse_probes(struct script_lex *lex, struct script_clause *clause)
{
	struct script_probe **at = &clause->probes;

	do {
		*at = script_parse_probe(lex);
		if (!*at)
			return false;
		(*at)->clause = clause;
		at = &(*at)->next;
	} while (trace_script_take(lex, ","));
	return true;
}

/* The condition and the block behind the words. */
static bool script_parse_body(struct script_lex *lex, struct script_clause *clause)
{
	clause->body = lex->at;
	if (trace_script_take(lex, "/")) {
		clause->predicate = trace_script_expression(lex, 0);
		if (!trace_script_expect(lex, "/"))
			return false;
	}
	clause->block = script_parse_block(lex, 0);
	return true;
}

static bool script_parse_is_event(const struct script_probe *probe)
{
	return trace_expr_starts(&probe->word, "t:") ||
	       trace_expr_starts(&probe->word, "tracepoint:");
}

/* Take the words from the second event on off the clause; NULL: it has one event at most. */
static struct script_probe *script_parse_split(struct script_clause *clause)
{
	uint32_t nr_events = 0;

	for (struct script_probe **at = &clause->probes; *at; at = &(*at)->next) {
		struct script_probe *rest = *at;

		if (script_parse_is_event(rest) && nr_events++) {
			*at = NULL;
			return rest;
		}
	}
	return NULL;
}

static struct script_clause *script_parse_new_clause(struct script_lex *lex)
{
	struct script_clause *clause = trace_script_alloc(lex->script, sizeof(*clause));

	if (clause)
		clause->script = lex->script;
	return clause;
}

/*
 * Events have the fields of a name at places of their own. So a clause of several words of events is read
 * once for each of them, as if it had been written so often.
 */
static struct script_clause *script_parse_clause(struct script_lex *lex)
{
	struct script_clause *first = script_parse_new_clause(lex), *clause = first;
	struct script_lex body;

	if (!first || !script_parse_probes(lex, first))
		return first;
	for (body = *lex; clause; clause = clause->next) {
		struct script_probe *rest = script_parse_split(clause);

		*lex = body;
		if (!script_parse_body(lex, clause) || !rest)
			break;
		clause->next = script_parse_new_clause(lex);
		if (clause->next)
			clause->next->probes = rest;
		for (; clause->next && rest; rest = rest->next)
			rest->clause = clause->next;
	}
	return first;
}

int trace_script_split(struct trace_script *script)
{
	for (struct script_clause *clause = script->clauses; clause && !script->err;
	     clause = clause->next) {
		struct script_lex lex = { .script = script, .at = clause->body };
		struct script_clause *next = script_parse_new_clause(&lex);
		struct script_probe *rest = next ? trace_script_probe_split(clause->probes) : NULL;

		if (!rest)
			continue;
		rest->clause = next;
		next->probes = rest;
		next->next = clause->next;
		clause->next = next;
		(void)script_parse_body(&lex, next);
	}
	return script->err;
}

int trace_script_parse(struct trace_script *script)
{
	struct script_lex lex = { .script = script, .at = script->text };
	struct script_clause **at = &script->clauses;
	struct expr_word word;

	while (!script->err && trace_script_peek(&lex, &word) != SCRIPT_WORD_END) {
		*at = script_parse_clause(&lex);
		if (!*at)
			break;
		while (*at)
			at = &(*at)->next;
	}
	if (!script->clauses)
		trace_script_refuse(script, &word, -EINVAL, "the script has no probe");
	return script->err;
}
