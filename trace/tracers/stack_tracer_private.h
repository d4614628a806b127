/*
 * For the files of the stack tracer: see <trace/stack_tracer.h>.
 *
 * Context:   thread.
 * Locking:   these functions take the locks that they need.
 */
#ifndef STACK_TRACER_PRIVATE_H
#define STACK_TRACER_PRIVATE_H

#include <trace/ftrace.h>
#include <trace/stack_tracer.h>

#define STACK_TRACER_ENTRIES 512u

/* The deepest stack of one kind. */
struct stack_tracer_max {
	_Atomic uint32_t sequence;		       /* odd while it is being written */
	_Atomic uint32_t bytes;			       /* a deeper stack replaces it */
	_Atomic uint32_t nr;			       /* of ips and depths */
	_Atomic uint32_t cpu;			       /* the CPU on which it was seen */
	_Atomic bool is_cut;			       /* there were more callers than fit */
	_Atomic uint32_t ips[STACK_TRACER_ENTRIES];    /* packed, innermost first */
	_Atomic uint32_t depths[STACK_TRACER_ENTRIES]; /* bytes from its slot to the stack's end */
};

/* The ops of the stack tracer; its filter is the file stack_trace_filter. */
extern struct ftrace_ops stack_tracer_ops;

/* The depth in bytes of the deepest thread stack, or what was set since: stack_max_size. */
uint64_t stack_tracer_max_bytes(void);
/*
 * From now on only stacks deeper than `bytes` are recorded, of each kind. The listing of the
 * deepest thread stack is kept until there is a deeper one, as on Linux; the others are forgotten.
 */
void stack_tracer_set_max(uint64_t bytes);
/* A copy of the deepest stack of `kind`; false when none was recorded. */
bool stack_tracer_read(enum trace_stack_kind kind, struct stack_tracer_max *out_max);
/*
 * For boot parameters: add the patterns in `list`, with commas between, to the filter; switch on.
 */
void stack_tracer_boot(const char *list);

#endif
