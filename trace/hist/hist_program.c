/* The program of a histogram. See hist_program.h. */
#include "hist_program.h"
#include "hist_action.h"
#include "hist_run.h"

#define STEPS_MORE  4u /* steps FIND, CLOCK, SET_ALL, END */
#define ACTION_MORE 3u

static uint64_t local_now(void)
{
	return trace_plat_clock_ns();
}

void trace_hist_program_add(struct hist_program *program, enum hist_step_kind kind,
			    const struct hist_step *step)
{
	program->steps[program->nr] = *step;
	program->steps[program->nr++].func = trace_hist_step_funcs[kind];
}

/* ---- Numbers ---- */

/* Add the time. The first step reads the clock, others use the same time. */
static void add_clock(struct hist_program *program)
{
	ring_clock_fn clock = program->hist->clock ? program->hist->clock : local_now;

	trace_hist_program_add(program, HIST_STEP_CLOCK, &(struct hist_step){ .clock = clock });
	program->has_clock = true;
	program->held = HIST_VARS_MAX;
}

/* Do an expression's operations go on with `- $NAME`, a variable of another histogram? */
static bool is_decrease(const struct hist_op *op)
{
	return op->code == HIST_OP_SAVE && !op[1].is_last && op[1].code == HIST_OP_REF &&
	       op[2].code == HIST_OP_SUB && op[2].to == op->to;
}

static void hist_program_add_op(struct hist_program *program, const struct hist_op *op)
{
	struct hist_step step = { .operand = op->value,
				  .magic = op->magic,
				  .offset = op->offset,
				  .to = op->to,
				  .shift = op->shift };

	if (op->code == HIST_OP_TIME && !program->has_clock)
		add_clock(program);
	else if (op->code == HIST_OP_FIELD)
		trace_hist_program_add(program, HIST_STEP_FIELD, &step);
	else if (op->code == HIST_OP_VAR)
		trace_hist_program_add(program, HIST_STEP_VAR, &step);
	else if (op->code == HIST_OP_DIVIDE && op->value > 1)
		trace_hist_program_add(program, HIST_STEP_DIVIDE, &step);
	else
		trace_hist_program_add(program, HIST_STEP_OTHER, &(struct hist_step){ .op = op });
}

void trace_hist_program_compute(struct hist_program *program, const struct hist_value *value)
{
	const struct hist_op *op = &program->hist->ops[value->op];

	if (op->code == HIST_OP_VAR && op->is_last && op->to == program->held)
		return;
	program->held = HIST_VARS_MAX;
	for (;; op++) {
		if (is_decrease(op)) {
			trace_hist_program_add(program, HIST_STEP_DECREASE,
					       &(struct hist_step){ .to = op[1].to });
			op += 2;
		} else {
			hist_program_add_op(program, op);
		}
		if (op->is_last)
			return;
	}
}

/* Compute a number, then add the step that uses it. */
static void hist_program_add_number(struct hist_program *program, const struct hist_value *value,
				    enum hist_step_kind kind, const struct hist_step *step)
{
	trace_hist_program_compute(program, value);
	trace_hist_program_add(program, kind, step);
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
		if (hist->keys[i].kind == HIST_NUMBER)
			hist_program_add_number(program, &hist->keys[i], kind,
						&(struct hist_step){ 0 });
		else
			trace_hist_program_add(program, HIST_STEP_KEY_WORDS,
					       &(struct hist_step){ .to = (uint8_t)i });
		if (has_beginning(hist, i + 1))
			trace_hist_program_add(program, HIST_STEP_BEGINNING,
					       &(struct hist_step){ .to = (uint8_t)(i + 1) });
	}
}

static void hist_program_add_ref(struct hist_program *program, uint32_t index)
{
	const struct hist_ref *ref = &program->hist->refs[index];
	const struct hist_value *var = &ref->hist->vars[ref->var];
	const struct hist_step step = { .map = ref->hist->map,
					.offset = var->at,
					.set_at = ref->hist->set_at,
					.skip = ref->hist->nr_keys,
					.to = (uint8_t)index,
					.shift = (uint8_t)ref->var };
	bool is_simple = var->kind == HIST_NUMBER && is_one_number(program->hist);
	enum hist_step_kind kind = HIST_STEP_READ;

	if (ref->is_consumed && is_simple)
		kind = HIST_STEP_TAKE;
	else if (ref->hist->nr_keys < program->hist->nr_keys)
		kind = HIST_STEP_READ_BY;
	trace_hist_program_add(program, kind, &step);
}

static void add_variable(struct hist_program *program, uint32_t index, enum hist_step_kind kind)
{
	const struct hist_value *var = &program->hist->vars[index];
	const struct hist_step step = { .offset = var->at,
					.set_at = program->hist->set_at,
					.to = (uint8_t)index };

	if (var->kind != HIST_NUMBER) {
		trace_hist_program_add(program, HIST_STEP_SET_WORDS, &step);
		return;
	}
	hist_program_add_number(program, var, kind, &step);
	program->held = index;
}

static void hist_program_add_variables(struct hist_program *program)
{
	const struct hist *hist = program->hist;
	const struct hist_step all = { .operand = ((uint64_t)1 << hist->nr_vars) - 1,
				       .set_at = hist->set_at };

	if (hist->nr_vars == 1 && hist->vars[0].kind == HIST_NUMBER) {
		add_variable(program, 0, HIST_STEP_SET_ONE);
		return;
	}
	for (uint32_t i = 0; i < hist->nr_vars; i++)
		add_variable(program, i, HIST_STEP_SET);
	if (hist->nr_vars)
		trace_hist_program_add(program, HIST_STEP_SET_ALL, &all);
}

static void hist_program_add_action(struct hist_program *program, struct hist_action *action)
{
	if (action->type->assemble && !action->handler->title)
		action->type->assemble(program, action);
	else
		trace_hist_program_add(
			program, HIST_STEP_ACT,
			&(struct hist_step){ .act = trace_hist_act, .action = action });
	program->held = HIST_VARS_MAX;
}

/* Add the end. An action that may be left out has to have a step behind it. */
static void add_end(struct hist_program *program)
{
	struct hist_step *last = &program->steps[program->nr - 1];

	if (last->func == trace_hist_step_funcs[HIST_STEP_ACT])
		last->func = trace_hist_step_funcs[HIST_STEP_ACT_LAST];
	trace_hist_program_add(program, HIST_STEP_END, &(struct hist_step){ 0 });
}

static void add_all(struct hist_program *program)
{
	const struct hist *hist = program->hist;

	hist_program_add_keys(program);
	for (uint32_t i = 0; i < hist->nr_refs; i++)
		hist_program_add_ref(program, i);
	trace_hist_program_add(program,
			       is_one_number(hist) ? HIST_STEP_FIND_NUMBER : HIST_STEP_FIND,
			       &(struct hist_step){ 0 });
	hist_program_add_variables(program);
	for (uint32_t i = 0; i < hist->nr_vals; i++)
		hist_program_add_number(program, &hist->vals[i], HIST_STEP_SUM,
					&(struct hist_step){ .offset = hist->vals[i].at });
	/* Actions compute without reading the clock. */
	if (hist->uses_time && hist->nr_actions && !program->has_clock)
		add_clock(program);
	for (uint32_t i = 0; i < hist->nr_actions; i++)
		hist_program_add_action(program, hist->actions[i]);
	add_end(program);
}

/* The greatest number of steps: each operation, and the use of each value. */
static size_t most_steps(const struct hist *hist)
{
	size_t nr = STEPS_MORE + hist->nr_ops + 2u * hist->nr_keys + hist->nr_refs + hist->nr_vars +
		    hist->nr_vals;

	for (uint32_t i = 0; i < hist->nr_actions; i++)
		nr += hist->actions[i]->nr_params + ACTION_MORE;
	return nr;
}

int trace_hist_program_make(struct hist *hist)
{
	struct hist_program program = { .hist = hist, .held = HIST_VARS_MAX };

	if (trace_hist_choose_run(hist) != trace_hist_run)
		return 0;
	hist->program_bytes = most_steps(hist) * sizeof(*hist->program);
	hist->program = program.steps = trace_plat_alloc(hist->program_bytes);
	if (!program.steps)
		return -ENOMEM;
	add_all(&program);
	return 0;
}

void trace_hist_program_free(struct hist *hist)
{
	if (hist->program)
		trace_plat_free(hist->program, hist->program_bytes);
}
