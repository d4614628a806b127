/*
 * Host functions for probes at instructions, in addition to call sites. A part of
 * <trace/platform.h>; include that one. The machine half has all but the two functions that refuse.
 *
 *   check     is there an instruction that can be probed?
 *   create    prepare to execute or emulate it elsewhere
 *   poke      the change of code that arms it, for trace_plat_poke_batch()
 *   destroy   no thread is in the copy any more
 *
 * When a CPU comes to an armed place, the machine half calls <trace/kprobe_hit.h>.
 *
 * Context: thread, interrupts on, unless a function says otherwise.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_PROBES_H
#define TRACE_PLATFORM_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/atomic.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ftrace_regs;
struct kprobe;
struct trace_poke;

/*
 * The stack pointer in a ftrace_regs that has all registers, or that a probe elsewhere than at a
 * call site got. Probe context. (At a call site, ftrace_regs_get_stack_pointer() works without
 * them.)
 */
static inline uintptr_t ftrace_regs_get_saved_stack_pointer(const struct ftrace_regs *fregs);

/* A function, and a place in it. */
struct trace_probe_place {
	uintptr_t func;	 /* its start */
	size_t bytes;	 /* its size */
	uintptr_t addr;	 /* inside of it */
	uintptr_t insn;	 /* filled in: where the instruction begins that `addr` is in; or 0 */
	size_t insn_len; /* filled in: its length */
	const char *why; /* filled in on failure: a sentence without name or dot, which lasts */
};

/*
 * Can the instruction at place->addr be probed, as far as the processor is concerned? 0; -EILSEQ:
 * none begins there; -EINVAL: not this one.
 */
int trace_plat_probe_check(struct trace_probe_place *place);
/*
 * The host's own reason why none of the `len` bytes at `addr` may be changed, a sentence without a
 * dot, which lasts; NULL: it has none. It has to refuse all code that a handler may run through,
 * its own included, and code that other parts of the host change. The default refuses functions
 * without call site.
 */
const char *trace_plat_probe_refusal(uintptr_t addr, size_t len);

/* The machine half's data of a place. */
struct trace_plat_probe { /* zeroed is none */
	/*
	 * The only probe that a CPU which comes here has to call, if it reads no more registers
	 * than a call site has: a jump may lead to kprobe_hit_args() with it, in place of
	 * kprobe_hit_run(). NULL: there is none. Set by the caller at any time; a CPU that is on
	 * its way calls what was here before.
	 */
	struct kprobe *TRACE_ATOMIC only;
	uint64_t opaque[7]; /* the machine half's */
};

/*
 * Prepare to arm a breakpoint at `addr`, which was checked, with post handlers or without. May be
 * called again for one that was created without, to have it with them. 0; -ENOMEM, with nothing
 * changed.
 */
int trace_plat_probe_create(struct trace_plat_probe *probe, uintptr_t addr, bool with_post);
/* The state of the code at a place. */
enum trace_probe_state {
	TRACE_PROBE_NONE, /* the original */
	TRACE_PROBE_BREAKPOINT,
	TRACE_PROBE_JUMP, /* to a detour; only if there is one */
};
/* The change from the one to the other. */
void trace_plat_probe_poke(const struct trace_plat_probe *probe, enum trace_probe_state from,
			   enum trace_probe_state to, struct trace_poke *out_poke);
/*
 * The code that it has: first and last address; both 0 when it has none. Without the detour: copies
 * of the one instruction.
 */
void trace_plat_probe_code(const struct trace_plat_probe *probe, bool with_detour,
			   uintptr_t *out_first, uintptr_t *out_last);
/* Free that: no thread is in it, and the place is not armed. */
void trace_plat_probe_destroy(struct trace_plat_probe *probe);

/* ---- Jumps in place of breakpoints ---- */

/*
 * Can a jump be at the place? Returns the bytes of the instructions that it takes the place of, of
 * which CPUs come to the first one only; 0: it cannot.
 */
size_t trace_plat_probe_jump_bytes(const struct trace_probe_place *place);
/* No less than it ever returns. */
#define TRACE_PROBE_JUMP_MAX 20u
/* Make the detour, with copies of so many bytes. 0; -ENOMEM: without one there is no jump. */
int trace_plat_probe_jump_create(struct trace_plat_probe *probe, size_t bytes);
/*
 * From now on breakpoints at the place go on behind those bytes, by way of the copies; or, with
 * `use` false, behind the one instruction again.
 */
void trace_plat_probe_jump_use(struct trace_plat_probe *probe, bool use);

/* ---- Watchpoints ---- */

#define TRACE_PLAT_WATCHES 4u /* at once */

struct trace_plat_watch {
	uintptr_t addr;
	uint32_t len;  /* 1, 2, 4 or 8, a divisor of `addr`; 0: not in use */
	bool on_reads; /* as well as on writes */
};
/*
 * Have all CPUs, those too that come online later, call wprobe_hit() of <trace/wprobe.h> when they
 * touch one of these TRACE_PLAT_WATCHES, and none that was there before. When this returns they do,
 * and no wprobe_hit() that has begun before still runs. 0; -ENODEV: the host cannot.
 */
int trace_plat_watch_set(const struct trace_plat_watch *watches);
/*
 * The host's reason why none of the `len` bytes at `addr` may be watched, a sentence without a dot,
 * which lasts; NULL: it has none. It has to refuse data that is read or written on the way to
 * wprobe_hit(), and by trace_plat_recursion_set(): that would never end. The default refuses
 * nothing.
 */
const char *trace_plat_watch_refusal(uintptr_t addr, size_t len);

/* ==== Nothing more is needed for probes at instructions, and for watchpoints. ==== */

TRACE_END_DECLS

#endif
