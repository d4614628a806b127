/*
 * The functions that `torture` calls, counts and patches, and the threads that call them; see
 * torture.c.
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

/* Pseudo-random, below `limit`; *state is not 0. */
uint64_t torture_random(uint64_t *state, uint64_t limit);

#define TORTURE_CALLS 64u /* of each target, by each worker, in a round */

/* One worker on each online CPU. 0 or -ENOMEM. */
int torture_start_workers(void);
/* They end; none is in a round. */
void torture_stop_workers(void);
/* A round: let all go, and wait until all are done. */
void torture_release_workers(void);
void torture_wait_workers(void);
uint32_t torture_nr_workers(void);
/* How often a target called twice gave two results. */
uint64_t torture_wrong_results(void);

/* The command's other form; exit status. Function tracing is dead afterwards. */
int torture_damage(struct command_env *env);
/* torture_graph.c; exit status. After the second graph tracing is dead. */
int torture_graph(struct command_env *env, uint64_t rounds);
int torture_longjmp(struct command_env *env);

#endif
