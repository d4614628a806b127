/*
 * State of a run: the data of an event while a histogram counts it. See hist.h.
 *
 * Context: any, NMI included, preemption off.
 */
#ifndef HIST_RUN_H
#define HIST_RUN_H

#include "events/event_file.h"
#include "hist.h"
#include "events/trigger.h"

struct hist_action;

#define HIST_KEY_WORDS	 (HIST_KEY_BYTES / 8u)
#define HIST_BUILT_BYTES 80u

/* A run, on the stack of a probe. Only members in use are written to. */
struct hist_run {
	struct expr_run expr; /* its data is the event; its len is not set, and not used */
	struct hist *hist;
	const struct trace_trigger_hit *hit;
	struct hist_entry *entry; /* NULL until the key is known */
	uintptr_t frame;	  /* of trace_hist_run(): stacks begin there */
	uint64_t hash;
	uint32_t nr_words; /* of the key */
	/* The key from its first parts alone, for each step BEGINNING behind these parts. */
	struct {
		uint64_t hash;
		uint32_t nr_words;
	} beginning[HIST_KEYS_MAX];
	struct trace_event_time time; /* set by the step CLOCK, but for time.clock */
	/* Values of other histograms: numbers, or addresses of words of entries. */
	uint64_t refs[HIST_REFS_MAX];
	uint64_t vars[HIST_VARS_MAX]; /* own variables that are numbers, as set by this event */
	uint64_t key[HIST_KEY_WORDS];
	/*
	 * Words written by the steps ARGUMENT; the last word is unused, so that 8 bytes fit
	 * anywhere.
	 */
	uint64_t built[HIST_BUILT_BYTES / 8u + 1];
};

static inline struct hist_run *hist_run_of(struct expr_run *expr)
{
	return (struct hist_run *)expr;
}

/*
 * Make the entry of a key that was not found. Returns NULL, with a drop counted, when there is no
 * room.
 */
struct hist_entry *trace_hist_make_entry(struct hist *hist, struct hist_key *key);

/* Compute a number by the instructions from `insn` to EXPR_END. */
uint64_t trace_hist_compute(struct hist_run *run, const struct expr_insn *insn);
/* Compute a text or a stack: HIST_STEP_WORDS. Returns the number of its words. */
uint32_t trace_hist_compute_words(const struct hist_run *run, const struct expr_insn *insn,
				  uint64_t *to);
/* Write the name of the running thread as words. Returns the number of words. */
uint32_t trace_hist_put_comm(uint64_t *to);

/* Act: the step of actions whose type has no steps of its own. */
void trace_hist_act(struct hist_run *run, struct hist_action *action);

#endif
