/*
 * Trace events that users define while the system runs, by lines of the file dynamic_events:
 *
 *	s:wakeup_latency u64 lat; pid_t pid
 *	-:wakeup_latency
 *
 *   struct dyn_event_kind   what a line that begins with `s:` means; tables of features list them
 *   struct dyn_event        one that is defined; part of what the kind has for it
 *
 * A removal is all or nothing: an event that somebody uses keeps all that were meant.
 *
 * Context:   thread.
 * Locking:   the config lock is held in all functions.
 * Ownership: a dyn_event belongs to its kind, which frees it when it is removed.
 */
#ifndef DYN_EVENT_H
#define DYN_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/dyn_events.h>

struct dyn_event;
struct trace_event_call;
struct trace_seq;

/* What is wrong with a line. */
struct dyn_event_error {
	const char *why;   /* a text that lasts; NULL: nothing is to be logged */
	const char *at;	   /* in the line */
	const char *where; /* what error_log names instead of the file, or NULL */
};

/* A line of which the end is not written yet, and who wants to know what that could be. */
struct dyn_event_completion {
	const char *line;
	trace_dyn_event_word_fn found;
	void *arg;
	bool goes_on; /* something has to follow any word, as a parenthesis is open */
};

struct dyn_event_kind {
	const char *name; /* NULL behind the last of a table */
	/* Is the line, which has no blanks in front, about this kind? */
	bool (*claims)(const char *line);
	/*
	 * Make what the line says, and call trace_dyn_event_add(). 0, or -errno with nothing done.
	 */
	int (*create)(const char *line, struct dyn_event_error *error);
	/* Write the line that defines the event, newline included. */
	void (*show)(const struct dyn_event *event, struct trace_seq *seq);
	/*
	 * Write lines about where the event comes from and what is in it, each with `indent` in front.
	 * May be NULL.
	 */
	void (*explain)(const struct dyn_event *event, const char *indent, struct trace_seq *seq);
	/* Call trace_dyn_event_offer() for all that could be at the end of the line. May be NULL. */
	void (*complete)(struct dyn_event_completion *completion);
	/*
	 * Does a removal that is about the event by its names mean it? `rest` is what was written
	 * behind the name, without blanks in front. NULL: always.
	 */
	bool (*matches)(const struct dyn_event *event, const char *rest);
	/*
	 * All chosen ones are about to be freed: what is better done for many at once, if memory
	 * allows. May be NULL.
	 */
	void (*prepare_free)(const struct dyn_event_kind *kind);
	/* It is out of the list, and a grace period has passed since somebody used it. */
	void (*free)(struct dyn_event *event);
};

struct dyn_event {
	const struct dyn_event_kind *kind;
	struct trace_event_call *call;
	struct dyn_event *next;
	uint32_t nr_held; /* users that are not seen in `call`; with one it is not removed */
	bool is_shared;	  /* there may be others with this call */
	bool is_chosen;	  /* while a removal runs: it is meant */
	bool has_left;	  /* and its call goes with it */
};

/*
 * Make the event known, last in the list; kind and call are set. 0, or an error of
 * trace_add_event_call().
 */
int trace_dyn_event_add(struct dyn_event *event);
/*
 * The same for one more definition with the call of `first`, which is known: several places that
 * write the same trace event. Each has its line and is removed on its own; the call goes with the
 * last.
 */
void trace_dyn_event_join(struct dyn_event *event, struct dyn_event *first);
/* The next one in order of definition; start with NULL. `kind` NULL: of any. NULL behind the last. */
struct dyn_event *trace_dyn_event_next(const struct dyn_event_kind *kind,
				       const struct dyn_event *event);

/*
 * Remove all events of that name, or with a system and an empty name all probes of that system.
 * `kind` and `system` NULL: any. 0; -ENOENT: there is none; -EBUSY: one of them is in use. After an
 * error all are as before.
 */
int trace_dyn_events_remove(const struct dyn_event_kind *kind, const char *system, const char *name,
			    const char *rest);
/* Remove all. 0 or -EBUSY, with nothing done. */
int trace_dyn_events_remove_all(const struct dyn_event_kind *kind);
/* After -EBUSY: which event it was, in the words for error_log; until the next -EBUSY. */
const char *trace_dyn_events_in_use(void);

/*
 * Carry out a line of dynamic_events, which is cut up: a definition, or a removal: `-:` or `!` with
 * what stands in front of the colon of a definition, then [SYSTEM/]NAME. 0; an empty line is none.
 * -errno of the above, or -EINVAL, with *out_error, which is zeroed before.
 */
int trace_dyn_event_run(char *line, struct dyn_event_error *out_error);
/* The same of a file that has events of one kind. */
int trace_dyn_event_run_of(const struct dyn_event_kind *kind, char *line,
			   struct dyn_event_error *out_error);
/* The kind of the line, which has no blanks in front; NULL: none claims it. */
const struct dyn_event_kind *trace_dyn_event_kind_of(const char *line);

/*
 * For dyn_event_kind.complete: the end of the line from `at` on could become `text`, if that begins
 * with it.
 */
void trace_dyn_event_offer(const struct dyn_event_completion *completion, const char *at,
			   const struct trace_dyn_event_word *word);

#endif
