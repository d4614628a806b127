/*
 * The part of <trace/platform.h>, which includes it, for call sites: ops, filters, patching. It
 * needs the base, not the part of the ring.
 *
 * Context: stated per group.
 */
#ifndef TRACE_PLATFORM_OPS_H
#define TRACE_PLATFORM_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct ftrace_ops;
struct ftrace_regs;
struct trace_thread;

/* ---- Inline half, probe context ---- */

/*
 * This CPU's recursion bits (owned by trace/), 0 to 31. Barriers for the compiler. Interrupts
 * leave the word as they found it.
 */
static inline bool trace_plat_recursion_set(uint32_t bit); /* false: it was set; preemption off */
static inline void trace_plat_recursion_clear(uint32_t bit);
/*
 * What a callback may ask of the struct ftrace_regs that it got, and change in it. These work for
 * every ops; all other registers, as fields of the struct, only with FTRACE_OPS_FL_SAVE_REGS.
 */
/* Argument `n` of the traced function, counted from 0. */
static inline uint64_t ftrace_regs_get_argument(const struct ftrace_regs *fregs, uint32_t n);
/* The traced function, or what the call goes to instead, gets that one. */
static inline void ftrace_regs_set_argument(struct ftrace_regs *fregs, uint32_t n, uint64_t value);
/* Behind the site. Setting it, with FTRACE_OPS_FL_IPMODIFY only, lets the call go there. */
static inline uintptr_t ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs);
static inline void ftrace_regs_set_instruction_pointer(struct ftrace_regs *fregs, uintptr_t ip);
/* As the traced function finds them. */
static inline uintptr_t ftrace_regs_get_stack_pointer(const struct ftrace_regs *fregs);
static inline uintptr_t ftrace_regs_get_frame_pointer(const struct ftrace_regs *fregs);
/* The register that a function returns in. */
static inline uint64_t ftrace_regs_get_return_value(const struct ftrace_regs *fregs);
static inline void ftrace_regs_set_return_value(struct ftrace_regs *fregs, uint64_t value);
/* With FTRACE_OPS_FL_IPMODIFY: the traced function returns to its caller without having run. */
static inline void ftrace_override_function_with_return(struct ftrace_regs *fregs);
/* Only of trampolines with registers that serve several ops: call `addr` as if the site did. */
static inline void ftrace_regs_set_direct(struct ftrace_regs *fregs, uintptr_t addr);
/* Optional macro TRACE_DIRECT(name, body): an entry for direct calls to a function in C. */

/* ---- Text ---- */

/*
 * One change of one site. `old` and `new_insn` are TRACE_INSN_SIZE bytes: each a NOP, a call or a
 * jmp. Sites of a batch ascend.
 */
struct trace_poke {
	uint32_t site; /* trace_plat_ip_pack() */
	uint8_t old_insn[TRACE_INSN_SIZE];
	uint8_t new_insn[TRACE_INSN_SIZE];
	uint8_t unused[2];
};

struct trace_poke_error {
	uintptr_t site;
	uint8_t expected[TRACE_INSN_SIZE];
	uint8_t found[TRACE_INSN_SIZE];
};

/*
 * Change all sites, safely against every CPU executing them, with three core syncs in all.
 * -EINVAL, `out_error` filled and nothing written, when a site does not hold `old_insn`; -EBUSY when
 * it does, but somebody's breakpoint stands there.
 * Thread context, interrupts on, ftrace's lock held.
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

/* The table that the linker collected: addresses of sites. */
const uintptr_t *trace_plat_sites(size_t *out_nr);
/* The address that an unpatched site calls (__fentry__): for the machine half. */
uintptr_t trace_plat_fentry(void);

/* ---- Trampolines ---- */

/* What a site calls: code that saves registers, calls one ops or several, and restores. */
struct trace_trampoline {
	uintptr_t addr;
	size_t bytes;
};

struct trace_trampoline_call {
	struct ftrace_ops *ops;
	uintptr_t func;
};

/*
 * A trampoline that calls func(ip, parent_ip, ops, fregs) for each of `calls`, in their order, and
 * tells all the same ip and parent_ip, whatever one of them did to fregs; with `with_regs` fregs
 * holds all registers, otherwise what the functions above ask for. With registers, and more than
 * one call, it obeys ftrace_regs_set_direct(). Returns -ENOMEM with nothing made; a host that makes
 * none for more than one call always does, and the shared trampoline serves. Thread context,
 * ftrace's lock held.
 */
int trace_plat_trampoline_create(const struct trace_trampoline_call *calls, size_t nr,
				 bool with_regs, struct trace_trampoline *out_trampoline);
/* Let call `index` of `tramp` be of `func` from now on; safe while CPUs run it. */
int trace_plat_trampoline_retarget(struct trace_trampoline *tramp, uint32_t index, uintptr_t func);
/* What its first call is of. */
uintptr_t trace_plat_trampoline_func(const struct trace_trampoline *tramp);
/* No thread is inside, or can get there. As above. */
void trace_plat_trampoline_destroy(struct trace_trampoline *tramp);
/*
 * The shared trampolines: call trace_ops_list_func(ip, parent_ip, NULL, fregs); with registers
 * trace_ops_list_regs_func(), and obey ftrace_regs_set_direct(): <trace/asm_entries.h>.
 */
uintptr_t trace_plat_shared_trampoline(bool with_regs);

/* ---- Symbols. Any context, lock free. ---- */

/* Names of ascending addresses, cheaply. Zero the cursor first. Returns the length, 0 for none. */
struct trace_symbol_cursor {
	uint64_t state[8];
};
size_t trace_plat_symbol_next(struct trace_symbol_cursor *cursor, uintptr_t addr, char *out_name);

/* A sentence that says why `name` has no site. 0, or -ENOENT when nothing is known. Thread. */
int trace_plat_why_not(const char *name, char *out_text, size_t len);

/* ---- Threads: when is nobody inside code that goes? ---- */

/* As trace_plat_clock_ns(), and never goes back across CPUs. Probe context, preemption off. */
uint64_t trace_plat_clock_mono_ns(void);
/*
 * Sleep for about `ns`. With `may_interrupt` it ends early, with -EINTR, when the user interrupts,
 * and at once when he has. 0 otherwise. Thread context.
 */
int trace_plat_pause(uint64_t ns, bool may_interrupt);

struct trace_plat_later { /* zeroed is idle */
	uint64_t opaque[24];
};
/*
 * Call fn() in a thread, not before `delay_ns` from now; once, however often it is asked for until
 * it begins. `later` is for one fn. Thread.
 */
void trace_plat_call_later(struct trace_plat_later *later, void (*fn)(void), uint64_t delay_ns);

/* Call fn for every thread that exists. Thread context. */
void trace_plat_each_thread(void (*fn)(int32_t pid, struct trace_thread *thread, void *arg),
			    void *arg);

/*
 * A look at the stacks of all threads, each at a moment when it does not run or is interrupted.
 * What stands on one: every return address and every instruction that was interrupted; perhaps also
 * what its registers held, and what earlier calls have left there.
 */
struct trace_plat_look {
	/* Which of 32 things, a bit each, are among these words? Asked piece by piece. */
	uint32_t (*find)(struct trace_thread *thread, const uintptr_t *words, size_t nr, void *arg);
	/* All of this stack has been shown; `found` is what there is on it, of all pieces. */
	void (*seen)(struct trace_thread *thread, uint32_t found, void *arg);
	void *arg;
};

/*
 * Where something is found, the host may look once more, at that stack without what earlier calls
 * left there, if it can tell. A thread that is missed (it was just being switched) is not `seen`
 * and comes with a later call. Both functions may not block: interrupts may be off. Thread context,
 * interrupts on.
 */
void trace_plat_each_stack(const struct trace_plat_look *look);

/* ==== Nothing more is needed for call sites, ops and filters. ==== */

TRACE_END_DECLS

#endif
