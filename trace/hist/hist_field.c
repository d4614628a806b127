/*
 * Histograms: a field of an event with its modifier, as operations. See hist.h, hist_parse.h. Error
 * messages have Linux's words.
 */
#include "hist_parse.h"
#include "instance/array.h"
#include "print/output_fields.h"
#include "text/str.h"

#define BAD_MODIFIER "Invalid field modifier"
#define NO_FIELD     "Couldn't find field"
#define NS_PER_US    1000u

const char *const trace_hist_modifier_names[HIST_NR_MODIFIERS] = {
	[HIST_HEX] = "hex",	    [HIST_SYM] = "sym",		  [HIST_SYM_OFFSET] = "sym-offset",
	[HIST_SYSCALL] = "syscall", [HIST_EXECNAME] = "execname", [HIST_LOG2] = "log2",
	[HIST_BUCKETS] = "buckets", [HIST_USECS] = "usecs",	  [HIST_PERCENT] = "percent",
	[HIST_GRAPH] = "graph",	    [HIST_STRING] = "string",	  [HIST_STACKTRACE] = "stacktrace",
};

/* ---- Operations ---- */

int trace_hist_add_op(struct hist_parse *parse, const struct hist_op *op)
{
	struct hist *hist = parse->hist;

	if (hist->nr_ops == HIST_OPS_MAX)
		return hist_blame(parse, hist->text, "There is too much to compute");
	hist->ops[hist->nr_ops++] = *op;
	return 0;
}

int trace_hist_add_division(struct hist_parse *parse, enum hist_code code, uint64_t divisor)
{
	/* The quotient by 2^64 / divisor, rounded down, is right or 1 too small: hist_run.c. */
	struct hist_op op = { .code = (uint8_t)code, .value = divisor };

	op.magic = UINT64_MAX / divisor;
	if (UINT64_MAX % divisor == divisor - 1)
		op.magic++;
	return trace_hist_add_op(parse, &op);
}

/* ---- Fields ---- */

static const struct trace_event_field hist_head_fields[] = {
	TRACE_FIELD("common_type", unsigned short, trace_entry, type),
	TRACE_FIELD("common_flags", unsigned char, trace_entry, flags),
	TRACE_FIELD("common_preempt_count", unsigned char, trace_entry, preempt_count),
	TRACE_FIELD("common_pid", int, trace_entry, pid),
};

/* Find a field of an event by name, also in the event's head; or NULL. */
static const struct trace_event_field *hist_find_field(const struct trace_event_call *call,
						       const char *name)
{
	const struct trace_event *event = &call->event;

	for (size_t i = 0; i < event->nr_fields; i++) {
		if (trace_streq(event->fields[i].name, name))
			return &event->fields[i];
	}
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(hist_head_fields); i++) {
		if (trace_streq(hist_head_fields[i].name, name))
			return &hist_head_fields[i];
	}
	return NULL;
}

static bool is_long(const char *type)
{
	return trace_streq(type, "long") || trace_streq(type, "unsigned long");
}

/*
 * The operation that reads a number, as 8 bytes of the event. They end with the field, so that 8
 * bytes are always there, and so that shifting them brings the sign along; only fields of the head
 * may have less in front of them.
 */
static struct hist_op op_of_field(const struct trace_event_field *field)
{
	uint32_t bytes = (uint32_t)field->size, end = (uint32_t)field->offset + bytes;
	uint32_t at = end > 8 ? end - 8 : 0;

	return (struct hist_op){ .code = HIST_OP_FIELD,
				 .offset = (uint16_t)at,
				 .shift = (uint8_t)(8 * (field->offset - at)),
				 .value = field->is_signed ? UINT64_MAX
							   : UINT64_MAX >> (64 - 8 * bytes) };
}

static bool hist_field_is_number(const struct trace_event_field *field)
{
	uint32_t bytes = (uint32_t)field->size;

	return field->kind == TRACE_FIELD_PLAIN &&
	       (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
}

static int hist_field_add_number(struct hist_parse *parse, const struct trace_event_field *field,
				 struct hist_value *value, const char *at)
{
	struct hist_op op;
	int err;

	if (!hist_field_is_number(field))
		return hist_blame(parse, at, "The field has neither a number nor a text");
	value->bytes = (uint16_t)field->size;
	value->type = field->type;
	value->is_signed = field->is_signed;
	value->words = 1;
	if (field == &hist_head_fields[3])
		return hist_add_code(parse, HIST_OP_PID);
	op = op_of_field(field);
	parse->hist->uses_head |= (size_t)field->offset < sizeof(struct trace_entry);
	err = trace_hist_add_op(parse, &op);
	if (!err && field->is_address) {
		value->bytes = 8;
		err = hist_add_code(parse, HIST_OP_ADDRESS);
	}
	return err;
}

static int add_text(struct hist_parse *parse, const struct trace_event_field *field,
		    struct hist_value *value)
{
	static const uint8_t codes[] = {
		[TRACE_FIELD_PLAIN] = HIST_OP_TEXT,
		[TRACE_FIELD_DATA_LOC] = HIST_OP_DATA_TEXT,
		[TRACE_FIELD_REL_LOC] = HIST_OP_REL_TEXT,
	};
	struct hist_op op = { .code = codes[field->kind],
			      .offset = (uint16_t)field->offset,
			      .size = (uint16_t)(field->size < HIST_TEXT_MAX ? field->size
									     : HIST_TEXT_MAX) };

	op.shift = (uint8_t)(64 - 8 * ((op.size - 1u) % 8));
	value->kind = HIST_TEXT;
	value->type = field->type;
	value->bytes = HIST_TEXT_MAX;
	if (field->filter_type == FILTER_PTR_STRING)
		op.code = HIST_OP_POINTER_TEXT;
	else if (op.code == HIST_OP_TEXT && field->size && field->size < HIST_TEXT_MAX)
		value->bytes = (uint16_t)field->size;
	value->is_fixed = op.code == HIST_OP_TEXT && field->size;
	value->words = (uint16_t)((value->bytes + 7) / 8);
	return trace_hist_add_op(parse, &op);
}

static int add_stack(struct hist_parse *parse, const struct trace_event_field *field,
		     struct hist_value *value)
{
	struct hist_op op = { .code = HIST_OP_STACK };

	if (field) {
		op.code = HIST_OP_DATA_STACK;
		op.offset = (uint16_t)field->offset;
	}
	value->kind = HIST_STACK;
	value->type = "unsigned long[]";
	value->bytes = (uint16_t)(HIST_STACK_MAX * sizeof(uint64_t));
	value->words = HIST_STACK_WORDS;
	return trace_hist_add_op(parse, &op);
}

static bool hist_field_is_text(const struct trace_event_field *field, enum hist_modifier modifier)
{
	if (field->filter_type == FILTER_PTR_STRING)
		return field->kind == TRACE_FIELD_PLAIN && field->size == sizeof(char *);
	if (field->kind == TRACE_FIELD_PLAIN && !trace_field_is_array(field))
		return false;
	return trace_field_is_char(field) || (modifier == HIST_STRING && field->element_size == 1);
}

static int add_field(struct hist_parse *parse, const struct trace_event_field *field,
		     struct hist_value *value, const char *modifier)
{
	bool has_text = hist_field_is_text(field, value->modifier);
	const char *at = value->name; /* the written text up to here */

	value->field = field;
	value->name = field->name;
	if (value->modifier == HIST_STACKTRACE) {
		if (field->kind != TRACE_FIELD_DATA_LOC || !is_long(field->type))
			return hist_blame(parse, modifier, BAD_MODIFIER);
		return add_stack(parse, field, value);
	}
	if (has_text && value->modifier != HIST_PLAIN && value->modifier != HIST_STRING)
		return hist_blame(parse, modifier, BAD_MODIFIER);
	if (!has_text && value->modifier == HIST_STRING)
		return hist_blame(parse, modifier, BAD_MODIFIER);
	return has_text ? add_text(parse, field, value)
			: hist_field_add_number(parse, field, value, at);
}

/* ---- Words that are no fields ---- */

static int add_time(struct hist_parse *parse, struct hist_value *value)
{
	const struct trace_clock *clock = trace_clock_find(parse->hist->clock_name);
	int err = hist_add_code(parse, HIST_OP_TIME);

	value->name = "common_timestamp";
	value->type = "u64";
	value->is_time = true;
	value->bytes = 8;
	value->words = 1;
	parse->hist->uses_time = true;
	if (!err && value->modifier == HIST_USECS && clock && clock->is_ns)
		err = trace_hist_add_division(parse, HIST_OP_DIVIDE, NS_PER_US);
	return err;
}

/* `hist` shows the word as written. */
static int hist_field_add_cpu(struct hist_parse *parse, const char *name, struct hist_value *value)
{
	value->name = trace_streq(name, "cpu") ? "cpu" : "common_cpu";
	value->type = "unsigned int";
	value->is_cpu = true;
	value->bytes = 4;
	value->words = 1;
	return hist_add_code(parse, HIST_OP_CPU);
}

/* Compile a word that is no field. An event's own field of that name comes first. */
static int add_word(struct hist_parse *parse, const char *name, struct hist_value *value,
		    const char *modifier)
{
	if (trace_streq(name, "common_timestamp"))
		return add_time(parse, value);
	if (trace_streq(name, "common_cpu") || trace_streq(name, "cpu"))
		return hist_field_add_cpu(parse, name, value);
	if (trace_streq(name, "common_comm") || trace_streq(name, "comm")) {
		value->name = "common_comm";
		value->kind = HIST_TEXT;
		value->type = "char[]";
		value->bytes = TRACE_COMM_LEN;
		value->is_fixed = true;
		value->words = HIST_COMM_WORDS;
		return modifier ? hist_blame(parse, modifier, BAD_MODIFIER)
				: hist_add_code(parse, HIST_OP_COMM);
	}
	if (trace_streq(name, "common_stacktrace") || trace_streq(name, "stacktrace")) {
		value->name = trace_streq(name, "stacktrace") ? "stacktrace" : "common_stacktrace";
		if (modifier && value->modifier != HIST_STACKTRACE)
			return hist_blame(parse, modifier, BAD_MODIFIER);
		return add_stack(parse, NULL, value);
	}
	return hist_blame(parse, name, NO_FIELD);
}

/* ---- Modifiers ---- */

static int parse_buckets(struct hist_parse *parse, char *text, struct hist_value *value)
{
	size_t len = trace_str_starts(text, "buckets") ? 7 : 6;

	value->modifier = HIST_BUCKETS;
	if (text[len] != '=')
		return hist_blame(parse, text, BAD_MODIFIER);
	if (trace_parse_u64(text + len + 1, 0, &value->buckets) || !value->buckets)
		return hist_blame(parse, text + len + 1, BAD_MODIFIER);
	return 0;
}

static int parse_modifier(struct hist_parse *parse, const char *name, char *text,
			  struct hist_value *value)
{
	char *third = text;

	/* SYSTEM.EVENT.$VARIABLE is the only word with two points. */
	while (*third && *third != '.')
		third++;
	if (*third)
		return hist_blame(parse, third + 1, NO_FIELD);
	if (trace_str_starts(text, "bucket"))
		return parse_buckets(parse, text, value);
	for (uint32_t i = HIST_HEX; i < HIST_NR_MODIFIERS; i++) {
		if (i == HIST_BUCKETS || !trace_streq(text, trace_hist_modifier_names[i]))
			continue;
		if (i == HIST_EXECNAME && !trace_streq(name, "common_pid"))
			break;
		if (i == HIST_USECS && !trace_streq(name, "common_timestamp"))
			break;
		value->modifier = (uint8_t)i;
		return 0;
	}
	return hist_blame(parse, text, BAD_MODIFIER);
}

static int add_modifier(struct hist_parse *parse, struct hist_value *value)
{
	if (value->modifier == HIST_LOG2)
		return hist_add_code(parse, HIST_OP_LOG2);
	if (value->modifier == HIST_BUCKETS)
		return trace_hist_add_division(parse, HIST_OP_ROUND, value->buckets);
	return 0;
}

int trace_hist_compile_field(struct hist_parse *parse, char *text, struct hist_value *value)
{
	const struct trace_event_field *field;
	char *modifier = text;
	int err = 0;

	value->name = text;
	while (*modifier && *modifier != '.')
		modifier++;
	if (*modifier) {
		*modifier++ = '\0';
		err = parse_modifier(parse, text, modifier, value);
	} else {
		modifier = NULL;
	}
	if (err)
		return err;
	field = hist_find_field(parse->file->call, text);
	err = field ? add_field(parse, field, value, modifier)
		    : add_word(parse, text, value, modifier);
	if (!err && value->kind == HIST_NUMBER)
		err = add_modifier(parse, value);
	return err;
}

bool trace_hist_is_field_of(const struct trace_event_call *call, const char *text)
{
	static const char *const words[] = { "common_timestamp", "common_cpu", "cpu",
					     "common_comm",	 "comm",       "common_stacktrace",
					     "stacktrace" };
	char name[64];
	size_t len = 0;

	while (text[len] && text[len] != '.' && len < sizeof(name) - 1)
		len++;
	trace_strcpy(name, text, len + 1);
	for (size_t i = 0; i < TRACE_ARRAY_SIZE(words); i++) {
		if (trace_streq(name, words[i]))
			return true;
	}
	return hist_find_field(call, name);
}
