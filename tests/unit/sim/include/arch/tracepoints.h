/*
 * <arch/tracepoints.h> of the simulated machine: somebody listens when a test says so, and it sees
 * what is told.
 */
#ifndef SIM_ARCH_TRACEPOINTS_H
#define SIM_ARCH_TRACEPOINTS_H

#include_next <arch/tracepoints.h>

/* Defined by a test that cares: whether somebody listens; that it was told, as "irq_disable". */
bool sim_tracepoint_wanted(const char *name);
void sim_tracepoint_call(const char *name, unsigned long parent);

#undef TRACEPOINT_WANTED
#undef TRACEPOINT_CALL
#define TRACEPOINT_WANTED(name)	      sim_tracepoint_wanted(#name)
#define TRACEPOINT_CALL(name, parent) sim_tracepoint_call(#name, parent)

#endif
