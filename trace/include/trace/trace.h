/*
 * Tracing as the rest of the kernel meets it: starting it, switching it, writing into it, and the
 * hooks through which the host tells it about threads. Files are in <trace/fs.h>, function call
 * sites and ops in <trace/ftrace.h>, the buffer in <trace/ring_buffer.h>.
 *
 * Start-up, in this order, one CPU running, memory available:
 *
 *	ftrace_init()			call sites become NOPs (<trace/ftrace.h>)
 *	trace_boot_param(name, value)	for each boot parameter; before or after ftrace_init()
 *	trace_init()			buffers, in the size that was asked for; tracers, files
 *	trace_boot_start()		what the boot parameters ask for; then start the other CPUs
 *	trace_boot_finish()		all is there, users come
 *
 * Context: stated per function.
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
 * ftrace_dump_on_oops[=orig_cpu] trace_instance=NAME alloc_snapshot ftrace_boot_snapshot
 * stacktrace stacktrace_filter=: remembered until trace_boot_start(), but for trace_buf_size=,
 * which trace_init() wants. In which order they come makes no difference: trace_boot_start() has
 * one of its own, filters first. True when `name` is one of them. `value` is "" when there was no
 * '='; it is copied.
 */
bool trace_boot_param(const char *name, const char *value);

/* 0 or -ENOMEM; after a failure tracing stays absent and every other function is harmless. */
int trace_init(void);

/*
 * A CPU is about to come online for the first time since trace_init(): its buffers are made, in
 * each instance and snapshot, and stay when it goes. Until then what is written on it counts as
 * dropped, and so it does after -ENOMEM, which the log tells: the host may start the CPU all the
 * same, and the next new size of a buffer tries again. CPUs that are online at trace_init() need no
 * call, nor does one that comes again. Thread context, may sleep; before the CPU runs traced code.
 * 0, -EINVAL for no CPU, -ENOMEM.
 */
int trace_cpu_prepare(uint32_t cpu);

/* Carry out the boot parameters; complaints go to the log. */
void trace_boot_start(void);
/* The kernel is up: take the snapshot of its boot, if a parameter asks for it. */
void trace_boot_finish(void);

/* ---- Switching the buffer. Any context. ---- */

void tracing_on(void);
void tracing_off(void);
bool tracing_is_on(void);

/* ---- Instances. Thread context, may sleep, where nothing else is said. ---- */

/*
 * The instance `name` of instances/, which is made if there is none. It cannot be removed before
 * trace_array_put(). NULL for a bad name and when out of memory.
 */
struct trace_array *trace_array_get_by_name(const char *name);
void trace_array_put(struct trace_array *tr);
/* Remove an instance that nobody holds or has open: put it first. -EBUSY, -ENOENT. */
int trace_array_destroy(struct trace_array *tr);
/* trace_printk() into `tr`, which is held; option trace_printk does not matter. Any context. */
#define trace_array_printk(tr, fmt, ...) trace_array_printk_at(tr, trace_here(), fmt, ##__VA_ARGS__)
void trace_array_printk_at(struct trace_array *tr, uintptr_t ip, const char *fmt, ...)
	TRACE_PRINTF(3, 4);

/* ---- The snapshot of the global trace. ---- */

/*
 * Keep what was recorded so far: it goes where the file snapshot shows it, and recording goes on in
 * the other buffer. Without room for a snapshot the trace says so, and recording stops. Any
 * context but NMI.
 */
void tracing_snapshot(void);
/* Make the room. -ENOMEM, -ENODEV. Thread. */
int tracing_alloc_snapshot(void);
/* Both. Thread. */
void tracing_snapshot_alloc(void);

/* The callers of this function into the trace, without the innermost `skip` of them. */
void trace_dump_stack(uint32_t skip);

/* ---- After a crash. Any context; the other CPUs are stopped. ---- */

/*
 * When the boot parameter or ftrace_dump_on_oops asks for it: stop tracing and print the newest
 * part of the trace, bounded, to the host's log. Takes no lock. `cpu` is the one that failed.
 */
void trace_dump_on_oops(uint32_t cpu);
/* The setting ftrace_dump_on_oops: 0 no dump, 2 the CPU that failed, any other number all CPUs. */
int trace_dump_on_oops_mode(void);
int trace_set_dump_on_oops_mode(int value); /* 0 */
/* A dump unconditionally: all CPUs, or one when `cpu` is not TRACE_ALL_CPUS. */
#define TRACE_ALL_CPUS UINT32_MAX
void trace_dump(uint32_t cpu);

/* ---- What the host tells about threads. ---- */

/*
 * A thread was made by `parent`, and does not run yet. Call it while the new thread is already in
 * the list that trace_plat_each_thread() walks. Thread context, may sleep.
 */
void trace_thread_created(int32_t parent_pid, int32_t pid, struct trace_thread *thread);
/* A thread ends; its name stays known to the trace. Called by that thread; may sleep. */
void trace_thread_exited(int32_t pid, const char *comm);

TRACE_END_DECLS

#endif
