/*
 * tracing_cpumask: the CPUs whose events are recorded, as hex digits, CPU 0 in the lowest bit, with
 * a comma between groups of 32 bits.
 *
 * Context: thread. Locking: the configuration lock is held.
 */
#ifndef TRACE_CPUMASK_H
#define TRACE_CPUMASK_H

struct trace_array;
struct trace_seq;

/*
 * 0, or with nothing changed: -EINVAL (no mask), -EOVERFLOW (has CPUs that do not exist), -ENOMEM.
 */
int trace_cpumask_set(struct trace_array *tr, const char *text);
/* The text of the file. */
void trace_cpumask_show(struct trace_array *tr, struct trace_seq *seq);

#endif
