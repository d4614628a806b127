/*
 * Triggers: what is to happen whenever an event occurs, as written to the event's file `trigger`:
 *
 *	traceoff:3 if prev_state == 1
 *
 *   struct trace_trigger_command   what `traceoff` means; tables of features list them
 *   struct trace_trigger           one that is set: command, event, count, condition
 *
 *   a probe --> trace_event_write() --> trace_triggers_call() --> trigger->func()
 *                    |                       before the event is recorded
 *                    `----------------> trace_triggers_call_late() --> trigger->func()
 *                                            afterwards, with TRACE_TRIGGER_AFTER_RECORD
 *
 * A trigger sees each time the event occurs, whether that is recorded or not; so it is a soft user
 * of the event (event_file.h). Only set_event_pid keeps events from triggers.
 *
 * Context:   func - any, NMI included, preemption off. All else - thread, config lock held.
 * Locking:   the config lock. Probes walk an event's triggers without a lock.
 * Ownership: a trigger belongs to its event_file. It is freed when no probe can use it any more.
 *            Commands are there for good.
 */
#ifndef TRACE_TRIGGER_H
#define TRACE_TRIGGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "count.h"

struct trace_array;
struct trace_event_file;
struct trace_filter;
struct trace_seq;
struct trace_trigger;
struct trace_trigger_args;

/* An event has occurred. */
struct trace_trigger_hit {
	const struct trace_event_file *file;
	/* The event; its head is filled in if the trigger is marked TRACE_TRIGGER_HEAD. */
	void *entry;
	uint32_t bytes;
	uintptr_t caller; /* an address in the probe: its frame is on the stack */
};

typedef void (*trace_trigger_fn)(struct trace_trigger *trigger,
				 const struct trace_trigger_hit *hit);

enum trace_trigger_flag {
	/*
	 * func is called after the event was recorded; the condition is examined before. An event
	 * has at most TRACE_TRIGGER_MAX_LATE such triggers.
	 */
	TRACE_TRIGGER_AFTER_RECORD = 2,
	/* The list shows it behind those without this flag, the oldest first. */
	TRACE_TRIGGER_LISTED_LAST = 4,
	/* Opening the file for writing with truncation takes it away. */
	TRACE_TRIGGER_TRUNCATED = 8,
	/*
	 * It is about another event of the instance: NAME:SYSTEM:EVENT[:COUNT]. It is a soft user
	 * of that event, too.
	 */
	TRACE_TRIGGER_HAS_TARGET = 16,
	/* Its mistakes stand in error_log as NAME:SYSTEM:EVENT, as on Linux. */
	TRACE_TRIGGER_NAMES_EVENT = 32,
};

#define TRACE_TRIGGER_MAX_LATE 8u

/* What a word written to `trigger` means. All functions but func may be NULL. */
struct trace_trigger_command {
	const char *name;
	uint32_t flags; /* of enum trace_trigger_flag */
	/* Where the list of available triggers names it: those with a smaller number come first. */
	uint32_t place;
	/*
	 * An event has at most one trigger of a kind, or of a kind and target: a second one is
	 * -EEXIST, and `!` takes that one away, whatever command of the kind is named. NULL: any
	 * number of them; trace_trigger_find() finds none.
	 */
	const char *kind;

	/* Act. A trigger that has a count asks trace_trigger_take() first. */
	trace_trigger_fn func;
	/*
	 * Carry out what was written, which begins with the name. 0, or -errno after
	 * trace_trigger_blame(). NULL: it sets or removes a trigger, as most commands do.
	 */
	int (*run)(const struct trace_trigger_command *command, struct trace_trigger_args *args);
	/*
	 * A trigger is about to be set: make what the instance needs for it, which stays when it
	 * cannot be set after all. It may give the trigger another func, and mark it. -errno: it is
	 * not set.
	 */
	int (*prepare)(struct trace_trigger *trigger);
	/* Is it needed by others, so that truncation leaves it? NULL: never. */
	bool (*is_needed)(const struct trace_trigger *trigger);
	/* Write its line, newline included. NULL: the usual form, see trace_trigger_show(). */
	void (*print)(const struct trace_trigger *trigger, struct trace_seq *seq);
	/* It was taken out of the list; func may still be running. */
	void (*end)(struct trace_trigger *trigger);
	/* func does not run any more: free what `private` has. */
	void (*free)(struct trace_trigger *trigger);
};

/* Marks of a trigger: what probes have to do for it, besides calling func. */
enum trace_trigger_mark {
	TRACE_TRIGGER_HEAD = 1, /* its condition, or its func, looks at the head of the event */
	TRACE_TRIGGER_LATE = 2, /* TRACE_TRIGGER_AFTER_RECORD */
	TRACE_TRIGGER_IF = 4,	/* it has a condition */
	/* func may switch the event on or off: TRACE_TRIGGER_HAS_TARGET */
	TRACE_TRIGGER_SWITCHES = 8,
};

/* What probes look at comes first. */
struct trace_trigger {
	struct trace_trigger *_Atomic next;
	uint32_t marks;		     /* of enum trace_trigger_mark */
	struct trace_filter *filter; /* NULL: no condition */
	trace_trigger_fn func;	     /* the command's, or one that its prepare() has chosen */
	void *private;		     /* the command's */
	_Atomic uint64_t count;	     /* how often it still acts, or TRACE_COUNT_UNLIMITED */
	struct trace_event_file *file;
	struct trace_event_file *target; /* with TRACE_TRIGGER_HAS_TARGET, else NULL */
	const struct trace_trigger_command *command;
	char *filter_text;		 /* NULL: no condition */
	size_t filter_bytes;		 /* of filter_text, NUL included */
	struct trace_trigger *next_gone; /* of those that are out of their lists */
};

/*
 * For func: is the trigger to act? One from its count is taken; false when that is 0. Any context.
 */
static inline bool trace_trigger_take(struct trace_trigger *trigger)
{
	return trace_count_take(&trigger->count);
}

/* For func, after take: there was nothing to be done. Any context. */
static inline void trace_trigger_give_back(struct trace_trigger *trigger)
{
	trace_count_give_back(&trigger->count);
}

/* What is to be done after the event was recorded, or was not. */
struct trace_trigger_later {
	void (*func)(const struct trace_trigger_hit *hit, const struct trace_trigger_later *later);
	void *what; /* the trigger, or what else func wants */
	const void *entry;
	uint64_t value;
	uint32_t nr_taken; /* snapshots, before the event was recorded */
};

/* Is on the stack of a probe. */
struct trace_triggers_late {
	/* There is some, or the event may have been switched. Otherwise the rest is not set. */
	bool is_more;
	uint32_t nr;
	struct trace_trigger_later at[TRACE_TRIGGER_MAX_LATE + 1];
};

/* What a probe has on its stack: every hit that functions of triggers are called with is in one. */
struct trace_trigger_visit {
	struct trace_trigger_hit hit;
	struct trace_triggers_late late;
};

static inline struct trace_triggers_late *
trace_triggers_late_of(const struct trace_trigger_hit *hit)
{
	return &((struct trace_trigger_visit *)(uintptr_t)hit)->late;
}

/* For func: something has to be looked at after the triggers. Any context. */
static inline void trace_triggers_note_more(const struct trace_trigger_hit *hit)
{
	struct trace_triggers_late *late = trace_triggers_late_of(hit);

	if (!late->is_more)
		late->nr = 0;
	late->is_more = true;
}

/* For func: have something done after the record; at once, if there is no room. Any context. */
static inline void trace_trigger_later(const struct trace_trigger_hit *hit,
				       const struct trace_trigger_later *later)
{
	struct trace_triggers_late *late = trace_triggers_late_of(hit);

	trace_triggers_note_more(hit);
	if (late->nr < sizeof(late->at) / sizeof(late->at[0]))
		late->at[late->nr++] = *later;
	else
		later->func(hit, later);
}

/* ---- What was written ---- */

struct trace_trigger_args {
	struct trace_event_file *file;
	bool is_removal; /* it began with `!` */
	/* Behind the name and what ends it, without blanks in front; NULL: nothing. Is cut up. */
	char *text;
	const char *why; /* what is wrong with it, or NULL */
	const char *at;	 /* in `text`, or NULL: the name */
};

/* What is wrong with a line of `trigger`. */
struct trace_trigger_error {
	const char *why;			     /* a text that lasts, or NULL */
	const char *at;				     /* in the line */
	const struct trace_trigger_command *command; /* NULL: there is no such command */
};

/* Say what is wrong, for error_log: `why` lasts. Returns `err`. */
int trace_trigger_blame(struct trace_trigger_args *args, const char *at, const char *why, int err);

/* What trace_trigger_set() is to do. */
struct trace_trigger_wish {
	uint64_t count;
	const char *condition; /* the expression without `if`; NULL: none */
	struct trace_event_file *target;
	void *private;
};

/* ---- Triggers of an event ---- */

/*
 * Set a trigger. 0; -EEXIST; -EINVAL or what else a filter says; -ENOSPC: too many that act after
 * the record; -ENOMEM; an error of prepare(), or of the code's patching. Nothing has changed then,
 * and wish->private is still the caller's.
 */
int trace_trigger_set(const struct trace_trigger_command *command, struct trace_trigger_args *args,
		      const struct trace_trigger_wish *wish);
/* The trigger of that kind and target, or NULL. */
struct trace_trigger *trace_trigger_find(const struct trace_event_file *file,
					 const struct trace_trigger_command *command,
					 const struct trace_event_file *target);
/* Take it away. When this returns, func does not run any more, and the trigger is freed. */
void trace_trigger_remove(struct trace_trigger *trigger);
/* What `trigger` shows of it: as the command says, or NAME[:SYSTEM:EVENT]:count=N and condition. */
void trace_trigger_show(const struct trace_trigger *trigger, struct trace_seq *seq);

/* ---- For the file `trigger`, and the boot parameter trace_trigger ---- */

/*
 * Carry out a line of `trigger`, which is changed. 0, or -errno with *out_error.
 */
int trace_triggers_write(struct trace_event_file *file, char *text,
			 struct trace_trigger_error *out_error);
/* Remove what truncation takes away. */
void trace_triggers_truncate(struct trace_event_file *file);
/*
 * Set the triggers of a list EVENT.TRIGGER[ if CONDITION],... which is cut up; EVENT is one of any
 * system. Errors are logged.
 */
void trace_triggers_boot(struct trace_array *tr, char *list);
/* The next one of those that there are, by `place`; start with NULL. NULL behind the last. */
const struct trace_trigger_command *
trace_trigger_command_behind(const struct trace_trigger_command *before);

/* The instance goes: take the triggers of all its events away. For event_file.c. */
void trace_triggers_array_gone(struct trace_array *tr);

/* ---- For event_write.c. Any context, preemption off. ---- */

/* Those that act before the event is recorded; what is to be done later is in
 * *trace_triggers_late_of(hit). */
void trace_triggers_call(const struct trace_trigger_hit *hit);
/* The event was recorded, or not: do that. */
void trace_triggers_call_late(const struct trace_trigger_hit *hit);

#endif
