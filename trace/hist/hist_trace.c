/*
 * The action trace(SYNTHETIC,ARGUMENT,...), or SYNTHETIC(ARGUMENT,...): a synthetic event is
 * written. See hist_action.h, synth_event.h.
 *
 * Context: trace_act() - any, NMI included, preemption off.
 */
#include "hist_action.h"
#include "hist_param.h"
#include "hist_program.h"
#include "hist_run.h"
#include "hist_vars.h"
#include "events/synth_event.h"
#include "text/str.h"
#include "feature/feature.h"

static const struct hist_action_type hist_trace_type;

#define FEW_VALUES 8u
#define COPY_WORDS 96u /* for all texts and stacks of an event */

/* ---- Compiling ---- */

/* Is the type an int? Events of trace/ call `int` what Linux calls pid_t. */
static bool is_int(const char *type)
{
	return trace_streq(type, "int") || trace_streq(type, "pid_t");
}

static bool is_same_type(const char *a, const char *b)
{
	return trace_streq(a, b) || (is_int(a) && is_int(b));
}

/*
 * Do two numbers fit, as on Linux: with types of one name, or of one size and sign? Fields of the
 * event itself then count as unsigned.
 */
static bool is_number_like(const struct hist_param *param, const struct synth_field *field)
{
	const struct hist_value *value = &param->value;
	bool is_field = !value->is_ref && !trace_hist_is_variable(&param->text);

	if (value->kind != HIST_NUMBER)
		return false;
	return is_same_type(value->type, field->type) ||
	       (value->bytes == field->size && (value->is_signed && !is_field) == field->is_signed);
}

static bool hist_trace_fits(const struct hist_param *param, const struct synth_field *field)
{
	const struct hist_value *value = &param->value;

	switch (field->kind) {
	case SYNTH_TEXT:
		return value->kind == HIST_TEXT && value->is_fixed && value->bytes == field->size;
	case SYNTH_DYNAMIC_TEXT:
		return value->kind == HIST_TEXT;
	case SYNTH_STACK:
		return value->kind == HIST_STACK;
	case SYNTH_NUMBER:
	default:
		return is_number_like(param, field);
	}
}

/* Is the value copied? Texts and stacks of another histogram are read in place. */
static bool is_copied(const struct hist *hist, const struct hist_value *value)
{
	return value->kind != HIST_NUMBER && !hist_is_ref_words(hist_insn_of(hist, value));
}

static int compile_one(struct hist_parse *parse, struct hist_action *action,
		       struct hist_param *param, const struct synth_field *field, uint32_t *words)
{
	int err = trace_hist_compile_param(parse, action, param);

	if (err)
		return err;
	if (!field || (!parse->may_exist && !hist_trace_fits(param, field)))
		return hist_blame(parse, param->text.at,
				  "Param type doesn't match synthetic event field type");
	if (is_copied(parse->hist, &param->value))
		*words += param->value.words;
	if (*words > COPY_WORDS)
		return hist_blame(parse, param->text.at, "Too many action params");
	return 0;
}

/* The name of the synthetic event, which may stand before the first argument. */
static const struct expr_word *hist_trace_name_of(struct hist_action *action)
{
	if (!trace_expr_is(&action->word, hist_trace_type.name))
		return &action->word;
	action->first = 1;
	return &action->params[0].text;
}

static int trace_compile(struct hist_parse *parse, struct hist_action *action)
{
	const struct expr_word *name = hist_trace_name_of(action);
	const struct synth_event *event = action->private =
		trace_synth_event_get(trace_hist_name_of(parse->hist, name));
	uint32_t nr = action->nr_params - action->first, words = 0;
	int err = 0;

	if (!event)
		return hist_blame(parse, name->at, "Couldn't find synthetic event");
	for (uint32_t i = 0; i < nr && !err; i++)
		err = compile_one(parse, action, &action->params[action->first + i],
				  i < event->nr_fields ? &event->fields[i] : NULL, &words);
	if (!err && nr != event->nr_fields)
		err = hist_blame(parse, name->at,
				 "Param count doesn't match synthetic event field count");
	return err;
}

/* Is the event built in run->built, as for numbers alone? */
static bool is_built(const struct synth_event *event)
{
	return event->is_numbers && event->fixed_bytes <= HIST_BUILT_BYTES;
}

static void write_built(struct hist_run *run, struct hist_action *action)
{
	run->time.clock = run->hist->clock; /* NULL also when the histogram uses no time */
	trace_synth_event_write_built(action->private, run->built, &run->time);
}

static void assemble_fields(struct hist_program *program, const struct hist_action *action)
{
	const struct synth_event *event = action->private;

	for (uint32_t i = 0; i < event->nr_fields; i++) {
		trace_hist_program_compute(program, &action->params[action->first + i].value);
		trace_hist_program_add(program, HIST_STEP_ARGUMENT)->offset =
			event->fields[i].offset;
	}
}

static void trace_assemble(struct hist_program *program, struct hist_action *action)
{
	const struct synth_event *event = action->private;
	struct expr_insn *is_wanted = trace_hist_program_add(program, HIST_STEP_IF_WANTED);
	hist_act_fn act = trace_hist_act;

	is_wanted->own.data = &event->call;
	if (is_built(event)) {
		assemble_fields(program, action);
		act = write_built;
	}
	trace_hist_program_add_act(program, act, action);
	is_wanted->next[false] = trace_expr_here(&program->build);
}

static void trace_free(struct hist_action *action)
{
	if (action->private)
		trace_synth_event_put(action->private);
}

/* ---- At each event ---- */

static TRACE_NOINLINE void write_few(struct hist_run *run, struct synth_event *event,
				     const struct hist_param *params, uint32_t nr)
{
	uint64_t values[FEW_VALUES];

	for (uint32_t i = 0; i < nr; i++)
		values[i] = trace_hist_compute(run, hist_insn_of(run->hist, &params[i].value));
	trace_synth_event_write(event, values);
}

/* The address of a text or a stack. */
static uint64_t words_of(struct hist_run *run, const struct hist_value *value, uint64_t **copy)
{
	const struct expr_insn *insn = hist_insn_of(run->hist, value);
	const struct hist_entry *other;
	uint64_t *to = *copy;

	if (hist_is_ref_words(insn)) {
		other = (const struct hist_entry *)(uintptr_t)run->refs[insn->to];
		return (uint64_t)(uintptr_t)&other->words[insn->offset];
	}
	(void)trace_hist_compute_words(run, insn, to);
	*copy += value->words;
	return (uint64_t)(uintptr_t)to;
}

static TRACE_NOINLINE void write_with(struct hist_run *run, struct synth_event *event,
				      const struct hist_param *params, uint32_t nr, uint64_t *copy)
{
	uint64_t values[SYNTH_FIELDS_MAX];

	for (uint32_t i = 0; i < nr; i++) {
		const struct hist_value *value = &params[i].value;

		if (value->kind == HIST_NUMBER)
			values[i] = trace_hist_compute(run, hist_insn_of(run->hist, value));
		else
			values[i] = words_of(run, value, &copy);
	}
	trace_synth_event_write(event, values);
}

static TRACE_NOINLINE void hist_trace_write_any(struct hist_run *run, struct synth_event *event,
						const struct hist_param *params, uint32_t nr)
{
	uint64_t copies[COPY_WORDS];

	write_with(run, event, params, nr, copies);
}

static void trace_act(struct hist_run *run, struct hist_action *action, uint64_t value)
{
	struct synth_event *event = action->private;
	const struct hist_param *params = action->params + action->first;
	uint32_t nr = action->nr_params - action->first;

	(void)value;
	if (nr <= FEW_VALUES && event->is_numbers)
		write_few(run, event, params, nr);
	else
		hist_trace_write_any(run, event, params, nr);
}

static const struct hist_action_type hist_trace_type = {
	.name = "trace",
	.is_call = true,
	.has_params = true,
	.compile = trace_compile,
	.assemble = trace_assemble,
	.free = trace_free,
	.act = trace_act,
};

/* ---- The feature ---- */

static struct hist_action_entry hist_trace_entry = { .type = &hist_trace_type };

static int hist_trace_init(void)
{
	trace_hist_action_register(&hist_trace_entry);
	return 0;
}

const struct trace_feature trace_feature_hist_trace = {
	.name = "hist_trace",
	.init = hist_trace_init,
};
