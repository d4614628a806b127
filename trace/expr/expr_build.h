/*
 * Making programs of expressions: see expr.h.
 *
 *   trace_expr_create()      room for so many instructions, and bytes of constants beside them
 *   trace_expr_add_...()     one instruction; or a comparison, which may take several
 *   trace_expr_finish()      checks, and facts that running needs
 *
 * A front end that asked for too little room, or made a program that is not bounded, is told so by
 * trace_expr_finish() alone: until then instructions without room go into a spare one.
 *
 * A comparison's instructions lie one behind the other. Their next[] give its result, by EXPR_FAIL
 * and EXPR_PASS, which the front end replaces by the next ones: see expr_cond.h.
 *
 * Context: thread.
 */
#ifndef TRACE_EXPR_BUILD_H
#define TRACE_EXPR_BUILD_H

#include "expr.h"
#include "expr_value.h"

struct expr_build {
	struct expr_program *program; /* of the maker, until it is finished */
	uint32_t max;		      /* instructions that there is room for */
	uint8_t *data, *data_end;     /* the next free byte for constants, at a multiple of 8 */
	const uint8_t *data_start;
	bool is_full; /* there was no room */
	bool has_own; /* EXPR_OWN is allowed: the program is run by its steps */
	struct expr_insn spare;
};

/*
 * Make an empty program with room for `max_insns` instructions, and `max_data` bytes of constants;
 * each constant takes a multiple of 8. Returns 0; -ENOMEM; -E2BIG.
 */
int trace_expr_create(struct expr_build *build, uint32_t max_insns, size_t max_data);
/*
 * Check the program, and make it ready to be run. Returns 0; -EINVAL: it is not bounded; -E2BIG: it
 * found no room. Then it can only be freed.
 */
int trace_expr_finish(struct expr_build *build);
/* Is the program bounded as expr_check.c says? For trace_expr_finish(). */
bool trace_expr_check(const struct expr_build *build);

/* Add an instruction, all other members 0. Never NULL. */
struct expr_insn *trace_expr_add(struct expr_build *build, enum expr_op op);
/* Add a copy of one that has no constants; trace_expr_needs() is the caller's. */
void trace_expr_add_copy(struct expr_build *build, const struct expr_insn *insn);
/* Take back the instructions from number `first` on, to which none of the others leads. */
void trace_expr_cut(struct expr_build *build, uint32_t first);
/* The place of the next instruction. */
const struct expr_insn *trace_expr_here(const struct expr_build *build);
/* Add one for a text or set at the place of a value. */
struct expr_insn *trace_expr_add_place(struct expr_build *build, enum expr_op op,
				       const struct expr_value *value);
/* Demand data with `bytes` bytes at `offset`. */
void trace_expr_needs(struct expr_build *build, uint32_t offset, uint32_t bytes);
/* Add zeroed room for a constant; NULL: there is none. */
void *trace_expr_add_data(struct expr_build *build, size_t bytes);
/* Add the instruction that makes a number, an address (unpacked) or the CPU the value. */
void trace_expr_add_load(struct expr_build *build, const struct expr_value *value);
/* Add EXPR_DIVIDE or EXPR_ROUND by a number that is not 0. */
void trace_expr_add_division(struct expr_build *build, enum expr_op op, uint64_t by);

/* ---- Comparisons ---- */

enum expr_cmp {
	EXPR_CMP_GLOB,
	EXPR_CMP_NE,
	EXPR_CMP_EQ,
	EXPR_CMP_LE,
	EXPR_CMP_LT,
	EXPR_CMP_GE,
	EXPR_CMP_GT,
	EXPR_CMP_AND,
	EXPR_NR_CMPS,
};

/* Most instructions of a comparison of numbers or sets. */
#define EXPR_CMP_INSNS 2u

/* Add a test that is always true, or always false. */
void trace_expr_add_constant(struct expr_build *build, bool is_true);
/* Add the comparison of a number, an address or the CPU with `number`. */
void trace_expr_add_number(struct expr_build *build, const struct expr_value *value,
			   enum expr_cmp cmp, uint64_t number);
/* Add that of the value made last, a number of 64 bits. */
void trace_expr_add_compare(struct expr_build *build, bool is_signed, enum expr_cmp cmp,
			    uint64_t number);
/*
 * Add the test that a value, a number of 8 bytes or an address, is between `first` and `last`, or
 * is not.
 */
void trace_expr_add_range(struct expr_build *build, const struct expr_value *value, uint64_t first,
			  uint64_t last, bool is_inside);
/*
 * Add the comparison of a text with the `len` characters at `text`: EXPR_CMP_EQ, EXPR_CMP_NE, or
 * EXPR_CMP_GLOB. It takes one instruction for each 8 characters and NUL, and len + 1 bytes of
 * constants.
 */
void trace_expr_add_text(struct expr_build *build, const struct expr_value *value,
			 enum expr_cmp cmp, const char *text, size_t len);

/* ---- Sets of CPUs ---- */

struct expr_cpus {
	uint64_t *mask; /* from trace_expr_add_data() */
	uint32_t nr;	/* existing CPUs: bits of the mask */
	uint32_t first;
	uint32_t nr_in; /* bits that are set */
};

/* Bytes of a mask of all CPUs. */
size_t trace_expr_cpus_bytes(void);
/*
 * Make a mask of the CPUs in `list`, numbers and ranges with commas between. Returns false for no
 * such list, or a CPU that does not exist.
 */
bool trace_expr_parse_cpus(struct expr_build *build, const struct expr_word *list,
			   struct expr_cpus *out_cpus);
/*
 * Add the comparison of a number, the running CPU, or a set of CPUs with a set of CPUs: EXPR_CMP_EQ,
 * EXPR_CMP_NE, or EXPR_CMP_AND.
 */
void trace_expr_add_cpus(struct expr_build *build, const struct expr_value *value,
			 enum expr_cmp cmp, const struct expr_cpus *cpus);

#endif
