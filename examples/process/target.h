/* The function that flips.c and bench.c call: it has a call site, and does next to nothing. */
#ifndef TARGET_H
#define TARGET_H

#include <stdint.h>

uint64_t target(uint64_t x);

#endif
