/*
 * Scripts: programs of probes, conditions and actions, in the words of bpftrace, that trace/ compiles
 * itself.
 *
 *   kprobe:vfs_read /pid == 7/ { @bytes = hist(arg2); }
 *
 *   text --create--> script --start--> its probes run --read--> lines of printf() and print()
 *                                      END runs     <--stop---
 *
 * Probes only count, and store to tables and to an output buffer of the script; texts are made by
 * trace_script_read(), in a thread. docs/scripts.md has the language, docs/how-scripts-work.md the
 * inside.
 *
 * Context:   thread, may block.
 * Locking:   the caller lets one thread at a time use a script; any number of scripts run at once.
 * Ownership: a script belongs to its maker until trace_script_free(). Texts are copied.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_SCRIPT_H
#define TRACE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_script;
struct trace_seq;

#define TRACE_SCRIPT_TEXT_MAX 16384u /* characters of a script */
#define TRACE_SCRIPT_PARAMS   9u     /* $1 to $9 */

/* A mistake in a script. */
struct trace_script_error {
	char why[160]; /* a sentence */
	size_t pos;    /* index of a character of the text */
	size_t len;    /* characters that it is about, 1 or more */
};

/*
 * Writes the time `clock_ns` of trace_plat_clock_ns() to `out`, as a format of strftime() says, cut to `size`
 * bytes with a NUL. Returns its length. Thread context.
 */
typedef size_t trace_script_date_fn(char *out, size_t size, const char *format, uint64_t clock_ns);

struct trace_script_params {
	const char *texts[TRACE_SCRIPT_PARAMS]; /* of $1 to $9 */
	uint32_t nr;
	/*
	 * Only hits of this process, as `pid` has it, count; 0: those of all. Clauses with BEGIN, END or an
	 * interval among their probes run in any case.
	 */
	int32_t pid;
	/* For time() and strftime(), which are refused with NULL. */
	trace_script_date_fn *date;
};

/*
 * Compile `text`; nothing runs yet. `params` may be NULL. 0; -EINVAL, -E2BIG or -ENOENT, with
 * *out_error filled in; -ENOMEM.
 */
int trace_script_create(const char *text, const struct trace_script_params *params,
			struct trace_script **out_script, struct trace_script_error *out_error);
/* Probes of the script, each function of a pattern counted. */
uint32_t trace_script_nr_probes(const struct trace_script *script);
/*
 * Make its tables, run BEGIN, and have all other probes called. 0; -EBUSY: it was started before;
 * -ENOMEM; -ENODEV: tracing is dead. On an error nothing is called any more.
 */
int trace_script_start(struct trace_script *script);
/*
 * Run the intervals whose time has come, and write the script's output, as much as there is room for.
 * The caller calls it every few milliseconds. False: the script wants to end, by exit().
 */
bool trace_script_read(struct trace_script *script, struct trace_seq *seq);
/*
 * End calling the probes, and run END, whose output trace_script_read() still gives. When this has
 * returned nothing of the script runs any more.
 */
void trace_script_stop(struct trace_script *script);
/*
 * Write the next line of the tables, as they are printed at the end of a script. False: there is none
 * any more; call it again after each line. After trace_script_stop().
 */
bool trace_script_print(struct trace_script *script, struct trace_seq *seq);
/* Write the program as it was compiled, with the most that one run of each clause costs. */
void trace_script_show(const struct trace_script *script, struct trace_seq *seq);

struct trace_script_stats {
	uint64_t runs;	 /* of clauses whose predicate held or that have none */
	uint64_t missed; /* hits in the middle of another run of the script on the same CPU */
	uint64_t full;	 /* keys that found no room in a table */
	uint64_t lost;	 /* lines that found no room in the output buffer */
};
void trace_script_stats_get(const struct trace_script *script, struct trace_script_stats *out);
/* Free it; one that runs ends without END. NULL is allowed. */
void trace_script_free(struct trace_script *script);

/*
 * Write the names of probes that match a pattern, `tracepoint:sched:*`, one a line, from number *at
 * on, as many as there is room for. False: that was the last.
 */
bool trace_script_list(const char *pattern, size_t *at, struct trace_seq *seq);

TRACE_END_DECLS

#endif
