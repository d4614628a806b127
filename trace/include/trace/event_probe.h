/*
 * Data and functions for the probes of trace events. <trace/stages/probe.h> makes two functions of
 * each event class:
 *
 *   trace_event_probe_NAME()    is called by the tracepoint. If the event is to be recorded in one
 *                               instance, on no condition, it is built on the stack, and
 *                               trace_event_record() copies it into the ring. When there are
 *                               conditions, those that can be decided without the event are.
 *   trace_event_special_NAME()  builds it for all other conditions, and makes the first comparison
 *                               of a filter at once: most events that do not pass fail that.
 *
 * Both look at the event's front: that of its only struct trace_event_file; or, when several
 * instances have one, or none has, the front `several` of the event itself.
 *
 * Context: any, preemption off.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_EVENT_PROBE_H
#define TRACE_EVENT_PROBE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/atomic.h>
#include <trace/compiler.h>
#include <trace/platform.h>
#include <trace/thread.h>

TRACE_BEGIN_DECLS

struct trace_event_call;
struct trace_event_file;
struct trace_ring_cpu;
struct trace_sched_thread;

enum trace_event_flag {
	TRACE_EVENT_RECORDS = 1,      /* it is on: events that pass are recorded */
	TRACE_EVENT_FILTERS = 2,      /* there is a filter */
	TRACE_EVENT_PIDS = 4,	      /* set_event_pid or set_event_notrace_pid is in use */
	TRACE_EVENT_SHARED = 8,	      /* of `several` alone: look at each instance's file */
	TRACE_EVENT_STACK = 16,	      /* option stacktrace: a stack behind each event */
	TRACE_EVENT_TRIGGERS = 32,    /* there are triggers */
	TRACE_EVENT_HEAD = 64,	      /* the filter looks at the head of the event */
	TRACE_EVENT_WATCHED = 128,    /* a watch wants events of any thread */
	TRACE_EVENT_EARLY_PIDS = 256, /* TRACE_EVENT_PIDS, without any watch */
	TRACE_EVENT_PRINTS = 512,     /* recorded events are printed, too: event_printk.h */
};
/* Flags of which at least one is set while the event is wanted. */
#define TRACE_EVENT_WANTED                                                                         \
	(TRACE_EVENT_RECORDS | TRACE_EVENT_SHARED | TRACE_EVENT_TRIGGERS | TRACE_EVENT_WATCHED)

/* A condition: some bits of 8 bytes of the event are in a range. */
struct trace_event_test {
	uint32_t offset; /* of the 8 bytes, from the start of the event */
	bool is_all;	 /* it is the whole filter, with no further comparisons */
	uint64_t mask;
	uint64_t lo;
	uint64_t span;
};

/* For an event without such a condition. */
extern const struct trace_event_test trace_event_any;

struct trace_event_front {
	TRACE_ATOMIC uint32_t flags; /* of enum trace_event_flag; changes in any context */
	/* The preempt word of a thread, less this, is the preempt depth of the traced code. */
	uint32_t depth_base; /* not of `several` */
	struct trace_event_call *call;
	/*
	 * An event that fails this test is not wanted: the beginning of the filter, or
	 * trace_event_any.
	 */
	const struct trace_event_test *TRACE_ATOMIC test;
};

/* The beginning of the front of an instance's file. */
struct trace_event_file_front {
	struct trace_event_front front;
	/* With TRACE_EVENT_PIDS: the instance's bit in trace_thread.ignored_by. */
	TRACE_ATOMIC uint64_t pid_mask;
	const TRACE_ATOMIC uint32_t *is_off; /* not 0: recording is switched off */
};

#define TRACE_EVENT_FILE_FRONT(front) ((const struct trace_event_file_front *)(front))

/* The acquire pairs with the release of set_front() in event_file.c. */
#define trace_event_front_of(call)                                                                 \
	trace_atomic_load_acquire(&((struct trace_event_call *)(call))->front)

static TRACE_ALWAYS_INLINE uint32_t trace_event_flags(const struct trace_event_front *front)
{
	return trace_atomic_load_relaxed(&front->flags);
}

/* With the flag TRACE_EVENT_RECORDS alone: is recording switched off? */
static TRACE_ALWAYS_INLINE bool trace_event_is_off(const struct trace_event_front *front)
{
	return trace_atomic_load_relaxed(TRACE_EVENT_FILE_FRONT(front)->is_off);
}

/* Is this thread one that does not count for the instance? */
static TRACE_ALWAYS_INLINE bool trace_event_ignores(const struct trace_event_front *front,
						    const struct trace_thread *thread)
{
	return thread->ignored_by &
	       trace_atomic_load_relaxed(&TRACE_EVENT_FILE_FRONT(front)->pid_mask);
}

/*
 * May the event be wanted, with other flags than TRACE_EVENT_RECORDS alone? A second thread of the
 * event, unless that is a constant NULL, is looked at later.
 */
static TRACE_ALWAYS_INLINE bool trace_event_may_be_wanted(const struct trace_event_front *front,
							  uint32_t flags,
							  const struct trace_sched_thread *other)
{
	if (!(flags & TRACE_EVENT_WANTED))
		return false;
	return other || !(flags & TRACE_EVENT_EARLY_PIDS) ||
	       !trace_event_ignores(front, trace_plat_current());
}

static TRACE_ALWAYS_INLINE bool trace_event_passes(const struct trace_event_test *test,
						   const void *entry)
{
	uint64_t word;

	__builtin_memcpy(&word, (const char *)entry + test->offset, sizeof(word));
	return (word & test->mask) - test->lo <= test->span;
}

/* ---- Writing: `entry` is the event, whose head, struct trace_entry, is filled in here ---- */

/* Bytes that trace_event_record() copies at most. */
#define TRACE_EVENT_SHORT 112u
/* Room for such an event while trace_event_take_text() copies texts into it by eight bytes. */
#define TRACE_EVENT_ROOM (TRACE_EVENT_SHORT + 8)
/* Room for texts and arrays on the stack, when an event may not be recorded after all. */
#define TRACE_EVENT_SCRATCH 256u
/*
 * The step that an event of `bytes` bytes, a multiple of 4, adds to a ring's position: one event,
 * in the high half, and its bytes with a head of 4, in the low half.
 */
#define TRACE_EVENT_STEP(bytes) ((1ull << 32) + 4 + (bytes))

/*
 * Record it, of at most TRACE_EVENT_SHORT bytes, in the instance whose file the front belongs to.
 * NULL: it was not recorded.
 */
const void *trace_event_record(const struct trace_event_front *front, const void *entry,
			       uint64_t step);
/*
 * Write it into all instances that want it; it has passed `test`, that of the front. `other` is a
 * second thread that it is about, or NULL: set_event_pid looks at both.
 */
void trace_event_write_special(const struct trace_event_front *front, void *entry, uint64_t step,
			       const struct trace_event_test *test,
			       const struct trace_sched_thread *other);
/* The same, shorter, for one that has just had the flag TRACE_EVENT_TRIGGERS alone. */
void trace_event_write_triggers(const struct trace_event_front *front, void *entry, uint64_t step);
/* For an event without a tracepoint, of `bytes` bytes: all of this. */
void trace_event_write(struct trace_event_call *call, void *entry, uint32_t bytes,
		       const struct trace_sched_thread *other);

/* The second argument of a tracepoint, if it is a thread of the scheduler, or NULL. */
#define TRACE_EVENT_SECOND(first, second, ...)                                                     \
	_Generic((second), const struct trace_sched_thread * : (second), default : NULL)

/* An event that is too long for the stack. */
struct trace_event_room {
	const struct trace_event_front *front;
	struct trace_ring_cpu *ring; /* that it is built in; NULL: it will be copied */
};
/* Room for it, to be given to commit; or NULL. Between the two preemption stays off. */
void *trace_event_reserve(const struct trace_event_front *front, uint32_t bytes,
			  struct trace_event_room *out_room);
void trace_event_commit(struct trace_event_room *room, void *entry, uint32_t bytes);

/* ---- Texts ---- */

/* Length with its NUL of a text, or of "(null)". */
uint32_t trace_event_text_bytes(const char *text);
/*
 * Measure and copy a text at once: copy the text, or "(null)", to `to` and return its length with
 * its NUL. When that is more than `room`, the copy is useless. Bytes behind the text, up to to[room
 * + 7], are written as well.
 */
uint32_t trace_event_take_text(char *to, const char *text, uint32_t room);
/* Copy the text, or "(null)", cut to `bytes` with its NUL; `bytes` may be 0. */
void trace_event_copy_text(char *to, const char *text, uint32_t bytes);
/* The same two for a text that `fmt` and *va make; Linux's name of the type is va_list. */
uint32_t trace_event_vtext_bytes(const char *fmt, va_list *va);
void trace_event_vtext(char *to, uint32_t bytes, const char *fmt, va_list *va);

/*
 * The length of a text with its NUL. If its event is built in the TRACE_EVENT_ROOM bytes at
 * `event`, and is short so far, it is also copied there, to offset `at`. NULL: it is not.
 */
static TRACE_ALWAYS_INLINE uint32_t trace_event_text_first(char *event, size_t at, const char *text)
{
	if (!event || at >= TRACE_EVENT_SHORT)
		return trace_event_text_bytes(text);
	return trace_event_take_text(event + at, text, TRACE_EVENT_SHORT - (uint32_t)at);
}

/*
 * Place a text or an array of `bytes` bytes behind the *data_bytes bytes of others, which are
 * behind the `fixed` bytes of fields. Returns offset and length as in a __data_loc field;
 * *data_bytes grows. Data that would not fit in an event gets length 0.
 */
static inline uint32_t trace_event_data_place(uint32_t fixed, uint32_t *data_bytes,
					      uint32_t element, size_t bytes)
{
	uint32_t align = element > 4 ? 4 : element;
	uint32_t at = fixed + *data_bytes;

	if (align > 1)
		at = (at + align - 1) / align * align;
	if (at > 0x7fff || bytes > 0x7fff)
		return 0;
	*data_bytes = at + (uint32_t)bytes - fixed;
	return at | (uint32_t)bytes << 16;
}

TRACE_END_DECLS

#endif
