/*
 * The events of latency tracers besides calls. See instance/entry.h.
 */
#ifndef TRACE_LATENCY_ENTRY_H
#define TRACE_LATENCY_ENTRY_H

#include "instance/entry.h"

/* A switch of threads (CTX) or a wakeup (WAKE). */
#define TRACE_TYPE_CTX	2
#define TRACE_TYPE_WAKE 3
struct trace_ctx_entry {
	struct trace_entry ent;
	int32_t prev_pid;
	int32_t next_pid;
	int32_t next_cpu;
	uint8_t prev_prio;
	uint8_t prev_state; /* the letter that ps shows */
	uint8_t next_prio;
	uint8_t next_state;
};

/* Register these types, and those of function and function_graph, which latency tracers write. */
int trace_latency_events_init(void);

#endif
