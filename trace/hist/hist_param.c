/* Arguments of actions. See hist_param.h. Error messages have Linux's words. */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "hist_param.h"
#include "hist_trigger.h"
#include "hist_vars.h"
#include "instance/array.h"
#include "text/str.h"
#include "events/trigger.h"

#define NOT_FOUND     "Couldn't find field"
#define VARIABLE_NAME "synthetic_%.*s"
#define COMMAND_MAX   1024u

/* ---- Variables ---- */

/*
 * Compile a variable. Variables of the event that the action waits for come before others of the
 * same name.
 */
static int compile_variable(struct hist_parse *parse, const struct hist_action *action,
			    struct hist_param *param)
{
	const struct trace_event_call *first = parse->matches[0];
	uint32_t nr = parse->nr_matches;
	struct expr_word name = param->text;
	int err;

	if (action->match) {
		parse->matches[0] = action->match;
		parse->nr_matches = 1;
	}
	err = trace_hist_compile_ref(parse, &param->text, &param->value);
	parse->matches[0] = first;
	parse->nr_matches = nr;
	(void)expr_take_until(&name, "$");
	return err == -EINVAL ? hist_blame(parse, name.at + 1, "Couldn't find param") : err;
}

/* ---- Fields of another event ---- */

/* A field of another event, and the histogram that stands for it. */
struct other_field {
	struct trace_event_file *file;
	const struct hist *like; /* the other event's histogram that has our keys */
	struct expr_word name;	 /* of the field */
	char variable[64];
};

static bool has_keys_of(const struct hist *hist, const struct hist *other)
{
	if (hist->nr_keys != other->nr_keys)
		return false;
	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		if (hist->keys[i].kind != other->keys[i].kind)
			return false;
	}
	return true;
}

/* Find the oldest histogram with the same keys. */
static const struct trace_trigger *find_like(const struct trace_event_file *file,
					     const struct hist *hist)
{
	const struct trace_trigger *trigger;

	for (size_t i = 0; (trigger = trace_hist_trigger_at(file, i)); i++) {
		const struct hist *other = trace_hist_of(trigger);

		if (!other->is_for_field && has_keys_of(hist, other))
			break;
	}
	return trigger;
}

static void print_command(const struct other_field *field, const struct trace_trigger *like,
			  struct trace_seq *seq)
{
	trace_seq_puts(seq, "hist:");
	trace_hist_print_keys(field->like, seq);
	trace_seq_printf(seq, ":%s=%.*s", field->variable, (int)field->name.len, field->name.at);
	if (field->like->uses_time)
		trace_seq_printf(seq, ":clock=%s", field->like->clock_name);
	if (like->filter_text)
		trace_seq_printf(seq, " if %s", like->filter_text);
}

static struct hist *find_made(const struct other_field *field)
{
	const struct expr_word variable = trace_expr_whole(field->variable);
	struct hist *hist = trace_hist_first;

	while (hist && (!hist->is_for_field || hist->tr != field->file->tr ||
			hist->call != field->file->call || !has_keys_of(hist, field->like) ||
			trace_hist_find_variable(hist, &variable) == HIST_VARS_MAX))
		hist = hist->next;
	return hist;
}

/* Set the histogram. Returns 0, or the error of setting it. */
static int hist_param_make(const struct other_field *field, const struct trace_trigger *like)
{
	struct trace_trigger_error error;
	char *text = trace_plat_alloc(COMMAND_MAX);
	struct expr_word line = { .at = text };
	struct trace_seq seq;
	int err;

	if (!text)
		return -ENOMEM;
	trace_seq_init(&seq, text, COMMAND_MAX);
	print_command(field, like, &seq);
	line.len = seq.len;
	err = seq.overflowed ? -EINVAL : trace_triggers_write(field->file, &line, &error);
	trace_plat_free(text, COMMAND_MAX);
	if (!err)
		trace_hist_first->is_for_field = true; /* it is the newest one */
	return err;
}

/* Make the variable's name, without modifier. */
static void name_variable(struct other_field *field)
{
	(void)trace_snprintf(field->variable, sizeof(field->variable), VARIABLE_NAME,
			     (int)field->name.len, field->name.at);
	for (char *c = field->variable; *c; c++) {
		if (*c == '.' || *c == '-' || *c == '=')
			*c = '_';
	}
}

static int compile_made(struct hist_parse *parse, struct other_field *field,
			const struct trace_trigger *like, struct hist_param *param)
{
	const struct expr_word variable = trace_expr_whole(field->variable);
	struct hist *made = find_made(field);
	int err;

	/* A command that removes or changes a histogram makes none. */
	if (!made && parse->may_exist)
		return (void)hist_add(parse, EXPR_CONST), 0;
	if (!made) {
		err = hist_param_make(field, like);
		if (err)
			return err == -EINVAL ? hist_blame(parse, field->name.at,
							   "Couldn't create histogram for field")
					      : err;
		made = trace_hist_first;
	}
	return trace_hist_compile_var_of(parse, made, trace_hist_find_variable(made, &variable),
					 field->name.at, &param->value);
}

static int hist_param_compile_other(struct hist_parse *parse, const struct trace_event_call *call,
				    const struct expr_word *name, struct hist_param *param)
{
	struct other_field field = { .name = *name };
	const struct trace_trigger *like = NULL;

	if (!trace_hist_is_field_of(call, name))
		return hist_blame(parse, name->at, NOT_FOUND);
	field.file = trace_event_file_find(parse->hist->tr, call);
	if (field.file)
		like = find_like(field.file, parse->hist);
	if (!like)
		return hist_blame(parse, name->at, "Matching event histogram not found");
	field.like = trace_hist_of(like);
	name_variable(&field);
	return compile_made(parse, &field, like, param);
}

/* ---- Fields ---- */

static int compile_field(struct hist_parse *parse, const struct hist_action *action,
			 struct hist_param *param)
{
	struct expr_word name = param->text, system = expr_take_until(&name, "."), event;
	const struct trace_event_call *own = parse->file->call, *call;

	(void)expr_take(&name, '.');
	event = expr_take_until(&name, ".");
	if (!expr_take(&name, '.'))
		return action->match && !trace_hist_is_field_of(own, &param->text)
			       ? hist_param_compile_other(parse, action->match, &param->text, param)
			       : trace_hist_compile_plain(parse, &param->text, &param->value);
	call = trace_event_call_named(&system, &event);
	if (!call)
		return hist_blame(parse, system.at, "Event file not found");
	return call == own ? trace_hist_compile_plain(parse, &name, &param->value)
			   : hist_param_compile_other(parse, call, &name, param);
}

int trace_hist_compile_param(struct hist_parse *parse, const struct hist_action *action,
			     struct hist_param *param)
{
	uint16_t insn = hist_next_insn(parse);
	int err;

	if (trace_hist_is_variable(&param->text))
		err = compile_variable(parse, action, param);
	else
		err = compile_field(parse, action, param);
	if (err)
		return err;
	param->value.insn = insn;
	return trace_hist_end_value(parse);
}
