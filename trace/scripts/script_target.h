/*
 * Targets of the probes of scripts: script_attach.c finds them, script_probe.c attaches clauses to them.
 * See script.h.
 */
#ifndef TRACE_SCRIPT_TARGET_H
#define TRACE_SCRIPT_TARGET_H

#include <trace/fprobe.h>
#include <trace/tracepoint.h>
#include "events/event_watch.h"
#include "script.h"

/* A probe at an event. */
struct script_tap {
	struct trace_event_watch watch;
	struct script_probe *probe;
	struct trace_event_call *call;
	struct trace_event_file *file; /* NULL: it is not watched */
	bool is_direct;		       /* the tracepoint calls the clause */
	uint32_t type;		       /* number of the event's type */
	char name[TRACE_SYM_LEN + 16];
};

/* The functions or events that a word stands for. */
struct script_target {
	size_t bytes; /* of this */
	struct script_probe *probe;
	union {
		struct ftrace_ops ops; /* of entries */
		struct fprobe fprobe;  /* of returns */
	};
	uint32_t nr;
	struct tracepoint_change *changes; /* of events: room for nr_changes, one for each */
	uint32_t nr_changes;
	union {
		uintptr_t addrs[1];
		struct script_tap taps[1];
	};
};

#endif
