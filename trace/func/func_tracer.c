/*
 * The function tracer's callback: one event of 20 bytes per call. See functions.h.
 *
 * Recording that is off, a CPU that is masked, a full ring, another clock: the ring's gate says so,
 * in the same comparison that asks for room, so that the common case pays for none of them.
 *
 * The common case is a thread that is not about to be rescheduled: one comparison of preempt_count
 * says so. Everything else is out of line, reached by jumps at the end, so that the common case
 * saves no registers for it.
 */
#include "array.h"
#include "entry.h"
#include "functions.h"
#include "ring/ring_fast.h"
#include <trace/recursion.h>

#define THREAD_BIT  TRACE_RECURSION_CALLBACK /* recursion bit of the common case */
#define ENTRY_BYTES ((uint32_t)sizeof(struct trace_func_entry))
#define MAX_DEPTH   15u		/* from here on trace_entry.preempt_count cannot tell */
#define COMMON_WORD 0x80000001u /* preempt word: nothing but our own depth */
/* Where the fields lie in the first word of an entry. */
#define FLAGS_SHIFT 16
#define DEPTH_SHIFT 24

static void fill(struct trace_func_entry *entry, uintptr_t ip, uintptr_t parent_ip)
{
	entry->ip = trace_plat_ip_pack(ip);
	entry->parent_ip = trace_plat_ip_pack(parent_ip);
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
	uint32_t depth, head;
	uint64_t word;

	(void)fregs;
	trace_plat_preempt_disable();
	rc = tr->buffer->cpu[trace_plat_cpu_id()];
	depth = trace_plat_preempt_word() - COMMON_WORD;
	if (TRACE_UNLIKELY(depth >= MAX_DEPTH) ||
	    TRACE_UNLIKELY(!trace_plat_recursion_set(THREAD_BIT))) {
		call_slow(ip, parent_ip, rc);
		return;
	}
	entry = trace_ring_try_reserve(rc, ENTRY_BYTES, &word);
	if (TRACE_UNLIKELY(!entry)) {
		write_event(rc, ip, parent_ip, THREAD_BIT);
		return;
	}
	head = TRACE_TYPE_FN | depth << DEPTH_SHIFT;
	if (trace_plat_irqs_disabled())
		head |= TRACE_FLAG_IRQS_OFF << FLAGS_SHIFT;
	__builtin_memcpy(&entry->ent, &head, sizeof(head)); /* type, flags, preempt_count */
	entry->ent.pid = trace_plat_current_pid();
	fill(entry, ip, parent_ip);
	if (TRACE_UNLIKELY(!trace_ring_try_commit(rc, word, ENTRY_BYTES))) {
		publish(rc);
		return;
	}
	trace_recursion_exit(THREAD_BIT);
}
