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

/* Has an argument in front of it, or a field that all events have, the name of this one? */
static bool is_used(const struct probe_arg *arg)
{
	static const char *const reserved[] = { "common_type", "common_flags",
						"common_preempt_count", "common_pid",
						"common_tgid" };
	const struct probe_definition *definition = arg->definition;
	struct probe_arg other;

	trace_probe_arg_begin(&other, definition);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(reserved); i++) {
		if (trace_expr_is(&arg->name, reserved[i]))
			return true;
	}
	for (uint32_t i = 0; i < definition->kind->nr_fields; i++) {
		if (trace_expr_is(&arg->name, definition->kind->fields[i].name))
			return true;
	}
	while (trace_probe_arg_next(&other) > 0 && other.nr < arg->nr) {
		if (trace_expr_same(&other.name, &arg->name))
			return true;
	}
	return false;
}

static int probe_args_check_name(const struct probe_arg *arg)
{
	if (arg->name.len > FETCH_NAME_MAX)
		return trace_probe_refuse(arg->definition, arg->word.at,
					  "Argument name is too long");
	if (!trace_expr_is_name(&arg->name))
		return trace_probe_refuse(
			arg->definition, arg->word.at,
			"Argument name must follow the same rules as C identifiers");
	if (is_used(arg))
		return trace_probe_refuse(arg->definition, arg->word.at,
					  "This argument name is already used");
	return 0;
}

static int measure_arg(const struct probe_arg *arg, struct fetch_build *build,
		       struct probe_size *size)
{
	struct fetch_parsed parsed;
	int err = trace_fetch_parse(build, &arg->word, &parsed);

	if (!err)
		err = probe_args_check_name(arg);
	if (err)
		return err;
	if (build->bytes > RING_MAX_PAYLOAD)
		return trace_probe_refuse(arg->definition, arg->word.at,
					  "The event does not fit in the buffer");
	size->arg_name_bytes += arg->name.len + 1;
	size->args_bytes += 1 + arg->name.len + 1 + parsed.body.len; /* ` name=body` */
	size->nr_args++;
	return 0;
}

/* Are the arguments there that are written by number? 0 or -errno after blaming. */
static int check_numbers(const struct probe_definition *definition)
{
	struct probe_arg arg;
	int result;

	trace_probe_arg_begin(&arg, definition);
	do
		result = trace_probe_arg_next(&arg);
	while (result > 0);
	return result;
}

/* A word of the head that is a register is copied as an argument is. */
static void add_head(struct fetch_build *build, const struct probe_kind *kind)
{
	if (kind->head_register)
		trace_fetch_add_register(build, kind->head_register,
					 kind->head_bytes - (uint32_t)sizeof(uint64_t));
}

int trace_probe_measure(const struct probe_definition *definition, struct probe_size *size)
{
	struct fetch_build build = { .context = &definition->context,
				     .error = definition->error,
				     .bytes = definition->kind->head_bytes };
	struct probe_arg arg;
	int err = check_numbers(definition);

	add_head(&build, definition->kind);
	trace_probe_arg_begin(&arg, definition);
	while (!err && trace_probe_arg_next(&arg) > 0) {
		if (size->nr_args == FETCH_ARGS_MAX)
			return trace_probe_blame(definition, arg.written.at,
						 "Too many arguments are specified", -E2BIG);
		err = trace_probe_arg_blame(&arg, measure_arg(&arg, &build, size));
	}
	size->group_bytes = definition->group.len + 1;
	size->name_bytes = definition->name.len + 1;
	size->is_gathered = definition->context.place == FETCH_AT_RETURN &&
			    (build.entry_args || build.has_all_registers);
	size->counted = build;
	size->event_bytes = build.bytes > FIXED_MIN ? build.bytes : FIXED_MIN;
	size->place_bytes = definition->listed.len + 1;
	size->args_bytes++;
	return err;
}

/* Write the arguments as listed: ` name=body` for each. The memory is zeroed. */
static void probe_args_put(const struct probe_definition *definition, char *to)
{
	struct probe_arg arg;

	trace_probe_arg_begin(&arg, definition);
	while (trace_probe_arg_next(&arg) > 0) {
		*to++ = ' ';
		if (arg.name.at != arg.word.at || arg.name.len == arg.word.len ||
		    arg.word.at[arg.name.len] != '=') {
			to = trace_expr_put(to, &arg.name);
			*to++ = '=';
		}
		to = trace_expr_put(to, &arg.word);
	}
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
		       (size->counted.nr_copies + size->counted.nr_words) *
			       sizeof(struct fetch_copy) +
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

/* ---- Memory of an event ---- */

/* For `format`, filters and histograms. */
static void probe_args_describe(const struct fetch_parsed *arg, const char *name,
				struct trace_event_field *out)
{
	bool is_text = fetch_is_text(arg->type);

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

/* An event without arguments has the fields of its kind, which it need not keep. */
static size_t nr_own_fields(const struct probe_kind *kind, const struct probe_size *size)
{
	return size->nr_args ? kind->nr_fields + size->nr_args : 0;
}

static struct trace_event_field *own_fields(struct probe_event *event)
{
	return (struct trace_event_field *)(event->args + event->nr_args);
}

size_t trace_probe_event_bytes(const struct probe_definition *definition,
			       const struct probe_size *size)
{
	return aligned(sizeof(struct probe_event) + size->nr_args * sizeof(struct fetch_arg) +
		       nr_own_fields(definition->kind, size) * sizeof(struct trace_event_field) +
		       size->group_bytes + size->name_bytes + size->arg_name_bytes);
}

/* Fill in all but its arguments. Returns the place for their names. */
static char *probe_args_fill_event(struct probe_event *event,
				   const struct probe_definition *definition,
				   const struct probe_size *size)
{
	const struct probe_kind *kind = definition->kind;
	struct trace_event *type = &event->call.event;
	char *text;

	event->kind = kind;
	event->nr_args = size->nr_args;
	event->call.event_class = kind->event_class;
	text = (char *)(own_fields(event) + nr_own_fields(kind, size));
	type->system = text;
	type->name = trace_expr_put(text, &definition->group) + 1;
	text = trace_expr_put(text + size->group_bytes, &definition->name) + 1;
	type->fields = size->nr_args ? own_fields(event) : kind->fields;
	type->nr_fields = kind->nr_fields + size->nr_args;
	type->funcs = &trace_probe_functions;
	if (size->nr_args)
		memcpy(own_fields(event), kind->fields, kind->nr_fields * sizeof(*kind->fields));
	return text;
}

/* ---- Both ---- */

/* Read the arguments as listed at `rest`: steps of the probe, fields of the event. */
static void fill_args(struct fetch_build *build, const char *rest, struct probe_event *event,
		      char *name)
{
	struct trace_event_field *field = own_fields(event) + event->kind->nr_fields;
	struct fetch_arg *arg = event->args;
	struct fetch_parsed parsed;
	struct expr_word word;

	while ((word = trace_expr_next_word(&rest, '\0')).len) {
		(void)trace_fetch_parse(build, &word, &parsed);
		*arg++ = (struct fetch_arg){ parsed.type, (uint16_t)parsed.count };
		probe_args_describe(&parsed, name, field++);
		name = trace_expr_put(name, &parsed.name) + 1;
	}
}

static void set_plain(struct probe *probe, const struct fetch_build *build,
		      const struct probe_size *size)
{
	probe->is_plain = !build->nr_texts && size->event_bytes <= TRACE_EVENT_SHORT &&
			  build->bytes == size->event_bytes && size->event_bytes % 4 == 0;
	probe->plain_flags = probe->is_plain ? TRACE_EVENT_RECORDS : UINT32_MAX;
	probe->trigger_flags =
		probe->is_plain && !probe->program.is_more ? TRACE_EVENT_TRIGGERS : UINT32_MAX;
	probe->step = TRACE_EVENT_STEP((uint64_t)size->event_bytes);
}

int trace_probe_fill(struct probe *probe, struct probe_event *event,
		     const struct probe_definition *definition, const struct probe_size *size)
{
	const struct probe_kind *kind = definition->kind;
	struct fetch_copy *copies =
		(struct fetch_copy *)((char *)probe + probe_args_head_bytes(kind));
	struct fetch_build build = { .context = &definition->context,
				     .error = definition->error,
				     .bytes = kind->head_bytes };
	int err = trace_fetch_create(&build, &size->counted, copies);
	char *text = (char *)(build.words + size->counted.nr_words);

	text = trace_expr_put(text, &definition->listed) + 1;
	probe_args_put(definition, text);
	add_head(&build, kind);
	fill_args(&build, text, event, probe_args_fill_event(event, definition, size));
	if (!err)
		err = trace_fetch_finish(&build, &probe->program);
	probe->program.fixed_bytes = (uint16_t)size->event_bytes;
	memcpy(&probe->target, &definition->target, kind->target_bytes);
	set_plain(probe, &build, size);
	probe->has_all_registers = build.has_all_registers;
	probe->entry_args = build.entry_args;
	probe->dyn.kind = kind->dyn_kind;
	return err;
}
