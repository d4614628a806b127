/*
 * Who wants the call site of target() while bench.c measures: ops, tracers of instances of
 * tracefs, direct calls. The callbacks change no vector register, so users.c has none.
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

/* Calls of callbacks that count. */
extern uint64_t users_hits;
/* False: trampolines that are asked for are refused, as when memory is short. */
extern bool users_have_room;

/* Once, first. */
void users_init(void);
void user_start(struct user *user);
void user_stop(struct user *user);
/* Events that were written so far to the buffers of the tracers that run. */
uint64_t users_events(void);

#endif
