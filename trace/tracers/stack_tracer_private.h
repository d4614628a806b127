/*
 * What the files of the stack tracer show and set: see <trace/stack_tracer.h>.
 *
 * Context:   thread.
 * Locking:   inside. Listings are copies.
 */
#ifndef STACK_TRACER_PRIVATE_H
#define STACK_TRACER_PRIVATE_H

#include <trace/ftrace.h>
#include <trace/stack_tracer.h>

#define STACK_TRACER_ENTRIES 512u

/* One maximum. */
struct stack_tracer_max {
	_Atomic uint32_t sequence; /* odd: being written */
	_Atomic uint32_t bytes;	   /* deeper stacks are recorded */
	_Atomic uint32_t nr;
	_Atomic uint32_t cpu;			       /* where it was */
	_Atomic bool is_cut;			       /* there were more callers than fit */
	_Atomic uint32_t ips[STACK_TRACER_ENTRIES];    /* packed, innermost first */
	_Atomic uint32_t depths[STACK_TRACER_ENTRIES]; /* where each address lies, from the end */
};

/* Its filter is stack_trace_filter. */
extern struct ftrace_ops stack_tracer_ops;

/* The maximum of thread stacks. */
uint64_t stack_tracer_max_bytes(void);
/*
 * From now on only stacks deeper than that are recorded, of each kind. The listing of threads stays
 * until then, as in Linux; the others are forgotten.
 */
void stack_tracer_set_max(uint64_t bytes);
/* A copy of what is known of `kind`; false: nothing yet. */
bool stack_tracer_read(enum trace_stack_kind kind, struct stack_tracer_max *out_max);
/*
 * The boot parameters: add the patterns of `list`, with commas between, to the filter; switch on.
 */
void stack_tracer_boot(const char *list);

#endif
