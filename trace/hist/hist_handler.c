/*
 * Actions of histograms: from `HANDLER(WHAT).ACTION(PARAMETERS)` to a struct hist_action, and back.
 * See hist_action.h. Error messages have Linux's words.
 */
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "hist_vars.h"
#include "instance/event_private.h"
#include "text/str.h"

/* ---- Handlers ---- */

static int check_match(struct hist_parse *parse, struct hist_action *action)
{
	struct expr_word event = action->of, system = expr_take_until(&event, ".");

	if (!expr_take(&event, '.'))
		return hist_blame(parse, system.at, "Missing subsystem");
	action->match = trace_event_call_named(&system, &event);
	if (!action->match)
		return hist_blame(parse, event.at, "Invalid subsystem or event name");
	parse->matches[parse->nr_matches++] = action->match;
	return 0;
}

static bool is_greater(uint64_t kept, uint64_t value)
{
	return value > kept;
}

static bool is_different(uint64_t kept, uint64_t value)
{
	return value != kept;
}

static const struct hist_handler handlers[] = {
	{ .name = "onmatch", .check = check_match },
	{ .name = "onmax", .title = "max", .variable = "__max", .replaces = is_greater },
	{ .name = "onchange",
	  .title = "changed",
	  .variable = "__change",
	  .replaces = is_different },
};

static const struct hist_handler *find_handler(const struct expr_word *part)
{
	struct expr_word rest = *part, name = expr_take_until(&rest, "(");

	for (size_t i = 0; rest.len && i < TRACE_ARRAY_SIZE(handlers); i++) {
		if (trace_expr_is(&name, handlers[i].name))
			return &handlers[i];
	}
	return NULL;
}

bool trace_hist_is_action(const struct expr_word *part)
{
	return find_handler(part);
}

int trace_hist_find_followed(struct hist_parse *parse, struct hist_action *action)
{
	const struct hist *hist = parse->hist;
	struct expr_word name = action->of;
	uint32_t var;

	if (!expr_take(&name, '$'))
		return hist_blame(parse, name.at,
				  "For onmax(x) or onchange(x), x must be a variable");
	var = trace_hist_find_variable(hist, &name);
	if (var == HIST_VARS_MAX || hist->vars[var].kind != HIST_NUMBER)
		return hist_blame(parse, name.at, "Couldn't find onmax or onchange variable");
	action->var = (uint16_t)var;
	return 0;
}

/* ---- Parameters ---- */

static int hist_handler_add_param(struct hist_parse *parse, struct hist_action *action,
				  struct expr_word text)
{
	struct hist_param *param = &action->params[action->nr_params];

	if (!text.len || expr_is_digit(*text.at))
		return hist_blame(parse, text.at, "Invalid action param");
	if (action->nr_params == HIST_PARAMS_MAX)
		return hist_blame(parse, text.at, "Too many action params");
	param->text = text;
	param->name = trace_hist_name_of(parse->hist, &text);
	action->nr_params++;
	return 0;
}

/*
 * Add the parameters of `rest`, which begins behind the opening parenthesis. The closing one may be
 * missing, as on Linux.
 */
static int add_params(struct hist_parse *parse, struct hist_action *action, struct expr_word rest)
{
	struct expr_word params = expr_take_until(&rest, ")");
	int err;

	if (!expr_take(&rest, ')') && !action->type->has_params)
		return hist_blame(parse, params.at, "No closing paren found");
	if (trace_expr_strip(rest).len)
		return hist_blame(parse, rest.at, "No action found");
	if (!action->type->has_params)
		return 0;
	do {
		err = hist_handler_add_param(parse, action,
					     trace_expr_strip(expr_take_until(&params, ",")));
	} while (!err && expr_take(&params, ','));
	return err;
}

/* ---- An action ---- */

/* Take `WHAT)` off the text. */
static int take_of(struct hist_parse *parse, struct hist_action *action, struct expr_word *rest)
{
	action->of = expr_take_until(rest, ")");
	if (!expr_take(rest, ')'))
		return hist_blame(parse, action->of.at, "No closing paren found");
	return action->handler->check ? action->handler->check(parse, action) : 0;
}

/* Take `.ACTION(` off the text. */
static int hist_handler_take_word(struct hist_parse *parse, struct hist_action *action,
				  struct expr_word *rest)
{
	const char *at = rest->at;

	if (expr_take(rest, '.')) {
		action->word = expr_take_until(rest, "(");
		if (expr_take(rest, '('))
			action->type = trace_hist_find_action_type(&action->word);
	}
	if (!action->type)
		return hist_blame(parse, at, "No action found");
	if (action->type->needs_variable && !action->handler->title)
		return hist_blame(parse, action->word.at, "Handler doesn't support action");
	return 0;
}

int trace_hist_add_action(struct hist_parse *parse, const struct expr_word *text)
{
	struct expr_word rest = *text;
	struct hist *hist = parse->hist;
	struct hist_action *action;
	int err;

	if (hist->nr_actions == HIST_ACTIONS_MAX)
		return hist_blame(parse, text->at, "Too many actions (8 max)");
	action = trace_plat_alloc(sizeof(*action));
	if (!action)
		return -ENOMEM;
	hist->actions[hist->nr_actions++] = action;
	action->handler = find_handler(text);
	(void)expr_take_until(&rest, "(");
	(void)expr_take(&rest, '(');
	err = take_of(parse, action, &rest);
	if (!err)
		err = hist_handler_take_word(parse, action, &rest);
	return err ? err : add_params(parse, action, rest);
}

/* ---- An action as text ---- */

static void hist_handler_print_action(const struct hist_action *action, struct trace_seq *seq)
{
	trace_seq_printf(seq, ":%s(%.*s).%.*s(", action->handler->name, (int)action->of.len,
			 action->of.at, (int)action->word.len, action->word.at);
	for (uint32_t i = 0; i < action->nr_params; i++)
		trace_seq_printf(seq, "%s%s", i ? "," : "", action->params[i].name);
	trace_seq_putc(seq, ')');
}

void trace_hist_print_actions(const struct hist *hist, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < hist->nr_actions; i++)
		hist_handler_print_action(hist->actions[i], seq);
}

static bool hist_handler_is_same(const struct hist_action *a, const struct hist_action *b)
{
	if (a->handler != b->handler || !trace_expr_same(&a->word, &b->word) ||
	    !trace_expr_same(&a->of, &b->of) || a->nr_params != b->nr_params)
		return false;
	for (uint32_t i = 0; i < a->nr_params; i++) {
		if (!trace_expr_same(&a->params[i].text, &b->params[i].text))
			return false;
	}
	return true;
}

bool trace_hist_are_actions_same(const struct hist *a, const struct hist *b)
{
	if (a->nr_actions != b->nr_actions)
		return false;
	for (uint32_t i = 0; i < a->nr_actions; i++) {
		if (!hist_handler_is_same(a->actions[i], b->actions[i]))
			return false;
	}
	return true;
}
