/*
 * Histograms: variables. See hist_vars.h. Error messages have Linux's words.
 */
#include "hist_vars.h"
#include "text/str.h"

struct hist *trace_hist_first;

bool trace_hist_is_variable(const struct expr_word *word)
{
	struct expr_word rest = *word;

	(void)expr_take_until(&rest, "$");
	return rest.len;
}

uint32_t trace_hist_find_variable(const struct hist *hist, const struct expr_word *name)
{
	for (uint32_t i = 0; i < hist->nr_vars; i++) {
		if (trace_expr_is(name, hist->vars[i].var))
			return i;
	}
	return HIST_VARS_MAX;
}

/* ---- References ---- */

/*
 * The parts of a reference's name: SYSTEM.EVENT.$NAME, which is listed as $SYSTEM.EVENT.NAME, or
 * $NAME alone, for any event.
 */
struct ref_name {
	struct expr_word system, event, name;
	bool is_qualified;
};

static int hist_vars_split(struct hist_parse *parse, const struct expr_word *word,
			   struct ref_name *out)
{
	struct expr_word rest = *word;
	bool is_first = expr_take(&rest, '$'), has_event;
	const struct expr_word all = rest;

	out->system = expr_take_until(&rest, ".");
	has_event = expr_take(&rest, '.');
	out->event = expr_take_until(&rest, ".");
	out->is_qualified = expr_take(&rest, '.');
	out->name = out->is_qualified ? rest : all;
	if (is_first && !out->is_qualified)
		return 0;
	if (has_event && !out->is_qualified)
		return hist_blame(parse, out->event.at, "Invalid field modifier");
	if (!has_event || (!is_first && !expr_take(&out->name, '$')))
		return hist_blame(parse, word->at, "Couldn't find variable");
	return 0;
}

static bool hist_vars_is_meant(const struct hist *hist, const struct hist_parse *parse,
			       const struct ref_name *ref)
{
	if (hist->tr != parse->hist->tr)
		return false;
	return !ref->is_qualified || (trace_expr_is(&ref->system, hist->call->event.system) &&
				      trace_expr_is(&ref->event, hist->call->event.name));
}

/* Does the histogram belong to an event that an action onmatch() waits for? */
static bool is_matched(const struct hist *hist, const struct hist_parse *parse)
{
	for (uint32_t i = 0; i < parse->nr_matches; i++) {
		if (hist->call == parse->matches[i])
			return true;
	}
	return false;
}

/* Find the histogram that has the variable; events of onmatch() come before others. */
static int find_hist(struct hist_parse *parse, const struct ref_name *ref, struct hist **out)
{
	struct hist *found = NULL, *matched = NULL;
	uint32_t nr = 0;

	for (struct hist *hist = trace_hist_first; hist; hist = hist->next) {
		if (!hist_vars_is_meant(hist, parse, ref) ||
		    trace_hist_find_variable(hist, &ref->name) == HIST_VARS_MAX)
			continue;
		if (is_matched(hist, parse))
			matched = hist;
		found = hist;
		nr++;
	}
	*out = matched ? matched : found;
	if (!found)
		return hist_blame(parse, ref->name.at, "Couldn't find variable");
	if (nr > 1 && !matched)
		return hist_blame(parse, ref->name.at,
				  "Variable name not unique, need to use fully qualified name "
				  "(subsys.event.var) for variable");
	return 0;
}

/* Find or add the place in refs[] of a variable of another histogram. */
static int hist_vars_add_ref(struct hist_parse *parse, const char *at, struct hist *other,
			     uint32_t var, uint8_t *out_index)
{
	struct hist *hist = parse->hist;
	uint8_t i = 0;

	while (i < hist->nr_refs && (hist->refs[i].hist != other || hist->refs[i].var != var))
		i++;
	if (i == HIST_REFS_MAX)
		return hist_blame(parse, at, "Too many variables defined");
	*out_index = i;
	if (i < hist->nr_refs)
		return 0;
	hist->refs[hist->nr_refs++] = (struct hist_ref){ .hist = other, .var = (uint16_t)var };
	other->nr_holders++;
	other->nr_readers++;
	return 0;
}

static void hist_vars_describe(const struct hist_value *var, const char *name,
			       struct hist_value *value)
{
	*value = (struct hist_value){ .name = name,
				      .type = var->type,
				      .kind = var->kind,
				      .modifier = var->modifier,
				      .is_signed = var->is_signed,
				      .is_time = var->is_time,
				      .is_fixed = var->is_fixed,
				      .is_ref = true,
				      .has_refs = true,
				      .bytes = var->bytes,
				      .words = var->words };
}

/* Add a copy of a variable's instructions, which use no temps. */
static void copy_insns(struct hist_parse *parse, const struct hist_value *var)
{
	const struct expr_insn *from = hist_insn_of(parse->hist, var);

	for (; from->op != EXPR_END; from++)
		trace_expr_add_copy(&parse->build, from);
}

/* Compile an own variable. One that is a field stands for the field, also as a key. */
static void compile_own(struct hist_parse *parse, uint32_t var, struct hist_value *value)
{
	const struct hist_value *own = &parse->hist->vars[var];
	bool is_field = !own->is_expression && !own->is_ref;

	if (is_field) {
		*value = *own;
		value->var = NULL;
	} else {
		hist_vars_describe(own, own->var, value);
		value->ref = (uint8_t)(HIST_REFS_MAX + var);
	}
	if (is_field || own->kind != HIST_NUMBER)
		copy_insns(parse, own);
	else
		trace_hist_add_own(parse, HIST_STEP_VAR)->to = (uint8_t)var;
}

int trace_hist_compile_var_of(struct hist_parse *parse, struct hist *other, uint32_t var,
			      const char *at, struct hist_value *value)
{
	const struct hist_value *from = &other->vars[var];
	struct expr_insn *insn;
	uint8_t ref;
	int err = hist_vars_add_ref(parse, at, other, var, &ref);

	if (err)
		return err;
	hist_vars_describe(from, from->var, value);
	value->ref = ref;
	insn = trace_hist_add_own(parse,
				  from->kind == HIST_NUMBER ? HIST_STEP_REF : HIST_STEP_WORDS);
	insn->to = ref;
	insn->place = HIST_PLACE_REF;
	insn->offset = from->at;
	insn->with.len = from->words;
	return 0;
}

static int hist_vars_compile_other(struct hist_parse *parse, const struct ref_name *ref,
				   struct hist_value *value)
{
	uint8_t nr_refs = parse->hist->nr_refs;
	struct hist *other;
	int err = find_hist(parse, ref, &other);

	if (!err)
		err = trace_hist_compile_var_of(parse, other,
						trace_hist_find_variable(other, &ref->name),
						ref->name.at, value);
	if (!err && parse->hist->nr_refs > nr_refs)
		parse->hist->refs[nr_refs].is_qualified = ref->is_qualified;
	return err;
}

int trace_hist_compile_ref(struct hist_parse *parse, const struct expr_word *word,
			   struct hist_value *value)
{
	struct ref_name ref;
	uint32_t own;
	int err = hist_vars_split(parse, word, &ref);

	if (err)
		return err;
	own = ref.is_qualified ? HIST_VARS_MAX : trace_hist_find_variable(parse->hist, &ref.name);
	if (own == HIST_VARS_MAX)
		return hist_vars_compile_other(parse, &ref, value);
	compile_own(parse, own, value);
	return 0;
}

/* ---- Definitions ---- */

static bool is_defined(const struct hist_parse *parse, const struct expr_word *name)
{
	if (trace_hist_find_variable(parse->hist, name) < HIST_VARS_MAX)
		return true;
	if (parse->may_exist)
		return false;
	for (const struct hist *hist = trace_hist_first; hist; hist = hist->next) {
		if (hist->tr == parse->hist->tr && hist->call == parse->hist->call &&
		    trace_hist_find_variable(hist, name) < HIST_VARS_MAX)
			return true;
	}
	return false;
}

int trace_hist_add_variable(struct hist_parse *parse, const struct expr_word *text)
{
	struct expr_word value = *text, name = expr_take_until(&value, "=");
	struct hist *hist = parse->hist;
	struct hist_value *var;
	int err;

	if (!name.len || !expr_take(&value, '=') || !value.len)
		return hist_blame(parse, text->at, "Malformed assignment");
	if (is_defined(parse, &name))
		return hist_blame(parse, text->at, "Variable already defined");
	if (hist->nr_vars == HIST_VARS_MAX)
		return hist_blame(parse, text->at, "Too many variables defined");
	var = &hist->vars[hist->nr_vars];
	err = trace_hist_compile_value(parse, &value, HIST_AS_VARIABLE, var);
	if (err)
		return err;
	var->var = trace_hist_name_of(hist, &name);
	hist->nr_vars++;
	return 0;
}
