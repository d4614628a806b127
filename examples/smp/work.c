/* What is traced, and called by all CPUs: see smp.h. */
#include "smp.h"

uint64_t work(uint64_t n)
{
	return n * n + 1;
}
