/*
 * Backtraces along frame pointers, through trap frames and ftrace trampolines.
 *
 * Each result is the address of an instruction that runs or will be returned to, innermost first.
 *
 * Context:   any, NMI and panic included. Reads nothing outside known stacks. Not traced.
 * Locking:   none. For a thread that runs on another CPU the result may be wrong, never harmful.
 * Ownership: the caller's array.
 */
#ifndef ARCH_UNWIND_H
#define ARCH_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <arch/switch.h>
#include <arch/trap.h>

/* From a frame pointer: `rip` is the first entry, then the callers. Returns the number. */
size_t arch_backtrace(uintptr_t rip, uintptr_t rbp, uintptr_t *out, size_t max);
/* From a trap; knows about functions that have not made their frame yet. */
size_t arch_backtrace_trap(const struct trap_frame *regs, uintptr_t *out, size_t max);
/* Of a thread that does not run. */
size_t arch_backtrace_context(const struct arch_context *ctx, uintptr_t *out, size_t max);
/* Of the caller: the first entry lies in the function that calls this. */
size_t arch_backtrace_here(uintptr_t *out, size_t max);

/*
 * Show what the code on a stack can come back to, without what earlier calls have left between:
 * each return address, the real one where a return is hooked; and for an interrupt the instruction
 * with all words up to the first frame that the interrupted code has for sure. True when the walk
 * came to the first frame of the stack. False: it broke off, and more may be there.
 */
typedef void (*arch_words_fn)(const uintptr_t *words, size_t nr, void *arg);
/* Of a thread that does not run. */
bool arch_stack_show(const struct arch_context *ctx, arch_words_fn fn, void *arg);
/*
 * Of the caller. `is_waiting`: what it has interrupted waits for an interrupt, so that nothing but
 * return addresses counts there.
 */
bool arch_stack_show_here(bool is_waiting, arch_words_fn fn, void *arg);

#endif
