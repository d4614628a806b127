/*
 * Facts about the fake machine. None is that of the kernel, but for the size of an instruction: its
 * text is code of x86-64.
 */
#ifndef TRACE_PLAT_FACTS_H
#define TRACE_PLAT_FACTS_H

#define TRACE_INSN_SIZE	   5
#define TRACE_CYCLES_CLOCK "fake-cycles"
#define TRACE_PRODUCT	   "fake"

#endif
