/*
 * Events defined by lines of dynamic_events, for shells and tools: explanations of events, and
 * completion of a line that is being typed.
 *
 * Context: thread, no lock of trace/ held.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_DYN_EVENTS_H
#define TRACE_DYN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_seq;

/*
 * Write about the event GROUP/NAME, GROUP:NAME, GROUP.NAME, or NAME in any group: its use by
 * instances, and for each line that defines it the line and its meaning: of a probe the prototype
 * of the function, and of each argument its type and where it comes from.
 *
 * 	kprobes/open: a dynamic event, off
 * 	    p:kprobes/open vfs_open flags=flags
 * 	        int vfs_open(const char *path, uint32_t flags)
 * 	        flags:u32 from $arg2, uint32_t flags
 *
 * 0; -ENOENT: there is no event of that name; -EINVAL: it is one of the host, which no line
 * defines. Nothing is written then.
 */
int trace_dyn_event_explain(const char *name, struct trace_seq *seq);

/*
 * Write where the place of a line such as `p /bin/busybox:0x4a20` is, or why no event can be there: a sentence, with the end of
 * a line behind it. Nothing is defined. 0, or the error of its definition; -ENOENT, and nothing is written: events of that
 * kind have no places that could be explained so.
 */
int trace_dyn_event_explain_place(const char *line, struct trace_seq *seq);

/* A possible word at the end of a line. */
struct trace_dyn_event_word {
	const char *text;
	/* Index in the line where it begins: the rest of the line is the beginning of the word. */
	size_t from;
	const char *hint; /* its declaration in the source; "": there is none */
	bool goes_on;	  /* something follows it, or may, without a blank in between */
};

typedef void (*trace_dyn_event_word_fn)(const struct trace_dyn_event_word *word, void *arg);

/*
 * Call `found` for all that could complete the line of an event, of which the end is not written
 * yet: the name of an argument or of a member, of a struct in a cast, of a field, a variable, a
 * type; the place of those at tracepoints and on events. Names of functions are not among them.
 * `found` may call nothing of trace/ that is not for any context.
 */
void trace_dyn_event_complete(const char *line, trace_dyn_event_word_fn found, void *arg);

TRACE_END_DECLS

#endif
