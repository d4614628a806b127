/* See target.h. */
#include "target.h"

uint64_t target(uint64_t x)
{
	return x + 1;
}
