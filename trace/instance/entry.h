/*
 * The head that every event in the ring buffer begins with, and how it is filled; the events that
 * instances write themselves: texts, raw data, backtraces. Other events are declared beside who
 * writes them. The formats are ours; type numbers are Linux's where the meaning is.
 *
 * Context: writing - probe.
 */
#ifndef TRACE_ENTRY_H
#define TRACE_ENTRY_H

#include <trace/event.h>
#include <trace/platform.h>
#include <trace/recursion.h>

/* trace_entry.flags */
enum trace_entry_flags {
	TRACE_FLAG_IRQS_OFF = 0x01,
	TRACE_FLAG_NEED_RESCHED = 0x04,
	TRACE_FLAG_HARDIRQ = 0x08,
	TRACE_FLAG_SOFTIRQ = 0x10,
	TRACE_FLAG_PREEMPT_RESCHED = 0x20,
	TRACE_FLAG_NMI = 0x40,
	TRACE_FLAG_BH_OFF = 0x80,
};

/*
 * A backtrace: packed return addresses, innermost first; their number follows from the length. A
 * last one of 0: there are more callers than TRACE_STACK_MAX.
 */
#define TRACE_TYPE_STACK 4
#define TRACE_STACK_MAX	 64u
struct trace_stack_entry {
	struct trace_entry ent;
	uint32_t ips[];
};

/* A text, written out. */
#define TRACE_TYPE_PRINT 5
struct trace_print_entry {
	struct trace_entry ent;
	uint32_t ip;
	char text[]; /* ended by NUL */
};

/* trace_printk: format pointer and packed arguments. */
#define TRACE_TYPE_BPRINT 6
struct trace_bprint_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint16_t args_bytes;
	uint16_t unused; /* not written */
	const char *fmt;
	uint8_t args[];
} TRACE_ENTRY_ALIGNED;

/* trace_printk of a literal: its address. */
#define TRACE_TYPE_BPUTS 14
struct trace_bputs_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint32_t unused; /* not written */
	const char *text;
} TRACE_ENTRY_ALIGNED;

/* trace_marker_raw */
#define TRACE_TYPE_RAW_DATA 16
struct trace_raw_data_entry {
	struct trace_entry ent;
	uint32_t id;
	uint8_t data[];
};

/*
 * Fill the head from the state of this CPU. `own_depth` is how often the writer itself has
 * disabled preemption: it is not the traced code's, and neither is that of who called the writer
 * for one of several ops.
 */
static TRACE_ALWAYS_INLINE void trace_entry_init(struct trace_entry *entry, uint16_t type,
						 uint32_t own_depth)
{
	uint32_t count = trace_plat_preempt_count();
	uint32_t list_depth = trace_recursion_list_depth(trace_recursion_context(count));
	uint32_t depth = (count & TRACE_PREEMPT_MASK) - own_depth - list_depth;
	uint32_t flags = 0;

	if (trace_plat_irqs_disabled())
		flags |= TRACE_FLAG_IRQS_OFF;
	if (trace_plat_need_resched())
		flags |= TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED;
	if (count & TRACE_HARDIRQ_MASK)
		flags |= TRACE_FLAG_HARDIRQ;
	if (count & TRACE_SOFTIRQ_SERVING)
		flags |= TRACE_FLAG_SOFTIRQ;
	if (count & TRACE_NMI_MASK)
		flags |= TRACE_FLAG_NMI;
	if (count & TRACE_SOFTIRQ_MASK & ~TRACE_SOFTIRQ_SERVING)
		flags |= TRACE_FLAG_BH_OFF;
	entry->type = type;
	entry->flags = (uint8_t)flags;
	entry->preempt_count = (uint8_t)(depth < 15 ? depth : 15);
	entry->pid = trace_plat_current_pid();
}

/*
 * The state of a writer in the common case, in one number: a thread, its preempt depth besides the
 * writer's own unit and its caller's, and above that, where a rotation brings them to their place,
 * the flags of one that is about to be rescheduled. TRACE_STATE_OTHER: an interrupt, a deep
 * section.
 */
#define TRACE_STATE_OTHER     UINT32_MAX
#define TRACE_STATE_MAX_DEPTH 15u

/* At the return of a function: there no op is called by another. */
static TRACE_ALWAYS_INLINE uint32_t trace_entry_return_state(void)
{
	uint32_t state = trace_plat_preempt_word() - 0x80000001u;

	if (TRACE_UNLIKELY(state >= TRACE_STATE_MAX_DEPTH)) {
		state ^= 0x80000000u;
		if (state >= TRACE_STATE_MAX_DEPTH)
			return TRACE_STATE_OTHER;
		state |= (uint32_t)(TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 24;
	}
	return state;
}

/*
 * The same, for a writer that guards itself by a bit of the recursion word: it has its unit of
 * preemption but not yet the bit. The state says, too, that no bit is held. Those of ftrace's list
 * functions do not count, and neither does the unit of preemption that comes with one.
 */
static TRACE_ALWAYS_INLINE uint32_t trace_entry_free_state(void)
{
	const uint64_t resched = 0x80000000u;
	const uint64_t list = (1ull << (32 + TRACE_RECURSION_LIST)) + 1;
	uint64_t word = trace_plat_context_word() - 1;
	uint64_t state = word - resched;

	if (TRACE_UNLIKELY(state >= TRACE_STATE_MAX_DEPTH)) {
		if (word >> (32 + TRACE_RECURSION_LIST) & 1)
			word -= list;
		state = word - resched;
		if (state < TRACE_STATE_MAX_DEPTH)
			return (uint32_t)state;
		if (word >= TRACE_STATE_MAX_DEPTH)
			return TRACE_STATE_OTHER;
		state = word | (uint64_t)(TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED)
				       << 24;
	}
	return (uint32_t)state;
}

/* The head of an event, from such a state. */
static TRACE_ALWAYS_INLINE void trace_entry_fill(struct trace_entry *entry, uint16_t type,
						 uint32_t state)
{
	uint32_t head = ((uint32_t)type | TRACE_FLAG_IRQS_OFF << 16) + (state << 24) + (state >> 8);

	/* Taking away is cheaper than asking. */
	head -= (uint32_t)!trace_plat_irqs_disabled() * (TRACE_FLAG_IRQS_OFF << 16);
	__builtin_memcpy(entry, &head, sizeof(head)); /* type, flags, preempt_count */
	entry->pid = trace_plat_current_pid();
}

#endif
