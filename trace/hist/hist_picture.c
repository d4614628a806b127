/*
 * Pictures of histograms: the choice between bars and a map, and common code. See hist_picture.h.
 */
#include <trace/fmt.h>
#include <trace/trace_seq.h>
#include "hist_label.h"
#include "hist_picture.h"
#include "text/str.h"

/* ---- Common code ---- */

const char *trace_hist_quantity_name(const struct hist *hist, const struct hist_quantity *quantity)
{
	return quantity->index ? hist->vals[quantity->index - 1].name : "hitcount";
}

static void add_quantity(struct hist_view *view, uint32_t index)
{
	struct hist_picture *picture = view->private;
	struct hist_quantity *quantity = &picture->quantities[picture->nr_quantities++];

	quantity->index = index;
	quantity->is_signed = index && view->hist->vals[index - 1].is_signed;
	for (size_t i = 0; i < view->nr; i++) {
		uint64_t sum = hist_drawn_sum(view->hist, view->order[i], index);

		quantity->total += sum;
		if (sum > quantity->max)
			quantity->max = sum;
	}
}

void trace_hist_picture_init(struct hist_view *view, const struct hist_style *style)
{
	struct hist_picture *picture = view->private;
	const struct hist *hist = view->hist;
	bool has_hits = false;

	picture->style = style;
	for (uint32_t i = hist->no_hitcount; i <= hist->nr_vals; i++) {
		bool is_hits = !i || hist->vals[i - 1].is_hits;

		if (!is_hits || !has_hits)
			add_quantity(view, i);
		has_hits |= is_hits;
	}
}

/* Make the label of an entry from its keys that are no stacks; for NULL, from their titles. */
static void make_label(const struct hist *hist, const uint64_t *entry, struct hist_keys keys,
		       struct trace_seq *seq)
{
	for (uint32_t i = keys.first; i < keys.first + keys.nr; i++) {
		if (hist_is_stack(&hist->keys[i]))
			continue;
		trace_seq_puts(seq, seq->len ? ", " : "");
		if (entry)
			trace_hist_label(hist, entry, i, seq);
		else
			trace_hist_label_name(&hist->keys[i], seq);
	}
}

/* Measure labels of powers, including numbers of a scale that did not occur. */
static void measure_powers(struct hist_view *view, uint32_t index)
{
	struct hist_picture *picture = view->private;
	uint64_t min = UINT64_MAX, max = 0;

	for (size_t i = 0; i < view->nr; i++) {
		uint64_t number = *trace_hist_key_at(view->hist, view->order[i], index);

		min = number < min ? number : min;
		max = number > max ? number : max;
	}
	for (; min < max; min++) {
		char text[HIST_LABEL_MAX];
		struct trace_seq label;

		trace_seq_init(&label, text, sizeof(text));
		trace_hist_label_number(&view->hist->keys[index], min, &label);
		if (label.len > picture->label_width)
			picture->label_width = (uint32_t)label.len;
	}
}

void trace_hist_picture_measure(struct hist_view *view, struct hist_keys keys, uint32_t max_width)
{
	struct hist_picture *picture = view->private;
	const struct hist_value *key = &view->hist->keys[keys.first];

	picture->is_right = keys.nr == 1 && trace_hist_is_number(key);
	for (size_t i = 0; i <= view->nr && picture->label_width < max_width; i++) {
		char text[HIST_LABEL_MAX];
		struct trace_seq label;

		trace_seq_init(&label, text, sizeof(text));
		make_label(view->hist, i ? view->order[i - 1] : NULL, keys, &label);
		if (label.len > picture->label_width)
			picture->label_width = (uint32_t)label.len;
	}
	if (keys.nr == 1 && key->modifier == HIST_LOG2)
		measure_powers(view, keys.first);
	if (picture->label_width > max_width)
		picture->label_width = max_width;
}

static void print_label(const struct hist_picture *picture, const struct trace_seq *label,
			const char *edge, struct trace_seq *seq)
{
	trace_hist_draw_text(picture->style, label, picture->label_width, picture->is_right, seq);
	trace_seq_printf(seq, " %s", edge);
}

void trace_hist_picture_label(const struct hist_view *view, const uint64_t *entry,
			      struct hist_keys keys, struct trace_seq *seq)
{
	const struct hist_picture *picture = view->private;
	char text[HIST_LABEL_MAX];
	struct trace_seq label;

	trace_seq_init(&label, text, sizeof(text));
	make_label(view->hist, entry, keys, &label);
	print_label(picture, &label, entry ? picture->style->edge : " ", seq);
}

/* ---- Numbers that did not occur ---- */

struct hist_gap trace_hist_gap_between(const struct hist_value *key, uint64_t before,
				       uint64_t behind)
{
	uint64_t nr = (behind - before) / hist_scale_step(key) - 1;

	return (struct hist_gap){ .nr = nr, .is_short = nr <= HIST_GAP_MAX };
}

void trace_hist_picture_number(const struct hist_view *view, const struct hist_value *key,
			       uint64_t number, struct trace_seq *seq)
{
	const struct hist_picture *picture = view->private;
	char text[HIST_LABEL_MAX];
	struct trace_seq label;

	trace_seq_init(&label, text, sizeof(text));
	trace_hist_label_number(key, number, &label);
	print_label(picture, &label, picture->style->edge, seq);
}

void trace_hist_picture_gap(const struct hist_view *view, uint64_t nr, struct trace_seq *seq)
{
	const struct hist_picture *picture = view->private;

	trace_hist_draw_repeat(" ", picture->label_width ? picture->label_width - 1 : 0, seq);
	trace_seq_printf(seq, "%s %s %llu more with nothing\n", picture->style->gap,
			 picture->style->gap, (unsigned long long)nr);
}

/* ---- The choice of the picture ---- */

/* The fitness of a key for going across, from 0, unfit, to 3. Stacks are unfit. */
static uint32_t fitness(const struct hist_value *key)
{
	if (hist_is_stack(key))
		return 0;
	if (trace_hist_is_scale(key))
		return 3;
	return key->kind == HIST_NUMBER && key->modifier != HIST_EXECNAME &&
			       key->modifier != HIST_SYM && key->modifier != HIST_SYM_OFFSET
		       ? 2
		       : 1;
}

static int picture_begin(struct hist_view *view, const struct hist_style *style)
{
	const struct hist *hist = view->hist;
	uint32_t across;

	if (hist->nr_keys != 2 || !view->nr)
		return trace_hist_bars_begin(view, style);
	across = fitness(&hist->keys[1]) >= fitness(&hist->keys[0]);
	if (!fitness(&hist->keys[0]) || !fitness(&hist->keys[1]))
		return trace_hist_bars_begin(view, style);
	return trace_hist_heat_begin(view, style, across);
}

static int utf8_begin(struct hist_view *view)
{
	return picture_begin(view, &trace_hist_style_utf8);
}

static int ascii_begin(struct hist_view *view)
{
	return picture_begin(view, &trace_hist_style_ascii);
}

static bool picture_next(struct hist_view *view, struct trace_seq *seq)
{
	struct hist_picture *picture = view->private;

	if (picture->is_over)
		return false;
	if (picture->next(view, seq))
		return true;
	trace_hist_print_totals(view, seq);
	picture->is_over = true;
	return true;
}

#define NONE "# No histogram is set here: write hist:keys=... to trigger.\n"

const struct hist_form trace_hist_form_picture = {
	.begin = utf8_begin,
	.next = picture_next,
	.separator = "\n\n",
	.none = NONE,
};

const struct hist_form trace_hist_form_ascii = {
	.begin = ascii_begin,
	.next = picture_next,
	.separator = "\n\n",
	.none = NONE,
};
