/*
 * What goes across in a map of a histogram: which column an entry belongs to. See hist_picture.h.
 *
 *   scale    a column for each step, or for several if there are many
 *   numbers  a column for each that occurred; if there are many, for ranges of equal width
 *   others   a column for each of the most frequent, a letter, and one for the rest
 *
 * Context: thread, config lock held.
 */
#ifndef HIST_COLUMNS_H
#define HIST_COLUMNS_H

#include "hist_picture.h"

#define HIST_COLUMNS_MAX 64u

struct hist_columns {
	uint32_t key; /* index */
	uint32_t nr;
	uint32_t width; /* of each */
	bool is_list;
	bool has_letters; /* list[] is not in order, and explained below */
	bool has_rest;	  /* the last one */
	uint32_t nr_listed;
	uint64_t origin, step; /* no list: where the first begins; from each to the next */
	const uint64_t *list[HIST_COLUMNS_MAX]; /* an entry of each */
};

/*
 * Find columns that take at most `room` characters; `order` is the caller's, with room for all
 * entries, and its contents are lost. The view has entries.
 */
void trace_hist_columns_init(struct hist_columns *columns, const struct hist_view *view,
			     const void **order, uint32_t room);
uint32_t trace_hist_column_of(const struct hist_columns *columns, const struct hist *hist,
			      const uint64_t *entry);
/* The lower edge of the map with what its columns are, `indent` characters from the left. */
void trace_hist_columns_print(const struct hist_columns *columns, const struct hist_view *view,
			      uint32_t indent, struct trace_seq *seq);
/* What stands at its ticks: ", up to" and so on. */
const char *trace_hist_columns_ticks(const struct hist_columns *columns, const struct hist *hist);

#endif
