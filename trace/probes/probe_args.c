/*
 * The arguments of a probe's line, and their memory. See probe.h. Error messages have
 * Linux's words.
 *
 * An argument is read twice: to measure its memory, and, from its copy in that memory, to make its
 * steps.
 */
#include <trace/platform.h>
#include <trace/ring_buffer.h>
#include "probe.h"
#include "text/str.h"

/* least size of an event: copies of it take at least a word behind the head */
#define FIXED_MIN 12u
#define NAME_ROOM (FETCH_NAME_MAX + 1)

/* The part in front of the first `end`, or all of it without one. */
static struct expr_word part_before(const struct expr_word *word, char end)
{
	struct expr_word part = { word->at, 0 };

	while (part.len < word->len && word->at[part.len] != end)
		part.len++;
	return part;
}

static bool is_good_name(const struct expr_word *name)
{
	for (size_t i = 0; i < name->len; i++) {
		char c = name->at[i];
		bool is_letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!is_letter && (!i || c < '0' || c > '9'))
			return false;
	}
	return name->len;
}

/*
 * The name of an argument. Without one a variable is called as it is; all else arg1, arg2 and so
 * on.
 */
static struct expr_word probe_args_name_of(const struct expr_word *word, uint32_t index, char *room)
{
	struct expr_word name = part_before(word, '=');
	char digits[4];
	uint32_t nr = 0;

	if (name.len < word->len)
		return name;
	name = part_before(word, ':');
	if (is_good_name(&name))
		return name;
	trace_strcpy(room, "arg", NAME_ROOM);
	name = (struct expr_word){ room, 3 };
	for (index++; index; index /= 10)
		digits[nr++] = (char)('0' + index % 10);
	while (nr)
		room[name.len++] = digits[--nr];
	return name;
}

/* Has an argument in front of number `index`, or a field that all events have, that name? */
static bool is_used(const struct probe_definition *definition, const struct expr_word *name,
		    uint32_t index)
{
	static const char *const reserved[] = { "common_type", "common_flags",
						"common_preempt_count", "common_pid",
						"common_tgid" };
	const struct probe_kind *kind = definition->kind;
	const char *rest = definition->args;
	char room[NAME_ROOM];

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(reserved); i++) {
		if (trace_expr_is(name, reserved[i]))
			return true;
	}
	for (uint32_t i = 0; i < kind->nr_fields; i++) {
		if (trace_expr_is(name, kind->fields[i].name))
			return true;
	}
	for (uint32_t i = 0; i < index; i++) {
		struct expr_word word = trace_expr_next_word(&rest, '\0'),
				 other = probe_args_name_of(&word, i, room);

		if (trace_expr_same(&other, name))
			return true;
	}
	return false;
}

static int probe_args_check_name(const struct probe_definition *definition,
				 const struct expr_word *word, uint32_t index)
{
	char room[NAME_ROOM];
	struct expr_word name = probe_args_name_of(word, index, room);

	if (!is_good_name(&name))
		return trace_probe_refuse(
			definition, word->at,
			"Argument name must follow the same rules as C identifiers");
	if (is_used(definition, &name, index))
		return trace_probe_refuse(definition, word->at,
					  "This argument name is already used");
	return 0;
}

static int measure_arg(const struct probe_definition *definition, struct fetch_build *build,
		       const struct expr_word *word, struct probe_size *size)
{
	char room[NAME_ROOM];
	struct fetch_parsed parsed;
	int err = trace_fetch_parse(build, word, &parsed);

	if (!err)
		err = probe_args_check_name(definition, word, size->nr_args);
	if (err)
		return err;
	if (build->bytes > RING_MAX_PAYLOAD)
		return trace_probe_refuse(definition, word->at,
					  "The event does not fit in the buffer");
	parsed.name = probe_args_name_of(word, size->nr_args, room);
	size->arg_name_bytes += parsed.name.len + 1;
	size->args_bytes += 1 + parsed.name.len + 1 + parsed.body.len; /* ` name=body` */
	size->nr_args++;
	return 0;
}

/* Go through the arguments without keeping them. 0 or -errno after blaming. */
int trace_probe_measure(const struct probe_definition *definition, struct probe_size *size)
{
	struct fetch_build build = { .context = &definition->context,
				     .error = definition->error,
				     .bytes = definition->kind->head_bytes };
	const char *rest = definition->args;
	struct expr_word word;
	int err = 0;

	while (!err && (word = trace_expr_next_word(&rest, '\0')).len) {
		if (size->nr_args == FETCH_ARGS_MAX)
			return trace_probe_blame(definition, word.at,
						 "Too many arguments are specified", -E2BIG);
		err = measure_arg(definition, &build, &word, size);
	}
	size->group_bytes = definition->group.len + 1;
	size->name_bytes = definition->name.len + 1;
	size->is_gathered = definition->context.place == FETCH_AT_RETURN &&
			    (build.entry_args || build.has_all_registers);
	size->nr_ops = build.nr_ops;
	size->nr_copies = build.nr_copies;
	size->nr_words = build.nr_words;
	size->event_bytes = build.bytes > FIXED_MIN ? build.bytes : FIXED_MIN;
	size->place_bytes = definition->listed.len + 1;
	size->args_bytes++;
	return err;
}

static char *probe_args_put_word(char *to, const struct expr_word *word)
{
	memcpy(to, word->at, word->len);
	return to + word->len;
}

/* Write the arguments as listed: ` name=body` for each. Returns the place behind the NUL. */
static char *probe_args_put(const struct probe_definition *definition, char *to)
{
	const char *rest = definition->args;
	struct expr_word word, name;
	char room[NAME_ROOM];

	for (uint32_t i = 0; (word = trace_expr_next_word(&rest, '\0')).len; i++) {
		name = probe_args_name_of(&word, i, room);
		*to++ = ' ';
		to = probe_args_put_word(to, &name);
		*to++ = '=';
		if (name.len < word.len && name.at == word.at && word.at[name.len] == '=') {
			word.at += name.len + 1;
			word.len -= name.len + 1;
		}
		to = probe_args_put_word(to, &word);
	}
	*to = '\0';
	return to + 1;
}

/* ---- Memory of a probe ---- */

static size_t aligned(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* Bytes in front of a probe's own data. */
static size_t probe_args_head_bytes(const struct probe_kind *kind)
{
	return offsetof(struct probe, target) + aligned(kind->target_bytes);
}

size_t trace_probe_bytes(const struct probe_definition *definition, const struct probe_size *size)
{
	return aligned(probe_args_head_bytes(definition->kind) +
		       size->nr_ops * sizeof(struct fetch_op) +
		       (size->nr_copies + size->nr_words) * sizeof(struct fetch_copy) +
		       size->place_bytes + size->args_bytes);
}

/* The texts are behind the last of the copies. */
const char *trace_probe_place_text(const struct probe *probe)
{
	return (const char *)(probe->program.copies_end + probe->program.nr_words);
}

const char *trace_probe_args_text(const struct probe *probe)
{
	const char *place = trace_probe_place_text(probe);

	return place + trace_strlen(place) + 1;
}

/* Fill in a probe whose memory is zeroed, and has its own data behind it. */
void trace_probe_fill(struct probe *probe, const struct probe_definition *definition,
		      const struct probe_size *size)
{
	const struct probe_kind *kind = definition->kind;
	struct fetch_op *ops = (struct fetch_op *)((char *)probe + probe_args_head_bytes(kind));
	struct fetch_copy *copies = (struct fetch_copy *)(ops + size->nr_ops);
	struct fetch_copy *words = copies + size->nr_copies;
	char *text = (char *)(words + size->nr_words);
	struct fetch_build build = { .context = &definition->context,
				     .error = definition->error,
				     .ops = ops,
				     .copies = copies,
				     .words = words,
				     .bytes = kind->head_bytes };
	struct fetch_parsed parsed;
	struct expr_word word;

	text = probe_args_put_word(text, &definition->listed) + 1;
	(void)probe_args_put(definition, text);
	for (const char *rest = text; (word = trace_expr_next_word(&rest, '\0')).len;)
		(void)trace_fetch_parse(&build, &word, &parsed);
	probe->program = (struct fetch_program){ .copies = copies,
						 .copies_end = words,
						 .ops = ops,
						 .is_more = build.nr_words || build.nr_ops,
						 .nr_words = (uint8_t)build.nr_words,
						 .nr_ops = (uint16_t)build.nr_ops,
						 .nr_texts = (uint16_t)build.nr_texts,
						 .fixed_bytes = (uint16_t)size->event_bytes };
	memcpy(&probe->target, &definition->target, kind->target_bytes);
	probe->is_plain = !build.nr_texts && size->event_bytes <= TRACE_EVENT_SHORT &&
			  build.bytes == size->event_bytes && size->event_bytes % 4 == 0;
	probe->plain_flags = probe->is_plain ? TRACE_EVENT_RECORDS : UINT32_MAX;
	probe->trigger_flags =
		probe->is_plain && !probe->program.is_more ? TRACE_EVENT_TRIGGERS : UINT32_MAX;
	probe->step = TRACE_EVENT_STEP((uint64_t)size->event_bytes);
	probe->has_all_registers = build.has_all_registers;
	probe->entry_args = build.entry_args;
	probe->dyn.kind = kind->dyn_kind;
}

/* ---- Memory of an event ---- */

/* For `format`, filters and histograms. */
static void probe_args_describe(const struct fetch_parsed *arg, const char *name,
				struct trace_event_field *out)
{
	bool is_text = arg->type->kind == FETCH_TEXT || arg->type->kind == FETCH_SYMBOL_TEXT;

	*out = (struct trace_event_field){ .name = name,
					   .type = arg->type->field,
					   .offset = arg->at,
					   .size = arg->type->size,
					   .element_size = arg->type->size,
					   .is_signed = arg->type->is_signed };
	if (is_text && !arg->count) {
		out->kind = TRACE_FIELD_DATA_LOC;
		out->element_size = 1;
	} else if (arg->count) {
		out->size *= arg->count;
		out->type = is_text ? "__data_loc char[]" : arg->type->field;
	}
}

/* Fill in arguments and fields, with the names of arguments at `text`. */
static void fill_args(const struct probe_definition *definition, struct fetch_arg *args,
		      struct trace_event_field *fields, char *text)
{
	struct fetch_build build = { .context = &definition->context,
				     .error = definition->error,
				     .bytes = definition->kind->head_bytes };
	const char *rest = definition->args;
	struct fetch_parsed parsed;
	struct expr_word word;
	char room[NAME_ROOM];

	for (uint32_t i = 0; (word = trace_expr_next_word(&rest, '\0')).len; i++) {
		(void)trace_fetch_parse(&build, &word, &parsed);
		word = probe_args_name_of(&word, i, room);
		args[i] = (struct fetch_arg){ parsed.type, (uint16_t)parsed.count };
		probe_args_describe(&parsed, text, &fields[i]);
		text = probe_args_put_word(text, &word) + 1;
	}
}

/* An event without arguments has the fields of its kind, which it need not keep. */
static size_t nr_own_fields(const struct probe_kind *kind, const struct probe_size *size)
{
	return size->nr_args ? kind->nr_fields + size->nr_args : 0;
}

size_t trace_probe_event_bytes(const struct probe_definition *definition,
			       const struct probe_size *size)
{
	return aligned(sizeof(struct probe_event) + size->nr_args * sizeof(struct fetch_arg) +
		       nr_own_fields(definition->kind, size) * sizeof(struct trace_event_field) +
		       size->group_bytes + size->name_bytes + size->arg_name_bytes);
}

/* Fill in an event whose memory is zeroed, and has its own data behind it. */
void trace_probe_fill_event(struct probe_event *event, const struct probe_definition *definition,
			    const struct probe_size *size)
{
	const struct probe_kind *kind = definition->kind;
	struct trace_event_field *fields =
		(struct trace_event_field *)(event->args + size->nr_args);
	char *text = (char *)(fields + nr_own_fields(kind, size));

	event->kind = kind;
	event->nr_args = size->nr_args;
	event->call.event_class = kind->event_class;
	event->call.event.system = text;
	text = probe_args_put_word(text, &definition->group) + 1;
	event->call.event.name = text;
	text = probe_args_put_word(text, &definition->name) + 1;
	event->call.event.fields = size->nr_args ? fields : kind->fields;
	event->call.event.nr_fields = kind->nr_fields + size->nr_args;
	event->call.event.funcs = &trace_probe_functions;
	if (!size->nr_args)
		return;
	memcpy(fields, kind->fields, kind->nr_fields * sizeof(*fields));
	fill_args(definition, event->args, fields + kind->nr_fields, text);
}
