/*
 * Histograms: a trigger `hist:keys=...:vals=...` counts the events of a type by the values of some
 * of their fields. The user's text is compiled into programs of expr/, which probes run.
 *
 *   hist_parse.c    the parts of the text: keys=, vals=, sort= and so on
 *   hist_sort.c     sort=
 *   hist_field.c    a field with its modifier, as instructions; names of fields
 *   hist_expr.c     expressions, variables
 *   hist_program.c  the work at an event, as one list of steps
 *   hist_run.c      the probe: computes the key, finds its entry, adds
 *   hist_plain.c    the same for the simplest histograms, in fewer instructions
 *   hist_words.c    texts and stacks, as words of a key
 *   hist_spec.c     a histogram as the text of a trigger
 *   hist_view.c     a sorted copy of its entries, to be shown
 *   hist_show.c     the copy as text; hist_picture.c as a picture, hist_folded.c as stacks,
 *                   hist_debug.c as the list of its parts
 *   hist_trigger.c  the commands of the file `trigger`
 *   hist_action.h   actions, done when an event is counted
 *
 * An entry of the table (hist_map.h):
 *
 *   | hits | key: 1 to 3 parts | sums of values | name of the thread | which variables are set |
 *   | variables | values that actions keep |
 *
 * Context:   trace_hist_run() - any, NMI included, preemption off. The rest - thread, config lock
 *            held.
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
#include "expr/expr.h"
#include "expr/expr_cursor.h"

#define HIST_KEYS_MAX	 3u
#define HIST_VALS_MAX	 3u /* the hit count included */
#define HIST_VARS_MAX	 16u
#define HIST_REFS_MAX	 16u
#define HIST_ACTIONS_MAX 8u
#define HIST_SORT_MAX	 2u
#define HIST_TEXT_MAX	 256u /* bytes of a text that are compared, its NUL included */
#define HIST_STACK_MAX	 16u  /* addresses */
#define HIST_KEY_BYTES	 384u
#define HIST_INSNS_MAX	 160u /* of all values */
#define HIST_TEMPS_MAX	 8u   /* operands that wait, of EXPR_TEMPS_MAX */
#define HIST_SIZE	 2048u
#define HIST_SIZE_MIN	 128u
#define HIST_SIZE_MAX	 131072u
#define HIST_COMM_WORDS	 (TRACE_COMM_LEN / 8u)
#define HIST_STACK_WORDS ((HIST_STACK_MAX + 2u) / 2u) /* with the 0 at the end */

struct hist;
struct hist_action;
struct hist_records;
struct trace_array;
struct trace_event_call;
struct trace_event_file;
struct trace_seq;

/* Places of texts and stacks that have several words, beside those of enum expr_place. */
enum hist_place_of_words {
	HIST_PLACE_STACK = EXPR_NR_PLACES, /* the callers of the probe */
	HIST_PLACE_USER_STACK,		   /* the stack of the running program */
	HIST_PLACE_DATA_STACK, /* an array of addresses in the event, described at `offset` */
	HIST_PLACE_REF,	       /* words at `offset` of the entry that refs[to] points to */
};

enum hist_kind {
	HIST_NUMBER,
	HIST_TEXT,
	HIST_STACK,
	HIST_USER_STACK, /* struct hist_user_stack of hist_user.h */
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
/* Names of the modifiers, as written behind the point; NULL for HIST_PLAIN. */
extern const char *const trace_hist_modifier_names[HIST_NR_MODIFIERS];

/*
 * A key, a value or a variable: the computation of a number or a text from an event, and its form
 * in files.
 */
struct hist_value {
	const char *name; /* of the field, or the text of the expression */
	const char *type; /* as in `format`; of an expression that of its first operand */
	const char *var;  /* name of the variable; NULL when the value is none */
	const struct trace_event_field *field; /* NULL when the value is no field */
	uint8_t kind;			       /* enum hist_kind */
	uint8_t modifier;		       /* enum hist_modifier */
	bool is_signed;
	bool is_cpu;
	bool is_time; /* a time stamp: an action or an expression may want it in microseconds */
	bool is_expression;
	bool is_constant; /* always the number `constant` */
	bool is_fixed;	  /* a text in an array of `bytes` */
	bool is_ref;	  /* $name alone */
	uint8_t ref;   /* with is_ref: index in refs[]; HIST_REFS_MAX + index for an own variable */
	bool has_refs; /* it refers to a variable */
	bool is_hits;  /* the hit count with a modifier, a value beside the plain hit count */
	uint16_t bytes; /* of the value: 1, 2, 4, 8, or the longest text */
	uint16_t insn;	/* its first instruction, in hist->values */
	uint16_t words; /* most words that it takes in an entry */
	uint16_t at;	/* for sums and variables: first word in an entry */
	uint64_t buckets;
	uint64_t constant;
};

/* A variable of another histogram that values or actions use. */
struct hist_ref {
	struct hist *hist;
	uint16_t var;	   /* index in vars[] */
	bool is_consumed;  /* reading takes the value away: the variable is in an expression */
	bool is_qualified; /* named with its event where it was first named */
};

struct hist_sort {
	uint8_t index; /* 0 for the hits, values from 1, then keys */
	bool is_descending;
};

/* A histogram. Members that probes use come first. */
struct hist {
	_Atomic bool is_paused;
	bool has_comm; /* entries keep the name of the thread that made them */
	uint8_t nr_keys, nr_vals, nr_vars, nr_refs, nr_sort, nr_actions;
	uint16_t sums_at, comm_at, set_at; /* offsets in an entry, in words */
	ring_clock_fn clock;		   /* NULL for trace_plat_clock_ns() */
	struct hist_map *map;		   /* own_map, or the map of `shared` */
	/* Program of trace_hist_run(), or NULL: hist_program.h. */
	struct expr_program *program;
	/* For hist_plain.c: the only instruction of each key, then of each value. */
	struct expr_insn plain[HIST_KEYS_MAX + HIST_VALS_MAX - 1];
	/*
	 * Keys, values, variables and parameters of actions, one behind the other. Each ends with
	 * EXPR_END; a text or a stack is one instruction, HIST_STEP_WORDS.
	 */
	struct expr_program *values;

	struct hist_value keys[HIST_KEYS_MAX];
	struct hist_value vals[HIST_VALS_MAX - 1]; /* values without the hit count */
	struct hist_value vars[HIST_VARS_MAX];
	struct hist_ref refs[HIST_REFS_MAX];
	struct hist_sort sort[HIST_SORT_MAX];
	struct hist_action *actions[HIST_ACTIONS_MAX];
	/* Records of save(), or NULL; those of `shared` when there is one. */
	struct hist_records *records;
	uint16_t record_at; /* word of an entry that has the number of its record */
	bool no_hitcount;
	bool is_for_field; /* made for a field that an action of another histogram takes */
	bool uses_time;
	uint32_t size;
	const char *name; /* NULL when it has no name */
	const char *clock_name;
	/* The user's text, as it was written; words lie in it. NULL: there was no memory for it. */
	char *text;
	char *names;	   /* behind it, and as long: parts of it that end in a NUL */
	size_t text_bytes; /* of both */
	struct trace_array *tr;
	struct trace_event_call *call;
	struct hist_map own_map;
	/* An older histogram of the same name, whose table this one uses; or NULL. */
	struct hist *shared;
	uint32_t nr_holders; /* references */
	uint32_t nr_readers; /* those of nr_holders that are refs[] of other histograms */
	struct hist *next;   /* in the list of all histograms */
};

/* The first instruction of a key, a value, a variable or a parameter. */
static inline const struct expr_insn *hist_insn_of(const struct hist *hist,
						   const struct hist_value *value)
{
	return &hist->values->insns[value->insn];
}

/* ---- hist_parse.c ---- */

/*
 * The part of a trigger's text that is a command: pause, continue, clear. Removal is the caller's.
 */
struct hist_wish {
	bool is_removal; /* set by the caller of trace_hist_create() */
	bool pause, cont, clear;
};

/*
 * Compile `text`, such as `keys=pid:vals=bytes`, for events of `file`. error->pos is an index in it.
 * 0; -EINVAL or another -errno, with error->why NULL for errors without a message; -ENOMEM. The caller
 * has the only reference.
 */
int trace_hist_create(struct trace_event_file *file, const struct expr_word *text,
		      struct hist **out_hist, struct hist_wish *wish, struct expr_error *error);
void trace_hist_put(struct hist *hist);
/* Let `hist` count in the table of `other`, which has the same keys and values. */
void trace_hist_share(struct hist *hist, struct hist *other);

/* ---- hist_run.c ---- */

/* Count an event in the histogram trigger->private. */
void trace_hist_run(struct trace_trigger *trigger, const struct trace_trigger_hit *hit);

/* ---- hist_plain.c ---- */

/*
 * The fastest function that counts in this histogram: trace_hist_run(), or a shorter one of
 * hist_plain.c.
 */
trace_trigger_fn trace_hist_choose_run(const struct hist *hist);

/* ---- hist_spec.c ---- */

/* Print `hist:keys=...`, without condition and state. */
void trace_hist_print_spec(const struct hist *hist, struct trace_seq *seq);
/* Print `keys=...`. */
void trace_hist_print_keys(const struct hist *hist, struct trace_seq *seq);
/* Do both have the same keys, values and variables? */
bool trace_hist_is_same(const struct hist *a, const struct hist *b);

/* ---- hist_view.c ---- */

/* A sorted copy of all entries. */
struct hist_view;
/* Returns NULL when out of memory. */
struct hist_view *trace_hist_view_create(struct hist *hist);
void trace_hist_view_destroy(struct hist_view *view);

/* The form of one file that shows histograms: text, picture and so on. */
struct hist_form {
	/*
	 * Prepare view->private for `next`. Returns 0 or -ENOMEM. NULL when there is nothing to
	 * prepare.
	 */
	int (*begin)(struct hist_view *view);
	/*
	 * Write the next piece of at most 4 KiB, such as an entry, and the totals at the end.
	 * Returns false when everything is written.
	 */
	bool (*next)(struct hist_view *view, struct trace_seq *seq);
	const char *separator; /* text between two histograms of one event */
	const char *none;      /* the file's text for an event without histograms; or NULL */
	bool is_short;	       /* without empty lines and titles around the entries */
};
extern const struct hist_form trace_hist_form_text;    /* hist_show.c */
extern const struct hist_form trace_hist_form_picture; /* hist_picture.c */
extern const struct hist_form trace_hist_form_ascii;   /* the same */
extern const struct hist_form trace_hist_form_folded;  /* hist_folded.c */
extern const struct hist_form trace_hist_form_debug;   /* hist_debug.c */

#endif
