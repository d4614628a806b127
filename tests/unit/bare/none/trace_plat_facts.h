/*
 * Facts of a host that has nothing.
 */
#ifndef TRACE_PLAT_FACTS_H
#define TRACE_PLAT_FACTS_H

#define TRACE_INSN_SIZE	   5
#define TRACE_CYCLES_CLOCK "cycles"
#define TRACE_PRODUCT	   "bare"

#endif
