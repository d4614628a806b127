/*
 * `bench`: what a sample of the profiler costs, by how much a loop takes longer while it is sampled; and its
 * bytes. At 250 samples a second they come with the tick, at other frequencies with interrupts of their own,
 * which count from the first instruction to the last.
 *
 * Context: thread.
 */
#include <kernel/command.h>
#include <kernel/string.h>
#include <trace/platform.h>
#include "bench_private.h"

#define SAMPLES_LOOPS 200000000ul /* two instructions each */
#define SAMPLES_CALLS 8u

/* The loop, with `depth` frames of its own above it. */
static TRACE_NOINLINE uint64_t samples_loop(unsigned int depth)
{
	uint64_t nr = SAMPLES_LOOPS, begin;

	if (depth) {
		begin = samples_loop(depth - 1);
		__asm__ volatile("" : "+r"(begin)); /* a frame, and no jump */
		return begin;
	}
	begin = trace_plat_cycles();
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(nr) : : "cc", "memory");
	return trace_plat_cycles() - begin;
}

/* NULL: off, and the usual frequency. */
static int bench_samples_on(const char *frequency)
{
	int err = bench_write_file("profile/frequency", frequency ? frequency : "997");

	return err ? err : bench_write_file("profile/on", frequency ? "1" : "0");
}

/* Samples in the buffer, and the cycles and bytes that they took. */
struct bench_samples {
	uint64_t nr, cycles, bytes;
};

static int bench_samples_take(const char *frequency, struct bench_samples *out)
{
	uint64_t without = samples_loop(SAMPLES_CALLS), with;
	struct bench_counts counts;
	int err = bench_write_file("trace", "");

	if (!err)
		err = bench_samples_on(frequency);
	if (err)
		return err;
	with = samples_loop(SAMPLES_CALLS);
	err = bench_samples_on(NULL);
	bench_count("", &counts);
	out->nr = counts.entries;
	out->cycles = with - without;
	out->bytes = counts.bytes;
	return err ? err : bench_write_file("trace", "");
}

static int bench_sample(struct command_env *env, const char *name)
{
	struct bench_samples samples;
	bool is_own = strcmp(name, "sample_own") == 0;
	int err = bench_samples_take(is_own ? "1000" : "250", &samples);

	if (err || !samples.nr)
		return err ? err : -ENODATA;
	bench_print(env, name, samples.cycles * 1000 / samples.nr, "instructions");
	if (is_own)
		return 0;
	bench_print(env, "sample_bytes", samples.bytes * 1000 / samples.nr, "bytes");
	return 0;
}

/* With the kernel's stack: two events for each sample. */
static int bench_sample_stack(struct command_env *env, const char *name)
{
	struct bench_samples samples = { 0 };
	int err = bench_write_file("options/stacktrace", "1");

	if (!err)
		err = bench_samples_take("250", &samples);
	bench_write_file("options/stacktrace", "0");
	if (err || !samples.nr)
		return err ? err : -ENODATA;
	bench_print(env, name, samples.cycles * 2000 / samples.nr, "instructions");
	return 0;
}

const struct bench bench_sample_rows[] = {
	{ "sample", bench_sample },
	{ "sample_own", bench_sample },
	{ "sample_kernel8", bench_sample_stack },
	{ 0 },
};
