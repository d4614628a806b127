/* Functions with instructions of many kinds, into which hits.c puts probes. */
#ifndef MIX_H
#define MIX_H

#include <stdint.h>

/* Calls all of the others. Its result depends on all of theirs. */
uint64_t mix(uint64_t x);

uint64_t mix_leaf(uint64_t x);	   /* has its variables on the stack, and calls nothing */
uint64_t mix_branches(uint64_t x); /* loops, branches, string instructions */
uint64_t mix_calls(uint64_t x);	   /* calls through registers and memory */
double mix_vectors(double x);	   /* vector registers, constants by their place in the program */
double mix_sum(uint32_t nr, ...);  /* of doubles, which are in vector registers */

#endif
