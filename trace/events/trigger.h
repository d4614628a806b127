/*
 * Triggers: commands that run whenever an event occurs, as written to the event's file `trigger`:
 *
 * 	traceoff:3 if prev_state == 1
 *
 *   struct trace_trigger_command   a command such as `traceoff`; features register tables of them
 *   struct trace_trigger           a trigger that is set: command, event, count, condition
 *
 *   a probe --> trace_event_write() --> trace_triggers_call() --> trigger->func()
 *                    |                       before the event is recorded
 *                    `----------------> trace_triggers_call_late() --> trigger->func()
 *                                            afterwards, with TRACE_TRIGGER_AFTER_RECORD
 *
 * A trigger sees each occurrence of the event, recorded or not; so it is a soft user of the event
 * (event_file.h). Only set_event_pid keeps events from triggers.
 *
 * Context:   func - any, NMI included, preemption off. All else - thread, config lock held.
 * Locking:   the config lock. Probes walk an event's triggers without a lock.
 * Ownership: a trigger belongs to its event_file. It is freed when no probe can use it any more.
 *            Commands are never freed.
 */
#ifndef TRACE_TRIGGER_H
#define TRACE_TRIGGER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "count.h"
#include "expr/expr_cursor.h"

struct trace_array;
struct trace_event_file;
struct expr_program;
struct trace_seq;
struct trace_trigger;
struct trace_trigger_args;

/* One occurrence of an event. */
struct trace_trigger_hit {
	const struct trace_event_file *file;
	/* The event; its head is filled in if the trigger is marked TRACE_TRIGGER_HEAD. */
	void *entry;
	uint32_t bytes;
	uintptr_t caller; /* an address in the probe, whose frame is on the stack */
};

typedef void (*trace_trigger_fn)(struct trace_trigger *trigger,
				 const struct trace_trigger_hit *hit);

enum trace_trigger_flag {
	/*
	 * Func is called after the event was recorded, the condition tested before. An event has at
	 * most TRACE_TRIGGER_MAX_LATE such triggers.
	 */
	TRACE_TRIGGER_AFTER_RECORD = 2,
	/* The list shows the trigger behind those without this flag, the oldest first. */
	TRACE_TRIGGER_LISTED_LAST = 4,
	/* Opening the file for writing with truncation removes the trigger. */
	TRACE_TRIGGER_TRUNCATED = 8,
	/*
	 * The trigger acts on another event of the instance, and is its soft user, too:
	 * NAME:SYSTEM:EVENT[:COUNT].
	 */
	TRACE_TRIGGER_HAS_TARGET = 16,
	/* Mistakes are logged in error_log as NAME:SYSTEM:EVENT, as on Linux. */
	TRACE_TRIGGER_NAMES_EVENT = 32,
};

#define TRACE_TRIGGER_MAX_LATE 8u

/* A command: the meaning of a name written to `trigger`. Every function but func may be NULL. */
struct trace_trigger_command {
	const char *name;
	uint32_t flags; /* flags of enum trace_trigger_flag */
	/* Position in the list of available triggers: smaller numbers come first. */
	uint32_t place;
	/*
	 * An event has at most one trigger of a kind, or of a kind and target: a second one is
	 * -EEXIST, and `!` with any command of the kind removes it. NULL: any number of them, which
	 * trace_trigger_find() does not find.
	 */
	const char *kind;

	/* Act. For a trigger with a count, this calls trace_trigger_take() first. */
	trace_trigger_fn func;
	/*
	 * Carry out a written line that begins with the name. Returns 0, or -errno after
	 * trace_trigger_blame(). NULL for commands that set or remove a trigger, as most do.
	 */
	int (*run)(const struct trace_trigger_command *command, struct trace_trigger_args *args);
	/*
	 * Prepare the instance for a trigger about to be set; the preparation stays if setting
	 * fails after all. May give the trigger another func, and mark it. Returns 0, or -errno not
	 * to set it.
	 */
	int (*prepare)(struct trace_trigger *trigger);
	/* Do others need the trigger, so that truncation leaves it? NULL: never. */
	bool (*is_needed)(const struct trace_trigger *trigger);
	/*
	 * Write the trigger's line, newline included. NULL for the usual form, see
	 * trace_trigger_show().
	 */
	void (*print)(const struct trace_trigger *trigger, struct trace_seq *seq);
	/* End a trigger taken out of the list; func may still be running. */
	void (*end)(struct trace_trigger *trigger);
	/* Free the contents of `private`; func does not run any more. */
	void (*free)(struct trace_trigger *trigger);
};

/* A table of commands of a feature, which one without a name ends, in the list of all. */
struct trace_triggers {
	const struct trace_trigger_command *commands;
	struct trace_triggers *next;
};
/* Make the commands of a feature known; for its init(). */
void trace_triggers_register(struct trace_triggers *triggers);

/* Marks of a trigger: additional work for probes, besides calling func. */
enum trace_trigger_mark {
	TRACE_TRIGGER_HEAD = 1, /* its condition or func reads the head of the event */
	TRACE_TRIGGER_LATE = 2, /* TRACE_TRIGGER_AFTER_RECORD */
	TRACE_TRIGGER_IF = 4,	/* it has a condition */
	/* Func may switch the event: TRACE_TRIGGER_HAS_TARGET. */
	TRACE_TRIGGER_SWITCHES = 8,
};

/* A trigger that is set. Members that probes read come first. */
struct trace_trigger {
	struct trace_trigger *_Atomic next;
	uint32_t marks;		     /* marks of enum trace_trigger_mark */
	struct expr_program *filter; /* condition, or NULL */
	trace_trigger_fn func;	     /* the command's, or one chosen by its prepare() */
	void *private;		     /* for the command */
	_Atomic uint64_t count;	     /* repetitions left, or TRACE_COUNT_UNLIMITED */
	struct trace_event_file *file;
	struct trace_event_file *target; /* with TRACE_TRIGGER_HAS_TARGET, else NULL */
	const struct trace_trigger_command *command;
	char *filter_text;		 /* text of the condition, or NULL */
	size_t filter_bytes;		 /* of filter_text, NUL included */
	struct trace_trigger *next_gone; /* in the list of triggers taken out */
};

/*
 * Take one from the trigger's count, for func. Returns false, not to act, when it is 0. Any
 * context.
 */
static inline bool trace_trigger_take(struct trace_trigger *trigger)
{
	return trace_count_take(&trigger->count);
}

/* Give back to the count, for func that found nothing to do after take. Any context. */
static inline void trace_trigger_give_back(struct trace_trigger *trigger)
{
	trace_count_give_back(&trigger->count);
}

/* Work to be done after the record of an event, whether it was recorded or not. */
struct trace_trigger_later {
	void (*func)(const struct trace_trigger_hit *hit, const struct trace_trigger_later *later);
	void *what; /* argument: the trigger, or other data for func */
	const void *entry;
	uint64_t value;
	uint32_t nr_taken; /* snapshots taken before the event was recorded */
};

/* Late work of one occurrence, on the stack of a probe. */
struct trace_triggers_late {
	/* There is late work, or the event may have been switched. If not, the rest is not set. */
	bool is_more;
	uint32_t nr;
	struct trace_trigger_later at[TRACE_TRIGGER_MAX_LATE + 1];
};

/*
 * State of one occurrence on a probe's stack. Every hit passed to functions of triggers is in one.
 */
struct trace_trigger_visit {
	struct trace_trigger_hit hit;
	struct trace_triggers_late late;
};

static inline struct trace_triggers_late *
trace_triggers_late_of(const struct trace_trigger_hit *hit)
{
	return &((struct trace_trigger_visit *)(uintptr_t)hit)->late;
}

/* Ask the probe to look at the late work after the triggers; for func. Any context. */
static inline void trace_triggers_note_more(const struct trace_trigger_hit *hit)
{
	struct trace_triggers_late *late = trace_triggers_late_of(hit);

	if (!late->is_more)
		late->nr = 0;
	late->is_more = true;
}

/*
 * Defer work until after the record, or do it at once if there is no room; for func. Any context.
 */
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

/* ---- The written text ---- */

struct trace_trigger_args {
	struct trace_event_file *file;
	bool is_removal; /* the line began with `!` */
	/* The text behind the name and its separator, without blanks at its ends. */
	struct expr_word text;
	const char *why; /* the mistake, or NULL */
	const char *at;	 /* place of the mistake in the line, or NULL for the name */
};

/* A mistake in a line of `trigger`. */
struct trace_trigger_error {
	const char *why;			     /* a text that lasts, or NULL */
	const char *at;				     /* place in the line */
	const struct trace_trigger_command *command; /* NULL when there is no such command */
};

/* Record a mistake for error_log; `why` lasts. Returns `err`. */
int trace_trigger_blame(struct trace_trigger_args *args, const char *at, const char *why, int err);

/* The properties of a trigger for trace_trigger_set(). */
struct trace_trigger_wish {
	uint64_t count;
	struct expr_word condition; /* the expression without `if`; of length 0 for none */
	struct trace_event_file *target;
	void *private;
};

/* ---- Triggers of an event ---- */

/*
 * Set a trigger. Returns 0; -EEXIST; -EINVAL or another error of a filter; -ENOSPC for too many
 * that act after the record; -ENOMEM; an error of prepare(), or of patching. After an error nothing
 * has changed, and wish->private is still the caller's.
 */
int trace_trigger_set(const struct trace_trigger_command *command, struct trace_trigger_args *args,
		      const struct trace_trigger_wish *wish);
/* Find the trigger of a kind and target, or NULL. */
struct trace_trigger *trace_trigger_find(const struct trace_event_file *file,
					 const struct trace_trigger_command *command,
					 const struct trace_event_file *target);
/* Remove a trigger. When this returns, func does not run any more, and the trigger is freed. */
void trace_trigger_remove(struct trace_trigger *trigger);
/*
 * Print the trigger's line of the file `trigger`: in its command's form, or
 * NAME[:SYSTEM:EVENT]:count=N and condition.
 */
void trace_trigger_show(const struct trace_trigger *trigger, struct trace_seq *seq);

/* ---- For the file `trigger`, and the boot parameter trace_trigger ---- */

/* Carry out a line of `trigger`. Returns 0, or -errno with *out_error. */
int trace_triggers_write(struct trace_event_file *file, const struct expr_word *line,
			 struct trace_trigger_error *out_error);
/* Remove the triggers that truncation removes. */
void trace_triggers_truncate(struct trace_event_file *file);
/*
 * Set the triggers of a list EVENT.TRIGGER[ if CONDITION],...; EVENT is a name in any system. Errors
 * are logged.
 */
void trace_triggers_boot(struct trace_array *tr, const char *list);
/* The next of all commands, by `place`. Start with NULL; returns NULL behind the last. */
const struct trace_trigger_command *
trace_trigger_command_behind(const struct trace_trigger_command *before);

/* Remove the triggers of all events of an instance that goes. For event_file.c. */
void trace_triggers_array_gone(struct trace_array *tr);

/* ---- For event_write.c. Any context, preemption off. ---- */

/* Call the triggers that act before the record; late work is in *trace_triggers_late_of(hit). */
void trace_triggers_call(const struct trace_trigger_hit *hit);
/* Do the late work, whether the event was recorded or not. */
void trace_triggers_call_late(const struct trace_trigger_hit *hit);

#endif
