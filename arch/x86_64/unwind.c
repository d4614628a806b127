/* Backtraces: see <arch/unwind.h>. */
#include <arch/cpu.h>
#include <arch/paging.h>
#include <arch/percpu.h>
#include <arch/sections.h>
#include <arch/unwind.h>
#include <kernel/base.h>
#include <kernel/upcall.h>
#include <trace/arch_code.h>
#include <trace/arch_probe.h>
#include <trace/platform.h>

#include "trap_priv.h"
#include "unwind_priv.h"

/*
 * The state of a walk. The rbp that belongs to it is that of the function that out[nr - 1] lies in.
 */
struct walk {
	uintptr_t *out;
	size_t nr;
	size_t max;
	uintptr_t lo; /* the stack we are on; lo == hi: not known yet */
	uintptr_t hi;
};

/* Does [addr, addr + bytes) lie on a stack? If so, the walk is on that stack from now on. */
static bool is_on_stack(struct walk *w, uintptr_t addr, size_t bytes)
{
	if (addr % sizeof(uintptr_t) != 0)
		return false;
	if (addr < w->lo || addr >= w->hi) {
		if (!cpu_trap_stack_of(addr, &w->lo, &w->hi) &&
		    !upcall_stack_range(addr, &w->lo, &w->hi)) {
			w->lo = w->hi = 0;
			return false;
		}
	}
	return addr >= w->lo && addr < w->hi && w->hi - addr >= bytes;
}

static void emit(struct walk *w, uintptr_t addr)
{
	if (w->nr < w->max)
		w->out[w->nr++] = addr;
}

/* The word that lies `index` words above `addr`; 0 when that is on no stack. */
static uintptr_t stack_word(struct walk *w, uintptr_t addr, size_t index)
{
	uintptr_t at = addr + index * sizeof(uintptr_t);

	return is_on_stack(w, at, sizeof(uintptr_t)) ? *(const volatile uintptr_t *)at : 0;
}

/* The return address that lies `index` words above `addr`, the real one if it is hooked; or 0. */
static uintptr_t return_word(struct walk *w, uintptr_t addr, size_t index)
{
	uintptr_t at = addr + index * sizeof(uintptr_t);

	return is_on_stack(w, at, sizeof(uintptr_t)) ? unwind_return(at) : 0;
}

/* The frame that the CPU pushes for a trap. */
struct iret_frame {
	uintptr_t rip, cs, rflags, rsp, ss;
};

static bool is_trap_entry(uintptr_t rip)
{
	return trap_is_entry_code(rip) ||
	       (rip >= (uintptr_t)nmi_entry && rip < (uintptr_t)nmi_entry_end);
}

/*
 * For entry code that an NMI interrupted while it saved or restored registers: the frame that the
 * CPU pushed when that code was entered. It lies a few words above rsp and is recognised by its
 * selectors. NULL when it is not there.
 */
static const struct iret_frame *find_iret_frame(struct walk *w, uintptr_t rsp)
{
	uintptr_t end = rsp + sizeof(struct trap_frame);

	for (; rsp < end && is_on_stack(w, rsp, sizeof(struct iret_frame)); rsp += sizeof(rsp)) {
		const struct iret_frame *frame = (const struct iret_frame *)rsp;

		if (frame->cs == KERNEL_CS && frame->ss == KERNEL_DS &&
		    (arch_is_text(frame->rip) || arch_exec_contains(frame->rip)))
			return frame;
	}
	return NULL;
}

/*
 * A function whose return is hooked returns to return_to_handler, of graph_return.asm. The word
 * that held its return address is the slot.
 */
#define HOOK_SLOT_BYTES 5 /* as in graph_return.asm */

/* Is return_to_handler still to push the slot, so that it is part of the stack again? */
static bool is_before_slot(uintptr_t rip)
{
	return rip - (uintptr_t)return_to_handler < HOOK_SLOT_BYTES;
}

/*
 * The real return address while return_to_handler is at one of its two ends, where the slot is not
 * part of the stack: before it has pushed it, and at its last jump, with the address in rcx. A trap
 * may have overwritten the slot. 0 for any other `rip`.
 */
static uintptr_t return_beside_stack(uintptr_t rip, uintptr_t rsp, uintptr_t rcx)
{
	if (rip == (uintptr_t)return_to_handler_jump)
		return rcx;
	if (!is_before_slot(rip))
		return 0;
	rsp -= sizeof(uintptr_t);
	return upcall_return_address(cpu_trap_stack_thread(rsp), trace_plat_return_hook(),
				     (const uintptr_t *)rsp);
}

/*
 * The return address of the function at `rip`, if it has no frame of its own now, else 0. *rsp is
 * moved above it.
 */
static uintptr_t pop_return(struct walk *w, uintptr_t rip, uintptr_t *rsp)
{
	int depth = unwind_return_depth(rip);
	uintptr_t ret;

	if (depth < 0)
		return 0;
	ret = return_word(w, *rsp, (size_t)depth);
	*rsp += ((size_t)depth + 1) * sizeof(uintptr_t);
	return ret;
}

/* Emit the callers of the function at `rip` that have no frame: rsp or rcx leads to them. */
static void take_caller(struct walk *w, uintptr_t rip, uintptr_t rsp, uintptr_t rcx)
{
	uintptr_t ret = return_beside_stack(rip, rsp, rcx);

	if (ret) {
		emit(w, ret);
		return;
	}
	ret = pop_return(w, rip, &rsp);
	if (trace_probe_is_detour(ret)) {
		rip = trace_probe_original(ret);
		emit(w, rip);
		rsp += PROBE_DETOUR_PUSHED;
		ret = pop_return(w, rip, &rsp);
	}
	if (!ret)
		return;
	emit(w, ret);
	if (unwind_is_called_by_site(rip, ret))
		emit(w, return_word(w, rsp, 0));
}

/*
 * For entry code that was interrupted itself: rcx of the code that ran before. `frame` is the frame
 * that the CPU pushed then, `rsp` and `rcx` are the entry code's. If rsp is low enough for rcx to
 * be saved, it is read from its place below `frame`.
 */
static uintptr_t rcx_behind_entry(const struct iret_frame *frame, uintptr_t rsp, uintptr_t rcx)
{
	uintptr_t saved = (uintptr_t)frame - offsetof(struct trap_frame, rip) +
			  offsetof(struct trap_frame, rcx);

	return rsp <= saved ? *(const volatile uintptr_t *)saved : rcx;
}

/* Emit the interrupted instruction, and its callers without a frame. Returns rbp to go on with. */
static uintptr_t take_trap_frame(struct walk *w, const struct trap_frame *regs)
{
	uintptr_t rip = trace_probe_original(regs->rip);
	const struct iret_frame *frame;

	if (trap_is_user(regs))
		return 0; /* the program's addresses are not the kernel's */
	emit(w, rip);
	if (!is_trap_entry(rip) || (regs->rbp & 1)) {
		take_caller(w, rip, regs->rsp + trace_probe_pushed(regs->rip), regs->rcx);
		return regs->rbp;
	}
	frame = find_iret_frame(w, regs->rsp);
	if (frame) {
		rip = trace_probe_original(frame->rip);
		emit(w, rip);
		take_caller(w, rip, frame->rsp + trace_probe_pushed(frame->rip),
			    rcx_behind_entry(frame, regs->rsp, regs->rcx));
	}
	return regs->rbp;
}

/*
 * Go over a frame that a probe's detour pushed. It leads to the stack of the probed function,
 * however much that has pushed so far: emit the probed instruction, and callers without a frame.
 */
static uintptr_t take_detour(struct walk *w, uintptr_t rbp, uintptr_t ret)
{
	uintptr_t rip = trace_probe_original(ret);

	emit(w, rip);
	take_caller(w, rip, rbp + 2 * sizeof(uintptr_t) + PROBE_DETOUR_PUSHED, 0);
	return stack_word(w, rbp, 0);
}

/* One frame up. Returns the next frame pointer, 0 at the end. */
static uintptr_t step(struct walk *w, uintptr_t rbp)
{
	uintptr_t next, ret;

	if (rbp & 1) {
		if (!is_on_stack(w, rbp - 1, sizeof(struct trap_frame)))
			return 0;
		return take_trap_frame(w, (const struct trap_frame *)(rbp - 1));
	}
	if (!is_on_stack(w, rbp, 2 * sizeof(uintptr_t)))
		return 0;
	next = stack_word(w, rbp, 0);
	ret = return_word(w, rbp, 1);
	if (!ret)
		return 0;
	if (trace_probe_is_detour(ret)) {
		next = take_detour(w, rbp, ret);
		return (next & 1) || next > rbp ? next : 0;
	}
	if (unwind_is_called_by_site(w->out[w->nr - 1], ret)) {
		emit(w, ret);
		ret = return_word(w, rbp, 2);
	}
	emit(w, ret);
	/* Frames ascend on one stack; only a trap frame leads to another. */
	return (next & 1) || next > rbp ? next : 0;
}

uintptr_t unwind_odd(uintptr_t rbp, uintptr_t *out, size_t max, size_t *out_nr)
{
	struct walk w = { .out = out, .max = max };

	rbp = step(&w, rbp);
	*out_nr = w.nr;
	return rbp;
}

static size_t walk_up(struct walk *w, uintptr_t rbp)
{
	while (rbp && w->nr < w->max)
		rbp = step(w, rbp);
	while (w->nr > 0 && w->out[w->nr - 1] == 0)
		w->nr--;
	return w->nr;
}

size_t arch_backtrace_trap(const struct trap_frame *regs, uintptr_t *out, size_t max)
{
	struct walk w = { .out = out, .max = max };
	uintptr_t rbp;

	if (max == 0)
		return 0;
	rbp = take_trap_frame(&w, regs);
	return walk_up(&w, rbp);
}

/* At rsp lie r15 r14 r13 r12 rbx rbp, as switch.asm pushed them, then the return address. */
size_t arch_backtrace_context(const struct arch_context *ctx, uintptr_t *out, size_t max)
{
	struct walk w = { .out = out, .max = max };
	uintptr_t rsp = ctx->rsp;

	if (max == 0 || !is_on_stack(&w, rsp, 7 * sizeof(uintptr_t)))
		return 0;
	emit(&w, stack_word(&w, rsp, 6));
	return walk_up(&w, stack_word(&w, rsp, 5));
}

TRACE_NOINLINE size_t arch_backtrace_here(uintptr_t *out, size_t max)
{
	struct walk w = { .out = out, .max = max };
	uintptr_t rbp = arch_frame_pointer();

	if (max == 0)
		return 0;
	emit(&w, (uintptr_t)__builtin_return_address(0));
	return walk_up(&w, *(const uintptr_t *)rbp);
}

/* ---- Walks that say whether they are complete ---- */

#define STEP_MAX	  4u  /* addresses that one step finds at most */
#define FIRST_FRAME_BYTES 64u /* the first frame of a stack is no further than this from its end */

extern void arch_thread_start(void); /* switch.asm */

struct show {
	struct walk walk;
	arch_words_fn fn;
	void *arg;
	bool is_waiting;
	uintptr_t out[1 + STEP_MAX]; /* the last address of the step before, then of this one */
};

/*
 * arch_thread_start() and the boot code leave rbp 0 for the first function. Above it a thread of a
 * program has room for the frame of its traps.
 */
static bool is_first_frame(struct walk *w, uintptr_t rbp)
{
	return is_on_stack(w, rbp, 2 * sizeof(uintptr_t)) && stack_word(w, rbp, 0) == 0 &&
	       w->hi - rbp <= FIRST_FRAME_BYTES + sizeof(struct trap_frame);
}

/* Is this the frame of a trap or system call of a program? It is the last thing on its stack. */
static bool is_user_frame(struct walk *w, uintptr_t rbp)
{
	uintptr_t at = rbp - 1;

	return (rbp & 1) && is_on_stack(w, at, sizeof(struct trap_frame)) &&
	       at + sizeof(struct trap_frame) == w->hi &&
	       trap_is_user((const struct trap_frame *)at);
}

/*
 * Show all words from the interrupted rsp up to the return addresses above rbp. The interrupted
 * code may be about to make its frame or to give it up, or be assembly, so rbp is its own or its
 * caller's. Return addresses without a frame lie below that frame's. Registers are not shown,
 * because their values may be old. Only return_to_handler, at its end, has a return address in a
 * register alone, and step() knows of it.
 */
static bool show_interrupted(struct show *show, uintptr_t at)
{
	const struct trap_frame *regs = (const struct trap_frame *)at;
	struct walk *w = &show->walk;
	uintptr_t end;

	if (!is_on_stack(w, at, sizeof(*regs)) || regs->rsp < at)
		return false;
	/* Behind rbp and two return addresses, which the frame of a trampoline has. */
	end = (regs->rbp & ~(uintptr_t)1) + 3 * sizeof(uintptr_t);
	if (end <= regs->rsp || regs->rbp >= w->hi)
		return false;
	if (end > w->hi)
		end = w->hi;
	show->fn(&regs->rip, 1, show->arg); /* step() tells of the original of a probe's copy */
	if (!show->is_waiting)
		show->fn((const uintptr_t *)regs->rsp, (end - regs->rsp) / sizeof(uintptr_t),
			 show->arg);
	show->is_waiting = false;
	return true;
}

/*
 * Are all of these addresses, which a frame led to, return addresses in code, and none still the
 * hook's?
 */
static bool are_returns(const uintptr_t *ips, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (ips[i] == trace_plat_return_hook() ||
		    !(arch_is_text(ips[i]) || arch_exec_contains(ips[i])))
			return false;
	}
	return nr > 0;
}

/*
 * `rbp` is a frame, and `next` the one that it leads to. If that is the frame of a trampoline, a
 * function without a frame may have been called in between: a callback whose handler the first frame
 * is. Then only the words between the two tell of the return into the trampoline.
 */
static void show_between(struct show *show, uintptr_t rbp, uintptr_t next)
{
	struct walk *w = &show->walk;
	const uintptr_t *from = (const uintptr_t *)rbp + 2, *to = (const uintptr_t *)next;

	if ((next & 1) || to <= from || !is_on_stack(w, next, 2 * sizeof(uintptr_t)))
		return;
	if (unwind_is_called_by_site(0, stack_word(w, next, 1)))
		show->fn(from, (size_t)(to - from), show->arg);
}

static bool show_up(struct show *show, uintptr_t ip, uintptr_t rbp)
{
	struct walk *w = &show->walk;

	*w = (struct walk){ .out = show->out, .max = 1 + STEP_MAX };
	emit(w, ip);
	show->fn(w->out, 1, show->arg);
	if (ip == (uintptr_t)arch_thread_start && !rbp)
		return true; /* the thread has never run */
	while (rbp) {
		bool is_trap = rbp & 1, is_first = !is_trap && is_first_frame(w, rbp);
		uintptr_t frame = rbp;

		if (is_user_frame(w, rbp))
			return true;
		if (is_trap && !show_interrupted(show, rbp - 1))
			return false;
		w->out[0] = w->out[w->nr - 1];
		w->nr = 1;
		rbp = step(w, rbp);
		show->fn(w->out + 1, w->nr - 1, show->arg);
		if (is_first)
			return true;
		if (is_trap)
			continue;
		if (!are_returns(w->out + 1, w->nr - 1))
			return false;
		show_between(show, frame, rbp);
	}
	return false;
}

bool arch_stack_show(const struct arch_context *ctx, arch_words_fn fn, void *arg)
{
	struct show show = { .fn = fn, .arg = arg };
	const uintptr_t *saved = (const uintptr_t *)ctx->rsp;

	if (!is_on_stack(&show.walk, ctx->rsp, 7 * sizeof(uintptr_t)))
		return false;
	return show_up(&show, saved[6], saved[5]);
}

TRACE_NOINLINE bool arch_stack_show_here(bool is_waiting, arch_words_fn fn, void *arg)
{
	struct show show = { .fn = fn, .arg = arg, .is_waiting = is_waiting };

	return show_up(&show, (uintptr_t)__builtin_return_address(0),
		       *(const uintptr_t *)arch_frame_pointer());
}
