/*
 * Start and stop of function_graph, and choosing the callbacks for its settings: see
 * graph_tracer.h.
 *
 * Entries and exits in graph_calls.c are fast with the default settings, and exits also with
 * sleep-time cleared. For other settings this sets FGRAPH_USER_SPECIAL, which makes entries look at
 * all settings, or it sets another exit.
 */
#include "graph/fgraph_private.h"
#include "graph_tracer.h"
#include "instance/array.h"
#include "instance/pid_filter.h"
#include "ops/ftrace_private.h"

typedef void (*exit_fn)(struct fgraph_frame *frame, struct trace_thread *thread,
			struct fgraph_user *user);

static uint32_t graph_settings_options_of(const struct trace_array *tr)
{
	return atomic_load_explicit(&trace_graph_of(tr)->options, memory_order_relaxed);
}

static bool has_sets(const struct trace_graph *graph)
{
	const struct ftrace_ops_hash *sets =
		atomic_load_explicit(&graph->sets.func_hash, memory_order_relaxed);

	return sets &&
	       !(ftrace_hash_empty(sets->filter_hash) && ftrace_hash_empty(sets->notrace_hash));
}

/* funcgraph-irqs does not matter here: entries in interrupts look at all settings anyway. */
static bool is_special_entry(const struct trace_array *tr)
{
	const struct trace_graph *graph = trace_graph_of(tr);
	uint32_t options = graph_settings_options_of(tr);

	return (options & TRACE_GRAPH_RETADDR) || !(options & TRACE_GRAPH_SLEEP_TIME) ||
	       graph->max_depth || trace_thresh_ns ||
	       trace_pid_filter_is_used(tr, TRACE_PIDS_FUNCTIONS) || has_sets(graph);
}

static exit_fn exit_of(const struct trace_array *tr)
{
	if ((graph_settings_options_of(tr) & TRACE_GRAPH_RETVAL) || trace_thresh_ns)
		return trace_graph_exit_any;
	return trace_graph_of(tr)->measures_sleep ? trace_graph_exit_awake : trace_graph_exit;
}

/* `entry`: entries have to look at all settings. `exit` becomes the exit of all frames. */
static void set_special(struct fgraph_user *user, bool entry, exit_fn exit)
{
	__atomic_store_n(&user->exit, exit, __ATOMIC_SEQ_CST);
	if (entry)
		atomic_fetch_or(&user->flags, FGRAPH_USER_SPECIAL);
	else
		atomic_fetch_and(&user->flags, ~(uint32_t)FGRAPH_USER_SPECIAL);
}

static int graph_settings_measure_sleep(struct trace_graph *graph, bool on)
{
	int err;

	if (on == graph->measures_sleep)
		return 0;
	if (on) {
		/* From here on all new frames have their sleep_ns; older ones get it below. */
		set_special(&graph->user, true, trace_graph_exit_any);
		trace_plat_synchronize_preempt();
		err = ftrace_graph_sleep_get();
		if (err)
			return err;
		fgraph_stacks_begin_sleep(graph->user.index);
		graph->measures_sleep = true;
	} else {
		graph->measures_sleep = false;
		ftrace_graph_sleep_put();
	}
	return 0;
}

/* The func of the ops, which may be registered. It is no other tracer's. 0 or -errno. */
static int choose_entry(struct trace_array *tr)
{
	ftrace_func_t func = graph_settings_options_of(tr) & TRACE_GRAPH_ARGS
				     ? trace_graph_entry_args
				     : trace_graph_entry;

	if (tr->ops->func == func ||
	    (tr->ops->func != trace_graph_entry && tr->ops->func != trace_graph_entry_args))
		return 0;
	return ftrace_ops_set_func(tr->ops, func);
}

int trace_function_graph_update(struct trace_array *tr)
{
	struct trace_graph *graph = trace_graph_of(tr);
	bool wants_sleep =
		graph->user.is_added && !(graph_settings_options_of(tr) & TRACE_GRAPH_SLEEP_TIME);
	int err = graph_settings_measure_sleep(graph, wants_sleep);

	set_special(&graph->user, is_special_entry(tr), exit_of(tr));
	return err ? err : choose_entry(tr);
}

int trace_function_graph_start(struct trace_array *tr)
{
	int err;

	trace_function_graph_update(tr);
	err = fgraph_user_add(&trace_graph_of(tr)->user);
	if (err)
		return err;
	err = trace_function_graph_update(tr);
	if (err) {
		fgraph_user_remove(&trace_graph_of(tr)->user);
		return err;
	}
	tr->ops->func = graph_settings_options_of(tr) & TRACE_GRAPH_ARGS ? trace_graph_entry_args
									 : trace_graph_entry;
	tr->ops->private = tr;
	err = register_ftrace_function(tr->ops);
	if (err)
		trace_function_graph_stop(tr);
	return err;
}

void trace_function_graph_stop(struct trace_array *tr)
{
	ftrace_unregister(tr->ops);
	fgraph_user_remove(&trace_graph_of(tr)->user);
	graph_settings_measure_sleep(trace_graph_of(tr), false);
}
