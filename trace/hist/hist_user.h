/*
 * Histograms: stacks of programs, for the key `ustacktrace`. The same addresses in two programs are two keys,
 * because they are two places.
 *
 * Context: thread, unless stated.
 */
#ifndef HIST_USER_H
#define HIST_USER_H

#include <trace/trace_seq.h>
#include "hist.h"
#include "instance/entry.h"

/* A stack as words of a key, of which only the first `nr` callers are there. */
struct hist_user_stack {
	uint32_t tgid; /* the program; 0 for a thread of the kernel, which has no callers */
	uint32_t nr;
	uint64_t callers[TRACE_USER_STACK_MAX]; /* innermost first */
};

static inline uint32_t hist_user_words(const struct hist_user_stack *stack)
{
	return 1 + stack->nr;
}

/* Write the stack of the running program. Returns the number of words. Probe context. */
uint32_t trace_hist_user_put(uint64_t *to);
/* By addresses, then by program: less than 0, 0, more than 0. */
int trace_hist_user_compare(const struct hist_user_stack *a, const struct hist_user_stack *b);
/* Print a caller: file and function as sym-userobj does, or the address when the program is gone. */
void trace_hist_user_line(const struct hist_user_stack *stack, uint32_t index,
			  struct trace_seq *seq);

#endif
