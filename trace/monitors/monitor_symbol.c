/*
 * Symbols of an automaton, as they are written: which event, about whom, on what condition. See
 * monitor.h.
 */
#include <trace/platform.h>
#include "monitor_private.h"
#include "events/event_file.h"
#include "expr/expr_build.h"
#include "instance/event_private.h"
#include "text/str.h"

/* A symbol as written; a part that it does not have is a word without a place. */
struct written {
	const char *at; /* its beginning */
	struct expr_word label, system, event, field, filter;
	struct trace_event_call *call;
	struct expr_value key; /* of no size, and no CPU: none */
	struct monitor_guard guard;
};

/* ---- The event ---- */

static bool monitor_symbol_is_meant(const struct trace_event *event, const struct written *written)
{
	return trace_event_is_switched(event) && trace_expr_is(&written->event, event->name) &&
	       (!written->system.at || trace_expr_is(&written->system, event->system));
}

static int monitor_symbol_find_event(const struct monitor_parser *parser, struct written *written)
{
	const char *at = written->event.at;
	size_t nr = 0;

	trace_events_lock();
	for (size_t i = 0; i < trace_nr_events(); i++) {
		if (monitor_symbol_is_meant(trace_event_at(i), written)) {
			written->call = trace_event_at(i)->call;
			nr++;
		}
	}
	trace_events_unlock();
	if (!nr)
		return trace_monitor_blame(parser, at, "there is no such event");
	if (nr > 1)
		return trace_monitor_blame(parser, at,
					   "several systems have such an event: SYSTEM:EVENT");
	if (trace_streq(written->call->event.system, "rv"))
		return trace_monitor_blame(parser, at, "events of monitors are not monitored");
	return 0;
}

/* ---- The key ---- */

static const struct expr_named monitor_words[] = {
	{ "common_cpu", { .class = EXPR_CLASS_CPU } },
	{ "cpu", { .class = EXPR_CLASS_CPU } },
};

/* Is it one number, perhaps a pointer? */
static bool monitor_symbol_is_key(const struct expr_value *value)
{
	const struct trace_event_field *field = value->field;

	if (value->class == EXPR_CLASS_CPU)
		return true;
	return field->kind == TRACE_FIELD_PLAIN && field->size == field->element_size &&
	       (value->class == EXPR_CLASS_NUMBER || value->class == EXPR_CLASS_ADDRESS ||
		value->place == EXPR_PLACE_POINTER);
}

/* Find the key by its name; `at` is the place of a mistake. */
static int monitor_symbol_find_key(const struct monitor_parser *parser, struct written *written,
				   const struct expr_word *name, const char *at)
{
	const struct expr_names names = { .event = &written->call->event,
					  .words = monitor_words,
					  .nr_words = TRACE_ARRAY_SIZE(monitor_words) };

	if (!trace_expr_find_in_event(&names, name, &written->key))
		return trace_monitor_blame(parser, at, "the event has no such field");
	if (!monitor_symbol_is_key(&written->key))
		return trace_monitor_blame(parser, at, "the field is not a number");
	return 0;
}

static int find_key(const struct monitor_parser *parser, struct written *written)
{
	const struct trace_monitor *monitor = parser->monitor;
	const char *name = monitor->per_field;
	struct expr_word word;

	if (written->field.at && monitor->per == MONITOR_GLOBAL)
		return trace_monitor_blame(parser, written->field.at,
					   "an automaton with one state for all has no fields");
	if (written->field.at)
		return monitor_symbol_find_key(parser, written, &written->field, written->field.at);
	if (monitor->per == MONITOR_GLOBAL)
		return 0;
	if (monitor->per == MONITOR_CPU) {
		written->key = monitor_words[0].value;
		return 0;
	}
	if (monitor->per == MONITOR_THREAD)
		name = "common_pid";
	word = (struct expr_word){ .at = name, .len = trace_strlen(name) };
	return monitor_symbol_find_key(parser, written, &word, written->event.at);
}

/* Make the program whose value is the key, unless that is the CPU. */
static int compile_key(const struct expr_value *key, struct expr_program **out_key)
{
	struct expr_build build;
	int err;

	if (!key->size)
		return 0;
	err = trace_expr_create(&build, 3, 0);
	if (err)
		return err;
	trace_expr_add_load(&build, key);
	(void)trace_expr_add(&build, EXPR_END);
	*out_key = build.program;
	return trace_expr_finish(&build);
}

/* ---- As it is written ---- */

/* Behind the brace that closes the first one at `at`; NULL: there is none. */
static const char *end_of_filter(const char *at)
{
	uint32_t depth = 0;
	char quote = '\0';

	for (; *at; at++) {
		if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '{')
			depth++;
		else if (*at == '}' && !--depth)
			return at + 1;
	}
	return NULL;
}

static int read_filter(struct monitor_parser *parser, struct written *written)
{
	const char *begin = parser->text.at, *end;

	if (*begin != '{')
		return 0;
	end = end_of_filter(begin);
	if (!end)
		return trace_monitor_blame(parser, begin, "nothing closes this brace");
	written->filter = (struct expr_word){ .at = begin + 1, .len = (size_t)(end - begin) - 2 };
	parser->text.at = end;
	return 0;
}

static int read_field(struct monitor_parser *parser, struct written *written)
{
	int err;

	if (!trace_expr_take(&parser->text, "["))
		return 0;
	err = trace_monitor_take_word(parser, "a field is expected", &written->field);
	if (!err && !trace_expr_take(&parser->text, "]"))
		return trace_monitor_blame(parser, parser->text.at, "a ] is expected");
	return err;
}

/* [LABEL=][SYSTEM:]EVENT */
static int read_names(struct monitor_parser *parser, struct written *written)
{
	static const char wanted[] = "an event is expected";
	int err = trace_monitor_take_word(parser, wanted, &written->event);

	written->at = written->event.at;
	if (!err && trace_expr_take(&parser->text, "=")) {
		written->label = written->event;
		err = trace_monitor_take_word(parser, wanted, &written->event);
	}
	if (!err && trace_expr_take(&parser->text, ":")) {
		written->system = written->event;
		err = trace_monitor_take_word(parser, wanted, &written->event);
	}
	return err;
}

/* ---- Symbols that there are ---- */

/* The symbol with that label; nr_symbols when there is none. */
static uint32_t find_label(const struct trace_monitor *monitor, const struct expr_word *label)
{
	uint32_t at = 0;

	while (at < monitor->nr_symbols && !trace_expr_is(label, monitor->symbols[at].label))
		at++;
	return at;
}

static bool is_same_word(const struct expr_word *a, const struct expr_word *b)
{
	return a->len == b->len && memcmp(a->at, b->at, a->len) == 0;
}

static bool is_tap_of(const struct monitor_tap *tap, const struct written *written)
{
	return tap->call == written->call && tap->about.class == written->key.class &&
	       tap->about.size == written->key.size && tap->about.offset == written->key.offset;
}

static bool is_same_symbol(const struct trace_monitor *monitor, const struct monitor_symbol *symbol,
			   const struct written *written)
{
	return is_tap_of(&monitor->taps[symbol->tap], written) &&
	       is_same_word(&symbol->filter_text, &written->filter) &&
	       is_same_word(&symbol->guard_text, &written->guard.text);
}

static uint32_t monitor_symbol_find(const struct trace_monitor *monitor,
				    const struct written *written)
{
	uint32_t at = 0;

	while (at < monitor->nr_symbols && !is_same_symbol(monitor, &monitor->symbols[at], written))
		at++;
	return at;
}

/* ---- A new one ---- */

static int find_tap(struct trace_monitor *monitor, const struct written *written, uint32_t *out_tap)
{
	struct monitor_tap *tap = monitor->taps;

	while (tap < monitor->taps + monitor->nr_taps && !is_tap_of(tap, written))
		tap++;
	*out_tap = (uint32_t)(tap - monitor->taps);
	if (*out_tap < monitor->nr_taps)
		return 0;
	tap->call = written->call;
	tap->about = written->key;
	tap->monitor = monitor;
	tap->watch.func = trace_monitor_watch_hit;
	monitor->nr_taps++;
	return compile_key(&tap->about, &tap->key);
}

static int compile_filter(const struct monitor_parser *parser, struct monitor_symbol *symbol,
			  const struct written *written)
{
	char *begin = parser->monitor->text + (written->filter.at - parser->monitor->text);
	struct expr_error error = { 0 };
	char *end = begin + written->filter.len;
	int err;

	*end = '\0';
	err = trace_filter_compile(&written->call->event, begin, &symbol->filter, &error);
	*end = '}';
	if (err && error.why)
		return trace_expr_refuse(&parser->text, err, error.why, begin + error.pos);
	symbol->filter_text = written->filter;
	return err;
}

/* The label, or the name of the event, cut; the first alone is just that. */
static void name_symbol(struct trace_monitor *monitor, struct monitor_symbol *symbol,
			const struct written *written)
{
	struct expr_word name = written->label.at ? written->label : written->event;
	uint32_t nr = 1;

	if (name.len > MONITOR_WORD_BYTES - 1)
		name.len = MONITOR_WORD_BYTES - 1;
	trace_monitor_copy_word(symbol->label, &name);
	symbol->is_named = written->label.at != NULL;
	if (name.len > MONITOR_WORD_BYTES - 4)
		name.len = MONITOR_WORD_BYTES - 4;
	for (;;) {
		const struct expr_word tried = { .at = symbol->label,
						 .len = trace_strlen(symbol->label) };
		char *end = symbol->label + name.len;

		if (find_label(monitor, &tried) == monitor->nr_symbols)
			return;
		nr++;
		end[0] = '.';
		end[1] = (char)(nr < 10 ? '0' + nr : 'a' + nr - 10);
		end[2] = '\0';
	}
}

static int add_symbol(const struct monitor_parser *parser, const struct written *written,
		      uint32_t *out_number)
{
	struct trace_monitor *monitor = parser->monitor;
	struct monitor_symbol *symbol = &monitor->symbols[monitor->nr_symbols];
	uint32_t tap = 0;
	int err;

	if (monitor->nr_symbols == MONITOR_SYMBOLS_MAX)
		return trace_expr_refuse(&parser->text, -E2BIG, "there are too many events",
					 written->at);
	err = written->filter.at ? compile_filter(parser, symbol, written) : 0;
	if (!err)
		err = trace_monitor_compile_guard(&written->guard, &symbol->guard);
	if (!err)
		err = find_tap(monitor, written, &tap);
	symbol->guard_text = written->guard.text;
	symbol->resets = written->guard.resets;
	name_symbol(monitor, symbol, written);
	*out_number = monitor->nr_symbols++;
	if (err)
		return err;
	symbol->tap = (uint8_t)tap;
	monitor->taps[tap].symbols |= 1u << *out_number;
	return 0;
}

/* A symbol with a label of its own. */
static int add_labelled(const struct monitor_parser *parser, const struct written *written,
			uint32_t *out_number)
{
	struct trace_monitor *monitor = parser->monitor;

	if (written->label.len > MONITOR_WORD_BYTES - 1)
		return trace_monitor_blame(parser, written->label.at, "the name is too long");
	*out_number = find_label(monitor, &written->label);
	if (*out_number == monitor->nr_symbols)
		return add_symbol(parser, written, out_number);
	if (is_same_symbol(monitor, &monitor->symbols[*out_number], written))
		return 0;
	return trace_monitor_blame(parser, written->label.at,
				   "it stands for something else already");
}

/* A word alone may be a label. */
static bool is_label(const struct trace_monitor *monitor, const struct written *written,
		     uint32_t *out_number)
{
	if (written->label.at || written->system.at || written->field.at || written->filter.at ||
	    written->guard.text.at)
		return false;
	*out_number = find_label(monitor, &written->event);
	return *out_number < monitor->nr_symbols && monitor->symbols[*out_number].is_named;
}

int trace_monitor_parse_symbol(struct monitor_parser *parser, uint32_t *out_number)
{
	struct written written = { 0 };
	int err = read_names(parser, &written);

	if (!err)
		err = read_field(parser, &written);
	trace_expr_skip_spaces(&parser->text);
	if (!err)
		err = read_filter(parser, &written);
	trace_expr_skip_spaces(&parser->text);
	if (!err)
		err = trace_monitor_read_guard(parser, &written.guard);
	if (err || is_label(parser->monitor, &written, out_number))
		return err;
	err = monitor_symbol_find_event(parser, &written);
	if (!err)
		err = find_key(parser, &written);
	if (err)
		return err;
	if (written.label.at)
		return add_labelled(parser, &written, out_number);
	*out_number = monitor_symbol_find(parser->monitor, &written);
	if (*out_number < parser->monitor->nr_symbols)
		return 0;
	return add_symbol(parser, &written, out_number);
}
