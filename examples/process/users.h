/*
 * The users of the call site of target() while bench.c measures: ops, tracers of instances of
 * tracefs, direct calls. The callbacks must not change vector registers, so users.c is compiled
 * without them.
 *
 * Context: one thread.
 */
#ifndef USERS_H
#define USERS_H

#include <stdbool.h>
#include <stdint.h>

struct user;
extern struct user counter, counter_too, counter_regs, direct, overrider;
extern struct user function, function_too, graph, graph_too;
extern struct user probe_site, probe_int3, probe_jump;

/* The number of calls of callbacks that count. */
extern uint64_t users_hits;

/* Call this first, once. */
void users_init(void);
void user_start(struct user *user);
void user_stop(struct user *user);
/* Events that were written so far to the buffers of the tracers that run. */
uint64_t users_events(void);

#endif
