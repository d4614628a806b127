/*
 * Histograms of two keys as maps: the darker a field, the greater its count. One map for the hits
 * and one for each value. See hist_picture.h.
 */
#include <trace/trace_seq.h>
#include "hist_columns.h"
#include "hist_label.h"
#include "text/str.h"

#define LABEL_MAX   24u
#define SIDE_WIDTH  20u /* characters of a line beside the fields: edges, total, share */
#define TOTAL_WIDTH 8u

/* A row: the entries with the same value of the key that goes down. */
struct row {
	size_t first, nr; /* in heat->entries */
	uint64_t sums[HIST_VALS_MAX];
};

struct heat {
	struct hist_picture picture;
	struct hist_columns columns;
	struct hist_keys down;
	bool is_scale;
	uint32_t quantity; /* index in picture.quantities[] of the map being drawn */
	uint64_t max;	   /* the greatest field */
	size_t nr_rows;
	const void **entries; /* sorted by the key that goes down */
	const void **order;   /* the rows in the order shown */
	struct row rows[];
};

static const struct hist_quantity *quantity_of(const struct heat *heat)
{
	return &heat->picture.quantities[heat->quantity];
}

/* Compute the sums of a row's fields. */
static void add_up(const struct hist_view *view, const struct row *row, uint64_t *fields)
{
	const struct heat *heat = view->private;
	uint32_t index = quantity_of(heat)->index;

	memset(fields, 0, heat->columns.nr * sizeof(*fields));
	for (size_t i = row->first; i < row->first + row->nr; i++) {
		const uint64_t *entry = heat->entries[i];
		uint32_t column = trace_hist_column_of(&heat->columns, view->hist, entry);

		fields[column] += hist_drawn_sum(view->hist, entry, index);
	}
}

/* ---- Lines ---- */

/* Print the fields of a row and its total; for NULL, those of a key that did not occur. */
static void hist_heat_print_fields(const struct hist_view *view, const struct row *row,
				   struct trace_seq *seq)
{
	const struct heat *heat = view->private;
	const struct hist_style *style = heat->picture.style;
	const struct hist_shading shading = trace_hist_shading_for(style, heat->max);
	uint64_t fields[HIST_COLUMNS_MAX] = { 0 };
	uint64_t total = row ? row->sums[quantity_of(heat)->index] : 0;
	char text[HIST_NUMBER_MAX];
	struct trace_seq number;
	uint32_t share;

	if (row)
		add_up(view, row, fields);
	for (uint32_t i = 0; i < heat->columns.nr; i++)
		trace_hist_draw_repeat(
			fields[i] ? style->shades[trace_hist_shade_of(&shading, fields[i])] : " ",
			heat->columns.width, seq);
	trace_seq_puts(seq, style->edge);
	trace_seq_init(&number, text, sizeof(text));
	trace_hist_draw_number((struct hist_number){ false, true }, total, &number);
	trace_hist_draw_text(style, &number, TOTAL_WIDTH, true, seq);
	share = trace_hist_share_of(total, quantity_of(heat)->total);
	trace_seq_printf(seq, " %3u.%u%%\n", share / 100, share / 10 % 10);
}

static void hist_heat_print_missing(const struct hist_view *view, uint64_t before, uint64_t behind,
				    struct trace_seq *seq)
{
	const struct heat *heat = view->private;
	const struct hist_value *key = &view->hist->keys[heat->down.first];
	struct hist_gap gap = trace_hist_gap_between(key, before, behind);

	if (!gap.is_short)
		trace_hist_picture_gap(view, gap.nr, seq);
	for (uint64_t i = 1; gap.is_short && i <= gap.nr; i++) {
		trace_hist_picture_number(view, key, before + i * hist_scale_step(key), seq);
		hist_heat_print_fields(view, NULL, seq);
	}
}

static void hist_heat_print_title(const struct hist_view *view, struct trace_seq *seq)
{
	const struct heat *heat = view->private;
	const struct hist *hist = view->hist;

	if (heat->quantity)
		trace_seq_putc(seq, '\n');
	trace_seq_puts(seq, "down: ");
	trace_hist_label_name(&hist->keys[heat->down.first], seq);
	trace_seq_puts(seq, "; across: ");
	trace_hist_label_name(&hist->keys[heat->columns.key], seq);
	trace_seq_printf(seq, "%s; shades: %s\n", trace_hist_columns_ticks(&heat->columns, hist),
			 trace_hist_quantity_name(hist, quantity_of(heat)));
}

static void print_shade(const struct hist_shading *shading, uint32_t i, struct trace_seq *seq)
{
	trace_seq_printf(seq, "  %s ", shading->style->shades[i]);
	trace_hist_draw_number((struct hist_number){ false, true },
			       trace_hist_shade_begin(shading, i), seq);
}

/* Print the meanings of the shades, below the fields if there is room. */
static void print_shades(const struct heat *heat, uint32_t indent, struct trace_seq *seq)
{
	const struct hist_shading shading = trace_hist_shading_for(heat->picture.style, heat->max);
	char bytes[2 * HIST_LINE_WIDTH];
	struct trace_seq text;
	uint32_t width;

	if (!heat->max)
		return;
	trace_seq_init(&text, bytes, sizeof(bytes));
	trace_seq_puts(&text, "from");
	for (uint32_t i = shading.first; i < shading.style->nr_shades; i++)
		print_shade(&shading, i, &text);
	if (heat->max > 1) {
		trace_seq_puts(&text, " to ");
		trace_hist_draw_number((struct hist_number){ false, true }, heat->max, &text);
	}
	width = trace_hist_draw_columns(&text);
	if (indent + width > HIST_LINE_WIDTH)
		indent = HIST_LINE_WIDTH - width;
	trace_hist_draw_repeat(" ", indent, seq);
	trace_seq_write(seq, text.buf, text.len);
	trace_seq_putc(seq, '\n');
}

static const uint64_t *row_entry(const struct heat *heat, size_t at)
{
	return heat->entries[((const struct row *)heat->order[at])->first];
}

static void hist_heat_print_row(const struct hist_view *view, size_t at, struct trace_seq *seq)
{
	const struct heat *heat = view->private;
	uint32_t key = heat->down.first;

	if (at && heat->is_scale)
		hist_heat_print_missing(
			view, *trace_hist_key_at(view->hist, row_entry(heat, at - 1), key),
			*trace_hist_key_at(view->hist, row_entry(heat, at), key), seq);
	trace_hist_picture_label(view, row_entry(heat, at), heat->down, seq);
	hist_heat_print_fields(view, heat->order[at], seq);
}

/* Begin the map of the next quantity. */
static void begin_map(struct hist_view *view)
{
	struct heat *heat = view->private;
	uint64_t fields[HIST_COLUMNS_MAX];

	heat->max = 0;
	heat->picture.at = 0;
	for (size_t i = 0; i < heat->nr_rows; i++) {
		add_up(view, &heat->rows[i], fields);
		for (uint32_t j = 0; j < heat->columns.nr; j++)
			heat->max = fields[j] > heat->max ? fields[j] : heat->max;
	}
}

static bool heat_next(struct hist_view *view, struct trace_seq *seq)
{
	struct heat *heat = view->private;
	uint32_t indent = heat->picture.label_width + 2;

	if (heat->quantity == heat->picture.nr_quantities)
		return false;
	if (!heat->picture.at)
		hist_heat_print_title(view, seq);
	if (heat->picture.at < heat->nr_rows) {
		hist_heat_print_row(view, heat->picture.at++, seq);
		return true;
	}
	trace_hist_columns_print(&heat->columns, view, indent, seq);
	print_shades(heat, indent, seq);
	if (++heat->quantity < heat->picture.nr_quantities)
		begin_map(view);
	return true;
}

/* ---- Rows ---- */

static bool hist_heat_has_lower_key(const void *context, const void *a, const void *b)
{
	const struct hist_view *view = context;
	const struct heat *heat = view->private;

	return trace_hist_compare_keys(view->hist, a, b, heat->down.first) < 0;
}

static void make_rows(struct hist_view *view)
{
	struct heat *heat = view->private;
	struct row *row = NULL;

	memcpy(heat->entries, view->order, view->nr * sizeof(*heat->entries));
	trace_hist_sort(heat->entries, view->nr, hist_heat_has_lower_key, view);
	for (size_t i = 0; i < view->nr; i++) {
		if (!i || hist_heat_has_lower_key(view, heat->entries[i - 1], heat->entries[i])) {
			row = &heat->rows[heat->nr_rows];
			row->first = i;
			heat->order[heat->nr_rows++] = row;
		}
		row->nr++;
		for (uint32_t j = 0; j <= view->hist->nr_vals; j++)
			row->sums[j] += hist_drawn_sum(view->hist, heat->entries[i], j);
	}
}

/* Compare two rows in the histogram's order: by a sum or by their key, up or down. */
static bool is_row_before(const void *context, const void *a, const void *b)
{
	const struct hist_view *view = context;
	const struct heat *heat = view->private;
	const struct hist_sort *sort = &view->hist->sort[0];
	const struct row *rows[] = { a, b };
	uint32_t key = sort->index - 1u - view->hist->nr_vals;
	uint64_t sums[2];

	if (sort->index > view->hist->nr_vals && key == heat->down.first)
		return (a < b) != sort->is_descending; /* rows[] is sorted by it */
	for (uint32_t i = 0; i < 2; i++)
		sums[i] = rows[i]->sums[sort->index > view->hist->nr_vals ? quantity_of(heat)->index
									  : sort->index];
	if (sums[0] == sums[1])
		return a < b;
	return (sums[0] < sums[1]) != sort->is_descending;
}

int trace_hist_heat_begin(struct hist_view *view, const struct hist_style *style, uint32_t across)
{
	size_t pointers = view->nr * sizeof(void *);
	struct heat *heat = trace_hist_view_alloc(view, sizeof(*heat) + 2 * pointers +
								view->nr * sizeof(struct row));

	if (!heat)
		return -ENOMEM;
	heat->entries = (const void **)(void *)(heat->rows + view->nr);
	heat->order = heat->entries + view->nr;
	trace_hist_picture_init(view, style);
	heat->picture.next = heat_next;
	heat->down = (struct hist_keys){ .first = 1 - across, .nr = 1 };
	heat->columns.key = across;
	heat->is_scale = trace_hist_is_scale(&view->hist->keys[1 - across]);
	trace_hist_picture_measure(view, heat->down, LABEL_MAX);
	trace_hist_columns_init(&heat->columns, view, heat->entries,
				HIST_LINE_WIDTH - SIDE_WIDTH - heat->picture.label_width);
	make_rows(view);
	if (!heat->is_scale)
		trace_hist_sort(heat->order, heat->nr_rows, is_row_before, view);
	begin_map(view);
	return 0;
}
