/*
 * The line of a monitor: options, states and steps. See monitor.h for the grammar.
 */
#include <trace/platform.h>
#include "monitor_private.h"
#include "text/str.h"

static bool monitor_parse_is_word(const char *word, size_t len, const char *text)
{
	return trace_strlen(text) == len && memcmp(text, word, len) == 0;
}

static void monitor_parse_copy_word(char *to, const char *word, size_t len)
{
	memcpy(to, word, len);
	to[len] = '\0';
}

/* ---- Options ---- */

/* An option reads its value: `len` characters. */
typedef int (*option_fn)(struct monitor_parser *parser, char *value, size_t len);

static int read_per(struct monitor_parser *parser, char *value, size_t len)
{
	static const char *const kinds[] = {
		[MONITOR_GLOBAL] = "global", [MONITOR_CPU] = "cpu", [MONITOR_THREAD] = "thread"
	};
	struct trace_monitor *monitor = parser->monitor;

	if (!len || len != trace_monitor_word_len(value) || len > MONITOR_WORD_BYTES - 1)
		return trace_monitor_blame(parser, value,
					   "global, cpu, thread or a field is expected", -EINVAL);
	for (uint32_t i = 0; i < TRACE_ARRAY_SIZE(kinds); i++) {
		if (monitor_parse_is_word(value, len, kinds[i])) {
			monitor->per = (uint8_t)i;
			return 0;
		}
	}
	monitor->per = MONITOR_FIELD;
	monitor_parse_copy_word(monitor->per_field, value, len);
	return 0;
}

static int read_size(struct monitor_parser *parser, char *value, size_t len)
{
	char end = value[len];
	uint64_t size;
	int err;

	value[len] = '\0';
	err = trace_parse_u64(value, 10, &size);
	value[len] = end;
	if (!err && (!size || size > MONITOR_SIZE_MAX))
		err = -ERANGE;
	if (err)
		return trace_monitor_blame(parser, value,
					   err == -ERANGE
						   ? "neither too small nor too large: 1 to 131072"
						   : "not a number",
					   err);
	parser->monitor->size = (uint32_t)size;
	return 0;
}

static int read_react(struct monitor_parser *parser, char *value, size_t len)
{
	parser->monitor->reactor = trace_reactor_find(value, len);
	if (parser->monitor->reactor)
		return 0;
	return trace_monitor_blame(parser, value, "there is no such reactor", -EINVAL);
}

static int read_enable(struct monitor_parser *parser, char *value, size_t len)
{
	if (len != 1 || (*value != '0' && *value != '1'))
		return trace_monitor_blame(parser, value, "neither 0 nor 1", -EINVAL);
	parser->monitor->wants_enable = *value == '1';
	return 0;
}

static const struct option {
	const char *name;
	option_fn read;
} monitor_parse_options[] = {
	{ "per", read_per },
	{ "size", read_size },
	{ "react", read_react },
	{ "enable", read_enable },
};

/* Words of the form NAME=VALUE. */
static int read_options(struct monitor_parser *parser)
{
	int err = 0;

	for (;;) {
		size_t len, value_len = 0, i = 0;
		char *value;

		trace_monitor_skip_blanks(parser);
		len = trace_monitor_word_len(parser->at);
		if (err || !len || parser->at[len] != '=')
			return err;
		while (i < TRACE_ARRAY_SIZE(monitor_parse_options) &&
		       !monitor_parse_is_word(parser->at, len, monitor_parse_options[i].name))
			i++;
		if (i == TRACE_ARRAY_SIZE(monitor_parse_options))
			return trace_monitor_blame(parser, parser->at, "there is no such option",
						   -EINVAL);
		value = parser->at + len + 1;
		while (value[value_len] && !trace_is_space(value[value_len]))
			value_len++;
		parser->at = value + value_len;
		err = monitor_parse_options[i].read(parser, value, value_len);
	}
}

/* ---- States and steps ---- */

/* The number of a state, which is made when there is none of that name. */
static int read_state(struct monitor_parser *parser, uint32_t *out_number)
{
	struct trace_monitor *monitor = parser->monitor;
	size_t len = trace_monitor_word_len(parser->at);
	uint32_t at = 0;

	if (!len)
		return trace_monitor_blame(parser, parser->at, "a state is expected", -EINVAL);
	if (len > MONITOR_WORD_BYTES - 1)
		return trace_monitor_blame(parser, parser->at, "the name is too long", -EINVAL);
	while (at < monitor->nr_states &&
	       !monitor_parse_is_word(parser->at, len, monitor->states[at]))
		at++;
	if (at == MONITOR_STATES_MAX)
		return trace_monitor_blame(parser, parser->at, "there are too many states", -E2BIG);
	if (at == monitor->nr_states)
		monitor_parse_copy_word(monitor->states[monitor->nr_states++], parser->at, len);
	parser->at += len;
	*out_number = at;
	return 0;
}

/* No state in front of a step. */
#define FROM_ANYWHERE UINT32_MAX

static int add_step(struct monitor_parser *parser, const char *at, uint32_t from, uint32_t symbol,
		    uint32_t to)
{
	struct trace_monitor *monitor = parser->monitor;
	bool is_start = from == FROM_ANYWHERE;
	uint32_t *mask = is_start ? &monitor->starts : &monitor->allowed[from];
	uint8_t *next = is_start ? &monitor->start_state[symbol] : &monitor->next[from][symbol];

	if (*mask & 1u << symbol && *next != to)
		return trace_monitor_blame(parser, at,
					   "from here it leads to another state already", -EINVAL);
	*mask |= 1u << symbol;
	*next = (uint8_t)to;
	return 0;
}

/* -SYMBOL|SYMBOL-> STATE; *state is what stands in front, and then behind. */
static int read_step(struct monitor_parser *parser, uint32_t *state)
{
	uint32_t symbols = 0, symbol, to = 0;
	const char *begin = ++parser->at;
	int err;

	do {
		err = trace_monitor_parse_symbol(parser, &symbol);
		if (err)
			return err;
		symbols |= 1u << symbol;
		trace_monitor_skip_blanks(parser);
	} while (*parser->at == '|' && parser->at++);
	if (parser->at[0] != '-' || parser->at[1] != '>')
		return trace_monitor_blame(parser, parser->at, "-> is expected", -EINVAL);
	parser->at += 2;
	trace_monitor_skip_blanks(parser);
	err = read_state(parser, &to);
	if (err)
		return err;
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

	trace_monitor_skip_blanks(parser);
	if (*parser->at != '-')
		err = read_state(parser, &state);
	trace_monitor_skip_blanks(parser);
	if (!err && *parser->at != '-')
		return trace_monitor_blame(parser, parser->at, "a step is expected: -EVENT->",
					   -EINVAL);
	while (!err && *parser->at == '-') {
		err = read_step(parser, &state);
		trace_monitor_skip_blanks(parser);
	}
	return err;
}

static int read_paths(struct monitor_parser *parser)
{
	int err = read_path(parser);

	while (!err && *parser->at == ';') {
		parser->at++;
		trace_monitor_skip_blanks(parser);
		if (*parser->at)
			err = read_path(parser);
	}
	if (!err && *parser->at)
		return trace_monitor_blame(parser, parser->at, "; or a step is expected", -EINVAL);
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

int trace_monitor_parse(struct trace_monitor *monitor, struct monitor_error *error)
{
	struct monitor_parser parser = { monitor, monitor->text, error };
	int err;

	monitor->size = MONITOR_SIZE_DEFAULT;
	monitor->reactor = trace_reactor_find("nop", 3);
	err = read_options(&parser);
	if (!err)
		err = read_paths(&parser);
	if (err)
		return err;
	if (!monitor->starts)
		choose_starts(monitor);
	if (!monitor->starts)
		return trace_monitor_blame(&parser, monitor->text,
					   "no event tells that a state is reached", -EINVAL);
	for (uint32_t i = 0; i < monitor->nr_symbols; i++)
		monitor->has_filters |= monitor->symbols[i].filter != NULL;
	return 0;
}

void trace_monitor_parse_free(struct trace_monitor *monitor)
{
	for (uint32_t i = 0; i < monitor->nr_symbols; i++)
		trace_expr_free(monitor->symbols[i].filter);
}
