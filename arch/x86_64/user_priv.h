/*
 * The files of user mode, for the rest of arch/; without processes, stubs.
 *
 * Context: user_cpu_init(): each CPU for itself, interrupts off. The others: traps, interrupts off. Not
 * traced.
 */
#ifndef USER_PRIV_H
#define USER_PRIV_H

#include <arch/user.h>
#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

#define FLAGS_OF_PROGRAM 0x50dd5ull /* those of rflags that a program, or its tracer, may set */

#ifdef WITH_PROCESSES

/* Bounds of user_entry.asm, and of the part of it in which rsp is the program's. */
extern const char user_entry_begin[], user_entry_end[], user_rsp_begin[], user_rsp_end[];
extern const char syscall_entry[];

extern uint64_t
	user_xcr0; /* the parts that XSAVE switches; 0: FXSAVE does. Constant from the boot on */

static inline size_t user_fpu_bytes(void)
{
	return user_xcr0 ? USER_FPU_BYTES : USER_FXSAVE_BYTES;
}

/* Let programs run on this CPU: registers for SYSCALL and vectors, protection from programs. */
void user_cpu_init(void);
/* An exception in a program; and the last thing before each return to one. */
void user_trap(struct trap_frame *regs);
void user_before_return(struct trap_frame *regs);
/* A page fault of user_copy.asm: true when the page is there now. */
bool user_copy_fault(struct trap_frame *regs);

static inline bool user_is_entry_code(uintptr_t rip)
{
	return rip >= (uintptr_t)user_entry_begin && rip < (uintptr_t)user_entry_end;
}

#else

static inline void user_cpu_init(void)
{
}
static inline void user_trap(struct trap_frame *regs)
{
	(void)regs;
}
static inline void user_before_return(struct trap_frame *regs)
{
	(void)regs;
}
static inline bool user_copy_fault(struct trap_frame *regs)
{
	(void)regs;
	return false;
}
static inline bool user_is_entry_code(uintptr_t rip)
{
	(void)rip;
	return false;
}

#endif

#endif
