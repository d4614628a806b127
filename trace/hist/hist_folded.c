/*
 * Histograms as folded stacks, the input of tools for flame graphs: a line for each entry,
 *
 *   outermost;...;innermost COUNT
 *
 * Keys that are no stacks come first, so that each thread or CPU has a flame of its own, and the stack of a
 * program before that of the kernel. The count
 * is the first value, or the hits without one; negative sums are 0. Lines that begin with # end
 * with no number, so that tools leave them out.
 *
 * Context: thread, config lock held.
 */
#include <trace/trace_seq.h>
#include "hist_label.h"

#define NAME_MAX 256u

/* Print a frame, which is not empty and contains no `;`. */
static void print_frame(struct trace_seq *frame, bool is_first, struct trace_seq *seq)
{
	if (!is_first)
		trace_seq_putc(seq, ';');
	if (!frame->len)
		trace_seq_putc(frame, '-');
	for (size_t i = 0; i < frame->len; i++)
		trace_seq_putc(seq, frame->buf[i] == ';' ? ':' : frame->buf[i]);
}

static void hist_folded_print_stack(const struct hist_value *key, const uint64_t *words,
				    bool is_first, struct trace_seq *seq)
{
	for (uint32_t nr = trace_hist_stack_depth(key, words); nr-- > 0; is_first = false) {
		char text[NAME_MAX];
		struct trace_seq frame;

		trace_seq_init(&frame, text, sizeof(text));
		trace_hist_label_frame(key, words, nr, &frame);
		print_frame(&frame, is_first, seq);
	}
}

static void hist_folded_print_key(const struct hist *hist, const uint64_t *entry, uint32_t index,
				  bool is_first, struct trace_seq *seq)
{
	char text[NAME_MAX];
	struct trace_seq frame;

	if (hist_is_stack(&hist->keys[index])) {
		hist_folded_print_stack(&hist->keys[index], trace_hist_key_at(hist, entry, index),
					is_first, seq);
		return;
	}
	trace_seq_init(&frame, text, sizeof(text));
	trace_hist_label(hist, entry, index, &frame);
	print_frame(&frame, is_first, seq);
}

/* The place of a key in the line: a program stands in front of the functions of the kernel that it has called. */
static uint32_t level_of(const struct hist_value *key)
{
	if (!hist_is_stack(key))
		return 0;
	return key->kind == HIST_USER_STACK ? 1 : 2;
}

static void print_line(const struct hist *hist, const uint64_t *entry, struct trace_seq *seq)
{
	size_t begin = seq->len;

	for (uint32_t level = 0; level < 3; level++) {
		for (uint32_t i = 0; i < hist->nr_keys; i++) {
			if (level_of(&hist->keys[i]) == level)
				hist_folded_print_key(hist, entry, i, seq->len == begin, seq);
		}
	}
	trace_seq_printf(seq, " %llu\n",
			 (unsigned long long)hist_drawn_sum(hist, entry, hist->nr_vals > 0));
}

static bool folded_next(struct hist_view *view, struct trace_seq *seq)
{
	if (view->at < view->nr) {
		print_line(view->hist, view->order[view->at++], seq);
		return true;
	}
	if (view->is_over || !view->drops)
		return false;
	view->is_over = true;
	trace_seq_printf(seq, "# %llu more events found no room: see size= in trigger\n",
			 (unsigned long long)view->drops);
	return true;
}

const struct hist_form trace_hist_form_folded = {
	.next = folded_next,
	.separator = "",
	.none = "# No histogram is set here: write hist:keys=common_stacktrace to trigger.\n",
	.is_short = true,
};
