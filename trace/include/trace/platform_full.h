/*
 * Host functions for tracers and everything else in trace/, in addition to all other parts. A part
 * of <trace/platform.h>; include that one.
 *
 * Context: stated per group.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_FULL_H
#define TRACE_PLATFORM_FULL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/platform_events.h>

TRACE_BEGIN_DECLS

/* ---- Inline half, probe context ---- */

/*
 * Add the 128-bit number {lo, hi} to *value, which only this CPU changes. An addition by an
 * interrupt in between is not lost. Another CPU that reads it may see a half-done addition.
 */
static inline void trace_plat_local_add_pair(struct trace_pair *value, uint64_t lo, uint64_t hi);
/* trace_plat_preempt_word() in the low half, trace_plat_recursion_word() in the high half. */
static inline uint64_t trace_plat_context_word(void);

/* ---- CPUs, clocks ---- */

/*
 * Run fn(arg) on that CPU with interrupts off, and wait for it. -ENODEV when it is not online.
 * Thread, interrupts on.
 */
int trace_plat_on_cpu(uint32_t cpu, void (*fn)(void *arg), void *arg);

/* ---- Symbols. Any context, lock free. ---- */

/* Is this the call site of a function that interrupts call before any other traced function? */
bool trace_plat_is_irq_entry(uint32_t packed_ip);

/* Counts of patching since boot. Any context. */
struct trace_poke_stats {
	uint64_t batches;
	uint64_t sites;
	uint64_t syncs;	    /* core syncs, three to a batch */
	uint64_t int3_hits; /* breakpoint traps that patching looked at */
	uint64_t emulated;  /* of these, at a site that was being changed: emulated */
	uint64_t stale;	    /* of these, where memory held no breakpoint any more: tried again */
};
void trace_plat_poke_stats(struct trace_poke_stats *out_stats);

/* ---- Types ---- */

/*
 * The types of the host's functions as BTF, sorted by tools/types; it has to stay. NULL: there are
 * none. Thread context, once.
 */
const void *trace_plat_btf(size_t *out_bytes);
/*
 * The struct of the host for a thread, which has a struct trace_thread at *out_offset: its name
 * among the types.
 */
const char *trace_plat_thread_type(size_t *out_offset);

/*
 * Where the name of an open file is, for the types %pD and %pd of probes: its struct has a pointer
 * to that of a name, which has a pointer to the text.
 */
struct trace_plat_file_names {
	const char *file;   /* the struct of an open file, as it is called among the types */
	const char *dentry; /* the struct of a name */
	size_t file_dentry; /* offset of the pointer to a name in the struct of a file */
	size_t dentry_name; /* offset of the pointer to the text in the struct of a name */
};
/* False: the host has no such structs. Thread context. */
bool trace_plat_file_names_get(struct trace_plat_file_names *out);

/* ---- Places by name, for probes. Thread context. ---- */

struct trace_plat_variable {
	uintptr_t addr;
	size_t bytes;
};
/* Count the variables of a name; *out becomes one of them. */
size_t trace_plat_variable_find(const char *name, struct trace_plat_variable *out);

/*
 * The address on this CPU of the per-CPU variable at `variable`, or of that byte in it; 0 for an
 * address that belongs to none. Any context: in probes, preemption is off.
 */
uintptr_t trace_plat_this_cpu_ptr(uintptr_t variable);

/* Code of a line of the source. */
struct trace_plat_line {
	uintptr_t addr;	  /* the lowest, if there are several */
	const char *file; /* its whole path, which lasts */
	uint32_t line;	  /* the asked one, or the next with code */
	uint32_t nr;	  /* pieces of code of that line */
};
/*
 * Find code of a line of a file, whose path is the `len` characters at `file` or ends in them
 * behind a slash. 0; -ENOENT: no code comes from such a file; -EEXIST: several files end so;
 * -ENODATA: no code from that line on; -EOPNOTSUPP: the host has no table of lines.
 */
int trace_plat_line_find(const char *file, size_t len, uint32_t line, struct trace_plat_line *out);

/* ---- Registers. Thread context. ---- */

/* The place of a register in struct ftrace_regs: 8 bytes. */
struct trace_plat_register {
	uint32_t offset;
	bool is_argument; /* it is there at a call site without FTRACE_OPS_FL_SAVE_REGS, too */
};
/*
 * Find the register of that name, `len` characters: the machine's own, as Linux calls them there,
 * or $arg1 $arg2 ... as far as arguments are in registers, $retval, and $stack for the stack
 * pointer.
 */
bool trace_plat_register(const char *name, size_t len, struct trace_plat_register *out_register);

/* ---- Threads ---- */

/* The running thread as the scheduler sees it; ip and parent_ip are 0. Any context but NMI. */
struct trace_sched_thread;
void trace_plat_current_sched(struct trace_sched_thread *out_thread);

/*
 * Have deferred->fn(deferred) called soon, in a thread of the host. Probe context. `deferred`
 * belongs to the host until fn has begun; from then on it may be deferred again.
 */
struct trace_plat_deferred {
	void (*fn)(struct trace_plat_deferred *deferred);
	struct trace_plat_deferred *next; /* for the host */
};
void trace_plat_defer(struct trace_plat_deferred *deferred);

/* ---- Messages ---- */

/*
 * Stop the machine with this message, one line without newline. A host that cannot or will not stop
 * says it and returns. Any context.
 */
void trace_plat_panic(const char *fmt, ...) TRACE_PRINTF(1, 2);

/* ---- Stacks. Probe context. ---- */

enum trace_stack_kind {
	TRACE_STACK_THREAD,
	TRACE_STACK_IRQ, /* the part of a thread's stack that an interrupt uses */
	TRACE_STACK_NMI,
	TRACE_STACK_FAULT, /* double fault, machine check */
	TRACE_NR_STACK_KINDS,
};

struct trace_stack {
	enum trace_stack_kind kind;
	uintptr_t lo; /* bounds of the whole stack */
	uintptr_t hi;
	uintptr_t base; /* beginning of this kind's part: hi, or the interrupt's saved frame */
};

/* The stack of this CPU or its thread that `addr` lies on; false when it is on none. */
bool trace_plat_stack_find(uintptr_t addr, struct trace_stack *out_stack);

/* ==== Nothing more is needed for anything in trace/. ==== */

TRACE_END_DECLS

#endif
