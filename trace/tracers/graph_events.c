/*
 * The types of function_graph's events. While function_graph is the tracer, output_graph.c makes
 * their lines. With another tracer, as for a snapshot taken before, each event is printed by
 * itself, as it is done here.
 */
#include <trace/trace_seq.h>
#include "graph_entry.h"
#include "instance/event_private.h"
#include "print/output.h"
#include "text/str.h"

static void entry_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_graph_entry *entry = iter->event.data;

	trace_print_symbol(iter, seq, entry->ip, 0);
	trace_seq_puts(seq, "() {\n");
}

static void return_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_graph_ret_entry *entry = iter->event.data;

	trace_seq_puts(seq, "} /* ");
	trace_print_symbol(iter, seq, entry->ip, 0);
	trace_seq_puts(seq, " */\n");
}

static const struct trace_event_functions entry_functions = {
	.trace = entry_text,
	.raw = trace_print_type,
	.hex = trace_print_type,
	.binary = trace_print_type,
};

static const struct trace_event_functions return_functions = {
	.trace = return_text,
	.raw = trace_print_type,
	.hex = trace_print_type,
	.binary = trace_print_type,
};

static const struct trace_event_field entry_fields[] = {
	TRACE_FIELD_ADDRESS("func", trace_graph_entry, ip),
	TRACE_FIELD("depth", int, trace_graph_entry, depth),
};

static struct trace_event entry_event = {
	.name = "funcgraph_entry",
	.system = "ftrace",
	.type = TRACE_TYPE_GRAPH_ENT,
	.fields = entry_fields,
	.nr_fields = TRACE_ARRAY_SIZE(entry_fields),
	.print_fmt = "\"--> %ps (%d)\", " TRACE_REC_ADDRESS("func") ", REC->depth",
	.funcs = &entry_functions,
};

static const struct trace_event_field retaddr_fields[] = {
	TRACE_FIELD_ADDRESS("func", trace_graph_retaddr_entry, graph.ip),
	TRACE_FIELD("depth", int, trace_graph_retaddr_entry, graph.depth),
	TRACE_FIELD_ADDRESS("retaddr", trace_graph_retaddr_entry, retaddr),
};

static struct trace_event retaddr_event = {
	.name = "fgraph_retaddr_entry",
	.system = "ftrace",
	.type = TRACE_TYPE_GRAPH_RETADDR_ENT,
	.fields = retaddr_fields,
	.nr_fields = TRACE_ARRAY_SIZE(retaddr_fields),
	.print_fmt = "\"--> %ps (%d) <- %ps\", " TRACE_REC_ADDRESS(
		"func") ", REC->depth, " TRACE_REC_ADDRESS("retaddr"),
	.funcs = &entry_functions,
};

static void graph_args_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_graph_args_entry *entry = iter->event.data;

	trace_print_symbol(iter, seq, entry->entry.graph.ip, 0);
	if (trace_call_types)
		trace_call_types->print_args(iter, seq, entry->entry.graph.ip,
					     offsetof(struct trace_graph_args_entry, args));
	trace_seq_puts(seq, " {\n");
}

static const struct trace_event_field graph_args_fields[] = {
	TRACE_FIELD_ADDRESS("func", trace_graph_args_entry, entry.graph.ip),
	TRACE_FIELD("depth", int, trace_graph_args_entry, entry.graph.depth),
	TRACE_FIELD_ADDRESS("retaddr", trace_graph_args_entry, entry.retaddr),
	TRACE_FIELD_ARGS("args", trace_graph_args_entry, args.args),
	TRACE_FIELD_ARG_TEXTS("text", trace_graph_args_entry, args.text),
};

static struct trace_event graph_args_event = {
	.name = "funcgraph_args_entry",
	.system = "ftrace",
	.type = TRACE_TYPE_GRAPH_ARGS_ENT,
	.fields = graph_args_fields,
	.nr_fields = TRACE_ARRAY_SIZE(graph_args_fields),
	.print_fmt = "\"--> %ps(%s) (%d) <- %ps\", " TRACE_REC_ADDRESS(
		"func") ", " TRACE_ARGS_FMT ", REC->depth, " TRACE_REC_ADDRESS("retaddr"),
	.funcs = &(const struct trace_event_functions){ .trace = graph_args_text,
							.raw = trace_print_type,
							.hex = trace_print_type,
							.binary = trace_print_type },
};

/*
 * Linux's return events have the times of the call and of the return, from which trace-cmd computes
 * how long it took, whatever `print fmt` says; ours have the difference. It is given out as the
 * second time, too, and as the first one a byte that is 0: the high half of the depth, for a
 * shadow stack (4096 bytes) has no room for 256 calls.
 */
#define RETURN_TIMES(duration_entry, depth_member, duration_member)                                \
	{ .name = "calltime",                                                                      \
	  .type = "unsigned char",                                                                 \
	  .offset = offsetof(struct duration_entry, depth_member) + 1,                             \
	  .size = 1,                                                                               \
	  .element_size = 1,                                                                       \
	  .kind = TRACE_FIELD_PLAIN,                                                               \
	  .filter_type = FILTER_OTHER },                                                           \
		TRACE_FIELD("rettime", unsigned long long, duration_entry, duration_member)

static const struct trace_event_field graph_return_fields[] = {
	TRACE_FIELD_ADDRESS("func", trace_graph_ret_entry, ip),
	TRACE_FIELD("depth", unsigned short, trace_graph_ret_entry, depth),
	TRACE_FIELD("overrun", unsigned short, trace_graph_ret_entry, overrun),
	TRACE_FIELD("duration", unsigned long long, trace_graph_ret_entry, duration_ns),
	RETURN_TIMES(trace_graph_ret_entry, depth, duration_ns),
};

static struct trace_event return_event = {
	.name = "funcgraph_exit",
	.system = "ftrace",
	.type = TRACE_TYPE_GRAPH_RET,
	.fields = graph_return_fields,
	.nr_fields = TRACE_ARRAY_SIZE(graph_return_fields),
	.print_fmt = "\"<-- %ps (%u) (%llu ns) over: %u\", " TRACE_REC_ADDRESS(
		"func") ", REC->depth, REC->duration, REC->overrun",
	.funcs = &return_functions,
};

static const struct trace_event_field retval_fields[] = {
	TRACE_FIELD_ADDRESS("func", trace_graph_retval_entry, graph.ip),
	TRACE_FIELD("depth", unsigned short, trace_graph_retval_entry, graph.depth),
	TRACE_FIELD("overrun", unsigned short, trace_graph_retval_entry, graph.overrun),
	TRACE_FIELD("duration", unsigned long long, trace_graph_retval_entry, graph.duration_ns),
	TRACE_FIELD("retval", unsigned long, trace_graph_retval_entry, retval),
	RETURN_TIMES(trace_graph_retval_entry, graph.depth, graph.duration_ns),
};

static struct trace_event retval_event = {
	.name = "funcgraph_exit_retval",
	.system = "ftrace",
	.type = TRACE_TYPE_GRAPH_RETVAL,
	.fields = retval_fields,
	.nr_fields = TRACE_ARRAY_SIZE(retval_fields),
	.print_fmt = "\"<-- %ps (%u) (%llu ns) over: %u ret: %lx\", " TRACE_REC_ADDRESS(
		"func") ", REC->depth, REC->duration, REC->overrun, REC->retval",
	.funcs = &return_functions,
};

int trace_graph_events_init(void)
{
	static struct trace_event *const events[] = { &entry_event, &retaddr_event,
						      &graph_args_event, &return_event,
						      &retval_event };

	return trace_events_register(events, TRACE_ARRAY_SIZE(events));
}
