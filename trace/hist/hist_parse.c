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

/* The parts of a histogram's text, each behind its `=`; NULL for a missing one. */
struct hist_parts {
	char *keys, *vals, *sort;
	char *variables[HIST_VARS_MAX];
	uint32_t nr_variables;
	char *actions[HIST_ACTIONS_MAX];
	uint32_t nr_actions;
};

void trace_hist_set_error(struct hist_parse *parse, const char *at, const char *why)
{
	const struct hist *hist = parse->hist;
	size_t copy_bytes = hist->text_bytes / 2, pos = 0;

	/* A name may lie in the copy that is never cut. */
	if (at >= hist->text && at < hist->text + hist->text_bytes)
		pos = (size_t)(at - hist->text) % copy_bytes;
	*parse->error = (struct expr_error){ .why = why, .pos = pos };
}

char *trace_hist_cut(char *text, char separator)
{
	uint32_t depth = 0;

	for (; *text; text++) {
		depth += *text == '(';
		depth -= *text == ')' && depth;
		if (*text == separator && !depth) {
			*text = '\0';
			return text + 1;
		}
	}
	return NULL;
}

/* ---- The parts ---- */

/* The text behind `word=`, or NULL when the part begins with another word. */
static char *hist_parse_value_of(char *part, const char *word)
{
	size_t len = trace_strlen(word);

	return trace_str_starts(part, word) && part[len] == '=' ? part + len + 1 : NULL;
}

static char *value_of_any(char *part, const char *const *words)
{
	char *value = NULL;

	for (; *words && !value; words++)
		value = hist_parse_value_of(part, *words);
	return value;
}

static int hist_parse_set_size(struct hist_parse *parse, const char *text)
{
	uint32_t size = HIST_SIZE_MIN;
	uint64_t wanted;

	if (trace_parse_u64(text, 0, &wanted) || wanted > HIST_SIZE_MAX || wanted <= 64)
		return hist_blame(parse, text, "The size has to be from 65 to 131072");
	while (size < wanted)
		size *= 2;
	parse->hist->size = size;
	return 0;
}

static int take_assignment(struct hist_parse *parse, struct hist_parts *parts, char *part)
{
	static const char *const keys[] = { "keys", "key", NULL };
	static const char *const vals[] = { "vals", "val", "values", NULL };
	char *value;

	if ((value = value_of_any(part, keys))) {
		parts->keys = value;
		return 0;
	}
	if ((value = value_of_any(part, vals))) {
		parts->vals = value;
		return 0;
	}
	if ((value = hist_parse_value_of(part, "sort"))) {
		parts->sort = value;
		return 0;
	}
	if ((value = hist_parse_value_of(part, "name"))) {
		parse->hist->name = value;
		return 0;
	}
	if ((value = hist_parse_value_of(part, "clock"))) {
		parse->hist->clock_name = value;
		return 0;
	}
	if ((value = hist_parse_value_of(part, "size")))
		return hist_parse_set_size(parse, value);
	if (parts->nr_variables == HIST_VARS_MAX)
		return hist_blame(parse, part, "Too many variables defined");
	parts->variables[parts->nr_variables++] = part;
	return 0;
}

static char *equals_in(char *part)
{
	while (*part && *part != '=' && *part != '(')
		part++;
	return *part == '=' ? part : NULL;
}

static int take_action(struct hist_parse *parse, struct hist_parts *parts, char *part)
{
	if (parts->nr_actions == HIST_ACTIONS_MAX)
		return hist_blame(parse, part, "Too many actions (8 max)");
	parts->actions[parts->nr_actions++] = part;
	return 0;
}

static int hist_parse_take_part(struct hist_parse *parse, struct hist_parts *parts, char *part,
				struct hist_wish *wish)
{
	char *equals;

	equals = equals_in(part);

	if (equals && !equals[1])
		return hist_blame(parse, part, "Empty assignment");
	if (equals)
		return take_assignment(parse, parts, part);
	if (trace_hist_is_action(part))
		return take_action(parse, parts, part);
	if (trace_streq(part, "nohitcount") || trace_streq(part, "NOHC"))
		parse->hist->no_hitcount = true;
	else if (trace_streq(part, "pause"))
		wish->pause = true;
	else if (trace_streq(part, "cont") || trace_streq(part, "continue"))
		wish->cont = true;
	else if (trace_streq(part, "clear"))
		wish->clear = true;
	else
		return hist_blame(parse, part, "No action found");
	return 0;
}

static int take_parts(struct hist_parse *parse, struct hist_parts *parts, struct hist_wish *wish)
{
	char *part = parse->hist->text, *next;
	int err = 0;

	for (; part && !err; part = next) {
		next = trace_hist_cut(part, ':');
		err = hist_parse_take_part(parse, parts, part, wish);
	}
	if (!err && !parts->keys)
		err = hist_blame(parse, parse->hist->text, "A histogram has to have keys");
	return err;
}

/* ---- Keys, values ---- */

static int hist_parse_add_keys(struct hist_parse *parse, char *text)
{
	struct hist *hist = parse->hist;
	uint32_t nr_words = 0;
	char *next;
	int err = 0;

	for (; text && !err; text = next) {
		struct hist_value *key = &hist->keys[hist->nr_keys];

		next = trace_hist_cut(text, ',');
		if (hist->nr_keys == HIST_KEYS_MAX)
			return hist_blame(parse, text, "Too many keys (3 max)");
		err = trace_hist_compile_value(parse, text, HIST_AS_KEY, key);
		if (err)
			return err;
		hist->nr_keys++;
		hist->has_comm |= key->modifier == HIST_EXECNAME;
		nr_words += key->words;
		if (nr_words > HIST_KEY_BYTES / 8)
			return hist_blame(parse, text, "The key is too long");
	}
	return 0;
}

/*
 * Add `hitcount`. It is always there; with a modifier it is also a value of its own, which each
 * event increases by 1.
 */
static int add_hits(struct hist_parse *parse, const char *modifier, struct hist_value *value)
{
	static const uint8_t modifiers[] = { HIST_HEX, HIST_PERCENT, HIST_GRAPH };

	*value = (struct hist_value){ .name = "hitcount", .type = "u64", .bytes = 8, .words = 1 };
	value->is_hits = true;
	value->insn = hist_next_insn(parse);
	for (uint32_t i = 0; i < TRACE_ARRAY_SIZE(modifiers); i++) {
		if (trace_streq(modifier, trace_hist_modifier_names[modifiers[i]]))
			value->modifier = modifiers[i];
	}
	if (!value->modifier)
		return hist_blame(parse, modifier, "Invalid field modifier");
	hist_add(parse, EXPR_CONST)->number.operand = 1;
	return trace_hist_end_value(parse);
}

static int add_vals(struct hist_parse *parse, char *text)
{
	struct hist *hist = parse->hist;
	struct hist_value *value;
	char *next;
	int err = 0;

	for (; text && !err; text = next) {
		next = trace_hist_cut(text, ',');
		if (trace_streq(text, "hitcount"))
			continue;
		if (hist->nr_vals == HIST_VALS_MAX - 1)
			return hist_blame(parse, text, "Too many values specified");
		value = &hist->vals[hist->nr_vals];
		err = trace_str_starts(text, HITS_WITH)
			      ? add_hits(parse, text + sizeof(HITS_WITH) - 1, value)
			      : trace_hist_compile_value(parse, text, HIST_AS_VALUE, value);
		if (!err)
			hist->nr_vals++;
	}
	if (!err && hist->no_hitcount && !hist->nr_vals) {
		trace_hist_set_error(parse, hist->text,
				     "Non-hitcount value is required for 'nohitcount'");
		return -ENOENT;
	}
	return err;
}

static int hist_parse_add_variables(struct hist_parse *parse, const struct hist_parts *parts)
{
	int err = 0;

	for (uint32_t i = 0; i < parts->nr_variables && !err; i++) {
		char *text = parts->variables[i], *next;

		for (; text && !err; text = next) {
			next = trace_hist_cut(text, ',');
			err = trace_hist_add_variable(parse, text);
		}
	}
	return err;
}

static int add_actions(struct hist_parse *parse, const struct hist_parts *parts)
{
	int err = 0;

	for (uint32_t i = 0; i < parts->nr_actions && !err; i++)
		err = trace_hist_add_action(parse, parts->actions[i]);
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
		err = hist_parse_add_keys(parse, parts.keys);
	if (!err)
		err = add_vals(parse, parts.vals);
	if (!err)
		err = trace_hist_add_sorts(parse, parts.sort);
	if (!err)
		err = trace_hist_compile_actions(parse);
	/* The name of an unused clock is not checked, as on Linux. */
	if (!err && hist->uses_time && !trace_clock_find(hist->clock_name))
		err = hist_blame(parse, hist->clock_name, "Couldn't set trace_clock");
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

/* Make both copies of the text; see trace_hist_name_of(). */
static int hist_parse_copy_text(struct hist *hist, const char *text)
{
	size_t bytes = trace_strlen(text) + 1;

	hist->text = trace_plat_alloc(2 * bytes);
	if (!hist->text)
		return -ENOMEM;
	hist->text_bytes = 2 * bytes;
	memcpy(hist->text, text, bytes);
	memcpy(hist->text + bytes, text, bytes);
	return 0;
}

int trace_hist_create(struct trace_event_file *file, const char *text, struct hist **out_hist,
		      struct hist_wish *wish, struct expr_error *error)
{
	struct hist *hist = trace_plat_alloc(sizeof(*hist));
	struct hist_parse parse = { .hist = hist, .file = file, .error = error };
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
