/*
 * Probes of users: a line gives the place, the name of the event, and the values to record.
 *
 * 	p:my/open do_sys_open file=+0(%si):string flags=%dx
 * 	t:my/switch sched_switch prev=+0($arg2):u32
 * 	e:wakes sched.sched_waking who=$pid:s32
 *
 *   line --probe_line.c--> names, place --probe_names.c--> arguments --probe_args.c--> a probe
 *
 *   struct probe_kind    a kind of places: finding one, and making events there
 *   struct probe         one place
 *   struct probe_event   the trace event that it writes, with its description; several probes of a
 *                        kind may write the same, if they record the same
 *
 *   something happens --> the kind's handler --> probe_hit() --> trace_fetch_run() --> the event
 *
 * A probe and the event that it is the first of are one piece of memory, and nothing is in it that
 * can be told from the rest:
 *
 * 	| event | arguments | fields | names |   | probe | its target | copies | place and arguments |
 *
 * Context:   probe_hit() - any, NMI included, preemption off. The rest - thread, config lock held.
 * Locking:   the config lock.
 * Ownership: a probe belongs to the list of dyn_event.h, an event to its probes.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdatomic.h>
#include <trace/kprobe.h>
#include <trace/kretprobe.h>
#include <trace/trace_events.h>
#include <trace/uprobe.h>
#include <trace/wprobe.h>
#include "events/dyn_event.h"
#include "events/event_watch.h"
#include "fetch.h"
#include "instance/why.h"

struct probe_condition;
struct probe_definition;
struct probe_kind;
struct probe_many;

struct probe_event {
	struct trace_event_call call;
	const struct probe_kind *kind;
	struct probe *first; /* of the probes that write it; the rest by `next` */
	uint32_t nr_probes;
	uint32_t nr_args;
	uint32_t bytes; /* of its memory, with that of the probe that it was made for */
	struct fetch_arg args[];
};

/* The target of a probe; its kind decides on the member. */
union probe_target {
	struct tracepoint *tp;
	struct kprobe kprobe;
	struct kretprobe ret;
	struct wprobe wprobe;
	struct uprobe_consumer uprobe;
	struct {
		struct trace_event_call *call;
		struct trace_event_watch watch;
		struct trace_event_file *file; /* that is watched; NULL: none */
		struct probe_condition *condition;
	} source;
};

struct probe {
	struct dyn_event dyn; /* dyn.call: the event's */
	struct probe *next;   /* of the same event */
	_Atomic uint64_t nr_hits;
	uint64_t step;	      /* of a plain event: TRACE_EVENT_STEP() */
	uint32_t plain_flags; /* of the front of a plain event that is built in the ring; or none */
	bool is_plain;	      /* see probe_hit.h */
	bool has_all_registers; /* others are recorded than those that hold arguments */
	uint8_t entry_args;	/* at a return: bit n: argument n, from 0, is kept from the entry */
	struct fetch_program program;
	uint32_t trigger_flags;	   /* of a plain one of copies alone that triggers want; or none */
	uint32_t bytes;		   /* of its own memory; 0: it lies in that of the event */
	union probe_target target; /* only the member of its kind has memory */
};

#define PROBE_TARGET_BYTES(member) sizeof(((union probe_target *)NULL)->member)

#define PROBE_RETURN_SUFFIX "%return"

/* A kind of places. */
struct probe_kind {
	const char *log_name; /* name in error_log */
	const char *group;    /* of events without one */
	char letter;
	bool takes_number;	  /* behind the letter */
	const char *suffix;	  /* text that may stand behind the place, or NULL */
	const char *shown_suffix; /* text listed behind the place, or NULL */
	/* Fields in front of the arguments, and how many bytes the event has up to their end. */
	const struct trace_event_field *fields;
	uint32_t nr_fields, head_bytes;
	const char *head_register; /* the last word of them is this one; NULL: none is */
	/* Format and arguments of the head in the print fmt. Both NULL: the place itself. */
	const char *head_fmt, *head_args;
	/* or NULL */
	void (*write_head_args)(const struct probe_event *event, struct trace_seq *seq);
	const struct trace_event_class *event_class;
	size_t target_bytes; /* of union probe_target: PROBE_TARGET_BYTES() */
	/* For dynamic_events. */
	const struct dyn_event_kind *dyn_kind;
	/* Call trace_dyn_event_offer() for all places; NULL: they are functions. */
	void (*offer_places)(const struct dyn_event_completion *completion, const char *at);
	/* Find the place, and the values that can be recorded there. 0, or -errno after blaming. */
	int (*find)(struct probe_definition *definition);
	/* Claim the place, and give it back; NULL: nothing has to be done. 0, or -errno after blaming. */
	int (*attach)(struct probe *probe, const struct probe_definition *definition);
	void (*detach)(struct probe *probe);
	/* Is the place of a probe that is not attached yet that of another one? NULL: if they are listed so. */
	bool (*is_same_place)(const struct probe *probe, const struct probe *other);
	/* The condition of an event, which is listed behind ` if `, or NULL. NULL: it has none. */
	const char *(*condition)(const struct probe *probe);
	/* Print the beginning of an event's text, in parentheses. */
	void (*print_head)(const struct trace_iter *iter, const struct probe_event *event,
			   struct trace_seq *seq);
	/* Have the probe called, or no more: its event is used. 0 or -errno. */
	int (*begin)(struct probe *probe);
	void (*end)(struct probe *probe);
	const struct probe_many *many; /* probe_switch.h; NULL: only one by one */
	uint64_t (*get_missed)(const struct probe *probe); /* hits; for kprobe_profile */
};

/* A line, taken apart; pointers are into it. */
struct probe_definition {
	const struct probe_kind *kind;
	struct dyn_event_error *error;
	const char *line;
	struct expr_word number;      /* behind the letter */
	struct expr_word group, name; /* each of these of length 0: not written */
	struct expr_word place;
	bool has_suffix;	 /* behind the place, which is without it */
	struct expr_word listed; /* the place as listed */
	const char *args;	 /* the text behind it; `written`, or `expanded` */
	const char *written;	 /* the same as in the line */
	char *expanded;		 /* with names for numbers; NULL: there are none */
	size_t expanded_bytes;
	const char *condition; /* the filter of an `if FILTER` at the end; NULL: there is none */

	/* Set by the kind. */
	char default_name[64];
	struct fetch_context context;
	union probe_target target;
};

/* ---- probe_line.c ---- */

/* Returns `err`; -EINVAL. */
int trace_probe_blame(const struct probe_definition *definition, const char *at, const char *why,
		      int err);
int trace_probe_refuse(const struct probe_definition *definition, const char *at, const char *why);
/* Is it a line of the kind with this letter? */
bool trace_probe_line_is(const char *line, char letter);
/* Is the place of the line one with `%return` behind it? */
bool trace_probe_line_is_return(const char *line);
/* Take the line apart. 0 or -EINVAL after blaming. */
int trace_probe_line_parse(struct probe_definition *definition);

/* ---- probe_names.c ---- */

/* An argument of a line. */
struct probe_arg {
	const struct probe_definition *definition;
	const char *rest; /* the text behind it */
	struct expr_word written;
	struct expr_word word; /* the same, with a name for a number */
	struct expr_word name;
	uint32_t nr; /* from 1 */
	/* Of those that the last `$arg*` stands for: how many were taken, and how many there are. */
	uint32_t all, nr_all;
	bool has_all;		       /* there was one */
	char digits[8];		       /* for `name` */
	char room[FETCH_BODY_MAX + 1]; /* for `word` */
};

/* Begin in front of the first. */
void trace_probe_arg_begin(struct probe_arg *arg, const struct probe_definition *definition);
/* Take the next one. 1; 0: there is none; -EINVAL, -ENOENT after blaming. */
int trace_probe_arg_next(struct probe_arg *arg);
/* A mistake in `word` is one of `written`. Returns `err`. */
int trace_probe_arg_blame(const struct probe_arg *arg, int err);

/* ---- probe_place.c ---- */

/* A place in code. */
struct probe_place {
	struct expr_word symbol; /* of length 0: an address was written */
	uint64_t offset, addr;
};

/*
 * Find definition->place, and set `listed` if that is something else. 0; -EINVAL, -ENOENT,
 * -EOPNOTSUPP after blaming.
 */
int trace_probe_find_place(struct probe_definition *definition, struct probe_place *out);
/* The same for one that has to be a function. */
int trace_probe_find_function(struct probe_definition *definition, struct probe_place *out);
/* Make the name of an event without one: LETTER_SYMBOL_OFFSET; SYMBOL with `suffix` behind it. */
void trace_probe_name_by_number(struct probe_definition *definition,
				const struct probe_place *place);
void trace_probe_name_by_suffix(struct probe_definition *definition,
				const struct probe_place *place, const char *suffix);

/* ---- probe_args.c ---- */

/* Memory needed for a definition, and the layout of its event. */
struct probe_size {
	struct fetch_build counted;
	uint32_t nr_args;
	bool is_gathered;     /* at a return: more than the returned value is asked for */
	uint32_t event_bytes; /* without texts; not rounded up */
	size_t group_bytes, name_bytes, place_bytes, arg_name_bytes, args_bytes;
};

/* Go through the arguments without keeping them. 0 or -errno after blaming. */
int trace_probe_measure(const struct probe_definition *definition, struct probe_size *size);
/* Bytes of the probe, and of the event, each with its data behind it; multiples of 8. */
size_t trace_probe_bytes(const struct probe_definition *definition, const struct probe_size *size);
size_t trace_probe_event_bytes(const struct probe_definition *definition,
			       const struct probe_size *size);
/* Fill them in; their memory is zeroed. 0 or -errno; then nothing of the probe is to be freed. */
int trace_probe_fill(struct probe *probe, struct probe_event *event,
		     const struct probe_definition *definition, const struct probe_size *size);

/* ---- probe_define.c ---- */

/* Define the probe of a line, of this kind. As dyn_event_kind.create. */
int trace_probe_define(const struct probe_kind *kind, const char *line,
		       struct dyn_event_error *error);
/* The same of a line that was cut off in front of `if FILTER`. */
int trace_probe_define_if(const struct probe_kind *kind, const char *line, const char *filter,
			  struct dyn_event_error *error);
/* For struct dyn_event_kind. */
void trace_probe_show(const struct dyn_event *dyn, struct trace_seq *seq);
bool trace_probe_matches(const struct dyn_event *dyn, const char *rest);
void trace_probe_free(struct dyn_event *dyn);
struct probe *trace_probe_of(const struct dyn_event *dyn);
struct probe_event *trace_probe_event_of(const struct trace_event_call *call);
/* The listed parts of a probe: its place; its arguments, each with a blank in front. */
const char *trace_probe_place_text(const struct probe *probe);
const char *trace_probe_args_text(const struct probe *probe);

/* ---- probe_text.c ---- */

/* Functions of all events of probes: their lines in `trace`, their print fmt in `format`. */
extern const struct trace_event_functions trace_probe_functions;
/* The field of argument `i`. */
const struct trace_event_field *trace_probe_field_of(const struct probe_event *event, uint32_t i);

/* ---- The kinds; those of dynamic_events, behind which is the end of the table ---- */

enum probe_dyn_kind {
	PROBE_DYN_TRACEPOINT,
	PROBE_DYN_EVENT,
};
extern const struct dyn_event_kind trace_probe_dyn_kinds[];
bool trace_probe_tracepoint_claims(const char *line);
int trace_probe_tracepoint_create(const char *line, struct dyn_event_error *error);
bool trace_probe_event_claims(const char *line);
int trace_probe_event_create(const char *line, struct dyn_event_error *error);
/* Kinds of the feature kprobe_events, for dynamic_events and a file of its own. */
enum probe_kprobe_dyn_kind {
	PROBE_DYN_INSTRUCTION, /* `p:` and `r:` */
	PROBE_DYN_FUNCTION,    /* `f:` */
	PROBE_DYN_WATCH,       /* `w:` */
};
extern const struct dyn_event_kind trace_probe_kprobe_dyn[];
bool trace_probe_watch_claims(const char *line);
int trace_probe_watch_create(const char *line, struct dyn_event_error *error);
extern const struct probe_kind trace_probe_return_kind, trace_probe_exit_kind;
/*
 * Count the hits of a probe, and the missed ones. Returns false for a kind that kprobe_profile does
 * not count.
 */
bool trace_probe_kprobe_counts(const struct dyn_event *dyn, uint64_t *out_hits,
			       uint64_t *out_missed);
/* Is the code gone that such a probe was at? */
bool trace_probe_kprobe_is_gone(const struct dyn_event *dyn);
/* Is the event one of probes of instructions, `p:` or an `f:` at an entry? */
bool trace_probe_is_of_instruction(const struct trace_event_call *call);
extern const struct trace_why_check trace_probe_kprobe_whys[];
/*
 * Define the probes of `list`, which is cut up, and switch them on in the instance. Mistakes are
 * logged.
 */
void trace_probe_kprobe_boot(struct trace_array *tr, char *list);
/* An event is about to go: does no probe need it? */
bool trace_probe_event_goes(struct trace_event_call *call);

#endif
