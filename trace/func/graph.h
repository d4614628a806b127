/*
 * The function_graph tracer: what its options and files say, and where its callbacks begin.
 *
 *   options/funcgraph-*, set_graph_function, max_graph_depth --> struct trace_graph of the instance
 *   trace_graph.c  the tracer: options, start and stop      graph_tracer.c  the callbacks
 *
 * Context:   fields are written by threads, config lock held, and read by probes.
 */
#ifndef TRACE_GRAPH_H
#define TRACE_GRAPH_H

#include <stdatomic.h>
#include <trace/ftrace.h>

/* Options of the tracer, as bits. */
enum trace_graph_option {
	TRACE_GRAPH_OVERRUN = 1u << 0,
	TRACE_GRAPH_CPU = 1u << 1,
	TRACE_GRAPH_OVERHEAD = 1u << 2,
	TRACE_GRAPH_PROC = 1u << 3,
	TRACE_GRAPH_DURATION = 1u << 4,
	TRACE_GRAPH_ABSTIME = 1u << 5,
	TRACE_GRAPH_IRQS = 1u << 6, /* off: calls in hardirq context are not recorded */
	TRACE_GRAPH_TAIL = 1u << 7,
	TRACE_GRAPH_RETVAL = 1u << 8, /* returns are recorded as GRAPH_RETVAL */
	TRACE_GRAPH_RETVAL_HEX = 1u << 9,
	TRACE_GRAPH_RETADDR = 1u << 10,	   /* entries are recorded as GRAPH_RETADDR_ENT */
	TRACE_GRAPH_SLEEP_TIME = 1u << 11, /* durations include time spent switched out */
	TRACE_GRAPH_GRAPH_TIME = 1u << 12, /* the function profiler counts called functions too */
	TRACE_GRAPH_RELTIME = 1u << 13,	   /* no option: latency tracers print with it */
};

#define TRACE_GRAPH_DEFAULT                                                                        \
	(TRACE_GRAPH_CPU | TRACE_GRAPH_OVERHEAD | TRACE_GRAPH_DURATION | TRACE_GRAPH_IRQS |        \
	 TRACE_GRAPH_SLEEP_TIME | TRACE_GRAPH_GRAPH_TIME)

/* Settings of one instance. */
struct trace_graph {
	_Atomic uint32_t options;   /* while the tracer runs */
	_Atomic uint32_t max_depth; /* deeper calls are not recorded; 0: no limit */
	/*
	 * Never registered: its filter is set_graph_function, its exceptions are
	 * set_graph_notrace. Probes look at sets.func_hash with preemption off.
	 */
	struct ftrace_ops sets;
};

#endif
