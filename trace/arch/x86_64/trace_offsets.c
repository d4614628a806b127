/*
 * Numbers of C that assembly needs: never linked, gen-offsets reads them from what the compiler
 * prints.
 */
#include <stddef.h>
#include <trace/arch_regs.h>

#define OFFSET(name, value) __asm__ volatile("# -> " #name " %0" : : "i"(value))

void trace_offsets(void);

void trace_offsets(void)
{
	OFFSET(FTRACE_REGS_R15, offsetof(struct ftrace_regs, r15));
	OFFSET(FTRACE_REGS_RBX, offsetof(struct ftrace_regs, rbx));
	OFFSET(FTRACE_REGS_RFLAGS, offsetof(struct ftrace_regs, rflags));
	OFFSET(FTRACE_REGS_DIRECT, offsetof(struct ftrace_regs, direct));
	OFFSET(FTRACE_REGS_R9, offsetof(struct ftrace_regs, r9));
	OFFSET(FTRACE_REGS_RAX, offsetof(struct ftrace_regs, rax));
	OFFSET(FTRACE_REGS_RBP, offsetof(struct ftrace_regs, rbp));
	OFFSET(FTRACE_REGS_PARENT, offsetof(struct ftrace_regs, parent));
}
