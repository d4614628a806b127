/*
 * Functions that trace/arch/x86_64 asks of its host, besides <trace/platform.h>: writing text,
 * making the other CPUs see it, and memory for code that is made at run time.
 *
 * Functions marked as linked may be inline, too; the rest belongs into a header
 * <trace_arch_inline.h> of the host, as static inline functions. <trace/arch_one_cpu.h> has the
 * functions that are the same for every host with one CPU.
 *
 * The rule behind it is in Intel's SDM, volume 3, "Handling Self- and Cross-Modifying Code": a CPU
 * may execute bytes that it fetched before they were written, or a mix of old and new bytes, until
 * it executes a serialising instruction ("Serializing Instructions": IRET, CPUID, SERIALIZE and
 * some more). There are two ways to obey it, and a host links the source of one:
 *
 *   text_poke.c  The others go on: an int3 stands in front of each site while the rest of it is
 *                changed, and all CPUs serialise after each step. It needs an entry for #BP.
 *   text_stop.c  The others stand still meanwhile. No code in NMIs may have sites then.
 *
 * The host's entry for #BP calls trace_breakpoint_dispatch() first, see <trace/arch_breakpoint.h>.
 * Its gate is an interrupt gate without an IST stack, as an int3 may be hit inside it. It leaves a
 * gap of at least one word between the interrupted stack and the frame: text_poke.c pushes the
 * return address of a call there, so the entry has to move down the words that the CPU has pushed.
 * It goes on at the rip and rsp that are left there then.
 *
 * Context:   thread, unless a function says otherwise. "Any": NMI and the #BP handler, too. None of
 *            the functions may have call sites.
 * Locking:   the caller holds the text lock, except in functions for "any" context.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ARCH_HOST_H
#define TRACE_ARCH_HOST_H

#include <trace/platform.h>

TRACE_BEGIN_DECLS

/* Is `addr` in code that can be changed? May be false for code that is made at run time. Any. */
static inline bool trace_arch_is_text(uintptr_t addr);

/* ---- A writable view of text, and of the memory for code ---- */

/* Called once around all writes of a batch; the view is entered only in between. May be slow. */
static inline void trace_arch_view_open(void);
static inline void trace_arch_view_close(void);
/*
 * Called around some hundred writes at a time: between enter and leave this CPU, and if possible no
 * other, can write to the view, and its interrupts are off.
 */
struct trace_arch_view {
	uint64_t irqs;
	uint64_t space; /* for the host: an address space, a control register */
};
static inline struct trace_arch_view trace_arch_view_enter(void);
static inline void trace_arch_view_leave(struct trace_arch_view view);
/* The address in the view at which the code at `addr` can be written, to the end of its page. */
static inline void *trace_arch_view_of(uintptr_t addr);

/* ---- This CPU ---- */

/* Execute a serialising instruction. */
static inline void trace_arch_serialise(void);
/* In a loop that waits for another CPU: pause. Any. */
static inline void trace_arch_relax(void);

/* ---- Memory for code ---- */

/*
 * Start and size of memory for code that is made at run time. It is executable, aligned to
 * TRACE_EXEC_UNIT, at most 2 GiB away from all sites and from all functions that trace/ and its
 * users call, and is written through the view. An array in .text will do. Bytes beyond
 * TRACE_EXEC_MAX are not used. Both are constant. Any.
 */
#define TRACE_EXEC_UNIT 64ul
#define TRACE_EXEC_MAX	(256ul << 10)
static inline uintptr_t trace_arch_exec_start(void);
static inline size_t trace_arch_exec_bytes(void);

TRACE_END_DECLS

#include <trace_arch_inline.h> /* the host's: with that of platform.h all that leaves trace/ */

TRACE_BEGIN_DECLS

/* ---- Linked: other CPUs, for text_poke.c ---- */

/*
 * Called around a batch: no CPU may come online in between. A CPU that comes online later has to
 * serialise before it runs code that has sites.
 */
void trace_arch_cpus_hold(void);
void trace_arch_cpus_release(void);
/*
 * Returns when every online CPU, this one, too, has executed a serialising instruction since the
 * call. It has to wait for a CPU that has interrupts off; so the way to do it is an interrupt to
 * each CPU, whose handler serialises and then counts. Called with interrupts on.
 */
void trace_arch_sync_cores(void);
/*
 * May this run in QEMU's emulator (TCG)? See answer_stale() in text_poke.c. True: one more write.
 */
bool trace_arch_is_emulated(void);

/* ---- Linked: other CPUs, for text_stop.c ---- */

/*
 * Returns when every other online CPU waits in an interrupt, with interrupts off; from here on
 * those of this CPU are off, too, because an interrupt might want a lock that one of the others
 * holds. No CPU comes online until resume.
 */
void trace_arch_stop_others(void);
/* Lets them go on; each serialises first: the IRET from that interrupt is enough. */
void trace_arch_resume_others(void);

/* ---- Linked: registers at a breakpoint, for probes (probe_int3.c). Any. ---- */

/*
 * Does the host have the next two functions? It is always the same answer. With the default, false,
 * probes are at call sites only, and there are no watchpoints.
 */
bool trace_arch_has_frames(void);
/*
 * Copy all registers from the host's frame of a #BP, which is what it has given to
 * trace_breakpoint_dispatch(); `rip`, `parent` and `direct` are filled in by the caller.
 */
void trace_arch_frame_load(const void *frame, struct ftrace_regs *out_regs);
/* And back, with `rip`: how the CPU goes on. */
void trace_arch_frame_store(void *frame, const struct ftrace_regs *regs);

/* ---- Linked: other CPUs, for watchpoints (watch.c). Thread. ---- */

/*
 * Call fn(arg) on each online CPU, this one, too, with interrupts off; returns when all are done.
 * A CPU that comes online later calls trace_watch_cpu_online(), see <trace/arch_watch.h>; none does
 * meanwhile. 0; the default: -ENODEV, and there are no watchpoints.
 */
int trace_arch_call_cpus(void (*fn)(void *arg), void *arg);

/* ---- Linked: the end ---- */

/* An assertion has failed, and going on would damage code: the host ends with this message. Any. */
void trace_arch_broken(const char *what) __attribute__((noreturn, cold));

TRACE_END_DECLS

#endif
