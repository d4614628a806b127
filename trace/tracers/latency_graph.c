/*
 * Latency tracers with the option display-graph: calls are recorded as function_graph does it, with
 * the same settings. See latency.h, tracers/graph_tracer.h, graph/fgraph_private.h.
 *
 * Levels are counted from the begin of the time that is measured. Frames of calls that were
 * recorded in an earlier time and have not returned yet do not count: `data` of a frame is the
 * start of the time that it belongs to.
 */
#include <trace/recursion.h>
#include "graph/fgraph_private.h"
#include "graph_tracer.h"
#include "latency.h"
#include "output_graph.h"
#include "ops/ftrace_private.h"

static bool records_here(const struct trace_latency *lat)
{
	return lat && lat->records(lat, trace_plat_cpu_id(), trace_latency_traced_count());
}

/*
 * The result of fgraph_next() if there were only frames of the time that began at `start_ts`: the
 * real one when the last frame is of that time, otherwise a head of level 0.
 */
static uint32_t next_in_time(const struct trace_thread *thread, struct fgraph_frame *frame,
			     uint32_t user, uint64_t start_ts)
{
	const struct fgraph_frame *last = fgraph_last(thread, frame - 1, user);

	return last && last->data == start_ts ? fgraph_next(thread, user) : user;
}

/* The recursion bit is held. */
static void latency_enter(struct trace_array *tr, const struct trace_latency *lat, uintptr_t ip,
			  uintptr_t *slot)
{
	struct trace_thread *thread = trace_plat_current();
	struct fgraph_frame *frame = fgraph_room(thread);
	uint64_t start_ts = lat->start_ts(trace_plat_cpu_id());
	uint32_t head;

	if (!frame)
		return;
	head = next_in_time(thread, frame, lat->graph.index, start_ts);
	head = trace_graph_wanted_head(tr, ip, head);
	if (head == FGRAPH_NO_HEAD)
		return;
	fgraph_push(thread, frame, lat->graph.index, ip, slot);
	fgraph_make_special(thread, frame, head);
	frame->data = start_ts;
	fgraph_begin(thread, frame);
	if (trace_graph_write_frame(tr, frame))
		fgraph_hook(slot);
	else
		fgraph_unpush_any(thread, frame);
}

static void latency_graph_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	struct trace_array *tr = ops->private;
	struct trace_latency *lat = trace_latency_of(tr)->running;
	int bit = trace_recursion_enter(TRACE_RECURSION_CALLBACK);

	(void)parent_ip;
	if (bit < 0)
		return;
	/* The user is not added if this thread was preempted on its way and comes too late. */
	if (records_here(lat) && lat->graph.is_added && !(lat->graph.flags & FGRAPH_USER_DEAD))
		latency_enter(tr, lat, ip, ftrace_regs_return_slot(fregs));
	trace_recursion_exit(bit);
}

static void latency_graph_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			       struct fgraph_user *user)
{
	struct trace_latency *lat =
		(struct trace_latency *)(void *)((char *)user -
						 offsetof(struct trace_latency, graph));
	struct ftrace_graph_ret ret = {
		.func = trace_plat_ip_unpack(frame->func),
		.retval = trace_plat_return_value(fgraph_slot(frame)),
		.calltime = frame->calltime,
		.rettime = trace_plat_clock_ns(),
		.depth = fgraph_level(frame),
		.overrun = thread->graph_overrun,
	};
	struct trace_array *tr = lat->tr;

	if (tr && !fgraph_is_hidden(frame) && !(lat->graph.flags & FGRAPH_USER_DEAD) &&
	    records_here(lat))
		trace_graph_write_return(tr, &ret);
	fgraph_pop_any(thread, frame);
}

void trace_latency_graph_point(struct trace_array *tr, uintptr_t ip)
{
	uint64_t now = trace_plat_clock_ns();
	struct ftrace_graph_ent ent = { .func = ip };
	struct ftrace_graph_ret ret = { .func = ip, .calltime = now, .rettime = now };

	trace_plat_preempt_disable(); /* the writers subtract one such unit from the depth */
	trace_graph_write_entry(tr, &ent);
	trace_graph_write_return(tr, &ret);
	trace_plat_preempt_enable();
}

int trace_latency_graph_start(struct trace_latency *lat, struct trace_array *tr)
{
	int err;

	lat->graph.exit = latency_graph_exit;
	err = fgraph_user_add(&lat->graph);
	if (err)
		return err;
	trace_graph_of(tr)->options = TRACE_GRAPH_DEFAULT;
	tr->ops->func = latency_graph_call;
	tr->ops->private = tr;
	err = register_ftrace_function(tr->ops);
	if (err)
		fgraph_user_remove(&lat->graph);
	return err;
}

void trace_latency_graph_stop(struct trace_latency *lat, struct trace_array *tr)
{
	ftrace_unregister(tr->ops);
	fgraph_user_remove(&lat->graph);
}

/* ---- Lines: as on Linux, the columns do not depend on options ---- */

#define COLUMNS (TRACE_GRAPH_CPU | TRACE_GRAPH_PROC | TRACE_GRAPH_RELTIME | TRACE_GRAPH_DURATION)

static bool is_graph(const struct trace_iter *iter)
{
	return iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_DISPLAY_GRAPH);
}

void trace_latency_print_header(struct trace_iter *iter, struct trace_seq *seq)
{
	if (is_graph(iter))
		trace_graph_print_header(iter, seq, COLUMNS);
	else
		trace_print_default_header(iter, seq);
}

bool trace_latency_print_line(struct trace_iter *iter, struct trace_seq *seq)
{
	return is_graph(iter) && trace_graph_print_line(iter, seq, COLUMNS);
}
