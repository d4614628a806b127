/*
 * Trace events that users define while the system runs, by lines of the file dynamic_events:
 *
 * 	s:wakeup_latency u64 lat; pid_t pid
 * 	-:wakeup_latency
 *
 *   struct dyn_event_kind   a kind of event, such as that of lines `s:`; features register them
 *   struct dyn_event        a defined event; part of the kind's own struct
 *
 * A removal is all or nothing: one event in use keeps all events of the removal.
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
struct expr_word;
struct trace_event_call;
struct trace_seq;

/* A mistake in a line. */
struct dyn_event_error {
	const char *why;   /* a text that lasts; NULL when nothing is to be logged */
	const char *at;	   /* place in the line */
	const char *where; /* name in error_log instead of the file's, or NULL */
};

/* Record a mistake. Returns `err`. */
int trace_dyn_event_blame(struct dyn_event_error *error, const char *at, const char *why, int err);

/* Would the directory of an event with that name have the name of a file beside it? */
bool trace_dyn_event_is_reserved(const struct expr_word *name);

/* An unfinished line, and the callback that receives each word that could follow. */
struct dyn_event_completion {
	const char *line;
	trace_dyn_event_word_fn found;
	void *arg;
	bool goes_on; /* more has to follow any word, as a parenthesis is open */
};

struct dyn_event_kind {
	const char *name; /* NULL ends a table of kinds */
	/* Does the line, without blanks in front, begin with this kind's prefix? */
	bool (*claims)(const char *line);
	/*
	 * Create the event of the line, and call trace_dyn_event_add(). Returns 0, or -errno with
	 * nothing done.
	 */
	int (*create)(const char *line, struct dyn_event_error *error);
	/* Write the line that defines the event, newline included. */
	void (*show)(const struct dyn_event *event, struct trace_seq *seq);
	/*
	 * Write lines about the event's origin and fields, each with `indent` in front. May be
	 * NULL.
	 */
	void (*explain)(const struct dyn_event *event, const char *indent, struct trace_seq *seq);
	/* As trace_dyn_event_explain_place(), of a line that the kind claims. May be NULL. */
	int (*locate)(const char *line, struct trace_seq *seq);
	/* Call trace_dyn_event_offer() for each possible end of the line. May be NULL. */
	void (*complete)(struct dyn_event_completion *completion);
	/*
	 * Does a removal by the event's names mean it? `rest` is the text behind the name, without
	 * blanks in front. NULL: always.
	 */
	bool (*matches)(const struct dyn_event *event, const char *rest);
	/*
	 * Do work that is faster for many events at once, if memory allows: all chosen events are
	 * about to be freed. May be NULL.
	 */
	void (*prepare_free)(const struct dyn_event_kind *kind);
	/*
	 * Free the event. It is out of the list, and a grace period has passed since its last use.
	 */
	void (*free)(struct dyn_event *event);
};

/* A table of kinds of a feature, in the list of all. */
struct dyn_event_kinds {
	const struct dyn_event_kind *kinds;
	struct dyn_event_kinds *next;
};
/* Make the kinds of a feature known; for its init(). */
void trace_dyn_event_kinds_register(struct dyn_event_kinds *kinds);

struct dyn_event {
	const struct dyn_event_kind *kind;
	struct trace_event_call *call;
	struct dyn_event *next;
	/* Users beside those seen in `call`; with one the event cannot be removed. */
	uint32_t nr_held;
	bool is_shared; /* other events may have the same call */
	bool is_chosen; /* to be removed, while a removal runs */
	bool has_left;	/* its call is removed with it */
};

/*
 * Add the event at the end of the list; kind and call are set. Returns 0, or an error of
 * trace_add_event_call().
 */
int trace_dyn_event_add(struct dyn_event *event);
/*
 * Add one more definition with the call of `first`, which is in the list: several places then write
 * the same trace event. Each definition has its own line and removal; the call is removed with the
 * last.
 */
void trace_dyn_event_join(struct dyn_event *event, struct dyn_event *first);
/*
 * The next event of `kind`, or of any kind with NULL, in order of definition. Start with NULL;
 * returns NULL behind the last.
 */
struct dyn_event *trace_dyn_event_next(const struct dyn_event_kind *kind,
				       const struct dyn_event *event);

/*
 * Remove all events of a name, or with a system and an empty name all probes of that system. NULL
 * stands for any `kind` or `system`. Returns 0; -ENOENT when there is none; -EBUSY when one is in
 * use. An error changes nothing.
 */
int trace_dyn_events_remove(const struct dyn_event_kind *kind, const char *system, const char *name,
			    const char *rest);
/* Remove all events. Returns 0, or -EBUSY with nothing done. */
int trace_dyn_events_remove_all(const struct dyn_event_kind *kind);
/* After -EBUSY: the name of the event in use, in the words for error_log; until the next -EBUSY. */
const char *trace_dyn_events_in_use(void);

/*
 * Carry out a line of dynamic_events, which is cut up: a definition, or a removal: `-:`, or `!` and
 * the prefix of a definition up to its colon, then [SYSTEM/]NAME. An empty line does nothing.
 * Returns 0; -errno of the functions above, or -EINVAL, with *out_error, which is zeroed first.
 */
int trace_dyn_event_run(char *line, struct dyn_event_error *out_error);
/* Carry out a line of a file that has events of one kind. */
int trace_dyn_event_run_of(const struct dyn_event_kind *kind, char *line,
			   struct dyn_event_error *out_error);
/* The kind of a line without blanks in front; NULL when no kind claims it. */
const struct dyn_event_kind *trace_dyn_event_kind_of(const char *line);

/*
 * For dyn_event_kind.complete: offer `text` in place of the end of the line from `at` on, if it
 * begins with that end.
 */
void trace_dyn_event_offer(const struct dyn_event_completion *completion, const char *at,
			   const struct trace_dyn_event_word *word);

#endif
