/*
 * Symbols of an automaton, as they are written: which event, about whom, on what condition. See
 * monitor.h.
 */
#include <trace/platform.h>
#include "monitor_private.h"
#include "events/event_file.h"
#include "instance/event_private.h"
#include "text/str.h"

static const char no_such_field[] = "the event has no such field";

/* A symbol as written. */
struct written {
	const char *at; /* its beginning */
	const char *label, *event, *field;
	size_t label_len, event_len, field_len; /* 0: it has none */
	const char *system;			/* NULL: any */
	size_t system_len;
	struct trace_event_call *call;
	struct monitor_key key;
	char *filter; /* NULL: none */
	size_t filter_len;
};

int trace_monitor_blame(struct monitor_parser *parser, const char *at, const char *why, int err)
{
	parser->error->at = at;
	parser->error->why = why;
	return err;
}

void trace_monitor_skip_blanks(struct monitor_parser *parser)
{
	while (trace_is_space(*parser->at))
		parser->at++;
}

static bool monitor_symbol_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

size_t trace_monitor_word_len(const char *text)
{
	size_t len = 0;

	if (*text >= '0' && *text <= '9')
		return 0;
	while (monitor_symbol_is_word(text[len]))
		len++;
	return len;
}

static bool is_same_text(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* ---- The event ---- */

static bool monitor_symbol_is_meant(const struct trace_event *event, const struct written *written)
{
	return trace_event_is_switched(event) &&
	       is_same_text(event->name, trace_strlen(event->name), written->event,
			    written->event_len) &&
	       (!written->system || is_same_text(event->system, trace_strlen(event->system),
						 written->system, written->system_len));
}

static int monitor_symbol_find_event(struct monitor_parser *parser, struct written *written)
{
	struct trace_event_call *call = NULL;
	size_t nr = 0;

	trace_events_lock();
	for (size_t i = 0; i < trace_nr_events(); i++) {
		if (monitor_symbol_is_meant(trace_event_at(i), written)) {
			call = trace_event_at(i)->call;
			nr++;
		}
	}
	trace_events_unlock();
	if (!nr)
		return trace_monitor_blame(parser, written->event, "there is no such event",
					   -EINVAL);
	if (nr > 1)
		return trace_monitor_blame(parser, written->event,
					   "several systems have such an event: SYSTEM:EVENT",
					   -EINVAL);
	if (trace_streq(call->event.system, "rv"))
		return trace_monitor_blame(parser, written->event,
					   "events of monitors are not monitored", -EINVAL);
	written->call = call;
	return 0;
}

/* ---- Whom it is about ---- */

static const struct trace_event_field monitor_head_fields[] = {
	TRACE_FIELD("common_pid", int, trace_entry, pid),
};

static const struct trace_event_field *
monitor_symbol_find_field(const struct trace_event_call *call, const char *name, size_t len)
{
	for (size_t i = 0; i < call->event.nr_fields; i++) {
		const struct trace_event_field *field = &call->event.fields[i];

		if (is_same_text(field->name, trace_strlen(field->name), name, len))
			return field;
	}
	if (is_same_text(monitor_head_fields[0].name, trace_strlen(monitor_head_fields[0].name),
			 name, len))
		return &monitor_head_fields[0];
	return NULL;
}

static int key_of_field(struct monitor_parser *parser, struct written *written, const char *name,
			size_t len, const char *at)
{
	const struct trace_event_field *field = monitor_symbol_find_field(written->call, name, len);

	if (!field &&
	    (is_same_text(name, len, "common_cpu", 10) || is_same_text(name, len, "cpu", 3))) {
		written->key.kind = MONITOR_KEY_CPU;
		return 0;
	}
	if (!field)
		return trace_monitor_blame(parser, at, no_such_field, -EINVAL);
	if (field->kind != TRACE_FIELD_PLAIN || field->size != field->element_size ||
	    (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8))
		return trace_monitor_blame(parser, at, "the field is not a number", -EINVAL);
	written->key = (struct monitor_key){ .kind = MONITOR_KEY_FIELD,
					     .bytes = (uint8_t)field->size,
					     .is_signed = field->is_signed,
					     .offset = (uint16_t)field->offset };
	return 0;
}

static int find_key(struct monitor_parser *parser, struct written *written)
{
	const struct trace_monitor *monitor = parser->monitor;
	const char *name = monitor->per_field;

	if (written->field && monitor->per == MONITOR_GLOBAL)
		return trace_monitor_blame(parser, written->field,
					   "an automaton with one state for all has no fields",
					   -EINVAL);
	if (written->field)
		return key_of_field(parser, written, written->field, written->field_len,
				    written->field);
	if (monitor->per == MONITOR_GLOBAL)
		return 0;
	if (monitor->per == MONITOR_CPU) {
		written->key.kind = MONITOR_KEY_CPU;
		return 0;
	}
	if (monitor->per == MONITOR_THREAD)
		name = "common_pid";
	return key_of_field(parser, written, name, trace_strlen(name), written->event);
}

/* ---- As it is written ---- */

/* Behind what the brace at parser->at opens; NULL when nothing closes it. */
static char *end_of_filter(const struct monitor_parser *parser)
{
	uint32_t depth = 0;
	char quote = '\0';

	for (char *at = parser->at; *at; at++) {
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
	char *end;

	if (*parser->at != '{')
		return 0;
	end = end_of_filter(parser);
	if (!end)
		return trace_monitor_blame(parser, parser->at, "nothing closes this brace",
					   -EINVAL);
	written->filter = parser->at + 1;
	written->filter_len = (size_t)(end - parser->at) - 2;
	parser->at = end;
	return 0;
}

static int read_field(struct monitor_parser *parser, struct written *written)
{
	if (*parser->at != '[')
		return 0;
	parser->at++;
	trace_monitor_skip_blanks(parser);
	written->field = parser->at;
	written->field_len = trace_monitor_word_len(parser->at);
	if (!written->field_len)
		return trace_monitor_blame(parser, parser->at, "a field is expected", -EINVAL);
	parser->at += written->field_len;
	trace_monitor_skip_blanks(parser);
	if (*parser->at != ']')
		return trace_monitor_blame(parser, parser->at, "a ] is expected", -EINVAL);
	parser->at++;
	return 0;
}

static int monitor_symbol_read_word(struct monitor_parser *parser, const char **out_word,
				    size_t *out_len)
{
	trace_monitor_skip_blanks(parser);
	*out_word = parser->at;
	*out_len = trace_monitor_word_len(parser->at);
	if (!*out_len)
		return trace_monitor_blame(parser, parser->at, "an event is expected", -EINVAL);
	parser->at += *out_len;
	trace_monitor_skip_blanks(parser);
	return 0;
}

/* [LABEL=][SYSTEM:]EVENT */
static int read_names(struct monitor_parser *parser, struct written *written)
{
	int err = monitor_symbol_read_word(parser, &written->event, &written->event_len);

	written->at = written->event;
	if (!err && *parser->at == '=') {
		written->label = written->event;
		written->label_len = written->event_len;
		parser->at++;
		err = monitor_symbol_read_word(parser, &written->event, &written->event_len);
	}
	if (!err && *parser->at == ':') {
		written->system = written->event;
		written->system_len = written->event_len;
		parser->at++;
		err = monitor_symbol_read_word(parser, &written->event, &written->event_len);
	}
	return err;
}

/* ---- Symbols that there are ---- */

/* The symbol with that label; nr_symbols when there is none. */
static uint32_t find_label(const struct trace_monitor *monitor, const char *label, size_t len)
{
	uint32_t at = 0;

	while (at < monitor->nr_symbols &&
	       !is_same_text(monitor->symbols[at].label, trace_strlen(monitor->symbols[at].label),
			     label, len))
		at++;
	return at;
}

static bool is_same_key(const struct monitor_key *a, const struct monitor_key *b)
{
	return a->kind == b->kind && a->bytes == b->bytes && a->offset == b->offset;
}

static bool is_same_symbol(const struct trace_monitor *monitor, const struct monitor_symbol *symbol,
			   const struct written *written)
{
	const struct monitor_tap *tap = &monitor->taps[symbol->tap];

	return tap->call == written->call && is_same_key(&tap->key, &written->key) &&
	       is_same_text(symbol->filter_text, symbol->filter_len, written->filter,
			    written->filter_len);
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

static uint32_t tap_of(struct trace_monitor *monitor, const struct written *written)
{
	struct monitor_tap *tap = monitor->taps;
	uint32_t at = 0;

	for (; at < monitor->nr_taps; at++, tap++) {
		if (tap->call == written->call && is_same_key(&tap->key, &written->key))
			return at;
	}
	tap->call = written->call;
	tap->key = written->key;
	tap->monitor = monitor;
	tap->watch.func = trace_monitor_watch_hit;
	monitor->nr_taps++;
	return at;
}

static int compile_filter(struct monitor_parser *parser, struct monitor_symbol *symbol,
			  const struct written *written)
{
	struct expr_error error = { 0 };
	char *end;
	int err;

	if (!written->filter)
		return 0;
	end = written->filter + written->filter_len;
	*end = '\0';
	err = trace_filter_compile(&written->call->event, written->filter, &symbol->filter, &error);
	*end = '}';
	if (err && error.why)
		return trace_monitor_blame(parser, written->filter + error.pos, error.why, err);
	symbol->filter_text = written->filter;
	symbol->filter_len = written->filter_len;
	return err;
}

/* The label, or the name of the event, cut; the first alone is just that. */
static void name_symbol(struct trace_monitor *monitor, struct monitor_symbol *symbol,
			const struct written *written)
{
	const char *name = written->label ? written->label : written->event;
	size_t len = written->label ? written->label_len : written->event_len;
	uint32_t nr = 1;

	if (len > MONITOR_WORD_BYTES - 1)
		len = MONITOR_WORD_BYTES - 1;
	memcpy(symbol->label, name, len);
	symbol->label[len] = '\0';
	symbol->is_named = written->label != NULL;
	if (len > MONITOR_WORD_BYTES - 4)
		len = MONITOR_WORD_BYTES - 4;
	while (find_label(monitor, symbol->label, trace_strlen(symbol->label)) <
	       monitor->nr_symbols) {
		nr++;
		symbol->label[len] = '.';
		symbol->label[len + 1] = (char)(nr < 10 ? '0' + nr : 'a' + nr - 10);
		symbol->label[len + 2] = '\0';
	}
}

static int add_symbol(struct monitor_parser *parser, const struct written *written,
		      uint32_t *out_number)
{
	struct trace_monitor *monitor = parser->monitor;
	struct monitor_symbol *symbol = &monitor->symbols[monitor->nr_symbols];
	int err;

	if (monitor->nr_symbols == MONITOR_SYMBOLS_MAX)
		return trace_monitor_blame(parser, written->at, "there are too many events",
					   -E2BIG);
	err = compile_filter(parser, symbol, written);
	if (err)
		return err;
	name_symbol(monitor, symbol, written);
	symbol->tap = (uint8_t)tap_of(monitor, written);
	monitor->taps[symbol->tap].symbols |= 1u << monitor->nr_symbols;
	*out_number = monitor->nr_symbols++;
	return 0;
}

/* A symbol with a label of its own. */
static int add_labelled(struct monitor_parser *parser, const struct written *written,
			uint32_t *out_number)
{
	struct trace_monitor *monitor = parser->monitor;
	uint32_t at = find_label(monitor, written->label, written->label_len);

	if (written->label_len > MONITOR_WORD_BYTES - 1)
		return trace_monitor_blame(parser, written->label, "the name is too long", -EINVAL);
	if (at == monitor->nr_symbols)
		return add_symbol(parser, written, out_number);
	*out_number = at;
	if (is_same_symbol(monitor, &monitor->symbols[at], written))
		return 0;
	return trace_monitor_blame(parser, written->label, "it stands for something else already",
				   -EINVAL);
}

/* A word alone may be a label. */
static bool is_label(const struct trace_monitor *monitor, const struct written *written,
		     uint32_t *out_number)
{
	if (written->label || written->system || written->field || written->filter)
		return false;
	*out_number = find_label(monitor, written->event, written->event_len);
	return *out_number < monitor->nr_symbols && monitor->symbols[*out_number].is_named;
}

int trace_monitor_parse_symbol(struct monitor_parser *parser, uint32_t *out_number)
{
	struct written written = { 0 };
	int err = read_names(parser, &written);

	if (!err)
		err = read_field(parser, &written);
	trace_monitor_skip_blanks(parser);
	if (!err)
		err = read_filter(parser, &written);
	if (err || is_label(parser->monitor, &written, out_number))
		return err;
	err = monitor_symbol_find_event(parser, &written);
	if (!err)
		err = find_key(parser, &written);
	if (err)
		return err;
	if (written.label)
		return add_labelled(parser, &written, out_number);
	*out_number = monitor_symbol_find(parser->monitor, &written);
	if (*out_number < parser->monitor->nr_symbols)
		return 0;
	return add_symbol(parser, &written, out_number);
}
