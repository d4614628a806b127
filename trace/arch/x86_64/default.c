/*
 * Defaults of <trace/platform.h> for a host in which only ftrace changes code: ftrace's lock, which
 * is held here, is the text lock then. A function of the host with the same name takes a default's
 * place.
 */
#include <trace/arch_host.h>
#include <trace/arch_text.h>
#include <trace/arch_trampoline.h>

extern void __fentry__(void); /* fentry.asm */

TRACE_DEFAULT uintptr_t trace_plat_fentry(void)
{
	return (uintptr_t)__fentry__;
}

/* The linker makes these symbols for an output section that is called __mcount_loc. */
extern const uintptr_t __start___mcount_loc[] __attribute__((weak));
extern const uintptr_t __stop___mcount_loc[] __attribute__((weak));

TRACE_DEFAULT const uintptr_t *trace_plat_sites(size_t *out_nr)
{
	*out_nr = (size_t)(__stop___mcount_loc - __start___mcount_loc);
	return __start___mcount_loc;
}

TRACE_DEFAULT int trace_plat_poke_batch(const struct trace_poke *pokes, size_t nr,
					struct trace_poke_error *out_error)
{
	return text_poke_batch(pokes, nr, out_error);
}

TRACE_DEFAULT int trace_plat_trampoline_create(const struct trace_trampoline_call *calls, size_t nr,
					       bool with_regs,
					       struct trace_trampoline *out_trampoline)
{
	return trampoline_create(calls, nr, with_regs, out_trampoline);
}

TRACE_DEFAULT int trace_plat_trampoline_retarget(struct trace_trampoline *tramp, uint32_t index,
						 uintptr_t func)
{
	return trampoline_retarget(tramp, index, func);
}

TRACE_DEFAULT void trace_plat_trampoline_destroy(struct trace_trampoline *tramp)
{
	trampoline_destroy(tramp);
}

TRACE_DEFAULT void trace_plat_lost(void)
{
	trace_arch_broken("the return address of a traced function is lost");
}
