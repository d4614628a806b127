/*
 * From tokens to a tree, by recursive descent over the grammar in sh_tree.h.
 */
#include <kernel/string.h>
#include <trace/fmt.h>
#include "sh_tree.h"

struct parser {
	struct sh_arena *arena;
	struct sh_lexer lexer;
	struct sh_token token; /* the first one that is not used yet */
	uint32_t depth;
	int err; /* first failure: nothing is parsed after it */
	char *error;
};

struct child_list {
	struct sh_node *first;
	struct sh_node **tail;
};

static struct sh_node *parse_seq(struct parser *p);

static void *parse_fail(struct parser *p, int err, const char *text)
{
	if (!p->err) {
		p->err = err;
		strlcpy(p->error, text, SH_ERROR_LEN);
	}
	p->token.type = SH_TOKEN_END;
	return NULL;
}

static void *parse_alloc(struct parser *p, size_t bytes)
{
	void *memory = sh_alloc(p->arena, bytes);

	return memory ? memory : parse_fail(p, -ENOMEM, "out of memory");
}

static void parse_advance(struct parser *p)
{
	int err;

	if (p->err)
		return;
	err = sh_lex(&p->lexer, &p->token);
	if (err)
		parse_fail(p, err, "syntax error: unterminated quoted string");
}

/*
 * Fail because of the present token; `expected` is the word that should be there, or NULL. At the
 * end of the text the error is -EAGAIN: more text may complete it.
 */
static void *parse_fail_unexpected(struct parser *p, const char *expected)
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
	return parse_fail(p, p->token.type == SH_TOKEN_END ? -EAGAIN : -EINVAL, text);
}

static bool parse_at_word(const struct parser *p, const char *word)
{
	return p->token.type == SH_TOKEN_WORD && p->token.len == strlen(word) &&
	       memcmp(p->token.text, word, p->token.len) == 0;
}

static bool parse_take_word(struct parser *p, const char *word)
{
	if (!parse_at_word(p, word))
		return false;
	parse_advance(p);
	return true;
}

static void parse_expect_word(struct parser *p, const char *word)
{
	if (!parse_take_word(p, word))
		parse_fail_unexpected(p, word);
}

static void parse_skip_newlines(struct parser *p)
{
	while (p->token.type == SH_TOKEN_NEWLINE)
		parse_advance(p);
}

/* Does a list end here? These words end one where a command could begin. */
static bool parse_at_list_end(const struct parser *p)
{
	static const char *const closers[] = { "then", "elif", "else", "fi", "do", "done", "}" };

	if (p->token.type == SH_TOKEN_END || p->token.type == SH_TOKEN_RPAREN)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(closers); i++) {
		if (parse_at_word(p, closers[i]))
			return true;
	}
	return false;
}

static struct sh_node *parse_new_node(struct parser *p, enum sh_node_type type)
{
	struct sh_node *node = parse_alloc(p, sizeof(*node));

	if (!node)
		return NULL;
	node->type = type;
	node->source = p->token.text;
	return node;
}

/* node->source ends where the next token begins, without blanks. */
static void parse_end_source(struct parser *p, struct sh_node *node)
{
	const char *end = p->token.text;

	while (end > node->source && strchr(" \t\n\r", end[-1]))
		end--;
	node->source_len = (size_t)(end - node->source);
}

static void parse_add_child(struct child_list *list, struct sh_node *node)
{
	if (!list->first)
		list->first = node;
	else
		*list->tail = node;
	list->tail = &node->next;
}

static void parse_add_word(struct parser *p, struct sh_word ***tail)
{
	struct sh_word *word = parse_alloc(p, sizeof(*word));

	if (!word)
		return;
	word->text = sh_copy(p->arena, p->token.text, p->token.len);
	if (!word->text) {
		parse_fail(p, -ENOMEM, "out of memory");
		return;
	}
	**tail = word;
	*tail = &word->next;
	parse_advance(p);
}

static void parse_redir(struct parser *p, struct sh_redir **list)
{
	struct sh_redir *redir = parse_alloc(p, sizeof(*redir));

	if (!redir)
		return;
	redir->op = p->token.redir;
	redir->fd = p->token.fd;
	parse_advance(p);
	if (p->token.type != SH_TOKEN_WORD) {
		parse_fail_unexpected(p, NULL);
		return;
	}
	redir->target = sh_copy(p->arena, p->token.text, p->token.len);
	if (!redir->target) {
		parse_fail(p, -ENOMEM, "out of memory");
		return;
	}
	while (*list)
		list = &(*list)->next;
	*list = redir;
	parse_advance(p);
}

static bool parse_at_assignment(const struct parser *p)
{
	size_t len = sh_name_len(p->token.text, p->token.text + p->token.len);

	return len && len < p->token.len && p->token.text[len] == '=';
}

static struct sh_node *parse_simple(struct parser *p)
{
	struct sh_node *node = parse_new_node(p, SH_SIMPLE);
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
			parse_add_word(p,
				       !node->words && parse_at_assignment(p) ? &assigns : &words);
	}
	if (!node->words && !node->assigns && !node->redirs)
		return parse_fail_unexpected(p, NULL);
	if (p->token.type == SH_TOKEN_LPAREN)
		return parse_fail_unexpected(p, NULL);
	return node;
}

/* Parse a list of at least one command, up to the word that closes it. NULL on failure. */
static struct sh_node *parse_body(struct parser *p)
{
	struct sh_node *node = parse_seq(p);

	return node || p->err ? node : parse_fail_unexpected(p, NULL);
}

static void parse_if(struct parser *p, struct sh_node *node)
{
	struct child_list list = { 0 };

	do {
		struct sh_node *condition = parse_body(p);
		struct sh_node *body;

		parse_expect_word(p, "then");
		body = p->err ? NULL : parse_body(p);
		if (p->err)
			return;
		parse_add_child(&list, condition);
		parse_add_child(&list, body);
	} while (parse_take_word(p, "elif"));
	if (parse_take_word(p, "else")) {
		struct sh_node *body = parse_body(p);

		if (p->err)
			return;
		parse_add_child(&list, body);
	}
	parse_expect_word(p, "fi");
	node->child = list.first;
}

static struct sh_node *parse_do(struct parser *p)
{
	struct sh_node *body;

	parse_expect_word(p, "do");
	body = p->err ? NULL : parse_body(p);
	parse_expect_word(p, "done");
	return body;
}

static void parse_while(struct parser *p, struct sh_node *node)
{
	struct child_list list = { 0 };
	struct sh_node *condition = parse_body(p);
	struct sh_node *body = p->err ? NULL : parse_do(p);

	if (p->err)
		return;
	parse_add_child(&list, condition);
	parse_add_child(&list, body);
	node->child = list.first;
}

static void parse_for(struct parser *p, struct sh_node *node)
{
	struct sh_word **words = &node->words;
	size_t len = sh_name_len(p->token.text, p->token.text + p->token.len);

	if (p->token.type != SH_TOKEN_WORD || len != p->token.len) {
		parse_fail_unexpected(p, NULL);
		return;
	}
	node->name = sh_copy(p->arena, p->token.text, len);
	if (!node->name) {
		parse_fail(p, -ENOMEM, "out of memory");
		return;
	}
	parse_advance(p);
	parse_skip_newlines(p);
	if (parse_take_word(p, "in")) {
		while (p->token.type == SH_TOKEN_WORD)
			parse_add_word(p, &words);
	}
	if (p->token.type == SH_TOKEN_SEMI)
		parse_advance(p);
	parse_skip_newlines(p);
	node->child = p->err ? NULL : parse_do(p);
}

/* Parse a compound command of `type`, from its opening word on. NULL on failure. */
static struct sh_node *parse_compound(struct parser *p, enum sh_node_type type)
{
	struct sh_node *node = parse_new_node(p, type);

	if (!node)
		return NULL;
	if (++p->depth > SH_NEST_MAX)
		return parse_fail(p, -EINVAL, "syntax error: nested too deeply");
	node->is_negated = parse_at_word(p, "until");
	parse_advance(p);
	if (type == SH_IF) {
		parse_if(p, node);
	} else if (type == SH_WHILE) {
		parse_while(p, node);
	} else if (type == SH_FOR) {
		parse_for(p, node);
	} else if (type == SH_GROUP) {
		node->child = parse_body(p);
		parse_expect_word(p, "}");
	} else {
		node->child = parse_body(p);
		if (p->token.type != SH_TOKEN_RPAREN)
			return parse_fail_unexpected(p, ")");
		parse_advance(p);
	}
	p->depth--;
	while (p->token.type == SH_TOKEN_REDIR)
		parse_redir(p, &node->redirs);
	if (p->token.type == SH_TOKEN_WORD && !parse_at_list_end(p))
		return parse_fail_unexpected(p, NULL);
	return node;
}

static struct sh_node *parse_command(struct parser *p)
{
	if (p->token.type == SH_TOKEN_LPAREN)
		return parse_compound(p, SH_SUBSHELL);
	if (parse_at_word(p, "if"))
		return parse_compound(p, SH_IF);
	if (parse_at_word(p, "while") || parse_at_word(p, "until"))
		return parse_compound(p, SH_WHILE);
	if (parse_at_word(p, "for"))
		return parse_compound(p, SH_FOR);
	if (parse_at_word(p, "{"))
		return parse_compound(p, SH_GROUP);
	if (parse_at_list_end(p))
		return parse_fail_unexpected(p, NULL);
	return parse_simple(p);
}

static struct sh_node *parse_pipe(struct parser *p)
{
	struct sh_node *node = parse_new_node(p, SH_PIPE);
	struct child_list list = { 0 };

	if (!node)
		return NULL;
	for (;;) {
		if (parse_take_word(p, "!"))
			node->is_negated = !node->is_negated;
		else if (parse_take_word(p, "time"))
			node->is_timed = true;
		else
			break;
	}
	for (;;) {
		struct sh_node *command = parse_command(p);

		if (!command || p->err)
			return NULL;
		parse_end_source(p, command);
		parse_add_child(&list, command);
		if (p->token.type != SH_TOKEN_PIPE)
			break;
		parse_advance(p);
		parse_skip_newlines(p);
	}
	node->child = list.first;
	parse_end_source(p, node);
	return node;
}

static struct sh_node *parse_andor(struct parser *p)
{
	enum sh_connect connect = SH_CONNECT_FIRST;
	struct sh_node *node = parse_new_node(p, SH_ANDOR);
	struct child_list list = { 0 };

	if (!node)
		return NULL;
	for (;;) {
		struct sh_node *pipe = parse_pipe(p);

		if (!pipe || p->err)
			return NULL;
		pipe->connect = connect;
		parse_add_child(&list, pipe);
		if (p->token.type != SH_TOKEN_AND && p->token.type != SH_TOKEN_OR)
			break;
		connect = p->token.type == SH_TOKEN_AND ? SH_CONNECT_AND : SH_CONNECT_OR;
		parse_advance(p);
		parse_skip_newlines(p);
	}
	node->child = list.first;
	parse_end_source(p, node);
	return node;
}

/* Parse a list of commands. NULL, without an error, when it is empty; NULL on failure. */
static struct sh_node *parse_seq(struct parser *p)
{
	struct child_list list = { 0 };
	struct sh_node *node;

	parse_skip_newlines(p);
	if (p->err || parse_at_list_end(p))
		return NULL;
	node = parse_new_node(p, SH_SEQ);
	if (!node)
		return NULL;
	while (!p->err && !parse_at_list_end(p)) {
		struct sh_node *andor = parse_andor(p);

		if (!andor)
			return NULL;
		parse_add_child(&list, andor);
		if (p->token.type == SH_TOKEN_AMP)
			andor->is_background = true;
		else if (p->token.type != SH_TOKEN_SEMI && p->token.type != SH_TOKEN_NEWLINE)
			break;
		parse_advance(p);
		parse_skip_newlines(p);
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
	parse_advance(&p);
	*out_tree = parse_seq(&p);
	if (!p.err && p.token.type != SH_TOKEN_END)
		parse_fail_unexpected(&p, NULL);
	if (p.err)
		*out_tree = NULL;
	return p.err;
}
