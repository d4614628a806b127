/*
 * Stacks of threads, for a host's trace_plat_each_stack(), which calls one of these functions for
 * each thread: they show a stack to `look` and mark the thread as seen. The words shown depend on
 * the thread's place:
 *
 *   it asks, or was switched out by a call trace_stack_show_frames(): return addresses, found by
 *   frame pointers interrupted in user mode the same, from the frame of the interrupt's handler
 *   interrupted in kernel code trace_stack_show_words(): all words
 *
 * All words are shown only of the last kind: in the middle of a function's first instructions or in
 * a trampoline its frame pointer does not lead to every return address yet. The others are in C,
 * where it does. In their frames are holes that no code has written to, and remains of earlier
 * calls in them: an address inside a trampoline there, and the thread would never be seen outside.
 * A thread that was interrupted runs on some time, and its stack changes.
 *
 *   rbp -> | rbp of the caller | return address |      a frame; ascending
 *   | return into the trampoline | registers | rbp | site | parent |     that of a trampoline
 *
 * Between the function called by a trampoline and the frame of the trampoline all words are shown:
 * some callbacks of the library have no frame, and the frame that is found below does not return
 * into the trampoline.
 *
 * The chain ends with rbp = 0, which the first function of a thread finds if the host has put it
 * there. If it ends otherwise, all words from there to the end of the stack are shown.
 *
 * Context: the thread does not run meanwhile, or this is its CPU. Interrupts may be off. Not
 *          traced.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_STACKS_H
#define TRACE_ARCH_STACKS_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

/*
 * By frame pointers from `frame`, an address on the stack: where the switch has pushed rbp below
 * its return address, or __builtin_frame_address(0) of a function that has not returned. 0: the
 * thread has not run yet. `end` is the highest end of the stack.
 */
void trace_stack_show_frames(const struct trace_plat_look *look, struct trace_thread *thread,
			     uintptr_t frame, uintptr_t end);
/*
 * All words from `from` to `end`. Registers of the interrupted code are among them: at least those
 * that a C function may change, and rip.
 */
void trace_stack_show_words(const struct trace_plat_look *look, struct trace_thread *thread,
			    uintptr_t from, uintptr_t end);

TRACE_END_DECLS

#endif
