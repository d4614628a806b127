/*
 * _Atomic for pahole: version 1.24 does not know DW_TAG_atomic_type, and takes a type that has one
 * in it for void.
 */
#ifndef TYPES_ATOMICS_H
#define TYPES_ATOMICS_H

#include "linked.h"

/*
 * Make DW_TAG_volatile_type, a qualifier of the same length, of each DW_TAG_atomic_type of the
 * image. Returns -1 after a message if the debug information cannot be read.
 */
int atomics_to_volatile(struct linked *image);

#endif
