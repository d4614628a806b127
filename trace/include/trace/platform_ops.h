/*
 * Host functions for call sites (ops, filters, patching), in addition to the base; the ring is not
 * needed. A part of <trace/platform.h>; include that one.
 *
 * Context: stated per group.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_OPS_H
#define TRACE_PLATFORM_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/platform_threads.h>

TRACE_BEGIN_DECLS

struct ftrace_ops;
struct ftrace_regs;
struct trace_thread;

/* ---- Inline half, probe context ---- */

/*
 * Functions for callbacks that read and change their struct ftrace_regs. These work for every ops;
 * all other registers, as fields of the struct, only with FTRACE_OPS_FL_SAVE_REGS.
 */
/* Argument `n` of the traced function, counted from 0. */
static inline uint64_t ftrace_regs_get_argument(const struct ftrace_regs *fregs, uint32_t n);
/* Change the argument that the traced function, or the function the call is sent to, will get. */
static inline void ftrace_regs_set_argument(struct ftrace_regs *fregs, uint32_t n, uint64_t value);
/*
 * The address behind the site, where the call goes on. Only an ops with FTRACE_OPS_FL_IPMODIFY may
 * set another one.
 */
static inline uintptr_t ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs);
static inline void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs, uintptr_t ip);
/* Stack and frame pointer as they are when the traced function begins. */
static inline uintptr_t ftrace_regs_get_stack_pointer(const struct ftrace_regs *fregs);
static inline uintptr_t ftrace_regs_get_frame_pointer(const struct ftrace_regs *fregs);
/* The register in which functions return their value. */
static inline uint64_t ftrace_regs_get_return_value(const struct ftrace_regs *fregs);
static inline void ftrace_regs_set_return_value(struct ftrace_regs *fregs, uint64_t value);
/* With FTRACE_OPS_FL_IPMODIFY: the traced function returns to its caller without having run. */
static inline void ftrace_override_function_with_return(struct ftrace_regs *fregs);
/*
 * Only in a trampoline with all registers that serves several ops: have it leave to `addr`, as if
 * the site had called that.
 */
static inline void ftrace_regs_set_direct(struct ftrace_regs *fregs, uintptr_t addr);
/*
 * A host may define a macro TRACE_DIRECT(name, body): it makes an entry `name`, to be given to
 * register_ftrace_direct(), which saves registers and runs the C code `body`.
 */

/* ---- Text ---- */

/*
 * A change of code. At a call site, from one instruction to another: each is a NOP, a call or a
 * jmp. At a probe, from any bytes to any bytes: it is the machine half's, which answers for CPUs
 * that run over the place meanwhile.
 */
struct trace_poke {
	uint32_t site; /* trace_plat_ip_pack() */
	uint8_t old_insn[TRACE_INSN_SIZE];
	uint8_t new_insn[TRACE_INSN_SIZE];
	uint8_t len; /* bytes that change: 1, or 0 for all TRACE_INSN_SIZE */
	bool is_probe;
};

/* The contents of a site that trace_plat_poke_batch() refused. */
struct trace_poke_error {
	uintptr_t site;
	uint8_t expected[TRACE_INSN_SIZE];
	uint8_t found[TRACE_INSN_SIZE];
};

/*
 * Change all sites, whose addresses ascend, while other CPUs may be executing them; should take
 * three core syncs for all of them together. 0, or with nothing written and `out_error` filled in:
 * -EINVAL when a site does not hold `old_insn`; -EBUSY when it would, but a debugger's breakpoint
 * is there. Thread context, interrupts on, ftrace's lock held.
 */
int trace_plat_poke_batch(const struct trace_poke *pokes, size_t nr,
			  struct trace_poke_error *out_error);
/*
 * At boot, before other CPUs run: each of the sites (in any order) calls trace_plat_fentry(); make
 * them all NOPs. Errors as above.
 */
int trace_plat_nop_sites(const uintptr_t *sites, size_t nr, struct trace_poke_error *out_error);

/* The instructions of a site at `site`. Any context. */
void trace_plat_insn_nop(uint8_t *out_insn);
void trace_plat_insn_call(uintptr_t site, uintptr_t target, uint8_t *out_insn);
void trace_plat_insn_jmp(uintptr_t site, uintptr_t target, uint8_t *out_insn);

/* The table that the linker has collected: the addresses of all call sites, and how many. */
const uintptr_t *trace_plat_sites(size_t *out_nr);
/* The address that an unpatched site calls (__fentry__): for the machine half. */
uintptr_t trace_plat_fentry(void);

/* ---- Trampolines ---- */

/* Code that sites call: it saves registers, calls the functions of ops, and restores registers. */
struct trace_trampoline {
	uintptr_t addr;
	size_t bytes;
};

struct trace_trampoline_call {
	struct ftrace_ops *ops;
	uintptr_t func;
	uintptr_t site_func; /* 0, or an ftrace_site_func_t, see below */
};

/*
 * Make a trampoline that calls func(ip, parent_ip, ops, fregs) for each of `calls`, in their order.
 * All get the same ip and parent_ip, even if one of them changes fregs. With `with_regs` fregs has
 * all registers, otherwise those that the functions above need. With all registers and more than
 * one call it obeys ftrace_regs_set_direct(). 0, or -ENOMEM with nothing made: ftrace then uses the
 * shared trampoline. A host may always return -ENOMEM for more than one call. With one call, and
 * without all registers, a host may call site_func, if there is one, and need not. Thread context,
 * ftrace's lock held; the same for the next three.
 */
int trace_plat_trampoline_create(const struct trace_trampoline_call *calls, size_t nr,
				 bool with_regs, struct trace_trampoline *out_trampoline);
/*
 * Make call number `index` of `tramp` go to `func` from now on, while CPUs may be running it. 0, or
 * -errno when the trampoline's code is damaged.
 */
int trace_plat_trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func);
/* The function that its first call goes to. */
uintptr_t trace_plat_trampoline_func(const struct trace_trampoline *tramp);
/* Free it. No thread is inside, and no site leads there. */
void trace_plat_trampoline_destroy(struct trace_trampoline *tramp);
/*
 * The address of a shared trampoline, which exists for good. Without registers it calls
 * trace_ops_list_func(ip, parent_ip, NULL, fregs). With registers it calls
 * trace_ops_list_regs_func() and obeys ftrace_regs_set_direct(). See <trace/asm_entries.h>.
 */
uintptr_t trace_plat_shared_trampoline(bool with_regs);

/* ---- Symbols. Any context, lock free. ---- */

/*
 * A fast way to find the names of many functions, whose addresses ascend from call to call. The
 * cursor is zeroed before the first call. Writes the name to the TRACE_SYM_LEN bytes at `out_name`
 * and returns its length; 0 when the address has no name.
 */
struct trace_symbol_cursor {
	uint64_t state[8];
};
size_t trace_plat_symbol_next(struct trace_symbol_cursor *cursor, uintptr_t addr, char *out_name);

/*
 * Write a sentence to the `len` bytes at `out_text` that says why function `name` cannot be traced.
 * 0, or -ENOENT when that is not known. Thread context.
 */
int trace_plat_why_not(const char *name, char *out_text, size_t len);

/* ---- Threads: to find out when no thread is inside code that is to be freed ---- */

struct trace_plat_later { /* zeroed is idle */
	uint64_t opaque[24];
};
/*
 * Have fn() called in a thread, at the earliest `delay_ns` from now. Asking again before it has
 * begun changes nothing: it is called once. A `later` is always used with the same fn. Thread
 * context.
 */
void trace_plat_call_later(struct trace_plat_later *later, void (*fn)(void), uint64_t delay_ns);

/*
 * A look at the words on the stacks of all threads. The words of a stack are at least every return
 * address and the address of every interrupted instruction; they may also be the contents of saved
 * registers, and remains of earlier calls. Frame pointers do not lead to every return address:
 * callbacks of probes have no frame between their handler's and the trampoline's.
 */
struct trace_plat_look {
	/* Called for each piece of a stack: which of 32 things, a bit each, are in these words? */
	uint32_t (*find)(struct trace_thread *thread, const uintptr_t *words, size_t nr, void *arg);
	/* Called after all of a stack was shown; `found` has the bits of all its pieces. */
	void (*seen)(struct trace_thread *thread, uint32_t found, void *arg);
	void *arg;
};

/*
 * Show the stack of each thread at a moment when the thread does not run, or is interrupted. If
 * something is found on a stack, the host may show it once more without remains of earlier calls,
 * if it can tell them. A thread may be missed, for instance because it was just being switched:
 * `seen` is then not called for it, and the caller tries again later. Both functions may be called
 * with interrupts off and do not block. Thread context, interrupts on.
 *
 * The default finds nothing on any stack. It will do as long as no thread is preempted in the
 * kernel, nor yields in a callback; but live patching takes it that no thread is in a function that
 * is being replaced.
 */
void trace_plat_each_stack(const struct trace_plat_look *look);

/* ==== Nothing more is needed for call sites, ops and filters. ==== */

TRACE_END_DECLS

#endif
