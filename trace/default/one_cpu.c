/*
 * Default: the data of the only CPU. See <trace/one_cpu.h>.
 */
#include <trace/compiler.h>
#include <trace/defaults.h>

TRACE_DEFAULT struct trace_one_cpu trace_one_cpu;
