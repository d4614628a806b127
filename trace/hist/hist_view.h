/*
 * A copy of all entries of a histogram, sorted: what its files show. What is shown fits together,
 * and the totals are the sums of what is shown, while counting goes on.
 *
 *   entry   hits | key: its parts | sums | extra          as in the table, see hist.h
 *           | value | saved fields                        what save() has kept, if there is one
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
	size_t bytes; /* of the view */
	size_t nr;
	size_t at; /* what comes next */
	uint32_t entry_words, record_words;
	bool is_over;
	uint64_t hits, drops;
	uint64_t totals[HIST_VALS_MAX]; /* of hits and sums, for .percent */
	uint64_t maxima[HIST_VALS_MAX]; /* for .graph */
	const void **order;		/* the entries, sorted: hits, then words, all uint64_t */
	uint64_t *copies;
	void *private; /* of the form in which it is shown; freed with the view */
	size_t private_bytes;
};

/* Word of an entry where part `index` of its key begins. */
const uint64_t *trace_hist_key_at(const struct hist *hist, const uint64_t *entry, uint32_t index);
/* Less than 0, 0, more than 0: by part `index` of their keys. */
int trace_hist_compare_keys(const struct hist *hist, const uint64_t *a, const uint64_t *b,
			    uint32_t index);
/* The sum of an entry that belongs to value `index`; 0: its hits. */
static inline uint64_t hist_sum_at(const struct hist *hist, const uint64_t *entry, uint32_t index)
{
	return index ? entry[1 + hist->vals[index - 1].at] : entry[0];
}

/* As hist_sum_at(); 0 when it is negative. */
static inline uint64_t hist_drawn_sum(const struct hist *hist, const uint64_t *entry,
				      uint32_t index)
{
	uint64_t sum = hist_sum_at(hist, entry, index);

	return index && hist->vals[index - 1].is_signed && sum >> 63 ? 0 : sum;
}

/* Is `a` to come before `b`? */
typedef bool (*hist_before_fn)(const void *context, const void *a, const void *b);
/* Sort pointers. Entries for which nothing comes before the other stay in no certain order. */
void trace_hist_sort(const void **order, size_t nr, hist_before_fn is_before, const void *context);

/* Memory for view->private, zeroed. NULL when there is none. */
void *trace_hist_view_alloc(struct hist_view *view, size_t bytes);

/* `value` of `total`, which is at least as large, in hundredths of a percent; 0 of 0 is 0. */
uint32_t trace_hist_share_of(uint64_t value, uint64_t total);

/* The end of what a file says of a histogram: hits, entries, drops. */
void trace_hist_print_totals(const struct hist_view *view, struct trace_seq *seq);

/* What save() has kept for an entry. */
static inline const uint64_t *hist_view_record(const struct hist_view *view, const uint64_t *entry)
{
	return entry + view->entry_words;
}

/* ---- hist_show.c ---- */

/* `{ pid:          7 }` */
void trace_hist_print_key(const struct hist *hist, const uint64_t *entry, struct trace_seq *seq);
/* A value that an action has kept in these words, with its name. */
void trace_hist_print_kept(const struct hist_value *value, const uint64_t *words,
			   struct trace_seq *seq);

#endif
