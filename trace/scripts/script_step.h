/*
 * Shared by the files of steps: script_step.c, script_step_map.c about tables, script_step_text.c about texts
 * and stacks. See script.h. Probe context.
 */
#ifndef TRACE_SCRIPT_STEP_H
#define TRACE_SCRIPT_STEP_H

#include "script_tree.h"

enum script_step_kind {
	SCRIPT_STEP_BEGIN,    /* `offset` bytes of variables become 0, and no clock was read */
	SCRIPT_STEP_LOAD,     /* the word at `offset` */
	SCRIPT_STEP_STORE,    /* the value to the word at `offset` */
	SCRIPT_STEP_ARG,      /* argument number `to` */
	SCRIPT_STEP_RAW_ARG,  /* the same of a tracepoint */
	SCRIPT_STEP_MARK_ARG, /* the same of a marker */
	SCRIPT_STEP_RETVAL,
	SCRIPT_STEP_PID,
	SCRIPT_STEP_UID,
	SCRIPT_STEP_GID,
	SCRIPT_STEP_NSECS, /* less words[0] if `to` */
	SCRIPT_STEP_ELAPSED,
	SCRIPT_STEP_IP,
	SCRIPT_STEP_RAND,
	SCRIPT_STEP_CURTASK, /* less words[0] */
	SCRIPT_STEP_PACK,    /* the value with the thread group, see script_user.h */
	SCRIPT_STEP_UNPACK,  /* without */
	SCRIPT_STEP_COMM,    /* to `offset` */
	SCRIPT_STEP_PROBE,   /* to `offset` */
	SCRIPT_STEP_TEXT,    /* `data` to `offset`; texts fill words[0] bytes there */
	SCRIPT_STEP_COPY,    /* from words[0] to `offset`; words[1]: bytes there, and here above */
	SCRIPT_STEP_STR,     /* from the address value to `offset`, at most words[1] characters */
	SCRIPT_STEP_BUF, /* behind the length at `offset`, at most words[1]: of words[0] bytes, from the address value */
	SCRIPT_STEP_JOIN, /* texts whose addresses are at the value, with the text `data` between, to `offset` */
	SCRIPT_STEP_FIELD, /* a text of the event, the field `data`, to `offset` */
	SCRIPT_STEP_KSTACK, /* to `offset`, words[0] addresses; words[1] bytes in all, or up to a 0 */
	SCRIPT_STEP_USTACK,
	SCRIPT_STEP_READ,    /* `to` bytes at the address value + words[0] */
	SCRIPT_STEP_COMPARE, /* temps[to] with the value; words: binary, signed */
	SCRIPT_STEP_DIVIDE,  /* the same */
	SCRIPT_STEP_STRNCMP, /* texts at `offset` and words[0], up to words[1] characters: 0 or 1 */
	SCRIPT_STEP_SAME_TEXT, /* texts at `offset` and words[0]; words[1]: negated */
	SCRIPT_STEP_MAP_GET,   /* `data`, key at `offset` */
	SCRIPT_STEP_MAP_COPY,  /* the same to words[0], where the value is no word */
	SCRIPT_STEP_MAP_SET,   /* key at `offset`; the value */
	SCRIPT_STEP_MAP_PUT,   /* the same from words[0] */
	SCRIPT_STEP_MAP_ADD,   /* the value; the result is the new one */
	SCRIPT_STEP_MAP_DELETE,
	SCRIPT_STEP_MAP_NEXT, /* key and value, of words[1] bytes, to `offset`; behind the number at words[0], which it sets */
	SCRIPT_STEP_COUNT,
	SCRIPT_STEP_COUNTER, /* counter number `to` */
	SCRIPT_STEP_COUNTER_GET,
	SCRIPT_STEP_LEN,
	SCRIPT_STEP_AGGREGATE, /* the value */
	SCRIPT_STEP_OUT,       /* the format `data`, its values at `offset` */
	SCRIPT_STEP_EXIT,
	SCRIPT_STEP_LOOP, /* the program `data`, at most words[0] times; `to`: in a round of another one */
	SCRIPT_STEP_TEST, /* on if value - words[0] <= words[1], modulo 2^64; else at next[false] */
	SCRIPT_STEP_RAN,  /* the end of a clause: the run counts */
	SCRIPT_STEP_FAIL, /* the end of a clause whose condition is false */
	SCRIPT_STEP_AGAIN, /* the end of a round: the result is 1 */
	SCRIPT_STEP_STOP,  /* the end of a round, and of the loop */
	SCRIPT_STEP_LEAVE, /* the end of a round, and of the run */
	SCRIPT_NR_STEPS
};
extern const expr_step_fn trace_script_steps[SCRIPT_NR_STEPS];

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
void trace_script_step_map_next(struct expr_run *expr, const struct expr_insn *insn,
				uint64_t value);
void trace_script_step_count(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_counter(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_counter_get(struct expr_run *expr, const struct expr_insn *insn,
				   uint64_t value);
void trace_script_step_len(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_aggregate(struct expr_run *expr, const struct expr_insn *insn,
				 uint64_t value);

void trace_script_step_comm(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_probe(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_text(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_copy(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_str(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_buf(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_join(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_field(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_kstack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);
void trace_script_step_ustack(struct expr_run *expr, const struct expr_insn *insn, uint64_t value);

#endif
