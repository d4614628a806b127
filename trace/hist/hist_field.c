/*
 * Histograms: a field of an event with its modifier, as instructions. See hist.h, hist_parse.h. Error
 * messages have Linux's words.
 */
#include "hist_parse.h"
#include "hist_user.h"
#include "instance/array.h"
#include "print/output_fields.h"
#include "text/str.h"

#define BAD_MODIFIER "Invalid field modifier"
#define NO_FIELD     "Couldn't find field"
#define NS_PER_US    1000u
#define USER_STACK   ((enum expr_place)HIST_PLACE_USER_STACK)

const char *const trace_hist_modifier_names[HIST_NR_MODIFIERS] = {
	[HIST_HEX] = "hex",	    [HIST_SYM] = "sym",		  [HIST_SYM_OFFSET] = "sym-offset",
	[HIST_SYSCALL] = "syscall", [HIST_EXECNAME] = "execname", [HIST_LOG2] = "log2",
	[HIST_BUCKETS] = "buckets", [HIST_USECS] = "usecs",	  [HIST_PERCENT] = "percent",
	[HIST_GRAPH] = "graph",	    [HIST_STRING] = "string",	  [HIST_STACKTRACE] = "stacktrace",
};

/* ---- Instructions ---- */

struct expr_insn *trace_hist_add_own(struct hist_parse *parse, enum hist_step_kind kind)
{
	struct expr_insn *insn = hist_add(parse, EXPR_OWN);

	insn->step = trace_hist_steps[kind];
	return insn;
}

int trace_hist_end_value(struct hist_parse *parse)
{
	struct expr_build *build = &parse->build;

	if (build->is_full || build->program->nr - parse->nr_ended++ > HIST_INSNS_MAX)
		return hist_blame(parse, parse->hist->text, "There is too much to compute");
	(void)trace_expr_add(build, EXPR_END);
	return 0;
}

/* ---- Fields ---- */

static bool is_long(const char *type)
{
	return trace_streq(type, "long") || trace_streq(type, "unsigned long");
}

static bool hist_field_is_number(const struct trace_event_field *field)
{
	uint32_t bytes = (uint32_t)field->size;

	return field->kind == TRACE_FIELD_PLAIN &&
	       (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
}

static int hist_field_add_number(struct hist_parse *parse, const struct expr_value *found,
				 struct hist_value *value, const char *at)
{
	const struct trace_event_field *field = found->field;
	struct expr_value number = *found;

	if (!hist_field_is_number(field))
		return hist_blame(parse, at, "The field has neither a number nor a text");
	value->bytes = (uint16_t)field->size;
	value->type = field->type;
	value->is_signed = field->is_signed;
	value->words = 1;
	number.class = EXPR_CLASS_NUMBER;
	if (found->offset == offsetof(struct trace_entry, pid)) {
		(void)hist_add(parse, EXPR_PID);
		return 0;
	}
	trace_expr_add_load(&parse->build, &number);
	if (field->is_address) {
		value->bytes = 8;
		(void)hist_add(parse, EXPR_ADDRESS);
	}
	return 0;
}

/* Add the instruction of a text or stack. */
static struct expr_insn *hist_field_add_words(struct hist_parse *parse,
					      const struct expr_value *found,
					      struct hist_value *value, enum hist_kind kind)
{
	struct expr_insn *insn;

	insn = trace_expr_add_place(&parse->build, EXPR_OWN, found);
	insn->step = trace_hist_steps[HIST_STEP_WORDS];
	value->kind = (uint8_t)kind;
	value->words = (uint16_t)((value->bytes + 7) / 8);
	insn->with.len = value->words;
	return insn;
}

static int add_text(struct hist_parse *parse, const struct expr_value *found,
		    struct hist_value *value)
{
	const struct trace_event_field *field = found->field;
	struct expr_value text = *found;
	struct expr_insn *insn;

	if (field->filter_type == FILTER_PTR_STRING)
		text.place = EXPR_PLACE_POINTER;
	value->is_fixed = text.place == EXPR_PLACE_FIELD;
	value->type = field->type;
	value->bytes = HIST_TEXT_MAX;
	if (value->is_fixed && field->size < HIST_TEXT_MAX)
		value->bytes = (uint16_t)field->size;
	insn = hist_field_add_words(parse, &text, value, HIST_TEXT);
	insn->with.size = value->bytes;
	/* Of the last word of a text of 10 to 16 bytes, for hist_plain.c. */
	insn->shift = (uint8_t)(64 - 8 * ((value->bytes - 1u) % 8));
	return 0;
}

static int add_stack(struct hist_parse *parse, const struct expr_value *found,
		     struct hist_value *value)
{
	struct expr_value stack = *found;

	stack.place = (enum expr_place)(found->field ? HIST_PLACE_DATA_STACK : HIST_PLACE_STACK);
	value->type = "unsigned long[]";
	value->bytes = (uint16_t)(HIST_STACK_MAX * sizeof(uint64_t));
	hist_field_add_words(parse, &stack, value, HIST_STACK)->with.len = HIST_STACK_WORDS;
	value->words = HIST_STACK_WORDS;
	return 0;
}

static int add_user_stack(struct hist_parse *parse, const struct expr_value *found,
			  struct hist_value *value)
{
	value->type = "unsigned long[]";
	value->bytes = (uint16_t)sizeof(struct hist_user_stack);
	(void)hist_field_add_words(parse, found, value, HIST_USER_STACK);
	return 0;
}

static bool hist_field_is_text(const struct trace_event_field *field, enum hist_modifier modifier)
{
	if (field->filter_type == FILTER_PTR_STRING)
		return field->kind == TRACE_FIELD_PLAIN && field->size == sizeof(char *);
	if (field->kind == TRACE_FIELD_PLAIN && !trace_field_is_array(field))
		return false;
	return trace_field_is_char(field) || (modifier == HIST_STRING && field->element_size == 1);
}

/*
 * A written field: the name; the place of its modifier, NULL for none; and the meaning.
 */
struct hist_written {
	struct expr_word name;
	const char *modifier;
	struct expr_value found;
};

static int add_field(struct hist_parse *parse, const struct hist_written *written,
		     struct hist_value *value)
{
	const struct expr_value *found = &written->found;
	const struct trace_event_field *field = found->field;
	bool has_text = hist_field_is_text(field, value->modifier);

	value->field = field;
	value->name = field->name;
	if (value->modifier == HIST_STACKTRACE) {
		if (field->kind != TRACE_FIELD_DATA_LOC || !is_long(field->type))
			return hist_blame(parse, written->modifier, BAD_MODIFIER);
		return add_stack(parse, found, value);
	}
	if (has_text && value->modifier != HIST_PLAIN && value->modifier != HIST_STRING)
		return hist_blame(parse, written->modifier, BAD_MODIFIER);
	if (!has_text && value->modifier == HIST_STRING)
		return hist_blame(parse, written->modifier, BAD_MODIFIER);
	return has_text ? add_text(parse, found, value)
			: hist_field_add_number(parse, found, value, written->name.at);
}

/* ---- Words that are no fields ---- */

/* An event's own field of that name comes first. */
static const struct expr_named hist_words[] = {
	{ "common_timestamp", { .class = EXPR_CLASS_OTHER } },
	{ "common_cpu", { .class = EXPR_CLASS_CPU } },
	{ "cpu", { .class = EXPR_CLASS_CPU } },
	{ "common_comm", { .class = EXPR_CLASS_TEXT, .place = EXPR_PLACE_COMM } },
	{ "comm", { .class = EXPR_CLASS_TEXT, .place = EXPR_PLACE_COMM } },
	{ "common_stacktrace", { .class = EXPR_CLASS_STACK } },
	{ "stacktrace", { .class = EXPR_CLASS_STACK } },
	{ "common_ustacktrace", { .class = EXPR_CLASS_STACK, .place = USER_STACK } },
	{ "ustacktrace", { .class = EXPR_CLASS_STACK, .place = USER_STACK } },
};

static void add_time(struct hist_parse *parse, struct hist_value *value)
{
	const struct trace_clock *clock = trace_clock_find(parse->hist->clock_name);

	(void)trace_hist_add_own(parse, HIST_STEP_TIME);
	value->type = "u64";
	value->is_time = true;
	value->bytes = 8;
	value->words = 1;
	parse->hist->uses_time = true;
	if (value->modifier == HIST_USECS && clock && clock->is_ns)
		trace_expr_add_division(&parse->build, EXPR_DIVIDE, NS_PER_US);
}

static void hist_field_add_cpu(struct hist_parse *parse, struct hist_value *value)
{
	value->type = "unsigned int";
	value->is_cpu = true;
	value->bytes = 4;
	value->words = 1;
	(void)hist_add(parse, EXPR_CPU);
}

/* Compile a word that is no field; `hist` shows all but `comm` as written. */
static int add_word(struct hist_parse *parse, const struct hist_written *written,
		    struct hist_value *value)
{
	const struct expr_value *found = &written->found;

	value->name = trace_hist_name_of(parse->hist, &written->name);
	switch (found->class) {
	case EXPR_CLASS_CPU:
		hist_field_add_cpu(parse, value);
		return 0;
	case EXPR_CLASS_TEXT:
		value->name = "common_comm";
		value->type = "char[]";
		value->bytes = TRACE_COMM_LEN;
		value->is_fixed = true;
		(void)hist_field_add_words(parse, found, value, HIST_TEXT);
		return written->modifier ? hist_blame(parse, written->modifier, BAD_MODIFIER) : 0;
	case EXPR_CLASS_STACK:
		if (written->modifier && value->modifier != HIST_STACKTRACE)
			return hist_blame(parse, written->modifier, BAD_MODIFIER);
		return found->place == USER_STACK ? add_user_stack(parse, found, value)
						  : add_stack(parse, found, value);
	default:
		add_time(parse, value);
		return 0;
	}
}

static bool hist_field_find(const struct trace_event_call *call, const struct expr_word *name,
			    struct expr_value *out_found)
{
	const struct expr_names names = { .event = &call->event,
					  .words = hist_words,
					  .nr_words = TRACE_ARRAY_SIZE(hist_words) };

	return trace_expr_find_in_event(&names, name, out_found);
}

/* ---- Modifiers ---- */

static int parse_buckets(struct hist_parse *parse, const struct expr_word *text,
			 struct hist_value *value)
{
	struct expr_word number = expr_behind(text, trace_expr_starts(text, "buckets") ? 7 : 6);

	value->modifier = HIST_BUCKETS;
	if (!expr_take(&number, '='))
		return hist_blame(parse, text->at, BAD_MODIFIER);
	if (trace_expr_number(&number, 0, false, &value->buckets) || !value->buckets)
		return hist_blame(parse, number.at, BAD_MODIFIER);
	return 0;
}

static int parse_modifier(struct hist_parse *parse, const struct expr_word *name,
			  const struct expr_word *text, struct hist_value *value)
{
	struct expr_word third = *text;

	/* SYSTEM.EVENT.$VARIABLE is the only word with two points. */
	(void)expr_take_until(&third, ".");
	if (expr_take(&third, '.'))
		return hist_blame(parse, third.at, NO_FIELD);
	if (trace_expr_starts(text, "bucket"))
		return parse_buckets(parse, text, value);
	for (uint32_t i = HIST_HEX; i < HIST_NR_MODIFIERS; i++) {
		if (i == HIST_BUCKETS || !trace_expr_is(text, trace_hist_modifier_names[i]))
			continue;
		if (i == HIST_EXECNAME && !trace_expr_is(name, "common_pid"))
			break;
		if (i == HIST_USECS && !trace_expr_is(name, "common_timestamp"))
			break;
		value->modifier = (uint8_t)i;
		return 0;
	}
	return hist_blame(parse, text->at, BAD_MODIFIER);
}

static void add_modifier(struct hist_parse *parse, const struct hist_value *value)
{
	if (value->modifier == HIST_LOG2)
		(void)hist_add(parse, EXPR_LOG2);
	if (value->modifier == HIST_BUCKETS)
		trace_expr_add_division(&parse->build, EXPR_ROUND, value->buckets);
}

int trace_hist_compile_field(struct hist_parse *parse, const struct expr_word *text,
			     struct hist_value *value)
{
	struct expr_word modifier = *text;
	struct hist_written written = { .name = expr_take_until(&modifier, ".") };
	int err = 0;

	if (expr_take(&modifier, '.')) {
		written.modifier = modifier.at;
		err = parse_modifier(parse, &written.name, &modifier, value);
	}
	if (err)
		return err;
	if (!hist_field_find(parse->file->call, &written.name, &written.found))
		return hist_blame(parse, text->at, NO_FIELD);
	err = written.found.field ? add_field(parse, &written, value)
				  : add_word(parse, &written, value);
	if (!err && value->kind == HIST_NUMBER)
		add_modifier(parse, value);
	return err;
}

bool trace_hist_is_field_of(const struct trace_event_call *call, const struct expr_word *text)
{
	struct expr_word rest = *text, name = expr_take_until(&rest, ".");
	struct expr_value found;

	return hist_field_find(call, &name, &found);
}
