/*
 * Lists of CPUs, in Linux's form cpulist: `0-3,5`.
 *
 * Context: any; memory is the caller's.
 */
#ifndef TRACE_CPULIST_H
#define TRACE_CPULIST_H

#include <stdbool.h>
#include <stdint.h>
#include <trace/trace_seq.h>

/*
 * Set wanted[cpu] of `nr_cpus` for each CPU of `text`; blanks may stand around it. NULL; or the place in
 * `text` of what is no list, or no CPU there is, and *out_why with the words for that.
 */
const char *trace_cpulist_parse(const char *text, bool *wanted, uint32_t nr_cpus,
				const char **out_why);
/* Print the list, without newline; nothing for an empty one. */
void trace_cpulist_show(struct trace_seq *seq, const bool *wanted, uint32_t nr_cpus);

#endif
