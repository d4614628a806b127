/* Elements of histograms' pictures. See hist_draw.h. */
#include "hist_draw.h"
#include "text/str.h"

static const char *const eighths[] = { "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
static const char *const halves[] = { ":", "#" };
static const char *const blocks[] = { "░", "▒", "▓", "█" };
static const char *const dots[] = { ".", ":", "-", "+", "#", "@" };

const struct hist_style trace_hist_style_utf8 = {
	.bars = eighths,
	.nr_bars = TRACE_ARRAY_SIZE(eighths),
	.shades = blocks,
	.nr_shades = TRACE_ARRAY_SIZE(blocks),
	.edge = "│",
	.corner = "└",
	.line = "─",
	.tick = "┬",
	.gap = "⋮",
	.cut = "…",
	.cut_width = 1,
};

const struct hist_style trace_hist_style_ascii = {
	.bars = halves,
	.nr_bars = TRACE_ARRAY_SIZE(halves),
	.shades = dots,
	.nr_shades = TRACE_ARRAY_SIZE(dots),
	.edge = "|",
	.corner = "+",
	.line = "-",
	.tick = "+",
	.gap = ":",
	.cut = "..",
	.cut_width = 2,
};

uint32_t trace_hist_draw_columns(const struct trace_seq *text)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < text->len; i++)
		nr += ((unsigned char)text->buf[i] & 0xc0) != 0x80;
	return nr;
}

void trace_hist_draw_repeat(const char *text, uint32_t nr, struct trace_seq *seq)
{
	while (nr--)
		trace_seq_puts(seq, text);
}

void trace_hist_draw_bar(const struct hist_style *style, uint64_t value, uint64_t max,
			 uint32_t width, struct trace_seq *seq)
{
	uint64_t nr_parts, all = (uint64_t)width * style->nr_bars;
	uint32_t full, rest;

	while (value > UINT64_MAX / all) {
		value /= 2;
		max /= 2;
	}
	nr_parts = max ? value * all / max : 0;
	if (value && !nr_parts)
		nr_parts = 1;
	full = (uint32_t)(nr_parts / style->nr_bars);
	rest = (uint32_t)(nr_parts % style->nr_bars);
	trace_hist_draw_repeat(style->bars[style->nr_bars - 1], full, seq);
	if (rest)
		trace_seq_puts(seq, style->bars[rest - 1]);
	trace_hist_draw_repeat(" ", width - full - (rest > 0), seq);
}

void trace_hist_draw_text(const struct hist_style *style, const struct trace_seq *text,
			  uint32_t width, bool is_right, struct trace_seq *seq)
{
	size_t len = text->len;

	if (len > width) {
		size_t back = (width - style->cut_width) / 3;
		size_t front = width - style->cut_width - back;

		trace_seq_write(seq, text->buf, front);
		trace_seq_puts(seq, style->cut);
		trace_seq_write(seq, text->buf + len - back, back);
		return;
	}
	if (is_right)
		trace_hist_draw_repeat(" ", width - (uint32_t)len, seq);
	trace_seq_write(seq, text->buf, len);
	if (!is_right)
		trace_hist_draw_repeat(" ", width - (uint32_t)len, seq);
}

void trace_hist_draw_number(struct hist_number how, uint64_t value, struct trace_seq *seq)
{
	static const char units[] = "kMGTPE";
	uint64_t tenths;
	uint32_t unit = 0;

	if (how.is_signed && value >> 63) {
		trace_seq_putc(seq, '-');
		value = -value;
	}
	if (!how.is_short || value < 1000000) {
		trace_seq_printf(seq, "%llu", (unsigned long long)value);
		return;
	}
	for (tenths = value / 100; tenths >= 10000; tenths /= 1000)
		unit++;
	trace_seq_printf(seq, "%llu.%llu%c", (unsigned long long)tenths / 10,
			 (unsigned long long)tenths % 10, units[unit]);
}

/* ---- Shades ---- */

/* The number of powers of `factor`, from 1, that are at most `value`, which is not 0. */
static uint32_t powers_up_to(uint64_t factor, uint64_t value)
{
	uint32_t nr = 1;

	while (value >= factor) {
		value /= factor;
		nr++;
	}
	return nr;
}

struct hist_shading trace_hist_shading_for(const struct hist_style *style, uint64_t max)
{
	struct hist_shading shading = { .style = style, .factor = 2 };

	while (powers_up_to(shading.factor, max) > style->nr_shades)
		shading.factor++;
	shading.first = style->nr_shades - (max ? powers_up_to(shading.factor, max) : 1);
	return shading;
}

uint32_t trace_hist_shade_of(const struct hist_shading *shading, uint64_t value)
{
	return shading->first + powers_up_to(shading->factor, value) - 1;
}

uint64_t trace_hist_shade_begin(const struct hist_shading *shading, uint32_t shade)
{
	uint64_t value = 1;

	for (uint32_t i = shading->first; i < shade; i++)
		value *= shading->factor;
	return value;
}
