/*
 * A histogram as a picture for terminals of 80 columns: bars, a line for each entry; or for two
 * keys a map, where one key goes down and the other one across.
 *
 *   hist_picture.c   choice between the two, common code
 *   hist_bars.c      bars
 *   hist_heat.c      maps; the key that goes down
 *   hist_columns.c   the key that goes across
 *   hist_draw.c      characters; hist_label.c  texts
 *
 * Stacks stand below their bar. Keys that are scales (hist_label.h) are in their order, including
 * values that did not occur, so that the shape is true; others in the order of the histogram.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_PICTURE_H
#define HIST_PICTURE_H

#include "hist_draw.h"
#include "hist_view.h"

/* The quantity drawn: the hits or a sum. */
struct hist_quantity {
	uint32_t index; /* index for hist_sum_at() */
	bool is_signed;
	uint64_t total, max; /* over the entries that are not negative */
};

/* The common beginning of both kinds of pictures, which is view->private. */
struct hist_picture {
	const struct hist_style *style;
	bool (*next)(struct hist_view *view, struct trace_seq *seq);
	uint32_t nr_quantities;
	struct hist_quantity quantities[HIST_VALS_MAX];
	uint32_t label_width;
	bool is_right; /* labels are aligned to the right */
	size_t at;     /* position of the next piece */
	bool is_over;
};

/* The keys of a label: all but those that are stacks. */
struct hist_keys {
	uint32_t first, nr;
};

/* Fill in everything that does not depend on the label's keys. */
void trace_hist_picture_init(struct hist_view *view, const struct hist_style *style);
/* Fill in the rest, from the label's keys. No label gets wider than `max_width`. */
void trace_hist_picture_measure(struct hist_view *view, struct hist_keys keys, uint32_t max_width);
/* Print the label of an entry and the edge behind it; for NULL, the titles of its keys. */
void trace_hist_picture_label(const struct hist_view *view, const uint64_t *entry,
			      struct hist_keys keys, struct trace_seq *seq);

const char *trace_hist_quantity_name(const struct hist *hist, const struct hist_quantity *quantity);
/*
 * The lines of a scale between two numbers that occurred: one for each number that did not, or for
 * a long gap one line with their count.
 */
#define HIST_GAP_MAX 8u
struct hist_gap {
	uint64_t nr;
	bool is_short; /* the gap has a line for each number */
};
struct hist_gap trace_hist_gap_between(const struct hist_value *key, uint64_t before,
				       uint64_t behind);
/* Print the label of a number that did not occur, and the edge. */
void trace_hist_picture_number(const struct hist_view *view, const struct hist_value *key,
			       uint64_t number, struct trace_seq *seq);
/* Print the single line of a long gap. */
void trace_hist_picture_gap(const struct hist_view *view, uint64_t nr, struct trace_seq *seq);

/* ---- hist_bars.c, hist_heat.c: make view->private. 0 or -ENOMEM ---- */

int trace_hist_bars_begin(struct hist_view *view, const struct hist_style *style);
/* `across` is the index of the key that goes across. */
int trace_hist_heat_begin(struct hist_view *view, const struct hist_style *style, uint32_t across);

#endif
