/*
 * A sorted copy of all entries of a histogram, for its files. Totals are computed from the copy, so
 * they agree with its entries while counting goes on.
 *
 *   entry   hits | key: its parts | sums | extra          as in the table, see hist.h
 *           | value | saved fields                        of save(), if there is one
 *
 * Context:   thread.
 * Locking:   the config lock, for creating and destroying.
 * Ownership: a view holds a reference to its histogram.
 */
#ifndef HIST_VIEW_H
#define HIST_VIEW_H

#include "hist.h"

struct hist_view {
	struct hist *hist;
	size_t bytes; /* of the view's memory */
	size_t nr;
	size_t at; /* position of the next entry */
	uint32_t entry_words, record_words;
	bool is_over;
	uint64_t hits, drops;
	uint64_t totals[HIST_VALS_MAX]; /* sums of hits and of values, for .percent */
	uint64_t maxima[HIST_VALS_MAX]; /* for .graph */
	const void **order;		/* the sorted entries: hits, then words, all uint64_t */
	uint64_t *copies;
	void *private; /* state of the form that shows it; freed with the view */
	size_t private_bytes;
};

/* The first word of part `index` of an entry's key. */
const uint64_t *trace_hist_key_at(const struct hist *hist, const uint64_t *entry, uint32_t index);
/* Compare part `index` of two keys: less than 0, 0, more than 0. */
int trace_hist_compare_keys(const struct hist *hist, const uint64_t *a, const uint64_t *b,
			    uint32_t index);
/* The sum of value `index` of an entry; its hits for 0. */
static inline uint64_t hist_sum_at(const struct hist *hist, const uint64_t *entry, uint32_t index)
{
	return index ? entry[1 + hist->vals[index - 1].at] : entry[0];
}

/* The sum of value `index` of an entry, or 0 when it is negative. */
static inline uint64_t hist_drawn_sum(const struct hist *hist, const uint64_t *entry,
				      uint32_t index)
{
	uint64_t sum = hist_sum_at(hist, entry, index);

	return index && hist->vals[index - 1].is_signed && sum >> 63 ? 0 : sum;
}

/* Does `a` come before `b`? */
typedef bool (*hist_before_fn)(const void *context, const void *a, const void *b);
/* Sort pointers. The order of equal entries is undefined. */
void trace_hist_sort(const void **order, size_t nr, hist_before_fn is_before, const void *context);

/* Allocate zeroed memory for view->private. Returns NULL when there is none. */
void *trace_hist_view_alloc(struct hist_view *view, size_t bytes);

/*
 * The share of `value` in `total`, which is at least as large, in hundredths of a percent; 0 for a
 * total of 0.
 */
uint32_t trace_hist_share_of(uint64_t value, uint64_t total);

/* Print the end of a histogram's text: hits, entries, drops. */
void trace_hist_print_totals(const struct hist_view *view, struct trace_seq *seq);

/* The record of save() for an entry. */
static inline const uint64_t *hist_view_record(const struct hist_view *view, const uint64_t *entry)
{
	return entry + view->entry_words;
}

/* ---- hist_show.c ---- */

/* Print a key: `{ pid:          7 }`. */
void trace_hist_print_key(const struct hist *hist, const uint64_t *entry, struct trace_seq *seq);
/* Print a value kept by an action in these words, with its name. */
void trace_hist_print_kept(const struct hist_value *value, const uint64_t *words,
			   struct trace_seq *seq);

#endif
