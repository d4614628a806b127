/*
 * The program of a histogram: the work at an event as instructions of expr/, so that a probe looks
 * up nothing about the histogram. It is run by its steps; those of a histogram, EXPR_OWN, are here.
 *
 * 	FIELD id, KEY_NUMBER           keys
 * 	TAKE ts0                       variables of other histograms; it ends if one is not set
 * 	FIND_NUMBER                    the entry, which counts the event
 * 	CLOCK, DIVIDE 1000, DECREASE ts0, SET_ONE lat
 * 	IF_WANTED wakeup_latency       own variables; values, each with SUM; actions
 * 	    ARGUMENT lat, FIELD id, ARGUMENT id, ACT
 * 	END
 *
 * Values are copied from hist->values. The clock is read once, where its time is first needed.
 *
 * Context:   steps - any, NMI included, preemption off. The rest - thread, config lock held.
 * Ownership: a program belongs to its histogram, and does not change.
 */
#ifndef HIST_PROGRAM_H
#define HIST_PROGRAM_H

#include "expr/expr_build.h"
#include "hist.h"

struct hist_action;
struct hist_run;

/* The function called by HIST_STEP_ACT. */
typedef void (*hist_act_fn)(struct hist_run *run, struct hist_action *action);

/*
 * Kinds of steps. `value` is the number computed last. `to` is an index in refs[], vars[] or
 * beginning[], `offset` a word of an entry, or an offset in an event.
 */
enum hist_step_kind {
	HIST_STEP_TIME,	      /* value is run->time.now */
	HIST_STEP_CLOCK,      /* the same, which is read from the clock words[0] */
	HIST_STEP_REF,	      /* value is refs[to] */
	HIST_STEP_VAR,	      /* value is vars[to], as set by this event */
	HIST_STEP_DECREASE,   /* value - refs[to] */
	HIST_STEP_KEY,	      /* value is the next word of the key */
	HIST_STEP_KEY_NUMBER, /* value is all of the key */
	HIST_STEP_WORDS, /* a text or stack of at most `with.len` words comes next in the key */
	/*
	 * The number refs[to], bit `shift` of the word words[0] of an entry of the map `data`, is
	 * read by a key that is one number, and becomes unset.
	 */
	HIST_STEP_TAKE,
	HIST_STEP_READ,	     /* refs[to], a number or words, is read by this event's key */
	HIST_STEP_BEGINNING, /* the first `to` keys are kept for READ_BY */
	HIST_STEP_READ_BY,   /* as READ, by the first words[1] keys alone */
	HIST_STEP_FIND,	     /* the entry of the key is found or made, and its hits grow by 1 */
	HIST_STEP_FIND_NUMBER,
	HIST_STEP_SET,	     /* vars[to] becomes value, also in the entry */
	HIST_STEP_SET_WORDS, /* vars[to], of several words, goes into the entry */
	HIST_STEP_SET_ALL,   /* the variables of the bits words[1] are marked as set in words[0] */
	HIST_STEP_SET_ONE,   /* vars[to], the only variable, becomes value and is marked as set */
	HIST_STEP_SUM,	     /* value is added to a word of the entry */
	/* On at next[false] unless an instance records events of the type `data` */
	HIST_STEP_IF_WANTED,
	HIST_STEP_ARGUMENT, /* value is written into run->built */
	HIST_STEP_ACT,	    /* the function words[0] is called with the action `data` */
	HIST_STEP_ACT_LAST, /* the same, as the program's end */
	HIST_NR_STEPS,
};
extern const expr_step_fn trace_hist_steps[HIST_NR_STEPS]; /* hist_run.c */

/* Is the instruction a step of this kind? */
static inline bool hist_is_step(const struct expr_insn *insn, enum hist_step_kind kind)
{
	return insn->op == EXPR_OWN && insn->step == trace_hist_steps[kind];
}

/* Is it a text or a stack of another histogram's entry? */
static inline bool hist_is_ref_words(const struct expr_insn *insn)
{
	return hist_is_step(insn, HIST_STEP_WORDS) && insn->place == HIST_PLACE_REF;
}

static inline bool hist_reads_ref(const struct expr_insn *insn)
{
	return hist_is_step(insn, HIST_STEP_REF) || hist_is_ref_words(insn);
}

struct hist_program {
	struct expr_build build;
	const struct hist *hist;
	bool has_clock;
	uint32_t held; /* index of the own variable that value equals; HIST_VARS_MAX for none */
};

/*
 * Make hist->program, or hist->plain if trace_hist_choose_run() needs no program. Returns 0 or
 * -ENOMEM.
 */
int trace_hist_program_make(struct hist *hist);

/* hist->program; or, when hist_plain.c counts, the program of the keys and values. */
static inline const struct expr_program *hist_shown_program(const struct hist *hist)
{
	return hist->program ? hist->program : hist->values;
}
/* Print the line of an instruction of that program: expr_show.h. */
void trace_hist_program_show(const struct hist *hist, uint32_t number, struct trace_seq *seq);

/*
 * Add a step, for types of actions: at most one for each parameter, and three more. Never NULL.
 */
struct expr_insn *trace_hist_program_add(struct hist_program *program, enum hist_step_kind kind);
/* Add HIST_STEP_ACT. */
void trace_hist_program_add_act(struct hist_program *program, hist_act_fn act,
				const struct hist_action *action);
/* Add the instructions that compute a number. */
void trace_hist_program_compute(struct hist_program *program, const struct hist_value *value);

#endif
