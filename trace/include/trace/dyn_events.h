/*
 * Events that users define by lines of dynamic_events, for those who write shells and tools.
 *
 * Context: thread, no lock of trace/ held.
 */
#ifndef TRACE_DYN_EVENTS_H
#define TRACE_DYN_EVENTS_H

#include <trace/compiler.h>

TRACE_BEGIN_DECLS

struct trace_seq;

/*
 * Write about the event GROUP/NAME, GROUP:NAME, GROUP.NAME, or NAME in any group: is it on, and of
 * each line that it was defined by that line, and what it means: of a probe the prototype of the
 * function, and of each argument its type and where it comes from.
 *
 *	kprobes/open: a dynamic event, off
 *	    p:kprobes/open vfs_open flags=flags
 *	        int vfs_open(const char *path, uint32_t flags)
 *	        flags:u32 from $arg2, uint32_t flags
 *
 * 0; -ENOENT: there is no event of that name; -EINVAL: it is one of the host, which no line defines.
 * Nothing is written then.
 */
int trace_dyn_event_explain(const char *name, struct trace_seq *seq);

TRACE_END_DECLS

#endif
