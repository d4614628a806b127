/*
 * Targets of the probes of scripts: script_attach.c finds them, script_probe.c attaches clauses to them.
 * See script.h.
 */
#ifndef TRACE_SCRIPT_TARGET_H
#define TRACE_SCRIPT_TARGET_H

#include <trace/fprobe.h>
#include <trace/tracepoint.h>
#include <trace/uprobe.h>
#include <trace/wprobe.h>
#include "events/event_watch.h"
#include "sample/sample_watch.h"
#include "script.h"

/* A probe at an event. */
struct script_tap {
	struct trace_event_watch watch;
	struct script_probe *probe;
	struct trace_event_call *call;
	struct trace_event_file *file; /* NULL: it is not watched */
	bool is_direct;		       /* the tracepoint calls the clause */
	uint32_t type;		       /* number of the event's type */
	char name[TRACE_SYM_LEN + 16];
};

/* A tracepoint, without the event that is made of it. */
struct script_raw {
	struct tracepoint *tp;
	struct script_probe *probe;
	bool is_on;
	char name[TRACE_SYM_LEN + 16];
};

/* The functions or events that a word stands for. */
struct script_target {
	size_t bytes; /* of this */
	struct script_probe *probe;
	union {
		struct ftrace_ops ops; /* of entries */
		struct fprobe fprobe;  /* of returns */
	};
	uint32_t nr;
	struct tracepoint_change *changes; /* of events: room for nr_changes, one for each */
	uint32_t nr_changes;
	union {
		uintptr_t addrs[1];
		struct script_tap taps[1];
		struct script_raw raws[1];
		struct uprobe_consumer uprobe;
		struct wprobe wprobe;
		struct trace_sample_watch sample;
	};
};

static inline bool script_is_of_program(enum script_probe_kind kind)
{
	return kind == SCRIPT_UPROBE || kind == SCRIPT_URETPROBE;
}

/* ---- script_attach.c ---- */

/* Make the target of a probe, zeroed, with room for `nr` of `each` bytes. NULL: out of memory, noted. */
struct script_target *trace_script_target(struct script_probe *probe, uint32_t nr, size_t each);
bool trace_script_matches(const struct expr_word *pattern, const char *name);
bool trace_script_is_pattern(const struct expr_word *word);

/* ---- script_program.c: places of programs; script_direct.c: others ---- */

/* Find the place behind the kind's colon, and make the target. 0, or an error that was noted. */
int trace_script_program_find(struct trace_script *script, struct script_probe *probe,
			      const struct expr_word *rest);
int trace_script_raw_find(struct trace_script *script, struct script_probe *probe,
			  const struct expr_word *rest);
int trace_script_watch_find(struct trace_script *script, struct script_probe *probe,
			    const struct expr_word *rest);
int trace_script_profile_find(struct trace_script *script, struct script_probe *probe,
			      const struct expr_word *rest);
/* Call the clause from now on. 0 or -errno. */
int trace_script_program_attach(struct script_probe *probe);
int trace_script_direct_attach(struct script_probe *probe);
/* Call it no more; it may still run until tracepoint_synchronize_unregister(). */
void trace_script_program_detach(struct script_probe *probe);
void trace_script_direct_detach(struct script_probe *probe);

#endif
