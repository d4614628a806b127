/*
 * The parts of `torture`: the functions that are called, counted and patched, the threads that call
 * them, and the users of tracing that come between; see torture.c.
 *
 * Context: thread; all but the workers themselves is called by the thread of the command.
 */
#ifndef TORTURE_H
#define TORTURE_H

#include <kernel/command.h>

#define TORTURE_NR_TARGETS 8u

typedef uint64_t (*torture_target_fn)(uint64_t value);

/* Traced functions; the result depends on the argument alone. */
extern const torture_target_fn torture_targets[TORTURE_NR_TARGETS];
/* How often each has run: whoever replaces one counts on. */
extern _Atomic uint64_t torture_runs[TORTURE_NR_TARGETS];
/* Their names, as a filter. */
extern const char torture_target_names[];
/* The same, for NMI context: calls another. Returns `value`. */
uint64_t torture_in_nmi(uint64_t value);

/* ---- Users of tracing ---- */

#define TORTURE_CALLS	  64u	     /* of each target, by each worker, in a round, at least */
#define TORTURE_MAX_VALUE (1u << 20) /* arguments are below */

/*
 * Who uses tracing while the workers run. What is said of a round holds between begin() and
 * check(). Members that are missing do nothing.
 */
struct torture_user {
	int (*start)(void);
	int (*begin)(void);  /* a round; the workers wait */
	int (*change)(void); /* something, while they run */
	/*
	 * The workers are done; each target was called `expected` times. False: said what is wrong.
	 */
	bool (*check)(struct command_env *env, uint64_t expected);
	int (*stop)(void); /* also after a start() that failed */
};

extern const struct torture_user torture_ops;	  /* ops that count, come and go, change filters */
extern const struct torture_user torture_regs;	  /* registers, a direct call, returns */
extern const struct torture_user torture_kprobes; /* probes at instructions */
extern const struct torture_user torture_patch;	  /* a live patch */
extern const struct torture_user torture_traces;  /* instances with tracers of all kinds */
extern const struct torture_user torture_profile; /* the function profiler */
extern const struct torture_user torture_events;  /* filters, triggers and histograms of an event */
extern const struct torture_user torture_system;  /* the global trace: one setting after another */
#ifdef WITH_PROCESSES
extern const struct torture_user torture_scripts; /* scripts that come and go */
#else
static const struct torture_user torture_scripts; /* there are none */
#endif

/* Pseudo-random, below `limit`. */
uint64_t torture_pick(uint64_t limit);
/* A complaint: `what` was counted wrong. Returns seen == expected. */
bool torture_expect(struct command_env *env, const char *what, uint64_t seen, uint64_t expected);

/* Files of tracefs: `path` from its root. 0 or -errno. */
int torture_write(const char *path, const char *text, uint32_t vfs_flags);
/* After a failure: what was written last, and where. */
void torture_last_writes(struct command_env *env);
/* Up to size - 1 bytes, and a NUL; `once`: what one read gives. */
int torture_read(const char *path, char *out_text, size_t size);
int torture_read_once(const char *path, char *out_text, size_t size);
typedef void (*torture_line_fn)(const char *line, void *arg);
int torture_each_line(const char *path, torture_line_fn fn, void *arg);

/* ---- Workers ---- */

/* Pseudo-random, below `limit`; *state is not 0. */
uint64_t torture_random(uint64_t *state, uint64_t limit);

/*
 * One worker on each online CPU, which calls TORTURE_CALLS times in a round; with `until_enough`
 * after that, less often, as long as the round goes on. 0 or -ENOMEM.
 */
int torture_start_workers(bool until_enough);
/* They end; none is in a round or traces any more. False when a stack was not clean. */
bool torture_stop_workers(void);
/*
 * A thread that reads files of tracefs during rounds. 0 or -ENOMEM; without it the rest is nothing.
 */
int torture_start_reader(void);
void torture_stop_reader(void);
void torture_release_reader(void);
void torture_rest_reader(void);
/* A file could not be read, for a reason that is none: -errno, and which. */
int torture_reader_error(const char **out_path);
/* A round: let all go; let it be enough, and wait until all are done. */
void torture_release_workers(void);
void torture_wait_workers(void);
uint32_t torture_nr_workers(void);
uint32_t torture_worker_cpu(uint32_t worker);
int32_t torture_worker_pid(uint32_t worker);
/* How often each target was called in the last round: by a worker, by all of them. */
uint64_t torture_worker_calls(uint32_t worker);
uint64_t torture_calls(void);
/* How often a target called twice gave two results. */
uint64_t torture_wrong_results(void);

/* The command's other form; exit status. Function tracing is dead afterwards. */
int torture_damage(struct command_env *env);
int torture_records(struct command_env *env);
/* torture_graph.c; exit status. After the second graph tracing is dead. */
int torture_graph(struct command_env *env, uint64_t rounds);
int torture_longjmp(struct command_env *env);

#endif
