/*
 * `bench`: what the tracers of noise take. The instructions of a look of osnoise at the clock are the highest
 * limit with which every two looks are noise. The lines of an activation of timerlat are by how much a loop takes
 * longer when a second instance records them, too; all of it, beside a thread that sleeps as timerlat's does.
 *
 * Context: thread.
 */
#include <stdatomic.h>

#include <kernel/command.h>
#include <trace/noise.h>
#include <trace/platform.h>
#include "bench_private.h"

#define NOISE_LOOPS	 20000000ul /* two instructions each */
#define NOISE_PERIOD_NS	 1000000ul  /* of timerlat, as it is at first */
#define NOISE_LIMIT_MOST 256u
#define NOISE_FEW	 20u /* events of a run that finds no noise, and more */

/* Of trace/: `tracing_thresh`, whose file counts in microseconds; and the host of the tracers. */
extern _Atomic uint64_t trace_thresh_ns;
extern const struct trace_noise_host *trace_noise_host;

static _Atomic bool bench_noise_ends;

static bool bench_noise_is_over(void *unused)
{
	(void)unused;
	return atomic_load(&bench_noise_ends);
}

static void bench_noise_sleep(uint64_t deadline_ns)
{
	trace_noise_host->sleep_until(deadline_ns, bench_noise_is_over, NULL);
}

static int bench_noise_writes(const char *const (*writes)[2])
{
	int err = 0;

	for (; !err && (*writes)[0]; writes++)
		err = bench_write_file((*writes)[0], (*writes)[1]);
	return err;
}

/* ---- osnoise ---- */

static const char *const noise_looks[][2] = {
	{ "osnoise/runtime_us", "1000" },
	{ "osnoise/period_us", "2000" },
	{ "osnoise/options", "OSNOISE_IRQ_DISABLE" },
	{ "events/osnoise/sample_threshold/enable", "1" },
	{ 0 },
};
static const char *const noise_looks_end[][2] = {
	{ "events/osnoise/sample_threshold/enable", "0" },
	{ "osnoise/options", "DEFAULTS" },
	{ "osnoise/period_us", "1000000" },
	{ "osnoise/runtime_us", "1000000" },
	{ "trace", "" },
	{ 0 },
};

/* Is all of a run noise, with that limit? 0 or 1, or -errno. */
static int bench_noise_is_all(uint64_t limit_ns)
{
	struct bench_counts counts;
	int err = bench_write_file("trace", "");

	trace_thresh_ns = limit_ns;
	if (!err)
		err = bench_write_file("current_tracer", "osnoise");
	bench_noise_sleep(trace_plat_clock_ns() + 4 * NOISE_PERIOD_NS);
	bench_count("", &counts);
	bench_write_file("current_tracer", "nop");
	trace_thresh_ns = 0;
	return err ? err : counts.entries + counts.overrun > NOISE_FEW;
}

static int bench_osnoise(struct command_env *env, const char *name)
{
	uint64_t yes = 0, no = NOISE_LIMIT_MOST;
	int is_all = bench_noise_writes(noise_looks);

	while (is_all >= 0 && no - yes > 1) {
		is_all = bench_noise_is_all((yes + no) / 2);
		if (is_all > 0)
			yes = (yes + no) / 2;
		else
			no = (yes + no) / 2;
	}
	bench_noise_writes(noise_looks_end);
	if (is_all < 0 || !yes)
		return is_all < 0 ? is_all : -ENODATA;
	bench_print(env, name, yes * 1000, "instructions");
	return 0;
}

/* ---- timerlat ---- */

/* The other thread gets to its first sleep before. */
static uint64_t bench_noise_loop(void)
{
	uint64_t nr = NOISE_LOOPS, begin;

	bench_noise_sleep(trace_plat_clock_ns() + 2 * NOISE_PERIOD_NS);
	begin = trace_plat_cycles();
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(nr) : : "cc", "memory");
	return trace_plat_cycles() - begin;
}

static int bench_noise_sleeper(void *unused)
{
	uint64_t deadline_ns = trace_plat_clock_ns();

	(void)unused;
	trace_noise_host->urge();
	while (!bench_noise_is_over(NULL)) {
		deadline_ns += NOISE_PERIOD_NS;
		bench_noise_sleep(deadline_ns);
	}
	return 0;
}

/* The loop beside a thread that only sleeps; 0 without memory. */
static uint64_t bench_noise_beside_sleeper(void)
{
	uint64_t cycles;
	void *thread;

	atomic_store(&bench_noise_ends, false);
	thread = trace_noise_host->start("sleeper", bench_noise_sleeper, NULL);
	if (!thread)
		return 0;
	cycles = bench_noise_loop();
	atomic_store(&bench_noise_ends, true);
	trace_noise_host->wake();
	trace_noise_host->join(thread);
	atomic_store(&bench_noise_ends, false);
	return cycles;
}

#define NOISE_INSTANCE "instances/bench1"

/* The loop beside timerlat, in a second instance as well if that is wanted. 0: it did not record all. */
static uint64_t bench_noise_beside_timerlat(bool is_twice)
{
	struct bench_counts counts;
	uint64_t cycles = 0;

	if (is_twice && (bench_make_instance(NOISE_INSTANCE) ||
			 bench_write_file(NOISE_INSTANCE "/current_tracer", "timerlat")))
		return 0;
	if (!bench_write_file("current_tracer", "timerlat"))
		cycles = bench_noise_loop();
	bench_count(is_twice ? NOISE_INSTANCE "/" : "", &counts);
	bench_write_file("current_tracer", "nop");
	if (is_twice) {
		bench_write_file(NOISE_INSTANCE "/current_tracer", "nop");
		bench_remove_instance(NOISE_INSTANCE);
	}
	return counts.entries < 2 * (cycles / NOISE_PERIOD_NS) ? 0 : cycles;
}

static int bench_timerlat(struct command_env *env, const char *name)
{
	uint64_t sleeper = bench_noise_beside_sleeper();
	uint64_t once = bench_noise_beside_timerlat(false);
	uint64_t twice = bench_noise_beside_timerlat(true), nr = once / NOISE_PERIOD_NS;

	if (!sleeper || !once || !twice)
		return -ENODATA;
	bench_print(env, name, (twice - once) * 1000 / nr, "instructions");
	bench_print(env, "timerlat_all", (once - sleeper) * 1000 / nr, "instructions");
	return bench_write_file("trace", "");
}

const struct bench bench_noise_rows[] = {
	{ "osnoise_loop", bench_osnoise },
	{ "timerlat_line", bench_timerlat },
	{ 0 },
};
