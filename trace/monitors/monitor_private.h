/* Shared declarations of the files of monitors/. See monitor.h. */
#ifndef TRACE_MONITOR_PRIVATE_H
#define TRACE_MONITOR_PRIVATE_H

#include "monitor.h"
#include "expr/expr_build.h"

#define MONITOR_CONDITIONS_MAX 4u /* of a symbol */

/* ---- monitor_parse.c ---- */

/* A line that is read: monitor->text, with the place of the next character. */
struct monitor_parser {
	struct trace_monitor *monitor;
	struct expr_cursor text;
	const char *clocks_at[MONITOR_CLOCKS_MAX]; /* where each is named first */
};
/*
 * Read a line behind `m:NAME`, which monitor->text has; the monitor is zeroed otherwise. `base` is
 * the place of this text in the whole line. 0; or -errno with *error: trace_monitor_parse_free() is
 * still to be called. monitors_lock held.
 */
int trace_monitor_parse(struct trace_monitor *monitor, size_t base, struct expr_error *error);
void trace_monitor_parse_free(struct trace_monitor *monitor);
/* Record a mistake. Returns -EINVAL. */
int trace_monitor_blame(const struct monitor_parser *parser, const char *at, const char *why);
/* Take letters, digits and _, not beginning with a digit; perhaps none. */
struct expr_word trace_monitor_take_name(struct expr_cursor *text);
/*
 * Take such a word, with blanks around it. Returns 0, or -EINVAL with the mistake `why`: there is
 * none.
 */
int trace_monitor_take_word(struct monitor_parser *parser, const char *why,
			    struct expr_word *out_word);
/* Copy a word, and a NUL behind it. */
void trace_monitor_copy_word(char *to, const struct expr_word *word);

/* ---- monitor_symbol.c ---- */

/* Read a SYMBOL; *out_number is its number. */
int trace_monitor_parse_symbol(struct monitor_parser *parser, uint32_t *out_number);

/* ---- monitor_guard.c ---- */

/* The terms of a symbol, as they are written. */
struct monitor_guard {
	struct expr_word text; /* without the parentheses; not there: at is NULL */
	uint32_t resets;       /* a bit for each clock */
	uint32_t nr;
	struct {
		uint32_t clock;
		enum expr_cmp cmp;
		uint64_t ns;
	} conditions[MONITOR_CONDITIONS_MAX];
};

/* Read terms in parentheses, if there are some. 0 or -errno with the mistake. */
int trace_monitor_read_guard(struct monitor_parser *parser, struct monitor_guard *out_guard);
/* Make the program of conditions, if there are some. 0 or -ENOMEM. */
int trace_monitor_compile_guard(const struct monitor_guard *guard, struct expr_program **out_guard);
/* Is each clock reset somewhere? 0, or -EINVAL with the mistake. */
int trace_monitor_check_clocks(const struct monitor_parser *parser);

/* ---- monitor_run.c ---- */

/* Read the times of all clocks at a moment, which is returned. `word` was read from the place before. */
uint64_t trace_monitor_read_clocks(const struct trace_monitor *monitor, const monitor_word *place,
				   uint64_t word, uint64_t *out_times);
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

int trace_monitor_threads_init(struct monitor_threads *threads, uint32_t max, uint32_t nr_clocks);
void trace_monitor_threads_destroy(struct monitor_threads *threads);
void trace_monitor_threads_add(struct monitor_threads *threads, int32_t pid);
void trace_monitor_threads_remove(struct monitor_threads *threads, int32_t pid);
/* The place number `at`, modulo how many there are. */
static inline monitor_word *monitor_threads_slot(const struct monitor_threads *threads, uint32_t at)
{
	return &threads->slots[(size_t)(at & threads->mask) * threads->words];
}
/* The place of a thread, or NULL. Any context. */
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
