/*
 * Histograms: the text of a trigger, from its parts to a struct hist. See hist.h, hist_parse.h.
 * Error messages have Linux's words.
 */
#include "hist_action.h"
#include "hist_program.h"
#include "hist_record.h"
#include "hist_trigger.h"
#include "hist_vars.h"
#include "instance/array.h"
#include "text/str.h"

#define CLOCK_DEFAULT "global"
#define HITS_WITH     "hitcount."
#define INSNS_MAX     (2 * HIST_INSNS_MAX) /* with EXPR_END of each value */

enum hist_part {
	HIST_KEYS,
	HIST_VALS,
	HIST_SORT,
	HIST_NAME,
	HIST_CLOCK,
	HIST_ENTRIES,
	HIST_NR_PARTS
};

/* The parts of a histogram's text, each behind its `=`. */
struct hist_parts {
	struct expr_word of[HIST_NR_PARTS]; /* of enum hist_part; `at` is NULL for a missing one */
	struct expr_word variables[HIST_VARS_MAX];
	uint32_t nr_variables;
	struct expr_word actions[HIST_ACTIONS_MAX];
	uint32_t nr_actions;
};

static const struct {
	const char *name;
	enum hist_part part;
} hist_part_names[] = {
	{ "keys", HIST_KEYS }, { "key", HIST_KEYS },	{ "vals", HIST_VALS },
	{ "val", HIST_VALS },  { "values", HIST_VALS }, { "sort", HIST_SORT },
	{ "name", HIST_NAME }, { "clock", HIST_CLOCK }, { "size", HIST_ENTRIES },
};

struct expr_word trace_hist_take_part(struct expr_word *rest, char separator)
{
	const char *start = rest->at;
	uint32_t depth = 0;

	for (; rest->len && (depth || *rest->at != separator); *rest = expr_behind(rest, 1)) {
		depth += *rest->at == '(';
		depth -= *rest->at == ')' && depth;
	}
	return expr_between(start, rest->at);
}

char *trace_hist_name_of(const struct hist *hist, const struct expr_word *word)
{
	char *name = hist->names + (word->at - hist->text);

	(void)trace_expr_copy(name, word->len + 1, word);
	return name;
}

/* ---- The parts ---- */

static int hist_parse_set_size(struct hist_parse *parse, const struct expr_word *text)
{
	uint32_t size = HIST_SIZE_MIN;
	uint64_t wanted;

	if (trace_expr_number(text, 0, false, &wanted) || wanted > HIST_SIZE_MAX || wanted <= 64)
		return hist_blame(parse, text->at, "The size has to be from 65 to 131072");
	while (size < wanted)
		size *= 2;
	parse->hist->size = size;
	return 0;
}

/* Take NAME=VALUE, where NAME has `name_len` characters. */
static int take_assignment(struct hist_parse *parse, struct hist_parts *parts,
			   const struct expr_word *part, size_t name_len)
{
	const struct expr_word name = { part->at, name_len };

	for (size_t i = 0; i < TRACE_ARRAY_SIZE(hist_part_names); i++) {
		struct expr_word *value = &parts->of[hist_part_names[i].part];

		if (!trace_expr_is(&name, hist_part_names[i].name))
			continue;
		*value = expr_behind(part, name_len + 1);
		return value == &parts->of[HIST_ENTRIES] ? hist_parse_set_size(parse, value) : 0;
	}
	if (parts->nr_variables == HIST_VARS_MAX)
		return hist_blame(parse, part->at, "Too many variables defined");
	parts->variables[parts->nr_variables++] = *part;
	return 0;
}

static int take_action(struct hist_parse *parse, struct hist_parts *parts,
		       const struct expr_word *part)
{
	if (parts->nr_actions == HIST_ACTIONS_MAX)
		return hist_blame(parse, part->at, "Too many actions (8 max)");
	parts->actions[parts->nr_actions++] = *part;
	return 0;
}

static int hist_parse_take_part(struct hist_parse *parse, struct hist_parts *parts,
				const struct expr_word *part, struct hist_wish *wish)
{
	struct expr_word value = *part, name = expr_take_until(&value, "=(");

	if (expr_take(&value, '='))
		return value.len ? take_assignment(parse, parts, part, name.len)
				 : hist_blame(parse, part->at, "Empty assignment");
	if (trace_hist_is_action(part))
		return take_action(parse, parts, part);
	if (trace_expr_is(part, "nohitcount") || trace_expr_is(part, "NOHC"))
		parse->hist->no_hitcount = true;
	else if (trace_expr_is(part, "pause"))
		wish->pause = true;
	else if (trace_expr_is(part, "cont") || trace_expr_is(part, "continue"))
		wish->cont = true;
	else if (trace_expr_is(part, "clear"))
		wish->clear = true;
	else
		return hist_blame(parse, part->at, "No action found");
	return 0;
}

static int take_parts(struct hist_parse *parse, struct hist_parts *parts, struct hist_wish *wish)
{
	struct expr_word rest = trace_expr_whole(parse->hist->text), part;
	int err;

	do {
		part = trace_hist_take_part(&rest, ':');
		err = hist_parse_take_part(parse, parts, &part, wish);
	} while (!err && expr_take(&rest, ':'));
	if (!err && !parts->of[HIST_KEYS].at)
		err = hist_blame(parse, parse->hist->text, "A histogram has to have keys");
	if (parts->of[HIST_NAME].at)
		parse->hist->name = trace_hist_name_of(parse->hist, &parts->of[HIST_NAME]);
	if (parts->of[HIST_CLOCK].at)
		parse->hist->clock_name = trace_hist_name_of(parse->hist, &parts->of[HIST_CLOCK]);
	return err;
}

/* ---- Keys, values ---- */

static int hist_parse_add_keys(struct hist_parse *parse, struct expr_word rest)
{
	struct hist *hist = parse->hist;
	uint32_t nr_words = 0;

	do {
		struct hist_value *key = &hist->keys[hist->nr_keys];
		struct expr_word text = trace_hist_take_part(&rest, ',');
		int err;

		if (hist->nr_keys == HIST_KEYS_MAX)
			return hist_blame(parse, text.at, "Too many keys (3 max)");
		err = trace_hist_compile_value(parse, &text, HIST_AS_KEY, key);
		if (err)
			return err;
		hist->nr_keys++;
		hist->has_comm |= key->modifier == HIST_EXECNAME;
		nr_words += key->words;
		if (nr_words > HIST_KEY_BYTES / 8)
			return hist_blame(parse, text.at, "The key is too long");
	} while (expr_take(&rest, ','));
	return 0;
}

/*
 * Add `hitcount`. It is always there; with a modifier it is also a value of its own, which each
 * event increases by 1.
 */
static int add_hits(struct hist_parse *parse, const struct expr_word *text,
		    struct hist_value *value)
{
	static const uint8_t modifiers[] = { HIST_HEX, HIST_PERCENT, HIST_GRAPH };
	const struct expr_word modifier = expr_behind(text, sizeof(HITS_WITH) - 1);

	*value = (struct hist_value){ .name = "hitcount", .type = "u64", .bytes = 8, .words = 1 };
	value->is_hits = true;
	value->insn = hist_next_insn(parse);
	for (uint32_t i = 0; i < TRACE_ARRAY_SIZE(modifiers); i++) {
		if (trace_expr_is(&modifier, trace_hist_modifier_names[modifiers[i]]))
			value->modifier = modifiers[i];
	}
	if (!value->modifier)
		return hist_blame(parse, modifier.at, "Invalid field modifier");
	hist_add(parse, EXPR_CONST)->number.operand = 1;
	return trace_hist_end_value(parse);
}

static int hist_parse_add_value(struct hist_parse *parse, const struct expr_word *text)
{
	struct hist *hist = parse->hist;
	struct hist_value *value = &hist->vals[hist->nr_vals];
	int err;

	if (trace_expr_is(text, "hitcount"))
		return 0;
	if (hist->nr_vals == HIST_VALS_MAX - 1)
		return hist_blame(parse, text->at, "Too many values specified");
	err = trace_expr_starts(text, HITS_WITH)
		      ? add_hits(parse, text, value)
		      : trace_hist_compile_value(parse, text, HIST_AS_VALUE, value);
	if (!err)
		hist->nr_vals++;
	return err;
}

static int add_vals(struct hist_parse *parse, struct expr_word rest)
{
	const struct hist *hist = parse->hist;
	int err = 0;

	while (!err && rest.at) {
		struct expr_word text = trace_hist_take_part(&rest, ',');

		err = hist_parse_add_value(parse, &text);
		if (!expr_take(&rest, ','))
			break;
	}
	if (!err && hist->no_hitcount && !hist->nr_vals)
		err = trace_expr_refuse(&parse->cursor, -ENOENT,
					"Non-hitcount value is required for 'nohitcount'",
					hist->text);
	return err;
}

static int hist_parse_add_variables(struct hist_parse *parse, const struct hist_parts *parts)
{
	int err = 0;

	for (uint32_t i = 0; i < parts->nr_variables && !err; i++) {
		struct expr_word rest = parts->variables[i], text;

		do {
			text = trace_hist_take_part(&rest, ',');
			err = trace_hist_add_variable(parse, &text);
		} while (!err && expr_take(&rest, ','));
	}
	return err;
}

static int add_actions(struct hist_parse *parse, const struct hist_parts *parts)
{
	int err = 0;

	for (uint32_t i = 0; i < parts->nr_actions && !err; i++)
		err = trace_hist_add_action(parse, &parts->actions[i]);
	return err;
}

/* ---- The table ---- */

static int make_map(struct hist *hist)
{
	struct hist_map_shape shape = { .nr_entries = hist->size, .sum_words = hist->nr_vals };
	uint32_t at;

	for (uint32_t i = 0; i < hist->nr_keys; i++)
		shape.key_words += hist->keys[i].words;
	at = shape.key_words;
	hist->sums_at = (uint16_t)at;
	for (uint32_t i = 0; i < hist->nr_vals; i++)
		hist->vals[i].at = (uint16_t)at++;
	hist->comm_at = (uint16_t)at;
	at += hist->has_comm ? HIST_COMM_WORDS : 0;
	hist->set_at = (uint16_t)at;
	at += hist->nr_vars != 0;
	for (uint32_t i = 0; i < hist->nr_vars; i++) {
		hist->vars[i].at = (uint16_t)at;
		at += hist->vars[i].words;
	}
	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		hist->actions[i]->at = (uint16_t)at;
		if (hist->actions[i]->type->replace)
			hist->record_at = (uint16_t)at;
		at += hist->actions[i]->handler->title != NULL;
	}
	shape.extra_words = at - shape.key_words - shape.sum_words;
	hist->map = &hist->own_map;
	return trace_hist_map_init(&hist->own_map, &shape);
}

/* Check the instructions of all values, in a program of their size. */
static int hist_parse_end_values(struct hist_parse *parse)
{
	struct expr_program *all = parse->hist->values;
	struct expr_build build;
	int err = trace_expr_create(&build, all->nr, 0);

	if (err)
		return err;
	build.has_own = true;
	trace_expr_needs(&build, 0, all->min_len);
	for (uint32_t i = 0; i < all->nr; i++)
		trace_expr_add_copy(&build, &all->insns[i]);
	parse->hist->values = build.program;
	trace_expr_free(all);
	return trace_expr_finish(&build);
}

static int hist_parse_compile(struct hist_parse *parse, struct hist_wish *wish)
{
	struct hist *hist = parse->hist;
	struct hist_parts parts = { 0 };
	int err = trace_expr_create(&parse->build, INSNS_MAX, 0);

	hist->values = parse->build.program;
	if (!err)
		err = take_parts(parse, &parts, wish);
	parse->may_exist = wish->is_removal || wish->pause || wish->cont || wish->clear;
	if (!err)
		err = add_actions(parse, &parts);
	if (!err)
		err = hist_parse_add_variables(parse, &parts);
	if (!err)
		err = hist_parse_add_keys(parse, parts.of[HIST_KEYS]);
	if (!err)
		err = add_vals(parse, parts.of[HIST_VALS]);
	if (!err)
		err = trace_hist_add_sorts(parse, parts.of[HIST_SORT]);
	if (!err)
		err = trace_hist_compile_actions(parse);
	/* The name of an unused clock is not checked, as on Linux. */
	if (!err && hist->uses_time && !trace_clock_find(hist->clock_name))
		err = hist_blame(parse, parts.of[HIST_CLOCK].at, "Couldn't set trace_clock");
	if (!err)
		err = hist_parse_end_values(parse);
	if (!err)
		err = make_map(hist);
	if (!err && hist->uses_time)
		hist->clock = trace_clock_find(hist->clock_name)->now;
	if (!err)
		err = trace_hist_program_make(hist);
	return err;
}

/* Copy the text, and make room for names. */
static int hist_parse_copy_text(struct hist *hist, const struct expr_word *text)
{
	char *copy = trace_plat_alloc(2 * (text->len + 1));

	if (!copy)
		return -ENOMEM;
	hist->text = copy;
	hist->text_bytes = 2 * (text->len + 1);
	hist->names = trace_expr_put(copy, text) + 1;
	return 0;
}

int trace_hist_create(struct trace_event_file *file, const struct expr_word *text,
		      struct hist **out_hist, struct hist_wish *wish, struct expr_error *error)
{
	struct hist *hist = trace_plat_alloc(sizeof(*hist));
	struct hist_parse parse = { .hist = hist, .file = file, .cursor.error = error };
	int err;

	*error = (struct expr_error){ 0 };
	if (!hist)
		return -ENOMEM;
	hist->nr_holders = 1;
	hist->tr = file->tr;
	hist->call = file->call;
	hist->size = HIST_SIZE;
	hist->clock_name = CLOCK_DEFAULT;
	err = hist_parse_copy_text(hist, text);
	parse.cursor.text = hist->text;
	if (!err)
		err = hist_parse_compile(&parse, wish);
	if (err) {
		trace_hist_put(hist);
		return err;
	}
	*out_hist = hist;
	return 0;
}

/*
 * Drop a reference to another histogram. A histogram made for the sake of its readers goes with the
 * last one.
 */
static void drop_ref(struct hist *hist)
{
	if (!--hist->nr_readers && hist->is_for_field)
		trace_hist_remove(hist);
	trace_hist_put(hist);
}

void trace_hist_put(struct hist *hist)
{
	if (--hist->nr_holders)
		return;
	trace_hist_free_actions(hist);
	for (uint32_t i = 0; i < hist->nr_refs; i++)
		drop_ref(hist->refs[i].hist);
	if (hist->shared)
		trace_hist_put(hist->shared);
	trace_expr_free(hist->program);
	trace_expr_free(hist->values);
	trace_hist_map_destroy(&hist->own_map);
	if (hist->text)
		trace_plat_free(hist->text, hist->text_bytes);
	trace_plat_free(hist, sizeof(*hist));
}

void trace_hist_share(struct hist *hist, struct hist *other)
{
	if (other->shared)
		other = other->shared;
	trace_hist_map_destroy(&hist->own_map);
	trace_hist_records_destroy(hist->records);
	hist->map = other->map;
	hist->records = other->records;
	hist->shared = other;
	other->nr_holders++;
}
