/*
 * Lists of CPUs, in Linux's form cpulist, and comparisons with them: see filter_private.h.
 *
 * 	0-3,5    all    0-N    0-15:2/4
 *
 * N is the last CPU, `all` each of them. `:2/4` takes the first two of each four. Between the parts
 * there are commas or blanks.
 */
#include "filter_private.h"
#include "text/str.h"

struct list {
	const char *at;
	const char *end;
	uint32_t nr_cpus;
};

static char next_char(const struct list *list)
{
	return list->at < list->end ? *list->at : '\0';
}

static bool filter_cpus_take(struct list *list, char c)
{
	if (next_char(list) != c)
		return false;
	list->at++;
	return true;
}

static bool filter_cpus_take_number(struct list *list, uint32_t *out_number)
{
	const char *start = list->at;
	uint64_t number = 0;

	while (next_char(list) >= '0' && next_char(list) <= '9') {
		number = number * 10 + (uint64_t)(*list->at++ - '0');
		if (number > UINT32_MAX)
			return false;
	}
	*out_number = (uint32_t)number;
	return list->at != start;
}

static bool take_cpu(struct list *list, uint32_t *out_cpu)
{
	if (filter_cpus_take(list, 'N')) {
		*out_cpu = list->nr_cpus - 1;
		return true;
	}
	return filter_cpus_take_number(list, out_cpu) && *out_cpu < list->nr_cpus;
}

static bool take_range(struct list *list, uint32_t *out_first, uint32_t *out_last)
{
	if (list->end - list->at >= 3 && memcmp(list->at, "all", 3) == 0) {
		list->at += 3;
		*out_first = 0;
		*out_last = list->nr_cpus - 1;
		return true;
	}
	if (!take_cpu(list, out_first))
		return false;
	*out_last = *out_first;
	return !filter_cpus_take(list, '-') ||
	       (take_cpu(list, out_last) && *out_first <= *out_last);
}

static bool is_between_parts(char c)
{
	return c == ',' || trace_is_space(c);
}

/* Parse one part, and the character that ends it. */
static bool filter_cpus_take_part(struct list *list, uint64_t *mask)
{
	uint32_t first, last, used = 1, group = 1;

	if (!take_range(list, &first, &last))
		return false;
	if (filter_cpus_take(list, ':') &&
	    !(filter_cpus_take_number(list, &used) && filter_cpus_take(list, '/') &&
	      filter_cpus_take_number(list, &group) && group && used <= group))
		return false;
	for (uint32_t cpu = first; cpu <= last; cpu++) {
		if ((cpu - first) % group < used)
			mask[cpu / 64] |= 1ull << cpu % 64;
	}
	return list->at == list->end || is_between_parts(*list->at);
}

static bool take_all(struct list *list, uint64_t *mask)
{
	bool has_parts = false;

	for (;;) {
		while (list->at < list->end && is_between_parts(*list->at))
			list->at++;
		if (list->at == list->end)
			return has_parts;
		if (!filter_cpus_take_part(list, mask))
			return false;
		has_parts = true;
	}
}

bool trace_filter_cpus_parse(const char *text, size_t len, struct filter_cpus *cpus)
{
	struct list list = { .at = text, .end = text + len, .nr_cpus = cpus->nr };

	if (!take_all(&list, cpus->mask))
		return false;
	for (uint32_t cpu = cpus->nr; cpu-- > 0;) {
		if (!(cpus->mask[cpu / 64] >> cpu % 64 & 1))
			continue;
		cpus->first = cpu;
		cpus->nr_in++;
	}
	return true;
}

/* ---- Comparisons ---- */

static void add_cpus_of_mask(struct filter_compiler *compiler, const struct filter_value *value,
			     enum filter_cmp cmp, const struct filter_cpus *cpus)
{
	struct filter_insn *insn = trace_filter_add_place(
		compiler, cmp == FILTER_CMP_AND ? FILTER_OP_MASK_SHARES : FILTER_OP_MASK_EQUAL,
		value);

	insn->is_negated = cmp == FILTER_CMP_NE;
	insn->data = cpus->mask;
	insn->data_len = cpus->nr;
}

/*
 * Compare a number with a mask. A number equals a mask that has this one CPU, never equals a mask
 * of several, and is in a mask or not. A number that is no CPU is not even unequal to a mask of
 * several.
 */
static void add_cpus_of_number(struct filter_compiler *compiler, struct filter_value value,
			       enum filter_cmp cmp, const struct filter_cpus *cpus)
{
	value.is_signed = false;
	if (cpus->nr_in == 1)
		trace_filter_add_number(compiler, &value,
					cmp == FILTER_CMP_AND ? FILTER_CMP_EQ : cmp, cpus->first);
	else if (cmp == FILTER_CMP_AND)
		trace_filter_add_number_in(compiler, &value, cpus);
	else if (cmp == FILTER_CMP_EQ)
		trace_filter_add_constant(compiler, false);
	else
		trace_filter_add_number(compiler, &value, FILTER_CMP_LT, cpus->nr);
}

void trace_filter_add_cpus(struct filter_compiler *compiler, const struct filter_value *value,
			   enum filter_cmp cmp, const struct filter_cpus *cpus)
{
	if (value->class == FILTER_CLASS_MASK)
		add_cpus_of_mask(compiler, value, cmp, cpus);
	else
		add_cpus_of_number(compiler, *value, cmp, cpus);
}
