/*
 * What is known of an event while a histogram counts it. See hist.h.
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef HIST_RUN_H
#define HIST_RUN_H

#include "hist.h"
#include "trigger.h"

#define HIST_KEY_WORDS (HIST_KEY_BYTES / 8u)

/* Is on the stack of a probe, and only as far as it is used written to. */
struct hist_run {
	const struct hist *hist;
	const struct trace_trigger_hit *hit;
	struct hist_entry *entry; /* NULL until the key is known */
	uint64_t hash;
	uint32_t nr_words; /* of the key */
	bool has_now;
	uint64_t now;
	uint64_t temps[HIST_TEMPS_MAX];
	/* A number, or the address of words of another histogram's entry. */
	uint64_t refs[HIST_REFS_MAX];
	uint64_t vars[HIST_VARS_MAX]; /* own ones that are numbers, as this event has set them */
	uint64_t key[HIST_KEY_WORDS];
};

/* The value of a field of the event. */
static TRACE_ALWAYS_INLINE uint64_t hist_field(const struct hist_op *op,
					       const struct trace_trigger_hit *hit)
{
	int64_t word;

	__builtin_memcpy(&word, (const char *)hit->entry + op->offset, sizeof(word));
	return (uint64_t)(word >> op->shift) & op->value;
}

/* The entry of a key that was not found; NULL, with a drop counted, when there is no room. */
struct hist_entry *hist_make_entry(struct hist *hist, struct hist_key *key);

/* Compute a number, from operation `op` on. */
uint64_t hist_compute(struct hist_run *run, const struct hist_op *op);
/* Compute a text or a stack. Returns how many words it has. */
uint32_t hist_compute_words(struct hist_run *run, const struct hist_op *op, uint64_t *to,
			    uint32_t max_words);
/* The name of the running thread, as words. Returns how many they are. */
uint32_t hist_put_comm(uint64_t *to);

/* ---- hist_vars.c ---- */

/* Read the variables of other histograms. False when one of them is not set. */
bool hist_refs_run(struct hist_run *run);
/* Set those of run->entry. */
void hist_vars_run(struct hist_run *run);

#endif
