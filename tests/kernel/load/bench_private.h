/*
 * Shared declarations of the files of the `bench` command.
 *
 *   bench.c          the command
 *   bench_measure.c  counting, and what is asked of tracefs
 *   bench_sites.c    rows of ops and of the host's own events
 *   bench_tracers.c  rows of tracers, set up by writes to tracefs
 *   bench_events.c   rows of trace events
 *   bench_hists.c    rows of histograms of events
 *   bench_memory.c   rows of the memory of instances
 *   bench_patch.c    rows of switching all sites
 *   bench_probes.c, bench_kprobe_events.c  rows of probes at instructions, of events there
 *   bench_samples.c  rows of samples of the profiler
 *   bench_noise.c    rows of the tracers of noise
 *   bench_scripts.c  rows of scripts
 *   bench_loops.c, bench_target.c, bench_event_loops.c  what is measured: bench.h
 *
 * Context: thread.
 */
#ifndef KERNEL_BENCH_PRIVATE_H
#define KERNEL_BENCH_PRIVATE_H

#include <kernel/base.h>

#define BENCH_TARGET	  "bench_target"
#define BENCH_TARGET_ARGS "bench_target_args"

struct command_env;

/* One row, or a few that belong together. `run` prints them, or returns -errno. */
struct bench {
	const char *name;
	int (*run)(struct command_env *env, const char *name);
};
extern const struct bench bench_site_rows[], bench_tracer_rows[], bench_event_rows[],
	bench_hist_rows[], bench_memory_rows[], bench_patch_rows[], bench_probe_rows[],
	bench_kprobe_event_rows[], bench_sample_rows[], bench_noise_rows[];
#ifdef WITH_PROCESSES
extern const struct bench bench_script_rows[];
#else
static const struct bench bench_script_rows[] = { { 0 } }; /* no scripts */
#endif

/* ---- bench_measure.c ---- */

#define BENCH_CHUNK  1000u /* rounds that run at a time */
#define BENCH_CHUNKS 50ul
#define BENCH_ROUNDS (BENCH_CHUNK * BENCH_CHUNKS) /* that count: see bench_measure() */

void bench_print(struct command_env *env, const char *name, uint64_t value_milli, const char *unit);
/* Thousandths of a cycle per round of `loop`. */
uint64_t bench_per_round_milli(void (*loop)(uint32_t n));
/* The same, by which `loop` is dearer than `base`. */
uint64_t bench_measure_above(void (*loop)(uint32_t n), void (*base)(uint32_t n));
/* How many rounds of `loop` each of these two runs. */
uint64_t bench_calls(void);
/* How many rounds bench_per_round_milli() runs. */
uint64_t bench_rounds(void);

/* One write to a file of tracefs, as by `>`: what it held before is gone. 0 or -errno. */
int bench_write_file(const char *name, const char *text);
/* The same as by `>>`: what it holds stays. */
int bench_append_file(const char *name, const char *text);
/* `instances/NAME`. */
int bench_make_instance(const char *name);
void bench_remove_instance(const char *name);

/* The number that a file begins with; 0 when it cannot be read. */
uint64_t bench_read_number(const char *name);
/* Instructions that reading a file takes, in large blocks whose text is not looked at. */
uint64_t bench_cost_of_reading(const char *name);
/* Lines of a file; 0 when it cannot be read. */
uint64_t bench_count_lines(const char *name);

/* The `stats` files of all CPUs. */
struct bench_counts {
	uint64_t entries;
	uint64_t overrun;
	uint64_t dropped;
	uint64_t bytes;
};
/* `dir`: "" or "instances/NAME/". */
void bench_count(const char *dir, struct bench_counts *out_counts);
/* Hits and drops that the `hist` file `name` ends with. */
uint64_t bench_count_hits(const char *name);
/* Calls of the target that the function profiler has counted. */
uint64_t bench_profile_hits(void);
/*
 * Are `found` events, or calls, as many as there should be? Otherwise the row says so, and fails.
 * 0 or -ERANGE.
 */
int bench_check(struct command_env *env, const char *name, uint64_t found, uint64_t wanted);

/* ---- bench_memory.c ---- */

/*
 * Bytes of all that is allocated, when nothing more is given back: what threads may be using is freed
 * later.
 */
uint64_t bench_settled_bytes(void);

/* ---- bench_probes.c ---- */

/* The move in the middle of the target, when no probe is there. */
uintptr_t bench_probe_move(void);

#endif
