/*
 * Histograms as bars: a line for each entry, a column of bars for the hits and each value. See
 * hist_picture.h.
 */
#include <trace/trace_seq.h>
#include "hist_label.h"
#include "hist_picture.h"
#include "text/str.h"

#define EDGE_WIDTH   2u /* a blank and the edge */
#define STACK_INDENT 4u

struct bars {
	struct hist_picture picture;
	struct hist_keys keys;
	bool is_scale;
	uint32_t bar_width;
	uint32_t number_width;
};

static struct hist_number how_of(const struct bars *bars, const struct hist_quantity *quantity)
{
	return (struct hist_number){ quantity->is_signed, bars->picture.nr_quantities > 1 };
}

/* Print a share: exactly with one column of bars, in whole percent with several. */
static void print_share(const struct bars *bars, uint32_t share, struct trace_seq *seq)
{
	if (bars->picture.nr_quantities == 1)
		trace_seq_printf(seq, " %3u.%u%%", share / 100, share / 10 % 10);
	else if (share && share < 100)
		trace_seq_puts(seq, "  <1%");
	else
		trace_seq_printf(seq, " %3u%%", share / 100);
}

static uint32_t share_width(const struct bars *bars)
{
	return bars->picture.nr_quantities == 1 ? 7 : 5;
}

/* Print the bars, numbers and shares of an entry; for NULL, empty ones. */
static void print_bars(const struct hist_view *view, const uint64_t *entry, struct trace_seq *seq)
{
	const struct bars *bars = view->private;
	const struct hist_picture *picture = &bars->picture;

	for (uint32_t i = 0; i < picture->nr_quantities; i++) {
		const struct hist_quantity *quantity = &picture->quantities[i];
		uint64_t sum = entry ? hist_sum_at(view->hist, entry, quantity->index) : 0;
		uint64_t drawn = entry ? hist_drawn_sum(view->hist, entry, quantity->index) : 0;
		char text[HIST_NUMBER_MAX];
		struct trace_seq number;

		if (i)
			trace_seq_printf(seq, " %s", picture->style->edge);
		trace_hist_draw_bar(picture->style, drawn, quantity->max, bars->bar_width, seq);
		trace_seq_init(&number, text, sizeof(text));
		trace_hist_draw_number(how_of(bars, quantity), sum, &number);
		trace_hist_draw_text(picture->style, &number, bars->number_width + 1, true, seq);
		print_share(bars, trace_hist_share_of(drawn, quantity->total), seq);
	}
	trace_seq_putc(seq, '\n');
}

static void hist_bars_print_missing(const struct hist_view *view, uint64_t before, uint64_t behind,
				    struct trace_seq *seq)
{
	const struct hist_value *key = &view->hist->keys[0];
	struct hist_gap gap = trace_hist_gap_between(key, before, behind);

	if (!gap.is_short)
		trace_hist_picture_gap(view, gap.nr, seq);
	for (uint64_t i = 1; gap.is_short && i <= gap.nr; i++) {
		trace_hist_picture_number(view, key, before + i * hist_scale_step(key), seq);
		print_bars(view, NULL, seq);
	}
}

static void hist_bars_print_stack(const struct hist_value *key, const uint64_t *words,
				  struct trace_seq *seq)
{
	uint32_t nr = trace_hist_stack_depth(key, words);
	size_t begin = seq->len; /* beginning of the line */

	if (!nr)
		return;
	trace_hist_draw_repeat(" ", STACK_INDENT, seq);
	for (uint32_t i = 0; i < nr; i++) {
		char text[HIST_LABEL_MAX];
		struct trace_seq name;

		trace_seq_init(&name, text, sizeof(text));
		trace_hist_label_frame(key, words, i, &name);
		if (i && seq->len - begin + 3 + name.len + 2 > HIST_LINE_WIDTH) {
			trace_seq_puts(seq, " <\n");
			begin = seq->len;
			trace_hist_draw_repeat(" ", STACK_INDENT, seq);
		} else {
			trace_seq_puts(seq, i ? " < " : "");
		}
		trace_seq_write(seq, name.buf, name.len);
	}
	trace_seq_putc(seq, '\n');
}

/* The stacks of an entry, innermost function first. */
static void print_stacks(const struct hist *hist, const uint64_t *entry, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		if (hist_is_stack(&hist->keys[i]))
			hist_bars_print_stack(&hist->keys[i], trace_hist_key_at(hist, entry, i),
					      seq);
	}
}

static void hist_bars_print_title(const struct hist_view *view, struct trace_seq *seq)
{
	const struct bars *bars = view->private;
	const struct hist_picture *picture = &bars->picture;
	char text[HIST_LABEL_MAX];
	struct trace_seq name;

	trace_hist_picture_label(view, NULL, bars->keys, seq);
	for (uint32_t i = 0; i < picture->nr_quantities; i++) {
		uint32_t width = bars->bar_width + bars->number_width + share_width(bars) + 1;

		trace_seq_init(&name, text, sizeof(text));
		trace_seq_puts(&name,
			       trace_hist_quantity_name(view->hist, &picture->quantities[i]));
		trace_seq_puts(seq, i ? "  " : "");
		if (i + 1 < picture->nr_quantities || name.len > width)
			trace_hist_draw_text(picture->style, &name, width, false, seq);
		else
			trace_seq_write(seq, name.buf, name.len);
	}
	trace_seq_putc(seq, '\n');
}

static bool bars_next(struct hist_view *view, struct trace_seq *seq)
{
	struct bars *bars = view->private;
	const struct hist *hist = view->hist;
	size_t at = bars->picture.at++;

	if (at >= view->nr)
		return false;
	if (!at)
		hist_bars_print_title(view, seq);
	else if (bars->is_scale)
		hist_bars_print_missing(view, *trace_hist_key_at(hist, view->order[at - 1], 0),
					*trace_hist_key_at(hist, view->order[at], 0), seq);
	trace_hist_picture_label(view, view->order[at], bars->keys, seq);
	print_bars(view, view->order[at], seq);
	print_stacks(hist, view->order[at], seq);
	return true;
}

static bool hist_bars_has_lower_key(const void *hist, const void *a, const void *b)
{
	return trace_hist_compare_keys(hist, a, b, 0) < 0;
}

static uint32_t number_width_of(const struct hist_view *view)
{
	const struct bars *bars = view->private;
	uint32_t width = 1;

	for (uint32_t i = 0; i < bars->picture.nr_quantities; i++) {
		const struct hist_quantity *quantity = &bars->picture.quantities[i];

		for (size_t at = 0; at < view->nr; at++) {
			char text[HIST_NUMBER_MAX];
			struct trace_seq number;

			trace_seq_init(&number, text, sizeof(text));
			trace_hist_draw_number(
				how_of(bars, quantity),
				hist_sum_at(view->hist, view->order[at], quantity->index), &number);
			width = number.len > width ? (uint32_t)number.len : width;
		}
	}
	return width;
}

/* The greatest width of labels, by the number of columns of bars. */
static uint32_t label_max(const struct bars *bars)
{
	static const uint32_t one_key[] = { 0, 32, 22, 16 };
	uint32_t max = one_key[bars->picture.nr_quantities];

	return bars->keys.nr > 1 && bars->picture.nr_quantities == 1 ? 44 : max;
}

int trace_hist_bars_begin(struct hist_view *view, const struct hist_style *style)
{
	struct bars *bars = trace_hist_view_alloc(view, sizeof(*bars));
	uint32_t used;

	if (!bars)
		return -ENOMEM;
	trace_hist_picture_init(view, style);
	bars->picture.next = bars_next;
	bars->keys.nr = view->hist->nr_keys;
	bars->is_scale = bars->keys.nr == 1 && trace_hist_is_scale(&view->hist->keys[0]);
	if (bars->is_scale)
		trace_hist_sort(view->order, view->nr, hist_bars_has_lower_key, view->hist);
	trace_hist_picture_measure(view, bars->keys, label_max(bars));
	bars->number_width = number_width_of(view);
	used = EDGE_WIDTH + 1 + bars->number_width + share_width(bars);
	bars->bar_width =
		(HIST_LINE_WIDTH - bars->picture.label_width) / bars->picture.nr_quantities - used;
	return 0;
}
