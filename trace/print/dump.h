/*
 * The trace on the console after a crash; see <trace/trace.h>.
 *
 * Context: as stated there: any, no lock. trace_dump_init() is part of trace_init().
 */
#ifndef TRACE_DUMP_H
#define TRACE_DUMP_H

#include "instance/array.h"

#define TRACE_DUMP_LINES 500u /* a second of serial line shows about 140 */

/* Memory for a dump: it cannot be had any more when it is needed. 0 or -ENOMEM. */
int trace_dump_init(void);
/*
 * `value` as of ftrace_dump_on_oops: "" and "1" all CPUs, "orig_cpu" and "2" one, "0" none.
 * Anything else is reported and changes nothing.
 */
void trace_dump_set_mode(const char *value);

/*
 * Stop recording into `tr` now, and let a thread print the newest part of it, of `cpu` or
 * RING_BUFFER_ALL_CPUS, soon. One at a time: while one is on its way others do nothing more.
 * Probe context.
 */
void trace_dump_later(struct trace_array *tr, int cpu);
/* `tr` goes away, and no probe of it is left. Config lock held. */
void trace_dump_forget(struct trace_array *tr);

#endif
