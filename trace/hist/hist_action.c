/* Actions of histograms: creation, removal, acting. See hist_action.h. */
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "hist_record.h"
#include "hist_run.h"
#include "hist_view.h"
#include "feature/list.h"
#include "text/str.h"

/* ---- The registry ---- */

static struct hist_action_entry *all_actions;

void trace_hist_action_register(struct hist_action_entry *entry)
{
	TRACE_LIST_ADD(all_actions, entry);
}

const struct hist_action_type *trace_hist_find_action_type(const struct expr_word *word)
{
	const struct hist_action_type *call = NULL;

	for (const struct hist_action_entry *at = all_actions; at; at = at->next) {
		const struct hist_action_type *type = at->type;

		if (trace_expr_is(word, type->name))
			return type;
		if (type->is_call)
			call = type;
	}
	return word->len ? call : NULL;
}

/* ---- Creation and removal ---- */

int trace_hist_compile_actions(struct hist_parse *parse)
{
	struct hist *hist = parse->hist;
	int err = 0;

	for (uint32_t i = 0; i < hist->nr_actions && !err; i++) {
		struct hist_action *action = hist->actions[i];

		if (action->handler->title)
			err = trace_hist_find_followed(parse, action);
		if (!err && action->type->compile)
			err = action->type->compile(parse, action);
	}
	return err;
}

void trace_hist_free_actions(struct hist *hist)
{
	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		struct hist_action *action = hist->actions[i];

		if (action->type && action->type->free)
			action->type->free(action);
		trace_plat_free(action, sizeof(*action));
	}
	if (!hist->shared)
		trace_hist_records_destroy(hist->records);
}

int trace_hist_begin_actions(struct hist *hist)
{
	int err = 0;

	for (uint32_t i = 0; i < hist->nr_actions && !err; i++) {
		struct hist_action *action = hist->actions[i];

		if (action->type->begin)
			err = action->type->begin(hist, action);
		action->has_begun = !err;
	}
	if (err)
		trace_hist_end_actions(hist);
	return err;
}

void trace_hist_end_actions(struct hist *hist)
{
	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		struct hist_action *action = hist->actions[i];

		if (action->has_begun && action->type->end)
			action->type->end(hist, action);
		action->has_begun = false;
	}
}

void trace_hist_clear_actions(struct hist *hist)
{
	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		if (hist->actions[i]->type->clear)
			hist->actions[i]->type->clear(hist->actions[i]);
	}
	if (hist->records)
		trace_hist_records_clear(hist->records);
}

/* ---- As text ---- */

void trace_hist_print_entry_actions(const struct hist_view *view, const uint64_t *entry,
				    struct trace_seq *seq)
{
	const struct hist *hist = view->hist;

	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		const struct hist_action *action = hist->actions[i];
		const uint64_t *value = &entry[1 + action->at];

		if (!action->handler->title || action->type->hides_value)
			continue;
		/* With `replace`, the word's record begins with the value. */
		if (action->type->replace)
			value = hist_view_record(view, entry);
		trace_seq_printf(seq, "\n\t%s: %10llu", action->handler->title,
				 (unsigned long long)*value);
		if (action->type->print_entry)
			action->type->print_entry(view, action, entry, seq);
	}
}

void trace_hist_print_end_actions(const struct hist_view *view, struct trace_seq *seq)
{
	const struct hist *hist = view->hist;

	for (uint32_t i = 0; i < hist->nr_actions; i++) {
		if (hist->actions[i]->type->print_end)
			hist->actions[i]->type->print_end(view, hist->actions[i], seq);
	}
}

/* ---- At each event: any context ---- */

/* Put `value` into the word of the entry, if the handler asks for it. */
static bool replace_kept(struct hist_run *run, const struct hist_action *action, uint64_t value)
{
	_Atomic uint64_t *place = &run->entry->words[action->at];
	uint64_t kept = atomic_load_explicit(place, memory_order_relaxed);

	do {
		if (!action->handler->replaces(kept, value))
			return false;
	} while (!atomic_compare_exchange_weak_explicit(place, &kept, value, memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

void trace_hist_act(struct hist_run *run, struct hist_action *action)
{
	const struct hist_action_type *type = action->type;

	if (!action->handler->title)
		type->act(run, action, 0);
	else if (type->replace)
		type->replace(run, action, run->vars[action->var]);
	else if (replace_kept(run, action, run->vars[action->var]))
		type->act(run, action, run->vars[action->var]);
}
