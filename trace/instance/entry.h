/*
 * The head of every event in the ring buffer, and how it is filled; and the events that instances
 * write themselves: texts, raw data, backtraces. Other events are declared beside the code that
 * writes them. The layouts are our own; a type with the meaning of one of Linux's has its number.
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
 * A backtrace: return addresses, innermost first; the length of the event says how many. If there
 * were more than TRACE_STACK_MAX, a 0 follows the last one. They are whole, unlike other addresses
 * in events: trace-cmd reads this event by itself and takes 8 bytes for each.
 */
#define TRACE_TYPE_STACK 4
#define TRACE_STACK_MAX	 64u
struct trace_stack_entry {
	struct trace_entry ent;
	uint64_t ips[];
} TRACE_ENTRY_ALIGNED;

/*
 * The same of the program that the thread is in: its own address, then those of callers by frame
 * pointers, as far as they lead. A 0 ends them.
 */
#define TRACE_TYPE_USER_STACK 12
#define TRACE_USER_STACK_MAX  8u
struct trace_user_stack_entry {
	struct trace_entry ent;
	uint32_t tgid;
	uint32_t unused;
	uint64_t caller[TRACE_USER_STACK_MAX];
} TRACE_ENTRY_ALIGNED;

/* A text, copied into the event: trace_marker, trace_puts(). */
#define TRACE_TYPE_PRINT 5
struct trace_print_entry {
	struct trace_entry ent;
	uint32_t ip;
	char text[]; /* ended by NUL */
};

/*
 * trace_printk() with arguments: the address of the format, and packed arguments (<trace/fmt.h>).
 */
#define TRACE_TYPE_BPRINT 6
struct trace_bprint_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint16_t args_bytes;
	uint16_t unused; /* not written */
	const char *fmt;
	uint8_t args[];
} TRACE_ENTRY_ALIGNED;

/* trace_printk() of a literal without arguments: its address. */
#define TRACE_TYPE_BPUTS 14
struct trace_bputs_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint32_t unused; /* not written */
	const char *text;
} TRACE_ENTRY_ALIGNED;

/* An event of trace_marker_raw: a number, and bytes. */
#define TRACE_TYPE_RAW_DATA 18
struct trace_raw_data_entry {
	struct trace_entry ent;
	uint32_t id;
	uint8_t data[];
};

/*
 * Fill the head from the state of this CPU. `own_depth` is how often the writer itself has disabled
 * preemption. This is subtracted, because the event is to show the preempt depth of the traced
 * code; so is the unit of ftrace's list function, if that has called the writer.
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
 * A fast way to fill the head in the common case: a thread, with a preempt depth below 15. Its
 * state is a number:
 *
 *   bits 24-31  the flags of need-resched, or 0
 *   bits 0-7    the preempt depth of the traced code; of the states of tracers below one more,
 *               because these writers have disabled preemption once
 *
 * A rotation by 8 bits brings both to their places in the head: trace_entry_word(), and for tracers
 * trace_entry_fill(). For everything else the state is TRACE_STATE_OTHER, and trace_entry_init()
 * has to be used.
 */
#define TRACE_STATE_OTHER     UINT32_MAX
#define TRACE_DEPTH_BASE      0x80000000u /* trace_plat_preempt_word() of a thread, less its depth */
#define TRACE_STATE_MAX_DEPTH 15u

/*
 * The state of a tracer at the return of a function. No list function has called it there. Subtracts
 * the bit "no reschedule wanted"; if the result is not a depth, that bit was clear, or something
 * else is set.
 */
static TRACE_ALWAYS_INLINE uint32_t trace_entry_return_state(void)
{
	uint32_t state = trace_plat_preempt_word() - TRACE_DEPTH_BASE;

	if (TRACE_UNLIKELY(state > TRACE_STATE_MAX_DEPTH)) {
		state ^= TRACE_DEPTH_BASE;
		if (state > TRACE_STATE_MAX_DEPTH)
			return TRACE_STATE_OTHER;
		state |= (uint32_t)(TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED) << 24;
	}
	return state;
}

/*
 * The state of a tracer that will guard itself by a bit of the recursion word, and has not taken it
 * yet. A result other than TRACE_STATE_OTHER also says that no bit of the word is set, except for
 * that of ftrace's list function, which does not count; neither does the unit of preemption that
 * comes with it. The base is subtracted first, and nothing else: that is one instruction on x86-64.
 */
static TRACE_ALWAYS_INLINE uint32_t trace_entry_free_state(void)
{
	const uint64_t list = (1ull << (32 + TRACE_RECURSION_LIST)) + 1;
	uint64_t word = trace_plat_context_word();
	uint64_t state = word - TRACE_DEPTH_BASE;

	if (TRACE_UNLIKELY(state > TRACE_STATE_MAX_DEPTH)) {
		if (word >> (32 + TRACE_RECURSION_LIST) & 1)
			word -= list;
		state = word - TRACE_DEPTH_BASE;
		if (state <= TRACE_STATE_MAX_DEPTH)
			return (uint32_t)state;
		if (word > TRACE_STATE_MAX_DEPTH)
			return TRACE_STATE_OTHER;
		state = word | (uint64_t)(TRACE_FLAG_NEED_RESCHED | TRACE_FLAG_PREEMPT_RESCHED)
				       << 24;
	}
	return (uint32_t)state;
}

/*
 * Type, flags and preempt_count of the head, by a state that is not TRACE_STATE_OTHER. `base` is
 * TRACE_ENTRY_BASE of the type.
 */
#define TRACE_ENTRY_BASE(type) ((uint32_t)(type) | TRACE_FLAG_IRQS_OFF << 16)
static TRACE_ALWAYS_INLINE uint32_t trace_entry_word(uint32_t base, uint32_t state)
{
	uint32_t word = base + (state << 24) + (state >> 8);

	/* The flag is in `base` and is subtracted if interrupts are on: that needs no branch. */
	return word - (uint32_t)!trace_plat_irqs_disabled() * (TRACE_FLAG_IRQS_OFF << 16);
}

/* Fill the head from such a word. */
static TRACE_ALWAYS_INLINE void trace_entry_put(struct trace_entry *entry, uint32_t word)
{
	__builtin_memcpy(entry, &word, sizeof(word));
	entry->pid = trace_plat_current_pid();
}

/* Fill the head by a tracer's state: without its own unit of the preempt depth. */
static TRACE_ALWAYS_INLINE void trace_entry_fill(struct trace_entry *entry, uint16_t type,
						 uint32_t state)
{
	trace_entry_put(entry, trace_entry_word(TRACE_ENTRY_BASE(type) - (1u << 24), state));
}

#endif
