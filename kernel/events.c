/*
 * The kernel's own trace events: <trace/events/NAME.h> in kernel/include has the definitions. No
 * call sites, because these functions are probes.
 */
#include <kernel/string.h>
#include <trace/platform.h>

#define CREATE_TRACE_POINTS
#include <trace/events/cpuhp.h>
#include <trace/events/error_report.h>
#include <trace/events/exceptions.h>
#include <trace/events/initcall.h>
#include <trace/events/ipi.h>
#include <trace/events/irq.h>
#include <trace/events/irq_vectors.h>
#include <trace/events/kmem.h>
#include <trace/events/livepatch.h>
#include <trace/events/lock.h>
#include <trace/events/printk.h>
#include <trace/events/task.h>
#include <trace/events/signal.h>
#include <trace/events/timer.h>
#include <trace/events/workqueue.h>
