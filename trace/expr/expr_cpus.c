/*
 * Lists of CPUs, in Linux's form cpulist, and comparisons with them: see expr_build.h.
 *
 * 	0-3,5    all    0-N    0-15:2/4
 *
 * N is the last CPU, `all` each of them. `:2/4` takes the first two of each four. Between the parts
 * there are commas or blanks.
 */
#include "expr_build.h"
#include <trace/platform.h>
#include "text/str.h"

struct expr_cpu_list {
	const char *at;
	const char *end;
	uint32_t nr_cpus;
};

static char next_char(const struct expr_cpu_list *list)
{
	return list->at < list->end ? *list->at : '\0';
}

static bool expr_cpus_take(struct expr_cpu_list *list, char c)
{
	if (next_char(list) != c)
		return false;
	list->at++;
	return true;
}

static bool expr_cpus_take_number(struct expr_cpu_list *list, uint32_t *out_number)
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

static bool take_cpu(struct expr_cpu_list *list, uint32_t *out_cpu)
{
	if (expr_cpus_take(list, 'N')) {
		*out_cpu = list->nr_cpus - 1;
		return true;
	}
	return expr_cpus_take_number(list, out_cpu) && *out_cpu < list->nr_cpus;
}

static bool take_range(struct expr_cpu_list *list, uint32_t *out_first, uint32_t *out_last)
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
	return !expr_cpus_take(list, '-') || (take_cpu(list, out_last) && *out_first <= *out_last);
}

static bool is_between_parts(char c)
{
	return c == ',' || trace_is_space(c);
}

/* Parse one part, and the character that ends it. */
static bool expr_cpus_take_part(struct expr_cpu_list *list, uint64_t *mask)
{
	uint32_t first, last, used = 1, group = 1;

	if (!take_range(list, &first, &last))
		return false;
	if (expr_cpus_take(list, ':') &&
	    !(expr_cpus_take_number(list, &used) && expr_cpus_take(list, '/') &&
	      expr_cpus_take_number(list, &group) && group && used <= group))
		return false;
	for (uint32_t cpu = first; cpu <= last; cpu++) {
		if ((cpu - first) % group < used)
			mask[cpu / 64] |= 1ull << cpu % 64;
	}
	return list->at == list->end || is_between_parts(*list->at);
}

static bool take_all(struct expr_cpu_list *list, uint64_t *mask)
{
	bool has_parts = false;

	for (;;) {
		while (list->at < list->end && is_between_parts(*list->at))
			list->at++;
		if (list->at == list->end)
			return has_parts;
		if (!expr_cpus_take_part(list, mask))
			return false;
		has_parts = true;
	}
}

size_t trace_expr_cpus_bytes(void)
{
	return (trace_plat_nr_cpus() + 63) / 64 * sizeof(uint64_t);
}

bool trace_expr_parse_cpus(struct expr_build *build, const struct expr_word *word,
			   struct expr_cpus *out_cpus)
{
	uint32_t nr = trace_plat_nr_cpus();
	struct expr_cpu_list list = { .at = word->at, .end = word->at + word->len, .nr_cpus = nr };

	*out_cpus = (struct expr_cpus){
		.mask = trace_expr_add_data(build, trace_expr_cpus_bytes()),
		.nr = nr,
	};
	if (!out_cpus->mask || !take_all(&list, out_cpus->mask))
		return false;
	for (uint32_t cpu = nr; cpu-- > 0;) {
		if (!(out_cpus->mask[cpu / 64] >> cpu % 64 & 1))
			continue;
		out_cpus->first = cpu;
		out_cpus->nr_in++;
	}
	return true;
}

/* ---- Comparisons ---- */

static void expr_add_set(struct expr_insn *insn, const struct expr_cpus *cpus)
{
	insn->with.data = cpus->mask;
	insn->with.len = cpus->nr;
}

static void add_cpus_of_set(struct expr_build *build, const struct expr_value *value,
			    enum expr_cmp cmp, const struct expr_cpus *cpus)
{
	struct expr_insn *insn = trace_expr_add_place(
		build, cmp == EXPR_CMP_AND ? EXPR_TEST_SET_SHARES : EXPR_TEST_SET_EQUAL, value);

	insn->with.is_negated = cmp == EXPR_CMP_NE;
	expr_add_set(insn, cpus);
}

/*
 * Compare a number with a set. A number equals a set that has this one CPU, never equals a set of
 * several, and is in a set or not. A number that is no CPU is not even unequal to a set of several.
 */
static void add_cpus_of_number(struct expr_build *build, struct expr_value value, enum expr_cmp cmp,
			       const struct expr_cpus *cpus)
{
	value.is_signed = false;
	if (cpus->nr_in == 1) {
		trace_expr_add_number(build, &value, cmp == EXPR_CMP_AND ? EXPR_CMP_EQ : cmp,
				      cpus->first);
	} else if (cmp == EXPR_CMP_AND) {
		trace_expr_add_load(build, &value);
		expr_add_set(trace_expr_add(build, EXPR_TEST_IN), cpus);
	} else if (cmp == EXPR_CMP_EQ) {
		trace_expr_add_constant(build, false);
	} else {
		trace_expr_add_number(build, &value, EXPR_CMP_LT, cpus->nr);
	}
}

void trace_expr_add_cpus(struct expr_build *build, const struct expr_value *value,
			 enum expr_cmp cmp, const struct expr_cpus *cpus)
{
	if (value->class == EXPR_CLASS_SET)
		add_cpus_of_set(build, value, cmp, cpus);
	else
		add_cpus_of_number(build, *value, cmp, cpus);
}
