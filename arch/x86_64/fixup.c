/* See fixup.h and <arch/nofault.h>. */
#include <arch/nofault.h>
#include <arch/trap.h>
#include <trace/arch_read.h>

#include "fixup.h"

bool fixup_apply(struct trap_frame *regs)
{
	uintptr_t resume = 0;

	if (regs->vector == TRAP_PAGE_FAULT || regs->vector == TRAP_PROTECTION)
		resume = trace_fixup_find(regs->rip);
	if (resume)
		regs->rip = resume;
	return resume;
}

bool arch_read_nofault(void *to, const void *from, size_t bytes)
{
	return trace_arch_read(to, from, bytes);
}
