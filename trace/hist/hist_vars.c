/*
 * Histograms: variables. See hist_vars.h. Error messages have Linux's words.
 */
#include "hist_vars.h"
#include "text/str.h"

struct hist *trace_hist_first;

bool trace_hist_is_variable(const char *word)
{
	return *hist_find_char(word, '$');
}

uint32_t trace_hist_find_variable(const struct hist *hist, const char *name)
{
	for (uint32_t i = 0; i < hist->nr_vars; i++) {
		if (trace_streq(hist->vars[i].var, name))
			return i;
	}
	return HIST_VARS_MAX;
}

/* ---- References ---- */

/*
 * The parts of a reference's name: SYSTEM.EVENT.$NAME, which is listed as $SYSTEM.EVENT.NAME, or
 * $NAME alone.
 */
struct ref_name {
	const char *system; /* NULL for any system */
	const char *event;
	const char *name;
};

/* Split `word`, which is cut, into the parts of a name. */
static int hist_vars_split(struct hist_parse *parse, char *word, struct ref_name *out)
{
	bool is_first = *word == '$';
	char *event = hist_find_char(word, '.'),
	     *name = hist_find_char(event + (*event != '\0'), '.');

	*out = (struct ref_name){ .name = word + 1 };
	if (is_first && !*name)
		return 0;
	if (*event && *name != '.')
		return hist_blame(parse, event + 1, "Invalid field modifier");
	if (!*event || (!is_first && name[1] != '$'))
		return hist_blame(parse, word, "Couldn't find variable");
	*event++ = '\0';
	*name++ = '\0';
	*out = (struct ref_name){ word + is_first, event, name + !is_first };
	return 0;
}

static bool hist_vars_is_meant(const struct hist *hist, const struct hist_parse *parse,
			       const struct ref_name *ref)
{
	if (hist->tr != parse->hist->tr)
		return false;
	return !ref->system || (trace_streq(hist->call->event.system, ref->system) &&
				trace_streq(hist->call->event.name, ref->event));
}

/* Does the histogram belong to an event that an action onmatch() waits for? */
static bool is_matched(const struct hist *hist, const struct hist_parse *parse)
{
	const struct trace_event *event = &hist->call->event;

	for (uint32_t i = 0; i < parse->nr_matches; i++) {
		if (trace_streq(event->system, parse->matches[i].system) &&
		    trace_streq(event->name, parse->matches[i].event))
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
		    trace_hist_find_variable(hist, ref->name) == HIST_VARS_MAX)
			continue;
		if (is_matched(hist, parse))
			matched = hist;
		found = hist;
		nr++;
	}
	*out = matched ? matched : found;
	if (!found)
		return hist_blame(parse, ref->name, "Couldn't find variable");
	if (nr > 1 && !matched)
		return hist_blame(parse, ref->name,
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
				      .ref = HIST_REFS_MAX,
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
	}
	if (is_field || own->kind != HIST_NUMBER)
		copy_insns(parse, own);
	else
		trace_hist_add_own(parse, HIST_STEP_VAR)->to = (uint8_t)var;
}

int trace_hist_compile_var_of(struct hist_parse *parse, struct hist *other, const char *name,
			      struct hist_value *value)
{
	uint32_t var = trace_hist_find_variable(other, name);
	const struct hist_value *from = &other->vars[var];
	struct expr_insn *insn;
	uint8_t ref;
	int err = hist_vars_add_ref(parse, name, other, var, &ref);

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
		err = trace_hist_compile_var_of(parse, other, ref->name, value);
	if (!err && parse->hist->nr_refs > nr_refs)
		parse->hist->refs[nr_refs].is_qualified = ref->system;
	return err;
}

int trace_hist_compile_ref(struct hist_parse *parse, char *word, struct hist_value *value)
{
	struct ref_name ref;
	uint32_t own;
	int err = hist_vars_split(parse, word, &ref);

	if (err)
		return err;
	own = ref.system ? HIST_VARS_MAX : trace_hist_find_variable(parse->hist, ref.name);
	if (own == HIST_VARS_MAX)
		return hist_vars_compile_other(parse, &ref, value);
	compile_own(parse, own, value);
	return 0;
}

/* ---- Definitions ---- */

static bool is_defined(const struct hist_parse *parse, const char *name)
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

int trace_hist_add_variable(struct hist_parse *parse, char *text)
{
	struct hist *hist = parse->hist;
	struct hist_value *var;
	char *value = hist_find_char(text, '=');
	int err;

	if (!*value || value == text || !value[1])
		return hist_blame(parse, text, "Malformed assignment");
	*value++ = '\0';
	if (is_defined(parse, text))
		return hist_blame(parse, text, "Variable already defined");
	if (hist->nr_vars == HIST_VARS_MAX)
		return hist_blame(parse, text, "Too many variables defined");
	var = &hist->vars[hist->nr_vars];
	err = trace_hist_compile_value(parse, value, HIST_AS_VARIABLE, var);
	if (err)
		return err;
	var->var = text;
	hist->nr_vars++;
	return 0;
}
