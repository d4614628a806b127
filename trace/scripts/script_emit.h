/* Shared by the files that make programs: script_emit.c, script_condition.c and script_value.c values, script_action.c statements. See script.h. */
#ifndef TRACE_SCRIPT_EMIT_H
#define TRACE_SCRIPT_EMIT_H

#include "script_step.h"
#include "script_tree.h"

/* A way that leads to an instruction that is not there yet. */
struct script_patch {
	uint32_t insn;
	bool branch;
	struct script_patch *next;
};

struct script_emit {
	struct trace_script *script;
	struct script_clause *clause;
	struct expr_build build;
	uint32_t top; /* the first free byte of the block */
	uint32_t nr_temps;
	uint64_t times; /* that the statements are repeated by unroll() */
	bool is_round;	/* it is the program of a while(), not that of a clause */
	/* Ways to the step that ends the run or the round as if it had come there; and to the one that stops. */
	struct script_patch *done, *stopped;
};

/* Add a step of scripts, about `offset` of the block. */
struct expr_insn *trace_script_step(struct script_emit *emit, enum script_step_kind kind,
				    uint32_t offset);
/* Add a constant; an operation on a temp and the value; the value to a new temp, whose number is returned. */
void trace_script_emit_number(struct script_emit *emit, uint64_t number);
uint32_t trace_script_emit_save(struct script_emit *emit);
void trace_script_emit_combine(struct script_emit *emit, enum expr_op op, uint32_t temp);
void trace_script_emit_operator(struct script_emit *emit, const struct script_node *node,
				enum script_binary binary, uint32_t temp);

/* Ways: all of a list lead to the next instruction; one always goes by the list. */
void trace_script_emit_here(struct script_emit *emit, struct script_patch *patches);
void trace_script_emit_jump(struct script_emit *emit, struct script_patch **patches);

/* a++ as a statement or a value. */
void trace_script_emit_count(struct script_emit *emit, struct script_node *node);
/* == and != of texts; a call that gives a number, or the next entry of a table. */
void trace_script_emit_same_text(struct script_emit *emit, struct script_node *node);
void trace_script_emit_call(struct script_emit *emit, struct script_node *node);
/* Take `bytes` of the block. */
uint32_t trace_script_emit_room(struct script_emit *emit, uint32_t bytes);
/* Make a word, a type of one word, the value. */
void trace_script_emit_value(struct script_emit *emit, struct script_node *node);
/* The same, as it is stored in a place of the type `as`. */
void trace_script_emit_as(struct script_emit *emit, struct script_node *node,
			  const struct script_type *as);
/* Go on if it is true; otherwise by the list. */
void trace_script_emit_condition(struct script_emit *emit, struct script_node *node,
				 struct script_patch **falses);
/* Make 1 or 0 the value. */
void trace_script_emit_truth(struct script_emit *emit, struct script_node *node);
void trace_script_emit_binary(struct script_emit *emit, struct script_node *node);
/* Go on for a hit of the process of the script's parameters, if they name one. */
void trace_script_emit_process(struct script_emit *emit, struct script_patch **falses);
/* Put a value at `offset` of the block, as a value of the type `as`. */
void trace_script_emit_slot(struct script_emit *emit, struct script_node *node, uint32_t offset,
			    const struct script_type *as);
/* Copy a value from one place of the block to another, where it is to be of the type `as`. */
void trace_script_emit_copy(struct script_emit *emit, uint32_t from, const struct script_type *type,
			    uint32_t to, const struct script_type *as);
/* A table's value: to `to` of the block, if it is no word. */
void trace_script_emit_map(struct script_emit *emit, struct script_node *node, uint32_t to);
/* A tuple goes to the block; returns the offset of its part. */
uint32_t trace_script_emit_part(struct script_emit *emit, struct script_node *node);
/* Keys of a table to the block; returns where. */
uint32_t trace_script_emit_keys(struct script_emit *emit, const struct script_map *map,
				struct script_node *keys);
static inline bool script_is_word(const struct script_type *type)
{
	return type->kind == SCRIPT_INT || type->kind == SCRIPT_KSYM || type->kind == SCRIPT_USYM ||
	       type->kind == SCRIPT_POINTER || type->kind == SCRIPT_STRUCT ||
	       type->kind == SCRIPT_DATE;
}

/* Is a value of the table one word, as counts are? */
static inline bool script_map_has_words(const struct script_map *map)
{
	return script_is_word(&map->value) || map->value.kind >= SCRIPT_COUNT;
}

#endif
