/*
 * A filter, compiled: see filter.h.
 *
 *   a == 1 && (b < 2 || c ~ "x*")
 *
 *   insns:  [a == 1] --true--> [b < 2] --false--> [c ~ "x*"] --true--> passes
 *               \                  \--true--> passes      \--false--> fails
 *                \--false--> fails
 *
 * Each instruction is a test with two places to go on at, both further on, so an event costs at
 * most one run through all of them. Nearly all tests are the same one, FILTER_OP_TEST: eight bytes
 * of the event, some bits of them, and a range that these have to be in. It does all comparisons of
 * numbers, whatever their size and sign, and those of text in arrays, eight characters at a time.
 *
 *   filter_parse.c   from the text to the graph of instructions
 *   filter_pred.c    one comparison
 *   filter_number.c  comparisons of numbers as ranges of bits
 *   filter_value.c   fields, by name, and what can be compared with them
 *   filter_text.c    comparisons of text
 *   filter_cpus.c    lists of CPUs, and comparisons with them
 *   filter_build.c   memory, and what all instructions have in common
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
	FILTER_OP_CPU,	       /* the same of the number of the running CPU */
	FILTER_OP_CPU_IN,      /* the running CPU is in the mask at `data` */
	FILTER_OP_NUMBER_IN,   /* (8 bytes at `offset` & mask) >> span is */
	FILTER_OP_MASK_EQUAL,  /* the set of CPUs that is the value is the mask */
	FILTER_OP_MASK_SHARES, /* it has a CPU of the mask */
	FILTER_OP_TEXT,	       /* the text that is the value matches that at `data` */
};

/* Where texts and sets of CPUs are. */
enum filter_place {
	FILTER_PLACE_FIELD,   /* `size` bytes at `offset` */
	FILTER_PLACE_REST,    /* from `offset` to the end of the event */
	FILTER_PLACE_LOC,     /* where the word at `offset` says: TRACE_FIELD_DATA_LOC */
	FILTER_PLACE_REL,     /* TRACE_FIELD_REL_LOC */
	FILTER_PLACE_POINTER, /* where the pointer at `offset` leads */
	FILTER_PLACE_COMM,    /* the name of the running thread */
};

struct filter_insn {
	uint32_t offset; /* from the start of the event */
	uint8_t op;
	uint8_t place;
	uint8_t match;	 /* of a text: enum ftrace_match_type */
	bool is_negated; /* a value that cannot be read makes it false all the same */
	uint64_t mask;
	uint64_t lo;
	uint64_t span;
	/* Where to go on when the test is false, and when it is true. Or FILTER_FAIL, FILTER_PASS. */
	const struct filter_insn *next[2];
	const void *data;  /* a text, or words of 64 CPUs */
	uint32_t size;	   /* of the field */
	uint32_t data_len; /* of a text: characters; of a mask: CPUs */
};

#define FILTER_FAIL ((const struct filter_insn *)0)
#define FILTER_PASS ((const struct filter_insn *)1)

static inline bool filter_has_ended(const struct filter_insn *insn)
{
	return insn <= FILTER_PASS;
}

struct trace_filter {
	/* the first instruction, if that is possible; or always true */
	struct trace_event_test first;
	const struct filter_insn *rest; /* where to go on behind `first` */
	/* Events of so many bytes need nothing but FILTER_OP_TEST; UINT32_MAX: no event does. */
	uint32_t fast_len;
	uint32_t min_len; /* events have at least so many bytes */
	bool needs_head;  /* it asks for a field of struct trace_entry */
	size_t bytes;	  /* of the filter */
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

/* From `insn` on; the event has fast_len bytes at least. Does it pass? */
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

/* Words of Linux that more than one place uses. */
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

/* Note what is wrong, and at which index of the text. Returns `err`. */
int trace_filter_refuse(struct filter_compiler *compiler, int err, const char *why, size_t pos);
/* All instructions are there and linked: set what the filter's head says of them. */
void trace_filter_finish(struct filter_compiler *compiler);
/*
 * Compile the comparison at index `start` of the text, and set *out_end behind it. 0; -EPERM
 * without *error when there is none; -EINVAL.
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
	FILTER_CLASS_OTHER, /* no comparison is true of it */
};

struct filter_value {
	enum filter_class class;
	enum filter_place place;
	uint32_t offset;
	uint32_t size;
	bool is_signed;
};

/* The field of that name; false when there is none. */
bool trace_filter_value_find(const struct trace_event *event, const char *name, size_t len,
			     struct filter_value *out_value);

/* ---- Sets of CPUs ---- */

struct filter_cpus {
	uint64_t *mask;
	uint32_t nr; /* CPUs that there are: bits of the mask */
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
 * A filter with room for `max_preds` comparisons, with texts of `max_chars` characters in all. 0 or
 * -ENOMEM.
 */
int trace_filter_create(struct filter_compiler *compiler, size_t max_preds, size_t max_chars);
/*
 * The next instruction. Its next[] say whether the comparison that it belongs to is true, by
 * FILTER_FAIL and FILTER_PASS.
 */
struct filter_insn *trace_filter_add(struct filter_compiler *compiler, enum filter_op op);
/* The same for a value that is a text or a set of CPUs. */
struct filter_insn *trace_filter_add_place(struct filter_compiler *compiler, enum filter_op op,
					   const struct filter_value *value);
/* The event has to have the `bytes` bytes at `offset`. */
void trace_filter_needs(struct filter_compiler *compiler, uint32_t offset, uint32_t bytes);
/* Room for constant data that an instruction refers to; zeroed. */
void *trace_filter_add_data(struct filter_compiler *compiler, size_t bytes);

/* Always true, or always false. */
void trace_filter_add_constant(struct filter_compiler *compiler, bool is_true);
/* Compare a value of the class number, address or CPU with `number`. */
void trace_filter_add_number(struct filter_compiler *compiler, const struct filter_value *value,
			     enum filter_cmp cmp, uint64_t number);
/* Is the value, a number of 8 bytes or an address, from `first` to `last`, or is it not? */
void trace_filter_add_range(struct filter_compiler *compiler, const struct filter_value *value,
			    uint64_t first, uint64_t last, bool is_inside);
/* Is the value, a number or the running CPU, one of the CPUs? */
void trace_filter_add_number_in(struct filter_compiler *compiler, const struct filter_value *value,
				const struct filter_cpus *cpus);
/* The text in bytes `offset` to `offset` + `len` of the event is `text`. */
void trace_filter_add_chars(struct filter_compiler *compiler, uint32_t offset, const char *text,
			    uint32_t len, bool is_equal);

/* Compare a text with the `len` characters at `text`; `cmp` is one for text. */
void trace_filter_add_text(struct filter_compiler *compiler, const struct filter_value *value,
			   enum filter_cmp cmp, const char *text, size_t len);
/* Compare a number, the running CPU, or a set of CPUs with a set of CPUs. */
void trace_filter_add_cpus(struct filter_compiler *compiler, const struct filter_value *value,
			   enum filter_cmp cmp, const struct filter_cpus *cpus);

/*
 * Set the bits of cpus->mask, cpus->nr of them, that the `len` characters of `list` name: numbers
 * and ranges with commas between. False: it is no such list, or has a CPU that does not exist.
 */
bool trace_filter_cpus_parse(const char *list, size_t len, struct filter_cpus *cpus);

#endif
