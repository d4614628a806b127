/*
 * The callbacks of function_graph: an event of 20 bytes when a function is entered, one of 28 when
 * it returns. See graph.h and fgraph_private.h.
 *
 * The common case is that of func_tracer.c, with all settings of the graph as they are at first:
 * anything else sets FGRAPH_USER_SPECIAL, and goes the long way. The time of an event is the time
 * of the call: the clock is read once.
 *
 * No guard against recursion: nothing that is called here is traced, which tools/check-probes holds
 * to be true of every build.
 */
#include "../array.h"
#include "../entry.h"
#include "../ring/ring_fast.h"
#include "fgraph_private.h"
#include "ftrace_private.h"

#define ENTRY_BYTES ((uint32_t)sizeof(struct trace_graph_entry))
#define EXIT_BYTES  ((uint32_t)sizeof(struct trace_graph_ret_entry))
#define ENTRY_STEP  (RING_EVENT_ONE + RING_HEAD_BYTES + ENTRY_BYTES)
#define EXIT_STEP   (RING_EVENT_ONE + RING_HEAD_BYTES + EXIT_BYTES)

static struct trace_array *array_of(struct fgraph_user *user)
{
	return (struct trace_array *)(void *)((char *)user -
					      offsetof(struct trace_array, graph.user));
}

static struct trace_ring_cpu *ring_of(const struct trace_array *tr)
{
	return tr->buffer->cpu[trace_plat_cpu_id()];
}

static uint32_t options_of(const struct trace_array *tr)
{
	return atomic_load_explicit(&tr->graph.options, memory_order_relaxed);
}

/* ---- A thread's events, with any settings but those that come seldom ---- */

/* An event of these that was claimed. */
struct claim {
	uint32_t bytes;
	uint64_t word; /* the ring's, before it */
	uint64_t now;  /* when the function was called, or returned */
};

/* Room for an event of claim->bytes; NULL: there is more to do. */
static TRACE_ALWAYS_INLINE void *try_reserve(struct trace_ring_cpu *rc, struct claim *claim)
{
	return trace_ring_try_step_at(rc, RING_EVENT_ONE + RING_HEAD_BYTES + claim->bytes,
				      &claim->word, &claim->now);
}

static void commit(struct trace_ring_cpu *rc, const struct claim *claim)
{
	if (TRACE_UNLIKELY(!trace_ring_try_commit(rc, claim->word, claim->bytes)))
		trace_ring_publish(rc);
}

static uint32_t caller_of(const struct trace_thread *thread, const struct fgraph_frame *frame)
{
	uintptr_t ret = trace_plat_ip_unpack(frame->ret);

	if (TRACE_LIKELY(ret != trace_plat_return_hook()))
		return frame->ret;
	return trace_plat_ip_pack(ftrace_graph_ret_addr(thread, ret, fgraph_slot(frame)));
}

/* False, with nothing written: it takes the long way. */
static bool try_write_entry(struct trace_array *tr, struct fgraph_frame *frame,
			    const struct trace_thread *thread)
{
	bool with_retaddr = options_of(tr) & TRACE_GRAPH_RETADDR;
	struct claim claim = { .bytes = with_retaddr ? sizeof(struct trace_graph_retaddr_entry)
						     : ENTRY_BYTES };
	struct trace_graph_retaddr_entry *entry;
	struct trace_ring_cpu *rc = ring_of(tr);
	uint32_t state = trace_entry_state();

	if (state == TRACE_STATE_OTHER || fgraph_is_hidden(frame) ||
	    atomic_load_explicit(&trace_thresh_ns, memory_order_relaxed))
		return false;
	entry = try_reserve(rc, &claim);
	if (TRACE_UNLIKELY(!entry))
		return false;
	frame->calltime = claim.now;
	trace_entry_fill(&entry->graph.ent,
			 with_retaddr ? TRACE_TYPE_GRAPH_RETADDR_ENT : TRACE_TYPE_GRAPH_ENT, state);
	entry->graph.ip = frame->func;
	entry->graph.depth = fgraph_level(frame);
	if (with_retaddr)
		entry->retaddr = caller_of(thread, frame);
	fgraph_hook(fgraph_slot(frame));
	commit(rc, &claim);
	return true;
}

/* Without sleep-time a call lasts as if its thread had gone to sleep before. */
static uint64_t without_sleep(const struct trace_thread *thread, const struct fgraph_frame *frame,
			      uint64_t rettime)
{
	uint64_t ns = rettime - frame->calltime;
	uint64_t sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);

	sleep_ns -= frame->sleep_ns;
	return sleep_ns < ns ? frame->calltime + sleep_ns : rettime; /* clocks of two CPUs */
}

/* The same for a return. */
static bool try_write_return(struct trace_array *tr, const struct fgraph_frame *frame,
			     const struct trace_thread *thread)
{
	bool with_retval = options_of(tr) & TRACE_GRAPH_RETVAL;
	struct claim claim = { .bytes = with_retval ? sizeof(struct trace_graph_retval_entry)
						    : EXIT_BYTES };
	uint32_t flags = atomic_load_explicit(&tr->graph.user.flags, memory_order_relaxed);
	struct trace_graph_retval_entry *entry;
	struct trace_ring_cpu *rc = ring_of(tr);
	uint32_t state = trace_entry_return_state();
	uint64_t calltime = frame->calltime;

	if (state == TRACE_STATE_OTHER || fgraph_is_hidden(frame) || (flags & FGRAPH_USER_DEAD) ||
	    atomic_load_explicit(&trace_thresh_ns, memory_order_relaxed))
		return false;
	entry = try_reserve(rc, &claim);
	if (TRACE_UNLIKELY(!entry))
		return false;
	if (atomic_load_explicit(&tr->graph.measures_sleep, memory_order_relaxed))
		calltime = without_sleep(thread, frame, claim.now);
	trace_entry_fill(&entry->graph.ent,
			 with_retval ? TRACE_TYPE_GRAPH_RETVAL : TRACE_TYPE_GRAPH_RET, state);
	entry->graph.ip = frame->func;
	entry->graph.depth = (uint16_t)fgraph_level(frame);
	entry->graph.overrun = (uint16_t)thread->graph_overrun;
	entry->graph.duration_ns = claim.now - calltime;
	if (with_retval)
		entry->retval = trace_plat_return_value(fgraph_slot(frame));
	commit(rc, &claim);
	return true;
}

/* ---- Entry, the long way ---- */

/* Threshold: returns alone are written, once it is known how long the call took. */
static bool write_entry(struct trace_array *tr, const struct fgraph_frame *frame)
{
	return atomic_load_explicit(&trace_thresh_ns, memory_order_relaxed) ||
	       trace_graph_write_frame(tr, frame);
}

/* The frame is pushed. Without an event there is no exit either. */
static void finish_entry(struct trace_array *tr, struct fgraph_frame *frame,
			 struct trace_thread *thread)
{
	frame->calltime = trace_plat_clock_ns();
	if (write_entry(tr, frame))
		fgraph_hook(fgraph_slot(frame));
	else
		fgraph_unpush_any(thread, frame);
}

static void enter(struct trace_array *tr, uintptr_t ip, uintptr_t *slot)
{
	struct trace_thread *thread = trace_plat_current();
	struct fgraph_frame *frame = fgraph_top(thread);
	uint32_t next, head;

	if (!fgraph_has_room(frame)) {
		fgraph_count_overrun(thread);
		return;
	}
	next = fgraph_next(thread, tr->graph.user.index);
	head = trace_graph_wanted_head(tr, ip, next);
	if (head == FGRAPH_NO_HEAD)
		return;
	fgraph_push(thread, frame, tr->graph.user.index, ip, slot);
	if (head != next)
		fgraph_make_special(thread, frame, head);
	frame->sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);
	if (!try_write_entry(tr, frame, thread))
		finish_entry(tr, frame, thread);
}

/* Preemption is off. */
static TRACE_NOINLINE void entry_any(struct trace_array *tr, uintptr_t ip,
				     struct ftrace_regs *fregs)
{
	uint32_t flags = atomic_load_explicit(&tr->graph.user.flags, memory_order_relaxed);

	if (!trace_ring_is_off(ring_of(tr)) && !(flags & FGRAPH_USER_DEAD))
		enter(tr, ip, ftrace_regs_return_slot(fregs));
	trace_plat_preempt_enable();
}

/* The common case found something to do in the ring. */
static TRACE_NOINLINE void entry_write(struct fgraph_frame *frame, struct trace_thread *thread)
{
	fgraph_unhook(frame);
	frame->sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);
	finish_entry(array_of(fgraph_user_of(frame)), frame, thread);
	trace_plat_preempt_enable();
}

/* Events of interrupts that came before our commit are published too. */
static TRACE_NOINLINE void entry_publish(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	trace_plat_preempt_enable();
}

/* ---- Exit, the long way ---- */

static TRACE_NOINLINE void exit_slow(struct fgraph_frame *frame, struct trace_thread *thread)
{
	struct trace_array *tr = array_of(fgraph_user_of(frame));
	uint64_t thresh_ns = atomic_load_explicit(&trace_thresh_ns, memory_order_relaxed);
	struct ftrace_graph_ret ret = {
		.func = trace_plat_ip_unpack(frame->func),
		.retval = trace_plat_return_value(fgraph_slot(frame)),
		.calltime = frame->calltime,
		.rettime = trace_plat_clock_ns(),
		.depth = fgraph_level(frame),
		.overrun = thread->graph_overrun,
	};
	uint32_t flags = atomic_load_explicit(&tr->graph.user.flags, memory_order_relaxed);

	if (atomic_load_explicit(&tr->graph.measures_sleep, memory_order_relaxed))
		ret.calltime = without_sleep(thread, frame, ret.rettime);
	if (!fgraph_is_hidden(frame) && !(flags & FGRAPH_USER_DEAD) &&
	    ret.rettime - ret.calltime >= thresh_ns)
		trace_graph_write_return(tr, &ret);
	fgraph_pop_any(thread, frame);
}

/* Any frame, any settings. */
static TRACE_NOINLINE void exit_any(struct fgraph_frame *frame, struct trace_thread *thread)
{
	if (TRACE_LIKELY(try_write_return(array_of(fgraph_user_of(frame)), frame, thread)))
		fgraph_pop_any(thread, frame);
	else
		exit_slow(frame, thread);
}

static void graph_trace_exit_any(struct fgraph_frame *frame, struct trace_thread *thread,
				 struct fgraph_user *user)
{
	(void)user;
	exit_any(frame, thread);
}

static TRACE_NOINLINE void exit_publish(struct trace_ring_cpu *rc, struct fgraph_frame *frame,
					struct trace_thread *thread)
{
	trace_ring_publish(rc);
	fgraph_pop(thread, frame);
}

/* ---- The common case ---- */

static void graph_trace_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	struct trace_array *tr = ops->private;
	struct trace_graph_entry *entry;
	struct trace_ring_cpu *rc;
	struct trace_thread *thread;
	struct fgraph_frame *frame;
	uint32_t state;
	uint64_t word, now;

	(void)parent_ip; /* it lies in the slot */
	trace_plat_preempt_disable();
	rc = ring_of(tr);
	state = trace_entry_state();
	if (TRACE_UNLIKELY(!(uint32_t)atomic_load_explicit(&rc->gate, memory_order_relaxed)) ||
	    TRACE_UNLIKELY(state == TRACE_STATE_OTHER) ||
	    TRACE_UNLIKELY(atomic_load_explicit(&tr->graph.user.flags, memory_order_relaxed)))
		goto slow;
	thread = trace_plat_current();
	frame = fgraph_top(thread);
	if (TRACE_UNLIKELY(!fgraph_has_room(frame)))
		goto slow;
	fgraph_push(thread, frame, tr->graph.user.index, ip, ftrace_regs_return_slot(fregs));
	fgraph_hook(ftrace_regs_return_slot(fregs)); /* at once, while registers know where */
	entry = trace_ring_try_step_at(rc, ENTRY_STEP, &word, &now);
	if (TRACE_UNLIKELY(!entry)) {
		entry_write(frame, thread);
		return;
	}
	frame->calltime = now;
	trace_entry_fill(&entry->ent, TRACE_TYPE_GRAPH_ENT, state);
	entry->ip = frame->func;
	entry->depth = fgraph_level(frame);
	if (TRACE_UNLIKELY(!trace_ring_try_commit(rc, word, ENTRY_BYTES))) {
		entry_publish(rc);
		return;
	}
	trace_plat_preempt_enable();
	return;
slow:
	entry_any(tr, ip, fregs);
}

/* Special frames, which have no event, may be there from other settings. */
static void graph_trace_exit(struct fgraph_frame *frame, struct trace_thread *thread,
			     struct fgraph_user *user)
{
	struct trace_ring_cpu *rc = ring_of(array_of(user));
	uint32_t state = trace_entry_return_state();
	struct trace_graph_ret_entry *entry = NULL;
	uint64_t word, now;

	if (TRACE_LIKELY(state != TRACE_STATE_OTHER) && TRACE_LIKELY(!fgraph_is_special(frame)))
		entry = trace_ring_try_step_at(rc, EXIT_STEP, &word, &now);
	if (TRACE_UNLIKELY(!entry)) {
		exit_any(frame, thread);
		return;
	}
	trace_entry_fill(&entry->ent, TRACE_TYPE_GRAPH_RET, state);
	entry->ip = frame->func;
	entry->depth = (uint16_t)fgraph_level(frame);
	entry->overrun = (uint16_t)thread->graph_overrun;
	entry->duration_ns = now - frame->calltime;
	if (TRACE_UNLIKELY(!trace_ring_try_commit(rc, word, EXIT_BYTES))) {
		exit_publish(rc, frame, thread);
		return;
	}
	fgraph_pop(thread, frame);
}

/* ---- Start, stop, settings ---- */

static bool has_sets(const struct trace_graph *graph)
{
	const struct ftrace_ops_hash *sets =
		atomic_load_explicit(&graph->sets.func_hash, memory_order_relaxed);

	return sets &&
	       !(ftrace_hash_empty(sets->filter_hash) && ftrace_hash_empty(sets->notrace_hash));
}

/* Interrupts never go the common way: it is no matter here whether they are wanted. */
static bool is_special_entry(const struct trace_array *tr)
{
	const struct trace_graph *graph = &tr->graph;
	uint32_t options = options_of(tr);

	return (options & TRACE_GRAPH_RETADDR) || !(options & TRACE_GRAPH_SLEEP_TIME) ||
	       graph->max_depth || trace_thresh_ns || tr->pid_mask || has_sets(graph);
}

static bool is_special_exit(const struct trace_array *tr)
{
	uint32_t options = options_of(tr);

	return (options & TRACE_GRAPH_RETVAL) || !(options & TRACE_GRAPH_SLEEP_TIME) ||
	       trace_thresh_ns;
}

/* From now on entries, or exits, ask for all settings, or only for the common ones. */
static void set_special(struct fgraph_user *user, bool entry, bool exit)
{
	__atomic_store_n(&user->exit, exit ? graph_trace_exit_any : graph_trace_exit,
			 __ATOMIC_SEQ_CST);
	if (entry)
		atomic_fetch_or(&user->flags, FGRAPH_USER_SPECIAL);
	else
		atomic_fetch_and(&user->flags, ~(uint32_t)FGRAPH_USER_SPECIAL);
}

static void measure_sleep(struct trace_graph *graph, bool on)
{
	if (on == graph->measures_sleep)
		return;
	if (on) {
		set_special(&graph->user, true, true); /* from here on new frames know */
		trace_plat_synchronize_preempt();
		ftrace_graph_sleep_get();
		fgraph_stacks_begin_sleep(graph->user.index);
		graph->measures_sleep = true; /* not before all frames know */
	} else {
		graph->measures_sleep = false;
		ftrace_graph_sleep_put();
	}
}

void function_graph_update(struct trace_array *tr)
{
	struct trace_graph *graph = &tr->graph;

	measure_sleep(graph, graph->user.is_added && !(options_of(tr) & TRACE_GRAPH_SLEEP_TIME));
	set_special(&graph->user, is_special_entry(tr), is_special_exit(tr));
}

int function_graph_start(struct trace_array *tr)
{
	int err;

	function_graph_update(tr);
	err = fgraph_user_add(&tr->graph.user);
	if (err)
		return err;
	function_graph_update(tr);
	tr->ops->func = graph_trace_entry;
	tr->ops->private = tr;
	err = register_ftrace_function(tr->ops);
	if (err)
		function_graph_stop(tr);
	return err;
}

void function_graph_stop(struct trace_array *tr)
{
	ftrace_unregister(tr->ops);
	fgraph_user_remove(&tr->graph.user);
	measure_sleep(&tr->graph, false);
}
