/*
 * What the walks share.
 */
#ifndef UNWIND_PRIV_H
#define UNWIND_PRIV_H

#include <stddef.h>
#include <stdint.h>

/*
 * `rbp` is a trap frame's mark (its address plus one): the instruction that was interrupted, and
 * its caller when no frame tells. 0 stands for one that is not known. Returns where to go on, 0 at
 * the end.
 */
uintptr_t unwind_trap(uintptr_t rbp, uintptr_t *out, size_t max, size_t *out_nr);

#endif
