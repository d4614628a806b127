/*
 * All that trace/ asks of its host: its only door. A missing inline half does not compile, a
 * missing function does not link.
 *
 * Tiers: T0  clock, CPU id, interrupt state, memory          (ring buffers, trace_printk)
 *        T1  text write and sync, trampolines, symbols        (function tracing)
 *        T2  threads: names, locks, waiting, grace periods    (tracers per thread, trace_pipe)
 *        T3  log                                              (messages)
 *
 * Context: "probe" means anywhere, NMI included: it may not fault, block, or be traced.
 */
#ifndef TRACE_PLATFORM_H
#define TRACE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/errno.h>

struct ftrace_ops;
struct ftrace_regs;
struct trace_thread;

#define TRACE_COMM_LEN	16  /* thread name, NUL included */
#define TRACE_SYM_LEN	128 /* symbol name, NUL included */
#define TRACE_INSN_SIZE 5   /* call, jmp and NOP at a site, bytes */

/* Two words that move together; 16-byte aligned. */
struct trace_pair {
	uint64_t lo;
	uint64_t hi;
} __attribute__((aligned(16)));

/*
 * preempt_count layout, as Linux prints it from: bits 0-7 preempt depth, 8-15 softirq,
 * 16-19 hardirq, 20-23 NMI.
 */
#define TRACE_PREEMPT_MASK    0x000000ffu
#define TRACE_SOFTIRQ_MASK    0x0000ff00u
#define TRACE_SOFTIRQ_SERVING 0x00000100u
#define TRACE_HARDIRQ_MASK    0x000f0000u
#define TRACE_NMI_MASK	      0x00f00000u

/* ---- Inline half, probe context. Defined by the host's <trace_plat_inline.h>. ---- */

/* T0: number of the running CPU, 0 .. trace_plat_nr_cpus() - 1; preemption is off. */
static inline uint32_t trace_plat_cpu_id(void);
/* T0: nanoseconds; never goes back on one CPU. */
static inline uint64_t trace_plat_clock_ns(void);
/* T0: the raw cycle counter. */
static inline uint64_t trace_plat_cycles(void);
/* T0: nested; the outermost enable may reschedule. */
static inline void trace_plat_preempt_disable(void);
static inline void trace_plat_preempt_enable(void);
/* T0: see the layout above. */
static inline uint32_t trace_plat_preempt_count(void);
static inline bool trace_plat_need_resched(void);
/* T0: both at once: the count, with bit 31 set when no reschedule is wanted. */
static inline uint32_t trace_plat_preempt_word(void);
static inline bool trace_plat_irqs_disabled(void);
/* T0: mask interrupts (not NMIs) of this CPU. */
static inline uint64_t trace_plat_irq_save(void);
static inline void trace_plat_irq_restore(uint64_t flags);
/*
 * T0: if *pair equals {*old_lo, old_hi}, make it {new_lo, new_hi} and return true. *old_lo is what
 * pair->lo was in either case. Atomic against interrupts and NMIs of this CPU; no lock prefix: only
 * this CPU writes the pair.
 */
static inline bool trace_plat_pair_cmpxchg(struct trace_pair *pair, uint64_t *old_lo,
					   uint64_t old_hi, uint64_t new_lo, uint64_t new_hi);
/* T0: one instruction on this CPU's memory: atomic against interrupts, not against other CPUs. */
static inline void trace_plat_local_add(uint64_t *value, uint64_t delta);
/*
 * T0: add the 128 bits {lo, hi} on this CPU's memory. What interrupts add meanwhile is not lost;
 * other CPUs may see half of it.
 */
static inline void trace_plat_local_add_pair(struct trace_pair *value, uint64_t lo, uint64_t hi);
/*
 * T1: this CPU's recursion bits (owned by trace/), 0 to 31. Barriers for the compiler. Interrupts
 * leave the word as they found it.
 */
static inline uint32_t trace_plat_recursion_word(void);
static inline bool trace_plat_recursion_set(uint32_t bit); /* false: it was set; preemption off */
static inline void trace_plat_recursion_clear(uint32_t bit);
/* T1: the preempt word, and above it the recursion word, both at once. */
static inline uint64_t trace_plat_context_word(void);
/* T2: id of the running thread; 0 for idle. */
static inline int32_t trace_plat_current_pid(void);
/* T2: what trace/ keeps for the running thread (<trace/thread.h>); never NULL. */
static inline struct trace_thread *trace_plat_current(void);
/* T2: where the running thread's stack ends: it grows down from there. */
static inline uintptr_t trace_plat_stack_top(void);
/* T1: code addresses in 32 bits and back. */
static inline uint32_t trace_plat_ip_pack(uintptr_t ip);
static inline uintptr_t trace_plat_ip_unpack(uint32_t packed);
/*
 * T1: what a callback may ask of the struct ftrace_regs that it got, and change in it. These work
 * for every ops; all other registers, as fields of the struct, only with FTRACE_OPS_FL_SAVE_REGS.
 */
/* Argument `n` of the traced function, counted from 0. */
static inline uint64_t ftrace_regs_get_argument(const struct ftrace_regs *fregs, uint32_t n);
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
/* Where the return address into the caller lies. */
static inline uintptr_t *ftrace_regs_return_slot(struct ftrace_regs *fregs);
/* Only of trampolines with registers that serve several ops: call `addr` as if the site did. */
static inline void ftrace_regs_set_direct(struct ftrace_regs *fregs, uintptr_t addr);
/* Optional macro TRACE_DIRECT(name, body): an entry for direct calls to a function in C. */
/*
 * T1: where a function returns to whose return is hooked. What is there keeps the returned values,
 * calls trace_graph_return(slot) with the place that held the return address, and goes to what that
 * left there.
 */
static inline uintptr_t trace_plat_return_hook(void);
/* T1: what the function returned, while that call lasts. */
static inline uintptr_t trace_plat_return_value(const uintptr_t *slot);
/* T1: where to go when the return address is lost: the host ends there, with a message. */
static inline uintptr_t trace_plat_return_lost(void);

/* ---- T0: memory, CPUs ---- */

/* Zeroed, page aligned, virtually contiguous; NULL when out of memory. Thread context. */
void *trace_plat_alloc(size_t bytes);
void trace_plat_free(void *memory, size_t bytes);
/* CPUs that exist (online or not yet); constant once threads run. Any context. */
uint32_t trace_plat_nr_cpus(void);
bool trace_plat_cpu_online(uint32_t cpu);
/* Run fn(arg) on every online CPU with interrupts off, and wait for all. Thread, interrupts on. */
void trace_plat_on_each_cpu(void (*fn)(void *arg), void *arg);
/* The same on one CPU. Returns -ENODEV when it is not online. */
int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg);
/* Wall-like clocks for trace_clock. Probe context, preemption off. */
uint64_t trace_plat_clock_mono_ns(void); /* never goes back across CPUs */
uint64_t trace_plat_uptime_ticks(void);	 /* timer ticks since boot */

/* ---- T1: text ---- */

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
 * -EINVAL, `out_error` filled and nothing written, when a site does not hold `old_insn`.
 * Thread context, interrupts on, ftrace's lock held.
 */
int trace_plat_poke_batch(const struct trace_poke *pokes, size_t nr,
			  struct trace_poke_error *out_error);
/*
 * At boot, before other CPUs run: each of the sites (in any order) calls trace_plat_fentry(); make
 * them all NOPs. Errors as above.
 */
int trace_plat_nop_sites(const uintptr_t *sites, size_t nr, struct trace_poke_error *out_error);

/* What patching has done since boot. Any context. */
struct trace_poke_stats {
	uint64_t batches;
	uint64_t sites;
	uint64_t syncs;	    /* core syncs, three to a batch */
	uint64_t int3_hits; /* breakpoints that were asked about */
	uint64_t emulated;  /* of them, at a site in flight */
	uint64_t stale;	    /* of them, at a site that memory no longer held */
};
void trace_plat_poke_stats(struct trace_poke_stats *out_stats);

/* The instructions of a site at `site`. Any context. */
void trace_plat_insn_nop(uint8_t *out_insn);
void trace_plat_insn_call(uintptr_t site, uintptr_t target, uint8_t *out_insn);
void trace_plat_insn_jmp(uintptr_t site, uintptr_t target, uint8_t *out_insn);

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
 * trace_ops_list_regs_func(), and obey ftrace_regs_set_direct().
 */
uintptr_t trace_plat_shared_trampoline(bool with_regs);

/* The table that the linker collected: addresses of sites. */
const uintptr_t *trace_plat_sites(size_t *out_nr);
/* The address that an unpatched site calls (__fentry__). */
uintptr_t trace_plat_fentry(void);

/* ---- T1: symbols. Any context, lock free. ---- */

/* Name, start and size of the function that holds `addr`; false for none, never a neighbour. */
bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size);
/* Address of a function; 0 for none. */
uintptr_t trace_plat_symbol_find(const char *name);
/* Names of ascending addresses, cheaply. Zero the cursor first. Returns the length, 0 for none. */
struct trace_symbol_cursor {
	uint64_t state[8];
};
size_t trace_plat_symbol_next(struct trace_symbol_cursor *cursor, uintptr_t addr, char *out_name);
/* A sentence that says why `name` has no site. 0, or -ENOENT when nothing is known. Thread. */
int trace_plat_why_not(const char *name, char *out_text, size_t len);
/* Is it the site of a function that interrupts call first, before any other traced one? */
bool trace_plat_is_irq_entry(uint32_t packed_ip);

/* ---- T2: threads: the last part of this header, in a file of its own ---- */

#include <trace/platform_thread.h>

/* ---- T3: messages ---- */

/* One line to the host's log, without newline. Any context. */
void trace_plat_log(const char *fmt, ...) TRACE_PRINTF(1, 2);
/* The same, shown to whoever watches the machine, however quiet it is. */
void trace_plat_alert(const char *fmt, ...) TRACE_PRINTF(1, 2);
/*
 * The same for a broken invariant of tracing, which stops for good: the host calls ftrace_kill()
 * and goes on. Any context.
 */
void trace_plat_bug(const char *fmt, ...) TRACE_PRINTF(1, 2);

#include <trace/platform_stack.h>
#include <trace_plat_inline.h> /* the host's inline half: the one include that leaves trace/ */

#endif
