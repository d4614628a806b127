/*
 * The shell's language: tokens, the tree that a text is parsed into, the arena that holds both.
 *
 *   seq:    andor (';' | '&' | newline) ...       children in order, is_background on a child
 *   andor:  pipe ('&&' | '||') ...                children in order, `connect` on a child
 *   pipe:   ['!'] ['time'] command '|' ...
 *   command: simple, or if/while/until/for/{ }/( ) with redirections behind it
 *
 * The elements of a seq, andor or pipe are the children of one node, side by side. So the tree is
 * as deep as the compound commands of the text are nested, which SH_NEST_MAX bounds. Words keep
 * their quotes, because they are expanded each time they run.
 *
 * Context:   thread; the parser also runs on the build host (tests/unit/kernel).
 * Locking:   none.
 * Ownership: everything is in the caller's arena and is freed with it.
 */
#ifndef KERNEL_SH_TREE_H
#define KERNEL_SH_TREE_H

#include <kernel/base.h>

#define SH_DEPTH_MAX   16   /* $( ) and ${ } inside each other */
#define SH_NEST_MAX    10   /* if, while, for, { }, ( ) inside each other */
#define SH_ERROR_LEN   96   /* bytes of a message, with NUL */
#define SH_CHUNK_BYTES 2000 /* bytes that an arena takes at a time */

struct sh_chunk;

/* Memory that is given out piece by piece and freed as a whole. A zeroed arena is an empty one. */
struct sh_arena {
	struct sh_chunk *chunks; /* newest first */
};

/* Zeroed memory, aligned for any object; NULL when there is none. */
void *sh_alloc(struct sh_arena *arena, size_t bytes);
/* A copy of `len` bytes with a NUL behind it. */
char *sh_copy(struct sh_arena *arena, const char *text, size_t len);
void sh_arena_free(struct sh_arena *arena);

enum sh_token_type {
	SH_TOKEN_END,
	SH_TOKEN_NEWLINE,
	SH_TOKEN_WORD,
	SH_TOKEN_SEMI,
	SH_TOKEN_AMP,
	SH_TOKEN_AND,
	SH_TOKEN_OR,
	SH_TOKEN_PIPE,
	SH_TOKEN_LPAREN,
	SH_TOKEN_RPAREN,
	SH_TOKEN_REDIR,
};

enum sh_redir_op {
	SH_REDIR_READ,
	SH_REDIR_WRITE,
	SH_REDIR_APPEND,
	SH_REDIR_DUP
};

struct sh_token {
	enum sh_token_type type;
	enum sh_redir_op redir; /* of SH_TOKEN_REDIR */
	uint32_t fd;		/* of SH_TOKEN_REDIR: the file that is redirected */
	const char *text;	/* in the source, not terminated */
	size_t len;
};

struct sh_lexer {
	const char *pos;
	const char *end;
};

/*
 * Read the next token. 0; -EAGAIN when the text ends inside quotes or brackets, or when these are
 * nested deeper than SH_DEPTH_MAX.
 */
int sh_lex(struct sh_lexer *lexer, struct sh_token *out_token);
/*
 * The end of the expansion that starts at the `$` or back quote `pos`; `pos + 1` when it is none.
 * NULL when it is not closed before `end`, or nested too deeply.
 */
const char *sh_lex_dollar(const char *pos, const char *end, uint32_t depth);
/* Length of the variable name at `pos`; 0 for none. */
size_t sh_name_len(const char *pos, const char *end);

enum sh_node_type {
	SH_SIMPLE,
	SH_PIPE,
	SH_ANDOR,
	SH_SEQ,
	SH_IF,	     /* children: condition, body, condition, body, ... [else body] */
	SH_WHILE,    /* children: condition, body; is_negated: until */
	SH_FOR,	     /* name, words, child: body */
	SH_GROUP,    /* child: the list in { } */
	SH_SUBSHELL, /* child: the list in ( ) */
};

enum sh_connect {
	SH_CONNECT_FIRST,
	SH_CONNECT_AND,
	SH_CONNECT_OR
};

struct sh_word {
	struct sh_word *next;
	char *text; /* as written, quotes and all */
};

struct sh_redir {
	struct sh_redir *next;
	enum sh_redir_op op;
	uint32_t fd;
	char *target; /* a word, not expanded: a path, or for SH_REDIR_DUP a digit */
};

struct sh_node {
	enum sh_node_type type;
	enum sh_connect connect;
	bool is_background;
	bool is_negated;
	bool is_timed;
	char *name;		 /* SH_FOR: the variable */
	struct sh_word *assigns; /* SH_SIMPLE: name=word in front */
	struct sh_word *words;	 /* SH_SIMPLE: command and arguments; SH_FOR: items */
	struct sh_redir *redirs;
	struct sh_node *child; /* first of the children */
	struct sh_node *next;  /* sibling */
	const char *source;    /* its place in the text, to name jobs */
	size_t source_len;
};

/*
 * Parse the whole text; the tree points into it. `*out_tree` is NULL for a text without commands.
 * 0; -EAGAIN: the text is incomplete, more lines may complete it; -EINVAL: it is wrong; -ENOMEM.
 * Each failure has a sentence in `error`, SH_ERROR_LEN bytes.
 */
int sh_parse(struct sh_arena *arena, const char *text, size_t len, struct sh_node **out_tree,
	     char *error);

#endif
