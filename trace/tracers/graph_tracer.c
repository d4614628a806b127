/*
 * The `function_graph` tracer as current_tracer knows it: its options, and the form of its lines.
 * See graph_tracer.h.
 */
#include "call_args.h"
#include "graph_tracer.h"
#include "instance/array.h"
#include "output_graph.h"
#include "text/str.h"

static const struct tracer_option graph_tracer_options[] = {
	{ .name = "funcgraph-overrun", .bit = TRACE_GRAPH_OVERRUN },
	{ .name = "funcgraph-cpu", .bit = TRACE_GRAPH_CPU },
	{ .name = "funcgraph-overhead", .bit = TRACE_GRAPH_OVERHEAD },
	{ .name = "funcgraph-proc", .bit = TRACE_GRAPH_PROC },
	{ .name = "funcgraph-duration", .bit = TRACE_GRAPH_DURATION },
	{ .name = "funcgraph-abstime", .bit = TRACE_GRAPH_ABSTIME },
	{ .name = "funcgraph-irqs", .bit = TRACE_GRAPH_IRQS },
	{ .name = "funcgraph-tail", .bit = TRACE_GRAPH_TAIL },
	{ .name = "funcgraph-retval", .bit = TRACE_GRAPH_RETVAL },
	{ .name = "funcgraph-retval-hex", .bit = TRACE_GRAPH_RETVAL_HEX },
	{ .name = "funcgraph-args", .bit = TRACE_GRAPH_ARGS },
	{ .name = "funcgraph-retaddr", .bit = TRACE_GRAPH_RETADDR },
	{ .name = "sleep-time", .bit = TRACE_GRAPH_SLEEP_TIME },
	{ .name = "graph-time", .bit = TRACE_GRAPH_GRAPH_TIME },
};

static int graph_tracer_init(struct trace_array *tr)
{
	trace_graph_of(tr)->options = tracer_option_bits(tr, &tracer_function_graph);
	return trace_function_graph_start(tr);
}

static int graph_set_option(struct trace_array *tr, uint32_t bit, bool on)
{
	uint32_t old = trace_graph_of(tr)->options;
	int err = on && bit == TRACE_GRAPH_ARGS ? trace_call_args_prepare() : 0;

	if (err)
		return err;
	if (on)
		trace_graph_of(tr)->options |= bit;
	else
		trace_graph_of(tr)->options &= ~bit;
	err = trace_function_graph_update(tr);
	if (err) {
		trace_graph_of(tr)->options = old;
		trace_function_graph_update(tr);
	}
	return err;
}

static int graph_settings_changed(struct trace_array *tr)
{
	trace_function_graph_update(tr);
	return 0;
}

static void graph_print_header(struct trace_iter *iter, struct trace_seq *seq)
{
	trace_graph_print_header(iter, seq, trace_graph_of(iter->tr)->options);
}

static bool graph_print_line(struct trace_iter *iter, struct trace_seq *seq)
{
	return trace_graph_print_line(iter, seq, trace_graph_of(iter->tr)->options);
}

struct tracer tracer_function_graph = {
	.name = "function_graph",
	.init = graph_tracer_init,
	.reset = trace_function_graph_stop,
	.set_option = graph_set_option,
	.settings_changed = graph_settings_changed,
	.print_header = graph_print_header,
	.print_line = graph_print_line,
	.options = graph_tracer_options,
	.nr_options = TRACE_ARRAY_SIZE(graph_tracer_options),
	.default_bits = TRACE_GRAPH_DEFAULT,
};
