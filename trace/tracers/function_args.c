/*
 * The function tracer with its option func-args: events with the arguments of calls. See
 * function_tracer.h, call_args.h.
 *
 * Functions of which nothing is known have events without arguments. Those without texts are in the
 * majority, and are written straight from the registers.
 */
#include "call_args.h"
#include "function_entry.h"
#include "function_tracer.h"
#include "instance/array.h"
#include "ring/ring_fast.h"
#include <trace/recursion.h>

enum {
	PART = offsetof(struct trace_func_args_entry, args),
};

#define THREAD_BIT TRACE_RECURSION_CALLBACK /* recursion bit of the common case */
#define ENTRY_STEP                                                                                 \
	(RING_EVENT_ONE + RING_HEAD_BYTES + (uint32_t)sizeof(struct trace_func_args_entry))

static TRACE_ALWAYS_INLINE void args_fill(struct trace_func_args_entry *entry, uintptr_t ip,
					  uintptr_t parent_ip)
{
	trace_entry_init(&entry->call.ent, TRACE_TYPE_FUNC_ARGS, 1);
	entry->call.ip = trace_plat_ip_pack(ip);
	entry->call.parent_ip = trace_plat_ip_pack(parent_ip);
}

static TRACE_NOINLINE void write_unknown(struct trace_ring_cpu *rc, uintptr_t ip,
					 uintptr_t parent_ip)
{
	struct trace_func_entry *entry = trace_ring_reserve(rc, sizeof(*entry));

	if (!entry)
		return;
	trace_entry_init(&entry->ent, TRACE_TYPE_FN, 1);
	entry->ip = trace_plat_ip_pack(ip);
	entry->parent_ip = trace_plat_ip_pack(parent_ip);
	trace_ring_commit(rc, entry);
}

/* A function of its own, as the others need not have so much stack. */
static TRACE_NOINLINE void write_texts(struct trace_ring_cpu *rc, uintptr_t ip, uintptr_t parent_ip,
				       struct ftrace_regs *fregs)
{
	struct trace_func_args_entry *entry;
	struct call_args args;

	trace_call_args_get(fregs, trace_call_code(ip), &args);
	entry = trace_ring_reserve_any(rc, PART + trace_call_args_bytes(&args));
	if (!entry)
		return;
	args_fill(entry, ip, parent_ip);
	trace_call_args_put(&args, &entry->args, PART);
	trace_ring_commit(rc, entry);
}

static TRACE_ALWAYS_INLINE void fill_values(struct trace_args_part *part, uint32_t nr,
					    struct ftrace_regs *fregs)
{
	part->args = trace_args_loc(PART, nr);
	part->text = trace_text_loc(PART, nr, 0);
	if (nr > 3) {
		part->values[3] = ftrace_regs_get_argument(fregs, 3);
		if (nr > 4)
			part->values[4] = ftrace_regs_get_argument(fregs, 4);
		if (nr > 5)
			part->values[5] = ftrace_regs_get_argument(fregs, 5);
	}
	if (nr > 0)
		part->values[0] = ftrace_regs_get_argument(fregs, 0);
	if (nr > 1)
		part->values[1] = ftrace_regs_get_argument(fregs, 1);
	if (nr > 2)
		part->values[2] = ftrace_regs_get_argument(fregs, 2);
}

void trace_function_write_args(struct trace_ring_cpu *rc, uintptr_t ip, uintptr_t parent_ip,
			       struct ftrace_regs *fregs)
{
	uint32_t code = trace_call_code(ip), nr = call_nr_args(code);
	struct trace_func_args_entry *entry;

	if (TRACE_UNLIKELY(!code)) {
		write_unknown(rc, ip, parent_ip);
		return;
	}
	if (CALL_TEXTS(code)) {
		write_texts(rc, ip, parent_ip, fregs);
		return;
	}
	entry = trace_ring_reserve(rc, (uint32_t)sizeof(*entry) + nr * 8);
	if (TRACE_UNLIKELY(!entry))
		return;
	args_fill(entry, ip, parent_ip);
	fill_values(&entry->args, nr, fregs);
	trace_ring_commit(rc, entry);
}

/* A call in any context and any state of the ring. Preemption is off; this switches it on. */
static TRACE_NOINLINE void args_call_slow(uintptr_t ip, uintptr_t parent_ip,
					  struct trace_ring_cpu *rc, struct ftrace_regs *fregs)
{
	uint32_t bit =
		TRACE_RECURSION_CALLBACK + trace_recursion_context(trace_plat_preempt_count());

	if (!trace_plat_recursion_set(bit)) {
		trace_plat_preempt_enable();
		return;
	}
	if (parent_ip == trace_plat_return_hook())
		parent_ip = trace_function_true_parent(parent_ip, fregs);
	if (!trace_ring_is_off(rc))
		trace_function_write_args(rc, ip, parent_ip, fregs);
	trace_recursion_exit((int)bit);
}

/* Interrupts have written events behind ours while ours was open: publish them, too. */
static TRACE_NOINLINE void args_publish(struct trace_ring_cpu *rc)
{
	trace_ring_publish(rc);
	trace_recursion_exit(THREAD_BIT);
}

/* trace_ring_step() could not write the event of a thread. The recursion bit is held. */
static TRACE_NOINLINE void args_write_slow(uintptr_t ip, uintptr_t parent_ip,
					   struct trace_ring_cpu *rc, struct ftrace_regs *fregs)
{
	trace_function_write_args(rc, ip, parent_ip, fregs);
	trace_recursion_exit(THREAD_BIT);
}

/* See trace_function_call(), of which this is the same with arguments in the event. */
void trace_function_args_call(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	const struct trace_array *tr = ops->private;
	struct trace_func_args_entry *entry;
	struct trace_ring_cpu *rc;
	struct ring_place place;
	uint32_t state, code, nr;
	uint64_t gate;

	trace_plat_preempt_disable();
	rc = tr->buffer->cpu[trace_plat_cpu_id()];
	gate = trace_ring_look(rc);
	code = trace_call_code(ip);
	nr = call_nr_args(code);
	state = trace_entry_free_state();
	if (TRACE_UNLIKELY(!(uint32_t)gate) || code != 1u << nr ||
	    TRACE_UNLIKELY(parent_ip == trace_plat_return_hook()) ||
	    TRACE_UNLIKELY(state == TRACE_STATE_OTHER)) {
		args_call_slow(ip, parent_ip, rc, fregs);
		return;
	}
	(void)trace_plat_recursion_set(THREAD_BIT);
	entry = trace_ring_claim(rc, ENTRY_STEP + (uint64_t)nr * 8, gate, &place);
	if (TRACE_UNLIKELY(!entry)) {
		args_write_slow(ip, parent_ip, rc, fregs);
		return;
	}
	trace_entry_fill(&entry->call.ent, TRACE_TYPE_FUNC_ARGS, state);
	entry->call.ip = trace_plat_ip_pack(ip);
	entry->call.parent_ip = trace_plat_ip_pack(parent_ip);
	fill_values(&entry->args, nr, fregs);
	if (TRACE_UNLIKELY(!trace_ring_try_commit_at(rc, &place))) {
		args_publish(rc);
		return;
	}
	trace_recursion_exit(THREAD_BIT);
}
