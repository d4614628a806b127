/* Shared by the files of types: script_type.c expressions and statements, script_call.c calls and casts, script_name.c names. See script.h. */
#ifndef TRACE_SCRIPT_TYPE_H
#define TRACE_SCRIPT_TYPE_H

#include "script_tree.h"

struct script_type_check {
	struct trace_script *script;
	struct script_clause *clause;
	bool is_last; /* all types must be known now */
	bool has_changed;
};

#define SCRIPT_WORD_TYPE(sign)                                                                     \
	{                                                                                          \
		.kind = SCRIPT_INT, .is_signed = (sign), .bytes = 8                                \
	}

/* A pointer's `id` is that of a type of BTF, or of a number that a cast names: these, with its bytes. */
#define SCRIPT_ID_NUMBERS 0xffffff00u
#define SCRIPT_ID_SIGNED  0x80u

static inline struct script_type script_pointer_to(uint32_t id)
{
	return (struct script_type){ .kind = SCRIPT_POINTER, .bytes = 8, .id = id };
}

extern const char *const trace_script_type_names[];
extern const struct script_type trace_script_signed, trace_script_unsigned;

/* Refuse a node, for a reason without arguments. */
int trace_script_type_refuse(const struct script_type_check *check, const struct script_node *node,
			     const char *why);
/* Find the type of an expression, and of all in it; it must be a number. */
void trace_script_type_of(struct script_type_check *check, struct script_node *node);
void trace_script_type_number_of(struct script_type_check *check, struct script_node *node);

/* The node must have a number; or a type that is not known yet. */
void trace_script_want_number(const struct script_type_check *check,
			      const struct script_node *node);
/* The keys of a table, of which the first is `keys`, or none. */
void trace_script_type_keys(struct script_type_check *check, struct script_node *node,
			    struct script_node *keys);
/* A call as a statement, and as a value. */
void trace_script_type_call(struct script_type_check *check, struct script_node *node);
void trace_script_type_called(struct script_type_check *check, struct script_node *node);

/* sizeof(TYPE), which becomes a number. */
void trace_script_type_sizeof(struct script_type_check *check, struct script_node *node);

/* Types of names; those of `a` and `b` are found first. */
void trace_script_type_builtin(struct script_type_check *check, struct script_node *node);
void trace_script_type_member(struct script_type_check *check, struct script_node *node);
void trace_script_type_index(struct script_type_check *check, struct script_node *node);
void trace_script_type_part(struct script_type_check *check, struct script_node *node);
void trace_script_type_cast(struct script_type_check *check, struct script_node *node);
void trace_script_type_deref(struct script_type_check *check, struct script_node *node);
/*
 * Let a type that is already known hold `from`, too: texts get longer, and with them the tuples that
 * they are in. False: they do not fit.
 */
bool trace_script_unify(struct script_type_check *check, struct script_type *to,
			const struct script_type *from);
/* Find a table by its name, or make it. NULL: out of memory. */
struct script_map *trace_script_find_map(struct script_type_check *check,
					 const struct expr_word *name);
/* Find the function of a call. False: it was refused. */
bool trace_script_find_function(struct script_type_check *check, struct script_node *node);

static inline bool script_type_is_number(const struct script_type *type)
{
	return type->kind == SCRIPT_INT || type->kind == SCRIPT_POINTER ||
	       type->kind == SCRIPT_KSYM || type->kind == SCRIPT_USYM ||
	       type->kind == SCRIPT_STRUCT;
}

#endif
