/*
 * A trace event in an instance: its switch, and the conditions for recording it. Such an object is
 * made at the first use of the event in that instance, and stays as long as the instance.
 *
 *   event on in an instance --> its probe is registered, once for all instances
 *   the tracepoint is hit   --> stages/probe.h --> <trace/event_probe.h> --> event_write.c
 *
 * The flag TRACE_EVENT_RECORDS is the switch. The probe is also registered while the event has soft
 * users: for example a trigger, which acts on an event that is off, or a command that switches the
 * event on when a function is called. With its probe registered an event can be switched in any
 * context, because no code has to be patched: trace_event_flag(file, TRACE_EVENT_RECORDS, on).
 *
 * Context:   thread.
 * Locking:   the config lock; probes read `front`, and members whose comments mention probes.
 * Ownership: an event_file belongs to its instance.
 */
#ifndef TRACE_EVENT_FILE_H
#define TRACE_EVENT_FILE_H

#include <stdatomic.h>
#include <trace/trace_events.h>
#include "count.h"
#include "expr/expr_cursor.h"
#include "instance/array.h"

struct expr_program;
struct trace_event_filter_text;
struct trace_event_rejects;
struct trace_event_watch;
struct trace_trigger;

/*
 * A command enable_event or disable_event of set_ftrace_filter, which switches an event when a
 * function is called.
 */
struct trace_event_switch {
	struct trace_event_file *file;
	_Atomic uint64_t count; /* repetitions left: count.h */
	bool on;
	struct trace_event_switch *_Atomic next; /* in the list of the same event */
};

struct trace_event_file {
	union {
		struct trace_event_front front; /* first member: probes have a pointer to it */
		struct trace_event_file_front own;
	};
	uint16_t own_depth;  /* preemption depth that the tracepoint adds */
	uint16_t type;	     /* number of the event's type */
	uint32_t entry_base; /* TRACE_ENTRY_BASE(type) */
	struct trace_event_call *call;
	struct trace_array *tr;
	struct trace_event_file *_Atomic next_of_call; /* walked by probes */
	struct trace_event_file *next_of_array;
	struct trace_trigger *_Atomic triggers;	     /* walked by probes: trigger.h */
	struct trace_event_watch *_Atomic watches;   /* walked by probes: event_watch.h */
	struct trace_event_switch *_Atomic switches; /* walked by `why` with preemption off */
	struct expr_program *_Atomic filter;	     /* valid with TRACE_EVENT_FILTERS */
	/*
	 * The filter's text, and that of a filter refused since then; or NULL. For event_filter.c.
	 */
	struct trace_event_filter_text *_Atomic filter_text;
	struct trace_event_filter_text *filter_refused;
	/* Time of setting the filter, by trace_plat_clock_ns(). */
	_Atomic uint64_t filter_since_ns;
	struct trace_event_rejects *_Atomic rejects; /* valid with TRACE_EVENT_FILTERS */
	uint32_t nr_soft;   /* users that need the probe, whether the event is on or off */
	bool has_place;	    /* the event is about a place in code, where its stacks begin */
	bool has_stacks;    /* that, or the stack of the program is wanted */
	bool is_registered; /* counted in call->nr_users: the probe is called for it */
	/* Its use changes, while several are switched at once: see mark_changes(). */
	bool has_changed;
};

/* Data of events in an instance. */
struct trace_array_events {
	struct trace_event_file *files;
	/* event_marker.h: the event_file of ftrace:print, or NULL */
	struct trace_event_file *marker;
	/* Events unseen by triggers, for lack of room to build them: event_scratch.h. */
	_Atomic uint64_t nr_unseen;
};
TRACE_SLOT(trace_events_of, struct trace_array_events, events)

/* Set the front of an event without any use yet. */
void trace_event_front_init(struct trace_event_call *call);

/* Find the event_file of an event in an instance. Returns NULL before its first use there. */
struct trace_event_file *trace_event_file_find(const struct trace_array *tr,
					       const struct trace_event_call *call);
/* Find or make the event_file of an event in an instance. Returns NULL when out of memory. */
struct trace_event_file *trace_event_file_get(struct trace_array *tr,
					      struct trace_event_call *call);

/*
 * Can the type be switched? Others are types without files of this kind, and ftrace:print, which
 * only has triggers.
 */
static inline bool trace_event_is_switched(const struct trace_event *event)
{
	return event->call && event->call->event_class;
}

/*
 * Find a trace event that can be switched, by system and name, or NULL. Config lock held, so that
 * it stays.
 */
struct trace_event_call *trace_event_call_find(const char *system, const char *name);
/* The same by words of a text, also of a type that cannot be switched. */
struct trace_event_call *trace_event_call_named(const struct expr_word *system,
						const struct expr_word *name);

/* Set or clear flags of enum trace_event_flag. Returns true if any has changed. Any context. */
static inline bool trace_event_flag(struct trace_event_file *file, uint32_t flags, bool on)
{
	uint32_t old;

	if (on)
		old = ~atomic_fetch_or_explicit(&file->front.flags, flags, memory_order_relaxed);
	else
		old = atomic_fetch_and_explicit(&file->front.flags, ~flags, memory_order_relaxed);
	return old & flags;
}

/* Update the front after a change of TRACE_EVENT_PIDS or TRACE_EVENT_WATCHED. Config lock held. */
static inline void trace_event_flag_early(struct trace_event_file *file)
{
	uint32_t flags = file->front.flags & (TRACE_EVENT_PIDS | TRACE_EVENT_WATCHED);

	trace_event_flag(file, TRACE_EVENT_EARLY_PIDS, flags == TRACE_EVENT_PIDS);
}

static inline bool trace_event_is_on(const struct trace_event_file *file)
{
	return file->front.flags & TRACE_EVENT_RECORDS;
}

/*
 * Switch an event that has a soft user, if its switch differs and *count allows it. Exactly one is
 * taken from *count for each real change, whatever other CPUs do meanwhile. Any context.
 */
static inline void trace_event_switch_counted(struct trace_event_file *file,
					      _Atomic uint64_t *count, bool on)
{
	if (trace_event_is_on(file) == on || !trace_count_take(count))
		return;
	if (!trace_event_flag(file, TRACE_EVENT_RECORDS, on))
		trace_count_give_back(count);
}

/*
 * Add or remove one soft user (see above). The switch stays as it is. get returns 0, or with
 * nothing changed an error of trace_events_switch(). Config lock held.
 */
int trace_event_soft_get(struct trace_event_file *file);
void trace_event_soft_put(struct trace_event_file *file);

/*
 * Register and unregister probes of the instance's events as their users demand: event_use.c.
 * Returns 0, or the first error; events whose probe could not be registered are off. Config lock
 * held.
 */
int trace_event_update_probes(struct trace_array *tr);

/* Is the event on in any instance, or has it a soft user there? Config lock held. */
bool trace_event_files_are_used(const struct trace_event_call *call);
/*
 * Take the event_files out of an event without users. After tracepoint_synchronize_unregister(),
 * free all that have left. Config lock held.
 */
void trace_event_files_leave(struct trace_event_call *call);
void trace_event_files_left(void);

/* A time, with the clock that it was read from. */
struct trace_event_time {
	ring_clock_fn clock; /* as for ring_buffer_set_clock() */
	uint64_t now;
};
/*
 * Record an event with a given time, which is used if the ring has this clock, not NULL; otherwise
 * as trace_event_record(). For event_write.c's callers with preemption off.
 */
void trace_event_record_time(const struct trace_event_front *front, const void *entry,
			     uint64_t step, const struct trace_event_time *time);

/* A choice of events. */
struct trace_event_choice {
	/* Patterns with * and ?, both of which have to match; NULL for all. */
	const char *system;
	const char *name;
	/* A pattern for the system or the name; NULL when unused. */
	const char *match;
	const struct trace_event_call *call; /* a single event; NULL for the patterns above */
};

/*
 * The next trace event of the choice; NULL behind the last. The caller sets *at to 0 before the
 * first call and leaves it alone. trace_events_lock() is held.
 */
struct trace_event_call *trace_event_next_chosen(const struct trace_event_choice *choice,
						 size_t *at);

/*
 * Switch the chosen events on or off. Code is patched once for all of them. Returns 0; -EINVAL when
 * there is no such event; -ENOMEM, or an error of patching, after which some may have been
 * switched. Config lock held.
 */
int trace_events_switch(struct trace_array *tr, const struct trace_event_choice *choice, bool on);
/*
 * The state of the chosen events, as the file `enable` shows it: "0", "1", or "X" for some of each;
 * "?" when there is none. Among several, events with soft users count as on; a single event of
 * choice->call is then "0*" or "1*". Config lock held.
 */
const char *trace_events_state(const struct trace_array *tr,
			       const struct trace_event_choice *choice);

/*
 * Switch events by a word of set_event: `SYSTEM:EVENT`, `SYSTEM:*`, `*:EVENT`, or a name of either,
 * each with * and ?; with `!` in front they are switched off. `word` is as before afterwards.
 * Returns the result of trace_events_switch(), or -EINVAL for an empty word. Config lock held.
 */
int trace_events_set_word(struct trace_array *tr, char *word);
/*
 * Switch events by each word of `list`, which has commas between and is cut up. Errors are logged
 * with the name of the boot parameter. Config lock held.
 */
void trace_events_boot(struct trace_array *tr, char *list, const char *param);
/* Switch all events off. Config lock held. */
int trace_events_clear(struct trace_array *tr);

/* React to a changed option of the instance. Config lock held. */
void trace_events_option_changed(struct trace_array *tr, uint32_t option, bool on);
/*
 * Prepare for the instance's removal: unregister its probes and end its soft users. Config lock
 * held.
 */
void trace_events_array_gone(struct trace_array *tr);
/* Free the event_files of an instance without users. */
void trace_events_array_free(struct trace_array *tr);

#endif
