/* The traced function of the benchmark; see bench.h. Instrumented, unlike the loops. */
#include "bench.h"

TRACE_NOINLINE void bench_target(void)
{
	__asm__ volatile("movl $0x12345678, %%eax" : : : "eax", "memory");
}
