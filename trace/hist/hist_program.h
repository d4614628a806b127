/*
 * The program of a histogram: the work at an event as a list of steps, so that a probe looks up
 * nothing about the histogram. A step is a function, which ends by calling the next step's
 * function; the compiler makes that call a jump. Each step hands on the number computed last.
 *
 * 	FIELD id, KEY_NUMBER           keys
 * 	TAKE ts0                       variables of other histograms; it ends if one is not set
 * 	FIND_NUMBER                    the entry, which counts the event
 * 	CLOCK, DIVIDE 1000, DECREASE ts0, SET_ONE lat
 * 	IF_WANTED wakeup_latency       own variables; values, each with SUM; actions
 * 	    ARGUMENT lat, FIELD id, ARGUMENT id, ACT
 * 	END
 *
 * The operations hist->ops compute values. The clock is read once, where its time is first needed.
 *
 * Context:   steps - any, NMI included, preemption off. The rest - thread, config lock held.
 * Ownership: a program belongs to its histogram, and does not change.
 */
#ifndef HIST_PROGRAM_H
#define HIST_PROGRAM_H

#include "hist.h"

struct hist_action;
struct hist_run;
struct hist_step;

typedef void (*hist_step_fn)(struct hist_run *run, const struct hist_step *step, uint64_t value);
/* The function called by HIST_STEP_ACT. */
typedef void (*hist_act_fn)(struct hist_run *run, struct hist_action *action);

struct hist_step {
	hist_step_fn func;
	union {
		uint64_t operand;
		const struct hist_op *op;
		const struct hist_map *map;
		const struct trace_event_call *call;
		ring_clock_fn clock;
		hist_act_fn act;
	};
	union {
		uint64_t magic; /* of a division */
		struct hist_action *action;
	};
	uint16_t offset; /* in an event, or in words of an entry */
	uint16_t set_at; /* word of an entry with the bits of set variables */
	uint16_t skip;	 /* number of steps to leave out; number of keys of another histogram */
	uint8_t to;	 /* index in refs[], vars[] or keys[] */
	uint8_t shift;	 /* shift of a field; bit number of a variable */
};

/* Kinds of steps. `value` is the number computed last. */
enum hist_step_kind {
	HIST_STEP_FIELD, /* value is computed, as by the operations of the same names */
	HIST_STEP_DIVIDE,
	HIST_STEP_VAR,
	HIST_STEP_OTHER,      /* value is computed by the operation `op` */
	HIST_STEP_CLOCK,      /* value is run->time.now, which is read from `clock` */
	HIST_STEP_DECREASE,   /* value - refs[to] */
	HIST_STEP_KEY,	      /* value is the next word of the key */
	HIST_STEP_KEY_NUMBER, /* value is all of the key */
	HIST_STEP_KEY_WORDS,  /* the words of keys[to] come next in the key */
	/* The number refs[to] is read by a key that is one number, and becomes unset. */
	HIST_STEP_TAKE,
	HIST_STEP_READ,	     /* refs[to], a number or words, is read by this event's key */
	HIST_STEP_BEGINNING, /* the first `to` keys are kept for READ_BY */
	HIST_STEP_READ_BY,   /* as READ, by the first `skip` keys alone */
	HIST_STEP_FIND,	     /* the entry of the key is found or made, and its hits grow by 1 */
	HIST_STEP_FIND_NUMBER,
	HIST_STEP_SET,	     /* vars[to] becomes value, also in the entry */
	HIST_STEP_SET_WORDS, /* vars[to], of several words, goes into the entry */
	HIST_STEP_SET_ALL,   /* the variables of the bits `operand` are marked as set */
	HIST_STEP_SET_ONE,   /* vars[to], the only variable, becomes value and is marked as set */
	HIST_STEP_SUM,	     /* value is added to a word of the entry */
	/* `skip` steps are left out unless an instance records events of `call` */
	HIST_STEP_IF_WANTED,
	HIST_STEP_ARGUMENT, /* value is written into run->built */
	HIST_STEP_ACT,	    /* act(run, action) is called */
	HIST_STEP_ACT_LAST, /* act(run, action) is called, as the program's end */
	HIST_STEP_END,
	HIST_NR_STEPS,
};
extern const hist_step_fn trace_hist_step_funcs[HIST_NR_STEPS]; /* hist_run.c */

struct hist_program {
	const struct hist *hist;
	struct hist_step *steps;
	uint32_t nr;
	bool has_clock;
	uint32_t held; /* index of the own variable that value equals; HIST_VARS_MAX for none */
};

/* Make hist->program if trace_hist_choose_run() needs one. Returns 0 or -ENOMEM. */
int trace_hist_program_make(struct hist *hist);
void trace_hist_program_free(struct hist *hist);

/* Add a step, for types of actions: at most one for each parameter, and three more. */
void trace_hist_program_add(struct hist_program *program, enum hist_step_kind kind,
			    const struct hist_step *step);
/* Add the steps that compute a number. */
void trace_hist_program_compute(struct hist_program *program, const struct hist_value *value);

#endif
