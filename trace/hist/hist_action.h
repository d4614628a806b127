/*
 * Actions of histograms: work to do when an event has been counted, such as
 *
 * 	onmax($lat).save(next_comm,prev_pid)
 *
 *   struct hist_handler       onmatch, onmax, onchange: the condition
 *   struct hist_action_type   save, snapshot, trace: the work; registered by features
 *   struct hist_action        one of each, with the parameters
 *
 *   hist_action.c     setting and removing, acting
 *   hist_handler.c    from the text to actions, and back
 *   hist_record.h     words that are replaced together
 *   hist_save.c, hist_snapshot.c, hist_trace.c    the types
 *
 * A handler that follows a variable keeps its greatest or its last value in a word of each entry.
 * The word is replaced by one compare-exchange, and whoever succeeds acts: each new maximum and
 * each change is acted on once, though other CPUs and interrupts count meanwhile.
 *
 * Context:   trace_hist_act() - any, NMI included, preemption off. The rest - thread, config lock
 *            held.
 * Locking:   the config lock.
 * Ownership: an action belongs to its histogram. Handlers and types are const and there for good.
 */
#ifndef HIST_ACTION_H
#define HIST_ACTION_H

#include "hist_parse.h"

#define HIST_PARAMS_MAX 64u

struct hist_action;
struct hist_program;
struct hist_run;
struct hist_view;

struct hist_handler {
	const char *name;
	/* Title of the kept value in `hist`; NULL when no variable is followed. */
	const char *title;
	const char *variable; /* title of the kept value in hist_debug */
	/* Should `value` replace the kept value? Called in any context. */
	bool (*replaces)(uint64_t kept, uint64_t value);
	/* Check the word in parentheses, action->of. Returns 0, or -EINVAL after a blame. NULL: none. */
	int (*check)(struct hist_parse *parse, struct hist_action *action);
};

/* A type of action. Every function but `act` may be NULL. */
struct hist_action_type {
	const char *name;
	bool is_call;	     /* a call such as NAME(...) with an unknown name is of this type */
	bool needs_variable; /* allowed with onmax and onchange only */
	bool has_params;     /* its parameters in parentheses are parsed, else ignored */
	bool hides_value;    /* `hist` leaves out the kept value */

	/* Compile the parameters. Returns 0, or -errno after a blame. */
	int (*compile)(struct hist_parse *parse, struct hist_action *action);
	/* Free the memory of compile. */
	void (*free)(struct hist_action *action);
	/*
	 * Add the steps of an action with onmatch: hist_program.h. NULL when `act` is called
	 * instead.
	 */
	void (*assemble)(struct hist_program *program, struct hist_action *action);
	/*
	 * Prepare for events: the histogram is about to be set, and is not if this returns -errno.
	 */
	int (*begin)(struct hist *hist, struct hist_action *action);
	/* Undo begin. The action runs no more. */
	void (*end)(struct hist *hist, struct hist_action *action);
	/*
	 * Empty the action's state, as the histogram is emptied. The action does not run meanwhile.
	 */
	void (*clear)(struct hist_action *action);

	/* Do the action. Called in any context. */
	void (*act)(struct hist_run *run, struct hist_action *action, uint64_t value);
	/* Replace the kept value together with other data; called instead of act. */
	void (*replace)(struct hist_run *run, struct hist_action *action, uint64_t value);

	/*
	 * Print in `hist`: the part behind the value of an entry of a view; the part before the
	 * totals.
	 */
	void (*print_entry)(const struct hist_view *view, const struct hist_action *action,
			    const uint64_t *entry, struct trace_seq *seq);
	void (*print_end)(const struct hist_view *view, const struct hist_action *action,
			  struct trace_seq *seq);
};

struct hist_param {
	struct expr_word text; /* as written, in hist->text */
	const char *name;      /* the same */
	struct hist_value value;
};

struct hist_action {
	const struct hist_handler *handler;
	const struct hist_action_type *type;
	/* In hist->text: the handler's argument, SYSTEM.EVENT or $VARIABLE; the action's name. */
	struct expr_word of, word;
	const struct trace_event_call *match; /* the event of onmatch, while the text is compiled */
	/* With handler->title: index in vars[] of the variable that it follows. */
	uint16_t var;
	uint16_t at; /* and the word of an entry that keeps its value */
	bool has_begun;
	uint32_t nr_params;
	uint32_t first; /* trace: index of the first parameter that is an argument */
	void *private;	/* for the type */
	struct hist_param params[HIST_PARAMS_MAX];
};

/* ---- hist_handler.c ---- */

/* Does a part of a histogram's text begin with a handler? */
bool trace_hist_is_action(const struct expr_word *part);
/*
 * Parse the action `text` and add it, with parameters not compiled yet. Returns 0, or -errno after
 * a blame.
 */
int trace_hist_add_action(struct hist_parse *parse, const struct expr_word *text);
/*
 * Find the variable that the action follows; all variables are known. Returns 0, or -EINVAL after a
 * blame.
 */
int trace_hist_find_followed(struct hist_parse *parse, struct hist_action *action);
/* Print all actions, as in the file `trigger`. */
void trace_hist_print_actions(const struct hist *hist, struct trace_seq *seq);
bool trace_hist_are_actions_same(const struct hist *a, const struct hist *b);

/* ---- hist_action.c ---- */

/* An entry of the list of types. */
struct hist_action_entry {
	const struct hist_action_type *type;
	struct hist_action_entry *next;
};
/* Make the type of a feature known; for its init(). */
void trace_hist_action_register(struct hist_action_entry *entry);
/* Find the type of an action's name, or NULL. */
const struct hist_action_type *trace_hist_find_action_type(const struct expr_word *word);
/* Compile all actions. Returns 0, or -errno after a blame. */
int trace_hist_compile_actions(struct hist_parse *parse);
void trace_hist_free_actions(struct hist *hist);
/*
 * Begin all actions of a histogram that is about to be set. Returns 0, or -errno with none begun.
 */
int trace_hist_begin_actions(struct hist *hist);
/* End all actions of a histogram in which no event is counted any more. */
void trace_hist_end_actions(struct hist *hist);
void trace_hist_clear_actions(struct hist *hist);
/* Print the actions of an entry, for the file `hist`. */
void trace_hist_print_entry_actions(const struct hist_view *view, const uint64_t *entry,
				    struct trace_seq *seq);
void trace_hist_print_end_actions(const struct hist_view *view, struct trace_seq *seq);

/* ---- The types; those of other features are in the modules of these ---- */

extern const struct hist_action_type trace_hist_save_type;

#endif
