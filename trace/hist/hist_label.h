/*
 * Keys of histograms as short texts, for pictures and folded stacks: one line, printable ASCII.
 *
 * Context: thread.
 */
#ifndef HIST_LABEL_H
#define HIST_LABEL_H

#include "hist_view.h"

#define HIST_LABEL_MAX 200u /* bytes of a label that count */

/* Part `index` of the key of an entry, which is no stack. */
void trace_hist_label(const struct hist *hist, const uint64_t *entry, uint32_t index,
		      struct trace_seq *seq);
/* A key that is a number, where nothing else of the entry is needed: not .execname. */
void trace_hist_label_number(const struct hist_value *key, uint64_t number, struct trace_seq *seq);
/* The function that a stack's address is in. */
void trace_hist_label_function(uint32_t packed_ip, struct trace_seq *seq);
/* 2 to the power of `exponent`: 512, 1K, 64M. */
void trace_hist_label_power(uint64_t exponent, struct trace_seq *seq);
/* What a key is called. */
void trace_hist_label_name(const struct hist_value *key, struct trace_seq *seq);

/* Is it shown as a number, and not as a name? */
bool trace_hist_is_number(const struct hist_value *key);
/*
 * Are its values in a row with equal steps, such as buckets and CPUs? Then pictures show it in order,
 * with those that did not occur.
 */
bool trace_hist_is_scale(const struct hist_value *key);
/* The step from one to the next. */
static inline uint64_t hist_scale_step(const struct hist_value *key)
{
	return key->modifier == HIST_BUCKETS ? key->buckets : 1;
}

#endif
