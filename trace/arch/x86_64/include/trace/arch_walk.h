/*
 * A walk through the instructions of a function: their beginnings, and the room for a jump in place
 * of some.
 *
 * An address alone does not tell whether an instruction begins there: only walking from the start
 * of the function does. It takes time in proportion to the function, and nothing is remembered.
 *
 * Context: any in which `read` may be called. Not traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_WALK_H
#define TRACE_ARCH_WALK_H

#include <trace/arch_decode.h>

TRACE_BEGIN_DECLS

struct trace_walk_func {
	uintptr_t start;
	size_t bytes;
	/* Code as it is meant to be: trace_text_meant(). False: not all of it is code. */
	bool (*read)(uintptr_t addr, void *out_bytes, size_t len);
};

/*
 * The instruction that begins at `addr`. -ERANGE if it leaves the function; -EINVAL if there is
 * none.
 */
int trace_walk_decode(const struct trace_walk_func *func, uintptr_t addr,
		      struct trace_insn *out_insn);

/*
 * The instruction that the byte at `addr` belongs to: it begins at `out_start`, which is `addr`
 * where that is a boundary. -ERANGE if `addr` is not in the function; -EINVAL if something up to it
 * is no instruction.
 */
int trace_walk_find(const struct trace_walk_func *func, uintptr_t addr, uintptr_t *out_start,
		    struct trace_insn *out_insn);

/*
 * May a jump of `jump_bytes` at `addr` take the place of the instructions there? It takes the first
 * `out_bytes` bytes, which are whole instructions. Else
 *
 *   -EINVAL      no instruction begins at `addr`, or something in the function is none
 *   -ERANGE      the function ends before `jump_bytes`
 *   -EBUSY       the function jumps to one of the instructions behind the first
 *   -EOPNOTSUPP  it jumps to places that are only known when it runs, which may be there
 *
 * Jumps from outside, from other functions or the table of exceptions, are not looked for. The
 * caller checks the instructions themselves, and whether they can be run elsewhere.
 */
int trace_walk_room(const struct trace_walk_func *func, uintptr_t addr, size_t jump_bytes,
		    size_t *out_bytes);

TRACE_END_DECLS

#endif
