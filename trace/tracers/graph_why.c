/* Sentences of the file `why` about function_graph. See tracer_why.h. */
#include "graph/fgraph_private.h"
#include "graph_tracer.h"
#include "ops/ftrace_private.h"
#include "tracer_why.h"

static bool is_running(const struct trace_why *why)
{
	return __atomic_load_n(&why->tr->tracer, __ATOMIC_RELAXED) == &tracer_function_graph;
}

/* The number of functions in set_graph_function, or with `notrace` in set_graph_notrace. */
static uint32_t nr_in_set(const struct trace_graph *graph, bool notrace)
{
	const struct ftrace_ops_hash *sets;
	const struct ftrace_hash *hash = NULL;
	uint32_t nr;

	trace_plat_preempt_disable(); /* sets are freed after a grace period */
	sets = atomic_load_explicit(&graph->sets.func_hash, memory_order_acquire);
	if (sets)
		hash = notrace ? sets->notrace_hash : sets->filter_hash;
	nr = hash ? hash->nr : 0;
	trace_plat_preempt_enable();
	return nr;
}

static void look_at_sets(struct trace_why *why)
{
	const struct trace_graph *graph = trace_graph_of(why->tr);
	uint32_t nr = nr_in_set(graph, false);

	if (nr && !why->all.glance.committed)
		trace_why_say(why,
			      "function_graph waits: %s function%s of set_graph_function %s not "
			      "been called; echo > set_graph_function for all.",
			      nr == 1 ? "the one" : trace_why_number(nr).text, trace_why_s(nr),
			      nr == 1 ? "has" : "have");
	nr = nr_in_set(graph, true);
	if (nr)
		trace_why_note(why,
			       "function_graph leaves out what the %s function%s of "
			       "set_graph_notrace call%s.",
			       trace_why_number(nr).text, trace_why_s(nr), nr == 1 ? "s" : "");
}

static void look_at_graph(struct trace_why *why)
{
	const struct trace_graph *graph = trace_graph_of(why->tr);
	uint32_t depth = atomic_load(&graph->max_depth);
	uint64_t thresh_ns = trace_thresh_ns;

	if (ftrace_graph_is_dead())
		trace_why_say(why, "function_graph has stopped for good: a shadow stack was not as "
				   "it left it; dmesg says more.");
	if (!is_running(why))
		return;
	look_at_sets(why);
	if (thresh_ns)
		trace_why_note(why,
			       "function_graph records only functions that took %s or more: echo 0 "
			       "> tracing_thresh for all.",
			       trace_why_time(thresh_ns).text);
	if (depth)
		trace_why_note(why,
			       "function_graph records only the outermost %u level%s of calls: "
			       "echo 0 > max_graph_depth for all.",
			       depth, trace_why_s(depth));
	if (!(atomic_load(&graph->options) & TRACE_GRAPH_IRQS))
		trace_why_note(why, "function_graph records nothing in interrupts: echo 1 > "
				    "options/funcgraph-irqs.");
}

const struct trace_why_check trace_graph_whys[] = {
	{ TRACE_WHY_TRACER, look_at_graph },
	{ .say = NULL },
};
