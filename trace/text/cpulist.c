/* See cpulist.h. */
#include "cpulist.h"
#include "text/str.h"

struct cpulist {
	const char *at;
	uint32_t nr_cpus;
	const char *why; /* NULL: all is well up to `at` */
};

static uint32_t cpulist_number(struct cpulist *list)
{
	const char *start = list->at;
	uint64_t number = 0;

	for (; *list->at >= '0' && *list->at <= '9'; list->at++) {
		number = number * 10 + (uint64_t)(*list->at - '0');
		if (number >= list->nr_cpus) {
			list->at = start;
			list->why = "there is no such CPU";
			return 0;
		}
	}
	if (list->at == start)
		list->why = "not the number of a CPU";
	return (uint32_t)number;
}

static void cpulist_range(struct cpulist *list, bool *wanted)
{
	const char *start = list->at;
	uint32_t first = cpulist_number(list), last = first;

	if (!list->why && *list->at == '-') {
		list->at++;
		last = cpulist_number(list);
	}
	if (list->why)
		return;
	if (last < first) {
		list->at = start;
		list->why = "the first CPU lies behind the last";
		return;
	}
	for (; first <= last; first++)
		wanted[first] = true;
}

const char *trace_cpulist_parse(const char *text, bool *wanted, uint32_t nr_cpus,
				const char **out_why)
{
	struct cpulist list = { .at = text, .nr_cpus = nr_cpus };

	while (trace_is_space(*list.at))
		list.at++;
	cpulist_range(&list, wanted);
	while (!list.why && *list.at == ',') {
		list.at++;
		cpulist_range(&list, wanted);
	}
	while (!list.why && trace_is_space(*list.at))
		list.at++;
	if (!list.why && *list.at)
		list.why = "not a list of CPUs";
	*out_why = list.why;
	return list.why ? list.at : NULL;
}

void trace_cpulist_show(struct trace_seq *seq, const bool *wanted, uint32_t nr_cpus)
{
	const char *between = "";

	for (uint32_t first = 0, end; first < nr_cpus; first = end + 1) {
		for (end = first; end < nr_cpus && wanted[end]; end++)
			continue;
		if (end == first)
			continue;
		trace_seq_printf(seq, end - first > 1 ? "%s%u-%u" : "%s%u", between, first,
				 end - 1);
		between = ",";
	}
}
