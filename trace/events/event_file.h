/*
 * A trace event in an instance: is it on, and on what conditions is it recorded? Such an object is
 * made when somebody first wants something of the event in that instance, and stays as long as the
 * instance. It is the data of the event's probe.
 *
 *   event on in an instance --> its probe is registered with the event_file
 *   the tracepoint is hit   --> stages/probe.h --> trace_event_write(): event_write.c
 *
 * Context:   thread.
 * Locking:   the config lock; probes read `flags` and what their comments say.
 * Ownership: an event_file belongs to its instance.
 */
#ifndef TRACE_EVENT_FILE_H
#define TRACE_EVENT_FILE_H

#include <stdatomic.h>
#include <trace/trace_events.h>
#include "instance/array.h"

/* What a probe has to look at; TRACE_EVENT_RECORDS alone is the common case. */
enum trace_event_flag {
	TRACE_EVENT_RECORDS = 1, /* what passes is recorded */
	TRACE_EVENT_FILTERS = 2, /* there is a filter */
	TRACE_EVENT_PIDS = 4,	 /* set_event_pid or set_event_notrace_pid is in use */
};

struct trace_event_file {
	_Atomic uint32_t flags; /* of enum trace_event_flag */
	/* How often preemption is off because of the tracepoint itself: 0 or 1. */
	uint32_t own_depth;
	struct trace_event_call *call;
	struct trace_array *tr;
	struct trace_event_file *next_of_call;
	struct trace_event_file *next_of_array;
	bool is_on;	    /* the user wants it recorded */
	bool is_registered; /* the probe is called */
	bool has_changed;   /* while several are switched at once: see switch_all() */
};

/* What an instance keeps for events. */
struct trace_array_events {
	struct trace_event_file *files;
	bool filters_pids;
};
TRACE_SLOT_FITS(struct trace_array_events, events);

static inline struct trace_array_events *trace_events_of(const struct trace_array *tr)
{
	return TRACE_SLOT(tr, events);
}

/* NULL: nobody has wanted anything of the event in this instance yet. */
struct trace_event_file *trace_event_file_find(const struct trace_array *tr,
					       const struct trace_event_call *call);
/* The same, made when there is none; NULL when out of memory. */
struct trace_event_file *trace_event_file_get(struct trace_array *tr,
					      struct trace_event_call *call);

/* Which events are meant. */
struct trace_event_choice {
	/* Patterns with * and ?; NULL: all. Both are matched. */
	const char *system;
	const char *name;
	/* Only `match` is matched, against the system or the name; NULL: not used. */
	const char *match;
	const struct trace_event_call *call; /* just this one; NULL: those above */
};
/*
 * The next trace event that is meant; *at is 0 at first, and belongs to this function. NULL behind
 * the last. trace_events_lock() is held.
 */
struct trace_event_call *trace_event_next_chosen(const struct trace_event_choice *choice,
						 size_t *at);

/*
 * Switch the chosen events on or off. Code is patched once for all of them. 0; -EINVAL: there is no
 * such event; -ENOMEM, or an error of the code's patching: some may have been switched. Config lock
 * held.
 */
int trace_events_switch(struct trace_array *tr, const struct trace_event_choice *choice, bool on);
/*
 * The state of the chosen events, as the file `enable` shows it: '0', '1', or 'X' for some of each;
 * '?' when there is none.
 */
char trace_events_state(const struct trace_array *tr, const struct trace_event_choice *choice);

/*
 * Switch events by a word of set_event: `SYSTEM:EVENT`, `SYSTEM:*`, `*:EVENT`, or a name of either,
 * each with * and ?; with `!` in front they are switched off. Changes `word`. The result is that of
 * trace_events_switch(); -EINVAL also for an empty one. Config lock held.
 */
int trace_events_set_word(struct trace_array *tr, char *word);
/* Switch all events off. Config lock held. */
int trace_events_clear(struct trace_array *tr);

/* The instance goes: no probe is registered for it any more. Config lock held. */
void trace_events_array_gone(struct trace_array *tr);
/* Nobody uses the instance any more: free its event_files. */
void trace_events_array_free(struct trace_array *tr);

#endif
