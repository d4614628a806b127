/*
 * <arch/tracepoints.h> of the simulated machine: there is a listener when a test says so, and the
 * test sees each call.
 */
#ifndef SIM_ARCH_TRACEPOINTS_H
#define SIM_ARCH_TRACEPOINTS_H

#include_next <arch/tracepoints.h>

/* Defined by a test that needs them: is there a listener? Note a call, such as "irq_disable". */
bool sim_tracepoint_wanted(const char *name);
void sim_tracepoint_call(const char *name, unsigned long parent);

#undef TRACEPOINT_WANTED
#undef TRACEPOINT_CALL
#define TRACEPOINT_WANTED(name)	      sim_tracepoint_wanted(#name)
#define TRACEPOINT_CALL(name, parent) sim_tracepoint_call(#name, parent)

#endif
