/*
 * Commands of set_ftrace_filter: each sets a probe on the functions that it is written with.
 * Features register them; those of the feature `commands` belong to no other.
 *
 * Context:   running a command - probe. prepare - thread, no lock of trace/ but the registry's.
 * Ownership: a command is never freed.
 */
#ifndef TRACE_FUNCTION_COMMANDS_H
#define TRACE_FUNCTION_COMMANDS_H

#include <trace/ftrace_probe.h>
#include "text/str.h"

struct trace_command {
	/*
	 * Has the name. With a func of its own the command does all by itself; else one is filled
	 * in at start, for which the rest of this struct is.
	 */
	struct ftrace_func_command command;
	struct ftrace_probe_ops unlimited;
	struct ftrace_probe_ops counted;
	uint64_t fixed_count; /* unless 0: the count, whatever the user has written */
	/* Called before the probe is set, unless NULL. 0 or -errno. */
	int (*prepare)(struct trace_array *tr);
};

/*
 * Make the commands of a feature known, for its init(); the last has no name. Returns 0 or -errno.
 */
int trace_commands_register(struct trace_command *commands);

#define TRACE_COMMAND(word, does)                                                                  \
	.command = { .name = (word) }, .unlimited = { .name = (word), .func = (does) }
#define TRACE_COMMAND_COUNTED(word, does)                                                          \
	.counted = { .name = (word), .func = (does), .is_counted = true }

/*
 * Of a command that is to go: does the text behind its colon, NULL for none, name one with a count?
 * `unlimited` is how set_ftrace_filter shows one without.
 */
static inline bool trace_command_has_count(const char *text)
{
	return text && !trace_streq(text, "unlimited");
}

#endif
