/*
 * Steps of arguments: what fetch_program.c makes of them, and fetch_run.c carries out.
 *
 * Context: running - any, NMI included.
 */
#ifndef FETCH_STEP_H
#define FETCH_STEP_H

#include "expr/expr.h"

struct trace_seq;

/*
 * First the beginnings of values, of which the first two are instructions of expr.h; then the ends,
 * which store the value, or what is at the address value + `operand`.
 */
enum fetch_code {
	FETCH_LOAD,	    /* EXPR_FIELD: `size` bytes of the probe's data, at `operand` */
	FETCH_VALUE,	    /* EXPR_CONST: `operand` itself */
	FETCH_ADDRESS,	    /* the address of the data at `operand` */
	FETCH_LOCATED,	    /* the address that a __data_loc there leads to, counted from `from` */
	FETCH_LOCATED_BACK, /* the same for a __rel_loc */
	FETCH_HEAD,	    /* the 8 bytes of the event at `operand`, which its head has */
	FETCH_THREAD, /* the address of the running thread, `operand` in front of its trace_thread */
	FETCH_THIS_CPU,	 /* value: the address on this CPU of the per-CPU variable there */
	FETCH_READ_USER, /* value: the 8 bytes of the program at value + `operand` */
	/* These two are beginning and end. */
	FETCH_LITERAL, /* the text of `size` characters at the address `operand` */
	FETCH_COMM,    /* the name of the thread */

	FETCH_STORE,   /* the first `size` bytes of the value */
	FETCH_MEMORY,  /* `size` bytes */
	FETCH_BITS_OF, /* `count` numbers of `size` bytes, bits of each */
	FETCH_TEXT_AT, /* a text */
	FETCH_TEXTS,   /* the texts that `count` pointers lead to */
	FETCH_NAME_OF, /* the value as a symbol with an offset, a text */
	FETCH_NO_BYTES, /* instead of one of these, for an address that cannot be read: `size` zeros */
	FETCH_NO_TEXTS, /* `(fault)`, `count` times */
	/*
	 * All in one: a number, one of 8 bytes, a text, at the address `operand` plus the word of
	 * the probe's data at `from`.
	 */
	FETCH_PEEK,
	FETCH_PEEK_WORD,
	FETCH_PEEK_TEXT,
	FETCH_NR_CODES,
};

/* Data of a step: insn->own. */
struct fetch_own {
	uint64_t operand;
	uint16_t size;
	uint16_t at;	     /* in the event */
	uint16_t from;	     /* in the data; FETCH_NOWHERE: nothing is added */
	uint8_t count;	     /* not 0 */
	uint8_t left, right; /* shifts, of a number of 8 bytes */
	bool is_signed;
	bool is_user;	   /* the bytes, or the pointers to texts, are the program's */
	bool is_user_text; /* the text is, or the texts are */
};
_Static_assert(sizeof(struct fetch_own) <= sizeof(struct expr_own), "it fits in an instruction");

/* By enum fetch_code; NULL for instructions of expr.h. */
extern const expr_step_fn trace_fetch_steps[FETCH_NR_CODES];
/* trace_expr_show() of an argument's program. */
void trace_fetch_show(const struct expr_program *program, uint32_t number, struct trace_seq *seq);

#endif
