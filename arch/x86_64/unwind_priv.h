/*
 * Functions that unwind.c, unwind_code.c and unwind_probe.c share.
 *
 * Context: any, NMI included. Not traced.
 */
#ifndef UNWIND_PRIV_H
#define UNWIND_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <arch/percpu.h>
#include <kernel/upcall.h>
#include <trace/platform.h>

/*
 * The last two instructions of return_to_handler: a pop of the return address, and the jump there.
 */
extern const char return_to_handler_pop[], return_to_handler_jump[];

/* The return address at `at`, which can be read; if the return is hooked, the real one. */
static TRACE_ALWAYS_INLINE uintptr_t unwind_return(uintptr_t at)
{
	uintptr_t ret = *(const volatile uintptr_t *)at;

	if (TRACE_UNLIKELY(ret == trace_plat_return_hook()))
		ret = upcall_return_address(cpu_trap_stack_thread(at), ret, (const uintptr_t *)at);
	return ret;
}

/*
 * Walk over a trap frame, of which `rbp` is the address plus one, or over the frame of a probe's
 * detour. Puts the interrupted or probed instruction, and its callers without a frame, into `out`,
 * 0 for a caller that is not known. Returns the rbp to go on with, 0 at the end.
 */
uintptr_t unwind_odd(uintptr_t rbp, uintptr_t *out, size_t max, size_t *out_nr);

/*
 * Was the function at `addr`, which returns to `ret`, called by a call site? It is a trampoline
 * then, or a site calls it directly. A site comes before the prologue of its function. So the
 * return address of that function lies right above `ret`, without a frame.
 */
bool unwind_is_called_by_site(uintptr_t addr, uintptr_t ret);
/*
 * Is there a call site right before `ret`? If so, the function that returns there was called by it. In compiled code an
 * answer of "no" is found again at once.
 */
bool unwind_is_behind_site(uintptr_t ret);
/*
 * The number of words between rsp and the return address, when the function at `rip` has no frame
 * of its own now; -1 when it has one.
 */
int unwind_return_depth(uintptr_t rip);

#endif
