/*
 * From the text of the file `trigger` to a trigger, and back. See trigger.h.
 */
#include <trace/platform.h>
#include <trace/trace_seq.h>
#include "event_file.h"
#include "trigger_private.h"
#include "instance/event_private.h"
#include "feature/list.h"
#include "text/str.h"

#define NEEDS_PARAMETER "it needs a parameter"

/* ---- The registry ---- */

static struct trace_triggers *all_triggers;

void trace_triggers_register(struct trace_triggers *triggers)
{
	TRACE_LIST_ADD(all_triggers, triggers);
}

static const struct trace_trigger_command *trigger_parse_find_command(const struct expr_word *name)
{
	for (const struct trace_triggers *at = all_triggers; at; at = at->next) {
		const struct trace_trigger_command *command = at->commands;

		for (; command->name; command++) {
			if (trace_expr_is(name, command->name))
				return command;
		}
	}
	return NULL;
}

/* The command with the smallest place from `place` on. */
static const struct trace_trigger_command *command_from(uint32_t place)
{
	const struct trace_trigger_command *first = NULL;

	for (const struct trace_triggers *at = all_triggers; at; at = at->next) {
		const struct trace_trigger_command *command = at->commands;

		for (; command->name; command++) {
			if (command->place >= place && (!first || command->place < first->place))
				first = command;
		}
	}
	return first;
}

const struct trace_trigger_command *
trace_trigger_command_behind(const struct trace_trigger_command *before)
{
	return command_from(before ? before->place + 1 : 0);
}

/* ---- Parts of a line ---- */

int trace_trigger_blame(struct trace_trigger_args *args, const char *at, const char *why, int err)
{
	args->why = why;
	args->at = at;
	return err;
}

/* Read `rest` as `if CONDITION`. */
static int take_if(struct trace_trigger_args *args, struct expr_word rest,
		   struct expr_word *out_condition)
{
	const char *at = rest.at;
	struct expr_word word = expr_take_until(&rest, " \t");

	if (!trace_expr_is(&word, "if"))
		return trace_trigger_blame(args, at, "neither a count nor `if`", -EINVAL);
	*out_condition = trace_expr_strip(rest);
	if (!out_condition->len)
		return trace_trigger_blame(args, at, "no condition behind `if`", -EINVAL);
	return 0;
}

/*
 * Separate the parameter and the condition of the text, each of length 0 when missing:
 * PARAM[ if CONDITION]. Returns 0, or -EINVAL after a call of blame. Without `is_needed` the parameter
 * is a count, so that a text without a digit in front is a condition.
 */
static int separate(struct trace_trigger_args *args, bool is_needed, struct expr_word *out_param,
		    struct expr_word *out_condition)
{
	struct expr_word rest = args->text;

	*out_param = *out_condition = (struct expr_word){ 0 };
	if (!rest.len)
		return is_needed ? trace_trigger_blame(args, NULL, NEEDS_PARAMETER, -EINVAL) : 0;
	if (is_needed || expr_is_digit(*rest.at)) {
		*out_param = expr_take_until(&rest, " \t");
		rest = trace_expr_strip(rest);
	}
	return rest.len ? take_if(args, rest, out_condition) : 0;
}

/* Parse a count; other text behind a colon is ignored as on Linux. */
static int trigger_parse_count(struct trace_trigger_args *args, struct expr_word param,
			       uint64_t *out_count)
{
	struct expr_word number = expr_take_until(&param, ":");
	int err;

	*out_count = TRACE_COUNT_UNLIMITED;
	if (!number.len)
		return 0;
	err = trace_expr_number(&number, 0, false, out_count);
	if (err)
		trace_trigger_blame(args, number.at,
				    err == -ERANGE ? "the count is too large"
						   : "the count is not a number",
				    err);
	return err;
}

/* Take SYSTEM:EVENT, with a colon behind it, off *param: an event of the same instance. */
static int parse_target(struct trace_trigger_args *args, struct expr_word *param,
			struct trace_event_file **out_target)
{
	struct expr_word system = expr_take_until(param, ":"), name;
	struct trace_event_call *call;

	if (!expr_take(param, ':'))
		return trace_trigger_blame(args, system.at, "SYSTEM:EVENT is missing", -EINVAL);
	name = expr_take_until(param, ":");
	(void)expr_take(param, ':');
	call = trace_event_call_named(&system, &name);
	if (!call || !trace_event_is_switched(&call->event))
		return trace_trigger_blame(args, system.at, "there is no such event", -EINVAL);
	*out_target = trace_event_file_get(args->file->tr, call);
	return *out_target ? 0 : -ENOMEM;
}

/* ---- A line ---- */

/*
 * Remove the trigger of a usual command. Count and condition are ignored, as on Linux, so that any
 * line shown by `trigger` can be written with a `!` in front. Returns 0, also when there is no such
 * trigger; -EINVAL for a missing or wrong target.
 */
static int remove_usual(const struct trace_trigger_command *command,
			struct trace_trigger_args *args)
{
	struct trace_event_file *target = NULL;
	struct trace_trigger *trigger;
	struct expr_word param = expr_take_until(&args->text, " \t");
	int err = 0;

	if (command->flags & TRACE_TRIGGER_HAS_TARGET) {
		if (!param.len)
			return trace_trigger_blame(args, NULL, NEEDS_PARAMETER, -EINVAL);
		err = parse_target(args, &param, &target);
	}
	if (err)
		return err;
	trigger = trace_trigger_find(args->file, command, target);
	if (trigger)
		trace_trigger_remove(trigger);
	return 0;
}

/* Carry out the line of a usual command. Returns 0, -EEXIST or another error. */
static int run_usual(const struct trace_trigger_command *command, struct trace_trigger_args *args)
{
	bool has_target = command->flags & TRACE_TRIGGER_HAS_TARGET;
	struct trace_trigger_wish wish = { .count = TRACE_COUNT_UNLIMITED };
	struct expr_word param;
	int err;

	if (args->is_removal)
		return remove_usual(command, args);
	err = separate(args, has_target, &param, &wish.condition);
	if (!err && has_target)
		err = parse_target(args, &param, &wish.target);
	if (err)
		return err;
	err = trigger_parse_count(args, param, &wish.count);
	return err ? err : trace_trigger_set(command, args, &wish);
}

int trace_triggers_write(struct trace_event_file *file, const struct expr_word *line,
			 struct trace_trigger_error *out_error)
{
	const struct trace_trigger_command *command;
	struct trace_trigger_args args = { .file = file };
	struct expr_word rest = trace_expr_strip(*line), name;
	int err;

	args.is_removal = expr_take(&rest, '!');
	name = expr_take_until(&rest, ": \t");
	command = trigger_parse_find_command(&name);
	args.text = trace_expr_strip(expr_behind(&rest, rest.len != 0));
	if (!command)
		err = trace_trigger_blame(&args, name.at, "there is no such trigger", -EINVAL);
	else
		err = (command->run ? command->run : run_usual)(command, &args);
	*out_error = (struct trace_trigger_error){ .why = args.why,
						   .at = args.at ? args.at : name.at,
						   .command = command };
	return err;
}

/* ---- A trigger as text ---- */

static void print_condition(const struct trace_trigger *trigger, struct trace_seq *seq)
{
	if (trigger->filter_text)
		trace_seq_printf(seq, " if %s", trigger->filter_text);
	trace_seq_putc(seq, '\n');
}

static void print_usual(const struct trace_trigger *trigger, struct trace_seq *seq)
{
	uint64_t count = trigger->count;

	trace_seq_puts(seq, trigger->command->name);
	if (trigger->target)
		trace_seq_printf(seq, ":%s:%s", trigger->target->call->event.system,
				 trigger->target->call->event.name);
	if (count == TRACE_COUNT_UNLIMITED)
		trace_seq_puts(seq, ":unlimited");
	else
		trace_seq_printf(seq, ":count=%llu", (unsigned long long)count);
	print_condition(trigger, seq);
}

void trace_trigger_show(const struct trace_trigger *trigger, struct trace_seq *seq)
{
	if (trigger->command->print)
		trigger->command->print(trigger, seq);
	else
		print_usual(trigger, seq);
}
