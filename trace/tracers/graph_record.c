/*
 * Common code of the callbacks of function_graph and of latency tracers: writing events in any
 * context, and deciding by the settings whether a call is recorded. See graph_tracer.h,
 * fgraph_private.h.
 */
#include "call_args.h"
#include "graph/fgraph_private.h"
#include "graph_entry.h"
#include "graph_tracer.h"
#include "instance/array.h"
#include "ops/ftrace_private.h"
#include "ring/ring_fast.h"

static struct trace_ring_cpu *graph_record_ring_of(const struct trace_array *tr)
{
	return tr->buffer->cpu[trace_plat_cpu_id()];
}

static uint32_t graph_record_options_of(const struct trace_array *tr)
{
	return atomic_load_explicit(&trace_graph_of(tr)->options, memory_order_relaxed);
}

/* ---- Events, in any context ---- */

bool trace_graph_write_entry(struct trace_array *tr, const struct ftrace_graph_ent *ent)
{
	bool with_retaddr = graph_record_options_of(tr) & TRACE_GRAPH_RETADDR;
	uint32_t bytes = with_retaddr ? sizeof(struct trace_graph_retaddr_entry)
				      : sizeof(struct trace_graph_entry);
	struct trace_ring_cpu *rc = graph_record_ring_of(tr);
	struct trace_graph_retaddr_entry *entry = trace_ring_reserve(rc, bytes);

	if (!entry)
		return false;
	trace_entry_init(&entry->graph.ent,
			 with_retaddr ? TRACE_TYPE_GRAPH_RETADDR_ENT : TRACE_TYPE_GRAPH_ENT, 1);
	entry->graph.ip = trace_plat_ip_pack(ent->func);
	entry->graph.depth = ent->depth;
	if (with_retaddr)
		entry->retaddr = trace_plat_ip_pack(ent->retaddr);
	trace_ring_commit(rc, entry);
	return true;
}

bool trace_graph_write_return(struct trace_array *tr, const struct ftrace_graph_ret *ret)
{
	bool with_retval = graph_record_options_of(tr) & TRACE_GRAPH_RETVAL;
	uint32_t bytes = with_retval ? sizeof(struct trace_graph_retval_entry)
				     : sizeof(struct trace_graph_ret_entry);
	struct trace_ring_cpu *rc = graph_record_ring_of(tr);
	struct trace_graph_retval_entry *entry = trace_ring_reserve(rc, bytes);

	if (!entry)
		return false;
	trace_entry_init(&entry->graph.ent,
			 with_retval ? TRACE_TYPE_GRAPH_RETVAL : TRACE_TYPE_GRAPH_RET, 1);
	entry->graph.ip = trace_plat_ip_pack(ret->func);
	entry->graph.depth = (uint16_t)ret->depth;
	entry->graph.overrun = (uint16_t)ret->overrun;
	entry->graph.duration_ns = ret->rettime - ret->calltime;
	if (with_retval)
		entry->retval = ret->retval;
	trace_ring_commit(rc, entry);
	return true;
}

/* ---- Decisions by the settings ---- */

static bool set_has(const struct ftrace_hash *set, uintptr_t ip)
{
	return set && ftrace_hash_has(set, trace_plat_ip_pack(ip));
}

/*
 * The flags for the frame of a call, by set_graph_function and set_graph_notrace, or -1 when it
 * gets no frame. `inherited` are the flags of the call around it.
 */
static int graph_record_flags_of(struct trace_array *tr, uintptr_t ip, uint32_t inherited,
				 bool in_irq)
{
	/* The acquire pairs with the release of ftrace_ops_publish(). */
	const struct ftrace_ops_hash *sets =
		atomic_load_explicit(&trace_graph_of(tr)->sets.func_hash, memory_order_acquire);

	if (inherited & FGRAPH_HIDDEN)
		return -1;
	if (sets && set_has(sets->notrace_hash, ip))
		return FGRAPH_HIDDEN; /* its frame hides what it calls */
	if ((inherited & FGRAPH_INSIDE) || !sets || ftrace_hash_empty(sets->filter_hash))
		return (int)inherited;
	if (!set_has(sets->filter_hash, ip))
		return -1;
	return FGRAPH_INSIDE | (in_irq ? FGRAPH_IRQ : 0);
}

uint32_t trace_graph_wanted_head(struct trace_array *tr, uintptr_t ip, uint32_t next)
{
	const struct trace_thread *thread = trace_plat_current();
	bool in_irq = trace_plat_preempt_count() & TRACE_HARDIRQ_MASK;
	uint32_t max_depth =
		atomic_load_explicit(&trace_graph_of(tr)->max_depth, memory_order_relaxed);
	int flags = graph_record_flags_of(tr, ip, next & FGRAPH_FLAGS_MASK, in_irq);
	uint32_t head = next & ~FGRAPH_FLAGS_MASK;

	if (flags < 0)
		return FGRAPH_NO_HEAD;
	if (flags & FGRAPH_HIDDEN)
		return head | FGRAPH_HIDDEN;
	if ((thread->ignored_by & tr->pid_mask) ||
	    (max_depth && head >> FGRAPH_LEVEL_SHIFT >= max_depth))
		return FGRAPH_NO_HEAD;
	if (in_irq && !(flags & FGRAPH_IRQ) && !(graph_record_options_of(tr) & TRACE_GRAPH_IRQS))
		return FGRAPH_NO_HEAD;
	return head | (uint32_t)flags;
}

bool trace_graph_write_frame(struct trace_array *tr, const struct fgraph_frame *frame)
{
	struct ftrace_graph_ent ent = {
		.func = trace_plat_ip_unpack(frame->func),
		.retaddr = ftrace_graph_ret_addr(trace_plat_current(), *fgraph_slot(frame),
						 fgraph_slot(frame)),
		.depth = fgraph_level(frame),
	};

	return fgraph_is_hidden(frame) || trace_graph_write_entry(tr, &ent);
}

bool trace_graph_write_frame_args(struct trace_array *tr, const struct fgraph_frame *frame,
				  const struct ftrace_regs *fregs)
{
	enum {
		PART = offsetof(struct trace_graph_args_entry, args)
	};
	uint32_t code = trace_call_code(trace_plat_ip_unpack(frame->func));
	struct trace_ring_cpu *rc = graph_record_ring_of(tr);
	struct trace_graph_args_entry *entry;
	struct call_args args;

	if (!code || fgraph_is_hidden(frame))
		return trace_graph_write_frame(tr, frame);
	trace_call_args_get(fregs, code, &args);
	entry = trace_ring_reserve_any(rc, PART + trace_call_args_bytes(&args));
	if (!entry)
		return false;
	trace_entry_init(&entry->entry.graph.ent, TRACE_TYPE_GRAPH_ARGS_ENT, 1);
	entry->entry.graph.ip = frame->func;
	entry->entry.graph.depth = fgraph_level(frame);
	entry->entry.retaddr = fgraph_caller(trace_plat_current(), frame);
	trace_call_args_put(&args, &entry->args, PART);
	trace_ring_commit(rc, entry);
	return true;
}
