/*
 * Reactors: the reactions to a violation, of which a monitor has one. See monitor.h.
 *
 * Context: react - any, NMI included, preemption off. The rest - thread.
 */
#ifndef TRACE_MONITOR_REACT_H
#define TRACE_MONITOR_REACT_H

#include "monitor.h"

/* A violation, for a reactor. */
struct trace_violation {
	const char *monitor, *state, *event;
	const char *comm; /* of the running thread */
	int32_t pid;
	uint32_t cpu;
	const uint32_t *ips; /* place of the violation, packed; innermost first */
	uint32_t nr_ips;
	/* of the automaton, and their times in ns */
	const char (*clocks)[MONITOR_WORD_BYTES];
	const uint64_t *times;
	uint32_t nr_clocks;
};

/* A reaction to violations. Features register tables of them; the last has no name. */
struct trace_reactor {
	const char *name;
	const char *alias; /* another name, or NULL */
	/* Prepare the top instance for the reactor. Returns 0 or -errno. Config lock held. */
	int (*prepare)(struct trace_array *tr);
	void (*react)(struct trace_array *tr, const struct trace_violation *violation); /* probe */
};

/* A table of a feature's reactors in the list of all. */
struct trace_reactor_table {
	const struct trace_reactor *reactors;
	struct trace_reactor_table *next;
};
/* Make the reactors of a feature known; for its init(). */
void trace_reactors_register(struct trace_reactor_table *table);
/* reactors that need no other feature */
extern const struct trace_reactor trace_reactors[];
/* The next reactor by name; NULL behind the last. Start with NULL. */
const struct trace_reactor *trace_reactor_behind(const struct trace_reactor *before);
/* Find a reactor by name or alias, of `len` characters; or NULL. */
const struct trace_reactor *trace_reactor_find(const char *name, size_t len);

#endif
