/*
 * The command shares: a load whose shares of time are known by its construction, for the profiler. On each
 * CPU a thread gives half of its work to one function, 30 % to a second and 20 % to a third, and after each
 * turn of work sleeps as long as that took, if so wanted.
 */
#include <arch/smp.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include "../test_commands.h"

#define SHARES_UNIT 1000ull /* loops of a tenth of the work; one takes two instructions */
#define SHARES_TURN (5 * NSEC_PER_MSEC)

/* The same instructions in each of the three, which calls for an own copy of the loop. */
static TRACE_ALWAYS_INLINE void shares_loop(uint64_t nr)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(nr) : : "cc");
}

static TRACE_NOINLINE void shares_half(void)
{
	shares_loop(5 * SHARES_UNIT);
}

static TRACE_NOINLINE void shares_third(void)
{
	shares_loop(3 * SHARES_UNIT);
}

static TRACE_NOINLINE void shares_fifth(void)
{
	shares_loop(2 * SHARES_UNIT);
}

struct shares_run {
	uint64_t end_ns;
	bool sleeps;
};

static int shares_thread(void *arg)
{
	const struct shares_run *run = arg;
	uint64_t now = local_clock_ns(), turn_end;

	while (now < run->end_ns) {
		for (turn_end = now + SHARES_TURN; local_clock_ns() < turn_end;) {
			shares_half();
			shares_third();
			shares_fifth();
		}
		if (run->sleeps)
			thread_sleep_ns(local_clock_ns() - now);
		now = local_clock_ns();
	}
	return 0;
}

/* shares MS [sleep] */
static int shares_command(struct command_env *env, int argc, char **argv)
{
	struct thread *threads[MAX_CPUS] = { NULL };
	struct shares_run run = { .sleeps = argc == 3 };
	uint64_t ms;

	(void)env;
	if (argc < 2 || argc > 3 || !command_parse_u64(argv[1], &ms))
		return COMMAND_USAGE;
	run.end_ns = local_clock_ns() + ms * NSEC_PER_MSEC;
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++)
		threads[cpu] = thread_create_on(1ull << cpu, "shares", shares_thread, &run, 0);
	for (uint32_t cpu = 0; cpu < smp_nr_cpus(); cpu++) {
		if (threads[cpu])
			thread_join_wait(threads[cpu]);
	}
	return 0;
}

const struct command shares_commands[] = {
	{ .name = "shares",
	  .usage = "MS [sleep]",
	  .help = "work by known shares on each CPU",
	  .run = shares_command },
	{},
};
