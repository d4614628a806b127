/*
 * Actions of histograms: what else is to happen when an event has been counted, such as
 *
 *	onmax($lat).save(next_comm,prev_pid)
 *
 *   struct hist_handler       onmatch, onmax, onchange: whether to act
 *   struct hist_action_type   save, snapshot, trace: what to do; features list them
 *   struct hist_action        one of each, with what stands in parentheses
 *
 *   hist_action.c     setting and removing, acting
 *   hist_handler.c    from the text to actions, and back
 *   hist_record.h     words that are replaced together
 *   hist_save.c, hist_snapshot.c, hist_trace.c    what the types do
 *
 * A handler that follows a variable keeps its greatest or its last value in a word of each entry.
 * Who replaces the word acts: by one compare-exchange, so each new maximum and each change is acted
 * on once, whatever other CPUs and interrupts count meanwhile.
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
	const char *title; /* of the value that is kept, in `hist`; NULL: no variable is followed */
	const char *variable; /* and in hist_debug */
	/* Is the value that is kept to be replaced? Any context. */
	bool (*replaces)(uint64_t kept, uint64_t value);
	/* Look at what it is about, `of`, which may be cut. 0, or -EINVAL after a blame. */
	int (*check)(struct hist_parse *parse, struct hist_action *action, char *of);
};

/* All functions but `act` may be NULL. */
struct hist_action_type {
	const char *name;
	bool is_call;	     /* a word that is no name of a type means this one, too */
	bool needs_variable; /* not with onmatch */
	bool has_params;     /* what stands in parentheses counts */
	bool hides_value;    /* the value that is kept is not shown in `hist` */

	/* Compile the parameters. 0, or -errno after a blame. */
	int (*compile)(struct hist_parse *parse, struct hist_action *action);
	/* Give back what compile has got. */
	void (*free)(struct hist_action *action);
	/* Add the steps that act, with onmatch: hist_program.h. NULL: `act` is called. */
	void (*assemble)(struct hist_program *program, struct hist_action *action);
	/* The histogram is about to be set. -errno: it is not. */
	int (*begin)(struct hist *hist, struct hist_action *action);
	/* Undo begin. Nobody acts any more. */
	void (*end)(struct hist *hist, struct hist_action *action);
	/* The histogram is emptied. Nobody acts meanwhile. */
	void (*clear)(struct hist_action *action);

	/* Any context. */
	void (*act)(struct hist_run *run, struct hist_action *action, uint64_t value);
	/* Instead of act: replace the value that is kept together with other things. */
	void (*replace)(struct hist_run *run, struct hist_action *action, uint64_t value);

	/* In `hist`: behind the value of an entry of a view; before the totals. */
	void (*print_entry)(const struct hist_view *view, const struct hist_action *action,
			    const uint64_t *entry, struct trace_seq *seq);
	void (*print_end)(const struct hist_view *view, const struct hist_action *action,
			  struct trace_seq *seq);
};

struct hist_param {
	char *text;	  /* is cut */
	const char *name; /* the same, whole */
	struct hist_value value;
};

struct hist_action {
	const struct hist_handler *handler;
	const struct hist_action_type *type;
	const char *of;		    /* what the handler is about: SYSTEM.EVENT, $VARIABLE */
	const char *word;	    /* the action, as it was written */
	const char *system, *event; /* onmatch */
	uint16_t var;		    /* its variable, with handler->title: index of vars[] */
	uint16_t at;		    /* and the word of an entry that keeps its value */
	bool has_begun;
	uint32_t nr_params;
	uint32_t first; /* trace: the first one that is an argument */
	void *private;	/* the type's */
	struct hist_param params[HIST_PARAMS_MAX];
};

/* ---- hist_handler.c ---- */

/* Does a part of a histogram's text begin with a handler? */
bool trace_hist_is_action(const char *part);
/* Add the action that `text` is. Parameters are not compiled yet. 0, or -errno after a blame. */
int trace_hist_add_action(struct hist_parse *parse, char *text);
/* The variables are known: which one does the action follow? 0, or -EINVAL after a blame. */
int trace_hist_find_followed(struct hist_parse *parse, struct hist_action *action);
/* All of them, as in `trigger`. */
void trace_hist_print_actions(const struct hist *hist, struct trace_seq *seq);
bool trace_hist_are_actions_same(const struct hist *a, const struct hist *b);

/* ---- hist_action.c ---- */

/* The type that a word means, or NULL. */
const struct hist_action_type *trace_hist_find_action_type(const char *word);
/* 0, or -errno after a blame. */
int trace_hist_compile_actions(struct hist_parse *parse);
void trace_hist_free_actions(struct hist *hist);
/* The histogram is about to be set. 0, or -errno with nothing begun. */
int trace_hist_begin_actions(struct hist *hist);
/* Nobody counts any more. */
void trace_hist_end_actions(struct hist *hist);
void trace_hist_clear_actions(struct hist *hist);
/* For `hist`. */
void trace_hist_print_entry_actions(const struct hist_view *view, const uint64_t *entry,
				    struct trace_seq *seq);
void trace_hist_print_end_actions(const struct hist_view *view, struct trace_seq *seq);

/* ---- The types; those of other features are in their features' tables ---- */

extern const struct hist_action_type trace_hist_save_type;
extern const struct hist_action_type trace_hist_snapshot_type;
extern const struct hist_action_type trace_hist_trace_type;

#endif
