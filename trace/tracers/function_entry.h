/*
 * The events of the function tracer. Latency tracers also write trace_func_entry. See
 * instance/entry.h.
 */
#ifndef TRACE_FUNCTION_ENTRY_H
#define TRACE_FUNCTION_ENTRY_H

#include "call_args.h"
#include "instance/entry.h"

/* A function was called. */
#define TRACE_TYPE_FN 1
struct trace_func_entry {
	struct trace_entry ent;
	uint32_t ip; /* packed: trace_plat_ip_pack() */
	uint32_t parent_ip;
};

/* A function was called, with its arguments. */
#define TRACE_TYPE_FUNC_ARGS 22
struct trace_func_args_entry {
	struct trace_func_entry call;
	struct trace_args_part args;
};

/* The last call was repeated; the repeats have no events of their own. */
#define TRACE_TYPE_FUNC_REPEATS 19
struct trace_func_repeats_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint32_t parent_ip;
	uint64_t count_and_last; /* count << 48 | low 48 bits of the time of the last of them */
} __attribute__((packed, aligned(4)));

#define TRACE_REPEATS_SHIFT 48u
#define TRACE_REPEATS_TIME  ((1ull << TRACE_REPEATS_SHIFT) - 1)

/* Register the types. */
int trace_function_events_init(void);

#endif
