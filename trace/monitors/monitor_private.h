/* Shared declarations of the files of monitors/. See monitor.h. */
#ifndef TRACE_MONITOR_PRIVATE_H
#define TRACE_MONITOR_PRIVATE_H

#include "monitor.h"

/* ---- monitor_parse.c ---- */

/*
 * Read a line behind `m:NAME`, which monitor->text has; the monitor is zeroed otherwise. 0; or
 * -errno with *error: trace_monitor_parse_free() is still to be called. monitors_lock held.
 */
int trace_monitor_parse(struct trace_monitor *monitor, struct monitor_error *error);
void trace_monitor_parse_free(struct trace_monitor *monitor);
/*
 * The number of the word that begins at `text`: letters, digits and _, not beginning with a digit.
 */
size_t trace_monitor_word_len(const char *text);

/* ---- monitor_symbol.c ---- */

/* A place in the line that is read. */
struct monitor_parser {
	struct trace_monitor *monitor;
	char *at;
	struct monitor_error *error;
};
int trace_monitor_blame(struct monitor_parser *parser, const char *at, const char *why, int err);
void trace_monitor_skip_blanks(struct monitor_parser *parser);
/* Read a SYMBOL; *out_number is its number. */
int trace_monitor_parse_symbol(struct monitor_parser *parser, uint32_t *out_number);

/* ---- monitor_run.c ---- */

void trace_monitor_watch_hit(struct trace_event_watch *watch, const struct trace_event_hit *hit);
/* All states are unknown again. */
void trace_monitor_forget(struct trace_monitor *monitor);
static inline struct monitor_cpu *monitor_cpu_of(const struct trace_monitor *monitor, uint32_t cpu)
{
	return (struct monitor_cpu *)(void *)(monitor->cpus + cpu * monitor->cpu_bytes);
}
/* ---- monitor_memory.c ---- */

/* Make the memory for states and counts anew. 0 or -ENOMEM. */
int trace_monitor_memory_make(struct trace_monitor *monitor);
void trace_monitor_memory_free(struct trace_monitor *monitor);

/*
 * ---- monitor_threads.c. Locking: whoever changes the table holds the lock of monitor_list.c. ----
 */

int trace_monitor_threads_init(struct monitor_threads *threads, uint32_t max);
void trace_monitor_threads_destroy(struct monitor_threads *threads);
void trace_monitor_threads_add(struct monitor_threads *threads, int32_t pid);
void trace_monitor_threads_remove(struct monitor_threads *threads, int32_t pid);
/* The state of a thread, or NULL. Any context. */
monitor_word *trace_monitor_threads_find(const struct monitor_threads *threads, int32_t pid);

/* ---- monitor_events.c ---- */

/* Make its trace events, and register them. 0 or -errno. No lock but monitors_lock held. */
int trace_monitor_events_add(struct trace_monitor *monitor);
/*
 * Remove both events of a monitor. Returns 0, or -EBUSY with both registered while one is in use.
 */
int trace_monitor_events_remove(struct trace_monitor *monitor);
/* Write them, if they are on. Any context. */
void trace_monitor_write_step(struct trace_monitor *monitor, uint64_t id, uint32_t state,
			      uint32_t symbol, uint32_t next);
void trace_monitor_write_error(struct trace_monitor *monitor, uint64_t id, uint32_t state,
			       uint32_t symbol);

#endif
