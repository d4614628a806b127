/*
 * Elements of histograms' pictures: characters in two styles, texts cut to a width, short numbers.
 *
 * Context: thread.
 */
#ifndef HIST_DRAW_H
#define HIST_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/trace_seq.h>

#define HIST_LINE_WIDTH 80u /* characters */

/* The characters of one style. Each takes one column, but for `cut`. */
struct hist_style {
	const char *const *bars; /* from the narrowest piece of a column to a whole one */
	uint32_t nr_bars;
	const char *const *shades; /* from light to dark */
	uint32_t nr_shades;
	const char *edge, *corner, *line, *tick;
	const char *gap; /* the mark of entries left out */
	const char *cut; /* the mark of characters left out of a text */
	uint32_t cut_width;
};
extern const struct hist_style trace_hist_style_utf8, trace_hist_style_ascii;

/* Columns that a text in UTF-8 takes. */
uint32_t trace_hist_draw_columns(const struct trace_seq *text);
void trace_hist_draw_repeat(const char *text, uint32_t nr, struct trace_seq *seq);
/* Draw a bar of `width` columns for `value` of at most `max`. A value above 0 is always visible. */
void trace_hist_draw_bar(const struct hist_style *style, uint64_t value, uint64_t max,
			 uint32_t width, struct trace_seq *seq);
/* Draw `text` in `width` columns; a longer text loses its middle. */
void trace_hist_draw_text(const struct hist_style *style, const struct trace_seq *text,
			  uint32_t width, bool is_right, struct trace_seq *seq);

/* Print a sum, with at most 7 characters if `is_short`. */
#define HIST_NUMBER_MAX 24u
struct hist_number {
	bool is_signed, is_short;
};
void trace_hist_draw_number(struct hist_number how, uint64_t value, struct trace_seq *seq);

/*
 * Limits between the shades of a map of values up to `max`: each limit is `factor` times the one
 * before. The darkest shade stands for the greatest values, shade `first` for 1.
 */
struct hist_shading {
	const struct hist_style *style;
	uint64_t factor;
	uint32_t first;
};
struct hist_shading trace_hist_shading_for(const struct hist_style *style, uint64_t max);
/* The shade of a value that is not 0, as index of style->shades. */
uint32_t trace_hist_shade_of(const struct hist_shading *shading, uint64_t value);
/* The least value of a shade. */
uint64_t trace_hist_shade_begin(const struct hist_shading *shading, uint32_t shade);

#endif
