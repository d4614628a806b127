/*
 * The callbacks of function_graph: an event of 20 bytes when a function is entered, one of 28 when
 * it returns. See graph_tracer.h and fgraph_private.h.
 *
 * The fastest way is for a thread's call with the default settings of function_graph. It is
 * compiled twice: for rings with the fastest clock, which is read once for the event and the
 * duration, and for rings with another clock. A slower way is for a thread's call with other
 * settings, see graph_settings.c. The slowest way is for everything: interrupts, hidden calls, full
 * rings.
 *
 * No guard against recursion is needed, because nothing that is called here is traced;
 * tools/check-probes checks that in every build.
 */
#include "graph/fgraph_private.h"
#include "graph_entry.h"
#include "graph_tracer.h"
#include "instance/array.h"
#include "ops/ftrace_private.h"
#include "ring/ring_fast.h"

#define ENTRY_BYTES ((uint32_t)sizeof(struct trace_graph_entry))
#define EXIT_BYTES  ((uint32_t)sizeof(struct trace_graph_ret_entry))

static struct trace_array *array_of(struct fgraph_user *user)
{
	enum {
		AT = offsetof(struct trace_array, slots.graph) + offsetof(struct trace_graph, user)
	};

	return (struct trace_array *)(void *)((char *)user - AT);
}

static struct trace_ring_cpu *graph_ring_of(const struct trace_array *tr)
{
	return tr->buffer->cpu[trace_plat_cpu_id()];
}

static uint32_t graph_options_of(const struct trace_array *tr)
{
	return atomic_load_explicit(&trace_graph_of(tr)->options, memory_order_relaxed);
}

/* ---- The slower way: a thread's events with other settings ---- */

/* An event for which room was claimed. */
struct claim {
	struct ring_place place;
	uint64_t now; /* when the function was called, or returned: trace_plat_clock_ns() */
};

/*
 * Claim room for an event of `bytes` bytes; NULL when trace_ring_step() cannot. The event gets the
 * time of the ring's clock. Durations are always measured with trace_plat_clock_ns().
 */
static TRACE_ALWAYS_INLINE void *try_step(struct trace_ring_cpu *rc, uint32_t bytes, uint64_t gate,
					  bool own_clock, struct claim *out_claim)
{
	uint64_t time = trace_plat_clock_ns();
	uint32_t mask = (uint32_t)gate;

	out_claim->now = time;
	if (own_clock) {
		mask = rc->subbuf_mask;
		time = rc->clock();
	}
	return trace_ring_step(rc, RING_EVENT_ONE + RING_HEAD_BYTES + bytes, mask, time,
			       &out_claim->place);
}

static void commit(struct trace_ring_cpu *rc, const struct claim *claim)
{
	trace_ring_commit_at(rc, &claim->place);
}

/* Write the entry of a frame that is not hidden. False: nothing was written, go the slowest way. */
static TRACE_ALWAYS_INLINE bool try_write_entry(struct trace_array *tr, struct trace_ring_cpu *rc,
						struct fgraph_frame *frame,
						const struct trace_thread *thread, uint32_t state)
{
	bool with_retaddr = graph_options_of(tr) & TRACE_GRAPH_RETADDR;
	uint32_t bytes = with_retaddr ? sizeof(struct trace_graph_retaddr_entry) : ENTRY_BYTES;
	struct trace_graph_retaddr_entry *entry;
	uint64_t gate = trace_ring_look(rc);
	struct claim claim;

	if (TRACE_UNLIKELY(atomic_load_explicit(&trace_thresh_ns, memory_order_relaxed)))
		return false;
	entry = try_step(rc, bytes, gate, trace_ring_has_own_clock(gate), &claim);
	if (TRACE_UNLIKELY(!entry))
		return false;
	frame->calltime = claim.now;
	trace_entry_fill(&entry->graph.ent,
			 with_retaddr ? TRACE_TYPE_GRAPH_RETADDR_ENT : TRACE_TYPE_GRAPH_ENT, state);
	entry->graph.ip = frame->func;
	entry->graph.depth = fgraph_level(frame);
	if (with_retaddr)
		entry->retaddr = fgraph_caller(thread, frame);
	fgraph_hook(fgraph_slot(frame));
	commit(rc, &claim);
	return true;
}

/* For durations without sleep-time: the time of the call, moved on by how long the thread slept. */
static uint64_t without_sleep(const struct trace_thread *thread, const struct fgraph_frame *frame,
			      uint64_t rettime)
{
	uint64_t ns = rettime - frame->calltime;
	uint64_t sleep_ns = atomic_load_explicit(&thread->sleep_ns, memory_order_relaxed);

	sleep_ns -= frame->sleep_ns;
	/*
	 * Clocks of two CPUs may differ, so that it seems to have slept longer than the call took.
	 */
	return sleep_ns < ns ? frame->calltime + sleep_ns : rettime;
}

/* Write the return of a frame. False: nothing was written, go the slowest way. */
static TRACE_ALWAYS_INLINE bool try_write_return(struct trace_array *tr,
						 const struct fgraph_frame *frame,
						 const struct trace_thread *thread)
{
	bool with_retval = graph_options_of(tr) & TRACE_GRAPH_RETVAL;
	uint32_t bytes = with_retval ? sizeof(struct trace_graph_retval_entry) : EXIT_BYTES;
	uint32_t flags =
		atomic_load_explicit(&trace_graph_of(tr)->user.flags, memory_order_relaxed);
	struct trace_graph_retval_entry *entry;
	struct trace_ring_cpu *rc = graph_ring_of(tr);
	uint32_t state = trace_entry_return_state();
	uint64_t gate = trace_ring_look(rc), calltime = frame->calltime;
	struct claim claim;

	if (state == TRACE_STATE_OTHER || fgraph_is_hidden(frame) || (flags & FGRAPH_USER_DEAD) ||
	    atomic_load_explicit(&trace_thresh_ns, memory_order_relaxed))
		return false;
	entry = try_step(rc, bytes, gate, trace_ring_has_own_clock(gate), &claim);
	if (TRACE_UNLIKELY(!entry))
		return false;
	if (atomic_load_explicit(&trace_graph_of(tr)->measures_sleep, memory_order_relaxed))
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

/* ---- Entry, the slowest way ---- */

/* With tracing_thresh only returns are written, when it is known how long the call took. */
static TRACE_ALWAYS_INLINE bool write_entry(struct trace_array *tr,
					    const struct fgraph_frame *frame,
					    const struct ftrace_regs *fregs)
{
	if (atomic_load_explicit(&trace_thresh_ns, memory_order_relaxed))
		return true;
	return fregs ? trace_graph_write_frame_args(tr, frame, fregs)
		     : trace_graph_write_frame(tr, frame);
}

/* Finish the entry of a pushed frame; without an event, take it away. `fregs`: with arguments. */
static TRACE_ALWAYS_INLINE void finish_entry(struct trace_array *tr, struct fgraph_frame *frame,
					     struct trace_thread *thread,
					     const struct ftrace_regs *fregs)
{
	fgraph_begin(thread, frame);
	if (write_entry(tr, frame, fregs))
		fgraph_hook(fgraph_slot(frame));
	else
		fgraph_unpush_any(thread, frame);
}

/*
 * Is a thread's call to be recorded with a frame that is not special? False: that is not clear, ask
 * trace_graph_wanted_head().
 */
static TRACE_ALWAYS_INLINE bool is_plain(const struct trace_array *tr,
					 const struct trace_thread *thread, uintptr_t ip,
					 uint32_t next)
{
	/* The acquire pairs with the release of ftrace_ops_publish(). */
	const struct ftrace_ops_hash *sets =
		atomic_load_explicit(&trace_graph_of(tr)->sets.func_hash, memory_order_acquire);
	uint32_t max_depth =
		atomic_load_explicit(&trace_graph_of(tr)->max_depth, memory_order_relaxed);

	if ((next & FGRAPH_FLAGS_MASK) || (thread->ignored_by & tr->pid_mask))
		return false;
	if (max_depth && next >> FGRAPH_LEVEL_SHIFT >= max_depth)
		return false;
	if (!sets)
		return true;
	return !sets->filter_hash && (!sets->notrace_hash ||
				      !ftrace_hash_has(sets->notrace_hash, trace_plat_ip_pack(ip)));
}

/* The rest of graph_enter(), when is_plain() or the state does not allow more. There is room. */
static TRACE_NOINLINE void enter_slow(struct trace_array *tr, uintptr_t ip, uintptr_t *slot,
				      uint32_t state, const struct ftrace_regs *fregs)
{
	struct trace_thread *thread = trace_plat_current();
	struct fgraph_frame *frame = fgraph_top(thread);
	uint32_t next = fgraph_next(thread, trace_graph_of(tr)->user.index);
	uint32_t head = trace_graph_wanted_head(tr, ip, next);

	if (head == FGRAPH_NO_HEAD)
		return;
	fgraph_push(thread, frame, trace_graph_of(tr)->user.index, ip, slot);
	if (head != next)
		fgraph_make_special(thread, frame, head);
	fgraph_begin_sleep(thread, frame);
	if (fregs || state == TRACE_STATE_OTHER || fgraph_is_hidden(frame) ||
	    !try_write_entry(tr, graph_ring_of(tr), frame, thread, state))
		finish_entry(tr, frame, thread, fregs);
}

static TRACE_ALWAYS_INLINE void graph_enter(struct trace_array *tr, struct trace_ring_cpu *rc,
					    uintptr_t ip, uintptr_t *slot,
					    const struct ftrace_regs *fregs)
{
	struct trace_thread *thread = trace_plat_current();
	struct fgraph_frame *frame = fgraph_room(thread);
	uint32_t state = trace_entry_free_state();
	uint32_t next;

	if (!frame)
		return;
	next = fgraph_next(thread, trace_graph_of(tr)->user.index);
	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER) ||
	    TRACE_UNLIKELY(!is_plain(tr, thread, ip, next))) {
		enter_slow(tr, ip, slot, state, fregs);
		return;
	}
	fgraph_push(thread, frame, trace_graph_of(tr)->user.index, ip, slot);
	fgraph_begin_sleep(thread, frame);
	if (fregs || TRACE_UNLIKELY(!try_write_entry(tr, rc, frame, thread, state)))
		finish_entry(tr, frame, thread, fregs);
}

/* An entry in any context with any settings. Preemption is off; this switches it on. */
static TRACE_ALWAYS_INLINE void enter_any(struct trace_array *tr, uintptr_t ip, uintptr_t *slot,
					  const struct ftrace_regs *fregs)
{
	uint32_t flags =
		atomic_load_explicit(&trace_graph_of(tr)->user.flags, memory_order_relaxed);
	struct trace_ring_cpu *rc = graph_ring_of(tr);

	if (!trace_ring_is_off(rc) && !(flags & FGRAPH_USER_DEAD))
		graph_enter(tr, rc, ip, slot, fregs);
	trace_plat_preempt_enable();
}

static TRACE_NOINLINE void entry_any(struct trace_array *tr, uintptr_t ip, uintptr_t *slot)
{
	enter_any(tr, ip, slot, NULL);
}

void trace_graph_entry_args(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
	(void)parent_ip; /* read from the slot */
	trace_plat_preempt_disable();
	enter_any(ops->private, ip, ftrace_regs_return_slot(fregs), fregs);
}

/*
 * The rest of enter_common(), when trace_ring_step() could not write the event. The frame is pushed
 * and hooked. Switches preemption on.
 */
static TRACE_NOINLINE void entry_write(struct fgraph_frame *frame)
{
	struct trace_thread *thread = trace_plat_current();

	fgraph_unhook(frame);
	finish_entry(array_of(fgraph_user_of(frame)), frame, thread, NULL);
	trace_plat_preempt_enable();
}

/* Interrupts have written events behind ours while ours was open: publish them, too. */
static TRACE_NOINLINE void entry_publish(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	trace_plat_preempt_enable();
}

/* ---- Exit, the slowest way ---- */

static TRACE_NOINLINE void graph_exit_slow(struct fgraph_frame *frame, struct trace_thread *thread)
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
	uint32_t flags =
		atomic_load_explicit(&trace_graph_of(tr)->user.flags, memory_order_relaxed);

	if (atomic_load_explicit(&trace_graph_of(tr)->measures_sleep, memory_order_relaxed))
		ret.calltime = without_sleep(thread, frame, ret.rettime);
	if (!fgraph_is_hidden(frame) && !(flags & FGRAPH_USER_DEAD) &&
	    ret.rettime - ret.calltime >= thresh_ns)
		trace_graph_write_return(tr, &ret);
	fgraph_pop_any(thread, frame);
}

/* For any frame and any settings. */
void trace_graph_exit_any(struct fgraph_frame *frame, struct trace_thread *thread,
			  struct fgraph_user *user)
{
	if (TRACE_LIKELY(try_write_return(array_of(user), frame, thread)))
		fgraph_pop_any(thread, frame);
	else
		graph_exit_slow(frame, thread);
}

static TRACE_NOINLINE void exit_publish(struct trace_ring_cpu *rc, struct fgraph_frame *frame,
					struct trace_thread *thread)
{
	trace_ring_publish(rc);
	fgraph_pop(thread, frame);
}

/* ---- The fastest way ---- */

/* A call, as far as enter_common() knows it. */
struct call {
	struct trace_array *tr;
	uintptr_t ip;
	uintptr_t *slot; /* of its return address */
	struct trace_ring_cpu *rc;
	uint64_t gate;
};

static TRACE_ALWAYS_INLINE void enter_common(struct call call, bool own_clock)
{
	uint32_t state = trace_entry_free_state();
	struct fgraph_user *user = &trace_graph_of(call.tr)->user;
	struct trace_graph_entry *entry;
	struct trace_thread *thread;
	struct fgraph_frame *frame;
	struct claim claim;

	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER) ||
	    TRACE_UNLIKELY(atomic_load_explicit(&user->flags, memory_order_relaxed)))
		goto any;
	thread = trace_plat_current();
	frame = fgraph_top(thread);
	if (TRACE_UNLIKELY(!fgraph_has_room(frame)))
		goto any;
	fgraph_push(thread, frame, user->index, call.ip, call.slot);
	fgraph_hook(call.slot); /* now, while the slot's address is still in a register */
	entry = try_step(call.rc, ENTRY_BYTES, call.gate, own_clock, &claim);
	if (TRACE_UNLIKELY(!entry)) {
		entry_write(frame);
		return;
	}
	frame->calltime = claim.now;
	trace_entry_fill(&entry->ent, TRACE_TYPE_GRAPH_ENT, state);
	entry->ip = trace_plat_ip_pack(call.ip);
	entry->depth = fgraph_level(frame);
	if (TRACE_UNLIKELY(!trace_ring_try_commit_at(call.rc, &claim.place))) {
		entry_publish(call.rc);
		return;
	}
	trace_plat_preempt_enable();
	return;
any:
	entry_any(call.tr, call.ip, call.slot);
}

/*
 * The gate has no mask: recording is off, the ring full, or its clock another. Preemption is off.
 */
static TRACE_NOINLINE void entry_closed(struct trace_array *tr, uintptr_t ip, uintptr_t *slot)
{
	struct call call = { tr, ip, slot, graph_ring_of(tr), 0 };

	call.gate = trace_ring_look(call.rc);
	if (trace_ring_is_switched_off(call.gate))
		trace_plat_preempt_enable();
	else if (trace_ring_has_own_clock(call.gate))
		enter_common(call, true);
	else
		entry_any(tr, ip, slot);
}

void trace_graph_entry(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs)
{
	struct call call = { ops->private, ip, ftrace_regs_return_slot(fregs), NULL, 0 };

	(void)parent_ip;	 /* read from the slot */
	TRACE_OPAQUE(call.slot); /* keep the address in one register */
	trace_plat_preempt_disable();
	call.rc = graph_ring_of(call.tr);
	call.gate = trace_ring_look(call.rc);
	if (TRACE_UNLIKELY(!(uint32_t)call.gate))
		entry_closed(call.tr, ip, call.slot);
	else
		enter_common(call, false);
}

static TRACE_NOINLINE void exit_closed(struct fgraph_frame *frame, struct trace_thread *thread);

/* Depth and overrun, by one store. */
static TRACE_ALWAYS_INLINE void fill_depth(struct trace_graph_ret_entry *entry,
					   const struct fgraph_frame *frame,
					   const struct trace_thread *thread)
{
	enum {
		AT = offsetof(struct trace_graph_ret_entry, depth)
	};
	uint32_t word = fgraph_level(frame) | thread->graph_overrun_word;

	_Static_assert(offsetof(struct trace_graph_ret_entry, overrun) == AT + 2, "one word");
	__builtin_memcpy((char *)entry + AT, &word, sizeof(word));
}

/* Frames may be special, and so without events, from a time with other settings. */
static TRACE_ALWAYS_INLINE void exit_common(struct fgraph_frame *frame, struct trace_thread *thread,
					    struct fgraph_user *user, bool own_clock, bool sleeps)
{
	struct trace_ring_cpu *rc = graph_ring_of(array_of(user));
	uint32_t state = trace_entry_return_state();
	struct trace_graph_ret_entry *entry;
	struct claim claim;

	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER) || TRACE_UNLIKELY(fgraph_is_special(frame)))
		goto any;
	entry = try_step(rc, EXIT_BYTES, trace_ring_look(rc), own_clock, &claim);
	if (TRACE_UNLIKELY(!entry))
		goto any;
	trace_entry_fill(&entry->ent, TRACE_TYPE_GRAPH_RET, state);
	entry->ip = frame->func;
	fill_depth(entry, frame, thread);
	entry->duration_ns =
		claim.now - (sleeps ? frame->calltime : without_sleep(thread, frame, claim.now));
	if (TRACE_UNLIKELY(!trace_ring_try_commit_at(rc, &claim.place))) {
		exit_publish(rc, frame, thread);
		return;
	}
	fgraph_pop(thread, frame);
	return;
any:
	if (own_clock)
		trace_graph_exit_any(frame, thread, user);
	else
		exit_closed(frame, thread);
}

/*
 * trace_ring_step() could not write the event. Try again if another clock may be the only reason.
 */
static void exit_closed(struct fgraph_frame *frame, struct trace_thread *thread)
{
	struct fgraph_user *user = fgraph_user_of(frame);

	if (trace_ring_has_own_clock(trace_ring_look(graph_ring_of(array_of(user)))) &&
	    !atomic_load_explicit(&trace_graph_of(array_of(user))->measures_sleep,
				  memory_order_relaxed))
		exit_common(frame, thread, user, true, true);
	else
		trace_graph_exit_any(frame, thread, user);
}

void trace_graph_exit(struct fgraph_frame *frame, struct trace_thread *thread,
		      struct fgraph_user *user)
{
	exit_common(frame, thread, user, false, true);
}

/* For sleep-time cleared. measures_sleep is set, so sleep_ns of all frames is. */
void trace_graph_exit_awake(struct fgraph_frame *frame, struct trace_thread *thread,
			    struct fgraph_user *user)
{
	exit_common(frame, thread, user, false, false);
}
