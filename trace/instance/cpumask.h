/*
 * tracing_cpumask: the CPUs whose events are recorded, in hex, 32 bits to a comma.
 *
 * Context: thread. Locking: the configuration lock is held.
 */
#ifndef TRACE_CPUMASK_H
#define TRACE_CPUMASK_H

struct trace_array;
struct trace_seq;

/* -EINVAL for what is no mask, -EOVERFLOW for CPUs that do not exist; nothing changed then. */
int trace_cpumask_set(struct trace_array *tr, const char *text);
void trace_cpumask_show(struct trace_array *tr, struct trace_seq *seq);

#endif
