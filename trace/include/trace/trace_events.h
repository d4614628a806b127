/*
 * Trace events in the words that definitions for Linux are written in. A header with definitions
 * can be used as it is, given the types that it names:
 *
 * 	#undef TRACE_SYSTEM
 * 	#define TRACE_SYSTEM shelf
 *
 * 	#if !defined(SHELF_EVENTS_H) || defined(TRACE_HEADER_MULTI_READ)
 * 	#define SHELF_EVENTS_H
 *
 * 	#include <trace/trace_events.h>
 *
 * 	TRACE_EVENT(shelf_put,
 * 		TP_PROTO(int shelf, const char *what),
 * 		TP_ARGS(shelf, what),
 * 		TP_STRUCT__entry(
 * 			__field(int, shelf)
 * 			__string(what, what)
 * 		),
 * 		TP_fast_assign(
 * 			__entry->shelf = shelf;
 * 			__assign_str(what, what);
 * 		),
 * 		TP_printk("shelf=%d what=%s", __entry->shelf, __get_str(what))
 * 	);
 *
 * 	#endif
 *
 * 	#undef TRACE_INCLUDE_PATH
 * 	#define TRACE_INCLUDE_PATH .
 * 	#undef TRACE_INCLUDE_FILE
 * 	#define TRACE_INCLUDE_FILE shelf_events
 * 	#include <trace/define_trace.h>
 *
 * A file that includes it has the tracepoint: trace_shelf_put(3, "box"), and the rest of
 * <trace/tracepoint.h>. One .c file defines CREATE_TRACE_POINTS before it includes the header.
 * There <trace/define_trace.h> reads the header again, several times, and makes of each definition:
 *
 *   stages/define.h   the tracepoint
 *   stages/entry.h    struct trace_event_raw_NAME: the event in the ring buffer
 *   stages/sizes.h    how long its texts and arrays are, and where in the event they go
 *   stages/fields.h   the description of its fields, for `format`, filters and tools
 *   stages/text.h     the function that prints TP_printk()
 *   stages/probe.h    the function that the tracepoint calls: it builds the event, and hands it to
 *                     <trace/event_probe.h>
 *   stages/call.h     struct trace_event_call event_NAME, in the list of all events
 *
 * Context:   trace_NAME() - any, NMI included, if all that TP_fast_assign() does may be done there.
 * Ownership: events are static.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TRACE_EVENTS_H
#define TRACE_TRACE_EVENTS_H

#include <trace/event.h>
#include <trace/event_probe.h>
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include <trace/tracepoint.h>

TRACE_BEGIN_DECLS

struct trace_event_file;

/* An event without a tracepoint begins or ends to be used. */
struct trace_event_change {
	struct trace_event_call *call;
	bool is_begin;
	int err; /* result of the change; 0 at first */
};

/* The common properties of the events of one DECLARE_EVENT_CLASS(). */
struct trace_event_class {
	const char *system;
	/* The description of the fields, and how many there are; NULL: event.fields has them. */
	const struct trace_event_field *(*fields)(size_t *out_nr);
	tracepoint_probe_fn probe; /* its data is the struct trace_event_call */
	/*
	 * Of events without a tracepoint, or NULL: makes changes, each of another event that has
	 * this function, all at once, the event that was made first in front. One that ends does so
	 * without an error. Thread, config lock held.
	 */
	void (*change)(struct trace_event_change *changes, size_t nr);
	/*
	 * NULL, or called when an instance has begun or ended to use the event. Thread, config lock
	 * held.
	 */
	void (*used)(struct trace_event_call *call);
	/* Switching all events on leaves it off, as with Linux's TRACE_EVENT_FL_IGNORE_ENABLE. */
	bool ignore_enable;
	/* of these events: how often preemption is off because of their probe */
	uint16_t own_depth;
	/*
	 * The other event whose probe writes this one, so that its depth counts; NULL: they have a
	 * probe of their own.
	 */
	const struct trace_event_call *(*source)(const struct trace_event_call *call);
	/*
	 * The address of the code that the event is about, by its fields; NULL: the caller of its
	 * probe. Stacks begin there; 0: there is no stack in the kernel. Probe context.
	 */
	uintptr_t (*place)(const void *entry);
	/*
	 * The option `userstacktrace` is set in the event's instance, and an event was recorded: have the
	 * program's stack written. NULL: it is, at once. Probe context.
	 */
	void (*user_stack)(const struct trace_event_file *file);
};

struct trace_event_call {
	struct trace_event event;		     /* its type is 0 until it is registered */
	const struct trace_event_class *event_class; /* NULL: it is never switched, see `print` */
	/* NULL: the event's writer looks at `files`, and calls trace_event_write() */
	struct tracepoint *tp;
	/* Called before the first instance switches it on, after the last has; or NULL. */
	int (*reg)(void);
	void (*unreg)(void);
	struct trace_event_file *TRACE_ATOMIC files; /* of the instances that have used it */
	/*
	 * The front that probes look at: that of the only file, or `several`. See
	 * <trace/event_probe.h>.
	 */
	struct trace_event_front *TRACE_ATOMIC front;
	struct trace_event_front several;
	/* Number of instances that want it now: with one the probe is registered. */
	uint32_t nr_users;
	bool is_going; /* it is being removed: its directory is hidden */
};

/*
 * Make an event known at run time, and forget it. add: 0, or an error of register_trace_event().
 * remove: 0; -EBUSY: it is on somewhere, has triggers or the like, or its directory or one of its
 * files is in use; -ENOENT: it is not known. The event belongs to the caller again after that.
 * Thread, no lock of trace/ held.
 */
int trace_add_event_call(struct trace_event_call *call);
int trace_remove_event_call(struct trace_event_call *call);

/* ---- For the functions that stages/text.h makes ---- */

struct trace_print_flags_u64 {
	unsigned long long mask;
	const char *name;
};

/* The name of the event that is printed. */
const char *trace_iter_name(const struct trace_iter *iter);
/*
 * Empty room for the texts of __print_flags() and the like, which last until the line is printed.
 */
struct trace_seq *trace_iter_scratch(const struct trace_iter *iter);
/*
 * Begin the text of the event that is printed, whose fixed part has `fixed` bytes, with its name.
 * Returns the event; or NULL for one that is too short, which the text then says. *out_scratch:
 * trace_iter_scratch().
 */
void *trace_iter_begin_text(const struct trace_iter *iter, struct trace_seq *seq, uint32_t fixed,
			    struct trace_seq **out_scratch);
/* Each writes to `p` and returns the text, ended by NUL. */
const char *trace_print_flags_seq(struct trace_seq *p, const char *delim, unsigned long long flags,
				  const struct trace_print_flags_u64 *names, size_t nr);
const char *trace_print_symbols_seq(struct trace_seq *p, unsigned long long value,
				    const struct trace_print_flags_u64 *names, size_t nr);
const char *trace_print_hex_seq(struct trace_seq *p, const void *bytes, int len, bool is_joined);
const char *trace_print_array_seq(struct trace_seq *p, const void *array, int nr,
				  size_t element_bytes);
struct trace_hex_dump {
	const char *prefix; /* before each row */
	int prefix_type;    /* kind of the text behind it: 1 the address, 2 the offset */
	int row_bytes;	    /* 16 or 32 */
	int group_bytes;    /* 1, 2, 4 or 8 */
	bool has_ascii;
};
const char *trace_print_hex_dump_seq(struct trace_seq *p, const struct trace_hex_dump *form,
				     const void *bytes, size_t len);
const char *trace_print_bitmask_seq(struct trace_seq *p, const void *mask, uint32_t bytes);
/* `bytes` bytes of room for the caller, or the rest of the room and a NUL. */
char *trace_print_room_seq(struct trace_seq *p, size_t bytes);

/* ---- Enumerators and sizes that TP_printk() uses by name ---- */

/* In a `format` file the name, as a word of its own, is replaced by the value. */
struct trace_eval_map {
	const char *system;
	const char *text;
	unsigned long value;
};

#define TRACE_EVENT_STRING_(x) #x
#define TRACE_EVENT_STRING(x)  TRACE_EVENT_STRING_(x)

TRACE_END_DECLS

/*
 * DECLARE_TRACE_CONDITION(), with the call of the probe where the tracepoint stands, out of line
 * of the code around it: that is cheaper by a call than trace_NAME_call(). The atomic one stands
 * where preemption or interrupts are off anyway.
 */
#define TRACE_EVENT_DECLARE(name, proto, args, cond)                                               \
	TRACEPOINT_DECLARE(name, PARAMS(proto));                                                   \
	static TRACE_ALWAYS_INLINE TRACE_UNUSED void trace_##name(proto)                           \
	{                                                                                          \
		if (trace_##name##_enabled() && (cond)) {                                          \
			trace_plat_preempt_disable();                                              \
			TRACEPOINT_CALL_PROBES(name, args);                                        \
			trace_plat_preempt_enable();                                               \
		}                                                                                  \
	}                                                                                          \
	struct tracepoint
#define TRACE_EVENT_DECLARE_ATOMIC(name, proto, args)                                              \
	TRACEPOINT_DECLARE(name, PARAMS(proto));                                                   \
	static TRACE_ALWAYS_INLINE TRACE_UNUSED void trace_##name(proto)                           \
	{                                                                                          \
		if (trace_##name##_enabled())                                                      \
			TRACEPOINT_CALL_PROBES(name, args);                                        \
	}                                                                                          \
	struct tracepoint

#include <trace/stages/declare.h>

#endif
