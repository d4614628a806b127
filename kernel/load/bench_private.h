/*
 * What the files of the `bench` command share.
 *
 *   bench.c          the command
 *   bench_measure.c  counting, and what is asked of tracefs
 *   bench_sites.c    rows of ops and of the host's own events
 *   bench_tracers.c  rows of tracers, set up by writes to tracefs
 *   bench_patch.c    rows of switching all sites
 *   bench_loops.c, bench_target.c  what is measured: bench.h
 *
 * Context: thread.
 */
#ifndef KERNEL_BENCH_PRIVATE_H
#define KERNEL_BENCH_PRIVATE_H

#include <kernel/base.h>

#define BENCH_TARGET "bench_target"

struct command_env;

/* One row, or a few that belong together. `run` prints them, or returns -errno. */
struct bench {
	const char *name;
	int (*run)(struct command_env *env, const char *name);
};
extern const struct bench bench_site_rows[], bench_tracer_rows[], bench_patch_rows[];

/* ---- bench_measure.c ---- */

void bench_print(struct command_env *env, const char *name, uint64_t value_milli, const char *unit);
/* Thousandths of a cycle per round of `loop`. */
uint64_t bench_per_round_milli(void (*loop)(uint32_t n));
/* The same, by which `loop` is dearer than `base`. */
uint64_t bench_measure_above(void (*loop)(uint32_t n), void (*base)(uint32_t n));
/* One write to a file of tracefs. 0 or -errno. */
int bench_write_file(const char *name, const char *text);
/* Bytes per event as the `stats` file of CPU 0 has them, in thousandths; 0 when it cannot tell. */
uint64_t bench_bytes_per_event_milli(void);

#endif
