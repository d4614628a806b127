/*
 * A histogram as a picture for terminals of 80 columns: bars, a line for each entry; or for two keys
 * a map, where one key goes down and the other one across.
 *
 *   hist_picture.c   which of the two, what both need
 *   hist_bars.c      bars
 *   hist_heat.c      maps; what goes down
 *   hist_columns.c   what goes across
 *   hist_draw.c      characters; hist_label.c  texts
 *
 * Stacks stand below their bar. Keys that are scales (hist_label.h) are in their order, with what did not occur, so that the shape
 * is true; others in the order of the histogram.
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_PICTURE_H
#define HIST_PICTURE_H

#include "hist_draw.h"
#include "hist_view.h"

/* What is drawn: the hits or a sum. */
struct hist_quantity {
	uint32_t index; /* as of hist_sum_at() */
	bool is_signed;
	uint64_t total, max; /* of entries, where not negative */
};

/* What both kinds of pictures begin with; it is view->private. */
struct hist_picture {
	const struct hist_style *style;
	bool (*next)(struct hist_view *view, struct trace_seq *seq);
	uint32_t nr_quantities;
	struct hist_quantity quantities[HIST_VALS_MAX];
	uint32_t label_width;
	bool is_right; /* labels are aligned to the right */
	size_t at;     /* what comes next */
	bool is_over;
};

/* Which keys a label consists of; those that are stacks are not part of it. */
struct hist_keys {
	uint32_t first, nr;
};

/* Fill in what is known without the keys that labels are made of. */
void trace_hist_picture_init(struct hist_view *view, const struct hist_style *style);
/* The same for the labels, none of which gets wider than `max_width`. */
void trace_hist_picture_measure(struct hist_view *view, struct hist_keys keys, uint32_t max_width);
/* The label of an entry, and the edge behind it; NULL: what its keys are called. */
void trace_hist_picture_label(const struct hist_view *view, const uint64_t *entry,
			      struct hist_keys keys, struct trace_seq *seq);

const char *trace_hist_quantity_name(const struct hist *hist, const struct hist_quantity *quantity);
/*
 * Lines of a scale between two numbers that occurred: one for each that did not, or if there are many
 * one that says how many.
 */
#define HIST_GAP_MAX 8u
struct hist_gap {
	uint64_t nr;
	bool is_short; /* they are to be drawn */
};
struct hist_gap trace_hist_gap_between(const struct hist_value *key, uint64_t before,
				       uint64_t behind);
/* The label of a number that did not occur, and the edge. */
void trace_hist_picture_number(const struct hist_view *view, const struct hist_value *key,
			       uint64_t number, struct trace_seq *seq);
/* The line of a gap that is not drawn. */
void trace_hist_picture_gap(const struct hist_view *view, uint64_t nr, struct trace_seq *seq);

/* ---- hist_bars.c, hist_heat.c: make view->private. 0 or -ENOMEM ---- */

int trace_hist_bars_begin(struct hist_view *view, const struct hist_style *style);
/* `across` is the key that goes across. */
int trace_hist_heat_begin(struct hist_view *view, const struct hist_style *style, uint32_t across);

#endif
