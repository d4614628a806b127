/*
 * The function tracer's callback: one event of 20 bytes per call. See functions.h.
 *
 * Recording that is off, a CPU that is masked, a full ring, another clock: the ring's gate says so,
 * in the same comparison that asks for room, so that the common case pays for none of them.
 *
 * The common case is a thread: one comparison of preempt_count says so, see trace_entry_state().
 * Everything else is out of line, reached by jumps at the end, so that the common case saves no
 * registers for it.
 */
#include "array.h"
#include "entry.h"
#include "functions.h"
#include "ring/ring_fast.h"
#include <trace/fgraph.h>
#include <trace/recursion.h>

#define THREAD_BIT  TRACE_RECURSION_CALLBACK /* recursion bit of the common case */
#define ENTRY_BYTES ((uint32_t)sizeof(struct trace_func_entry))

static void fill(struct trace_func_entry *entry, uintptr_t ip, uintptr_t parent_ip)
{
	entry->ip = trace_plat_ip_pack(ip);
	entry->parent_ip = trace_plat_ip_pack(parent_ip);
}

uintptr_t function_true_parent(uintptr_t parent_ip, struct ftrace_regs *fregs)
{
	return ftrace_graph_ret_addr(trace_plat_current(), parent_ip,
				     ftrace_regs_return_slot(fregs));
}

/* Any context, any state of the ring. Preemption off, the recursion bit held. */
static TRACE_NOINLINE void write_event(struct trace_ring_cpu *rc, uintptr_t ip, uintptr_t parent_ip,
				       uint32_t bit)
{
	struct trace_func_entry *entry = trace_ring_reserve(rc, ENTRY_BYTES);

	if (entry) {
		trace_entry_init(&entry->ent, TRACE_TYPE_FN, 1);
		fill(entry, ip, parent_ip);
		trace_ring_commit(rc, entry);
	}
	trace_recursion_exit((int)bit);
}

/* The same before the recursion bit is taken. Preemption off. */
static TRACE_NOINLINE void call_slow(uintptr_t ip, uintptr_t parent_ip, struct trace_ring_cpu *rc)
{
	uint32_t bit =
		TRACE_RECURSION_CALLBACK + trace_recursion_context(trace_plat_preempt_count());

	if (trace_plat_recursion_set(bit))
		write_event(rc, ip, parent_ip, bit);
	else
		trace_plat_preempt_enable();
}

static TRACE_NOINLINE void call_with_true_parent(uintptr_t ip, const struct trace_array *tr,
						 struct ftrace_regs *fregs)
{
	uintptr_t parent_ip = function_true_parent(trace_plat_return_hook(), fregs);

	trace_plat_preempt_disable();
	call_slow(ip, parent_ip, tr->buffer->cpu[trace_plat_cpu_id()]);
}

/* Events of interrupts that came before our commit are published too. */
static TRACE_NOINLINE void publish(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	trace_recursion_exit(THREAD_BIT);
}

void function_trace_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	const struct trace_array *tr = ops->private;
	struct trace_func_entry *entry;
	struct trace_ring_cpu *rc;
	uint32_t state;
	uint64_t word;

	if (TRACE_UNLIKELY(parent_ip == trace_plat_return_hook())) {
		call_with_true_parent(ip, tr, fregs);
		return;
	}
	trace_plat_preempt_disable();
	rc = tr->buffer->cpu[trace_plat_cpu_id()];
	state = trace_entry_state();
	if (TRACE_UNLIKELY(state == TRACE_STATE_OTHER) ||
	    TRACE_UNLIKELY(!trace_plat_recursion_set(THREAD_BIT))) {
		call_slow(ip, parent_ip, rc);
		return;
	}
	entry = trace_ring_try_reserve(rc, ENTRY_BYTES, &word);
	if (TRACE_UNLIKELY(!entry)) {
		write_event(rc, ip, parent_ip, THREAD_BIT);
		return;
	}
	trace_entry_fill(&entry->ent, TRACE_TYPE_FN, state);
	fill(entry, ip, parent_ip);
	if (TRACE_UNLIKELY(!trace_ring_try_commit(rc, word, ENTRY_BYTES))) {
		publish(rc);
		return;
	}
	trace_recursion_exit(THREAD_BIT);
}
