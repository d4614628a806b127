/*
 * What the walks share.
 */
#ifndef UNWIND_PRIV_H
#define UNWIND_PRIV_H

#include <stddef.h>
#include <stdint.h>
#include <arch/percpu.h>
#include <kernel/upcall.h>
#include <trace/platform.h>

/* graph_return.asm: its last two instructions, a pop of the return address and the jump there. */
extern const char return_to_handler_pop[], return_to_handler_jump[];

/* The return address that lies at `at`, a place that can be read: the real one, hooked or not. */
static TRACE_ALWAYS_INLINE uintptr_t unwind_return(uintptr_t at)
{
	uintptr_t ret = *(const volatile uintptr_t *)at;

	if (TRACE_UNLIKELY(ret == trace_plat_return_hook()))
		ret = upcall_return_address(cpu_trap_stack_thread(at), ret, (const uintptr_t *)at);
	return ret;
}

/*
 * `rbp` is a trap frame's mark (its address plus one): the instruction that was interrupted, and
 * its caller when no frame tells. 0 stands for one that is not known. Returns where to go on, 0 at
 * the end.
 */
uintptr_t unwind_trap(uintptr_t rbp, uintptr_t *out, size_t max, size_t *out_nr);

#endif
