/*
 * A trace event in an instance: is it on, and on what conditions is it recorded? Such an object is
 * made when somebody first wants something of the event in that instance, and stays as long as the
 * instance.
 *
 *   event on in an instance --> its probe is registered, once for all instances
 *   the tracepoint is hit   --> stages/probe.h --> <trace/event_probe.h> --> event_write.c
 *
 * On is the flag TRACE_EVENT_RECORDS. The probe is also registered while the event has soft users:
 * a trigger, say, which acts on an event that is off, or a command that switches the event on when
 * a function is called. With its probe registered an event can be switched in any context, because
 * no code has to be patched: trace_event_flag(file, TRACE_EVENT_RECORDS, on).
 *
 * Context:   thread.
 * Locking:   the config lock; probes read `front`, and what their comments say.
 * Ownership: an event_file belongs to its instance.
 */
#ifndef TRACE_EVENT_FILE_H
#define TRACE_EVENT_FILE_H

#include <stdatomic.h>
#include <trace/trace_events.h>
#include "count.h"
#include "instance/array.h"

struct trace_filter;
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
	_Atomic uint64_t count; /* how often it still switches: count.h */
	bool on;
	struct trace_event_switch *_Atomic next; /* of the same event */
};

struct trace_event_file {
	union {
		struct trace_event_front front; /* first: probes have a pointer to this */
		struct trace_event_file_front own;
	};
	uint16_t own_depth;  /* of the tracepoint */
	uint16_t type;	     /* of the event */
	uint32_t entry_base; /* TRACE_ENTRY_BASE(type) */
	struct trace_event_call *call;
	struct trace_array *tr;
	struct trace_event_file *_Atomic next_of_call; /* probes go through these */
	struct trace_event_file *next_of_array;
	struct trace_trigger *_Atomic triggers;	     /* trigger.h; probes walk it */
	struct trace_event_watch *_Atomic watches;   /* event_watch.h; probes walk it */
	struct trace_event_switch *_Atomic switches; /* `why` walks them with preemption off */
	struct trace_filter *_Atomic filter;	     /* with TRACE_EVENT_FILTERS */
	/* event_filter.c: its text, and that of one that was refused since; or NULL. */
	struct trace_event_filter_text *_Atomic filter_text;
	struct trace_event_filter_text *filter_refused;
	_Atomic uint64_t filter_since_ns;	     /* when it was set, by trace_plat_clock_ns() */
	struct trace_event_rejects *_Atomic rejects; /* with TRACE_EVENT_FILTERS */
	uint32_t nr_soft;   /* users that need the probe called, be the event on or off */
	bool has_place;	    /* it is about a place in code, where its stacks begin */
	bool is_registered; /* it counts in call->nr_users: the probe is called for it */
	bool has_changed;   /* while several are switched at once: see mark_changes() */
};

/* What an instance keeps for events. */
struct trace_array_events {
	struct trace_event_file *files;
	struct trace_event_file *marker; /* event_marker.h: that of ftrace:print, or NULL */
	/* Events that triggers have not seen, since there was no room to build them: event_scratch.h. */
	_Atomic uint64_t nr_unseen;
};
TRACE_SLOT_FITS(struct trace_array_events, events);

static inline struct trace_array_events *trace_events_of(const struct trace_array *tr)
{
	return TRACE_SLOT(tr, events);
}

/* Of an event that nobody has used yet. */
void trace_event_front_init(struct trace_event_call *call);

/* NULL: nobody has wanted anything of the event in this instance yet. */
struct trace_event_file *trace_event_file_find(const struct trace_array *tr,
					       const struct trace_event_call *call);
/* The same, made when there is none; NULL when out of memory. */
struct trace_event_file *trace_event_file_get(struct trace_array *tr,
					      struct trace_event_call *call);

/*
 * Is it one that is switched? The others are types that have no files of this kind, and ftrace:print,
 * which only has triggers.
 */
static inline bool trace_event_is_switched(const struct trace_event *event)
{
	return event->call && event->call->event_class;
}

/* The trace event of that system and name, if it is switched, or NULL. Config lock held, so that it stays. */
struct trace_event_call *trace_event_call_find(const char *system, const char *name);

/* Set or clear flags of enum trace_event_flag. Has that changed any? Any context. */
static inline bool trace_event_flag(struct trace_event_file *file, uint32_t flags, bool on)
{
	uint32_t old;

	if (on)
		old = ~atomic_fetch_or_explicit(&file->front.flags, flags, memory_order_relaxed);
	else
		old = atomic_fetch_and_explicit(&file->front.flags, ~flags, memory_order_relaxed);
	return old & flags;
}

/* After a change of TRACE_EVENT_PIDS or TRACE_EVENT_WATCHED. Config lock held. */
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
 * Switch an event that has a soft user, if it is not so already and *count allows it: one is taken
 * for each time that the event is really switched, whatever other CPUs do meanwhile. Any context.
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
 * One soft user more, or less: see above. The event stays on or off as it is. get: 0, or with
 * nothing changed an error as of trace_events_switch(). Config lock held.
 */
int trace_event_soft_get(struct trace_event_file *file);
void trace_event_soft_put(struct trace_event_file *file);

/*
 * Have the probes of the instance's events registered as they are wanted: event_use.c. 0, or the
 * first error; events whose probe could not be registered are off. Config lock held.
 */
int trace_event_update_probes(struct trace_array *tr);

/* Has any instance the event on, or a soft user of it? Config lock held. */
bool trace_event_files_are_used(const struct trace_event_call *call);
/*
 * The event_files of an event that nobody uses any more leave it; after
 * tracepoint_synchronize_unregister() all that have left are freed. Config lock held.
 */
void trace_event_files_leave(struct trace_event_call *call);
void trace_event_files_left(void);

/* A time that was read of a clock. */
struct trace_event_time {
	ring_clock_fn clock; /* as ring_buffer_set_clock() takes it */
	uint64_t now;
};
/*
 * As trace_event_record(), for an event of a time that is known already: it is the event's, if the
 * ring has this clock, which is not NULL. For event_write.c's callers with preemption off.
 */
void trace_event_record_time(const struct trace_event_front *front, const void *entry,
			     uint64_t step, const struct trace_event_time *time);

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
 * The state of the chosen events, as the file `enable` shows it: "0", "1", or "X" for some of each;
 * "?" when there is none. Among several those with soft users count as on; when choice->call says
 * which one is meant, it is "0*" or "1*". Config lock held.
 */
const char *trace_events_state(const struct trace_array *tr,
			       const struct trace_event_choice *choice);

/*
 * Switch events by a word of set_event: `SYSTEM:EVENT`, `SYSTEM:*`, `*:EVENT`, or a name of either,
 * each with * and ?; with `!` in front they are switched off. `word` is as before afterwards. The
 * result is that of trace_events_switch(); -EINVAL also for an empty one. Config lock held.
 */
int trace_events_set_word(struct trace_array *tr, char *word);
/*
 * Do that with each word of `list`, which has commas between and is cut up. Errors are logged, with
 * the name of the boot parameter. Config lock held.
 */
void trace_events_boot(struct trace_array *tr, char *list, const char *param);
/* Switch all events off. Config lock held. */
int trace_events_clear(struct trace_array *tr);

/* An option of the instance has changed. Config lock held. */
void trace_events_option_changed(struct trace_array *tr, uint32_t option, bool on);
/* The instance goes: no probe is registered for it any more. Soft users end. Config lock held. */
void trace_events_array_gone(struct trace_array *tr);
/* Nobody uses the instance any more: free its event_files. */
void trace_events_array_free(struct trace_array *tr);

#endif
