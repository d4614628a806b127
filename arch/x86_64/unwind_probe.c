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
#include <arch/unwind.h>
#include <kernel/upcall.h>
#include <trace/platform.h>

#include <trace/arch_code.h>
#include <trace/arch_probe.h>
#include "unwind_priv.h"

#define WORD	     sizeof(uintptr_t)
#define TRAP_ENTRIES 4u /* entries that one trap frame gives at most */

struct probe_walk {
	uint32_t *out;
	size_t nr;
	size_t max;
	uintptr_t lo;	/* the stack we are on */
	uintptr_t span; /* frames begin in [lo, lo + span) */
};

static TRACE_ALWAYS_INLINE uintptr_t load(uintptr_t at)
{
	return *(const volatile uintptr_t *)at; // NOLINT: a frame that is_frame() knows
}

static TRACE_ALWAYS_INLINE void emit(struct probe_walk *w, uintptr_t addr)
{
	if (w->nr < w->max)
		w->out[w->nr++] = trace_plat_ip_pack(addr);
}

/* Is `rbp` a place on the stack we are on where a frame, two words, can be read? */
static TRACE_ALWAYS_INLINE bool is_frame(const struct probe_walk *w, uintptr_t rbp)
{
	return rbp - w->lo < w->span && !(rbp % WORD);
}

/* Make the stack the one we are on, if `rbp` is a frame there. */
static TRACE_ALWAYS_INLINE bool use_stack(struct probe_walk *w, uintptr_t rbp, uintptr_t lo,
					  uintptr_t hi)
{
	w->lo = lo;
	w->span = hi - lo - 2 * WORD + 1;
	return is_frame(w, rbp);
}

static TRACE_NOINLINE bool enter_stack(struct probe_walk *w, uintptr_t rbp)
{
	uintptr_t lo, hi;

	if (!cpu_trap_stack_of(rbp, &lo, &hi) && !upcall_stack_range(rbp, &lo, &hi))
		return false;
	return use_stack(w, rbp, lo, hi);
}

/* enter_stack() at the start of a walk, which is on the running thread's stack as a rule. */
static TRACE_ALWAYS_INLINE bool enter_first(struct probe_walk *w, uintptr_t rbp)
{
	uintptr_t top = cpu_local_read(kernel_stack_top);

	if (TRACE_LIKELY(top - rbp - 2 * WORD < ARCH_STACK_BYTES))
		return use_stack(w, rbp, rbp, top); /* frames ascend */
	return enter_stack(w, rbp);
}

/*
 * Take the site's and its function's return address from a trampoline's frame. Returns the next
 * rbp.
 */
static uintptr_t take_trampoline(struct probe_walk *w, uintptr_t rbp)
{
	if (!is_frame(w, rbp) || !is_frame(w, rbp + WORD))
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
 * Take a frame that does not return into compiled code, but into a trampoline, a detour or other
 * assembly, or whose return is hooked. Returns the rbp to go on with, 0 at the end.
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
 * Take frames of this stack, at least the one at `rbp`, up to the first that does not return into
 * compiled code. There is room for one. Returns the rbp to go on with, 0 at the end.
 */
static TRACE_ALWAYS_INLINE uintptr_t walk_frames(struct probe_walk *w, uintptr_t rbp)
{
	uint32_t *to = w->out + w->nr, *const end = w->out + w->max;
	const uintptr_t limit = w->lo + w->span;
	uintptr_t next = rbp, ret;

	do {
		rbp = next;
		ret = load(rbp + WORD);
		if (TRACE_UNLIKELY(!arch_is_compiled(ret))) {
			w->nr = (size_t)(to - w->out);
			return take_other(w, rbp);
		}
		next = load(rbp);
		*to++ = trace_plat_ip_pack(ret);
	} while (TRACE_LIKELY(next > rbp && next < limit && to < end && !(next % WORD)));
	w->nr = (size_t)(to - w->out);
	/* Frames ascend on one stack; only a trap frame leads to another. */
	return next > rbp || (next & 1) ? next : 0;
}

/*
 * `rbp` is no frame on this stack: it is a trap frame, or a frame on the next stack. Returns the
 * rbp to go on with, 0 at the end.
 */
static uintptr_t change_stack(struct probe_walk *w, uintptr_t rbp)
{
	if (rbp & 1)
		return take_odd(w, rbp);
	return enter_stack(w, rbp) ? rbp : 0;
}

static void walk_up(struct probe_walk *w, uintptr_t rbp)
{
	while (rbp && w->nr < w->max)
		rbp = is_frame(w, rbp) ? walk_frames(w, rbp) : change_stack(w, rbp);
}

size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips, size_t max)
{
	struct probe_walk w = { .out = out_ips, .max = max };

	if (!enter_first(&w, frame))
		return 0;
	if (is_callback)
		frame = find_entry(&w, frame);
	if (!frame)
		return 0;
	if (is_callback && is_frame(&w, frame) && !trace_probe_is_detour(load(frame + WORD)))
		frame = take_trampoline(&w, load(frame));
	walk_up(&w, frame);
	return w.nr;
}
