/* The traced code, which all CPUs call: see smp.h. */
#include "smp.h"

uint64_t work(uint64_t n)
{
	return n * n + 1;
}
