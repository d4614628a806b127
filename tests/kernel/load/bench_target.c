/* The traced function of the benchmark; see bench.h. Instrumented, unlike the loops. */
#include "bench.h"

TRACE_NOINLINE void bench_target(void)
{
	__asm__ volatile("movl $0x12345678, %%eax" : : : "eax", "memory");
}

/* With arguments that func-args records by their names. */
TRACE_NOINLINE void bench_target_args(const void *object, size_t size, uint32_t flags)
{
	__asm__ volatile("" : : "r"(object), "r"(size), "r"(flags));
}
