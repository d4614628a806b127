/*
 * Registers of the fake machine at a call site: some for arguments, some that are only saved when
 * asked for. What a call is made with, and what came of it: fake_call_regs().
 *
 * Context: a test.
 */
#ifndef TRACE_PLAT_REGS_H
#define TRACE_PLAT_REGS_H

#include <stdint.h>

#define FAKE_NR_ARGS	 6u
#define FAKE_RETURN	 (0xffffffff81000000ul - 0x400) /* code that only returns */
#define FAKE_RETURN_HOOK (0xffffffff81000000ul - 0x300)
#define FAKE_RETURN_LOST (0xffffffff81000000ul - 0x200)

struct ftrace_regs {
	uint64_t saved[4]; /* only with all registers */
	uint64_t arg[FAKE_NR_ARGS];
	uint64_t value; /* returned */
	uint64_t frame;
	uint64_t rip;
	uint64_t parent;
	uint64_t direct;
	uintptr_t *slot; /* holds `parent`; NULL: no stack in this test */
	bool is_full;
};

static inline uint64_t ftrace_regs_get_argument(const struct ftrace_regs *fregs, uint32_t n)
{
	return n < FAKE_NR_ARGS ? fregs->arg[n] : 0;
}

static inline void ftrace_regs_set_argument(struct ftrace_regs *fregs, uint32_t n, uint64_t value)
{
	if (n < FAKE_NR_ARGS)
		fregs->arg[n] = value;
}

static inline uintptr_t ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs)
{
	return fregs->rip;
}

static inline void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs, uintptr_t ip)
{
	fregs->rip = ip;
}

static inline uintptr_t ftrace_regs_get_stack_pointer(const struct ftrace_regs *fregs)
{
	return (uintptr_t)&fregs->parent;
}

static inline uintptr_t ftrace_regs_get_saved_stack_pointer(const struct ftrace_regs *fregs)
{
	return (uintptr_t)fregs->slot;
}

static inline uintptr_t ftrace_regs_get_frame_pointer(const struct ftrace_regs *fregs)
{
	return fregs->frame;
}

static inline uint64_t ftrace_regs_get_return_value(const struct ftrace_regs *fregs)
{
	return fregs->value;
}

static inline void ftrace_regs_set_return_value(struct ftrace_regs *fregs, uint64_t value)
{
	fregs->value = value;
}

static inline void ftrace_override_function_with_return(struct ftrace_regs *fregs)
{
	fregs->rip = FAKE_RETURN;
}

static inline uintptr_t *ftrace_regs_return_slot(struct ftrace_regs *fregs)
{
	return fregs->slot ? fregs->slot : &fregs->parent;
}

static inline void ftrace_regs_set_direct(struct ftrace_regs *fregs, uintptr_t addr)
{
	fregs->direct = addr;
}

#endif
