/* The program of a histogram. See hist_program.h. */
#include "hist_program.h"
#include "hist_action.h"
#include "expr/expr_show.h"
#include "hist_run.h"

#define STEPS_MORE  4u /* steps FIND, CLOCK, SET_ALL, END */
#define ACTION_MORE 3u

static uint64_t local_now(void)
{
	return trace_plat_clock_ns();
}

struct expr_insn *trace_hist_program_add(struct hist_program *program, enum hist_step_kind kind)
{
	struct expr_insn *insn = trace_expr_add(&program->build, EXPR_OWN);

	insn->step = trace_hist_steps[kind];
	return insn;
}

void trace_hist_program_add_act(struct hist_program *program, hist_act_fn act,
				const struct hist_action *action)
{
	struct expr_insn *insn = trace_hist_program_add(program, HIST_STEP_ACT);

	insn->own.data = action;
	insn->own.words[0] = (uintptr_t)act;
}

/* ---- Numbers ---- */

/* Add the time. The first step reads the clock, others use the same time. */
static void add_clock(struct hist_program *program)
{
	ring_clock_fn clock = program->hist->clock ? program->hist->clock : local_now;

	trace_hist_program_add(program, HIST_STEP_CLOCK)->own.words[0] = (uintptr_t)clock;
	program->has_clock = true;
	program->held = HIST_VARS_MAX;
}

/* Does an expression go on with `- $NAME`, a variable of another histogram? */
static bool is_decrease(const struct expr_insn *insn)
{
	return insn->op == EXPR_SAVE && hist_is_step(&insn[1], HIST_STEP_REF) &&
	       insn[2].op == EXPR_SUB && insn[2].to == insn->to;
}

void trace_hist_program_compute(struct hist_program *program, const struct hist_value *value)
{
	const struct expr_insn *insn = hist_insn_of(program->hist, value);

	if (hist_is_step(insn, HIST_STEP_VAR) && insn[1].op == EXPR_END &&
	    insn->to == program->held)
		return;
	program->held = HIST_VARS_MAX;
	for (; insn->op != EXPR_END; insn++) {
		if (hist_is_step(insn, HIST_STEP_TIME) && !program->has_clock) {
			add_clock(program);
		} else if (is_decrease(insn)) {
			trace_hist_program_add(program, HIST_STEP_DECREASE)->to = insn[1].to;
			insn += 2;
		} else {
			trace_expr_add_copy(&program->build, insn);
		}
	}
}

/* Compute a number, then add the step that uses it. */
static struct expr_insn *hist_program_add_number(struct hist_program *program,
						 const struct hist_value *value,
						 enum hist_step_kind kind)
{
	trace_hist_program_compute(program, value);
	return trace_hist_program_add(program, kind);
}

/* ---- Parts of a histogram ---- */

static bool is_one_number(const struct hist *hist)
{
	return hist->nr_keys == 1 && hist->keys[0].kind == HIST_NUMBER;
}

/* Does it read variables of a histogram with only its first `nr` keys? */
static bool has_beginning(const struct hist *hist, uint32_t nr)
{
	for (uint32_t i = 0; nr < hist->nr_keys && i < hist->nr_refs; i++) {
		if (hist->refs[i].hist->nr_keys == nr)
			return true;
	}
	return false;
}

static void hist_program_add_keys(struct hist_program *program)
{
	const struct hist *hist = program->hist;
	enum hist_step_kind kind = is_one_number(hist) ? HIST_STEP_KEY_NUMBER : HIST_STEP_KEY;

	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		const struct hist_value *key = &hist->keys[i];

		if (key->kind == HIST_NUMBER)
			(void)hist_program_add_number(program, key, kind);
		else
			trace_expr_add_copy(&program->build, hist_insn_of(hist, key));
		if (has_beginning(hist, i + 1))
			trace_hist_program_add(program, HIST_STEP_BEGINNING)->to = (uint8_t)(i + 1);
	}
}

static void hist_program_add_ref(struct hist_program *program, uint32_t index)
{
	const struct hist_ref *ref = &program->hist->refs[index];
	const struct hist_value *var = &ref->hist->vars[ref->var];
	bool is_simple = var->kind == HIST_NUMBER && is_one_number(program->hist);
	enum hist_step_kind kind = HIST_STEP_READ;
	struct expr_insn *insn;

	if (ref->is_consumed && is_simple)
		kind = HIST_STEP_TAKE;
	else if (ref->hist->nr_keys < program->hist->nr_keys)
		kind = HIST_STEP_READ_BY;
	insn = trace_hist_program_add(program, kind);
	insn->own = (struct expr_own){ .data = ref->hist->map,
				       .words = { ref->hist->set_at, ref->hist->nr_keys } };
	insn->offset = var->at;
	insn->to = (uint8_t)index;
	insn->shift = (uint8_t)ref->var;
}

static void add_variable(struct hist_program *program, uint32_t index, enum hist_step_kind kind)
{
	const struct hist_value *var = &program->hist->vars[index];
	struct expr_insn *insn;

	if (var->kind != HIST_NUMBER) {
		trace_hist_program_add(program, HIST_STEP_SET_WORDS)->to = (uint8_t)index;
		return;
	}
	insn = hist_program_add_number(program, var, kind);
	insn->offset = var->at;
	insn->to = (uint8_t)index;
	insn->own.words[0] = program->hist->set_at;
	program->held = index;
}

static void hist_program_add_variables(struct hist_program *program)
{
	const struct hist *hist = program->hist;
	struct expr_own all = { .words = { hist->set_at, ((uint64_t)1 << hist->nr_vars) - 1 } };

	if (hist->nr_vars == 1 && hist->vars[0].kind == HIST_NUMBER) {
		add_variable(program, 0, HIST_STEP_SET_ONE);
		return;
	}
	for (uint32_t i = 0; i < hist->nr_vars; i++)
		add_variable(program, i, HIST_STEP_SET);
	if (hist->nr_vars)
		trace_hist_program_add(program, HIST_STEP_SET_ALL)->own = all;
}

static void hist_program_add_action(struct hist_program *program, struct hist_action *action)
{
	if (action->type->assemble && !action->handler->title)
		action->type->assemble(program, action);
	else
		trace_hist_program_add_act(program, trace_hist_act, action);
	program->held = HIST_VARS_MAX;
}

/* Add the end. An action that may be left out has to have an instruction behind it. */
static void add_end(struct hist_program *program)
{
	struct expr_program *of = program->build.program;
	struct expr_insn *last = &of->insns[of->nr - 1];

	if (hist_is_step(last, HIST_STEP_ACT))
		last->step = trace_hist_steps[HIST_STEP_ACT_LAST];
	(void)trace_expr_add(&program->build, EXPR_END);
}

static void add_all(struct hist_program *program)
{
	const struct hist *hist = program->hist;

	hist_program_add_keys(program);
	for (uint32_t i = 0; i < hist->nr_refs; i++)
		hist_program_add_ref(program, i);
	(void)trace_hist_program_add(program,
				     is_one_number(hist) ? HIST_STEP_FIND_NUMBER : HIST_STEP_FIND);
	hist_program_add_variables(program);
	for (uint32_t i = 0; i < hist->nr_vals; i++)
		hist_program_add_number(program, &hist->vals[i], HIST_STEP_SUM)->offset =
			hist->vals[i].at;
	/* Actions compute without reading the clock. */
	if (hist->uses_time && hist->nr_actions && !program->has_clock)
		add_clock(program);
	for (uint32_t i = 0; i < hist->nr_actions; i++)
		hist_program_add_action(program, hist->actions[i]);
	add_end(program);
}

/* The greatest number of instructions: those of all values, and the use of each value. */
static uint32_t most_steps(const struct hist *hist)
{
	uint32_t nr = STEPS_MORE + hist->values->nr + 2u * hist->nr_keys + hist->nr_refs +
		      hist->nr_vars + hist->nr_vals;

	for (uint32_t i = 0; i < hist->nr_actions; i++)
		nr += hist->actions[i]->nr_params + ACTION_MORE;
	return nr;
}

/* Keep the only instruction of each key and value. */
static void make_plain(struct hist *hist)
{
	for (uint32_t i = 0; i < (uint32_t)hist->nr_keys + hist->nr_vals; i++)
		hist->plain[i] = hist->values->insns[2ul * i];
}

int trace_hist_program_make(struct hist *hist)
{
	struct hist_program program = { .hist = hist, .held = HIST_VARS_MAX };
	int err;

	if (trace_hist_choose_run(hist) != trace_hist_run) {
		make_plain(hist);
		return 0;
	}
	err = trace_expr_create(&program.build, most_steps(hist), 0);
	if (err)
		return err;
	hist->program = program.build.program;
	program.build.has_own = true;
	trace_expr_needs(&program.build, 0, hist->values->min_len);
	add_all(&program);
	return trace_expr_finish(&program.build);
}

/* ---- As text ---- */

static const char *hist_program_name_of(const struct expr_insn *insn)
{
	static const char *const names[HIST_NR_STEPS] = {
		[HIST_STEP_TIME] = "TIME",
		[HIST_STEP_CLOCK] = "CLOCK",
		[HIST_STEP_REF] = "REF",
		[HIST_STEP_VAR] = "VAR",
		[HIST_STEP_DECREASE] = "DECREASE",
		[HIST_STEP_KEY] = "KEY",
		[HIST_STEP_KEY_NUMBER] = "KEY_NUMBER",
		[HIST_STEP_WORDS] = "WORDS",
		[HIST_STEP_TAKE] = "TAKE",
		[HIST_STEP_READ] = "READ",
		[HIST_STEP_BEGINNING] = "BEGINNING",
		[HIST_STEP_READ_BY] = "READ_BY",
		[HIST_STEP_FIND] = "FIND",
		[HIST_STEP_FIND_NUMBER] = "FIND_NUMBER",
		[HIST_STEP_SET] = "SET",
		[HIST_STEP_SET_WORDS] = "SET_WORDS",
		[HIST_STEP_SET_ALL] = "SET_ALL",
		[HIST_STEP_SET_ONE] = "SET_ONE",
		[HIST_STEP_SUM] = "SUM",
		[HIST_STEP_IF_WANTED] = "IF_WANTED",
		[HIST_STEP_ARGUMENT] = "ARGUMENT",
		[HIST_STEP_ACT] = "ACT",
		[HIST_STEP_ACT_LAST] = "ACT_LAST",
	};

	for (uint32_t i = 0; i < HIST_NR_STEPS; i++) {
		if (hist_is_step(insn, i))
			return names[i];
	}
	return "";
}

void trace_hist_program_show(const struct hist *hist, uint32_t number, struct trace_seq *seq)
{
	const struct expr_program *program = hist_shown_program(hist);

	trace_expr_show(program, number, hist_program_name_of(&program->insns[number]), seq);
}
