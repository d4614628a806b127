/*
 * What is written into the ring buffer: a common head, then what the type says. The formats are
 * ours; type numbers are Linux's where the meaning is.
 *
 * Context: writing - probe.
 */
#ifndef TRACE_ENTRY_H
#define TRACE_ENTRY_H

#include <trace/recursion.h>

enum trace_type {
	TRACE_TYPE_NONE = 0,
	TRACE_TYPE_FN = 1,
	TRACE_TYPE_CTX = 2,
	TRACE_TYPE_WAKE = 3,
	TRACE_TYPE_STACK = 4,
	TRACE_TYPE_PRINT = 5,
	TRACE_TYPE_BPRINT = 6,
	TRACE_TYPE_GRAPH_RET = 10,
	TRACE_TYPE_GRAPH_ENT = 11,
	TRACE_TYPE_BPUTS = 14,
	TRACE_TYPE_RAW_DATA = 16,
	TRACE_TYPE_FUNC_REPEATS = 19,
	TRACE_TYPE_GRAPH_RETADDR_ENT = 20,
	TRACE_TYPE_GRAPH_RETVAL = 21,
	TRACE_NR_TYPES = 32,
};

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

struct trace_entry {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count; /* bits 0-3 depth, 15 and more count as 15 */
	int32_t pid;
};

struct trace_func_entry {
	struct trace_entry ent;
	uint32_t ip; /* packed: trace_plat_ip_pack() */
	uint32_t parent_ip;
};

/*
 * A backtrace: packed return addresses, innermost first; their number follows from the length. A
 * last one of 0: there are more callers than TRACE_STACK_MAX.
 */
#define TRACE_STACK_MAX 64u
struct trace_stack_entry {
	struct trace_entry ent;
	uint32_t ips[];
};

/* A function was entered; GRAPH_RETADDR_ENT has the caller too. */
struct trace_graph_entry {
	struct trace_entry ent;
	uint32_t ip; /* of the function, packed */
	uint32_t depth;
};

struct trace_graph_retaddr_entry {
	struct trace_graph_entry graph;
	uint32_t retaddr; /* packed */
};

/* A function returned, at the time of the event; GRAPH_RETVAL has its value too. */
struct trace_graph_ret_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint16_t depth;
	uint16_t overrun; /* calls of this thread that found no room in its shadow stack; 65535:
			     more */
	uint64_t duration_ns;
} __attribute__((packed, aligned(4)));

struct trace_graph_retval_entry {
	struct trace_graph_ret_entry graph;
	uint64_t retval;
} __attribute__((packed, aligned(4)));

/* A switch of threads (CTX) or a wakeup (WAKE), for latency tracers. */
struct trace_ctx_entry {
	struct trace_entry ent;
	int32_t prev_pid;
	int32_t next_pid;
	int32_t next_cpu;
	uint8_t prev_prio;
	uint8_t prev_state; /* a letter, as ps shows it */
	uint8_t next_prio;
	uint8_t next_state;
};

/* The same call, more times, without events of its own. */
struct trace_func_repeats_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint32_t parent_ip;
	uint64_t count_and_last; /* count << 48 | low 48 bits of the time of the last of them */
} __attribute__((packed, aligned(4)));

#define TRACE_REPEATS_SHIFT 48u
#define TRACE_REPEATS_TIME  ((1ull << TRACE_REPEATS_SHIFT) - 1)

/* A text, written out. */
struct trace_print_entry {
	struct trace_entry ent;
	uint32_t ip;
	char text[]; /* ended by NUL */
};

/* Events are aligned to 4 bytes, pointers in them too. */
#define TRACE_ENTRY_ALIGNED __attribute__((packed, aligned(4)))

/* trace_printk: format pointer and packed arguments. */
struct trace_bprint_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint16_t args_bytes;
	uint16_t unused;
	const char *fmt;
	uint8_t args[];
} TRACE_ENTRY_ALIGNED;

struct trace_bputs_entry {
	struct trace_entry ent;
	uint32_t ip;
	uint32_t unused;
	const char *text;
} TRACE_ENTRY_ALIGNED;

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
static TRACE_ALWAYS_INLINE void trace_entry_init(struct trace_entry *entry, enum trace_type type,
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
	entry->type = (uint16_t)type;
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
static TRACE_ALWAYS_INLINE void trace_entry_fill(struct trace_entry *entry, enum trace_type type,
						 uint32_t state)
{
	uint32_t head = (type | TRACE_FLAG_IRQS_OFF << 16) + (state << 24) + (state >> 8);

	/* Taking away is cheaper than asking. */
	head -= (uint32_t)!trace_plat_irqs_disabled() * (TRACE_FLAG_IRQS_OFF << 16);
	__builtin_memcpy(entry, &head, sizeof(head)); /* type, flags, preempt_count */
	entry->pid = trace_plat_current_pid();
}

#endif
