/*
 * Histograms: sort=, the keys and values that entries are sorted by. See hist.h, hist_parse.h.
 * Error messages have Linux's words.
 */
#include "hist_parse.h"
#include "text/str.h"

static bool hist_sort_is_named(const struct hist_value *value, const char *name)
{
	if (value->is_cpu && !value->is_expression)
		return trace_streq(name, "cpu") || trace_streq(name, "common_cpu");
	return !value->is_expression && trace_streq(value->name, name);
}

/* Is this the value's modifier, as listed? NULL stands for any. */
static bool has_modifier(const struct hist_value *value, const char *modifier)
{
	const char *own = trace_hist_modifier_names[value->modifier], *number;
	uint64_t buckets;

	if (!modifier || !own)
		return !modifier;
	if (value->modifier != HIST_BUCKETS)
		return trace_streq(modifier, own);
	number = modifier + trace_strlen(own) + 1;
	return trace_str_starts(modifier, own) && number[-1] == '=' &&
	       !trace_parse_u64(number, 0, &buckets) && buckets == value->buckets;
}

/* Find a key or value for struct hist_sort. Returns its index, or -1. */
static int find_sorted(const struct hist *hist, const char *name, const char *modifier)
{
	if (trace_streq(name, "hitcount"))
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

/* Cut the order off the text behind a field. Returns the modifier, or NULL for none. */
static char *cut_order(char *modifier, struct hist_sort *sort)
{
	char *order = modifier;

	for (char *at = modifier; at && *at; at++) {
		if (*at == '.')
			order = at + 1;
	}
	sort->is_descending = order && trace_streq(order, "descending");
	if (!sort->is_descending && (!order || !trace_streq(order, "ascending")))
		return modifier;
	if (order == modifier)
		return NULL;
	order[-1] = '\0';
	return modifier;
}

/*
 * Add FIELD[.MODIFIER][.ascending|.descending]; Linux lists the field's modifier but does not
 * accept it.
 */
static int add_sort(struct hist_parse *parse, char *text, struct hist_sort *sort)
{
	char *modifier = cut_order(trace_hist_cut(text, '.'), sort);
	int index = find_sorted(parse->hist, text, modifier);

	if (index < 0 && modifier && find_sorted(parse->hist, text, NULL) >= 0)
		return hist_blame(parse, modifier, "Invalid sort modifier");
	if (index < 0)
		return hist_blame(parse, text, "Sort field must be a key or a val");
	sort->index = (uint8_t)index;
	return 0;
}

int trace_hist_add_sorts(struct hist_parse *parse, char *text)
{
	struct hist *hist = parse->hist;
	const char *part = text ? text - (sizeof("sort=") - 1) : NULL;
	char *next;
	int err = 0;

	if (!text)
		hist->nr_sort = 1; /* by hits */
	for (; text && !err; text = next) {
		next = trace_hist_cut(text, ',');
		if (hist->nr_sort == HIST_SORT_MAX)
			return hist_blame(parse, part, "Too many sort fields (Max = 2)");
		if (!*text)
			return hist_blame(parse, part, "Empty sort field");
		err = add_sort(parse, text, &hist->sort[hist->nr_sort++]);
	}
	return err;
}
