/*
 * The function tracer's callback: one event of 20 bytes per call. See function_tracer.h.
 *
 * The common case is a thread that records with the fastest clock. One comparison tells that it is
 * a thread, see trace_entry_free_state(), and the ring's gate tells that recording is on and the
 * clock the fastest. Everything else is in functions of its own, which are called last, so that
 * they are reached by jumps and the common case saves no registers for them. They are told apart in
 * the order of how cheap they should be: recording switched off, a full ring, another clock, all
 * the rest.
 */
#include "function_entry.h"
#include "function_tracer.h"
#include "instance/array.h"
#include "ring/ring_fast.h"
#include <trace/fgraph.h>
#include <trace/recursion.h>

#define THREAD_BIT  TRACE_RECURSION_CALLBACK /* recursion bit of the common case */
#define ENTRY_BYTES ((uint32_t)sizeof(struct trace_func_entry))
#define ENTRY_STEP  (RING_EVENT_ONE + RING_HEAD_BYTES + ENTRY_BYTES)

static TRACE_ALWAYS_INLINE void function_fill(struct trace_func_entry *entry, uintptr_t ip,
					      uintptr_t parent_ip)
{
	entry->ip = trace_plat_ip_pack(ip);
	entry->parent_ip = trace_plat_ip_pack(parent_ip);
}

uintptr_t trace_function_true_parent(uintptr_t parent_ip, struct ftrace_regs *fregs)
{
	return ftrace_graph_ret_addr(trace_plat_current(), parent_ip,
				     ftrace_regs_return_slot(fregs));
}

/* Write the event in any context and any state of the ring. Preemption off, the bit is held. */
static TRACE_NOINLINE void function_write_event(uintptr_t ip, uintptr_t parent_ip,
						struct trace_ring_cpu *rc, uint32_t bit)
{
	struct trace_func_entry *entry = trace_ring_reserve(rc, ENTRY_BYTES);

	if (entry) {
		trace_entry_init(&entry->ent, TRACE_TYPE_FN, 1);
		function_fill(entry, ip, parent_ip);
		trace_ring_commit(rc, entry);
	}
	trace_recursion_exit((int)bit);
}

/* Take the recursion bit and write the event, as function_write_event() does. Preemption off. */
static TRACE_NOINLINE void function_call_slow(uintptr_t ip, uintptr_t parent_ip,
					      struct trace_ring_cpu *rc)
{
	uint32_t bit =
		TRACE_RECURSION_CALLBACK + trace_recursion_context(trace_plat_preempt_count());

	if (trace_plat_recursion_set(bit))
		function_write_event(ip, parent_ip, rc, bit);
	else
		trace_plat_preempt_enable();
}

static TRACE_NOINLINE void call_with_true_parent(uintptr_t ip, struct trace_ring_cpu *rc,
						 struct ftrace_regs *fregs)
{
	function_call_slow(ip, trace_function_true_parent(trace_plat_return_hook(), fregs), rc);
}

/* Interrupts have written events behind ours while ours was open: publish them, too. */
static TRACE_NOINLINE void function_publish(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	trace_recursion_exit(THREAD_BIT);
}

/* For a thread's event that trace_ring_step() could not write. The recursion bit is held. */
static TRACE_NOINLINE void function_write_slow(uintptr_t ip, uintptr_t parent_ip,
					       struct trace_ring_cpu *rc, uint32_t state)
{
	struct trace_func_entry *entry = trace_ring_reserve_slow(rc, ENTRY_BYTES);

	if (entry) {
		trace_entry_fill(&entry->ent, TRACE_TYPE_FN, state);
		function_fill(entry, ip, parent_ip);
		trace_ring_commit(rc, entry);
	}
	trace_recursion_exit(THREAD_BIT);
}

/* For a thread's event in a ring whose clock is not the fastest. The recursion bit is held. */
static TRACE_NOINLINE void write_clock(uintptr_t ip, uintptr_t parent_ip, struct trace_ring_cpu *rc,
				       uint32_t state)
{
	struct ring_place place;
	struct trace_func_entry *entry = trace_ring_try_step_clock(rc, ENTRY_STEP, &place);

	if (TRACE_UNLIKELY(!entry)) {
		function_write_slow(ip, parent_ip, rc, state);
		return;
	}
	trace_entry_fill(&entry->ent, TRACE_TYPE_FN, state);
	function_fill(entry, ip, parent_ip);
	if (TRACE_UNLIKELY(!trace_ring_try_commit_at(rc, &place))) {
		function_publish(rc);
		return;
	}
	trace_recursion_exit(THREAD_BIT);
}

/* The rest of drop_event(): trace_ring_try_drop() has asked for it. */
static TRACE_NOINLINE void close_subbuf(struct trace_ring_cpu *rc)
{
	trace_ring_close_subbuf(rc);
	trace_plat_preempt_enable();
}

/*
 * The ring is full: count the event as dropped; but not when the recursion bit is held, for then it
 * would not have been recorded anyway.
 */
static TRACE_NOINLINE void drop_event(struct trace_ring_cpu *rc)
{
	uint32_t bit =
		TRACE_RECURSION_CALLBACK + trace_recursion_context(trace_plat_preempt_count());

	if (TRACE_LIKELY(!(trace_plat_recursion_word() >> bit & 1)) &&
	    TRACE_UNLIKELY(!trace_ring_try_drop(rc))) {
		close_subbuf(rc);
		return;
	}
	trace_plat_preempt_enable();
}

/*
 * The gate has no mask, and recording is neither switched off nor the ring full. Preemption is off.
 */
static TRACE_NOINLINE void call_closed(uintptr_t ip, uintptr_t parent_ip, struct trace_ring_cpu *rc,
				       struct ftrace_regs *fregs)
{
	uint32_t state;

	if (TRACE_UNLIKELY(parent_ip == trace_plat_return_hook())) {
		call_with_true_parent(ip, rc, fregs);
		return;
	}
	state = trace_entry_free_state();
	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER)) {
		function_call_slow(ip, parent_ip, rc);
		return;
	}
	(void)trace_plat_recursion_set(THREAD_BIT);
	write_clock(ip, parent_ip, rc, state);
}

void trace_function_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	const struct trace_array *tr = ops->private;
	struct trace_func_entry *entry;
	struct trace_ring_cpu *rc;
	struct ring_place place;
	uint64_t gate;
	uint32_t state;

	trace_plat_preempt_disable();
	rc = tr->buffer->cpu[trace_plat_cpu_id()];
	gate = trace_ring_look(rc);
	if (TRACE_UNLIKELY(!(uint32_t)gate)) {
		if (trace_ring_is_switched_off(gate))
			trace_plat_preempt_enable();
		else if (trace_ring_is_full(gate))
			drop_event(rc);
		else
			call_closed(ip, parent_ip, rc, fregs);
		return;
	}
	if (TRACE_UNLIKELY(parent_ip == trace_plat_return_hook())) {
		call_with_true_parent(ip, rc, fregs);
		return;
	}
	state = trace_entry_free_state();
	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER)) {
		function_call_slow(ip, parent_ip, rc);
		return;
	}
	(void)trace_plat_recursion_set(THREAD_BIT);
	entry = trace_ring_claim(rc, ENTRY_STEP, gate, &place);
	if (TRACE_UNLIKELY(!entry)) {
		function_write_slow(ip, parent_ip, rc, state);
		return;
	}
	trace_entry_fill(&entry->ent, TRACE_TYPE_FN, state);
	function_fill(entry, ip, parent_ip);
	if (TRACE_UNLIKELY(!trace_ring_try_commit_at(rc, &place))) {
		function_publish(rc);
		return;
	}
	trace_recursion_exit(THREAD_BIT);
}
