/*
 * A filter, compiled: see filter.h.
 *
 *   a == 1 && (b < 2 || c ~ "x*")
 *
 *   insns:  [a == 1] --true--> [b < 2] --false--> [c ~ "x*"] --true--> passes
 *               \                  \--true--> passes      \--false--> fails
 *                \--false--> fails
 *
 * Each instruction is a test with two next instructions, both further on, so an event costs at most
 * one run through all of them. Nearly all tests are the same one, FILTER_OP_TEST: eight bytes of
 * the event, a mask for some of their bits, and a range for the result. It does all comparisons of
 * numbers, whatever their size and sign, and those of text in arrays, eight characters at a time.
 *
 *   filter_parse.c   from the text to the graph of instructions
 *   filter_pred.c    one comparison
 *   filter_number.c  comparisons of numbers as ranges of bits
 *   filter_value.c   fields, by name, and their classes of comparisons
 *   filter_text.c    comparisons of text
 *   filter_cpus.c    lists of CPUs, and comparisons with them
 *   filter_build.c   memory, and functions common to all instructions
 *   filter_match.c   running a filter
 */
#ifndef TRACE_FILTER_PRIVATE_H
#define TRACE_FILTER_PRIVATE_H

#include <trace/event.h>
#include <trace/event_probe.h>
#include <trace/platform.h>
#include "events/filter.h"

/* ---- Instructions ---- */

enum filter_op {
	FILTER_OP_TEST,	       /* (8 bytes at `offset` & mask) - lo <= span, modulo 2^64 */
	FILTER_OP_CPU,	       /* the number of the running CPU - lo <= span */
	FILTER_OP_CPU_IN,      /* the running CPU is in the mask at `data` */
	FILTER_OP_NUMBER_IN,   /* (8 bytes at `offset` & mask) >> span is in the mask at `data` */
	FILTER_OP_MASK_EQUAL,  /* the value, a set of CPUs, equals the mask */
	FILTER_OP_MASK_SHARES, /* the value, a set of CPUs, has a CPU of the mask */
	FILTER_OP_TEXT,	       /* the value, a text, matches the text at `data` */
};

/* Places of texts and sets of CPUs. */
enum filter_place {
	FILTER_PLACE_FIELD,   /* `size` bytes at `offset` */
	FILTER_PLACE_REST,    /* from `offset` to the end of the event */
	FILTER_PLACE_LOC,     /* described by the word at `offset`: TRACE_FIELD_DATA_LOC */
	FILTER_PLACE_REL,     /* described by the word at `offset`: TRACE_FIELD_REL_LOC */
	FILTER_PLACE_POINTER, /* at the address that is the pointer at `offset` */
	FILTER_PLACE_COMM,    /* the name of the running thread */
};

struct filter_insn {
	uint32_t offset; /* from the start of the event */
	uint8_t op;
	uint8_t place;
	uint8_t match;	 /* for a text: enum ftrace_match_type */
	bool is_negated; /* the opposite result; but a value that cannot be read stays false */
	uint64_t mask;
	uint64_t lo;
	uint64_t span;
	/*
	 * The next instruction when the test is false, and when it is true; or FILTER_FAIL,
	 * FILTER_PASS.
	 */
	const struct filter_insn *next[2];
	const void *data;  /* a text, or words of 64 CPUs */
	uint32_t size;	   /* of the field */
	uint32_t data_len; /* for a text: characters; for a mask: CPUs */
};

#define FILTER_FAIL ((const struct filter_insn *)0)
#define FILTER_PASS ((const struct filter_insn *)1)

static inline bool filter_has_ended(const struct filter_insn *insn)
{
	return insn <= FILTER_PASS;
}

struct trace_filter {
	/* The first instruction, if possible; or one that is always true. */
	struct trace_event_test first;
	const struct filter_insn *rest; /* the instruction behind `first` */
	/*
	 * Least length of events that need nothing but FILTER_OP_TEST; UINT32_MAX when no event
	 * does.
	 */
	uint32_t fast_len;
	uint32_t min_len; /* least length of an event */
	bool needs_head;  /* it uses a field of struct trace_entry */
	size_t bytes;	  /* of the filter's memory */
	struct filter_insn insns[];
};

/* ---- Running ---- */

static TRACE_ALWAYS_INLINE uint64_t filter_load8(const void *entry, uint32_t offset)
{
	uint64_t word;

	__builtin_memcpy(&word, (const uint8_t *)entry + offset, sizeof(word));
	return word;
}

static TRACE_ALWAYS_INLINE bool filter_is_in_range(const struct filter_insn *insn, uint64_t word)
{
	return (word & insn->mask) - insn->lo <= insn->span;
}

/* Run a filter from `insn` on; the event has at least fast_len bytes. Returns true if it passes. */
static TRACE_ALWAYS_INLINE bool filter_run_fast(const struct filter_insn *insn, const void *entry)
{
	do {
		if (filter_is_in_range(insn, filter_load8(entry, insn->offset)))
			insn = insn->next[true];
		else
			insn = insn->next[false];
	} while (!filter_has_ended(insn));
	return insn == FILTER_PASS;
}

/* ---- Compiling ---- */

/* Linux's messages that several places use. */
#define FILTER_ILLEGAL_OP    "Illegal operation for field type"
#define FILTER_INVALID_OP    "Invalid operator"
#define FILTER_INVALID_VALUE "Invalid value (did you forget quotes)?"
#define FILTER_NO_QUOTE	     "Missing matching quote"
#define FILTER_TOO_LONG	     "Operand too long"

struct filter_compiler {
	const struct trace_event *event;
	const char *text;
	struct trace_filter_error *error;
	struct trace_filter *filter;
	size_t nr_insns;
	uint8_t *data; /* the next free byte behind the instructions, at a multiple of 8 */
};

/* Record a mistake at index `pos` of the text. Returns `err`. */
int trace_filter_refuse(struct filter_compiler *compiler, int err, const char *why, size_t pos);
/* Set the filter's head when all its instructions are there and linked. */
void trace_filter_finish(struct filter_compiler *compiler);
/*
 * Compile the comparison at index `start` of the text, and set *out_end behind it. Returns 0;
 * -EPERM without *error when there is none; -EINVAL.
 */
int trace_filter_pred_compile(struct filter_compiler *compiler, size_t start, size_t *out_end);

/* ---- Values ---- */

enum filter_class {
	FILTER_CLASS_NUMBER,
	FILTER_CLASS_ADDRESS, /* trace_plat_ip_pack() */
	FILTER_CLASS_CPU,     /* the running CPU */
	FILTER_CLASS_MASK,    /* a set of CPUs */
	FILTER_CLASS_TEXT,
	FILTER_CLASS_STACK, /* addresses of callers */
	FILTER_CLASS_OTHER, /* comparisons with it are always false */
};

struct filter_value {
	enum filter_class class;
	enum filter_place place;
	uint32_t offset;
	uint32_t size;
	bool is_signed;
};

/* Find a field by name. Returns false when there is none. */
bool trace_filter_value_find(const struct trace_event *event, const char *name, size_t len,
			     struct filter_value *out_value);

/* ---- Sets of CPUs ---- */

struct filter_cpus {
	uint64_t *mask;
	uint32_t nr; /* existing CPUs: bits of the mask */
	uint32_t first;
	uint32_t nr_in; /* bits that are set */
};

/* ---- Comparisons: instructions of a filter ---- */

enum filter_cmp {
	FILTER_CMP_GLOB,
	FILTER_CMP_NE,
	FILTER_CMP_EQ,
	FILTER_CMP_LE,
	FILTER_CMP_LT,
	FILTER_CMP_GE,
	FILTER_CMP_GT,
	FILTER_CMP_AND,
	FILTER_NR_CMPS,
};

/*
 * Make a filter with room for `max_preds` comparisons, with texts of `max_chars` characters in all.
 * Returns 0 or -ENOMEM.
 */
int trace_filter_create(struct filter_compiler *compiler, size_t max_preds, size_t max_chars);
/*
 * Add an instruction. Its next[] give the result of its comparison, by FILTER_FAIL and FILTER_PASS.
 */
struct filter_insn *trace_filter_add(struct filter_compiler *compiler, enum filter_op op);
/* Add an instruction for a value that is a text or a set of CPUs. */
struct filter_insn *trace_filter_add_place(struct filter_compiler *compiler, enum filter_op op,
					   const struct filter_value *value);
/* Demand events with `bytes` bytes at `offset`. */
void trace_filter_needs(struct filter_compiler *compiler, uint32_t offset, uint32_t bytes);
/* Add zeroed room for constant data of an instruction. */
void *trace_filter_add_data(struct filter_compiler *compiler, size_t bytes);

/* Add an instruction that is always true, or always false. */
void trace_filter_add_constant(struct filter_compiler *compiler, bool is_true);
/* Add the comparison of a number, an address or a CPU with `number`. */
void trace_filter_add_number(struct filter_compiler *compiler, const struct filter_value *value,
			     enum filter_cmp cmp, uint64_t number);
/*
 * Add the test that a value, a number of 8 bytes or an address, is between `first` and `last`, or
 * is not.
 */
void trace_filter_add_range(struct filter_compiler *compiler, const struct filter_value *value,
			    uint64_t first, uint64_t last, bool is_inside);
/* Add the test that a value, a number or the running CPU, is one of the CPUs. */
void trace_filter_add_number_in(struct filter_compiler *compiler, const struct filter_value *value,
				const struct filter_cpus *cpus);
/* Add the test that bytes `offset` to `offset` + `len` of the event are `text`. */
void trace_filter_add_chars(struct filter_compiler *compiler, uint32_t offset, const char *text,
			    uint32_t len, bool is_equal);

/* Add the comparison of a text with the `len` characters at `text`; `cmp` is one for texts. */
void trace_filter_add_text(struct filter_compiler *compiler, const struct filter_value *value,
			   enum filter_cmp cmp, const char *text, size_t len);
/* Add the comparison of a number, the running CPU, or a set of CPUs with a set of CPUs. */
void trace_filter_add_cpus(struct filter_compiler *compiler, const struct filter_value *value,
			   enum filter_cmp cmp, const struct filter_cpus *cpus);

/*
 * Set the bits of cpus->mask, which has cpus->nr of them, for the CPUs in the `len` characters of
 * `list`: numbers and ranges with commas between. Returns false for no such list, or a CPU that
 * does not exist.
 */
bool trace_filter_cpus_parse(const char *list, size_t len, struct filter_cpus *cpus);

#endif
