/*
 * The functions that `torture` calls, counts and patches; see torture.c.
 *
 * Context: thread.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <kernel/command.h>

#define TORTURE_NR_TARGETS 8u

typedef uint64_t (*torture_target_fn)(uint64_t value);

/* Traced functions; the result depends on the argument alone. */
extern const torture_target_fn torture_targets[TORTURE_NR_TARGETS];
/* The same, for NMI context: calls another. Returns `value`. */
uint64_t torture_in_nmi(uint64_t value);

/* The command's other form; exit status. Function tracing is dead afterwards. */
int torture_damage(struct command_env *env);

#endif
