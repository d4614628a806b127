/*
 * The registers at a call site, as a callback sees them: the stack made by the trampoline, lowest
 * address first. Contracts: <trace/platform.h>.
 *
 *   r15 .. r10 rbx rflags rsp direct  only with FTRACE_OPS_FL_SAVE_REGS; else undefined
 *   r9 r8 rdi rsi rdx rcx rax rbp     restored from here
 *   rip                               the return address into the traced function: where it goes on
 *   parent                            the return address into its caller
 *
 * Context:   probe; until the callback returns.
 * Ownership: the struct belongs to the trampoline. All but `rsp`, which follows from its address,
 *            may be written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_REGS_H
#define TRACE_ARCH_REGS_H

#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ftrace_regs {
	uint64_t r15, r14, r13, r12, r11, r10, rbx;
	uint64_t rflags;
	uint64_t rsp; /* as at the first instruction: of `parent` */
	/* The address to which the trampoline leaves instead of `rip`; 0 for none. */
	uint64_t direct;
	uint64_t r9, r8, rdi, rsi, rdx, rcx, rax, rbp;
	uintptr_t rip;
	uintptr_t parent;
};

extern const char ftrace_just_return[]; /* trampoline_code.asm: a return and nothing else */

static TRACE_ALWAYS_INLINE uint64_t ftrace_regs_get_argument(const struct ftrace_regs *fregs,
							     uint32_t n)
{
	switch (n) {
	case 0:
		return fregs->rdi;
	case 1:
		return fregs->rsi;
	case 2:
		return fregs->rdx;
	case 3:
		return fregs->rcx;
	case 4:
		return fregs->r8;
	case 5:
		return fregs->r9;
	default:
		return (&fregs->parent)[1 + n - 6];
	}
}

static TRACE_ALWAYS_INLINE void ftrace_regs_set_argument(struct ftrace_regs *fregs, uint32_t n,
							 uint64_t value)
{
	switch (n) {
	case 0:
		fregs->rdi = value;
		break;
	case 1:
		fregs->rsi = value;
		break;
	case 2:
		fregs->rdx = value;
		break;
	case 3:
		fregs->rcx = value;
		break;
	case 4:
		fregs->r8 = value;
		break;
	case 5:
		fregs->r9 = value;
		break;
	default:
		(&fregs->parent)[1 + n - 6] = value;
	}
}

static TRACE_ALWAYS_INLINE uintptr_t
ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs)
{
	return fregs->rip;
}

static TRACE_ALWAYS_INLINE void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs,
								    uintptr_t ip)
{
	fregs->rip = ip;
}

static TRACE_ALWAYS_INLINE uintptr_t ftrace_regs_get_stack_pointer(const struct ftrace_regs *fregs)
{
	return (uintptr_t)&fregs->parent;
}

/*
 * Registers from a probe's detour for a handler of arguments have no `rsp`, and the flags in
 * `direct`, where otherwise 0 or an address is. It lies below the stack of the probed code, with
 * three words between: probe_detour_code.asm.
 */
static TRACE_ALWAYS_INLINE uintptr_t
ftrace_regs_get_saved_stack_pointer(const struct ftrace_regs *fregs)
{
	const uint64_t flags_end = 1ull << 22;

	if (fregs->direct && fregs->direct < flags_end)
		return (uintptr_t)(&fregs->parent + 3);
	return fregs->rsp;
}

static TRACE_ALWAYS_INLINE uintptr_t ftrace_regs_get_frame_pointer(const struct ftrace_regs *fregs)
{
	return fregs->rbp;
}

static TRACE_ALWAYS_INLINE uint64_t ftrace_regs_get_return_value(const struct ftrace_regs *fregs)
{
	return fregs->rax;
}

static TRACE_ALWAYS_INLINE void ftrace_regs_set_return_value(struct ftrace_regs *fregs,
							     uint64_t value)
{
	fregs->rax = value;
}

static TRACE_ALWAYS_INLINE void ftrace_override_function_with_return(struct ftrace_regs *fregs)
{
	fregs->rip = (uintptr_t)ftrace_just_return;
}

static TRACE_ALWAYS_INLINE uintptr_t *ftrace_regs_return_slot(struct ftrace_regs *fregs)
{
	return &fregs->parent;
}

static TRACE_ALWAYS_INLINE void ftrace_regs_set_direct(struct ftrace_regs *fregs, uintptr_t addr)
{
	fregs->direct = addr;
}

/*
 * Define `name`, which a site can call directly: it keeps all registers and calls `body`, a
 * function with TRACE_DIRECT_BODY, with the arguments of the traced function; it is C, so in C++
 * TRACE_BEGIN_DECLS and TRACE_END_DECLS stand around it. The entry has a frame.
 * (An attribute of the compilers does the same, but clang's forgets the arguments.)
 */
#define TRACE_DIRECT(name, body)                                                                   \
	TRACE_EXTERN_C void name(void);                                                            \
	__asm__(".pushsection .text\n"                                                             \
		".type " #name ", @function\n" #name ":\n"                                         \
		"	push %rbp\n	mov %rsp, %rbp\n	push %rax\n	push %rcx\n"                            \
		"	push %rdx\n	push %rsi\n	push %rdi\n	push %r8\n"                                  \
		"	push %r9\n	push %r10\n	push %r11\n	call " #body "\n"          \
		"	pop %r11\n	pop %r10\n	pop %r9\n	pop %r8\n"                                       \
		"	pop %rdi\n	pop %rsi\n	pop %rdx\n	pop %rcx\n"                                     \
		"	pop %rax\n	pop %rbp\n	ret\n"                                                     \
		".size " #name ", .-" #name "\n"                                                   \
		".popsection\n")

TRACE_END_DECLS

#endif
