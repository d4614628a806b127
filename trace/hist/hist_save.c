/*
 * The action save(FIELD,...): an entry keeps fields of the event that set its kept value. See
 * hist_action.h, hist_record.h.
 */
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "hist_record.h"
#include "hist_run.h"
#include "hist_view.h"
#include "text/str.h"

#define WORDS_MAX (HIST_TEXT_MAX / 8u)

static int compile_param(struct hist_parse *parse, struct hist_param *param, uint32_t *words)
{
	int err = trace_hist_compile_plain(parse, &param->text, &param->value);

	if (err)
		return err;
	param->value.at = (uint16_t)*words;
	*words += param->value.words;
	return 0;
}

static int save_compile(struct hist_parse *parse, struct hist_action *action)
{
	struct hist *hist = parse->hist;
	uint32_t words = 1; /* the value */
	int err = 0;

	if (hist->records)
		return trace_expr_refuse(&parse->cursor, -EEXIST,
					 "Can't have more than one save() action per hist",
					 action->word.at);
	for (uint32_t i = 0; i < action->nr_params && !err; i++)
		err = compile_param(parse, &action->params[i], &words);
	if (err)
		return err;
	hist->records = trace_hist_records_create(hist->size, words);
	return hist->records ? 0 : -ENOMEM;
}

/* ---- Acting, in any context ---- */

struct fill {
	struct hist_run *run;
	const struct hist_action *action;
};

static void fill_words(struct hist_run *run, const struct hist_value *value,
		       _Atomic uint64_t *record)
{
	uint64_t words[WORDS_MAX];
	uint32_t nr = trace_hist_compute_words(run, hist_insn_of(run->hist, value), words);

	for (uint32_t i = 0; i < nr; i++)
		hist_record_set(record, value->at + i, words[i]);
}

static void save_fill(void *context, _Atomic uint64_t *record)
{
	const struct fill *fill = context;

	for (uint32_t i = 0; i < fill->action->nr_params; i++) {
		const struct hist_value *value = &fill->action->params[i].value;

		if (value->kind == HIST_NUMBER)
			hist_record_set(record, value->at,
					trace_hist_compute(fill->run,
							   hist_insn_of(fill->run->hist, value)));
		else
			fill_words(fill->run, value, record);
	}
}

static void save_replace(struct hist_run *run, struct hist_action *action, uint64_t value)
{
	struct fill context = { run, action };
	const struct hist_record_wish wish = { .value = value,
					       .replaces = action->handler->replaces,
					       .fill = save_fill,
					       .context = &context };

	(void)trace_hist_record_replace(run->hist->records, &run->entry->words[action->at], &wish);
}

/* ---- As text ---- */

static void save_print(const struct hist_view *view, const struct hist_action *action,
		       const uint64_t *entry, struct trace_seq *seq)
{
	const uint64_t *record = hist_view_record(view, entry);

	for (uint32_t i = 0; i < action->nr_params; i++) {
		trace_seq_puts(seq, "  ");
		trace_hist_print_kept(&action->params[i].value, record + action->params[i].value.at,
				      seq);
	}
}

const struct hist_action_type trace_hist_save_type = {
	.name = "save",
	.needs_variable = true,
	.has_params = true,
	.compile = save_compile,
	.replace = save_replace,
	.print_entry = save_print,
};
