/*
 * From tokens to a tree, by recursive descent over the grammar in sh_tree.h.
 */
#include <kernel/string.h>
#include <trace/fmt.h>
#include "sh_tree.h"

struct parser {
	struct sh_arena *arena;
	struct sh_lexer lexer;
	struct sh_token token; /* the one to be looked at next */
	uint32_t depth;
	int err; /* first failure: nothing is parsed after it */
	char *error;
};

struct child_list {
	struct sh_node *first;
	struct sh_node **tail;
};

static struct sh_node *parse_seq(struct parser *p);

static void *fail(struct parser *p, int err, const char *text)
{
	if (!p->err) {
		p->err = err;
		strlcpy(p->error, text, SH_ERROR_LEN);
	}
	p->token.type = SH_TOKEN_END;
	return NULL;
}

static void *alloc(struct parser *p, size_t bytes)
{
	void *memory = sh_alloc(p->arena, bytes);

	return memory ? memory : fail(p, -ENOMEM, "out of memory");
}

static void advance(struct parser *p)
{
	int err;

	if (p->err)
		return;
	err = sh_lex(&p->lexer, &p->token);
	if (err)
		fail(p, err, "syntax error: unterminated quoted string");
}

/* `expected` may be NULL. At the end of the text more of it may come. */
static void *fail_unexpected(struct parser *p, const char *expected)
{
	char what[SH_ERROR_LEN];
	char text[SH_ERROR_LEN];
	int len = (int)(p->token.len < 32 ? p->token.len : 32);

	if (p->err)
		return NULL;
	if (p->token.type == SH_TOKEN_END)
		strlcpy(what, "end of file", sizeof(what));
	else if (p->token.type == SH_TOKEN_NEWLINE)
		strlcpy(what, "newline", sizeof(what));
	else
		trace_snprintf(what, sizeof(what), "\"%.*s\"", len, p->token.text);
	if (expected)
		trace_snprintf(text, sizeof(text), "syntax error: unexpected %s (expecting \"%s\")",
			       what, expected);
	else
		trace_snprintf(text, sizeof(text), "syntax error: unexpected %s", what);
	return fail(p, p->token.type == SH_TOKEN_END ? -EAGAIN : -EINVAL, text);
}

static bool at_word(const struct parser *p, const char *word)
{
	return p->token.type == SH_TOKEN_WORD && p->token.len == strlen(word) &&
	       memcmp(p->token.text, word, p->token.len) == 0;
}

static bool take_word(struct parser *p, const char *word)
{
	if (!at_word(p, word))
		return false;
	advance(p);
	return true;
}

static void expect_word(struct parser *p, const char *word)
{
	if (!take_word(p, word))
		fail_unexpected(p, word);
}

static void skip_newlines(struct parser *p)
{
	while (p->token.type == SH_TOKEN_NEWLINE)
		advance(p);
}

/* Words that end a list when they stand where a command could. */
static bool at_list_end(const struct parser *p)
{
	static const char *const closers[] = { "then", "elif", "else", "fi", "do", "done", "}" };

	if (p->token.type == SH_TOKEN_END || p->token.type == SH_TOKEN_RPAREN)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(closers); i++) {
		if (at_word(p, closers[i]))
			return true;
	}
	return false;
}

static struct sh_node *new_node(struct parser *p, enum sh_node_type type)
{
	struct sh_node *node = alloc(p, sizeof(*node));

	if (!node)
		return NULL;
	node->type = type;
	node->source = p->token.text;
	return node;
}

/* The node's text ends where the next token begins. */
static void end_source(struct parser *p, struct sh_node *node)
{
	const char *end = p->token.text;

	while (end > node->source && strchr(" \t\n\r", end[-1]))
		end--;
	node->source_len = (size_t)(end - node->source);
}

static void add_child(struct child_list *list, struct sh_node *node)
{
	if (!list->first)
		list->first = node;
	else
		*list->tail = node;
	list->tail = &node->next;
}

static void add_word(struct parser *p, struct sh_word ***tail)
{
	struct sh_word *word = alloc(p, sizeof(*word));

	if (!word)
		return;
	word->text = sh_copy(p->arena, p->token.text, p->token.len);
	if (!word->text) {
		fail(p, -ENOMEM, "out of memory");
		return;
	}
	**tail = word;
	*tail = &word->next;
	advance(p);
}

static void parse_redir(struct parser *p, struct sh_redir **list)
{
	struct sh_redir *redir = alloc(p, sizeof(*redir));

	if (!redir)
		return;
	redir->op = p->token.redir;
	redir->fd = p->token.fd;
	advance(p);
	if (p->token.type != SH_TOKEN_WORD) {
		fail_unexpected(p, NULL);
		return;
	}
	redir->target = sh_copy(p->arena, p->token.text, p->token.len);
	if (!redir->target) {
		fail(p, -ENOMEM, "out of memory");
		return;
	}
	while (*list)
		list = &(*list)->next;
	*list = redir;
	advance(p);
}

static bool at_assignment(const struct parser *p)
{
	size_t len = sh_name_len(p->token.text, p->token.text + p->token.len);

	return len && len < p->token.len && p->token.text[len] == '=';
}

static struct sh_node *parse_simple(struct parser *p)
{
	struct sh_node *node = new_node(p, SH_SIMPLE);
	struct sh_word **words, **assigns;

	if (!node)
		return NULL;
	words = &node->words;
	assigns = &node->assigns;
	for (;;) {
		if (p->token.type == SH_TOKEN_REDIR)
			parse_redir(p, &node->redirs);
		else if (p->token.type != SH_TOKEN_WORD)
			break;
		else
			add_word(p, !node->words && at_assignment(p) ? &assigns : &words);
	}
	if (!node->words && !node->assigns && !node->redirs)
		return fail_unexpected(p, NULL);
	if (p->token.type == SH_TOKEN_LPAREN)
		return fail_unexpected(p, NULL);
	return node;
}

/* A list with at least one command, up to a closing word. */
static struct sh_node *parse_body(struct parser *p)
{
	struct sh_node *node = parse_seq(p);

	return node || p->err ? node : fail_unexpected(p, NULL);
}

static void parse_if(struct parser *p, struct sh_node *node)
{
	struct child_list list = { 0 };

	do {
		struct sh_node *condition = parse_body(p);
		struct sh_node *body;

		expect_word(p, "then");
		body = p->err ? NULL : parse_body(p);
		if (p->err)
			return;
		add_child(&list, condition);
		add_child(&list, body);
	} while (take_word(p, "elif"));
	if (take_word(p, "else")) {
		struct sh_node *body = parse_body(p);

		if (p->err)
			return;
		add_child(&list, body);
	}
	expect_word(p, "fi");
	node->child = list.first;
}

static struct sh_node *parse_do(struct parser *p)
{
	struct sh_node *body;

	expect_word(p, "do");
	body = p->err ? NULL : parse_body(p);
	expect_word(p, "done");
	return body;
}

static void parse_while(struct parser *p, struct sh_node *node)
{
	struct child_list list = { 0 };
	struct sh_node *condition = parse_body(p);
	struct sh_node *body = p->err ? NULL : parse_do(p);

	if (p->err)
		return;
	add_child(&list, condition);
	add_child(&list, body);
	node->child = list.first;
}

static void parse_for(struct parser *p, struct sh_node *node)
{
	struct sh_word **words = &node->words;
	size_t len = sh_name_len(p->token.text, p->token.text + p->token.len);

	if (p->token.type != SH_TOKEN_WORD || len != p->token.len) {
		fail_unexpected(p, NULL);
		return;
	}
	node->name = sh_copy(p->arena, p->token.text, len);
	if (!node->name) {
		fail(p, -ENOMEM, "out of memory");
		return;
	}
	advance(p);
	skip_newlines(p);
	if (take_word(p, "in")) {
		while (p->token.type == SH_TOKEN_WORD)
			add_word(p, &words);
	}
	if (p->token.type == SH_TOKEN_SEMI)
		advance(p);
	skip_newlines(p);
	node->child = p->err ? NULL : parse_do(p);
}

/* A node of `type` behind its opening word, or NULL on failure. */
static struct sh_node *parse_compound(struct parser *p, enum sh_node_type type)
{
	struct sh_node *node = new_node(p, type);

	if (!node)
		return NULL;
	if (++p->depth > SH_NEST_MAX)
		return fail(p, -EINVAL, "syntax error: nested too deeply");
	node->is_negated = at_word(p, "until");
	advance(p);
	if (type == SH_IF) {
		parse_if(p, node);
	} else if (type == SH_WHILE) {
		parse_while(p, node);
	} else if (type == SH_FOR) {
		parse_for(p, node);
	} else if (type == SH_GROUP) {
		node->child = parse_body(p);
		expect_word(p, "}");
	} else {
		node->child = parse_body(p);
		if (p->token.type != SH_TOKEN_RPAREN)
			return fail_unexpected(p, ")");
		advance(p);
	}
	p->depth--;
	while (p->token.type == SH_TOKEN_REDIR)
		parse_redir(p, &node->redirs);
	if (p->token.type == SH_TOKEN_WORD && !at_list_end(p))
		return fail_unexpected(p, NULL);
	return node;
}

static struct sh_node *parse_command(struct parser *p)
{
	if (p->token.type == SH_TOKEN_LPAREN)
		return parse_compound(p, SH_SUBSHELL);
	if (at_word(p, "if"))
		return parse_compound(p, SH_IF);
	if (at_word(p, "while") || at_word(p, "until"))
		return parse_compound(p, SH_WHILE);
	if (at_word(p, "for"))
		return parse_compound(p, SH_FOR);
	if (at_word(p, "{"))
		return parse_compound(p, SH_GROUP);
	if (at_list_end(p))
		return fail_unexpected(p, NULL);
	return parse_simple(p);
}

static struct sh_node *parse_pipe(struct parser *p)
{
	struct sh_node *node = new_node(p, SH_PIPE);
	struct child_list list = { 0 };

	if (!node)
		return NULL;
	for (;;) {
		if (take_word(p, "!"))
			node->is_negated = !node->is_negated;
		else if (take_word(p, "time"))
			node->is_timed = true;
		else
			break;
	}
	for (;;) {
		struct sh_node *command = parse_command(p);

		if (!command || p->err)
			return NULL;
		end_source(p, command);
		add_child(&list, command);
		if (p->token.type != SH_TOKEN_PIPE)
			break;
		advance(p);
		skip_newlines(p);
	}
	node->child = list.first;
	end_source(p, node);
	return node;
}

static struct sh_node *parse_andor(struct parser *p)
{
	enum sh_connect connect = SH_CONNECT_FIRST;
	struct sh_node *node = new_node(p, SH_ANDOR);
	struct child_list list = { 0 };

	if (!node)
		return NULL;
	for (;;) {
		struct sh_node *pipe = parse_pipe(p);

		if (!pipe || p->err)
			return NULL;
		pipe->connect = connect;
		add_child(&list, pipe);
		if (p->token.type != SH_TOKEN_AND && p->token.type != SH_TOKEN_OR)
			break;
		connect = p->token.type == SH_TOKEN_AND ? SH_CONNECT_AND : SH_CONNECT_OR;
		advance(p);
		skip_newlines(p);
	}
	node->child = list.first;
	end_source(p, node);
	return node;
}

/* NULL, without an error, when there is no command. */
static struct sh_node *parse_seq(struct parser *p)
{
	struct child_list list = { 0 };
	struct sh_node *node;

	skip_newlines(p);
	if (p->err || at_list_end(p))
		return NULL;
	node = new_node(p, SH_SEQ);
	if (!node)
		return NULL;
	while (!p->err && !at_list_end(p)) {
		struct sh_node *andor = parse_andor(p);

		if (!andor)
			return NULL;
		add_child(&list, andor);
		if (p->token.type == SH_TOKEN_AMP)
			andor->is_background = true;
		else if (p->token.type != SH_TOKEN_SEMI && p->token.type != SH_TOKEN_NEWLINE)
			break;
		advance(p);
		skip_newlines(p);
	}
	if (p->err)
		return NULL;
	node->child = list.first;
	return node;
}

int sh_parse(struct sh_arena *arena, const char *text, size_t len, struct sh_node **out_tree,
	     char *error)
{
	struct parser p = {
		.arena = arena,
		.lexer = { .pos = text, .end = text + len },
		.error = error,
	};

	*out_tree = NULL;
	error[0] = '\0';
	advance(&p);
	*out_tree = parse_seq(&p);
	if (!p.err && p.token.type != SH_TOKEN_END)
		fail_unexpected(&p, NULL);
	if (p.err)
		*out_tree = NULL;
	return p.err;
}
