/*
 * The file hist_debug: what a histogram consists of, in the form of Linux's CONFIG_HIST_TRIGGERS_DEBUG.
 * See hist.h.
 *
 * Linux keeps values, variables and keys in one array, in this order, and numbers them through; the
 * numbers here are those. Where it shows pointers, hashed, to tell one histogram from another, these
 * are hashed, too.
 *
 * Context: thread, config lock held.
 */
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "hist_view.h"

#define FIELD_INDENT "      "

static unsigned long long id_of(const struct hist *hist)
{
	return (uint32_t)hist_hash(0, (uintptr_t)hist);
}

/* ---- A field ---- */

static void print_type(const char *type, uint32_t bytes, bool is_signed, struct trace_seq *seq)
{
	trace_seq_printf(seq,
			 FIELD_INDENT "type: %s\n" FIELD_INDENT "size: %u\n" FIELD_INDENT
				      "is_signed: %u\n",
			 type, bytes, is_signed);
}

static void print_value(const struct hist_value *value, uint32_t bytes, struct trace_seq *seq)
{
	if (value->field)
		trace_seq_printf(seq, FIELD_INDENT "ftrace_event_field name: %s\n",
				 value->field->name);
	print_type(value->type, bytes, value->is_signed, seq);
}

static void print_flags(const char *text, struct trace_seq *seq)
{
	trace_seq_printf(seq, FIELD_INDENT "flags:\n" FIELD_INDENT "  %s\n", text);
}

static void print_var(const struct hist_value *var, uint32_t index, struct trace_seq *seq)
{
	trace_seq_printf(seq,
			 FIELD_INDENT "var.name: %s\n" FIELD_INDENT
				      "var.idx (into tracing_map_elt.vars[]): %u\n",
			 var->var, index);
}

/* ---- Its parts ---- */

static void print_field_head(uint32_t number, struct trace_seq *seq)
{
	trace_seq_printf(seq, "%s    hist_data->fields[%u]:\n", number ? "\n" : "", number);
}

static const char *kind_of(const struct hist_value *value)
{
	if (value->is_hits)
		return "VAL: HIST_FIELD_FL_HITCOUNT";
	return value->is_expression ? "HIST_FIELD_FL_EXPR" : "VAL: normal u64 value";
}

static void print_vals(const struct hist *hist, struct trace_seq *seq)
{
	trace_seq_puts(seq, "\n  val fields:\n\n");
	print_field_head(0, seq);
	print_flags("VAL: HIST_FIELD_FL_HITCOUNT", seq);
	print_type("u64", sizeof(uint64_t), false, seq);
	for (uint32_t i = 0; i < hist->nr_vals; i++) {
		const struct hist_value *value = &hist->vals[i];

		print_field_head(1 + i, seq);
		print_flags(kind_of(value), seq);
		print_value(value, value->bytes, seq);
	}
	for (uint32_t i = 0; i < hist->nr_vars; i++) {
		print_field_head(1u + hist->nr_vals + i, seq);
		print_flags("HIST_FIELD_FL_VAR", seq);
		print_var(&hist->vars[i], i, seq);
		print_value(&hist->vars[i], hist->vars[i].bytes, seq);
	}
}

/* A key has whole words. */
static void print_keys(const struct hist *hist, struct trace_seq *seq)
{
	trace_seq_puts(seq, "\n  key fields:\n");
	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		print_field_head(1u + hist->nr_vals + hist->nr_vars + i, seq);
		print_flags("HIST_FIELD_FL_KEY", seq);
		print_value(&hist->keys[i], 8u * hist->keys[i].words, seq);
	}
}

static void print_refs(const struct hist *hist, struct trace_seq *seq)
{
	if (hist->nr_refs)
		trace_seq_puts(seq, "\n  variable reference fields:\n");
	for (uint32_t i = 0; i < hist->nr_refs; i++) {
		const struct hist_ref *ref = &hist->refs[i];
		const struct hist_value *var = &ref->hist->vars[ref->var];

		trace_seq_printf(seq, "\n    hist_data->var_refs[%u]:\n", i);
		print_flags("HIST_FIELD_FL_VAR_REF", seq);
		trace_seq_printf(seq,
				 FIELD_INDENT
				 "name: %s\n" FIELD_INDENT
				 "var.idx (into tracing_map_elt.vars[]): %u\n" FIELD_INDENT
				 "var.hist_data: %016llx\n" FIELD_INDENT
				 "var_ref_idx (into hist_data->var_refs[]): %u\n",
				 var->var, ref->var, id_of(ref->hist), i);
		print_type(var->type, var->bytes, var->is_signed, seq);
	}
}

/* What onmax() and onchange() follow, and the variable in which each entry keeps it. */
static void print_followed(const struct hist *hist, uint32_t i, struct trace_seq *seq)
{
	const struct hist_action *action = hist->actions[i];
	const struct hist_value *var = &hist->vars[action->var];

	trace_seq_printf(seq, "\n    hist_data->actions[%u].track_data.var_ref:\n", i);
	print_flags("HIST_FIELD_FL_VAR_REF", seq);
	trace_seq_printf(seq,
			 FIELD_INDENT "name: %s\n" FIELD_INDENT
				      "var.idx (into tracing_map_elt.vars[]): %u\n" FIELD_INDENT
				      "var.hist_data: %016llx\n",
			 var->var, action->var, id_of(hist));
	print_type(var->type, var->bytes, var->is_signed, seq);
	trace_seq_printf(seq, "\n    hist_data->actions[%u].track_data.track_var:\n", i);
	print_flags("HIST_FIELD_FL_VAR", seq);
	trace_seq_printf(seq, FIELD_INDENT "var.name: __%s\n", action->handler->title);
	print_type("u64", sizeof(uint64_t), false, seq);
}

static void print_saved(const struct hist_action *action, uint32_t i, struct trace_seq *seq)
{
	const struct hist_value *value = &action->params[i].value;

	if (!i)
		trace_seq_puts(seq, "\n  save action variables (save() params):\n");
	trace_seq_printf(seq, "\n    hist_data->save_vars[%u]:\n", i);
	print_flags("HIST_FIELD_FL_VAR", seq);
	trace_seq_printf(seq, FIELD_INDENT "var.name: %s\n", action->params[i].name);
	print_value(value, value->bytes, seq);
}

static void print_action(const struct hist *hist, uint32_t i, struct trace_seq *seq)
{
	const struct hist_action *action = hist->actions[i];

	if (action->handler->title) {
		print_followed(hist, i, seq);
		return;
	}
	trace_seq_printf(seq,
			 "\n    hist_data->actions[%u].match_data.event_system: %s\n"
			 "    hist_data->actions[%u].match_data.event: %s\n",
			 i, action->system, i, action->event);
}

/* Actions first, then what is saved, one by one. False: there is no piece of that number. */
static bool print_actions(const struct hist *hist, size_t at, struct trace_seq *seq)
{
	const struct hist_action *save = NULL;

	if (at < hist->nr_actions) {
		if (!at)
			trace_seq_puts(seq, "\n  action tracking variables (for "
					    "onmax()/onchange()/onmatch()):\n");
		print_action(hist, (uint32_t)at, seq);
		return true;
	}
	at -= hist->nr_actions;
	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		if (hist->actions[i]->type == &hist_save_type)
			save = hist->actions[i];
	}
	if (!save || at >= save->nr_params)
		return false;
	print_saved(save, (uint32_t)at, seq);
	return true;
}

static void print_head(const struct hist *hist, struct trace_seq *seq)
{
	uint32_t nr_vals = 1u + hist->nr_vals + hist->nr_vars;

	trace_seq_printf(seq, "hist_data: %016llx\n\n  n_vals: %u\n  n_keys: %u\n  n_fields: %u\n",
			 id_of(hist), nr_vals, hist->nr_keys, nr_vals + hist->nr_keys);
}

/* One piece after the other. */
static bool debug_next(struct hist_view *view, struct trace_seq *seq)
{
	static void (*const parts[])(const struct hist *hist,
				     struct trace_seq *seq) = { print_head, print_vals, print_keys,
								print_refs };
	size_t nr = sizeof(parts) / sizeof(parts[0]), len = seq->len;

	while (view->at < nr && seq->len == len)
		parts[view->at++](view->hist, seq);
	return seq->len > len || print_actions(view->hist, view->at++ - nr, seq);
}

const struct hist_form hist_form_debug = { .next = debug_next, .separator = "\n\n" };
