/*
 * Commands of set_ftrace_filter: each is a probe that it puts at the functions it is written for.
 * Features bring theirs along, see instance/feature.h; the feature `commands` has the others, and
 * makes all of them known.
 *
 * Context:   what a command does - probe. prepare - thread, no lock of trace/ but the registry's.
 * Ownership: a command is there for good.
 */
#ifndef TRACE_FUNCTION_COMMANDS_H
#define TRACE_FUNCTION_COMMANDS_H

#include <trace/ftrace_probe.h>

struct trace_command {
	struct ftrace_func_command command; /* the name; the rest is filled in at start */
	struct ftrace_probe_ops unlimited;
	struct ftrace_probe_ops counted;
	uint64_t fixed_count;			/* not 0: this count, whatever was written */
	int (*prepare)(struct trace_array *tr); /* or NULL */
};

#define TRACE_COMMAND(word, does)                                                                  \
	.command = { .name = (word) }, .unlimited = { .name = (word), .func = (does) }
#define TRACE_COMMAND_COUNTED(word, does)                                                          \
	.counted = { .name = (word), .func = (does), .is_counted = true }

/* Of features that have some; the last has no name. */
extern struct trace_command trace_dump_commands[];
extern struct trace_command trace_snapshot_commands[];

/* Make the commands of all features known. 0 or -errno. */
int trace_commands_init(void);

#endif
