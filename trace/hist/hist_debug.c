/*
 * The file hist_debug: the parts of a histogram, in the form of Linux's CONFIG_HIST_TRIGGERS_DEBUG.
 * See hist.h.
 *
 * Linux keeps values, variables and keys in one array, in this order, and numbers them through. The
 * values that an action follows, keeps or takes from a field are variables, too, numbered behind
 * those named by a user; variables that an action reads are references. The numbers here are
 * Linux's. Where Linux shows pointers, hashed, to tell one histogram from another, these are
 * hashed, too.
 *
 * Context: thread, config lock held.
 */
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "hist_vars.h"
#include "hist_view.h"

#define FIELD_INDENT "      "

#define PARAMS_MAX (HIST_ACTIONS_MAX * HIST_PARAMS_MAX)

/* A reference to a variable. */
struct debug_ref {
	const struct hist *of;
	uint32_t var;
	bool is_qualified;
	const struct hist_param *param; /* NULL for vars[var] of `of` */
};

/* A field that save() keeps or trace() takes. */
struct debug_kept {
	const struct hist_param *param;
	uint32_t var;
};

/* Linux's numbers of a histogram's parts. */
struct debug_model {
	uint32_t nr_refs, nr_vars, nr_saved, nr_fields;
	uint32_t followed[HIST_ACTIONS_MAX]; /* index in refs[] */
	/* Number of the variable that keeps the followed value. */
	uint32_t tracks[HIST_ACTIONS_MAX];
	struct debug_ref refs[HIST_VARS_MAX + HIST_REFS_MAX + PARAMS_MAX];
	struct debug_kept saved[PARAMS_MAX];
	struct debug_kept fields[PARAMS_MAX];
};

/* ---- Counting ---- */

static uint32_t hist_debug_add_ref(struct debug_model *model, const struct debug_ref *ref)
{
	uint32_t i = 0;

	while (i < model->nr_refs &&
	       (model->refs[i].of != ref->of || model->refs[i].var != ref->var))
		i++;
	if (i == model->nr_refs)
		model->refs[model->nr_refs++] = *ref;
	return i;
}

static uint32_t add_own_ref(struct debug_model *model, const struct hist *hist, uint32_t var)
{
	return hist_debug_add_ref(model, &(struct debug_ref){ .of = hist, .var = var });
}

/* Add the references of a value's instructions. Returns the number of the last one. */
static uint32_t add_refs_of(struct debug_model *model, const struct hist *hist,
			    const struct hist_value *value)
{
	const struct expr_insn *insn = hist_insn_of(hist, value);
	uint32_t last = 0;

	for (; insn->op != EXPR_END; insn++) {
		if (hist_is_step(insn, HIST_STEP_VAR)) {
			last = add_own_ref(model, hist, insn->to);
		} else if (hist_reads_ref(insn)) {
			const struct hist_ref *ref = &hist->refs[insn->to];

			last = hist_debug_add_ref(
				model, &(struct debug_ref){ .of = ref->hist,
							    .var = ref->var,
							    .is_qualified = ref->is_qualified });
		}
	}
	return last;
}

/*
 * Does an action's parameter name a field of this event, rather than a variable or a field of
 * another event?
 */
static bool is_own_field(const struct hist_param *param)
{
	return !param->value.is_ref && !trace_hist_is_variable(&param->text);
}

static void hist_debug_add_param(struct debug_model *model, const struct hist *hist,
				 const struct hist_param *param)
{
	struct expr_word name = param->text;
	uint32_t own =
		expr_take(&name, '$') ? trace_hist_find_variable(hist, &name) : HIST_VARS_MAX;

	if (is_own_field(param)) {
		model->fields[model->nr_fields++] = (struct debug_kept){ param, model->nr_vars };
		(void)hist_debug_add_ref(
			model,
			&(struct debug_ref){ .of = hist, .var = model->nr_vars++, .param = param });
	} else if (own < HIST_VARS_MAX) {
		(void)add_own_ref(model, hist, own);
	} else {
		(void)add_refs_of(model, hist, &param->value);
	}
}

static void hist_debug_add_action(struct debug_model *model, const struct hist *hist,
				  uint32_t number)
{
	const struct hist_action *action = hist->actions[number];

	if (action->handler->title) {
		model->followed[number] = add_own_ref(model, hist, action->var);
		model->tracks[number] = model->nr_vars++;
	}
	for (uint32_t i = action->first; i < action->nr_params; i++) {
		const struct hist_param *param = &action->params[i];

		if (action->type == &trace_hist_save_type)
			model->saved[model->nr_saved++] =
				(struct debug_kept){ param, model->nr_vars++ };
		else
			hist_debug_add_param(model, hist, param);
	}
}

static int debug_begin(struct hist_view *view)
{
	const struct hist *hist = view->hist;
	struct debug_model *model = trace_hist_view_alloc(view, sizeof(*model));

	if (!model)
		return -ENOMEM;
	model->nr_vars = hist->nr_vars;
	for (uint32_t i = 0; i < hist->nr_vals; i++) {
		if (!hist->vals[i].is_hits)
			(void)add_refs_of(model, hist, &hist->vals[i]);
	}
	for (uint32_t i = 0; i < hist->nr_vars; i++)
		(void)add_refs_of(model, hist, &hist->vars[i]);
	for (uint32_t i = 0; i < hist->nr_keys; i++)
		(void)add_refs_of(model, hist, &hist->keys[i]);
	for (uint32_t i = 0; i < hist->nr_actions; i++)
		hist_debug_add_action(model, hist, i);
	return 0;
}

/* ---- Properties of a field, in order ---- */

static unsigned long long hist_debug_id_of(const struct hist *hist)
{
	return (uint32_t)hist_hash(0, (uintptr_t)hist);
}

static void print_flags(const char *first, const char *second, struct trace_seq *seq)
{
	trace_seq_printf(seq, FIELD_INDENT "flags:\n" FIELD_INDENT "  %s\n", first);
	if (second)
		trace_seq_printf(seq, FIELD_INDENT "  %s\n", second);
}

static void print_field_name(const struct hist_value *value, struct trace_seq *seq)
{
	if (value->field)
		trace_seq_printf(seq, FIELD_INDENT "ftrace_event_field name: %s\n",
				 value->field->name);
}

static void print_var(const char *name, uint32_t index, struct trace_seq *seq)
{
	trace_seq_printf(seq,
			 FIELD_INDENT "var.name: %s\n" FIELD_INDENT
				      "var.idx (into tracing_map_elt.vars[]): %u\n",
			 name, index);
}

static void print_ref_index(uint32_t index, struct trace_seq *seq)
{
	trace_seq_printf(seq, FIELD_INDENT "var_ref_idx (into hist_data->var_refs[]): %u\n", index);
}

/* Print a type, as in `format`. */
static void hist_debug_print_type(const struct hist_value *value, struct trace_seq *seq)
{
	const struct trace_event_field *field = value->field;

	trace_seq_puts(seq, FIELD_INDENT "type: ");
	if (!field || value->kind != HIST_TEXT)
		trace_seq_printf(seq, "%s\n", value->type);
	else if (field->kind != TRACE_FIELD_PLAIN)
		trace_seq_printf(seq, "__%s_loc %s[]\n",
				 field->kind == TRACE_FIELD_REL_LOC ? "rel" : "data", field->type);
	else if (field->size && field->size != field->element_size)
		trace_seq_printf(seq, "%s[%u]\n", field->type, field->size / field->element_size);
	else
		trace_seq_printf(seq, "%s\n", field->type);
}

static void print_size(uint32_t bytes, bool is_signed, struct trace_seq *seq)
{
	trace_seq_printf(seq, FIELD_INDENT "size: %u\n" FIELD_INDENT "is_signed: %u\n", bytes,
			 is_signed);
}

static void print_u64(struct trace_seq *seq)
{
	trace_seq_puts(seq, FIELD_INDENT "type: u64\n");
	print_size(sizeof(uint64_t), false, seq);
}

static void print_ref(const struct debug_ref *ref, uint32_t index, struct trace_seq *seq)
{
	const struct hist_value *value = ref->param ? &ref->param->value : &ref->of->vars[ref->var];

	print_flags("HIST_FIELD_FL_VAR_REF", NULL, seq);
	trace_seq_printf(seq,
			 FIELD_INDENT "name: %s\n" FIELD_INDENT
				      "var.idx (into tracing_map_elt.vars[]): %u\n" FIELD_INDENT
				      "var.hist_data: %016llx\n",
			 ref->param ? ref->param->name : value->var, ref->var,
			 hist_debug_id_of(ref->of));
	print_ref_index(index, seq);
	if (ref->is_qualified)
		trace_seq_printf(seq, FIELD_INDENT "system: %s\n" FIELD_INDENT "event_name: %s\n",
				 ref->of->call->event.system, ref->of->call->event.name);
	hist_debug_print_type(value, seq);
	print_size(value->bytes, value->is_signed && !ref->param, seq);
}

/* ---- Sections ---- */

static void hist_debug_print_head(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct hist *hist = view->hist;
	uint32_t nr_vals = 1u + hist->nr_vals + hist->nr_vars;

	(void)index;
	trace_seq_printf(seq, "hist_data: %016llx\n\n  n_vals: %u\n  n_keys: %u\n  n_fields: %u\n",
			 hist_debug_id_of(hist), nr_vals, hist->nr_keys, nr_vals + hist->nr_keys);
}

static void print_constant(const struct hist_value *value, struct trace_seq *seq)
{
	if (value->is_constant)
		trace_seq_printf(seq, FIELD_INDENT "constant: %llu\n",
				 (unsigned long long)value->constant);
}

static void hist_debug_print_value(struct debug_model *model, const struct hist *hist,
				   const struct hist_value *value, struct trace_seq *seq)
{
	uint32_t ref;

	if (value->is_hits) {
		print_flags("VAL: HIST_FIELD_FL_HITCOUNT", NULL, seq);
		print_u64(seq);
		return;
	}
	if (value->is_ref) {
		ref = add_refs_of(model, hist, value);
		print_ref(&model->refs[ref], ref, seq);
		return;
	}
	print_flags("VAL: normal u64 value", value->is_constant ? "HIST_FIELD_FL_CONST" : NULL,
		    seq);
	print_field_name(value, seq);
	print_constant(value, seq);
	hist_debug_print_type(value, seq);
	print_size(value->bytes, value->is_signed, seq);
}

static void print_variable(struct debug_model *model, const struct hist *hist, uint32_t index,
			   struct trace_seq *seq)
{
	const struct hist_value *var = &hist->vars[index];
	const char *more = var->is_ref ? "HIST_FIELD_FL_ALIAS" : NULL;

	print_flags("HIST_FIELD_FL_VAR", var->is_constant ? "HIST_FIELD_FL_CONST" : more, seq);
	print_field_name(var, seq);
	print_var(var->var, index, seq);
	print_constant(var, seq);
	if (var->is_ref)
		print_ref_index(add_refs_of(model, hist, var), seq);
	hist_debug_print_type(var, seq);
	print_size(var->bytes, var->is_signed, seq);
}

static uint32_t nr_vals(const struct hist_view *view)
{
	return 1u + view->hist->nr_vals + view->hist->nr_vars;
}

static void print_val(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct hist *hist = view->hist;

	if (!index)
		trace_seq_puts(seq, "\n  val fields:\n");
	trace_seq_printf(seq, "\n    hist_data->fields[%u]:\n", index);
	if (!index)
		hist_debug_print_value(view->private, hist, &(struct hist_value){ .is_hits = true },
				       seq);
	else if (index <= hist->nr_vals)
		hist_debug_print_value(view->private, hist, &hist->vals[index - 1], seq);
	else
		print_variable(view->private, hist, index - 1 - hist->nr_vals, seq);
}

static uint32_t nr_keys(const struct hist_view *view)
{
	return view->hist->nr_keys;
}

/* Print a key; its size is in whole words. */
static void hist_debug_print_key(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct hist_value *key = &view->hist->keys[index];

	if (!index)
		trace_seq_puts(seq, "\n  key fields:\n");
	trace_seq_printf(seq, "\n    hist_data->fields[%u]:\n", nr_vals(view) + index);
	print_flags("HIST_FIELD_FL_KEY", NULL, seq);
	print_field_name(key, seq);
	hist_debug_print_type(key, seq);
	print_size(8u * key->words, key->is_signed, seq);
}

static uint32_t nr_refs(const struct hist_view *view)
{
	return ((const struct debug_model *)view->private)->nr_refs;
}

static void print_one_ref(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct debug_model *model = view->private;

	if (!index)
		trace_seq_puts(seq, "\n  variable reference fields:\n");
	trace_seq_printf(seq, "\n    hist_data->var_refs[%u]:\n", index);
	print_ref(&model->refs[index], index, seq);
}

/* Print a field kept in a variable of its own: the variable, and its source. */
static void print_kept(const char *list, uint32_t index, const struct debug_kept *kept,
		       struct trace_seq *seq)
{
	const struct hist_value *value = &kept->param->value;

	trace_seq_printf(seq, "\n    hist_data->%s[%u]:\n\n      %s[%u].var:\n", list, index, list,
			 index);
	print_flags("HIST_FIELD_FL_VAR", NULL, seq);
	print_var(kept->param->name, kept->var, seq);
	trace_seq_printf(seq, "\n      %s[%u].val:\n", list, index);
	print_field_name(value, seq);
	hist_debug_print_type(value, seq);
	print_size(value->bytes, value->is_signed, seq);
}

static uint32_t nr_fields(const struct hist_view *view)
{
	return ((const struct debug_model *)view->private)->nr_fields;
}

static void hist_debug_print_field(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct debug_model *model = view->private;

	if (!index)
		trace_seq_puts(seq, "\n  field variables:\n");
	print_kept("field_vars", index, &model->fields[index], seq);
}

static uint32_t nr_actions(const struct hist_view *view)
{
	return view->hist->nr_actions;
}

/*
 * Print the variable that onmax() or onchange() follows, and the one in which each entry keeps its
 * value.
 */
static void print_followed(const struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct debug_model *model = view->private;
	uint32_t ref = model->followed[index];

	trace_seq_printf(seq, "\n    hist_data->actions[%u].track_data.var_ref:\n", index);
	print_ref(&model->refs[ref], ref, seq);
	trace_seq_printf(seq, "\n    hist_data->actions[%u].track_data.track_var:\n", index);
	print_flags("HIST_FIELD_FL_VAR", NULL, seq);
	print_var(view->hist->actions[index]->handler->variable, model->tracks[index], seq);
	print_u64(seq);
}

static void hist_debug_print_action(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct hist_action *action = view->hist->actions[index];
	struct expr_word event = action->of, system = expr_take_until(&event, ".");

	(void)expr_take(&event, '.');
	if (!index)
		trace_seq_puts(seq, "\n  action tracking variables (for "
				    "onmax()/onchange()/onmatch()):\n");
	if (action->handler->title)
		print_followed(view, index, seq);
	else
		trace_seq_printf(seq,
				 "\n    hist_data->actions[%u].match_data.event_system: %.*s\n"
				 "    hist_data->actions[%u].match_data.event: %.*s\n",
				 index, (int)system.len, system.at, index, (int)event.len,
				 event.at);
}

static uint32_t nr_saved(const struct hist_view *view)
{
	return ((const struct debug_model *)view->private)->nr_saved;
}

static void print_saved(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	const struct debug_model *model = view->private;

	if (!index)
		trace_seq_puts(seq, "\n  save action variables (save() params):\n");
	print_kept("save_vars", index, &model->saved[index], seq);
}

static uint32_t hist_debug_nr_insns(const struct hist_view *view)
{
	return hist_shown_program(view->hist)->nr;
}

/* Print an instruction of the program; Linux has none. */
static void hist_debug_print_insn(struct hist_view *view, uint32_t index, struct trace_seq *seq)
{
	if (!index)
		trace_seq_puts(seq, "\n  program:\n\n");
	trace_hist_program_show(view->hist, index, seq);
}

static const struct section {
	uint32_t (*count)(const struct hist_view *view); /* number of pieces; NULL for one */
	void (*print)(struct hist_view *view, uint32_t index, struct trace_seq *seq);
} sections[] = {
	{ NULL, hist_debug_print_head },
	{ nr_vals, print_val },
	{ nr_keys, hist_debug_print_key },
	{ nr_refs, print_one_ref },
	{ nr_fields, hist_debug_print_field },
	{ nr_actions, hist_debug_print_action },
	{ nr_saved, print_saved },
	{ hist_debug_nr_insns, hist_debug_print_insn },
};

/* Print one piece. */
static bool debug_next(struct hist_view *view, struct trace_seq *seq)
{
	size_t at = view->at++;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		uint32_t nr = sections[i].count ? sections[i].count(view) : 1;

		if (at < nr) {
			sections[i].print(view, (uint32_t)at, seq);
			return true;
		}
		at -= nr;
	}
	return false;
}

const struct hist_form trace_hist_form_debug = { .begin = debug_begin,
						 .next = debug_next,
						 .separator = "\n\n" };
