/*
 * tracing_on of an instance: off and on from any context, with a note about the last switching off.
 *
 * The note is made only when the switch moves, so recording does not get slower. Of several
 * contexts that switch at once the one that moved the switch makes the note; if another note is
 * being made at that very moment, in an interrupted context or on another CPU, that one stays.
 *
 * Context:   any, NMI included.
 * Locking:   none. The note has a version, odd while it is written; readers look again.
 */
#ifndef TRACE_SWITCH_H
#define TRACE_SWITCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/platform.h>

struct trace_array;

enum trace_off_by {
	TRACE_OFF_BY_NOBODY,
	TRACE_OFF_BY_USER,	  /* 0 was written to tracing_on */
	TRACE_OFF_BY_FREE_BUFFER, /* free_buffer was closed, with option disable_on_free */
	TRACE_OFF_BY_TRIGGER,	  /* traceoff of the event `name` */
	TRACE_OFF_BY_COMMAND,	  /* traceoff of the function at `ip` */
	TRACE_OFF_BY_CODE,	  /* the code at `ip` has called tracing_off() */
	TRACE_OFF_BY_DUMP,	  /* the trace was printed on the console */
	TRACE_OFF_BY_SNAPSHOT,	  /* one was to be taken, and there was no room */
	TRACE_OFF_BY_MONITOR,	  /* the reactor traceoff of the monitor `name` */
	TRACE_OFF_BY_WARNING,	  /* the host's code at `ip` has warned */
	TRACE_OFF_BY_BOOT,	  /* the boot is over, with the parameter traceoff_after_boot */
	TRACE_OFF_BY_PARAM,	  /* the instance `name` was made by trace_instance=NAME^traceoff */
	TRACE_OFF_BY_NOISE,	  /* the tracer `name` saw a time above its limit */
	TRACE_OFF_BY_DAMAGE,	  /* ftrace_kill() */
	TRACE_NR_OFF_BY,
};

struct trace_off {
	uint64_t time_ns; /* trace_plat_clock_ns() */
	uintptr_t ip;	  /* 0: none */
	int32_t pid;	  /* of the thread that ran, or was interrupted */
	uint32_t by;	  /* enum trace_off_by */
	char comm[TRACE_COMM_LEN];
	char name[48]; /* cut when it is longer */
};
_Static_assert(sizeof(struct trace_off) % sizeof(uint64_t) == 0, "whole words");

struct trace_off_note {
	_Atomic uint32_t version;
	_Atomic uint64_t words[sizeof(struct trace_off) / sizeof(uint64_t)];
};

/* The origin of the order. */
struct trace_off_from {
	enum trace_off_by by;
	const char *name; /* or NULL */
	uintptr_t ip;
};

/* Switch off. Has this moved the switch? */
bool trace_array_off(struct trace_array *tr, const struct trace_off_from *from);
/* Switch on, without starting the tracer. Has this moved the switch? */
bool trace_array_on(struct trace_array *tr);
/* Copy the last note. Returns false when it was never switched off, or a note is being made. */
bool trace_array_last_off(const struct trace_array *tr, struct trace_off *out_off);

#endif
