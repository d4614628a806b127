/*
 * Calls by NMI: what do the other CPUs do now, whatever they have switched off?
 *
 * Context: thread. Tests that have a handler of NMIs of their own do not run meanwhile.
 */
#ifndef KERNEL_NMI_CALL_H
#define KERNEL_NMI_CALL_H

#include <stdint.h>

struct trap_frame;

/*
 * fn(regs, arg) in NMI context on each other online CPU, one after the other. Returns the number
 * that ran it: each has two seconds to begin, and no CPU begins after that.
 */
uint32_t nmi_call_others(void (*fn)(const struct trap_frame *regs, void *arg), void *arg);

#endif
