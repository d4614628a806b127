/*
 * Histograms: sort=, the keys and values that entries are sorted by. See hist.h, hist_parse.h.
 * Error messages have Linux's words.
 */
#include "hist_parse.h"
#include "text/str.h"

static bool hist_sort_is_named(const struct hist_value *value, const struct expr_word *name)
{
	if (value->is_cpu && !value->is_expression)
		return trace_expr_is(name, "cpu") || trace_expr_is(name, "common_cpu");
	return !value->is_expression && trace_expr_is(name, value->name);
}

/* Is this the value's modifier, as listed? NULL stands for any. */
static bool has_modifier(const struct hist_value *value, const struct expr_word *modifier)
{
	const char *own = trace_hist_modifier_names[value->modifier];
	struct expr_word number;
	uint64_t buckets;

	if (!modifier || !own)
		return !modifier;
	if (value->modifier != HIST_BUCKETS)
		return trace_expr_is(modifier, own);
	if (!trace_expr_starts(modifier, own))
		return false;
	number = expr_behind(modifier, trace_strlen(own));
	return expr_take(&number, '=') && !trace_expr_number(&number, 0, false, &buckets) &&
	       buckets == value->buckets;
}

/* Find a key or value for struct hist_sort. Returns its index, or -1. */
static int find_sorted(const struct hist *hist, const struct expr_word *name,
		       const struct expr_word *modifier)
{
	if (trace_expr_is(name, "hitcount"))
		return modifier ? -1 : 0;
	for (int i = 0; i < hist->nr_vals; i++) {
		if (hist_sort_is_named(&hist->vals[i], name) &&
		    has_modifier(&hist->vals[i], modifier))
			return 1 + i;
	}
	for (int i = 0; i < hist->nr_keys; i++) {
		if (hist_sort_is_named(&hist->keys[i], name) &&
		    has_modifier(&hist->keys[i], modifier))
			return 1 + hist->nr_vals + i;
	}
	return -1;
}

/* Take an order off the end of `text`. */
static bool take_order(struct expr_word *text, const char *order)
{
	bool is_there = trace_expr_ends(text, order);

	text->len -= is_there ? trace_strlen(order) : 0;
	return is_there;
}

/*
 * Add FIELD[.MODIFIER][.ascending|.descending]; Linux lists the field's modifier but does not
 * accept it.
 */
static int add_sort(struct hist_parse *parse, const struct expr_word *text, struct hist_sort *sort)
{
	struct expr_word rest = *text, name = expr_take_until(&rest, "."), *modifier;
	int index;

	sort->is_descending = take_order(&rest, ".descending");
	if (!sort->is_descending)
		(void)take_order(&rest, ".ascending");
	modifier = expr_take(&rest, '.') ? &rest : NULL;
	index = find_sorted(parse->hist, &name, modifier);
	if (index < 0 && modifier && find_sorted(parse->hist, &name, NULL) >= 0)
		return hist_blame(parse, modifier->at, "Invalid sort modifier");
	if (index < 0)
		return hist_blame(parse, text->at, "Sort field must be a key or a val");
	sort->index = (uint8_t)index;
	return 0;
}

int trace_hist_add_sorts(struct hist_parse *parse, struct expr_word text)
{
	struct hist *hist = parse->hist;
	struct expr_word field;
	const char *part;
	int err;

	if (!text.at) {
		hist->nr_sort = 1; /* by hits */
		return 0;
	}
	part = text.at - (sizeof("sort=") - 1);
	do {
		field = trace_hist_take_part(&text, ',');
		if (hist->nr_sort == HIST_SORT_MAX)
			return hist_blame(parse, part, "Too many sort fields (Max = 2)");
		if (!field.len)
			return hist_blame(parse, part, "Empty sort field");
		err = add_sort(parse, &field, &hist->sort[hist->nr_sort++]);
	} while (!err && expr_take(&text, ','));
	return err;
}
