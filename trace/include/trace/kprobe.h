/*
 * Probes at any instruction: a handler is called when a CPU is about to execute it.
 *
 *   where                              how the handler is called
 *   a call site of <trace/ftrace.h>    by the site's trampoline
 *   five bytes that can be replaced    by a jump to a detour, which ends with the instructions that
 *                                      were there: an optimised probe
 *   anywhere else                      by an int3; the instruction then runs from a copy of it, or
 *                                      is emulated, if it changes the flow of control
 *
 * Several probes may be at one address; they are called in the order in which they were registered.
 *
 * A probe that is hit while this CPU is in a handler of another one is not called: its `nmissed`
 * counts it, and the probed code goes on as ever. The same holds in an NMI in the middle of a
 * handler.
 *
 * Some places are refused: code that handlers run through, data, the middle of an instruction, and
 * instructions that cannot be run from another place; kprobe_refusal() says why in a sentence.
 *
 * The functions for several arm and disarm any number of probes, wherever they are, by one batch of
 * <trace/arch_text.h>, which takes three syncs.
 *
 * Context:   handlers - probe, preemption off, interrupts off unless the probe is at a call site;
 *            in the context of the probed code, NMI included. Everything else - thread, interrupts
 *            on, may block.
 * Locking:   one sleeping lock inside; a handler may not call anything of this header but the
 *            functions about registers.
 * Ownership: a probe belongs to its user, who may not change or free it between register and
 *            unregister. When unregister has returned no handler of it runs any more.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_KPROBE_H
#define TRACE_KPROBE_H

#include <trace/atomic.h>
#include <trace/platform.h>

TRACE_BEGIN_DECLS

struct ftrace_regs;
struct kprobe;
struct kprobe_place;

/*
 * Called before the instruction. `regs` has all registers, which may be changed, as they are in
 * front of it: `regs->rip` is its address, `regs->rsp` the stack pointer. Not 0: the handler has
 * set another `regs->rip`, where the CPU goes on; the instruction is not executed and post handlers
 * are not called. A probe with KPROBE_FLAG_ARGS may only read, by the functions of
 * <trace/platform.h> and kprobe_regs_stack().
 */
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct ftrace_regs *regs);
/* Called behind it; `regs->rip` is where the CPU goes on. `flags` is 0. */
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct ftrace_regs *regs, uint64_t flags);

enum kprobe_flags {
	KPROBE_FLAG_GONE = 1u << 0,	 /* the code that it was in is not there any more */
	KPROBE_FLAG_DISABLED = 1u << 1,	 /* may be set before register */
	KPROBE_FLAG_OPTIMIZED = 1u << 2, /* by a jump at present */
	KPROBE_FLAG_FTRACE = 1u << 3,	 /* at a call site */
	/*
	 * By the user: only arguments are read. The handler may be called with a stack that is
	 * aligned to 8 bytes, not 16, as the probed code has it. C compiled with
	 * -mgeneral-regs-only needs no more, except for a variable that is declared to be aligned
	 * to 16.
	 */
	KPROBE_FLAG_ARGS = 1u << 4,
};

struct kprobe {
	/* Set by the user: either `addr`, or a name with an offset; register sets `addr` then. */
	const char *symbol_name;
	uint64_t offset;
	uintptr_t addr;
	kprobe_pre_handler_t pre_handler; /* NULL: none */
	kprobe_post_handler_t post_handler;
	uint32_t flags; /* enum kprobe_flags; those without "by the user" are set by the core */
	TRACE_ATOMIC uint64_t nmissed;

	/* For the core only. Zero before first use. */
	struct kprobe *TRACE_ATOMIC next; /* of the same place, in order of registration */
	struct kprobe_place *place;	  /* the place at its address; NULL when not registered */
};

/*
 * Register probes, all or none; those without KPROBE_FLAG_DISABLED are armed when this returns. 0,
 * or with nothing changed:
 *   -EINVAL  both or neither of name and address are given; not the beginning of an instruction;
 *            it is registered; the place or the instruction is refused: see kprobe_refusal()
 *   -ENOENT  no function of that name
 *   -EILSEQ  not the beginning of an instruction
 *   -ENOMEM, also of memory for code
 *   -ENODEV  tracing is dead, see ftrace_is_dead()
 */
int register_kprobe(struct kprobe *p);
int register_kprobes(struct kprobe **ps, size_t nr);
/* Does nothing with probes that are not registered. */
void unregister_kprobe(struct kprobe *p);
void unregister_kprobes(struct kprobe **ps, size_t nr);
/* Arm and disarm registered probes. 0; -EINVAL: one is not registered, or GONE; -ENODEV. */
int enable_kprobe(struct kprobe *p);
int disable_kprobe(struct kprobe *p);
int enable_kprobes(struct kprobe **ps, size_t nr);
int disable_kprobes(struct kprobe **ps, size_t nr);

/*
 * The code from `start` to `end` is about to go, or to become other code; it is still there, and no
 * CPU will come to it any more. Probes in there are disarmed and GONE: they cannot be enabled, only
 * unregistered, and their list says so. 0, or an error of disable_kprobe(): something may still be
 * armed there.
 */
int kprobes_code_goes(uintptr_t start, uintptr_t end);

/*
 * Can a probe be at `addr`? Returns 0, or the error that register_kprobe() would return, and writes
 * a sentence that says why to the `len` bytes at `out_text`.
 */
int kprobe_refusal(uintptr_t addr, char *out_text, size_t len);

/*
 * The stack pointer, in a pre handler: at the entry of a function, the address of the return
 * address. Works with KPROBE_FLAG_ARGS, too.
 */
static inline uintptr_t kprobe_regs_stack(const struct kprobe *p, const struct ftrace_regs *regs)
{
	return p->flags & KPROBE_FLAG_FTRACE ? ftrace_regs_get_stack_pointer(regs)
					     : ftrace_regs_get_saved_stack_pointer(regs);
}

/*
 * The line of /sys/kernel/debug/kprobes/list about the next probe, by address, those that are GONE
 * at the end: behind that of *cursor, which is 0 at first and moves on; its bits 48 to 62 stay 0.
 * Returns its length, 0 at the end. Those of returns are behind these: <trace/kretprobe.h>.
 */
size_t kprobes_list_next(uint64_t *cursor, char *buf, size_t size);

/* The switch of /sys/kernel/debug/kprobes/enabled: while it is off no probe is armed. */
int kprobes_set_enabled(bool on);
bool kprobes_are_enabled(void);

/*
 * The switch of /proc/sys/debug/kprobes-optimization: may probes be optimised? On at first. Those
 * that can be are so some 10 ms after they were armed.
 */
int kprobes_set_optimization(bool on);
bool kprobes_optimization(void);

TRACE_END_DECLS

#endif
