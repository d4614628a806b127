/*
 * Shared by the files of steps: script_step.c, script_step_map.c about tables, script_step_text.c about texts
 * and stacks. See script.h. Probe context.
 */
#ifndef TRACE_SCRIPT_STEP_H
#define TRACE_SCRIPT_STEP_H

#include "script_tree.h"

static inline struct script_run *script_step_run(struct expr_run *expr)
{
	return (struct script_run *)(void *)expr; /* its first member */
}

static inline uint64_t *script_step_word(struct expr_run *expr, uint32_t offset)
{
	return (uint64_t *)(void *)(script_step_run(expr)->bytes + offset);
}

static inline struct script_cpu *script_step_cpu(struct expr_run *expr)
{
	return (struct script_cpu *)(void *)expr; /* the run is its first member */
}

/* Does a comparison hold? */
bool trace_script_holds(enum script_binary binary, bool is_signed, uint64_t a, uint64_t b);

void trace_script_step_map_get(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_map_set(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_map_copy(struct expr_run *expr, const struct expr_insn *insn,
				uint64_t value);
void trace_script_step_map_put(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_map_add(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_map_delete(struct expr_run *expr, const struct expr_insn *insn,
				  uint64_t value);
void trace_script_step_count(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_counter(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_counter_get(struct expr_run *expr, const struct expr_insn *insn,
				   uint64_t value);
void trace_script_step_aggregate(struct expr_run *expr, const struct expr_insn *insn,
				 uint64_t value);

void trace_script_step_comm(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_probe(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_text(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_copy(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_str(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_field(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_kstack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_ustack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);

#endif
