/*
 * Trace events in the host's log as well, as they occur: the boot parameter tp_printk.
 *
 *   a probe --> event_write.c --> recorded? --> trace_event_print() --> trace_plat_log_event()
 *
 * While it is on, the flag TRACE_EVENT_PRINTS is set in each event of each instance; while it is off
 * nobody looks. An event becomes text at once, where it occurs, so that the last one before a hang or
 * a crash is in the log, too. The memory for that is there from the start, for one event on each CPU
 * and a few more: who finds none, because interrupts came in between, does not wait. Nor is an event
 * printed that printing another one has caused. Both are counted.
 *
 * Context:   thread, where nothing else is said.
 * Locking:   the config lock, for changes.
 * Ownership: the memory stays for good.
 */
#ifndef TRACE_EVENT_PRINTK_H
#define TRACE_EVENT_PRINTK_H

#include <stdbool.h>
#include <stdint.h>

struct trace_event_file;

/* The boot parameters tp_printk and tp_printk_stop_on_boot, with what stands behind the "=". */
void trace_event_printk_want(const char *value);
void trace_event_printk_want_stop(const char *value);
/* Get the memory and begin to print, if tp_printk was given. Config lock held. */
void trace_event_printk_start(void);
/* The boot is over: stop, if that is wanted. No lock. */
void trace_event_printk_boot_finish(void);

/* Are events printed? Config lock held. */
bool trace_event_printk_is_on(void);

/*
 * Print the event of `bytes` bytes at `entry`, its head filled in. Any context, NMI included,
 * preemption off.
 */
void trace_event_print(const struct trace_event_file *file, const void *entry, uint32_t bytes);

#endif
