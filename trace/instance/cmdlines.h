/*
 * Names of threads, for lines of the trace: living threads are asked, the names of dead ones are
 * kept in a ring of fixed size.
 *
 * Context:   thread; finding a name without `may_wait`: any.
 * Locking:   a spinlock inside, which is not waited for where that could hang. The size changes
 *            under the configuration lock.
 */
#ifndef TRACE_CMDLINES_H
#define TRACE_CMDLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/platform.h>

#define TRACE_CMDLINES_DEFAULT 128ul
#define TRACE_CMDLINES_MAX     32768u

struct trace_cmdline {
	int32_t pid;
	char comm[TRACE_COMM_LEN];
};

int trace_cmdlines_init(void);
/* -EINVAL outside 1 .. TRACE_CMDLINES_MAX, -ENOMEM. What was saved is forgotten. */
int trace_cmdlines_resize(size_t nr);
size_t trace_cmdlines_size(void);
void trace_cmdlines_save(int32_t pid, const char *comm);
/* A thread ends: save its name if a line of a trace may need it. Thread context. */
void trace_cmdlines_note_exit(int32_t pid, const char *comm);
/* Save the names of threads that live now, as far as there is room. Thread context. */
void trace_cmdlines_save_living(void);
/* `<idle>` for 0, `<...>` for a thread nobody knows. Thread context, or any without `may_wait`. */
void trace_cmdlines_find(int32_t pid, bool may_wait, char *out_comm);
/* The `index`th saved name; false behind the last. */
bool trace_cmdlines_get(size_t index, struct trace_cmdline *out_cmdline);

#endif
