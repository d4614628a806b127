/*
 * Words and trees of scripts, and what a name stands for. See script.h.
 *
 * Context:   thread.
 * Ownership: trees lie in the memory of their script.
 */
#ifndef TRACE_SCRIPT_TREE_H
#define TRACE_SCRIPT_TREE_H

#include "script.h"

/* ---- Trees ---- */

enum script_op {
	SCRIPT_NUMBER,
	SCRIPT_STRING,
	SCRIPT_BUILTIN, /* word */
	SCRIPT_CALL,	/* word, list of arguments in a */
	SCRIPT_VAR,	/* $NAME */
	SCRIPT_MAP,	/* @NAME, keys in a */
	SCRIPT_MEMBER,	/* a.word or a->word */
	SCRIPT_INDEX,	/* a[b] */
	SCRIPT_PART,	/* a.0 */
	SCRIPT_CAST,	/* (type)a */
	SCRIPT_DEREF,	/* *a */
	SCRIPT_NEGATE,
	SCRIPT_NOT,
	SCRIPT_INVERT,
	SCRIPT_BINARY, /* `binary` */
	SCRIPT_CHOICE, /* a ? b : c */
	SCRIPT_LIST,   /* a tuple of a */
	SCRIPT_SIZEOF, /* of the type that is the word; it becomes a SCRIPT_NUMBER */
	SCRIPT_NEXT, /* the next key and value of the table c to the variable b, at the place a; 0: no more */
	SCRIPT_STEP, /* a++; is_down: a--; is_front: ++a, --a; a statement, too */
	/* Statements: */
	SCRIPT_ASSIGN, /* a = b; with `binary`: a += b and so on */
	SCRIPT_IF,     /* a: condition, b and c: lists of statements */
	SCRIPT_UNROLL, /* number of times, b */
	SCRIPT_WHILE,  /* a, b */
	SCRIPT_FOR,    /* b: assignments of its bounds, then a SCRIPT_WHILE */
	SCRIPT_VALUE,  /* a: a call, or another value that is worked out for its own sake */
	SCRIPT_LEAVE,  /* `leave` */
};

enum script_binary {
	SCRIPT_NO_BINARY,
	SCRIPT_OR,
	SCRIPT_AND,
	SCRIPT_BIT_OR,
	SCRIPT_BIT_XOR,
	SCRIPT_BIT_AND,
	SCRIPT_EQ,
	SCRIPT_NE,
	SCRIPT_LE,
	SCRIPT_GE,
	SCRIPT_LT,
	SCRIPT_GT,
	SCRIPT_SHL,
	SCRIPT_SHR,
	SCRIPT_ADD,
	SCRIPT_SUB,
	SCRIPT_MUL,
	SCRIPT_DIV,
	SCRIPT_MOD,
	SCRIPT_NR_BINARIES
};

enum script_leave {
	SCRIPT_BREAK,
	SCRIPT_CONTINUE,
	SCRIPT_LEAVE_CLAUSE, /* return */
};

struct script_node {
	enum script_op op;
	enum script_binary binary;
	enum script_leave leave;
	bool is_down, is_front;
	uint32_t height;
	struct expr_word word; /* its characters in the text; of a name, the name */
	struct script_type type;
	uint64_t number;
	const char *text; /* SCRIPT_STRING, its escapes resolved */
	struct script_node *a, *b, *c, *next;
	struct script_map *map;
	struct script_var *var;
	const struct script_builtin *builtin;
	const struct script_function *function;
	const struct trace_event_field *field; /* SCRIPT_MEMBER of args */
	uint32_t offset, bits;		       /* SCRIPT_MEMBER: from the struct's start, in bits */
	struct script_format *format;	       /* SCRIPT_CALL */
	struct expr_program *loop;	       /* SCRIPT_WHILE */
	struct script_node *next_loop;
};

/* ---- script_lex.c ---- */

struct script_lex {
	struct trace_script *script;
	const char *at;
};

enum script_word_kind {
	SCRIPT_WORD_END,
	SCRIPT_WORD_NAME,
	SCRIPT_WORD_NUMBER,
	SCRIPT_WORD_STRING,
	SCRIPT_WORD_MAP,   /* @NAME */
	SCRIPT_WORD_VAR,   /* $NAME */
	SCRIPT_WORD_PARAM, /* $1 */
	SCRIPT_WORD_OPERATOR,
};

/* The next word, which is taken. */
enum script_word_kind trace_script_next(struct script_lex *lex, struct expr_word *out);
/* The same; it stays. */
enum script_word_kind trace_script_peek(const struct script_lex *lex, struct expr_word *out);
/* Take the operator or name `text`, if it is next. */
bool trace_script_take(struct script_lex *lex, const char *text);
/* It must be next. */
bool trace_script_expect(struct script_lex *lex, const char *text);
void trace_script_skip_spaces(struct script_lex *lex);

/* ---- script_parse.c, script_tree.c ---- */

struct script_node *trace_script_node(struct script_lex *lex, enum script_op op,
				      const struct expr_word *word);
struct script_node *trace_script_expression(struct script_lex *lex, uint32_t depth);
/* Behind a value, or with is_front in front of it: ++ or --, which is `word`. */
struct script_node *trace_script_counted(struct script_lex *lex, const struct expr_word *word,
					 struct script_node *of, bool is_front);
enum script_binary trace_script_binary(const struct expr_word *word);

/* ---- script_constant.c ---- */

/* The node of a word of that kind. NULL: it was refused. */
struct script_node *trace_script_constant_number(struct script_lex *lex,
						 const struct expr_word *word);
struct script_node *trace_script_constant_string(struct script_lex *lex,
						 const struct expr_word *word);
struct script_node *trace_script_constant_param(struct script_lex *lex,
						const struct expr_word *word);

/* ---- script_type.c ---- */

enum script_builtin_kind {
	SCRIPT_B_PID,
	SCRIPT_B_TID,
	SCRIPT_B_UID,
	SCRIPT_B_GID,
	SCRIPT_B_CPU,
	SCRIPT_B_NSECS,
	SCRIPT_B_ELAPSED,
	SCRIPT_B_COMM,
	SCRIPT_B_FUNC,
	SCRIPT_B_PROBE,
	SCRIPT_B_RETVAL,
	SCRIPT_B_KSTACK,
	SCRIPT_B_USTACK,
	SCRIPT_B_RAND,
	SCRIPT_B_CURTASK,
	SCRIPT_B_ARG,
	SCRIPT_B_RAW_ARG,
	SCRIPT_B_MARK_ARG,
	SCRIPT_B_ARGS,
};

struct script_builtin {
	const char *name;
	struct script_type type;
	enum script_builtin_kind kind;
	uint32_t probes; /* bit for each enum script_probe_kind that has it */
};

enum script_function_kind {
	SCRIPT_F_COUNT,
	SCRIPT_F_SUM,
	SCRIPT_F_AVG,
	SCRIPT_F_MIN,
	SCRIPT_F_MAX,
	SCRIPT_F_STATS,
	SCRIPT_F_HIST,
	SCRIPT_F_LHIST,
	SCRIPT_F_PRINTF,
	SCRIPT_F_PRINT,
	SCRIPT_F_CLEAR,
	SCRIPT_F_ZERO,
	SCRIPT_F_DELETE,
	SCRIPT_F_EXIT,
	SCRIPT_F_TIME,
	SCRIPT_F_JOIN,
	/* From here on they give values. */
	SCRIPT_F_STR,
	SCRIPT_F_KSYM,
	SCRIPT_F_USYM,
	SCRIPT_F_LEN,
	SCRIPT_F_SIZEOF,
	SCRIPT_F_STRNCMP,
	SCRIPT_F_STRFTIME,
	SCRIPT_F_BUF,
	SCRIPT_F_KADDR,
	SCRIPT_F_KSTACK,
	SCRIPT_F_USTACK,
};

struct script_function {
	const char *name;
	enum script_function_kind kind;
	uint8_t min, max; /* arguments */
	bool is_for_map;  /* only as `@NAME = FUNCTION()` */
	enum script_kind gives;
};

#endif
