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

const struct trace_event_call *trace_hist_find_call(const char *system, const char *name)
{
	const struct trace_event_call *call = NULL;
	size_t at;

	trace_events_lock();
	at = trace_event_place(system, name);
	if (at < trace_nr_events() && trace_streq(trace_event_at(at)->system, system) &&
	    trace_streq(trace_event_at(at)->name, name))
		call = trace_event_at(at)->call;
	trace_events_unlock();
	return call;
}

static int check_match(struct hist_parse *parse, struct hist_action *action, char *system)
{
	char *event = hist_find_char(system, '.');

	if (!*event)
		return hist_blame(parse, system, "Missing subsystem");
	*event++ = '\0';
	if (!trace_hist_find_call(system, event))
		return hist_blame(parse, event, "Invalid subsystem or event name");
	action->system = parse->matches[parse->nr_matches].system = system;
	action->event = parse->matches[parse->nr_matches].event = event;
	parse->nr_matches++;
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

static const struct hist_handler *find_handler(const char *part)
{
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(handlers); i++) {
		const char *name = handlers[i].name;

		if (trace_str_starts(part, name) && part[trace_strlen(name)] == '(')
			return &handlers[i];
	}
	return NULL;
}

bool trace_hist_is_action(const char *part)
{
	return find_handler(part);
}

int trace_hist_find_followed(struct hist_parse *parse, struct hist_action *action)
{
	const struct hist *hist = parse->hist;
	uint32_t var;

	if (action->of[0] != '$')
		return hist_blame(parse, action->of,
				  "For onmax(x) or onchange(x), x must be a variable");
	var = trace_hist_find_variable(hist, action->of + 1);
	if (var == HIST_VARS_MAX || hist->vars[var].kind != HIST_NUMBER)
		return hist_blame(parse, action->of + 1,
				  "Couldn't find onmax or onchange variable");
	action->var = (uint16_t)var;
	return 0;
}

/* ---- Parameters ---- */

/* Cut `text` at the next comma, and blanks off both ends. Returns the rest, or NULL. */
static char *cut_param(char **text)
{
	char *comma = hist_find_char(*text, ',');
	bool is_last = !*comma;

	*comma = '\0';
	*text = trace_strip(*text);
	return is_last ? NULL : comma + 1;
}

static int hist_handler_add_param(struct hist_parse *parse, struct hist_action *action, char *text)
{
	struct hist_param *param = &action->params[action->nr_params];

	if (!*text || (*text >= '0' && *text <= '9'))
		return hist_blame(parse, text, "Invalid action param");
	if (action->nr_params == HIST_PARAMS_MAX)
		return hist_blame(parse, text, "Too many action params");
	param->text = text;
	param->name = trace_hist_name_of(parse, text, text + trace_strlen(text));
	action->nr_params++;
	return 0;
}

/*
 * Add the parameters of `text`, which begins behind the opening parenthesis. The closing one may be
 * missing, as on Linux.
 */
static int add_params(struct hist_parse *parse, struct hist_action *action, char *text)
{
	char *end = hist_find_char(text, ')'), *next;
	int err = 0;

	if (!*end && !action->type->has_params)
		return hist_blame(parse, text, "No closing paren found");
	if (*end)
		*end++ = '\0';
	if (*trace_strip(end))
		return hist_blame(parse, end, "No action found");
	if (!action->type->has_params)
		return 0;
	for (; text && !err; text = next) {
		next = cut_param(&text);
		err = hist_handler_add_param(parse, action, text);
	}
	return err;
}

/* ---- An action ---- */

/* Take `WHAT)` off a text. Returns the rest, or NULL. */
static char *take_of(struct hist_parse *parse, struct hist_action *action, char *of)
{
	char *end = hist_find_char(of, ')');

	if (!*end) {
		trace_hist_set_error(parse, of, "No closing paren found");
		return NULL;
	}
	*end = '\0';
	action->of = trace_hist_name_of(parse, of, end);
	if (action->handler->check && action->handler->check(parse, action, of))
		return NULL;
	return end + 1;
}

/* Take `.ACTION(` off a text. Returns the rest, or NULL. */
static char *hist_handler_take_word(struct hist_parse *parse, struct hist_action *action,
				    char *text)
{
	char *word = text + 1, *paren = *text == '.' ? hist_find_char(word, '(') : text;

	if (paren > text && *paren) {
		*paren = '\0';
		action->type = trace_hist_find_action_type(word);
		action->word = word;
	}
	if (!action->type) {
		trace_hist_set_error(parse, text, "No action found");
		return NULL;
	}
	if (action->type->needs_variable && !action->handler->title) {
		trace_hist_set_error(parse, word, "Handler doesn't support action");
		return NULL;
	}
	return paren + 1;
}

static int parse_action(struct hist_parse *parse, struct hist_action *action, char *text)
{
	char *rest;

	action->handler = find_handler(text);
	rest = take_of(parse, action, text + trace_strlen(action->handler->name) + 1);
	if (rest)
		rest = hist_handler_take_word(parse, action, rest);
	return rest ? add_params(parse, action, rest) : -EINVAL;
}

int trace_hist_add_action(struct hist_parse *parse, char *text)
{
	struct hist *hist = parse->hist;
	struct hist_action *action;

	if (hist->nr_actions == HIST_ACTIONS_MAX)
		return hist_blame(parse, text, "Too many actions (8 max)");
	action = trace_plat_alloc(sizeof(*action));
	if (!action)
		return -ENOMEM;
	hist->actions[hist->nr_actions++] = action;
	return parse_action(parse, action, text);
}

/* ---- An action as text ---- */

static void hist_handler_print_action(const struct hist_action *action, struct trace_seq *seq)
{
	trace_seq_printf(seq, ":%s(%s).%s(", action->handler->name, action->of, action->word);
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
	if (a->handler != b->handler || !trace_streq(a->word, b->word) ||
	    !trace_streq(a->of, b->of) || a->nr_params != b->nr_params)
		return false;
	for (uint32_t i = 0; i < a->nr_params; i++) {
		if (!trace_streq(a->params[i].name, b->params[i].name))
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
