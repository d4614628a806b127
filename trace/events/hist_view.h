/*
 * A copy of all entries of a histogram, sorted: what its files show. What is shown fits together,
 * and the totals are the sums of what is shown, while counting goes on.
 *
 *   entry   hits | key: its parts | sums | extra          as in the table, see hist.h
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
	bool is_over;
	uint64_t hits, drops;
	uint64_t totals[HIST_VALS_MAX]; /* of hits and sums, for .percent */
	uint64_t maxima[HIST_VALS_MAX]; /* for .graph */
	const void **order;		/* the entries, sorted: hits, then words, all uint64_t */
	uint64_t *copies;
};

/* Word of an entry where part `index` of its key begins. */
const uint64_t *hist_key_at(const struct hist *hist, const uint64_t *entry, uint32_t index);
/* The sum of an entry that belongs to value `index`; 0: its hits. */
static inline uint64_t hist_sum_at(const struct hist *hist, const uint64_t *entry, uint32_t index)
{
	return index ? entry[1 + hist->vals[index - 1].at] : entry[0];
}

#endif
