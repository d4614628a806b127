/*
 * Keys of histograms as short texts, for pictures and folded stacks: one line, printable ASCII.
 *
 * Context: thread.
 */
#ifndef HIST_LABEL_H
#define HIST_LABEL_H

#include "hist_view.h"

#define HIST_LABEL_MAX 200u /* bytes of a label; the rest is cut */

/* Print part `index` of an entry's key, which is no stack. */
void trace_hist_label(const struct hist *hist, const uint64_t *entry, uint32_t index,
		      struct trace_seq *seq);
/* Print a key that is a number and needs nothing else of the entry, as .execname would. */
void trace_hist_label_number(const struct hist_value *key, uint64_t number, struct trace_seq *seq);
/* Print 2 to the power of `exponent`: 512, 1K, 64M. */
void trace_hist_label_power(uint64_t exponent, struct trace_seq *seq);
/* Print the title of a key. */
void trace_hist_label_name(const struct hist_value *key, struct trace_seq *seq);

/* Is it a stack, of the kernel or of a program? */
static inline bool hist_is_stack(const struct hist_value *key)
{
	return key->kind == HIST_STACK || key->kind == HIST_USER_STACK;
}
/* The number of addresses of a key that is a stack, and the name of one of them, 0 being the innermost. */
uint32_t trace_hist_stack_depth(const struct hist_value *key, const uint64_t *words);
void trace_hist_label_frame(const struct hist_value *key, const uint64_t *words, uint32_t index,
			    struct trace_seq *seq);
/* Is the key printed as a number rather than a name? */
bool trace_hist_is_number(const struct hist_value *key);
/*
 * Do the key's values form a row of equal steps, such as buckets and CPUs? Pictures then show them
 * in order, including values that did not occur.
 */
bool trace_hist_is_scale(const struct hist_value *key);
/* The step between two values of a scale. */
static inline uint64_t hist_scale_step(const struct hist_value *key)
{
	return key->modifier == HIST_BUCKETS ? key->buckets : 1;
}

#endif
