/*
 * Programs of expressions: the one form into which filters, keys and values of histograms,
 * arguments of probes and conditions of monitors are compiled. docs/how-expressions-work.md draws
 * the way from a text to a program.
 *
 *   a == 1 && (b < 2 || c ~ "x*")
 *
 *   insns:  [a == 1] --true--> [b < 2] --false--> [c ~ "x*"] --true--> passes
 *               \                  \--true--> passes      \--false--> fails
 *                \--false--> fails
 *
 * An instruction is a test, which ends the program or goes on at one of two instructions; or it
 * makes a value of the last one, and goes on at the instruction behind it. All ways lead further
 * on, so a run costs at most one pass through all instructions. A program stores to the scratch of
 * its run alone, and reads its data, constants beside the instructions, and other memory through
 * trace_plat_read(). trace_expr_finish() refuses all others: see expr_check.c.
 *
 * Nearly all tests are the same one, EXPR_TEST: eight bytes of the data, a mask for some of their
 * bits, and a range for the result. It does all comparisons of numbers, whatever their size and
 * sign, and those of text in arrays, eight characters at a time.
 *
 * There are two ways to run a program:
 *   trace_expr_run()  a loop, which knows the instructions of this file
 *   insn->step        a function for each instruction, which ends by calling that of the next one;
 *                     the compiler makes the call a jump. A front end has steps of its own,
 *                     EXPR_OWN, between those of this file.
 *
 *   expr_run.c      both ways
 *   expr_text.c     tests of texts and sets of bits
 *   expr_build.h    making programs: memory, comparisons
 *   expr_cond.h     && || ! and parentheses
 *   expr_check.c    bounds of a program
 *   expr_value.h    typed names
 *   expr_show.h     a program as text
 *   expr_cursor.h   words and numbers of a text, and the places of mistakes
 *
 * Context:   running - any, NMI included, preemption off. The rest - thread.
 * Ownership: a program belongs to its maker, and does not change when it is finished. It refers
 *            neither to types of events nor to the text that it was compiled from.
 */
#ifndef TRACE_EXPR_H
#define TRACE_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/event_probe.h>

#define EXPR_TEMPS_MAX 16u   /* words of scratch */
#define EXPR_STEPS_MAX 4096u /* instructions of a program that is run by its steps */

/* Tests, then values. `value` is the number made last; 0 at first. */
enum expr_op {
	EXPR_TEST,	      /* (8 bytes at `offset` & mask) - lo <= span, modulo 2^64 */
	EXPR_TEST_VALUE,      /* (value & mask) - lo <= span */
	EXPR_TEST_IN,	      /* bit number `value` is in the set of bits at `data` */
	EXPR_TEST_SET_EQUAL,  /* the set of bits at a place equals that at `data` */
	EXPR_TEST_SET_SHARES, /* they have a bit in common */
	EXPR_TEST_TEXT,	      /* the text at a place matches the pattern at `data` */

	EXPR_FIELD,   /* 8 bytes at `offset`, shifted right by `shift` with the sign, & mask */
	EXPR_CONST,   /* `operand` */
	EXPR_CPU,     /* the running CPU */
	EXPR_PID,     /* the running thread */
	EXPR_ADDRESS, /* trace_plat_ip_unpack() of value */
	/*
	 * `size` bytes at the address value + `operand`; on at next[true], or, when they cannot be
	 * read, with 0 at next[false].
	 */
	EXPR_READ,
	EXPR_BITS,   /* value << left >> shift, with the sign if is_signed */
	EXPR_NEG,    /* 0 - value */
	EXPR_LOG2,   /* Linux's binary logarithm: rounded up, and 0 for 0 */
	EXPR_DIVIDE, /* value / operand */
	EXPR_ROUND,  /* value, down to a multiple of `operand` */
	EXPR_SAVE,   /* temps[to] becomes value */
	EXPR_ADD,    /* temps[to] + value, and so on; all without sign */
	EXPR_SUB,
	EXPR_MUL,
	EXPR_DIV, /* by 0: all bits, as Linux's histograms have it */
	EXPR_MOD, /* by 0: 0 */
	EXPR_AND,
	EXPR_OR,
	EXPR_XOR,
	EXPR_SHL, /* by 64 or more: 0 */
	EXPR_SHR,
	EXPR_END, /* of a program that computes; its result is value */
	EXPR_OWN, /* the step of a front end; it may go on at next[false], if that is not EXPR_FAIL */
	EXPR_NR_OPS,
};

/* Places of texts and sets of bits. */
enum expr_place {
	EXPR_PLACE_FIELD,   /* `size` bytes at `offset` */
	EXPR_PLACE_REST,    /* from `offset` to the end of the data */
	EXPR_PLACE_LOC,	    /* described by the word at `offset`: TRACE_FIELD_DATA_LOC */
	EXPR_PLACE_REL,	    /* described by the word at `offset`: TRACE_FIELD_REL_LOC */
	EXPR_PLACE_POINTER, /* a text at the address that is the pointer at `offset` */
	EXPR_PLACE_USER,    /* the same, in the memory of the running program */
	EXPR_PLACE_COMM,    /* the name of the running thread */
	EXPR_NR_PLACES,
};

/* The state of a run. A front end's own run begins with it. Nothing of `temps` need be set. */
struct expr_run {
	const uint8_t *data; /* an event, registers, or arguments */
	uint32_t len;
	uint64_t result; /* of a program that is run by its steps, set by EXPR_END */
	uint64_t temps[EXPR_TEMPS_MAX];
};

struct expr_insn;
typedef void (*expr_step_fn)(struct expr_run *run, const struct expr_insn *insn, uint64_t value);

/* A constant, text or set, of a test; its place in the data is `offset` and insn->place. */
struct expr_const {
	const void *data; /* for sets, words of 64 bits */
	uint32_t size;	  /* of the place, if it is EXPR_PLACE_FIELD */
	uint32_t len;	  /* characters; for sets: bits */
	uint8_t match;	  /* for texts: enum ftrace_match_type */
	bool is_negated;  /* the opposite result; but a value that cannot be read stays false */
};

/* A number, for EXPR_CONST, EXPR_DIVIDE, EXPR_ROUND, EXPR_READ, EXPR_BITS. */
struct expr_number {
	uint64_t operand;
	uint64_t magic; /* (2^64 - 1) / operand, rounded down */
	uint8_t size;	/* 1, 2, 4, 8 */
	uint8_t left;
	bool is_signed;
};

/* Data of a step of a front end. */
struct expr_own {
	const void *data;
	uint64_t words[2];
};

struct expr_insn {
	expr_step_fn step;
	/* A test's next instruction when it is false, and when it is true; or EXPR_FAIL, EXPR_PASS. */
	const struct expr_insn *next[2];
	uint32_t offset; /* from the start of the data */
	uint8_t op;
	uint8_t place;	/* enum expr_place */
	uint8_t shift;	/* 0 to 63 */
	uint8_t to;	/* index in temps[] */
	uint16_t saved; /* bit n: temps[n] is set on each way to it; by expr_check.c */
	union {
		/* For EXPR_TEST, EXPR_TEST_VALUE; the mask of EXPR_FIELD. */
		struct {
			uint64_t mask, lo, span;
		};
		struct expr_const with;
		struct expr_number number;
		struct expr_own own;
	};
};

#define EXPR_FAIL ((const struct expr_insn *)0)
#define EXPR_PASS ((const struct expr_insn *)1)

static inline bool expr_has_ended(const struct expr_insn *insn)
{
	return insn <= EXPR_PASS;
}

static inline bool expr_is_test(enum expr_op op)
{
	return op < EXPR_FIELD;
}

struct expr_program {
	/*
	 * Of a program of tests: the first test, if possible, which the probe of an event makes
	 * before all else; or one that is always true. It needs no head of the event, and reads no
	 * byte behind min_len.
	 */
	struct trace_event_test first;
	const struct expr_insn *rest; /* the instruction behind `first` */
	/*
	 * Least length of data for which EXPR_TEST alone is needed; UINT32_MAX when more is
	 * needed for any.
	 */
	uint32_t fast_len;
	uint32_t min_len; /* least length of data that is read */
	bool needs_head;  /* it reads a part of struct trace_entry */
	uint32_t nr;	  /* of instructions */
	size_t bytes;	  /* of all its memory */
	struct expr_insn insns[];
};

/* ---- Running ---- */

/*
 * Run the instructions from `insn` on, of a program without EXPR_OWN; run->len is not less than
 * its min_len. Returns its value, or 1 when it passes and 0 when it fails.
 */
uint64_t trace_expr_run(struct expr_run *run, const struct expr_insn *insn);
/* Do the `len` bytes at `data` pass the program: is its value not 0? Fewer than it reads do not. */
bool trace_expr_match(const struct expr_program *program, const void *data, uint32_t len);
/* The value of one of EXPR_ADD to EXPR_SHR. */
uint64_t trace_expr_combine(enum expr_op op, uint64_t left, uint64_t right);
/* The steps of the instructions but EXPR_OWN. */
extern const expr_step_fn trace_expr_steps[EXPR_OWN];

static TRACE_ALWAYS_INLINE uint64_t expr_load8(const void *data, uint32_t offset)
{
	uint64_t word;

	__builtin_memcpy(&word, (const uint8_t *)data + offset, sizeof(word));
	return word;
}

static TRACE_ALWAYS_INLINE bool expr_is_in_range(const struct expr_insn *insn, uint64_t word)
{
	return (word & insn->mask) - insn->lo <= insn->span;
}

static TRACE_ALWAYS_INLINE uint64_t expr_field(const struct expr_insn *insn, const void *data)
{
	return (uint64_t)((int64_t)expr_load8(data, insn->offset) >> insn->shift) & insn->mask;
}

/* Run EXPR_TEST alone, from `insn` on; the data has at least fast_len bytes. */
static TRACE_ALWAYS_INLINE bool expr_run_fast(const struct expr_insn *insn, const void *data)
{
	do {
		if (expr_is_in_range(insn, expr_load8(data, insn->offset)))
			insn = insn->next[true];
		else
			insn = insn->next[false];
	} while (!expr_has_ended(insn));
	return insn == EXPR_PASS;
}

/* End a step: go on with the next instruction, and `value`. */
static TRACE_ALWAYS_INLINE void expr_next(struct expr_run *run, const struct expr_insn *insn,
					  uint64_t value)
{
	insn++;
	TRACE_OPAQUE(insn); /* one register for the instruction and its function */
	insn->step(run, insn, value);
}

/* Free a program that no context is using any more; NULL is allowed. */
void trace_expr_free(struct expr_program *program);

#endif
