/*
 * What pictures of histograms are drawn of: characters in two styles, texts cut to a width, numbers
 * as short as they have to be.
 *
 * Context: thread.
 */
#ifndef HIST_DRAW_H
#define HIST_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/trace_seq.h>

#define HIST_LINE_WIDTH 80u /* columns */

/* Each text but `cut` takes one column. */
struct hist_style {
	const char *const *bars; /* from a little of a column to all of it */
	uint32_t nr_bars;
	const char *const *shades; /* from light to dark */
	uint32_t nr_shades;
	const char *edge, *corner, *line, *tick;
	const char *gap; /* something was left out here */
	const char *cut; /* the same, in a text */
	uint32_t cut_width;
};
extern const struct hist_style trace_hist_style_utf8, trace_hist_style_ascii;

/* How many columns a text in UTF-8 takes. */
uint32_t trace_hist_draw_columns(const struct trace_seq *text);
void trace_hist_draw_repeat(const char *text, uint32_t nr, struct trace_seq *seq);
/* A bar of `width` columns for `value` of at most `max`. What is more than 0 shows. */
void trace_hist_draw_bar(const struct hist_style *style, uint64_t value, uint64_t max,
			 uint32_t width, struct trace_seq *seq);
/* `text` in `width` columns: what is too long loses its middle. */
void trace_hist_draw_text(const struct hist_style *style, const struct trace_seq *text,
			  uint32_t width, bool is_right, struct trace_seq *seq);

/* A sum as text: with at most 7 characters if `is_short`. */
#define HIST_NUMBER_MAX 24u
struct hist_number {
	bool is_signed, is_short;
};
void trace_hist_draw_number(struct hist_number how, uint64_t value, struct trace_seq *seq);

/*
 * Where the shades of a map begin that shows values up to `max`: each is so many times the one before,
 * `factor`. The darkest stands for the greatest values, `first` for 1.
 */
struct hist_shading {
	const struct hist_style *style;
	uint64_t factor;
	uint32_t first;
};
struct hist_shading trace_hist_shading_for(const struct hist_style *style, uint64_t max);
/* Which shade: an index of style->shades. `value` is not 0. */
uint32_t trace_hist_shade_of(const struct hist_shading *shading, uint64_t value);
/* The least value of a shade. */
uint64_t trace_hist_shade_begin(const struct hist_shading *shading, uint32_t shade);

#endif
