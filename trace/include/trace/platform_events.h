/*
 * Host functions for trace events, instances and the files of tracefs, in addition to the ring and
 * threads; call sites are not needed. A part of <trace/platform.h>; include that one.
 *
 * Context: stated per group.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_PLATFORM_EVENTS_H
#define TRACE_PLATFORM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/platform_ring.h>
#include <trace/platform_threads.h>

TRACE_BEGIN_DECLS

/* ---- Inline half, probe context ---- */

/* The cycle counter of this CPU. */
static inline uint64_t trace_plat_cycles(void);
/* Switch interrupts (not NMIs) of this CPU off; returns the argument of restore. */
static inline uint64_t trace_plat_irq_save(void);
static inline void trace_plat_irq_restore(uint64_t flags);
/* The preempt count, with bit 31 set when no reschedule is pending; one load. */
static inline uint32_t trace_plat_preempt_word(void);
/* The highest end of the running thread's stack, from which it grows down. */
static inline uintptr_t trace_plat_stack_top(void);

/* ---- CPUs, clocks ---- */

bool trace_plat_cpu_online(uint32_t cpu);
/* Timer ticks since boot, for trace_clock. Probe context, preemption off. */
uint64_t trace_plat_uptime_ticks(void);

/* ---- Threads ---- */

struct trace_plat_waitq { /* zeroed is empty */
	uint64_t opaque[8];
};
/*
 * Sleep until done(arg) is true. It is called after each wake, and at least every 10 ms, so that
 * probes, which may not wake threads, need not do so. 0, or -EINTR when the user interrupts. Thread
 * context, no lock held.
 */
int trace_plat_wait(struct trace_plat_waitq *queue, bool (*done)(void *arg), void *arg);
/* Let all waiting threads call done() now. Thread, softirq or irq; not NMI. */
void trace_plat_wake(struct trace_plat_waitq *queue);

/*
 * The name of the running thread, TRACE_COMM_LEN bytes with a NUL; in interrupts, of the
 * interrupted one. Does not wait. Probe context, preemption off.
 */
void trace_plat_current_comm(char *out_comm);
/*
 * The process that living thread `pid` is of, by the number of its first thread; the same number for
 * a thread of none; 0 when it is not known. Contexts are those of trace_plat_thread_comm().
 */
int32_t trace_plat_thread_tgid(int32_t pid, bool may_wait);

/* ---- Symbols. Thread context. ---- */

/*
 * Count the functions of a name, which static functions of different files may share: the addresses
 * of the first `max` are written, ascending.
 */
size_t trace_plat_symbol_find_all(const char *name, uintptr_t *out_addrs, size_t max);
/*
 * The path of the file of the source that the code at `addr` comes from, which lasts; NULL: that is
 * not known.
 */
const char *trace_plat_source_of(uintptr_t addr);

/* ---- Programs ---- */

/*
 * As trace_plat_read(), of the memory of the program that the running thread is in; pages that are
 * not there are not made. Probe context.
 */
bool trace_plat_read_user(void *to, const void *from, size_t bytes);

/* The program that the running thread is in, as it was when it came into the kernel. */
struct trace_plat_user {
	uint64_t ip, sp,
		fp; /* fp: the register that is the frame pointer, if the program has one */
	int32_t tgid;
	/*
	 * The return address that `ret` at the address `slot` of its stack stands for. NULL: each for
	 * itself. Probe context.
	 */
	uint64_t (*caller)(const struct trace_plat_user *self, uint64_t ret, uint64_t slot);
	/*
	 * Writes the callers that the frames from `fp` on have, at most `max`; each frame lies above the one
	 * before, the first not below `sp`. Returns how many. NULL: they are read one by one, by
	 * trace_plat_read_user(). It may set `is_cut`: there are more, which can be read when the program
	 * goes on, and the host will call trace_userstack_return() then. Probe context.
	 */
	uint32_t (*frames)(struct trace_plat_user *self, uint64_t *out_callers, uint32_t max);
	bool is_cut;
};
/*
 * The library's: the running thread is about to go back to its program, or to leave it for another one or for good. Writes the
 * stack that events have asked for whose own was cut. Thread, interrupts and preemption on: pages may be made.
 */
void trace_userstack_return(void);
/* False: it is a thread of the kernel, or this is an NMI. Probe context. */
bool trace_plat_user_get(struct trace_plat_user *out);
/* The running thread's real user ID, and in the upper 32 bits its real group ID. Probe context. */
uint64_t trace_plat_current_uid_gid(void);
/* Where an address of a program is. Texts are cut to their fields. */
struct trace_plat_user_place {
	char path[128];		  /* of the file that is mapped there */
	uint64_t offset;	  /* from the start of that mapping */
	char function[64];	  /* by the symbols of the file; empty: there is none */
	uint64_t function_offset; /* from its start */
};
/*
 * For the option sym-userobj: what a program has at the address `ip`. False: no file, or the program is
 * gone. Thread context; reads the file.
 */
bool trace_plat_user_object(int32_t tgid, uint64_t ip, struct trace_plat_user_place *out);

struct trace_syscall_host;
/*
 * The table of system calls for the events of <trace/syscalls.h>; NULL: there are none. Asked by
 * trace_init(), and in any context afterwards.
 */
const struct trace_syscall_host *trace_plat_syscalls(void);

struct trace_uprobe_host;
/* The table of <trace/platform_uprobes.h>; NULL: there are no programs. Any context. */
const struct trace_uprobe_host *trace_plat_uprobes(void);

struct trace_user_events_host;
/* The functions of <trace/user_events.h> for a host with programs; NULL: there are none. Any context. */
const struct trace_user_events_host *trace_plat_user_events(void);

/* ---- Memory that survives a reset of the machine. Thread context. ---- */

/*
 * The memory of that name, aligned to 64, at the same place in each kernel and used for nothing else;
 * for instances whose events are there again after a reset. NULL: there is none of that name.
 */
void *trace_plat_kept_memory(const char *name, size_t *out_bytes);
/*
 * A text that tells this build of the host from all others, of at most 31 characters; it stays.
 * Addresses in the events of another one have other names.
 */
const char *trace_plat_build_id(void);

/* ---- Messages ---- */

/*
 * One line to the host's log, `len` bytes without newline, that a trace event has become: shown on
 * the console as soon as that is possible. Probe context: the code around may hold any lock of the
 * host, that of the scheduler or of the console, too.
 */
void trace_plat_log_event(const char *line, size_t len);

/* ---- Stacks. Probe context. ---- */

/*
 * A backtrace of the running code: return addresses, packed, innermost first. It begins at `frame`,
 * the __builtin_frame_address(0) of a function that has not returned yet, or the `frame` of a trace_sample_hit. With `is_callback` that
 * function is the callback of an ops, or was called by one; the first address is then in the traced
 * function, the second in its caller. It goes on from interrupts to the code they interrupted.
 * Returns how many addresses it has written, at most `max`.
 */
size_t trace_plat_backtrace(uintptr_t frame, bool is_callback, uint32_t *out_ips, size_t max);

/* ==== Nothing more is needed for events, instances and their files. ==== */

TRACE_END_DECLS

#endif
