/*
 * Calls whose returns are hooked, and jumps out of some of them, on the fake machine. To be included by
 * one test file, after tracefs.h.
 */
#ifndef CALL_TREE_H
#define CALL_TREE_H

#include "tracefs.h"

#define CALLER(n) (fake_func(YIELD) + 1 + (n) % 8)

/* Calls inside calls, jumps out of some of them. */
HELPER void call_tree(uint32_t levels, uint32_t *seed)
{
	for (uint32_t i = 0; i < 3; i++) {
		uintptr_t parent = CALLER(++*seed);

		fake_enter(*seed % NR_FUNCS, parent);
		if (levels)
			call_tree(levels - 1, seed);
		if (*seed % 5 == 0)
			fake_tail((*seed + 1) % NR_FUNCS);
		assert_int_equal(fake_leave(*seed), parent);
	}
}

#endif
