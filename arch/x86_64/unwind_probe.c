/*
 * Backtraces for trace/, from inside a callback: trace_plat_backtrace() of <trace/platform.h>.
 * Every event may want one, so this walk is quick: it takes a stack's bounds once, and asks for
 * each frame only whether it lies there. Trap frames are left to unwind.c.
 *
 *   callback .. | rbp | ret into trampoline |       the trampoline's frame:
 *                  '------------------------------> | rbp | site | parent |
 *                                                      '----> frame of the parent
 */
#include <arch/cpu_local.h>
#include <arch/percpu.h>
#include <arch/sections.h>
#include <arch/trap.h>
#include <arch/unwind.h>
#include <kernel/upcall.h>
#include <trace/platform.h>

#include <trace/arch_code.h>
#include <trace/arch_probe.h>
#include "unwind_priv.h"

#define WORD	     sizeof(uintptr_t)
#define TRAP_ENTRIES 4u /* entries that one trap frame gives at most */

struct probe_walk {
	uint32_t *to, *end; /* the place of the next address, and that behind the last one */
	uintptr_t lo, hi;   /* the stack we are on */
};

static TRACE_ALWAYS_INLINE uintptr_t load(uintptr_t at)
{
	return *(const volatile uintptr_t *)at; // NOLINT: a frame that is_frame() knows
}

static TRACE_ALWAYS_INLINE void emit(struct probe_walk *w, uintptr_t addr)
{
	if (w->to < w->end)
		*w->to++ = trace_plat_ip_pack(addr);
}

/* Is `rbp` a place on the stack we are on where a frame, two words, can be read? */
static TRACE_ALWAYS_INLINE bool is_frame(const struct probe_walk *w, uintptr_t rbp)
{
	return rbp >= w->lo && rbp < w->hi - WORD && !(rbp % WORD);
}

/* Make the stack the one we are on, if `rbp` is a frame there. */
static TRACE_ALWAYS_INLINE bool use_stack(struct probe_walk *w, uintptr_t rbp, uintptr_t lo,
					  uintptr_t hi)
{
	w->lo = lo;
	w->hi = hi;
	return is_frame(w, rbp);
}

static TRACE_NOINLINE bool enter_stack(struct probe_walk *w, uintptr_t rbp)
{
	uintptr_t lo, hi;

	if (!cpu_trap_stack_of(rbp, &lo, &hi) && !upcall_stack_range(rbp, &lo, &hi))
		return false;
	return use_stack(w, rbp, lo, hi);
}

/* Is `rbp` on the stack that the running thread has, whose end is `top`, with two words above it? */
static TRACE_ALWAYS_INLINE bool is_on_own_stack(uintptr_t rbp, uintptr_t top)
{
	return TRACE_LIKELY(top - rbp - 2 * WORD < ARCH_STACK_BYTES);
}

/*
 * Take the site's and its function's return address from a trampoline's frame, which has three words.
 * Returns the next rbp.
 */
static TRACE_ALWAYS_INLINE uintptr_t take_trampoline(struct probe_walk *w, uintptr_t rbp)
{
	if (rbp < w->lo || rbp >= w->hi - 2 * WORD || rbp % WORD)
		return 0;
	emit(w, load(rbp + WORD));
	emit(w, unwind_return(rbp + 2 * WORD));
	return load(rbp);
}

/*
 * Take the instruction that a trap interrupted, or the probed one of a detour. Returns the next
 * rbp, which may be on another stack; 0 at the end.
 */
static TRACE_NOINLINE uintptr_t take_odd(struct probe_walk *w, uintptr_t rbp)
{
	uintptr_t found[TRAP_ENTRIES];
	size_t nr = 0;

	rbp = unwind_odd(rbp, found, TRAP_ENTRIES, &nr);
	while (nr && !found[nr - 1])
		nr--;
	if (!nr)
		return 0;
	for (size_t i = 0; i < nr; i++)
		emit(w, found[i]);
	if (trampoline_contains(found[nr - 1]) && (is_frame(w, rbp) || enter_stack(w, rbp)))
		return take_trampoline(w, rbp);
	return rbp;
}

/*
 * Go up to the frame of the function that a trampoline called, or to that of a detour, or to the
 * frame of the breakpoint. Returns the rbp of it, 0 without one.
 */
static uintptr_t find_entry(struct probe_walk *w, uintptr_t rbp)
{
	while (is_frame(w, rbp)) {
		uintptr_t next = load(rbp);

		if (trampoline_contains(load(rbp + WORD)))
			return rbp;
		if (next <= rbp)
			break;
		rbp = next;
	}
	return rbp & 1 ? rbp : 0;
}

/* A frame that returns into a trampoline or a detour. Returns the rbp to go on with, 0 at the end. */
static TRACE_NOINLINE uintptr_t take_code(struct probe_walk *w, uintptr_t rbp, uintptr_t ret)
{
	uintptr_t next = load(rbp);

	if (trace_probe_is_detour(ret))
		return take_odd(w, rbp);
	emit(w, ret);
	next = take_trampoline(w, next);
	return next > rbp || (next & 1) ? next : 0;
}

/*
 * Take a frame that returns into a trampoline or a detour, or whose return is hooked. Returns the rbp to
 * go on with, 0 at the end.
 */
static TRACE_NOINLINE uintptr_t take_other(struct probe_walk *w, uintptr_t rbp)
{
	uintptr_t next = load(rbp), ret = unwind_return(rbp + WORD);

	if (!ret)
		return 0;
	if (trampoline_contains(ret))
		return take_code(w, rbp, ret);
	emit(w, ret);
	return next > rbp || (next & 1) ? next : 0;
}

/*
 * Take frames from the one at `rbp` on, up to the first that does not return into plain code. They ascend,
 * and the last one that has room lies two words below `hi`. There is room for one address.
 * Returns the rbp to go on with, 0 at the end.
 *
 * In assembly, because no compiler found fewer than 18 instructions for a frame. Places of frames are
 * counted from `base`, a word below the end, where no frame has room: below it they are the greatest
 * numbers, so one comparison tells that the next frame is above this one, and still on the stack.
 */
static TRACE_ALWAYS_INLINE uintptr_t walk_frames(uint32_t **at, uint32_t *end, uintptr_t hi,
						 uintptr_t rbp)
{
	const uintptr_t base = hi - WORD;
	uintptr_t place = rbp - base, next, ret, offset;
	intptr_t index = *at - end;
	bool is_last;

	__asm__ volatile("1:	mov	8(%[base], %[place]), %[ret]\n"
			 "	lea	minus_text_start(%[ret]), %[offset]\n"
			 "	cmp	$plain_bytes, %[offset]\n"
			 "	jae	2f\n"
			 "	mov	%k[ret], (%[end], %[index], 4)\n"
			 "	mov	(%[base], %[place]), %[next]\n"
			 "	sub	%[base], %[next]\n"
			 "	cmp	%[place], %[next]\n"
			 "	jbe	3f\n"
			 "	mov	%[next], %[place]\n"
			 "	test	$7, %b[place]\n"
			 "	lea	1(%[index]), %[index]\n"
			 "	jnz	2f\n"
			 "	test	%[index], %[index]\n"
			 "	jnz	1b\n"
			 "2:	clc\n"
			 "	jmp	4f\n"
			 "3:	inc	%[index]\n"
			 "	stc\n"
			 "4:"
			 : "=@ccc"(is_last), [place] "+r"(place), [next] "=&r"(next),
			   [ret] "=&r"(ret), [offset] "=&r"(offset), [index] "+r"(index)
			 : [base] "r"(base), [end] "r"(end)
			 : "memory");
	*at = end + index;
	if (!is_last)
		return base + place;
	next += base;
	/* Frames ascend on one stack; only a trap frame leads to another. */
	return next > base + place || (next & 1) ? next : 0;
}

/* Does the interrupted code have a caller without a frame, with a usual return address? 0 for none. */
static TRACE_ALWAYS_INLINE uintptr_t caller_of(const struct probe_walk *w,
					       const struct trap_frame *regs, int depth)
{
	uintptr_t at = regs->rsp + (uintptr_t)depth * WORD, ret;

	if (at < w->lo || at >= w->hi || at % WORD)
		return 0;
	ret = load(at);
	return arch_is_compiled(ret) && !unwind_is_behind_site(ret) ? ret : 0;
}

/*
 * take_odd() for the frame of a trap in usual code of the kernel, on this stack; what is rare is left to
 * take_odd().
 */
static TRACE_NOINLINE uintptr_t take_trap(struct probe_walk *w, uintptr_t rbp)
{
	const struct trap_frame *regs = (const struct trap_frame *)(rbp - 1);
	uintptr_t caller = 0;
	int depth;

	if (rbp - 1 < w->lo || rbp - 1 > w->hi - sizeof(*regs) || rbp % WORD != 1 ||
	    trap_is_user(regs) || !arch_is_compiled(regs->rip))
		return take_odd(w, rbp);
	depth = unwind_return_depth(regs->rip);
	if (depth >= 0) {
		caller = caller_of(w, regs, depth);
		if (!caller)
			return take_odd(w, rbp);
	}
	emit(w, regs->rip);
	if (caller)
		emit(w, caller);
	return regs->rbp;
}

/*
 * `rbp` is no frame on this stack: it is a trap frame, or a frame on the next stack. Returns the
 * rbp to go on with, 0 at the end.
 */
static uintptr_t change_stack(struct probe_walk *w, uintptr_t rbp)
{
	if (rbp & 1)
		return take_trap(w, rbp);
	return enter_stack(w, rbp) ? rbp : 0;
}

static TRACE_ALWAYS_INLINE uintptr_t walk_step(struct probe_walk *w, uintptr_t rbp)
{
	if (!is_frame(w, rbp))
		return change_stack(w, rbp);
	if (!arch_is_plain(load(rbp + WORD)))
		return take_other(w, rbp);
	return walk_frames(&w->to, w->end, w->hi, rbp);
}

static TRACE_NOINLINE void walk_up(struct probe_walk *w, uintptr_t rbp)
{
	while (rbp && w->to < w->end)
		rbp = walk_step(w, rbp);
}

/* The frame from which on the walk of a callback goes, the first two addresses taken; 0 without one. */
static TRACE_NOINLINE uintptr_t walk_callback(struct probe_walk *w, uintptr_t rbp)
{
	rbp = find_entry(w, rbp);
	if (rbp && is_frame(w, rbp) && !trace_probe_is_detour(load(rbp + WORD)))
		rbp = take_trampoline(w, load(rbp));
	return rbp;
}

/*
 * The rest of a walk, or all of it, where `rbp` is any frame. Returns the place behind the last address.
 */
static TRACE_NOINLINE uint32_t *walk_rest(uintptr_t rbp, bool is_callback, uint32_t *to,
					  uint32_t *end)
{
	const uintptr_t top = cpu_local_read(kernel_stack_top);
	/* On no stack yet: above all addresses, so that no comparison takes anything for a frame of it. */
	struct probe_walk w = { .to = to, .end = end, .lo = UINTPTR_MAX, .hi = UINTPTR_MAX };

	if (is_on_own_stack(rbp, top)) {
		w.lo = rbp & ~(uintptr_t)1;
		w.hi = top;
	} else if (!(rbp & 1) && !enter_stack(&w, rbp)) {
		return to;
	}
	walk_up(&w, is_callback ? walk_callback(&w, rbp) : rbp);
	return w.to;
}

size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips, size_t max)
{
	const uintptr_t top = cpu_local_read(kernel_stack_top);
	uint32_t *to = out_ips, *const end = out_ips + max;

	/* As a rule all of it is on the stack of the running thread. */
	if (TRACE_LIKELY(is_on_own_stack(frame, top) && !(frame % WORD) && !is_callback && max))
		frame = walk_frames(&to, end, top, frame);
	if (TRACE_UNLIKELY(frame))
		to = walk_rest(frame, is_callback, to, end);
	return (size_t)(to - out_ips);
}
