/*
 * Backtraces along frame pointers, through trap frames and ftrace trampolines.
 *
 * The results are addresses of instructions, innermost first: the one that runs, then those that
 * will be returned to. Where a return is hooked it is the real one.
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

/* Bytes of a thread's stack; as many below it are no stack. */
#define ARCH_STACK_BYTES 16384ul

/*
 * From a trap. The interrupted function may have no frame yet, or none any more. All three return
 * the number of addresses.
 */
size_t arch_backtrace_trap(const struct trap_frame *regs, uintptr_t *out, size_t max);
/* Of a thread that does not run. */
size_t arch_backtrace_context(const struct arch_context *ctx, uintptr_t *out, size_t max);
/* Of the caller: the first entry lies in the function that calls this. */
size_t arch_backtrace_here(uintptr_t *out, size_t max);

/*
 * Call fn() for all words of a stack that are, or may be, return addresses of its code, without
 * words that earlier calls have left there. These words are: the return addresses, the real one
 * where a return is hooked; for each interrupt the interrupted instruction, and every word of the
 * stack up to the first frame that is certain to be there; in front of the frame of a trampoline
 * every word down to the frame before, because a callback may have none. True when the walk came to
 * the first frame of the stack. False when it broke off: then there may be more.
 */
typedef void (*arch_words_fn)(const uintptr_t *words, size_t nr, void *arg);
/* Of a thread that does not run. */
bool arch_stack_show(const struct arch_context *ctx, arch_words_fn fn, void *arg);
/*
 * Of the caller. `is_waiting`: the innermost interrupt on the stack interrupted a wait for one, in
 * a function that has its frame. So its words are not shown, only its return addresses.
 */
bool arch_stack_show_here(bool is_waiting, arch_words_fn fn, void *arg);

#endif
