/*
 * The events of function_graph. See instance/entry.h.
 */
#ifndef TRACE_GRAPH_ENTRY_H
#define TRACE_GRAPH_ENTRY_H

#include "call_args.h"
#include "instance/entry.h"

/*
 * A function was entered. GRAPH_RETADDR_ENT also has the caller, GRAPH_ARGS_ENT the caller and the
 * arguments.
 */
#define TRACE_TYPE_GRAPH_ENT	     11
#define TRACE_TYPE_GRAPH_RETADDR_ENT 20
#define TRACE_TYPE_GRAPH_ARGS_ENT    23
struct trace_graph_entry {
	struct trace_entry ent;
	uint32_t ip;	/* call site of the function, packed */
	uint32_t depth; /* 0: the outermost call that is recorded */
};

struct trace_graph_retaddr_entry {
	struct trace_graph_entry graph;
	uint32_t retaddr; /* packed */
};

struct trace_graph_args_entry {
	struct trace_graph_retaddr_entry entry;
	struct trace_args_part args;
};

/* A function returned at the time of the event. GRAPH_RETVAL also has the returned value. */
#define TRACE_TYPE_GRAPH_RET	10
#define TRACE_TYPE_GRAPH_RETVAL 21
struct trace_graph_ret_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint16_t depth;
	/* Calls of this thread that found its shadow stack full; 65535: or more. */
	uint16_t overrun;
	uint64_t duration_ns;
} __attribute__((packed, aligned(4)));

struct trace_graph_retval_entry {
	struct trace_graph_ret_entry graph;
	uint64_t retval;
} __attribute__((packed, aligned(4)));

/* Register the types. */
int trace_graph_events_init(void);

#endif
