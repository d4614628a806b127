/*
 * The trace on the console after a crash. trace_dump() and trace_dump_on_oops() are declared in
 * <trace/trace.h>; this is the rest.
 *
 * Context: thread, where nothing else is said.
 */
#ifndef TRACE_DUMP_H
#define TRACE_DUMP_H

#include "instance/array.h"

#define TRACE_DUMP_LINES 500u /* a second of serial line shows about 140 */

/*
 * Allocate the memory for a dump; after a crash that may not be possible any more. Called by
 * trace_init(). 0 or -ENOMEM.
 */
int trace_dump_init(void);
/*
 * Set the extent of dumps after a crash, by the value of ftrace_dump_on_oops: "" and "1" all CPUs,
 * "orig_cpu" and "2" the CPU that crashed, "0" nothing. Another value is reported in the log and
 * ignored.
 */
void trace_dump_set_mode(const char *value);

/*
 * Stop recording into `tr` now, and have a thread print its newest events, of `cpu` or
 * RING_BUFFER_ALL_CPUS, soon. While such a dump is pending, another call only stops recording.
 * Probe context.
 */
void trace_dump_later(struct trace_array *tr, int cpu);
/* Forget a pending dump of `tr`, which is being removed; no probe of it runs. Config lock held. */
void trace_dump_forget(struct trace_array *tr);

#endif
