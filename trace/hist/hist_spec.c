/*
 * Histograms as the text of a trigger, in Linux's form. See hist.h.
 */
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "text/str.h"

/* The listed name of a field: `cpu` is short for common_cpu. */
static const char *listed_name(const struct hist_value *value)
{
	return value->is_cpu && !value->is_expression ? "common_cpu" : value->name;
}

/* Print a value as in keys=, such as `pid.execname`. */
static void hist_print_value(const struct hist_value *value, struct trace_seq *seq)
{
	if (value->var)
		trace_seq_printf(seq, "%s=", value->var);
	if (value->is_ref)
		trace_seq_putc(seq, '$');
	if (value->is_constant)
		trace_seq_printf(seq, "%llu", (unsigned long long)value->constant);
	else
		trace_seq_puts(seq, listed_name(value));
	if (value->is_expression || value->is_ref || !value->modifier)
		return;
	trace_seq_printf(seq, ".%s", trace_hist_modifier_names[value->modifier]);
	if (value->modifier == HIST_BUCKETS)
		trace_seq_printf(seq, "=%llu", (unsigned long long)value->buckets);
}

static void print_list(const struct hist_value *values, uint32_t nr, const char *before,
		       struct trace_seq *seq)
{
	for (uint32_t i = 0; i < nr; i++) {
		trace_seq_puts(seq, before);
		hist_print_value(&values[i], seq);
		before = ",";
	}
}

static void print_sort(const struct hist *hist, const struct hist_sort *sort, struct trace_seq *seq)
{
	if (!sort->index)
		trace_seq_puts(seq, "hitcount");
	else if (sort->index <= hist->nr_vals)
		hist_print_value(&hist->vals[sort->index - 1], seq);
	else
		hist_print_value(&hist->keys[sort->index - 1 - hist->nr_vals], seq);
	if (sort->is_descending)
		trace_seq_puts(seq, ".descending");
}

static void print_vals(const struct hist *hist, struct trace_seq *seq)
{
	trace_seq_puts(seq, ":vals=");
	if (!hist->no_hitcount)
		trace_seq_puts(seq, "hitcount");
	print_list(hist->vals, hist->nr_vals, hist->no_hitcount ? "" : ",", seq);
	print_list(hist->vars, hist->nr_vars, ":", seq);
}

void trace_hist_print_keys(const struct hist *hist, struct trace_seq *seq)
{
	print_list(hist->keys, hist->nr_keys, "keys=", seq);
}

void trace_hist_print_spec(const struct hist *hist, struct trace_seq *seq)
{
	trace_seq_puts(seq, "hist:");
	if (hist->name)
		trace_seq_printf(seq, "name=%s:", hist->name);
	trace_hist_print_keys(hist, seq);
	print_vals(hist, seq);
	trace_seq_puts(seq, ":sort=");
	for (uint32_t i = 0; i < hist->nr_sort; i++) {
		if (i)
			trace_seq_putc(seq, ',');
		print_sort(hist, &hist->sort[i], seq);
	}
	trace_seq_printf(seq, ":size=%u", hist->size);
	if (hist->uses_time)
		trace_seq_printf(seq, ":clock=%s", hist->clock_name);
	if (hist->no_hitcount)
		trace_seq_puts(seq, ":nohitcount");
	trace_hist_print_actions(hist, seq);
}

/* ---- Comparing ---- */

static bool is_same_value(const struct hist_value *a, const struct hist_value *b)
{
	if (!a->var != !b->var || (a->var && !trace_streq(a->var, b->var)))
		return false;
	if (a->is_constant != b->is_constant || a->constant != b->constant)
		return false;
	/* Equal constants may be written differently: `017` is listed as 15. */
	if (!a->is_constant && !trace_streq(listed_name(a), listed_name(b)))
		return false;
	return a->modifier == b->modifier && a->buckets == b->buckets && a->kind == b->kind &&
	       a->words == b->words && a->is_expression == b->is_expression;
}

static bool are_same(const struct hist_value *a, const struct hist_value *b, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (!is_same_value(&a[i], &b[i]))
			return false;
	}
	return true;
}

bool trace_hist_is_same(const struct hist *a, const struct hist *b)
{
	if (a->nr_keys != b->nr_keys || a->nr_vals != b->nr_vals || a->nr_vars != b->nr_vars ||
	    a->nr_sort != b->nr_sort)
		return false;
	for (uint32_t i = 0; i < a->nr_sort; i++) {
		if (a->sort[i].index != b->sort[i].index ||
		    a->sort[i].is_descending != b->sort[i].is_descending)
			return false;
	}
	return are_same(a->keys, b->keys, a->nr_keys) && are_same(a->vals, b->vals, a->nr_vals) &&
	       are_same(a->vars, b->vars, a->nr_vars) && trace_hist_are_actions_same(a, b);
}
