/*
 * Lines of function_graph: shared declarations of output_graph.c, which makes lines of events, and
 * output_graph_columns.c, which prints the columns in front of the function.
 *
 * Model:     a line depends on those before it. struct trace_iter_graph, one for each CPU of the
 *            walk, remembers the thread, the functions that are open, and where comments go.
 * Context:   any; memory is the caller's.
 */
#ifndef TRACE_OUTPUT_GRAPH_H
#define TRACE_OUTPUT_GRAPH_H

#include "graph_tracer.h"
#include "print/iter.h"
#include "print/output.h"

/*
 * Print the line of the current event, with the columns that `flags` (TRACE_GRAPH_*) ask for. If
 * the event is the entry of a function that called nothing recorded, its return is taken along.
 * False, with nothing printed, for an event that is to be printed in the usual way.
 */
bool trace_graph_print_line(struct trace_iter *iter, struct trace_seq *seq, uint32_t flags);
void trace_graph_print_header(struct trace_iter *iter, struct trace_seq *seq, uint32_t flags);

/* ---- Between the two files ---- */

struct graph_line {
	struct trace_iter *iter;
	struct trace_seq *seq;
	struct trace_iter_graph *state;
	uint32_t flags;
	uint32_t cpu;
	uint64_t ts;
	struct trace_entry ent; /* head of the event that the line begins with */
};

/* If the thread is another one than in the CPU's last line, print lines that say so. */
void trace_graph_print_switch(struct graph_line *line);
/* The columns in front of the function: time, CPU, thread, state. */
void trace_graph_print_context(struct graph_line *line);
/* The column of the duration; or the same column, empty. */
void trace_graph_print_duration(struct graph_line *line, uint64_t ns);
void trace_graph_print_no_duration(struct graph_line *line);
/* If interrupts call this function first: a line that says that one begins or ends here. */
void trace_graph_print_arrow(struct graph_line *line, uint32_t packed_ip, bool is_entry);

#endif
