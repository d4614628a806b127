/*
 * The program of a histogram: all that is to be done at an event, as a list of steps, so that
 * nothing about the histogram has to be looked up then. A step is a function, which ends by calling
 * that of the next step; the compiler makes a jump of that. The number that was computed last is
 * handed on.
 *
 *	FIELD id, KEY_NUMBER           keys
 *	TAKE ts0                       variables of other histograms: where one is not set, it ends
 *	FIND_NUMBER                    the entry, which counts the event
 *	CLOCK, DIVIDE 1000, DECREASE ts0, SET_ONE lat
 *	IF_WANTED wakeup_latency       own variables; values, each with SUM; actions
 *	    ARGUMENT lat, FIELD id, ARGUMENT id, ACT
 *	END
 *
 * Values are computed as hist->ops say. The clock is read once, where its time is first needed.
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
/* What HIST_STEP_ACT calls. */
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
	uint16_t offset; /* in an event, or a word of an entry */
	uint16_t set_at; /* the word of an entry that says which variables are set */
	uint16_t skip;	 /* how many steps are left out; how many keys another histogram has */
	uint8_t to;	 /* index of refs[], vars[] or keys[] */
	uint8_t shift;	 /* of a field; number of a variable's bit */
};

/* `value` is the number that was computed last. */
enum hist_step_kind {
	HIST_STEP_FIELD, /* these compute one, as the operations of these names do */
	HIST_STEP_DIVIDE,
	HIST_STEP_VAR,
	HIST_STEP_OTHER,      /* as `op` does */
	HIST_STEP_CLOCK,      /* run->time.now, which is read from `clock` */
	HIST_STEP_DECREASE,   /* value - refs[to] */
	HIST_STEP_KEY,	      /* value is the next word of the key */
	HIST_STEP_KEY_NUMBER, /* value is all of the key */
	HIST_STEP_KEY_WORDS,  /* the words of keys[to] come next in the key */
	HIST_STEP_TAKE,	      /* refs[to] is read, and not set any more; a number, as is the key */
	HIST_STEP_READ,	      /* refs[to] is read: any one, with any key */
	HIST_STEP_BEGINNING,  /* these are the first keys, `to` of them, for READ_BY */
	HIST_STEP_READ_BY,    /* as READ, by the first keys alone: `skip` of them */
	HIST_STEP_FIND,	      /* the entry of the key is found or made, and counts */
	HIST_STEP_FIND_NUMBER,
	HIST_STEP_SET,	     /* vars[to] is value, in the entry, too */
	HIST_STEP_SET_WORDS, /* of vars[to] */
	HIST_STEP_SET_ALL,   /* the variables of the bits `operand` are set */
	HIST_STEP_SET_ONE,   /* vars[to], the only variable, is value, and set */
	HIST_STEP_SUM,	     /* value is added to a word of the entry */
	HIST_STEP_IF_WANTED, /* steps are left out unless somebody wants events of `call` */
	HIST_STEP_ARGUMENT,  /* value is written into run->built */
	HIST_STEP_ACT,	     /* act(run, action) */
	HIST_STEP_ACT_LAST,  /* the same, and then nothing more */
	HIST_STEP_END,
	HIST_NR_STEPS,
};
extern const hist_step_fn trace_hist_step_funcs[HIST_NR_STEPS]; /* hist_run.c */

struct hist_program {
	const struct hist *hist;
	struct hist_step *steps;
	uint32_t nr;
	bool has_clock;
	uint32_t held; /* value is that of this own variable; HIST_VARS_MAX: it is not */
};

/* Make hist->program, if trace_hist_choose_run() says that it is needed. 0 or -ENOMEM. */
int trace_hist_program_make(struct hist *hist);
void trace_hist_program_free(struct hist *hist);

/* For types of actions, which may add a step for each parameter, and three more. */
void trace_hist_program_add(struct hist_program *program, enum hist_step_kind kind,
			    const struct hist_step *step);
/* The steps that compute a number. */
void trace_hist_program_compute(struct hist_program *program, const struct hist_value *value);

#endif
