/*
 * Functions for the host: starting tracing, switching it, writing into it, reporting threads and
 * CPUs. Files are in <trace/fs.h>, function call sites and ops in <trace/ftrace.h>, the buffer in
 * <trace/ring_buffer.h>.
 *
 * Start-up, in this order, one CPU running, memory available:
 *
 * 	ftrace_init()			call sites become NOPs (<trace/ftrace.h>)
 * 	trace_boot_param(name, value)	for each boot parameter; before or after ftrace_init()
 * 	trace_init()			buffers, in the requested size; tracers, files
 * 	trace_boot_start()		effects of the boot parameters; then start the other CPUs
 * 	trace_boot_finish()		at the end of the boot, before users come
 *
 * Context: stated per function.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>
#include <trace/trace_printk.h>

TRACE_BEGIN_DECLS

struct trace_array;
struct trace_thread;

/* ---- Start. Thread context or the boot CPU before threads run. ---- */

/*
 * ftrace= ftrace_filter= ftrace_notrace= ftrace_graph_filter= ftrace_graph_notrace=
 * ftrace_graph_max_depth= trace_buf_size= trace_options= trace_clock=
 * ftrace_dump_on_oops[=orig_cpu] traceoff_on_warning traceoff_after_boot
 * trace_instance=NAME[^traceoff][^traceprintk][@MEMORY][,EVENT]... trace_instance=NAME=SOURCE
 * trace_event=LIST trace_trigger=LIST tp_printk
 * tp_printk_stop_on_boot alloc_snapshot ftrace_boot_snapshot stacktrace stacktrace_filter=:
 * remembered until trace_boot_start(); trace_buf_size= is needed by trace_init() already. The order
 * of the parameters makes no difference, because trace_boot_start() carries them out in an order of
 * its own, filters first. `value` is "" when there was no '='; it is copied. Returns whether `name`
 * is one of these.
 */
bool trace_boot_param(const char *name, const char *value);

/* 0 or -ENOMEM. After a failure there is no tracing, and all other functions here do nothing. */
int trace_init(void);

/*
 * To be called before a CPU comes online for the first time after trace_init(), and before it runs
 * traced code: makes its buffers in each instance and snapshot, which stay when it goes offline.
 * Without them events on the CPU count as dropped. CPUs that are online at trace_init() need no
 * call, nor does one that comes online again. 0; -EINVAL: no such CPU; -ENOMEM, which is also
 * logged: the host may start the CPU all the same, and memory is tried again when a buffer gets a
 * new size. Thread context, may sleep.
 */
int trace_cpu_prepare(uint32_t cpu);
/*
 * Have change(arg) change the CPUs for which trace_plat_cpu_online() is true: it clears one that is about
 * to go offline, or sets one that has come online. Before the change the threads of tracers and the
 * profiler leave all CPUs, afterwards they run on those that there are. Thread context, may sleep; no
 * lock held. change() is called with a lock held, and may not sleep.
 */
void trace_cpus_change(void (*change)(void *arg), void *arg);

/* Carry out the boot parameters; errors are logged. */
void trace_boot_start(void);
/*
 * The boot is over: take a snapshot of it, if the parameter ftrace_boot_snapshot asks for that;
 * stop printing events, if tp_printk_stop_on_boot does; and, last, end recording into the buffer of
 * the global instance, if traceoff_after_boot does.
 */
void trace_boot_finish(void);

/* ---- Recording into the buffer of the global instance, on and off. Any context. ---- */

void tracing_on(void);
void tracing_off(void);
bool tracing_is_on(void);

/* ---- Warnings of the host. Any context, NMI included. ---- */

/*
 * The host says that something has happened that should not, though it goes on: the code at `ip`
 * warns. If the setting traceoff_on_warning is not 0, the trace ends with an event that says so,
 * and nothing more is recorded into the buffer of the global instance.
 */
void trace_host_warned(uintptr_t ip);
/* The setting. Setting it returns 0. */
int trace_off_on_warning(void);
int trace_set_off_on_warning(int value);

/* ---- Instances. Thread context, may sleep, where nothing else is said. ---- */

/*
 * Get a reference to the instance `name` of instances/, which is made if it does not exist. It
 * cannot be removed before trace_array_put(). NULL for a name that is not allowed, and when out of
 * memory.
 */
struct trace_array *trace_array_get_by_name(const char *name);
/* Give the reference back. Any context that may sleep; `tr` may be gone afterwards. */
void trace_array_put(struct trace_array *tr);
/*
 * Remove an instance; call trace_array_put() before. Returns 0; -EBUSY while it has a reference or
 * an open file; -ENOENT when there is no such instance.
 */
int trace_array_destroy(struct trace_array *tr);
/*
 * trace_printk() into `tr`, to which the caller has a reference. It does not depend on the option
 * trace_printk. Any context.
 */
#define trace_array_printk(tr, fmt, ...) trace_array_printk_at(tr, trace_here(), fmt, ##__VA_ARGS__)
void trace_array_printk_at(struct trace_array *tr, uintptr_t ip, const char *fmt, ...)
	TRACE_PRINTF(3, 4);

/* ---- The snapshot of the global trace. ---- */

/*
 * Make the events recorded so far the snapshot, which the file snapshot shows; recording goes on in
 * the other buffer. If there is no room for a snapshot, an event in the trace says so and recording
 * stops. Any context but NMI.
 */
void tracing_snapshot(void);
/* Make room for snapshots. 0; -ENOMEM; -ENODEV: there is no tracing. Thread. */
int tracing_alloc_snapshot(void);
/* tracing_alloc_snapshot(), then tracing_snapshot() unless that failed. Thread. */
void tracing_snapshot_alloc(void);

/*
 * Write a stack trace to where trace_printk() writes: the callers, without the innermost `skip`.
 * Any context.
 */
void trace_dump_stack(uint32_t skip);

/* ---- Events in the host's log as well, as they occur. ---- */

/*
 * The setting tracepoint_printk: not 0 while events are printed. Setting it has no effect unless
 * the boot parameter tp_printk was given; returns 0. Thread context.
 */
int trace_tracepoint_printk(void);
int trace_set_tracepoint_printk(int value);
/* The number of events that were not printed: caused by printing, or without room. Any context. */
uint64_t trace_tracepoint_printk_missed(void);

/* ---- After a crash. Any context; the other CPUs are stopped. ---- */

/*
 * If the setting ftrace_dump_on_oops asks for it: stop recording and print the newest events, 500
 * lines at most, to the host's log. Takes no lock. `cpu` is the one that failed.
 */
void trace_dump_on_oops(uint32_t cpu);
/* The setting ftrace_dump_on_oops: 0 no dump, 2 the CPU that failed, any other number all CPUs. */
int trace_dump_on_oops_mode(void);
int trace_set_dump_on_oops_mode(int value); /* returns 0 */
/* The same dump whatever the setting is: of CPU `cpu`, or of all with TRACE_ALL_CPUS. */
#define TRACE_ALL_CPUS UINT32_MAX
void trace_dump(uint32_t cpu);

/* ---- Reports about threads ---- */

/*
 * Called by the parent of a new thread, before that runs for the first time, and when it is already
 * in the list that trace_plat_each_thread() walks. Thread context, may sleep.
 */
void trace_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
/*
 * Called by a thread that ends; it runs no traced code that needs a shadow stack afterwards. `comm`
 * is saved for lines of the trace. May sleep.
 */
void trace_thread_exited(int32_t pid, const char *comm);
/*
 * Thread `pid` has got a name, its first or another: the next kernel may want to know it. Does
 * nothing without an instance whose events survive a reset. Any context.
 */
void trace_thread_named(int32_t pid, const char *comm);

TRACE_END_DECLS

#endif
