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

static const struct trace_trigger_command *trigger_parse_find_command(const char *name)
{
	for (const struct trace_triggers *at = all_triggers; at; at = at->next) {
		const struct trace_trigger_command *command = at->commands;

		for (; command->name; command++) {
			if (trace_streq(command->name, name))
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

static bool trigger_parse_is_end(char c, const char *ends)
{
	while (*ends && *ends != c)
		ends++;
	return *ends;
}

/*
 * Cut the part up to one of the characters of `ends` off; *rest becomes NULL when the text ends
 * there.
 */
static char *trigger_parse_cut(char **rest, const char *ends)
{
	char *part = *rest, *at = part;

	while (*at && !trigger_parse_is_end(*at, ends))
		at++;
	*rest = *at ? at + 1 : NULL;
	*at = '\0';
	return part;
}

static char *trigger_parse_skip_blanks(char *text)
{
	while (trace_is_space(*text))
		text++;
	return text;
}

/* Cut the word `if` off the beginning of `text`. */
static int take_if(struct trace_trigger_args *args, char *text, char **out_condition)
{
	char *rest = text;

	if (!trace_streq(trigger_parse_cut(&rest, " \t"), "if"))
		return trace_trigger_blame(args, text, "neither a count nor `if`", -EINVAL);
	rest = rest ? trigger_parse_skip_blanks(rest) : NULL;
	if (!rest || !*rest)
		return trace_trigger_blame(args, text, "no condition behind `if`", -EINVAL);
	*out_condition = rest;
	return 0;
}

/*
 * Separate the parameter and the condition of `text`, each NULL when missing: PARAM[ if CONDITION].
 * Returns 0, or -EINVAL after a call of blame. Without `is_needed` the parameter is a count, so
 * that a text without a digit in front is a condition.
 */
static int separate(struct trace_trigger_args *args, bool is_needed, char **out_param,
		    char **out_condition)
{
	char *rest = args->text;

	*out_param = *out_condition = NULL;
	if (!rest)
		return is_needed ? trace_trigger_blame(args, NULL, NEEDS_PARAMETER, -EINVAL) : 0;
	if (is_needed || (*rest >= '0' && *rest <= '9')) {
		*out_param = trigger_parse_cut(&rest, " \t");
		rest = rest ? trigger_parse_skip_blanks(rest) : NULL;
	}
	return rest && *rest ? take_if(args, rest, out_condition) : 0;
}

/* Parse a count; other text behind a colon is ignored as on Linux. */
static int trigger_parse_count(struct trace_trigger_args *args, char *param, uint64_t *out_count)
{
	char *number = param ? trigger_parse_cut(&param, ":") : NULL;
	int err;

	*out_count = TRACE_COUNT_UNLIMITED;
	if (!number || !*number)
		return 0;
	err = trace_parse_u64(number, 0, out_count);
	if (err)
		trace_trigger_blame(args, number,
				    err == -ERANGE ? "the count is too large"
						   : "the count is not a number",
				    err);
	return err;
}

/* Parse SYSTEM:EVENT, which is cut off *param, as an event of the same instance. */
static int parse_target(struct trace_trigger_args *args, char **param,
			struct trace_event_file **out_target)
{
	char *system = trigger_parse_cut(param, ":"),
	     *name = *param ? trigger_parse_cut(param, ":") : NULL;
	struct trace_event_call *call;

	if (!name)
		return trace_trigger_blame(args, system, "SYSTEM:EVENT is missing", -EINVAL);
	call = trace_event_call_find(system, name);
	if (!call)
		return trace_trigger_blame(args, system, "there is no such event", -EINVAL);
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
	char *param = args->text;
	int err = 0;

	if (command->flags & TRACE_TRIGGER_HAS_TARGET) {
		if (!param)
			return trace_trigger_blame(args, NULL, NEEDS_PARAMETER, -EINVAL);
		trigger_parse_cut(&args->text, " \t");
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
	char *param, *condition;
	int err;

	if (args->is_removal)
		return remove_usual(command, args);
	err = separate(args, has_target, &param, &condition);
	if (!err && has_target)
		err = parse_target(args, &param, &wish.target);
	if (err)
		return err;
	err = trigger_parse_count(args, param, &wish.count);
	wish.condition = condition;
	return err ? err : trace_trigger_set(command, args, &wish);
}

int trace_triggers_write(struct trace_event_file *file, char *text,
			 struct trace_trigger_error *out_error)
{
	const struct trace_trigger_command *command;
	struct trace_trigger_args args = { .file = file };
	char *name, *rest = trace_strip(text);
	int err;

	args.is_removal = *rest == '!';
	rest += args.is_removal;
	name = trigger_parse_cut(&rest, ": \t");
	command = trigger_parse_find_command(name);
	rest = rest ? trigger_parse_skip_blanks(rest) : NULL;
	args.text = rest && *rest ? rest : NULL;
	if (!command)
		err = trace_trigger_blame(&args, name, "there is no such trigger", -EINVAL);
	else
		err = (command->run ? command->run : run_usual)(command, &args);
	*out_error = (struct trace_trigger_error){ .why = args.why,
						   .at = args.at ? args.at : name,
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
