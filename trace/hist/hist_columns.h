/*
 * Columns of a histogram's map: the column of each entry. See hist_picture.h.
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
	uint32_t key; /* index of the key whose values are the columns */
	uint32_t nr;
	uint32_t width; /* characters of a column */
	bool is_list;
	bool has_letters; /* list[] is not in order, and explained below */
	bool has_rest;	  /* the last column is for all other keys */
	uint32_t nr_listed;
	/* Without list[]: the first column's beginning; the step to the next. */
	uint64_t origin, step;
	const uint64_t *list[HIST_COLUMNS_MAX]; /* an entry of each column */
};

/*
 * Find columns that take at most `room` characters; `order` is scratch memory of the caller with
 * room for all entries. The view has entries.
 */
void trace_hist_columns_init(struct hist_columns *columns, const struct hist_view *view,
			     const void **order, uint32_t room);
uint32_t trace_hist_column_of(const struct hist_columns *columns, const struct hist *hist,
			      const uint64_t *entry);
/*
 * Print the lower edge of the map with the meanings of its columns, `indent` characters from the
 * left.
 */
void trace_hist_columns_print(const struct hist_columns *columns, const struct hist_view *view,
			      uint32_t indent, struct trace_seq *seq);
/* The words that explain the ticks below a map: ", up to" and so on. */
const char *trace_hist_columns_ticks(const struct hist_columns *columns, const struct hist *hist);

#endif
