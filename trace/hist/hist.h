/*
 * Histograms: a trigger `hist:keys=...:vals=...` counts the events of a type by the values of some
 * of their fields. What a user writes is compiled into a list of operations, which probes run.
 *
 *   hist_parse.c    the parts of the text: keys=, vals=, sort= and so on
 *   hist_sort.c     sort=
 *   hist_field.c    a field with its modifier, as operations; which words name one
 *   hist_expr.c     expressions, variables
 *   hist_program.c  all that is to be done at an event, as one list of operations
 *   hist_run.c      the probe: computes the key, finds its entry, adds
 *   hist_plain.c    the same for the simplest histograms, in fewer instructions
 *   hist_words.c    texts and stacks, as words of a key
 *   hist_spec.c     a histogram as the text of a trigger
 *   hist_view.c     a copy of its entries, sorted: what is shown
 *   hist_show.c     that as text; hist_picture.c as a picture, hist_folded.c as stacks,
 *                   hist_debug.c what a histogram consists of
 *   hist_trigger.c  the commands of the file `trigger`
 *   hist_action.h   what else is to happen when an event is counted
 *
 * An entry of the table (hist_map.h):
 *
 *   | hits | key: 1 to 3 parts | sums of values | name of the thread | which variables are set |
 *   | variables | values that actions keep |
 *
 * Context:   trace_hist_run() - any, NMI included, preemption off. The rest - thread, config lock held.
 * Locking:   the config lock.
 * Ownership: counted references; the last one to be put frees it.
 */
#ifndef HIST_H
#define HIST_H

#include <trace/event.h>
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include "hist_map.h"
#include "events/trigger.h"

#define HIST_KEYS_MAX	 3u
#define HIST_VALS_MAX	 3u /* with the hit count */
#define HIST_VARS_MAX	 16u
#define HIST_REFS_MAX	 16u
#define HIST_ACTIONS_MAX 8u
#define HIST_SORT_MAX	 2u
#define HIST_TEXT_MAX	 256u /* bytes of a text that count, with its NUL */
#define HIST_STACK_MAX	 16u  /* addresses */
#define HIST_KEY_BYTES	 384u
#define HIST_OPS_MAX	 160u
#define HIST_TEMPS_MAX	 8u
#define HIST_SIZE	 2048u
#define HIST_SIZE_MIN	 128u
#define HIST_SIZE_MAX	 131072u
#define HIST_COMM_WORDS	 (TRACE_COMM_LEN / 8u)
#define HIST_STACK_WORDS ((HIST_STACK_MAX + 2u) / 2u) /* with a 0 at the end */

struct hist;
struct hist_action;
struct hist_records;
struct hist_step;
struct trace_array;
struct trace_event_call;
struct trace_event_file;
struct trace_seq;

/* What an operation does to the accumulator; `temps` keep operands of expressions. */
enum hist_code {
	HIST_OP_NONE,
	HIST_OP_FIELD, /* 8 bytes of the event at `offset`, shifted right, and the bits `value` */
	HIST_OP_CONST, /* `value` */
	HIST_OP_PID,
	HIST_OP_CPU,
	HIST_OP_TIME,	 /* in the instance's clock */
	HIST_OP_ADDRESS, /* a packed address becomes a whole one */
	HIST_OP_LOG2,
	HIST_OP_ROUND, /* down to a multiple of `value`; `magic` is 2^64 / value */
	HIST_OP_DIVIDE,
	HIST_OP_SAVE, /* to temps[to] */
	HIST_OP_ADD,  /* temps[to] + accumulator, and so on */
	HIST_OP_SUB,
	HIST_OP_MUL,
	HIST_OP_DIV,
	HIST_OP_NEG,
	HIST_OP_REF, /* refs[to], of another histogram */
	HIST_OP_VAR, /* vars[to], as this event has set it */
	/* These make several words, and stand alone. */
	HIST_OP_TEXT,	   /* in the event, of `size` bytes; `shift` is hist_plain.c's */
	HIST_OP_DATA_TEXT, /* behind its fixed part, by a __data_loc */
	HIST_OP_REL_TEXT,
	HIST_OP_POINTER_TEXT, /* anywhere; the event has its address */
	HIST_OP_COMM,	      /* the running thread's */
	HIST_OP_STACK,
	HIST_OP_DATA_STACK, /* an array of addresses in the event */
	HIST_OP_REF_WORDS,  /* refs[to] points to them */
};

struct hist_op {
	uint8_t code; /* enum hist_code */
	uint8_t to;
	uint8_t shift;
	bool is_last; /* of a value */
	uint16_t offset;
	uint16_t size;
	uint64_t value;
	uint64_t magic;
};

enum hist_kind {
	HIST_NUMBER,
	HIST_TEXT,
	HIST_STACK,
};

enum hist_modifier {
	HIST_PLAIN,
	HIST_HEX,
	HIST_SYM,
	HIST_SYM_OFFSET,
	HIST_SYSCALL,
	HIST_EXECNAME,
	HIST_LOG2,
	HIST_BUCKETS,
	HIST_USECS,
	HIST_PERCENT,
	HIST_GRAPH,
	HIST_STRING,
	HIST_STACKTRACE,
	HIST_NR_MODIFIERS,
};
/* The word behind the point; NULL for HIST_PLAIN. */
extern const char *const trace_hist_modifier_names[HIST_NR_MODIFIERS];

/* A key, a value, a variable: what is computed of an event, and how it is shown. */
struct hist_value {
	const char *name; /* of the field, or the text of the expression */
	const char *type; /* as in `format`; of an expression that of its first operand */
	const char *var;  /* name of the variable; NULL: it is none */
	const struct trace_event_field *field; /* NULL: something else */
	uint8_t kind;			       /* enum hist_kind */
	uint8_t modifier;		       /* enum hist_modifier */
	bool is_signed;
	bool is_cpu;
	bool is_time; /* a time stamp: an action or an expression may want it in microseconds */
	bool is_expression;
	bool is_constant; /* the number `constant`, whatever the event */
	bool is_fixed;	  /* a text in an array of `bytes` */
	bool is_ref;	  /* $name alone */
	uint8_t ref;	  /* with is_ref: index of refs[]; HIST_REFS_MAX: an own variable */
	bool has_refs;	  /* it refers to a variable */
	bool is_hits;	  /* hitcount with a modifier, beside that without one */
	uint16_t bytes;	  /* of the value: 1, 2, 4, 8, or the longest text */
	uint16_t op;	  /* its first operation */
	uint16_t words;	  /* in an entry, at most */
	uint16_t at;	  /* word of an entry, for sums and variables */
	uint64_t buckets;
	uint64_t constant;
};

/* A variable of another histogram that operations or actions use. */
struct hist_ref {
	struct hist *hist;
	uint16_t var;	   /* index in vars[] */
	bool is_consumed;  /* reading takes it away: it is in an expression */
	bool is_qualified; /* it was named with its event, the first time */
};

struct hist_sort {
	uint8_t index; /* 0: hits; values from 1; behind them keys */
	bool is_descending;
};

/* Everything that the list of operations needs of a histogram comes first. */
struct hist {
	_Atomic bool is_paused;
	bool has_comm; /* entries keep the name of the thread that made them */
	uint8_t nr_keys, nr_vals, nr_vars, nr_refs, nr_sort, nr_actions;
	uint16_t nr_ops;
	uint16_t sums_at, comm_at, set_at; /* words of an entry */
	ring_clock_fn clock;		   /* NULL: trace_plat_clock_ns() */
	struct hist_map *map;		   /* own_map, or that of `shared` */
	struct hist_step *program;	   /* what trace_hist_run() runs, or NULL: hist_program.h */
	const struct hist_op *sum_ops;	   /* hist_plain.c: those of the values */
	struct hist_op ops[HIST_OPS_MAX];

	struct hist_value keys[HIST_KEYS_MAX];
	struct hist_value vals[HIST_VALS_MAX - 1]; /* without the hit count */
	struct hist_value vars[HIST_VARS_MAX];
	struct hist_ref refs[HIST_REFS_MAX];
	struct hist_sort sort[HIST_SORT_MAX];
	struct hist_action *actions[HIST_ACTIONS_MAX];
	struct hist_records *records; /* what save() keeps, or NULL; those of `shared` */
	uint16_t record_at;	      /* word of an entry for one of them */
	bool no_hitcount;
	bool is_for_field; /* made for a field that an action of another histogram takes */
	bool uses_time;
	bool uses_head; /* it counts by a field of struct trace_entry */
	uint32_t size;
	const char *name; /* NULL: none */
	const char *clock_name;
	char *text; /* what was written, in pieces; names point into it */
	size_t text_bytes;
	struct trace_array *tr;
	struct trace_event_call *call;
	struct hist_map own_map;
	struct hist *shared; /* another one of the same name, whose table this one uses; or NULL */
	uint32_t nr_holders; /* references */
	uint32_t nr_readers; /* of nr_holders: refs[] of others */
	struct hist *next;   /* of all histograms */
	size_t program_bytes;
};

/* ---- hist_parse.c ---- */

/* What is wrong with a text. */
struct hist_error {
	const char *why;
	const char *at;
};

/* What is to be done with a histogram, apart from what it consists of. */
struct hist_wish {
	bool is_removal; /* set by the caller */
	bool pause, cont, clear;
};

/*
 * Compile `text`, such as `keys=pid:vals=bytes`, for events of `file`. `text` is not changed, and
 * error->at points into it. 0; -EINVAL or another -errno, with error->why NULL when there is
 * nothing to be said; -ENOMEM. The caller has the only reference.
 */
int trace_hist_create(struct trace_event_file *file, const char *text, struct hist **out_hist,
		      struct hist_wish *wish, struct hist_error *error);
void trace_hist_put(struct hist *hist);
/* Count in the table of `other`, which counts the same in the same way. */
void trace_hist_share(struct hist *hist, struct hist *other);

/* ---- hist_run.c ---- */

/* An event has occurred: count it in trigger->private. */
void trace_hist_run(struct trace_trigger *trigger, const struct trace_trigger_hit *hit);

/* ---- hist_plain.c ---- */

/* What counts in this histogram in the fewest instructions: trace_hist_run(), or one that does the same. */
trace_trigger_fn trace_hist_choose_run(const struct hist *hist);

/* ---- hist_spec.c ---- */

/* `hist:keys=...`, without condition and state. */
void trace_hist_print_spec(const struct hist *hist, struct trace_seq *seq);
/* `keys=...` */
void trace_hist_print_keys(const struct hist *hist, struct trace_seq *seq);
/* Do both count the same, in the same way? */
bool trace_hist_is_same(const struct hist *a, const struct hist *b);

/* ---- hist_view.c ---- */

/* A copy of all entries, sorted. */
struct hist_view;
/* NULL when out of memory. */
struct hist_view *trace_hist_view_create(struct hist *hist);
void trace_hist_view_destroy(struct hist_view *view);

/* A form in which histograms are shown: a file each. */
struct hist_form {
	/* Prepare what `next` needs, in view->private; or NULL. 0 or -ENOMEM. */
	int (*begin)(struct hist_view *view);
	/*
	 * Write the next piece, at most 4 KiB, such as an entry, and in the end the totals. False
	 * behind that.
	 */
	bool (*next)(struct hist_view *view, struct trace_seq *seq);
	const char *separator; /* between the histograms of an event */
	const char *none;      /* what there is to be said when it has none; or NULL */
	bool is_short;	       /* no empty lines and titles around them */
};
extern const struct hist_form trace_hist_form_text;    /* hist_show.c */
extern const struct hist_form trace_hist_form_picture; /* hist_picture.c */
extern const struct hist_form trace_hist_form_ascii;   /* the same */
extern const struct hist_form trace_hist_form_folded;  /* hist_folded.c */
extern const struct hist_form trace_hist_form_debug;   /* hist_debug.c */

#endif
