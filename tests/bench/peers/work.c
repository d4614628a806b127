/* See loop.h. */
#include "loop.h"

uint64_t work(uint64_t x)
{
	return x + 1;
}
