/*
 * Trace events in the host's log as well, as they occur: the boot parameter tp_printk.
 *
 *   a probe --> event_write.c --> recorded? --> trace_event_print() --> trace_plat_log_event()
 *
 * While it is on, the flag TRACE_EVENT_PRINTS is set in each event of each instance; while it is
 * off there is no cost. An event becomes text at once, where it occurs, so that the last one before
 * a hang or a crash is in the log, too. The memory for that is allocated at start, for one event on
 * each CPU and a few more: an event that finds none, because of nested interrupts, is left out,
 * without waiting. An event caused by printing another one is left out, too. Both are counted.
 *
 * Context:   thread, unless a function says otherwise.
 * Locking:   the config lock, for changes.
 * Ownership: the memory stays for good.
 */
#ifndef TRACE_EVENT_PRINTK_H
#define TRACE_EVENT_PRINTK_H

#include <stdbool.h>
#include <stdint.h>

struct trace_event_file;

/* Take the boot parameters tp_printk and tp_printk_stop_on_boot, with the text behind the "=". */
void trace_event_printk_want(const char *value);
void trace_event_printk_want_stop(const char *value);
/* Allocate the memory and begin to print, if tp_printk was given. Config lock held. */
void trace_event_printk_start(void);
/* Stop printing at the end of the boot, if the boot parameter asks for it. No lock. */
void trace_event_printk_boot_finish(void);

/* Are events printed? Config lock held. */
bool trace_event_printk_is_on(void);

/*
 * Print the event of `bytes` bytes at `entry`, its head filled in. Any context, NMI included,
 * preemption off.
 */
void trace_event_print(const struct trace_event_file *file, const void *entry, uint32_t bytes);

#endif
