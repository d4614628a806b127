/*
 * The line of a monitor: options, states and steps. See monitor.h for the grammar.
 */
#include <trace/platform.h>
#include "monitor_private.h"
#include "monitor_react.h"
#include "text/str.h"

int trace_monitor_blame(const struct monitor_parser *parser, const char *at, const char *why)
{
	return trace_expr_refuse(&parser->text, -EINVAL, why, at);
}

struct expr_word trace_monitor_take_name(struct expr_cursor *text)
{
	if (expr_is_digit(*text->at))
		return (struct expr_word){ .at = text->at };
	return trace_expr_take_name(text);
}

int trace_monitor_take_word(struct monitor_parser *parser, const char *why,
			    struct expr_word *out_word)
{
	trace_expr_skip_spaces(&parser->text);
	*out_word = trace_monitor_take_name(&parser->text);
	if (!out_word->len)
		return trace_monitor_blame(parser, out_word->at, why);
	trace_expr_skip_spaces(&parser->text);
	return 0;
}

void trace_monitor_copy_word(char *to, const struct expr_word *word)
{
	memcpy(to, word->at, word->len);
	to[word->len] = '\0';
}

/* ---- Options ---- */

static bool monitor_parse_is_name(const struct expr_word *word)
{
	size_t len = 0;

	while (len < word->len && (expr_is_alnum(word->at[len]) || word->at[len] == '_'))
		len++;
	return len && len == word->len && len < MONITOR_WORD_BYTES && !expr_is_digit(*word->at);
}

static int read_per(struct monitor_parser *parser, const struct expr_word *value)
{
	static const char *const kinds[] = {
		[MONITOR_GLOBAL] = "global", [MONITOR_CPU] = "cpu", [MONITOR_THREAD] = "thread"
	};
	struct trace_monitor *monitor = parser->monitor;

	if (!monitor_parse_is_name(value))
		return trace_monitor_blame(parser, value->at,
					   "global, cpu, thread or a field is expected");
	monitor->per = 0;
	while (monitor->per < MONITOR_FIELD && !trace_expr_is(value, kinds[monitor->per]))
		monitor->per++;
	if (monitor->per == MONITOR_FIELD)
		trace_monitor_copy_word(monitor->per_field, value);
	return 0;
}

static int read_size(struct monitor_parser *parser, const struct expr_word *value)
{
	uint64_t size;
	int err = trace_expr_number(value, 10, false, &size);

	if (!err && (!size || size > MONITOR_SIZE_MAX))
		err = -ERANGE;
	if (err)
		return trace_expr_refuse(&parser->text, err,
					 err == -ERANGE
						 ? "neither too small nor too large: 1 to 131072"
						 : "not a number",
					 value->at);
	parser->monitor->size = (uint32_t)size;
	return 0;
}

static int read_react(struct monitor_parser *parser, const struct expr_word *value)
{
	parser->monitor->reactor = trace_reactor_find(value->at, value->len);
	if (parser->monitor->reactor)
		return 0;
	return trace_monitor_blame(parser, value->at, "there is no such reactor");
}

static int read_enable(struct monitor_parser *parser, const struct expr_word *value)
{
	parser->monitor->wants_enable = trace_expr_is(value, "1");
	if (parser->monitor->wants_enable || trace_expr_is(value, "0"))
		return 0;
	return trace_monitor_blame(parser, value->at, "neither 0 nor 1");
}

static const struct option {
	const char *name;
	int (*read)(struct monitor_parser *parser, const struct expr_word *value);
} monitor_parse_options[] = {
	{ "per", read_per },
	{ "size", read_size },
	{ "react", read_react },
	{ "enable", read_enable },
};

static int read_option(struct monitor_parser *parser, const struct expr_word *name)
{
	struct expr_word value = { .at = parser->text.at };

	while (*parser->text.at && !trace_is_space(*parser->text.at))
		parser->text.at++;
	value.len = (size_t)(parser->text.at - value.at);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(monitor_parse_options); i++) {
		if (trace_expr_is(name, monitor_parse_options[i].name))
			return monitor_parse_options[i].read(parser, &value);
	}
	return trace_monitor_blame(parser, name->at, "there is no such option");
}

/* Words of the form NAME=VALUE. */
static int read_options(struct monitor_parser *parser)
{
	int err = 0;

	while (!err) {
		struct expr_word name;

		trace_expr_skip_spaces(&parser->text);
		name = trace_monitor_take_name(&parser->text);
		if (!name.len || !trace_expr_take(&parser->text, "=")) {
			parser->text.at = name.at;
			return 0;
		}
		err = read_option(parser, &name);
	}
	return err;
}

/* ---- States and steps ---- */

/* The number of a state, which is made when there is none of that name. */
static int read_state(struct monitor_parser *parser, uint32_t *out_number)
{
	struct trace_monitor *monitor = parser->monitor;
	struct expr_word name;
	uint32_t at = 0;
	int err = trace_monitor_take_word(parser, "a state is expected", &name);

	if (err)
		return err;
	if (name.len > MONITOR_WORD_BYTES - 1)
		return trace_monitor_blame(parser, name.at, "the name is too long");
	while (at < monitor->nr_states && !trace_expr_is(&name, monitor->states[at]))
		at++;
	if (at == MONITOR_STATES_MAX)
		return trace_expr_refuse(&parser->text, -E2BIG, "there are too many states",
					 name.at);
	if (at == monitor->nr_states)
		trace_monitor_copy_word(monitor->states[monitor->nr_states++], &name);
	*out_number = at;
	return 0;
}

/* No state in front of a step. */
#define FROM_ANYWHERE UINT32_MAX

static int add_step(const struct monitor_parser *parser, const char *at, uint32_t from,
		    uint32_t symbol, uint32_t to)
{
	struct trace_monitor *monitor = parser->monitor;
	bool is_start = from == FROM_ANYWHERE;
	uint32_t *mask = is_start ? &monitor->starts : &monitor->allowed[from];
	uint8_t *next = is_start ? &monitor->start_state[symbol] : &monitor->next[from][symbol];

	if (*mask & 1u << symbol && *next != to)
		return trace_monitor_blame(parser, at,
					   "from here it leads to another state already");
	*mask |= 1u << symbol;
	*next = (uint8_t)to;
	return 0;
}

/* SYMBOL|SYMBOL-> STATE; *state is the one in front, and then the one behind. */
static int read_step(struct monitor_parser *parser, uint32_t *state)
{
	uint32_t symbols = 0, symbol, to = 0;
	const char *begin = parser->text.at;
	int err;

	do {
		err = trace_monitor_parse_symbol(parser, &symbol);
		if (err)
			return err;
		symbols |= 1u << symbol;
		trace_expr_skip_spaces(&parser->text);
	} while (trace_expr_take(&parser->text, "|"));
	if (!trace_expr_take(&parser->text, "->"))
		return trace_monitor_blame(parser, parser->text.at, "-> is expected");
	err = read_state(parser, &to);
	for (symbol = 0; !err && symbol < parser->monitor->nr_symbols; symbol++) {
		if (symbols & 1u << symbol)
			err = add_step(parser, begin, *state, symbol, to);
	}
	*state = to;
	return err;
}

static int read_path(struct monitor_parser *parser)
{
	uint32_t state = FROM_ANYWHERE;
	int err = 0;

	trace_expr_skip_spaces(&parser->text);
	if (*parser->text.at != '-')
		err = read_state(parser, &state);
	if (!err && *parser->text.at != '-')
		return trace_monitor_blame(parser, parser->text.at, "a step is expected: -EVENT->");
	while (!err && trace_expr_take(&parser->text, "-"))
		err = read_step(parser, &state);
	return err;
}

static int read_paths(struct monitor_parser *parser)
{
	int err = read_path(parser);

	while (!err && trace_expr_take(&parser->text, ";")) {
		trace_expr_skip_spaces(&parser->text);
		if (*parser->text.at)
			err = read_path(parser);
	}
	if (!err && *parser->text.at)
		return trace_monitor_blame(parser, parser->text.at, "; or a step is expected");
	return err;
}

/* ---- Steps that begin ---- */

/* Do all steps with the symbol lead into the initial state, and from others? */
static bool leads_home(const struct trace_monitor *monitor, uint32_t symbol)
{
	bool is_used = false;

	for (uint32_t state = 0; state < monitor->nr_states; state++) {
		if (!(monitor->allowed[state] & 1u << symbol))
			continue;
		if (!state || monitor->next[state][symbol])
			return false;
		is_used = true;
	}
	return is_used;
}

static void choose_starts(struct trace_monitor *monitor)
{
	for (uint32_t symbol = 0; symbol < monitor->nr_symbols; symbol++) {
		if (leads_home(monitor, symbol))
			monitor->starts |= 1u << symbol; /* start_state is 0, the initial state */
	}
	if (monitor->starts)
		return;
	monitor->starts = monitor->allowed[0];
	memcpy(monitor->start_state, monitor->next[0], sizeof(monitor->start_state));
}

int trace_monitor_parse(struct trace_monitor *monitor, size_t base, struct expr_error *error)
{
	struct monitor_parser parser = {
		.monitor = monitor,
		.text = { .text = monitor->text, .at = monitor->text, .error = error, .base = base }
	};
	int err;

	monitor->size = MONITOR_SIZE_DEFAULT;
	monitor->reactor = trace_reactor_find("nop", 3);
	err = read_options(&parser);
	if (!err)
		err = read_paths(&parser);
	if (!err)
		err = trace_monitor_check_clocks(&parser);
	if (err)
		return err;
	if (!monitor->starts)
		choose_starts(monitor);
	if (!monitor->starts)
		return trace_monitor_blame(&parser, monitor->text,
					   "no event tells that a state is reached");
	for (uint32_t i = 0; i < monitor->nr_symbols; i++)
		monitor->has_filters |= monitor->symbols[i].filter != NULL;
	return 0;
}

void trace_monitor_parse_free(struct trace_monitor *monitor)
{
	for (uint32_t i = 0; i < monitor->nr_symbols; i++) {
		trace_expr_free(monitor->symbols[i].filter);
		trace_expr_free(monitor->symbols[i].guard);
	}
	for (uint32_t i = 0; i < monitor->nr_taps; i++)
		trace_expr_free(monitor->taps[i].key);
}
