/* Columns of a histogram's map. See hist_columns.h. */
#include <trace/trace_seq.h>
#include "hist_columns.h"
#include "hist_label.h"
#include "text/str.h"

#define WIDTH_MAX  6u
#define LETTERS	   26u
#define LEGEND_MAX 34u

static uint64_t hist_columns_number_of(const struct hist_columns *columns, const struct hist *hist,
				       const uint64_t *entry)
{
	return *trace_hist_key_at(hist, entry, columns->key);
}

/* ---- Ranges ---- */

/* The next of the round numbers 1, 2, 5, 10, 20, ... */
static uint64_t next_round(uint64_t step)
{
	uint64_t unit = 1;

	while (step / unit >= 10)
		unit *= 10;
	return step / unit == 2 ? 5 * unit : 2 * step;
}

static uint64_t nr_steps(const struct hist_columns *columns, uint64_t max)
{
	return (max - columns->origin) / columns->step + 1;
}

/* The greatest multiple of `step` that is at most `number`. */
static uint64_t round_down(uint64_t number, uint64_t step, bool is_signed)
{
	if (is_signed && number >> 63)
		return -((-number + step - 1) / step * step);
	return number - number % step;
}

static void set_ranges(struct hist_columns *columns, const struct hist_value *key, uint64_t min,
		       uint64_t max, uint32_t room)
{
	columns->step = 1;
	columns->origin = min;
	while ((max - columns->origin) / columns->step >= room) {
		columns->step = next_round(columns->step);
		columns->origin = round_down(min, columns->step, key->is_signed);
	}
	columns->nr = (uint32_t)nr_steps(columns, max);
}

static void set_scale(struct hist_columns *columns, const struct hist_value *key, uint64_t min,
		      uint64_t max, uint32_t room)
{
	uint64_t last = (max - min) / hist_scale_step(key);

	columns->origin = min;
	columns->step = hist_scale_step(key) * (last / room + 1);
	columns->nr = (uint32_t)nr_steps(columns, max);
}

/* ---- Lists ---- */

struct key_order {
	const struct hist *hist;
	uint32_t key;
};

static bool hist_columns_has_lower_key(const void *context, const void *a, const void *b)
{
	const struct key_order *order = context;

	return trace_hist_compare_keys(order->hist, a, b, order->key) < 0;
}

/* Insert `entry` into the list, which is sorted by totals, if it is large enough. */
static void hist_columns_insert(struct hist_columns *columns, uint64_t *totals, uint32_t max,
				const uint64_t *entry, uint64_t total)
{
	uint32_t at = columns->nr_listed;

	if (at == max && totals[at - 1] >= total)
		return;
	if (at < max)
		columns->nr_listed++;
	else
		at--;
	for (; at && totals[at - 1] < total; at--) {
		totals[at] = totals[at - 1];
		columns->list[at] = columns->list[at - 1];
	}
	totals[at] = total;
	columns->list[at] = entry;
}

/*
 * List the most frequent keys, at most `max`. `order` is sorted by the key. Returns their number.
 */
static uint32_t list_frequent(struct hist_columns *columns, const struct hist_view *view,
			      const void **order, uint32_t max)
{
	uint64_t totals[LETTERS] = { 0 }, total = 0;
	uint32_t nr = 0;

	for (size_t i = 0; i < view->nr; i++) {
		const uint64_t *entry = order[i];

		total += entry[0];
		if (i + 1 < view->nr &&
		    !trace_hist_compare_keys(view->hist, entry, order[i + 1], columns->key))
			continue;
		hist_columns_insert(columns, totals, max, entry, total);
		total = 0;
		nr++;
	}
	return nr;
}

static void set_letters(struct hist_columns *columns, const struct hist_view *view,
			const void **order, uint32_t room)
{
	uint32_t max = room / 2 < LETTERS ? room / 2 : LETTERS;
	uint32_t nr = list_frequent(columns, view, order, max);

	columns->is_list = true;
	columns->has_letters = true;
	columns->has_rest = nr > columns->nr_listed;
	columns->nr = columns->nr_listed + columns->has_rest;
}

/* Make a column for each number, if there are not too many. `order` is sorted by the key. */
static bool set_numbers(struct hist_columns *columns, const struct hist_view *view,
			const void **order, uint32_t room)
{
	columns->nr_listed = 0;
	for (size_t i = 0; i < view->nr; i++) {
		if (i && !trace_hist_compare_keys(view->hist, order[i - 1], order[i], columns->key))
			continue;
		if (columns->nr_listed == room)
			return false;
		columns->list[columns->nr_listed++] = order[i];
	}
	columns->is_list = true;
	columns->nr = columns->nr_listed;
	return true;
}

/* ---- The choice of columns ---- */

void trace_hist_columns_init(struct hist_columns *columns, const struct hist_view *view,
			     const void **order, uint32_t room)
{
	const struct hist_value *key = &view->hist->keys[columns->key];
	const struct key_order by = { view->hist, columns->key };
	uint64_t min, max;

	if (room > HIST_COLUMNS_MAX)
		room = HIST_COLUMNS_MAX;
	memcpy(order, view->order, view->nr * sizeof(*order));
	trace_hist_sort(order, view->nr, hist_columns_has_lower_key, &by);
	min = hist_columns_number_of(columns, view->hist, order[0]);
	max = hist_columns_number_of(columns, view->hist, order[view->nr - 1]);
	if (!trace_hist_is_number(key))
		set_letters(columns, view, order, room);
	else if (trace_hist_is_scale(key))
		set_scale(columns, key, min, max, room);
	else if (!set_numbers(columns, view, order, room))
		set_ranges(columns, key, min, max, room);
	columns->width = room / columns->nr < WIDTH_MAX ? room / columns->nr : WIDTH_MAX;
	if (columns->has_letters && columns->width > 3)
		columns->width = 3;
}

uint32_t trace_hist_column_of(const struct hist_columns *columns, const struct hist *hist,
			      const uint64_t *entry)
{
	uint32_t at = 0;

	if (!columns->is_list)
		return (uint32_t)((hist_columns_number_of(columns, hist, entry) - columns->origin) /
				  columns->step);
	while (at < columns->nr_listed &&
	       trace_hist_compare_keys(hist, entry, columns->list[at], columns->key))
		at++;
	return at;
}

/* ---- The text below the map ---- */

static void print_letter(const struct hist_columns *columns, uint32_t at, struct trace_seq *seq)
{
	trace_seq_putc(seq, at < columns->nr_listed ? (char)('a' + at) : '*');
}

static void print_tick(const struct hist_columns *columns, const struct hist *hist, uint32_t at,
		       struct trace_seq *seq)
{
	const struct hist_value *key = &hist->keys[columns->key];
	struct hist_value plain = *key;
	uint64_t number = columns->origin + at * columns->step;

	if (columns->has_letters) {
		print_letter(columns, at, seq);
	} else if (columns->is_list) {
		trace_hist_label(hist, columns->list[at], columns->key, seq);
	} else if (key->modifier == HIST_LOG2) {
		trace_hist_label_power(number + columns->step - 1, seq);
	} else {
		if (key->modifier == HIST_BUCKETS)
			plain.modifier = HIST_PLAIN;
		trace_hist_label_number(&plain, number, seq);
	}
}

/*
 * Draw the edge into `edge`, and the texts of its ticks into `texts`: as many as fit with a blank
 * between two of them.
 */
static void print_ticks(const struct hist_columns *columns, const struct hist_view *view,
			struct trace_seq *edge, struct trace_seq *texts)
{
	const struct hist_picture *picture = view->private;

	for (uint32_t at = 0; at < columns->nr; at++) {
		bool has_tick = !texts->len || texts->len < (size_t)at * columns->width;

		trace_seq_puts(edge, has_tick ? picture->style->tick : picture->style->line);
		trace_hist_draw_repeat(picture->style->line, columns->width - 1, edge);
		if (!has_tick)
			continue;
		trace_hist_draw_repeat(" ", at * columns->width - (uint32_t)texts->len, texts);
		print_tick(columns, view->hist, at, texts);
	}
}

static void print_legend(const struct hist_columns *columns, const struct hist_view *view,
			 uint32_t indent, struct trace_seq *seq)
{
	const struct hist_picture *picture = view->private;
	uint32_t used = 0;

	for (uint32_t at = 0; at < columns->nr; at++) {
		uint32_t width;
		char text[HIST_LABEL_MAX];
		struct trace_seq label;

		trace_seq_init(&label, text, sizeof(text));
		if (at < columns->nr_listed)
			trace_hist_label(view->hist, columns->list[at], columns->key, &label);
		else
			trace_seq_puts(&label, "all others");
		width = label.len < LEGEND_MAX ? (uint32_t)label.len : LEGEND_MAX;
		if (used && used + width + 4 > HIST_LINE_WIDTH) {
			trace_seq_putc(seq, '\n');
			used = 0;
		}
		if (!used)
			trace_hist_draw_repeat(" ", used = indent, seq);
		else
			trace_seq_puts(seq, "  ");
		print_letter(columns, at, seq);
		trace_seq_putc(seq, ' ');
		trace_hist_draw_text(picture->style, &label, width, false, seq);
		used += width + 4;
	}
	trace_seq_putc(seq, '\n');
}

void trace_hist_columns_print(const struct hist_columns *columns, const struct hist_view *view,
			      uint32_t indent, struct trace_seq *seq)
{
	const struct hist_picture *picture = view->private;
	struct trace_seq texts;
	char text[2 * HIST_LINE_WIDTH];

	trace_seq_init(&texts, text, sizeof(text));
	trace_hist_draw_repeat(" ", indent - 1, seq);
	trace_seq_puts(seq, picture->style->corner);
	print_ticks(columns, view, seq, &texts);
	trace_seq_putc(seq, '\n');
	trace_hist_draw_repeat(" ", indent, seq);
	trace_seq_write(seq, texts.buf, texts.len);
	trace_seq_putc(seq, '\n');
	if (columns->has_letters)
		print_legend(columns, view, indent, seq);
}

const char *trace_hist_columns_ticks(const struct hist_columns *columns, const struct hist *hist)
{
	if (columns->has_letters)
		return ", see below";
	if (columns->is_list || hist->keys[columns->key].modifier == HIST_PLAIN)
		return columns->is_list || columns->step == 1 ? "" : ", from";
	return hist->keys[columns->key].modifier == HIST_LOG2 ? ", up to" : ", from";
}
